//! What a format is.

use std::fmt::Debug;

use corecast_core::{Launch, Schedule, Transport};

use crate::error::{FileError, Unsayable};

/// A schedule that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The schedule.
    pub schedule: Schedule,
    /// What the file says and the schedule does not, or does not say and was chosen: one line each.
    pub notes: Vec<String>,
}

/// A schedule as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The file.
    pub text: String,
    /// What the schedule says and the file does not: one line each.
    pub notes: Vec<String>,
}

/// One way to write a schedule into a file.
pub trait Format: Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// How names of its files end.
    fn extension(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Where it is described.
    fn source(&self) -> &'static str;

    /// Whether a text looks like a file of this format.
    fn is(&self, text: &str) -> bool;

    /// The schedule in a file, whose name is for messages.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn read(&self, file: &str, text: &str) -> Result<Imported, FileError>;

    /// A schedule as a file of this format.
    ///
    /// # Errors
    /// What the format cannot say.
    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable>;
}

/// What only our own format says of a schedule as a whole, as far as this one has it.
pub(crate) fn lost(schedule: &Schedule) -> Vec<&'static str> {
    let all = [
        (schedule.launch() != &Launch::Independent, "launch"),
        (
            schedule.transport() == Transport::SharedBuffers,
            "transport shared-buffers",
        ),
        (!schedule.has_flow_control(), "flow-control off"),
        (schedule.status_bits().is_some(), "status-bits"),
        (schedule.piece_bytes().is_some(), "piece-bytes"),
        (schedule.slots() > 0, "slots"),
    ];
    let lost = all.into_iter().filter(|(is_there, _)| *is_there);
    lost.map(|(_, name)| name).collect()
}
