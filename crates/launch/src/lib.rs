// SPDX-License-Identifier: MIT OR Apache-2.0
//! The launcher of MPI programs on this host: `corecast mpirun` without its command line.
//!
//! A [`MpiJob`] says what to start; [`run`] starts one process per rank over a shared segment, passes
//! their output on in whole lines, and returns when all have ended: an [`Ending`].
//!
//! - All ranks are in the launcher's session, in one process group of their own. (A session per rank
//!   would be a scheduling group per rank on kernels that group by session, and giving the core away
//!   by `sched_yield` would then give it to nobody.)
//! - Nothing outlives the launcher, however it ends: the module `guard` says how.
//! - A rank that dies ends the others: those in a call of the library learn from the segment which
//!   rank died and of what, the rest are ended by signals, all within a second.
//! - Ranks ask by a pipe for more ranks, and for others to speak to (`joining`, `desk`).

mod bind;
mod desk;
mod ending;
mod error;
mod guard;
mod input;
mod joining;
mod libraries;
mod part;
mod program;
mod signals;
mod spawn;
mod streams;
mod supervise;
mod watched;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use corecast_shm::Segment;
use watched::Watched;

pub use bind::Bind;
pub use ending::{Cause, Ending, TIMEOUT_CODE};
pub use error::LaunchError;
pub use libraries::libraries;
pub use part::Part;
pub use signals::Halt;

/// Ranks of MPI programs to start, and how.
#[derive(Clone, Debug)]
pub struct MpiJob {
    /// Programs with their numbers of ranks, in order of rank.
    pub parts: Vec<Part>,
    /// Which cores a rank may run on.
    pub bind: Bind,
    /// Whether each line of output begins with its rank, as in `[3] `.
    pub is_tagged: bool,
    /// After this time all ranks are ended.
    pub timeout: Option<Duration>,
    /// Variables that the ranks get beside the launcher's own.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder of our libraries, put before all others in `LD_LIBRARY_PATH`.
    pub libraries: Option<PathBuf>,
    /// Says when it is to end, where the job runs inside a program that is more than a launcher: its
    /// signals and its input stay its own then, and rank 0 has nothing to read.
    pub halt: Option<Halt>,
}

impl MpiJob {
    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.parts.iter().map(|part| part.ranks).sum()
    }
}

/// Runs a job to its end. The ranks' output goes to `out` and `err`.
///
/// # Errors
/// When the job could not be started; no process is left then.
pub fn run(job: &MpiJob, out: &mut dyn Write, err: &mut dyn Write) -> Result<Ending, LaunchError> {
    let mut segment = Segment::create(job.ranks())?;
    segment.listen().map_err(LaunchError::Questions)?;
    run_over(job, Watched::Growing(&mut segment), out, err)
}

/// Runs a job in virtual time: `attend` does on a thread of its own what its ranks ask for
/// ([`Segment::desk`]) until all have finished, or it cannot go on; then they are ended. `end` lets it
/// return soon, and is called when no rank is left. What it gave is returned beside how the job ended.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// If `attend` does.
pub fn run_attended<T: Send>(
    job: &MpiJob,
    segment: &Segment,
    (attend, end): (impl FnOnce() -> T + Send, impl FnOnce()),
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(Ending, T), LaunchError> {
    std::thread::scope(|scope| {
        let attending = scope.spawn(|| {
            // However it ends: nobody else answers the ranks.
            let _ends = Ends(segment);
            attend()
        });
        let ended = run_over(job, Watched::Fixed(segment), out, err);
        segment.stop();
        end();
        let attended = attending.join();
        let attended = attended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((ended?, attended))
    })
}

/// Ends the ranks of a segment when it is dropped.
struct Ends<'a>(&'a Segment);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn run_over(
    job: &MpiJob,
    segment: Watched<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Ending, LaunchError> {
    let programs = program::find_all(&job.parts)?;
    let signals = signals::Signals::new(job.halt.as_ref()).map_err(LaunchError::Signals)?;
    let guard = guard::Guard::start().map_err(LaunchError::Guard)?;
    let spawned = spawn::all(job, &programs, &segment, &guard)?;
    let supervisor = supervise::Supervisor::new(job, segment, &guard, &signals, spawned);
    Ok(supervisor.run(out, err))
}
