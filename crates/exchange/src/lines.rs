// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of files: where a place is, and where the steps of a schedule come from.

use std::collections::BTreeMap;

use corecast_core::{Rank, StepRef};

/// Where the lines of a text end.
#[derive(Debug)]
pub(crate) struct LineEnds(Vec<usize>);

impl LineEnds {
    pub(crate) fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self(ends.map(|(at, _)| at).collect())
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        1 + self.0.partition_point(|&end| end < at) as u32
    }
}

/// The line of its file that every step of a schedule comes from.
///
/// A file without lines, of bytes, has none of any step; and a line may be that of several steps, of
/// several ranks as well.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepLines(BTreeMap<(Rank, u32), Vec<u32>>);

impl StepLines {
    /// A step comes from this line; the steps of a stream one after the other.
    pub(crate) fn push(&mut self, step: StepRef, line: u32) {
        let of_stream = self.0.entry((step.rank, step.stream)).or_default();
        debug_assert_eq!(of_stream.len(), step.step as usize, "{step:?}");
        of_stream.push(line);
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The line of a step, counted from 1, if its file has lines.
    #[must_use]
    pub fn of(&self, step: StepRef) -> Option<u32> {
        let of_stream = self.0.get(&(step.rank, step.stream))?;
        of_stream.get(step.step as usize).copied()
    }
}
