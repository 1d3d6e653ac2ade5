// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worst case of small schedules, worked out by hand from its two parts: the longest path
//! through the programs, and for every flit that is sent all the stages in which it can hold up
//! another.

use crate::common;

use corecast_chip::Chip;
use corecast_core::verify::Violation;
use corecast_core::{
    Arrival, Certificate, ChunkId, Collective, FlowControl, Op, Rank, Request, Schedule,
    ScheduleBuilder, Spec, Split, algorithm, verify,
};
use corecast_machine::RunOptions;
use corecast_machine_sim::SimMachine;

/// Numbers of which no two are alike, and no sum is another one by chance.
const CHIP: [(&str, &str); 23] = [
    ("network.routing", "1"),
    ("network.vc_allocation", "2"),
    ("network.switch", "3"),
    ("network.link", "4"),
    ("network.turn", "5"),
    ("network.credit", "6"),
    ("network.buffer", "1"),
    ("network.injection", "3"),
    ("network.ejection", "4"),
    ("network.static_hop", "17"),
    ("endpoint.call", "1000"),
    ("endpoint.call_per_rank", "10"),
    ("endpoint.send", "100"),
    ("endpoint.recv", "200"),
    ("endpoint.recv_per_rank", "7"),
    ("endpoint.payload", "50"),
    ("endpoint.route", "70"),
    ("endpoint.inject", "9"),
    ("endpoint.extract", "11"),
    ("endpoint.combine", "13"),
    ("endpoint.header", "2"),
    ("endpoint.packet", "8"),
    ("endpoint.queue", "500"),
];

/// Routing, allocation, switch, link, the link's own cycle, a turn, and the credit.
const STAGE: u64 = 1 + 2 + 3 + 4 + 1 + 5 + 6;
/// With one place a flit follows the one before it after a whole stage and the cycle in which it is
/// written.
const WORD: u64 = STAGE + 1;
const READ: u64 = 11;
const SEND: u64 = 100 + 50;

/// Injection, a stage in every router, ejection; times of both cores are rounded up to cycles of the
/// mesh.
fn transit(hops: u64) -> u64 {
    3 + STAGE * (hops + 1) + 4 + 2
}

/// What a flit can hold up on its way: it is written, moves, and is read.
fn stages(hops: u64) -> u64 {
    WORD + transit(hops) + READ
}

fn call(ranks: u64) -> u64 {
    1000 + 10 * ranks
}

fn recv(ranks: u64) -> u64 {
    200 + 7 * ranks + 50
}

fn machine(changes: &[(&str, &str)]) -> SimMachine {
    let mut all = CHIP.to_vec();
    all.extend(changes);
    SimMachine::new(&common::chip("tilepro64", &all))
}

fn built(machine: &SimMachine, name: &str, mut request: Request, flow: FlowControl) -> Schedule {
    request.tuning.flow_control = flow;
    let request = machine.request(request, &RunOptions::default());
    let algorithm = algorithm::find(request.collective, name).expect("registered");
    algorithm::build(algorithm, &request).expect("fits")
}

fn certificate(machine: &SimMachine, schedule: &Schedule) -> Certificate {
    verify(schedule, &machine.chip().routes(schedule.ranks()))
}

/// The worst case in cycles, which all of these chips' parts share.
fn cycles(machine: &SimMachine, schedule: &Schedule) -> Option<u64> {
    let worst = machine.worst_case(schedule, &certificate(machine, schedule))?;
    let period = machine.chip().reference_clock().period_ps;
    assert!(worst.ps().is_multiple_of(period), "whole cycles");
    Some(worst.ps() / period)
}

/// Ten words from rank 0 to rank 1, as a packet of eight and one of two, each with two words of
/// header.
fn message(changes: &[(&str, &str)]) -> u64 {
    let machine = machine(changes);
    let request = Request::new(Collective::Bcast, 2, 40);
    let schedule = built(&machine, "linear", request, FlowControl::Auto);
    cycles(&machine, &schedule).expect("bounded")
}

