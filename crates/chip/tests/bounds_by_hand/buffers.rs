// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where cores copy lines between their memory and buffers.
//!
//! The tiles used are a row; two cores share one. A core cycle is two cycles of the mesh.

use corecast_chip::System;
use corecast_core::{Collective, Request};

use super::chip;

const CHIP: [(&str, &str); 8] = [
    ("clocks.core.period", "500"),
    ("clocks.mesh.period", "1000"),
    ("endpoint.mpb_read", "211"),
    ("endpoint.mpb_write", "131"),
    ("endpoint.own_read", "101"),
    ("endpoint.own_write", "307"),
    ("endpoint.combine", "17"),
    ("network.link", "97"),
];

/// A line is cheapest to write into another core's buffer, and to read out of the own one.
const WRITE: u64 = 131;
const READ: u64 = 101;
/// So it gets from memory to memory; or it is read out of another's buffer, which is no write.
const SENT: u64 = WRITE + READ;
const TAKEN: u64 = 211;
/// A flag is written and read.
const FLAG: u64 = WRITE + READ;
const COMBINE: u64 = 17;
/// Routing, allocation, switch and link, there and back, in cycles of a core.
const HOP: u64 = 2 * (1 + 1 + 1 + 97) / 2;

/// Both caches together hold 12 lines.
const SMALL: [(&str, &str); 2] = [("memory.l1", "128"), ("memory.l2", "256")];
/// To read a line from memory, which is less than to store its eight words there.
const MISS: u64 = 83;

const LINE: u64 = 32;

fn lines(collective: Collective, ranks: u32, lines: u64) -> Request {
    Request::new(collective, ranks, lines * LINE)
}

fn bound(changes: &[(&str, &str)], request: &Request) -> u64 {
    chip("scc", &[&CHIP, changes]).bound_cycles(request)
}

/// Twelve ranks are on six tiles: whoever is last has to be told over five hops, and nothing is
/// written or read beside the flag.
#[test]
fn a_barrier_is_a_flag_over_every_hop() {
    let request = lines(Collective::Barrier, 12, 0);
    assert_eq!(bound(&[], &request), FLAG + 5 * HOP);
}

/// The root writes three lines, the last of which is told of and read five hops away.
#[test]
fn what_leaves_a_rank_is_written_told_of_and_read() {
    let request = lines(Collective::Bcast, 12, 3);
    assert_eq!(bound(&[], &request), 3 * WRITE + FLAG + READ + 5 * HOP);
}

/// Where writing is faster than reading, the last rank's reading decides: one line has been written
/// and told of before.
#[test]
fn what_enters_a_rank_is_written_told_of_and_read() {
    let fast = [("endpoint.own_write", "73")];
    let flag = 73 + READ;
    let request = lines(Collective::Bcast, 12, 3);
    assert_eq!(bound(&fast, &request), 73 + flag + 3 * READ + 5 * HOP);
}

/// Ten of eleven lines are for other tiles. The one for the neighbour on the own tile may be written
/// after them, while they cross a hop that takes longer: 2 * 200 cycles of the mesh.
#[test]
fn near_ranks_may_be_served_last() {
    let slow = [("network.link", "197")];
    let request = lines(Collective::Scatter, 12, 1);
    assert_eq!(bound(&slow, &request), 10 * WRITE + FLAG + READ + 200);
    // With shorter hops all eleven decide, wherever they go.
    let fast = [("network.link", "1")];
    assert_eq!(bound(&fast, &request), 11 * WRITE + FLAG + READ);
}

/// Two cores of a tile exchange five lines: each writes and reads five and a flag.
#[test]
fn a_core_does_one_thing_at_a_time() {
    let request = lines(Collective::Alltoall, 2, 5);
    assert_eq!(bound(&[], &request), 6 * WRITE + 6 * READ);
}

