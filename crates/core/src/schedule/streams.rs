// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several programs per rank that proceed side by side and wait for one another where they say so.
//!
//! Most schedules have one stream per rank and none of what is here: no table, nothing per step.
//! Where a rank has more, its streams lie one behind the other in its list of steps, and the numbers
//! in this table say where each begins.
//!
//! Messages between two ranks are matched in order per *channel*, which is a property of the stream
//! at either end. So of the streams of a rank one at most sends to a given rank over a given channel,
//! and one at most receives.
//!
//! ```
//! use corecast_core::{ChunkId, Collective, Op, Rank, Request, ScheduleBuilder, Spec, Split};
//! let spec = Spec::new(&Request::new(Collective::Bcast, 2, 8), Split::Even(2));
//! let mut builder = ScheduleBuilder::new("example", spec);
//! builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
//! let streams = [builder.add_stream(Rank(0), 1), builder.add_stream(Rank(1), 1)];
//! builder.deliver_on(0, (Rank(0), streams[0]), (Rank(1), streams[1]), &[ChunkId(1)]);
//! let schedule = builder.finish();
//! assert_eq!(schedule.streams(Rank(1)).collect::<Vec<_>>(), [(0..1, 0), (1..2, 1)]);
//! ```

use std::fmt;
use std::ops::Range;

use crate::ids::Rank;

/// Where the streams of all ranks begin; only in schedules in which a rank has several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Streams {
    /// Streams of rank `r` are `first_stream[r]..first_stream[r + 1]`.
    pub(super) first_stream: Vec<u32>,
    /// Steps of a stream, numbered through all ranks, are `first_step[s]..first_step[s + 1]`.
    pub(super) first_step: Vec<u32>,
    /// Channel of every stream.
    pub(super) channels: Vec<u32>,
    /// What waits for what, by the step that waits; steps numbered through all ranks.
    pub(super) waits: Vec<(u32, u32)>,
    /// The same by the step that is waited for.
    pub(super) waiters: Vec<(u32, u32)>,
}

impl Streams {
    /// The streams that follow are those of the next rank, if there is one.
    pub(super) fn begin_rank(&mut self) {
        self.first_stream.push(self.channels.len() as u32);
    }

    /// A stream begins at the step of this number.
    pub(super) fn begin(&mut self, number: u32, channel: u32) {
        self.first_step.push(number);
        self.channels.push(channel);
    }

    /// Numbers what waits for what.
    pub(super) fn set_waits(&mut self, waits: &[(StepRef, StepRef)]) {
        let number = |at: &StepRef| {
            let stream = (self.first_stream[at.rank.index()] + at.stream) as usize;
            let number = self.first_step[stream] + at.step;
            assert!(
                stream < self.first_stream[at.rank.index() + 1] as usize
                    && number < self.first_step[stream + 1],
                "a wait names {at:?}, which does not exist"
            );
            number
        };
        let mut waits: Vec<(u32, u32)> = waits
            .iter()
            .map(|(step, on)| (number(step), number(on)))
            .collect();
        waits.sort_unstable();
        waits.dedup();
        let waiters = waits.iter().map(|&(step, on)| (on, step));
        self.waiters = waiters.collect();
        self.waiters.sort_unstable();
        self.waits = waits;
    }
}

/// A step of a rank by its stream and its place in there, both counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StepRef {
    /// The rank.
    pub rank: Rank,
    /// Which of the rank's streams.
    pub stream: u32,
    /// Which of the stream's steps.
    pub step: u32,
}

/// Where in the program of a rank a step is, in the words of messages: `step 3`, or
/// `stream 1, step 3` where the rank has several streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Which stream, if the rank has several.
    pub stream: Option<u32>,
    /// Which of its steps, counted from 0.
    pub step: u32,
}

impl Position {
    /// The step there in the program of this rank.
    #[must_use]
    pub fn of(self, rank: Rank) -> StepRef {
        StepRef {
            rank,
            stream: self.stream.unwrap_or(0),
            step: self.step,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stream) = self.stream {
            write!(f, "stream {stream}, ")?;
        }
        write!(f, "step {}", self.step)
    }
}

/// The streams of all ranks, numbered through: what a schedule with one stream per rank has without
/// any table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub(super) streams: Option<&'a Streams>,
    /// Steps of a lane are `first_step[lane]..first_step[lane + 1]`.
    pub(crate) first_step: &'a [u32],
}

impl Lanes<'_> {
    /// Number of lanes.
    pub(crate) fn count(self) -> usize {
        self.first_step.len() - 1
    }

    /// The lanes of `rank`.
    pub(crate) fn of(self, rank: Rank) -> Range<u32> {
        match self.streams {
            None => rank.0..rank.0 + 1,
            Some(streams) => {
                streams.first_stream[rank.index()]..streams.first_stream[rank.index() + 1]
            }
        }
    }

    /// The numbers of a lane's steps.
    pub(crate) fn numbers(self, lane: u32) -> Range<u32> {
        self.first_step[lane as usize]..self.first_step[lane as usize + 1]
    }

    /// The rank that `lane` belongs to.
    pub(crate) fn rank(self, lane: u32) -> Rank {
        match self.streams {
            None => Rank(lane),
            Some(streams) => {
                let after = streams.first_stream.partition_point(|&first| first <= lane);
                Rank(after as u32 - 1) // there are fewer ranks than 2^32
            }
        }
    }

    /// The lane of `rank` that step number `number` is in.
    pub(crate) fn at(self, rank: Rank, number: u32) -> u32 {
        if self.streams.is_none() {
            return rank.0;
        }
        let lanes = self.of(rank);
        let firsts = &self.first_step[lanes.start as usize..lanes.end as usize];
        // The last lane that begins at or before the step: empty ones before it begin there too.
        let after = firsts.partition_point(|&first| first <= number) as u32;
        lanes.start + after - 1
    }

    /// Channel of a lane.
    pub(crate) fn channel(self, lane: u32) -> u32 {
        self.streams
            .map_or(0, |streams| streams.channels[lane as usize])
    }

    /// The steps that step number `number` waits for.
    pub(crate) fn waits(self, number: u32) -> impl Iterator<Item = u32> {
        let all = self.streams.map_or(&[][..], |streams| &streams.waits);
        beside(all, number)
    }

    /// The steps that wait for step number `number`.
    pub(crate) fn waiters(self, number: u32) -> impl Iterator<Item = u32> {
        let all = self.streams.map_or(&[][..], |streams| &streams.waiters);
        beside(all, number)
    }
}

/// The second of every pair whose first is this; pairs are sorted.
fn beside(pairs: &[(u32, u32)], first: u32) -> impl Iterator<Item = u32> {
    let start = pairs.partition_point(|&(known, _)| known < first);
    let of = pairs[start..].iter();
    let of = of.take_while(move |&&(known, _)| known == first);
    of.map(|&(_, second)| second)
}