/// From the first word written to the last one read: the second packet is read when it has come, and
/// the first one has been read.
fn way(word: u64, transit: u64, read: u64) -> u64 {
    let (first, second) = (8 + 2, 2 + 2);
    first * word + transit + (first * read).max(second * word) + second * read
}

/// Path and stages of that message if a word is written every `word` cycles.
fn expected(word: u64, transit: u64) -> u64 {
    let path = call(2) + SEND + way(word, transit, READ) + recv(2);
    path + 14 * (word + transit + READ)
}

#[test]
fn a_message_is_its_path_and_the_stages_of_its_flits() {
    assert_eq!(message(&[]), expected(WORD, transit(1)));
    // Whether reading is faster or slower than writing decides what the second packet waits for.
    for read in [2, 100] {
        let path = call(2) + SEND + way(WORD, transit(1), read) + recv(2);
        let stages = 14 * (WORD + transit(1) + read);
        let changed = message(&[("endpoint.extract", &read.to_string())]);
        assert_eq!(changed, path + stages);
    }
}

/// A core writes no faster than its software, and than places behind it become free.
#[test]
fn a_word_is_written_at_the_slower_of_two_rates() {
    let by_software = [("network.buffer", "8"), ("endpoint.inject", "12")];
    assert_eq!(message(&by_software), expected(12, transit(1)));
    // 11 places, two cycles of a stage for each, and one.
    let by_places = [("network.buffer", "11"), ("endpoint.inject", "1")];
    assert_eq!(message(&by_places), expected(2 + 1, transit(1)));
}

/// Links of a slower clock take a word every ninth cycle, and a word is that much longer in every
/// stage. The other numbers are those of the chip: switch, turn and credit take a cycle each, and so
/// do injection and ejection.
#[test]
fn a_word_is_written_no_faster_than_links_take_it() {
    let text = r#"
        base = "tilepro64"
        name = "slow-links"
        [clocks.link]
        period = { value = 12.861, unit = "ns", kind = "assumed", source = "nine cycles" }
        [network]
        link_clock = "link"
    "#;
    let machine = SimMachine::new(&Chip::parse(text, "slow-links.toml").expect("valid"));
    let request = Request::new(Collective::Bcast, 2, 40);
    let schedule = built(&machine, "linear", request, FlowControl::Auto);
    let (flits, stage) = (12, 1 + 9 + 1 + 1);
    let transit = 2 * stage + 1 + 1 + 2;
    let (call, send, recv) = (1595 + 2 * 90, 16 + 2282, 9 + 2 * 12 + 2282);
    let path = call + send + flits * 9 + transit + flits + recv;
    let stages = flits * (9 + transit + 1);
    assert_eq!(cycles(&machine, &schedule), Some(path + stages));
}

/// What arrives for a reduction is combined word by word, after it has been read.
#[test]
fn combining_is_part_of_the_path() {
    let machine = machine(&[]);
    let request = Request::new(Collective::Reduce, 2, 40);
    let reduce = built(&machine, "linear", request, FlowControl::Auto);
    let combined = expected(WORD, transit(1)) + 10 * 13;
    assert_eq!(cycles(&machine, &reduce), Some(combined));
}

/// Packets of an exchange are written and read in turns: a core that has written its first one reads
/// the other's first one before it goes on. Both directions hold up.
#[test]
fn an_exchange_writes_and_reads_in_turns() {
    let machine = machine(&[]);
    let request = Request::new(Collective::Allgather, 2, 40);
    let exchange = built(&machine, "recursive-doubling", request, FlowControl::Auto);
    let first = call(2) + SEND + 10 * WORD + transit(1) + 10 * READ;
    let second = first + 4 * WORD + transit(1) + 4 * READ;
    let path = second + recv(2);
    let stages = 2 * 14 * stages(1);
    assert_eq!(cycles(&machine, &exchange), Some(path + stages));
}