/// Of 20 lines 8 cannot be in a cache at the start, of 40 lines 28; the memory reads a line, or
/// stores its eight words where that is faster.
#[test]
fn what_no_cache_holds_comes_from_memory() {
    let request = lines(Collective::Bcast, 2, 20);
    let written = 20 * WRITE + FLAG + READ;
    assert_eq!(bound(&SMALL, &request), written + 8 * MISS);
    assert_eq!(bound(&[], &request), written, "all fit");
    let exchange = lines(Collective::Alltoall, 2, 20);
    let moved = 21 * WRITE + 21 * READ;
    assert_eq!(bound(&SMALL, &exchange), moved + 28 * MISS);
    let store = [SMALL[0], SMALL[1], ("memory.store", "7")];
    assert_eq!(bound(&store, &exchange), moved + 28 * 8 * 7);
}

/// Eleven of twelve ranks take 20 lines out of another's buffer and put 8 of them into memory.
#[test]
fn all_but_the_root_read_a_broadcast() {
    let request = lines(Collective::Bcast, 12, 20);
    let each = 20 * TAKEN + 8 * MISS;
    assert_eq!(bound(&SMALL, &request), 11 * each / 12);
}

/// Two of three ranks' lines are sent and their 160 words combined; if all want the result, it is
/// taken as often. Everybody reads 8 lines of its own vector from memory.
#[test]
fn ranks_share_the_work_of_a_reduction() {
    let combined = 160 * COMBINE;
    let request = lines(Collective::Reduce, 3, 20);
    let work = 2 * (20 * SENT + combined) / 3;
    assert_eq!(bound(&SMALL, &request), work + 8 * MISS);
    let request = lines(Collective::Allreduce, 3, 20);
    let work = 2 * (20 * (SENT + TAKEN) + combined) / 3;
    assert_eq!(bound(&SMALL, &request), work + 8 * MISS);
}

/// The same on the chip as it is, whatever its numbers are: `(p - 1) / p` is everybody's share.
#[test]
fn the_share_of_a_reduction_follows_the_chip() {
    let chip = chip("scc", &[]);
    let System::Mpb { memory, rcce, .. } = chip.system() else {
        panic!("a chip with buffers");
    };
    let (own_read, own_write) = rcce.own_cycles();
    let sent = (rcce.mpb_write_cycles + own_read).min(own_write + rcce.mpb_read_cycles);
    let lines = 500;
    let bytes = lines * memory.line_bytes;
    let combined = bytes / 4 * rcce.combine_cycles_per_word;
    for ranks in [2, 3, 48_u64] {
        let request = Request::new(Collective::Reduce, ranks as u32, bytes);
        let all = (lines * sent + combined) * (ranks - 1);
        assert_eq!(chip.bound_cycles(&request), all / ranks, "{ranks} ranks");
    }
}

/// Each of twelve ranks has eleven times five lines to send or to take.
#[test]
fn ranks_share_the_lines_of_all() {
    for collective in [Collective::Allgather, Collective::ReduceScatter] {
        let request = lines(collective, 12, 5);
        assert_eq!(bound(&[], &request), 55 * TAKEN, "{collective}");
        // To read another's buffer takes longer than to write there and to read the own one.
        let far = [("endpoint.mpb_read", "499")];
        assert_eq!(bound(&far, &request), 55 * (131 + 101), "{collective}");
    }
    let request = lines(Collective::Alltoall, 12, 5);
    // Now the cheapest writing and the cheapest reading are not those of one buffer.
    let mixed = [("endpoint.own_read", "211"), ("endpoint.mpb_read", "101")];
    assert_eq!(bound(&mixed, &request), 55 * (131 + 211));
    let own = [mixed[0], mixed[1], ("endpoint.own_write", "151")];
    assert_eq!(bound(&own, &request), 55 * (151 + 101));
}

/// With a mesh of 10 MHz, 50 cycles of a core for one of its: six by six blocks of 40 lines, each
/// two flits and a head, cross the link in the middle of the row; something has been read before.
#[test]
fn the_middle_limits_an_alltoall() {
    let slow = [("clocks.mesh.period", "10"), ("network.link", "1")];
    let request = lines(Collective::Alltoall, 12, 40);
    assert_eq!(bound(&slow, &request), 50 * 6 * 6 * 40 * 3 + READ);
}
