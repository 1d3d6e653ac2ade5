// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where cores write and read words themselves.

use corecast_core::{Collective, Rank, Request};

use super::{chip, row};

/// Injection, routing, allocation and ejection of the mesh that BookSim2 has by default, and a hop.
const ENDS: u64 = 2 + 1 + 1 + 3;
const HOP: u64 = 5;

/// One packet to the next router, without software: the way of its head, then a word per cycle, of
/// which the header is one, and the reading of the last.
#[test]
fn a_message_to_a_neighbour_is_its_way_and_its_words() {
    let chip = chip("booksim-mesh", &[]);
    for flits in 0..=16 {
        let request = Request::new(Collective::Bcast, 2, 16 * flits);
        assert_eq!(chip.bound_cycles(&request), ENDS + HOP + flits + 1);
    }
}

/// The farthest rank has to hear of it, however the others do: every hop counts.
#[test]
fn a_word_to_the_end_of_a_line_crosses_every_hop() {
    for (side, width) in [(2, "2"), (7, "7"), (64, "64")] {
        let chip = chip("booksim-mesh", &[&row(width)]);
        let request = Request::new(Collective::Bcast, side, 16);
        let hops = u64::from(side) - 1;
        assert_eq!(chip.bound_cycles(&request), ENDS + HOP * hops + 2, "{side}");
        let middle = request.with_root(Rank(side / 2));
        let hops = u64::from(side / 2);
        assert_eq!(chip.bound_cycles(&middle), ENDS + HOP * hops + 2, "{side}");
    }
}

const CHIP: [(&str, &str); 15] = [
    ("network.injection", "7"),
    ("network.routing", "3"),
    ("network.vc_allocation", "1"),
    ("network.switch", "2"),
    ("network.link", "5"),
    ("network.ejection", "11"),
    ("endpoint.call", "1009"),
    ("endpoint.call_per_rank", "13"),
    ("endpoint.send", "101"),
    ("endpoint.recv", "211"),
    ("endpoint.recv_per_rank", "7"),
    ("endpoint.payload", "41"),
    ("endpoint.combine", "17"),
    ("endpoint.header", "2"),
    ("endpoint.packet", "5"),
];

/// Entering the collective.
const fn call(ranks: u64) -> u64 {
    1009 + 13 * ranks
}

/// A message's software at both ends, with payload.
const fn software(ranks: u64) -> u64 {
    (101 + 41) + (211 + 7 * ranks + 41)
}

/// The way of a head, and of a word behind one that has found the way.
const fn head(hops: u64) -> u64 {
    (7 + 3 + 1 + 11) + hops * (3 + 1 + 2 + 5)
}
const fn follow(hops: u64) -> u64 {
    (7 + 11) + hops * (2 + 5)
}

/// Words with their headers: two per packet of five.
const fn packed(words: u64) -> u64 {
    words + 2 * words.div_ceil(5)
}

/// A row of cores that write and read a word in `inject` and `extract` cycles.
fn bound(
    cores: &'static str,
    (inject, extract): (&str, &str),
    collective: Collective,
    words: u64,
) -> u64 {
    let ends = [("endpoint.inject", inject), ("endpoint.extract", extract)];
    let chip = chip("booksim-mesh", &[&CHIP, &row(cores), &ends]);
    let ranks = cores.parse().expect("a number");
    chip.bound_cycles(&Request::new(collective, ranks, 16 * words))
}

/// Nothing but a header of two words over three hops, and nothing is copied from or to memory.
#[test]
fn a_barrier_is_a_header_over_every_hop() {
    let software = 101 + (211 + 4 * 7);
    let expected = call(4) + software + head(3) + 2 * 5;
    let found = bound("4", ("3", "5"), Collective::Barrier, 0);
    assert_eq!(found, expected);
}

/// Four words and a header are read one by one, when the first has come over three hops.
#[test]
fn a_rank_reads_what_it_must_hear_word_by_word() {
    let expected = call(4) + software(4) + head(3) + packed(4) * 5;
    let found = bound("4", ("1", "5"), Collective::Bcast, 4);
    assert_eq!(found, expected);
}

/// Where writing takes long, the last word is written after all others and follows its head.
#[test]
fn a_rank_writes_what_it_must_tell_word_by_word() {
    let expected = call(4) + software(4) + (packed(4) - 1) * 23 + follow(3) + 5;
    let found = bound("4", ("23", "5"), Collective::Bcast, 4);
    assert_eq!(found, expected);
}