/// An exchange with unequal ends: one packet goes, two come.
#[test]
fn the_rest_of_an_exchange_is_read_at_its_end() {
    let machine = machine(&[]);
    let mut request = Request::new(Collective::Alltoallv, 2, 0);
    request.counts = Some(vec![0, 40, 4, 0].into());
    let exchange = built(&machine, "pairwise", request, FlowControl::Auto);
    assert!(matches!(exchange.steps(Rank(0))[0].op, Op::Exchange { .. }));
    // Rank 0 writes 10 flits, reads the 3 of rank 1, and writes its other 4; rank 1 reads those last.
    let start = call(2) + SEND;
    let of_zero = (start + 10 * WORD).max(start + 3 * WORD + transit(1)) + 3 * READ;
    let written = of_zero + 4 * WORD;
    let path = written + transit(1) + 4 * READ + recv(2);
    assert_eq!(cycles(&machine, &exchange), Some(path + 17 * stages(1)));
}

/// Hops from rank to rank where this many ranks sit.
fn hops(machine: &SimMachine, ranks: u32, from: u32, to: u32) -> u64 {
    let grid = machine.chip().grid(ranks).expect("a mesh");
    u64::from(grid.hops(Rank(from), Rank(to)))
}

/// A forward is bounded as if it stored the whole message: it reads all packets before it sends the
/// first.
#[test]
fn a_forward_counts_as_receiving_and_sending() {
    let machine = machine(&[]);
    let request = Request::new(Collective::Bcast, 3, 40);
    let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
    let chunks = builder.list(&[ChunkId(0)]);
    let (from, to) = (Rank(0), Rank(2));
    builder.push(
        0,
        from,
        Op::Send {
            to: Rank(1),
            chunks,
        },
    );
    let arrival = corecast_core::Arrival::Store;
    let forward = Op::Forward {
        from,
        to,
        chunks,
        arrival,
    };
    builder.push(0, Rank(1), forward);
    let arrival = Arrival::Store;
    let from = Rank(1);
    builder.push(
        1,
        to,
        Op::Recv {
            from,
            chunks,
            arrival,
        },
    );
    let schedule = builder.finish().without_flow_control();
    let ways = [(0, 1), (1, 2)].map(|(from, to)| hops(&machine, 3, from, to));
    let hop = |at: u64, hops: u64| at + SEND + way(WORD, transit(hops), READ) + recv(3);
    let path = hop(hop(call(3), ways[0]), ways[1]);
    let stages = 14 * (stages(ways[0]) + stages(ways[1]));
    assert_eq!(cycles(&machine, &schedule), Some(path + stages));
}

/// Over a static route a word goes a hop further in every hop's time, and each core takes one word
/// after the other, at its own rate or the root's; nothing else uses the route, so nothing holds up.
#[test]
fn a_multicast_is_its_deepest_branch() {
    for (inject, extract, per_router) in [(9, 11, "1"), (14, 11, "1"), (9, 11, "3")] {
        let rate = inject.to_string();
        let changes = [
            ("endpoint.inject", rate.as_str()),
            ("network.cores_per_router", per_router),
        ];
        let machine = machine(&changes);
        for ranks in [2, 4, 9] {
            let request = Request::new(Collective::Bcast, ranks, 40);
            let schedule = built(&machine, "static-route", request, FlowControl::Auto);
            let tree = &schedule.multicasts()[0];
            // Cores of one router have no hop between them.
            let way = |rank: u32| {
                let mut way = 0;
                let mut at = Rank(rank);
                while let Some(parent) = tree.parent(at) {
                    way += hops(&machine, ranks, parent.0, at.0);
                    at = parent;
                }
                way
            };
            let far = (0..ranks).map(way).max().expect("ranks");
            let head = call(u64::from(ranks)) + 70 + inject + 17 * far;
            let path = head + 10 * inject.max(extract) + extract;
            assert_eq!(cycles(&machine, &schedule), Some(path), "{ranks} ranks");
        }
    }
}

