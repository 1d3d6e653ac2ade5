// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts the ranks' processes.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use corecast_shm::Segment;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::error::LaunchError;
use crate::guard::Guard;
use crate::joining::Found;
use crate::{MpiJob, bind};

/// Files that the launcher has open beside two per rank.
const OTHER_FILES: u64 = 32;

/// Starts all ranks, in order. If one does not start, those before it are ended.
pub fn all(
    job: &MpiJob,
    programs: &[PathBuf],
    segment: &Segment,
    guard: &Guard,
) -> Result<Vec<Child>, LaunchError> {
    enough_files(job.ranks());
    let places = bind::places(job.bind, job.ranks(), &corecast_shm::processors_by_core());
    let library_path = job.libraries.as_deref().map(library_path);
    let mut children: Vec<Child> = Vec::new();
    for (number, (part, program)) in (0..).zip(job.parts.iter().zip(programs)) {
        for _ in 0..part.ranks {
            let rank = u32::try_from(children.len()).expect("ranks are counted in 32 bits");
            let mut command = command(job, program, library_path.as_ref());
            command.arg0(&part.program).args(&part.arguments);
            command.process_group(guard.group());
            if rank == 0 && job.halt.is_none() {
                command.stdin(first_input());
            }
            segment.inherit(&mut command, rank, number);
            let started = bind::on(&places[rank as usize], || command.spawn());
            match started {
                Ok(child) => children.push(child),
                Err(error) => {
                    guard.signal(rustix::process::Signal::KILL);
                    children.iter_mut().for_each(|child| drop(child.wait()));
                    let program = part.program.clone();
                    return Err(LaunchError::Start {
                        rank,
                        program,
                        error,
                    });
                }
            }
        }
    }
    Ok(children)
}

/// Starts a rank that joins the job, of program `number` of those that are started together.
pub fn joined(
    (job, found): (&MpiJob, &Found),
    (rank, number): (u32, u32),
    segment: &Segment,
    guard: &Guard,
) -> io::Result<Child> {
    enough_files(segment.ranks());
    let library_path = job.libraries.as_deref().map(library_path);
    let mut command = command(job, &found.file, library_path.as_ref());
    command.arg0(&found.name).args(&found.arguments);
    command.current_dir(&found.folder);
    command.process_group(guard.group());
    segment.inherit(&mut command, rank, number);
    command.spawn()
}

fn command(job: &MpiJob, program: &Path, library_path: Option<&OsString>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(path) = library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    command
}

/// Rank 0 reads what the launcher would. A terminal gives its input to one process group only, and
/// that is the launcher's, which passes it on by a pipe.
fn first_input() -> Stdio {
    if rustix::termios::isatty(rustix::stdio::stdin()) {
        Stdio::piped()
    } else {
        Stdio::inherit()
    }
}

/// `LD_LIBRARY_PATH` with our folder first.
fn library_path(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(before) = env::var_os("LD_LIBRARY_PATH").filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    path
}

/// Raises the limit of open files if two per rank would not fit.
fn enough_files(ranks: u32) {
    let needed = 2 * u64::from(ranks) + OTHER_FILES;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |most| most.min(needed)));
        // If it cannot be raised, the rank for which no file is left says so.
        let _: Result<(), io::Error> = setrlimit(Resource::Nofile, limit).map_err(io::Error::from);
    }
}
