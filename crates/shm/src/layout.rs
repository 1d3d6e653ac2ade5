// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where what lies in a segment.
#![forbid(unsafe_code)]

use corecast_mpi::joint::{JOINTS, Joint};
use corecast_mpi::transport::BOARD_SHARES;

use crate::boards;
use crate::job::{JOB_BYTES, RANK_BYTES};
use crate::mailbox::MAILBOX_BYTES;
use crate::ring::{self, CONTROL_BYTES, SLOTS_BYTES};
use crate::shelf::SHELF_BYTES;

/// Most ranks of a segment: every pair has a ring.
pub const RANKS_MAX: u32 = 1024;

/// Bytes of what two ranks agree on about messages from one to the other, behind their ring.
pub const JOINTS_BYTES: usize = JOINTS * size_of::<Joint>();

const PAGE: usize = 4096;

/// How much memory there is for data that are under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// As much as is of use.
    Ample,
    /// Little.
    Scarce,
    /// So little that the same is soon used again, in a segment to which no other process attaches.
    Trial,
}

impl Room {
    /// Those of processes, which tell them by the segment's size.
    pub const ALL: [Self; 2] = [Self::Ample, Self::Scarce];

    /// Most bytes of all rings' pools together, if there are not very many.
    pub const fn pools_bytes(self) -> usize {
        match self {
            Self::Ample => 512 << 20,
            Self::Scarce => 16 << 20,
            Self::Trial => 1 << 20,
        }
    }

    /// Bytes of a board that are for data, for each of [`BOARD_SHARES`] a part: with two ranks more than a core's
    /// own cache holds, with more ranks a fourth of it is used. Less where there are many.
    const fn board_bytes(self, ranks: u32) -> usize {
        match (self, ranks) {
            (Self::Ample, 0..=16) => 32 << 20,
            (Self::Ample, 17..=64) => 8 << 20,
            _ => 1 << 20,
        }
    }
}

/// Offsets of everything, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub ranks: u32,
    /// Bytes of a ring's pool.
    pub pool_bytes: usize,
    /// Bytes of a board that are for data.
    pub board_bytes: usize,
    first_ring: usize,
    ring_bytes: usize,
    first_board: usize,
    /// Whether ranks are in virtual time: in the place of all rings each has a mailbox, and in that of
    /// all boards there is one shelf.
    pub is_clocked: bool,
    pub bytes: usize,
}

impl Layout {
    pub fn new(ranks: u32, room: Room) -> Self {
        let count = ranks as usize;
        let pool_bytes = ring::pool_bytes(ranks, room.pools_bytes());
        let board_bytes = room.board_bytes(ranks);
        let ring_bytes = CONTROL_BYTES + SLOTS_BYTES + pool_bytes + JOINTS_BYTES;
        let first_ring = (JOB_BYTES + count * RANK_BYTES).next_multiple_of(PAGE);
        let first_board = (first_ring + count * count * ring_bytes).next_multiple_of(PAGE);
        Self {
            ranks,
            pool_bytes,
            board_bytes,
            first_ring,
            ring_bytes,
            first_board,
            is_clocked: false,
            bytes: first_board + count * boards::bytes(board_bytes),
        }
    }

    /// Of ranks in virtual time.
    pub fn clocked(ranks: u32) -> Self {
        let first_ring = (JOB_BYTES + ranks as usize * RANK_BYTES).next_multiple_of(PAGE);
        let shelf = first_ring + ranks as usize * MAILBOX_BYTES;
        Self {
            ranks,
            pool_bytes: 0,
            board_bytes: 0,
            first_ring,
            ring_bytes: MAILBOX_BYTES,
            first_board: shelf,
            is_clocked: true,
            bytes: shelf + SHELF_BYTES,
        }
    }

    /// Offset of a rank's mailbox.
    pub const fn mailbox(&self, rank: u32) -> usize {
        self.first_ring + rank as usize * self.ring_bytes
    }

    /// Offset of the shelf of ranks in virtual time.
    pub const fn shelf(&self) -> usize {
        self.first_board
    }

    /// Bytes that are in use at most, with one communicator that has large collectives.
    pub const fn used_bytes(&self) -> usize {
        let ranks = self.ranks as usize;
        ranks * ranks * self.ring_bytes + ranks * (self.board_bytes / BOARD_SHARES)
    }

    pub const fn rank(&self, rank: u32) -> usize {
        JOB_BYTES + rank as usize * RANK_BYTES
    }

    /// The ring from one rank to another; those to one rank lie together.
    pub const fn ring(&self, from: u32, to: u32) -> usize {
        let pair = to as usize * self.ranks as usize + from as usize;
        self.first_ring + pair * self.ring_bytes
    }

    /// Where the two ranks of a ring agree on who copies what.
    pub const fn joints(&self, from: u32, to: u32) -> usize {
        self.ring(from, to) + self.ring_bytes - JOINTS_BYTES
    }

    pub const fn board(&self, rank: u32) -> usize {
        self.first_board + rank as usize * boards::bytes(self.board_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_told_by_its_size() {
        for ranks in 1..=RANKS_MAX {
            let [ample, scarce] = Room::ALL.map(|room| Layout::new(ranks, room).bytes);
            let clocked = Layout::clocked(ranks);
            assert!(clocked.bytes != ample && clocked.bytes != scarce);
            assert_eq!(clocked.mailbox(ranks - 1) + MAILBOX_BYTES, clocked.shelf());
            assert_eq!(clocked.shelf() + SHELF_BYTES, clocked.bytes);
        }
    }

    #[test]
    fn nothing_overlaps_and_all_is_on_cache_lines() {
        for (ranks, room) in [1, 2, 3, 16, 64]
            .into_iter()
            .zip(Room::ALL.into_iter().cycle())
        {
            let layout = Layout::new(ranks, room);
            let mut pieces: Vec<_> = (0..ranks)
                .flat_map(|to| (0..ranks).map(move |from| (from, to)))
                .map(|(from, to)| (layout.ring(from, to), layout.ring_bytes))
                .collect();
            pieces.extend((0..ranks).map(|rank| (layout.rank(rank), RANK_BYTES)));
            pieces.extend(
                (0..ranks).map(|rank| (layout.board(rank), boards::bytes(layout.board_bytes))),
            );
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
