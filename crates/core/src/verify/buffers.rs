//! Memory a schedule needs beyond the collective's own input and output.

use crate::ids::{ChunkId, Rank};
use crate::schedule::{Arrival, Schedule};
use crate::spec::Spec;

/// Most bytes any rank holds of chunks that are neither its input nor its output, plus the
/// operand of a reduction while it is combined. A chunk passing through is dropped after the last
/// step that sends it.
pub(super) fn max_bytes(schedule: &Schedule) -> u64 {
    let mut tracker = Tracker {
        last_send: vec![(u32::MAX, 0); schedule.spec().chunks() as usize],
        staged: vec![u32::MAX; schedule.spec().chunks() as usize],
    };
    schedule
        .all_ranks()
        .map(|rank| tracker.peak_bytes(schedule, rank))
        .max()
        .unwrap_or(0)
}

/// Per-chunk notes, stamped with the rank they belong to so that they need no clearing.
struct Tracker {
    /// (rank, step) of the last send.
    last_send: Vec<(u32, usize)>,
    /// Rank that has the chunk staged.
    staged: Vec<u32>,
}

impl Tracker {
    fn peak_bytes(&mut self, schedule: &Schedule, rank: Rank) -> u64 {
        let spec = schedule.spec();
        let steps = schedule.steps(rank);
        for (index, step) in steps.iter().enumerate() {
            for &chunk in step
                .send_half()
                .map_or(&[][..], |half| schedule.chunks(half.chunks))
            {
                self.last_send[chunk.index()] = (rank.0, index);
            }
        }
        let (mut held_bytes, mut peak_bytes) = (0, 0);
        for (index, step) in steps.iter().enumerate() {
            let mut operand_bytes = 0;
            if let Some(half) = step.recv_half() {
                for &chunk in schedule.chunks(half.chunks) {
                    if half.arrival == Arrival::Reduce {
                        operand_bytes += spec.chunk_bytes(chunk);
                    } else if is_foreign(spec, rank, chunk) && self.stage(rank, chunk) {
                        held_bytes += spec.chunk_bytes(chunk);
                    }
                }
            }
            peak_bytes = peak_bytes.max(held_bytes + operand_bytes);
            if let Some(half) = step.send_half() {
                for &chunk in schedule.chunks(half.chunks) {
                    let last = self.last_send[chunk.index()] == (rank.0, index);
                    if last && self.staged[chunk.index()] == rank.0 {
                        self.staged[chunk.index()] = u32::MAX;
                        held_bytes -= spec.chunk_bytes(chunk);
                    }
                }
            }
        }
        peak_bytes
    }

    fn stage(&mut self, rank: Rank, chunk: ChunkId) -> bool {
        let staged = &mut self.staged[chunk.index()];
        let is_new = *staged != rank.0;
        *staged = rank.0;
        is_new
    }
}

fn is_foreign(spec: &Spec, rank: Rank, chunk: ChunkId) -> bool {
    !spec.holds_initially(rank, chunk) && !spec.wants_finally(rank, chunk)
}
