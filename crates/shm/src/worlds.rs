// SPDX-License-Identifier: MIT OR Apache-2.0
//! Worlds of ranks that join a job while it runs.
//!
//! A world is what one call starts: ranks that follow one another in number, with rings and boards among
//! themselves laid out as those of the first world, in the same file, behind everything that was taken
//! before. Between a rank of it and every older one there is a *bridge*, a ring each way; it is mapped by
//! the ranks that speak to each other, and takes memory once they do.
//! A directory of all such worlds ([`crate::directory`]) tells any rank where a bridge lies.
#![forbid(unsafe_code)]

use crate::directory::{Entry, World};
use crate::layout::Room;
use crate::ring::{self, CONTROL_BYTES, SLOTS_BYTES};

/// Most worlds that join a job.
pub const WORLDS_MAX: u32 = 1 << 16;

/// Bytes of the directory.
pub const DIRECTORY_BYTES: usize = WORLDS_MAX as usize * size_of::<Entry>();

/// Bytes of a bridge's pools: packets of any length that a world sends fit in.
pub fn pool_bytes() -> usize {
    ring::pool_bytes(WIDTH, Room::Scarce.pools_bytes())
}

/// The pools of bridges are those of a small segment of so many ranks.
const WIDTH: u32 = 8;

/// Bytes of a bridge: the ring from the older rank, then the other one.
pub fn bridge_bytes() -> usize {
    (2 * ring_bytes()).next_multiple_of(4096)
}

/// Bytes of one of its rings.
pub fn ring_bytes() -> usize {
    CONTROL_BYTES + SLOTS_BYTES + pool_bytes()
}

/// Bytes of the bridges of a world.
pub fn bridges_bytes(world: World) -> u64 {
    u64::from(world.ranks) * u64::from(world.first) * bridge_bytes() as u64
}

/// How far behind the first bridge of a world that between one of its ranks and an older one lies.
pub fn bridge(world: World, rank: u32, older: u32) -> u64 {
    let place = u64::from(rank - world.first) * u64::from(world.first) + u64::from(older);
    place * bridge_bytes() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_bridge_of_its_own() {
        let world = World {
            first: 3,
            ranks: 2,
            start: 0,
        };
        let pairs = (3..5).flat_map(|rank| (0..3).map(move |older| (rank, older)));
        let mut places: Vec<u64> = pairs
            .map(|(rank, older)| bridge(world, rank, older))
            .collect();
        places.sort_unstable();
        let bytes = bridge_bytes() as u64;
        let expected: Vec<u64> = (0..6).map(|place| place * bytes).collect();
        assert_eq!(places, expected);
        assert_eq!(bridges_bytes(world), 6 * bytes);
        assert!(2 * ring_bytes() <= bridge_bytes());
        assert!(world.has(3) && world.has(4) && !world.has(5) && !world.has(2));
    }

    #[test]
    fn what_the_rings_of_a_world_carry_bridges_carry_too() {
        for ranks in [1, 2, 16, 100, 1024] {
            for room in Room::ALL {
                let pool = crate::layout::Layout::new(ranks, room).pool_bytes;
                // Several of them at a time.
                assert!(4 * ring::packet_max(pool) <= pool_bytes());
            }
        }
    }
}
