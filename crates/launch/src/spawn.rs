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
use crate::part::Part;
use crate::{Job, bind};

/// Files that the launcher has open beside two per rank.
const OTHER_FILES: u64 = 32;

/// Starts all ranks, in order. If one does not start, those before it are ended.
pub fn all(
    job: &Job,
    programs: &[PathBuf],
    segment: &Segment,
    guard: &Guard,
) -> Result<Vec<Child>, LaunchError> {
    enough_files(job.ranks());
    let places = bind::places(job.bind, job.ranks(), &bind::cores());
    let library_path = job.libraries.as_deref().map(library_path);
    let mut children: Vec<Child> = Vec::new();
    for (part, program) in job.parts.iter().zip(programs) {
        for _ in 0..part.ranks {
            let rank = u32::try_from(children.len()).expect("ranks are counted in 32 bits");
            let mut command = command(job, part, program, library_path.as_ref());
            command.process_group(guard.group());
            if rank == 0 {
                command.stdin(first_input());
            }
            segment.inherit(&mut command, rank);
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

fn command(job: &Job, part: &Part, program: &Path, library_path: Option<&OsString>) -> Command {
    let mut command = Command::new(program);
    command.arg0(&part.program).args(&part.arguments);
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
