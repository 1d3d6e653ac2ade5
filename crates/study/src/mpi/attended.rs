// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts the ranks of a program and attends them: the launcher on this side, the machine on the other.

use std::env;
use std::ffi::OsString;
use std::io::Write;

use corecast_launch::{Cause, Ending, LaunchError, MpiJob};
use corecast_shm::Segment;

use super::tables::TABLES_VARIABLE;
use super::{MpiError, MpiRun, MpiStudy};

/// What GNU's C library reads its settings from.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// Of all that it does for a thread this one is paid for at every switch between ranks: the system writes
/// the processor's number into the thread's memory, of which nothing is in the caches then.
const RSEQ: &str = "glibc.pthread.rseq";

/// A program that was started, and has ended.
#[derive(Clone, Debug)]
pub struct Attended {
    /// How its processes ended.
    pub ending: Ending,
    /// What it has shown.
    pub run: Result<MpiRun, MpiError>,
}

impl Attended {
    /// Whether somebody wanted to end it all.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self.ending.cause, Some(Cause::Interrupted { .. }))
    }
}

impl MpiStudy {
    /// Runs the program of a job once; what its ranks print goes to `out` and `err`.
    ///
    /// # Errors
    /// When it could not be started; no process is left then.
    pub fn start(
        &self,
        job: &MpiJob,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Attended, LaunchError> {
        let job = &without_rseq(self.with_tables(job));
        let segment = Segment::clocked(job.ranks(), &self.terms())?;
        let attend = || self.attend(segment.desk());
        let end = || self.plan.on.watch.stop();
        let (ending, run) = corecast_launch::run_attended(job, &segment, (attend, end), out, err)?;
        Ok(Attended { ending, run })
    }

    /// The job, whose ranks are told of the tables.
    fn with_tables(&self, job: &MpiJob) -> MpiJob {
        let mut job = job.clone();
        let word = &self.plan.tables.word;
        job.environment.push((TABLES_VARIABLE.into(), word.into()));
        job
    }
}

/// The job, whose ranks do without what takes time at every switch.
fn without_rseq(mut job: MpiJob) -> MpiJob {
    let mut set = job.environment.iter().rev();
    let set = set.find(|(name, _)| name == TUNABLES);
    let set = set.map(|(_, value)| value.clone());
    let before = set.or_else(|| env::var_os(TUNABLES)).unwrap_or_default();
    job.environment.push((TUNABLES.into(), tunables(before)));
    job
}

/// These settings, and that one unless they say something about it.
fn tunables(mut before: OsString) -> OsString {
    if before.to_string_lossy().contains(RSEQ) {
        return before;
    }
    if !before.is_empty() {
        before.push(":");
    }
    before.push(format!("{RSEQ}=0"));
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_says_of_its_c_library_stays() {
        let of_rseq = "glibc.pthread.rseq=1";
        assert_eq!(tunables(of_rseq.into()), of_rseq);
        assert_eq!(tunables("a=1".into()), "a=1:glibc.pthread.rseq=0");
        assert_eq!(tunables("".into()), "glibc.pthread.rseq=0");
    }
}
