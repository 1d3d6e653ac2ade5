// SPDX-License-Identifier: MIT OR Apache-2.0
//! Worlds of ranks that are being started while the job runs.
//!
//! A world has started when all of its ranks are there. If one of them ends before, none are: the others
//! are ended, and those who have asked for them learn why.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use corecast_mpi::launcher::{Answer, Refusal, Start};

use crate::desk::Asker;
use crate::error::LaunchError;
use crate::program;

/// A program that is to be started, found.
#[derive(Debug)]
pub struct Found {
    pub file: PathBuf,
    /// As it was asked for.
    pub name: OsString,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    pub ranks: u32,
}

/// Finds the program of a start; the reason if there is none.
pub fn find(start: Start) -> Result<Found, String> {
    let [name, folder, path] = [start.program, start.folder, start.path].map(OsString::from_vec);
    let folder = PathBuf::from(folder);
    if !folder.is_dir() {
        return Err(format!("there is no folder {}", folder.display()));
    }
    let mut places = path;
    if !places.is_empty() {
        places.push(":");
    }
    places.push(std::env::var_os("PATH").unwrap_or_default());
    let sought = match name.as_encoded_bytes().contains(&b'/') {
        true => folder.join(&name).into_os_string(),
        false => name.clone(),
    };
    let file = program::find(&sought, &places).map_err(|error: LaunchError| error.to_string())?;
    Ok(Found {
        file,
        name,
        arguments: start
            .arguments
            .into_iter()
            .map(OsString::from_vec)
            .collect(),
        folder,
        ranks: start.ranks,
    })
}

/// Worlds that joined the job, by the numbers of their ranks.
#[derive(Debug, Default)]
pub struct Joining {
    worlds: Vec<World>,
}

#[derive(Debug)]
struct World {
    ranks: Range<u32>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// So many are not there yet; this is who waits for them.
    Starting(u32, Asker),
    There,
    /// It did not start.
    Void,
}

impl Joining {
    /// A world was asked for, and its processes run.
    pub fn begin(&mut self, ranks: Range<u32>, asker: Asker) {
        let state = State::Starting(ranks.end - ranks.start, asker);
        self.worlds.push(World { ranks, state });
    }

    fn of(&mut self, rank: u32) -> Option<&mut World> {
        let mut worlds = self.worlds.iter_mut().rev();
        worlds.find(|world| world.ranks.contains(&rank))
    }

    /// All ranks of a world, if `rank` is of one that joined.
    pub fn ranks(&mut self, rank: u32) -> Option<Range<u32>> {
        self.of(rank).map(|world| world.ranks.clone())
    }

    /// A rank is there; the answer that is due then.
    pub fn is_there(&mut self, rank: u32) -> Option<(Asker, Answer)> {
        let world = self.of(rank)?;
        let State::Starting(missing, asker) = &mut world.state else {
            return None;
        };
        *missing = missing.saturating_sub(1);
        let asker = *asker;
        if *missing > 0 {
            return None;
        }
        world.state = State::There;
        Some((asker, Answer::Started(world.ranks.start)))
    }

    /// A rank has ended without having been there: its world does not start. All of its ranks, and the
    /// answer that is due.
    pub fn fail(&mut self, rank: u32, what: &str) -> Option<(Range<u32>, (Asker, Answer))> {
        let world = self.of(rank)?;
        let State::Starting(_, asker) = world.state else {
            return None;
        };
        world.state = State::Void;
        let place = rank - world.ranks.start;
        let why = format!("process {place} of those to be started {what}");
        let answer = Answer::No(Refusal::Start, why);
        Some((world.ranks.clone(), (asker, answer)))
    }

    /// Whether a rank is of a world that did not start: nobody misses it.
    pub fn is_void(&mut self, rank: u32) -> bool {
        self.of(rank)
            .is_some_and(|world| matches!(world.state, State::Void))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_there_when_all_are_and_not_at_all_if_one_fails() {
        let asker = Asker { rank: 1, number: 7 };
        let mut joining = Joining::default();
        joining.begin(2..4, asker);
        joining.begin(4..6, asker);
        assert_eq!(joining.is_there(3), None);
        assert_eq!(joining.is_there(0), None);
        assert_eq!(joining.is_there(2), Some((asker, Answer::Started(2))));
        assert_eq!(joining.fail(2, "ended"), None, "it was there");
        let why = "process 1 of those to be started ended".to_owned();
        let answer = (asker, Answer::No(Refusal::Start, why));
        assert_eq!(joining.fail(5, "ended"), Some((4..6, answer)));
        assert!(joining.is_void(4) && !joining.is_void(3) && !joining.is_void(1));
        assert_eq!(joining.is_there(4), None);
        assert_eq!((joining.ranks(5), joining.ranks(1)), (Some(4..6), None));
    }

    #[test]
    fn what_cannot_be_started_has_its_reason() {
        let start = |program: &str, folder: &str| Start {
            ranks: 1,
            program: program.into(),
            folder: folder.into(),
            path: b"/nowhere".to_vec(),
            ..Start::default()
        };
        let found = find(start("sh", "/")).expect("a shell");
        assert!(found.file.ends_with("sh") && found.name == "sh");
        let found = find(start("bin/sh", "/")).expect("a shell by its path");
        assert_eq!(found.file, PathBuf::from("/bin/sh"));
        let why = |program, folder| find(start(program, folder)).expect_err("none");
        assert_eq!(why("sh", "/nowhere"), "there is no folder /nowhere");
        let none = "there is no program \"no-such\" in the folders of PATH";
        assert_eq!(why("no-such", "/"), none);
        let none = "\"/no/such\" cannot be executed: it is not there";
        assert_eq!(why("no/such", "/"), none);
    }
}
