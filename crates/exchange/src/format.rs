// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a format is.

use std::fmt::Debug;

use corecast_core::{Launch, Schedule, Transport};

use crate::error::{Fault, FileError, Unsayable};
use crate::lines::StepLines;

/// A schedule that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The schedule.
    pub schedule: Schedule,
    /// What the file says and the schedule does not, or does not say and was chosen: one line each.
    pub notes: Vec<String>,
    /// Where its steps are in the file.
    pub lines: StepLines,
}

impl Imported {
    /// The same of a file without lines.
    pub(crate) fn without_lines(mut self) -> Self {
        self.lines = StepLines::default();
        self
    }
}

/// A schedule, or a program, as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The file, or one per rank.
    pub files: Vec<Vec<u8>>,
    /// What it says and the file does not: one line each.
    pub notes: Vec<String>,
}

impl Exported {
    /// One file of text.
    #[must_use]
    pub fn of_text(text: String, notes: Vec<String>) -> Self {
        Self {
            files: vec![text.into_bytes()],
            notes,
        }
    }

    /// The file as text; none of a format that is no text or has a file per rank.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.files[..] {
            [file] => std::str::from_utf8(file).ok(),
            _ => None,
        }
    }
}

/// The contents of a file as text.
///
/// # Errors
/// That they are none, and in which line.
pub fn text_of(contents: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(contents).map_err(|error| {
        let before = &contents[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32;
        Fault::at(
            line,
            "this is no UTF-8 text",
            "write the file again with its tool",
        )
    })
}

/// Whether the first line that is neither empty nor a comment begins so: what files of our own do.
#[must_use]
pub fn begins_with(contents: &[u8], words: &str) -> bool {
    let Ok(text) = text_of(contents) else {
        return false;
    };
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with(words))
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

    /// Whether its files are text, which can be shown.
    fn is_text(&self) -> bool {
        true
    }

    /// Whether there is one file per rank, `NAME.RANK.ENDING`. They are read one behind the other.
    fn has_file_per_rank(&self) -> bool {
        false
    }

    /// Whether contents look like a file of this format.
    fn is(&self, contents: &[u8]) -> bool;

    /// The schedule in a file, whose name is for messages.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError>;

    /// A schedule as a file of this format.
    ///
    /// # Errors
    /// What the format cannot say.
    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable>;

    /// The same in the place of a file of this format, of which what a schedule does not say is kept;
    /// and what the file lacks that its readers insist on and this one has, one line each.
    ///
    /// # Errors
    /// As [`Format::write`].
    fn rewrite(
        &self,
        _contents: &[u8],
        schedule: &Schedule,
    ) -> Result<(Exported, Vec<String>), Unsayable> {
        Ok((self.write(schedule)?, Vec::new()))
    }
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
