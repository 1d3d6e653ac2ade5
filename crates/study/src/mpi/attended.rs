// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts the ranks of a program and attends them: the launcher on this side, the machine on the other.

use std::io::Write;

use corecast_launch::{Cause, Ending, LaunchError, MpiJob};
use corecast_shm::Segment;

use super::tables::TABLES_VARIABLE;
use super::{MpiError, MpiRun, MpiStudy};

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
        let job = &self.with_tables(job);
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