/// The root has written all words of a multicast before it does anything else: a message that follows
/// starts then.
#[test]
fn what_follows_a_multicast_waits_for_its_last_word() {
    let machine = machine(&[]);
    let request = Request::new(Collective::Allgather, 2, 40);
    let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
    let grid = machine.chip().grid(2).expect("a mesh");
    let tree = grid.column_then_rows(2, Rank(0));
    builder.multicast(0, tree.into(), &[ChunkId(0)]);
    builder.message(1, Rank(0), Rank(1), &[ChunkId(0)]);
    builder.message(2, Rank(1), Rank(0), &[ChunkId(1)]);
    let schedule = builder.finish().without_flow_control();
    let written = call(2) + 70 + 10 * 9;
    let message = SEND + way(WORD, transit(1), READ) + recv(2);
    let path = written + message + message;
    let all = path + 2 * 14 * stages(1);
    assert_eq!(cycles(&machine, &schedule), Some(all));
}

/// Whether a gather of messages of ten words by 3 ranks has a bound with queues of so many words.
fn gather_is_bounded(queue: u64, flow: FlowControl) -> bool {
    let queue = queue.to_string();
    let machine = machine(&[("endpoint.queue", &queue)]);
    let request = Request::new(Collective::Gather, 3, 40);
    let schedule = built(&machine, "linear", request, flow);
    cycles(&machine, &schedule).is_some()
}

/// Without permission to send, everything may lie unread at the root: two messages of two packets,
/// 28 words with their headers. A queue that holds them all never stops the mesh; a smaller one may,
/// and then the argument fails. So it does where senders wait for permission, whatever fits.
#[test]
fn a_bound_needs_queues_that_cannot_overflow_and_senders_that_never_wait() {
    assert!(gather_is_bounded(28, FlowControl::Off));
    assert!(!gather_is_bounded(27, FlowControl::Off));
    assert!(!gather_is_bounded(500, FlowControl::On));
    assert!(gather_is_bounded(28, FlowControl::Auto));
}

/// A multicast over static routes asks for no permission and fills no queue; over the dynamic network
/// it is messages like others.
#[test]
fn static_routes_need_no_queues() {
    let with_route = machine(&[("endpoint.queue", "11")]);
    let request = || Request::new(Collective::Bcast, 4, 400);
    let route = built(&with_route, "static-route", request(), FlowControl::On);
    assert!(cycles(&with_route, &route).is_some());
    let none = SimMachine::new(&common::chip("booksim-mesh", &[]));
    let messages = built(&none, "static-route", request(), FlowControl::On);
    assert_eq!(cycles(&none, &messages), None);
}

/// What the certificate does not prove has no bound: each of its three claims is needed.
#[test]
fn a_bound_needs_every_claim_of_the_certificate() {
    let machine = machine(&[]);
    let request = Request::new(Collective::Bcast, 4, 40);
    let schedule = built(&machine, "binomial", request, FlowControl::Auto);
    let proved = certificate(&machine, &schedule);
    assert!(machine.worst_case(&schedule, &proved).is_some());
    let without = |damage: &dyn Fn(&mut Certificate)| {
        let mut certificate = proved.clone();
        damage(&mut certificate);
        machine.worst_case(&schedule, &certificate)
    };
    let (rank, chunk) = (Rank(1), ChunkId(0));
    assert_eq!(
        without(&|certificate| {
            certificate.violations = vec![Violation::MissingChunk { rank, chunk }];
        }),
        None
    );
    assert_eq!(
        without(&|certificate| certificate.slots_needed = Some(1)),
        None
    );
    assert_eq!(
        without(&|certificate| {
            let share = certificate.busiest_link.as_mut();
            share.expect("links are used").messages = 2;
        }),
        None
    );
}