/// Packets of a word: 18 of 20 words are written before the last head, which finds its own way, and
/// the last word is a cycle behind it.
#[test]
fn the_last_packet_finds_its_way_after_all_others() {
    let ends = [("endpoint.inject", "3"), ("endpoint.extract", "1")];
    let packets = [("endpoint.header", "1"), ("endpoint.packet", "1")];
    let chip = chip("booksim-mesh", &[&CHIP, &row("2"), &ends, &packets]);
    let request = Request::new(Collective::Bcast, 2, 16 * 10);
    let expected = call(2) + software(2) + 18 * 3 + head(1) + 1 + 1;
    assert_eq!(chip.bound_cycles(&request), expected);
}

/// A core writes three blocks of 20 words and reads three.
#[test]
fn a_core_does_one_thing_at_a_time() {
    let expected = call(4) + software(4) + packed(60) * (3 + 5);
    let found = bound("4", ("3", "5"), Collective::Alltoall, 20);
    assert_eq!(found, expected);
}

/// Three contributions of 100 words are written, read and combined by any of four ranks.
#[test]
fn ranks_share_the_work_of_a_reduction() {
    let work = packed(300) * (3 + 5) + 300 * 17;
    let found = bound("4", ("3", "5"), Collective::Reduce, 100);
    assert_eq!(found, call(4) + work / 4);
}

/// Four by four blocks of 10 words cross the link in the middle. The first flit comes to it after
/// the first router, the last one leaves at the next router and is read.
#[test]
fn the_middle_limits_an_alltoall() {
    let across = (7 + 3 + 1) + (packed(160) - 1) + (2 + 5 + 11);
    let expected = call(8) + software(8) + across + 1;
    let found = bound("8", ("1", "1"), Collective::Alltoall, 10);
    assert_eq!(found, expected);
}

/// The same with a static network, whose words need no header. A route costs 37, a hop 3.
fn with_static(
    cores: &'static str,
    (inject, extract): (&str, &str),
    collective: Collective,
    words: u64,
    changes: &[(&str, &str)],
) -> u64 {
    let ends = [("endpoint.inject", inject), ("endpoint.extract", extract)];
    let routes = [("network.static_hop", "3"), ("endpoint.route", "37")];
    let all = [&CHIP[..], &row(cores), &ends, &routes, changes];
    let chip = chip("tilepro64", &all);
    let ranks = cores.parse().expect("a number");
    chip.bound_cycles(&Request::new(collective, ranks, 4 * words))
}

/// Over a static route not even a header has to come, so nothing is read.
#[test]
fn a_static_barrier_is_a_route_and_its_hops() {
    let of = |changes| with_static("4", ("3", "5"), Collective::Barrier, 0, changes);
    assert_eq!(of(&[]), call(4) + 37 + 3 * 3);
    // A hop of the other network, 11 cycles, is then faster; or sending a message is.
    assert_eq!(of(&[("network.static_hop", "19")]), call(4) + 37 + 3 * 11);
    assert_eq!(of(&[("endpoint.route", "997")]), call(4) + 101 + 3 * 3);
}

/// 20 words are written or read one by one, whichever takes longer, and one at the other end.
#[test]
fn a_static_route_takes_word_by_word() {
    let of = |ends| with_static("4", ends, Collective::Bcast, 20, &[]);
    assert_eq!(of(("7", "5")), call(4) + 37 + 19 * 7 + 3 * 3 + 5);
    assert_eq!(of(("1", "5")), call(4) + 37 + 20 * 5 + 3 * 3);
    // The dearer of a route and a message with payload does not count.
    let dear = [("endpoint.route", "997")];
    let found = with_static("4", ("1", "5"), Collective::Bcast, 20, &dear);
    assert_eq!(found, call(4) + (101 + 41) + 20 * 5 + 3 * 3);
}

/// What is written once may be read by many: 300 words are read and combined.
#[test]
fn forks_spare_the_writing() {
    let found = with_static("4", ("3", "5"), Collective::Reduce, 100, &[]);
    assert_eq!(found, call(4) + 300 * (5 + 17) / 4);
}

/// 24 by 24 blocks of 50 words cross the middle over the links of both networks in three rows.
#[test]
fn two_networks_have_twice_the_links() {
    let three = [("network.height", "3")];
    let shape = [&row("16")[..], &three].concat();
    let ends = [("endpoint.inject", "1"), ("endpoint.extract", "1")];
    let routes = [("network.static_hop", "3"), ("endpoint.route", "37")];
    let chip = chip("tilepro64", &[&CHIP, &shape, &ends, &routes]);
    let request = Request::new(Collective::Alltoall, 48, 4 * 50);
    let expected = call(48) + 37 + 24 * 24 * 50 / (2 * 3) + 1;
    assert_eq!(chip.bound_cycles(&request), expected);
}
