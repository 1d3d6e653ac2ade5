//! Where what lies in a segment.
#![forbid(unsafe_code)]

use crate::boards;
use crate::job::{JOB_BYTES, RANK_BYTES};
use crate::ring::{self, CONTROL_BYTES, SLOTS_BYTES};

/// Most ranks of a segment: every pair has a ring.
pub const RANKS_MAX: u32 = 1024;

const PAGE: usize = 4096;

/// Offsets of everything, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub ranks: u32,
    /// Bytes of a ring's pool.
    pub pool_bytes: usize,
    first_ring: usize,
    ring_bytes: usize,
    first_board: usize,
    pub bytes: usize,
}

impl Layout {
    pub fn new(ranks: u32) -> Self {
        let count = ranks as usize;
        let pool_bytes = ring::pool_bytes(ranks);
        let ring_bytes = CONTROL_BYTES + SLOTS_BYTES + pool_bytes;
        let first_ring = (JOB_BYTES + count * RANK_BYTES).next_multiple_of(PAGE);
        let first_board = (first_ring + count * count * ring_bytes).next_multiple_of(PAGE);
        Self {
            ranks,
            pool_bytes,
            first_ring,
            ring_bytes,
            first_board,
            bytes: first_board + count * boards::bytes(ranks),
        }
    }

    pub const fn rank(&self, rank: u32) -> usize {
        JOB_BYTES + rank as usize * RANK_BYTES
    }

    /// The ring from one rank to another; those to one rank lie together.
    pub const fn ring(&self, from: u32, to: u32) -> usize {
        let pair = to as usize * self.ranks as usize + from as usize;
        self.first_ring + pair * self.ring_bytes
    }

    pub const fn board(&self, rank: u32) -> usize {
        self.first_board + rank as usize * boards::bytes(self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_on_cache_lines() {
        for ranks in [1, 2, 3, 16, 64] {
            let layout = Layout::new(ranks);
            let mut pieces: Vec<_> = (0..ranks)
                .flat_map(|to| (0..ranks).map(move |from| (from, to)))
                .map(|(from, to)| (layout.ring(from, to), layout.ring_bytes))
                .collect();
            pieces.extend((0..ranks).map(|rank| (layout.rank(rank), RANK_BYTES)));
            pieces.extend((0..ranks).map(|rank| (layout.board(rank), boards::bytes(ranks))));
            pieces.push((0, JOB_BYTES));
            pieces.sort_unstable();
            for (one, next) in pieces.iter().zip(&pieces[1..]) {
                assert!(one.0 + one.1 <= next.0, "{ranks} ranks: {one:?} {next:?}");
            }
            assert!(pieces.iter().all(|piece| piece.0 % 64 == 0));
            let last = pieces[pieces.len() - 1];
            assert_eq!(last.0 + last.1, layout.bytes);
        }
    }
}
