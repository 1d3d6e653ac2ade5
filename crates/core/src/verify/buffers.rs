// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory a schedule needs beyond the collective's own input and output.

use crate::ids::{ChunkId, Rank};
use crate::schedule::{Arrival, ChunkList, Op, Schedule, Step};

/// Most bytes any rank holds of chunks that are neither its input nor its output, plus the
/// operand of a reduction while it is combined. A chunk passing through is dropped after the last
/// step that sends or copies it; where a rank has several streams, whose order is not fixed, nothing
/// is dropped and every stream has an operand.
pub(super) fn max_bytes(schedule: &Schedule) -> u64 {
    let mut tracker = Tracker {
        last_use: vec![(u32::MAX, 0); schedule.places_total() as usize],
        staged: vec![u32::MAX; schedule.places_total() as usize],
    };
    schedule
        .all_ranks()
        .map(|rank| tracker.peak_bytes(schedule, rank))
        .max()
        .unwrap_or(0)
}

/// Per-chunk notes, stamped with the rank they belong to so that they need no clearing.
struct Tracker {
    /// (rank, step) of the last step that needs it.
    last_use: Vec<(u32, usize)>,
    /// Rank that has the chunk staged.
    staged: Vec<u32>,
}

impl Tracker {
    fn peak_bytes(&mut self, schedule: &Schedule, rank: Rank) -> u64 {
        let steps = schedule.steps(rank);
        for (index, step) in steps.iter().enumerate() {
            for &chunk in schedule.chunks(used(step)) {
                self.last_use[chunk.index()] = (rank.0, index);
            }
        }
        if schedule.streams(rank).nth(1).is_some() {
            return self.most_bytes(schedule, rank);
        }
        let (mut held_bytes, mut peak_bytes) = (0, 0);
        for (index, step) in steps.iter().enumerate() {
            held_bytes += self.staged_bytes(schedule, rank, step);
            peak_bytes = peak_bytes.max(held_bytes + operand_bytes(schedule, step));
            for &chunk in schedule.chunks(used(step)) {
                let last = self.last_use[chunk.index()] == (rank.0, index);
                if last && self.staged[chunk.index()] == rank.0 {
                    self.staged[chunk.index()] = u32::MAX;
                    held_bytes -= schedule.chunk_bytes(chunk);
                }
            }
        }
        peak_bytes
    }

    /// What streams in any order hold at most.
    fn most_bytes(&mut self, schedule: &Schedule, rank: Rank) -> u64 {
        let steps = schedule.steps(rank);
        let staged = steps.iter();
        let staged: u64 = staged
            .map(|step| self.staged_bytes(schedule, rank, step))
            .sum();
        let operands = schedule.streams(rank).map(|(range, _)| {
            let operands = steps[range]
                .iter()
                .map(|step| operand_bytes(schedule, step));
            operands.max().unwrap_or(0)
        });
        staged + operands.sum::<u64>()
    }

    /// Bytes that a step stores in places that are neither input nor output and held nothing yet.
    fn staged_bytes(&mut self, schedule: &Schedule, rank: Rank, step: &Step) -> u64 {
        let stores = match step.op {
            Op::Local { arrival, .. } => arrival == Arrival::Store,
            _ => step
                .recv_half()
                .is_some_and(|half| half.arrival == Arrival::Store),
        };
        let written = schedule.chunks(step.written()).iter().filter(|_| stores);
        let mut bytes = 0;
        for &chunk in written {
            if is_foreign(schedule, rank, chunk) && self.stage(rank, chunk) {
                bytes += schedule.chunk_bytes(chunk);
            }
        }
        bytes
    }

    fn stage(&mut self, rank: Rank, chunk: ChunkId) -> bool {
        let staged = &mut self.staged[chunk.index()];
        let is_new = *staged != rank.0;
        *staged = rank.0;
        is_new
    }
}

/// What a step sends or copies.
fn used(step: &Step) -> ChunkList {
    match step.op {
        Op::Local { source, .. } => source,
        _ => step.sent(),
    }
}

/// Bytes that arrive to be combined with what is held.
fn operand_bytes(schedule: &Schedule, step: &Step) -> u64 {
    let half = step.recv_half();
    let half = half.filter(|half| half.arrival != Arrival::Store);
    half.map_or(0, |half| schedule.message_bytes(half.chunks))
}

fn is_foreign(schedule: &Schedule, rank: Rank, chunk: ChunkId) -> bool {
    let spec = schedule.spec();
    let Some(place) = chunk.0.checked_sub(spec.chunks()) else {
        return !spec.holds_initially(rank, chunk) && !spec.wants_finally(rank, chunk);
    };
    let result_of = schedule.places()[place as usize].result_of;
    result_of.is_none_or(|chunk| !spec.wants_finally(rank, chunk))
}
