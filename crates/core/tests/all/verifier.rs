// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of the certificate that can be worked out by hand on a few ranks: when a forward grants,
//! what a rank has to buffer, and how many messages the busiest port carries.

use corecast_core::verify::{Awaits, Violation, Waiting};
use corecast_core::{
    Certificate, ChunkId, ChunkList, Collective, FullCrossbar, Grid, LinkId, Op, Rank, Request,
    Routes, Schedule, ScheduleBuilder, Spec, Split, algorithm, verify,
};

fn builder(collective: Collective, ranks: u32, bytes: u64, parts: u32) -> ScheduleBuilder {
    let request = Request::new(collective, ranks, bytes);
    ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(parts)))
}

fn registered(collective: Collective, name: &str, ranks: u32, bytes: u64) -> Schedule {
    let algorithm = algorithm::find(collective, name).expect("registered");
    let request = Request::new(collective, ranks, bytes);
    algorithm::build(algorithm, &request).expect("supported")
}

/// The certificate of a schedule that is correct.
fn certified(schedule: &Schedule) -> Certificate {
    let certificate = verify(schedule, &FullCrossbar);
    assert_eq!(certificate.violations, [], "{schedule}");
    certificate
}

/// Rank 0 hands chunk 0 to rank 1, who passes it on to rank 2 while it comes, and then sends
/// chunk 1 to rank 2 itself. Rank 2 receives in the order that `first` and `second` say.
fn forwarded(first: (u32, ChunkId), second: (u32, ChunkId)) -> Schedule {
    let mut builder = builder(Collective::Bcast, 3, 20, 2);
    let [zero, one] = [0, 1].map(|chunk| builder.list(&[ChunkId(chunk)]));
    let both = builder.list(&[ChunkId(0), ChunkId(1)]);
    let list = |chunk: ChunkId| both.slice(chunk.0, 1);
    let send = |to, chunks| Op::Send {
        to: Rank(to),
        chunks,
    };
    let recv = |from, chunks| Op::Recv {
        from: Rank(from),
        chunks,
        arrival: corecast_core::Arrival::Store,
    };
    builder.push(0, Rank(0), send(1, zero));
    builder.push(1, Rank(0), send(2, one));
    builder.push(2, Rank(0), send(1, one));
    let (from, to, arrival) = (Rank(0), Rank(2), corecast_core::Arrival::Store);
    let chunks = zero;
    let forward = Op::Forward {
        from,
        to,
        chunks,
        arrival,
    };
    builder.push(0, Rank(1), forward);
    builder.push(2, Rank(1), recv(0, one));
    builder.push(1, Rank(2), recv(first.0, list(first.1)));
    builder.push(1, Rank(2), recv(second.0, list(second.1)));
    builder.finish()
}

/// A forward has no room of its own for what passes through: it takes nothing before the rank
/// behind it has said that it takes it (Park 2019, Figure 7). So rank 0 waits at its first send
/// until rank 2 comes to the forwarded message, and rank 2 must not wait for rank 0 before that.
#[test]
fn a_forward_grants_upstream_only_when_it_was_granted_downstream() {
    let (passed_on, direct) = ((1, ChunkId(0)), (0, ChunkId(1)));
    let certificate = verify(&forwarded(passed_on, direct), &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!(certificate.slots_needed, Some(0));

    let certificate = verify(&forwarded(direct, passed_on), &FullCrossbar);
    assert_eq!(certificate.slots_needed, Some(1));
    let [Violation::NeedsSlots { cycle, .. }] = &certificate.violations[..] else {
        panic!("{:?}", certificate.violations);
    };
    let waits = |waiting: &Waiting| (waiting.rank.0, waiting.peer.0);
    let mut waits: Vec<(u32, u32)> = cycle.iter().map(waits).collect();
    waits.sort_unstable();
    assert_eq!(waits, [(0, 1), (1, 2), (2, 0)], "each waits for the next");
}

/// The operand of a reduction is in memory beside what it is combined with: one vector, however
/// many arrive one after the other.
#[test]
fn an_operand_is_buffered_while_it_is_combined() {
    for ranks in 2..6 {
        let reduce = registered(Collective::Reduce, "linear", ranks, 60);
        assert_eq!(certified(&reduce).max_buffer_bytes, 60);
        let gather = registered(Collective::Gather, "linear", ranks, 60);
        assert_eq!(certified(&gather).max_buffer_bytes, 0, "output, no buffer");
        let bcast = registered(Collective::Bcast, "chain", ranks, 60);
        assert_eq!(certified(&bcast).max_buffer_bytes, 0, "output, no buffer");
    }
}

/// In a binomial scatter the first receiver gets half of all blocks and keeps one of them:
/// `(p / 2 - 1) * block` bytes pass through it.
#[test]
fn blocks_that_pass_through_are_buffered() {
    for (ranks, bytes) in [(2, 0), (4, 10), (8, 30), (16, 70)] {
        let scatter = registered(Collective::Scatter, "binomial", ranks, 10);
        assert_eq!(certified(&scatter).max_buffer_bytes, bytes, "{ranks} ranks");
    }
}

/// Three parts of ten bytes that go through rank 1 one after the other need room for one of them;
/// rank 1's own block, and what the root collects, need none.
#[test]
fn what_was_passed_on_is_dropped() {
    let mut builder = builder(Collective::Gather, 3, 30, 3);
    for part in 0..3 {
        let chunk = builder.spec().chunk(2, part);
        builder.message(2 * part, Rank(2), Rank(1), &[chunk]);
        builder.message(2 * part + 1, Rank(1), Rank(0), &[chunk]);
    }
    let own: Vec<ChunkId> = builder.spec().block_chunks(1).collect();
    builder.message(6, Rank(1), Rank(0), &own);
    assert_eq!(certified(&builder.finish()).max_buffer_bytes, 10);
}

/// The certificate of a scatter of blocks of ten bytes over four ranks by these messages.
fn scattered(messages: &[(u32, u32, u32)]) -> Certificate {
    let mut builder = builder(Collective::Scatter, 4, 10, 1);
    for (round, &(from, to, chunk)) in (0..).zip(messages) {
        builder.message(round, Rank(from), Rank(to), &[ChunkId(chunk)]);
    }
    certified(&builder.finish())
}

/// Copies through three places of ten bytes, of which two are held at a time: what has been copied on
/// for the last time is dropped. The root copies into the place of its result, which is no buffer.
#[test]
fn what_was_copied_on_is_dropped() {
    let mut builder = builder(Collective::Bcast, 2, 10, 1);
    let (chunk, root) = (ChunkId(0), Rank(0));
    let result = builder.add_result(chunk);
    builder.transfer(0, (root, &[chunk]), (Rank(1), &[result]));
    builder.copy(1, root, &[chunk], &[result]);
    assert_eq!(certified(&builder.clone().finish()).max_buffer_bytes, 0);
    let places = [(); 3].map(|()| builder.add_place(10));
    builder.copy(2, root, &[chunk], &places[..1]);
    builder.copy(2, root, &places[..1], &places[1..2]);
    builder.copy(2, root, &places[1..2], &places[2..]);
    assert_eq!(certified(&builder.finish()).max_buffer_bytes, 20);
}

/// Ranks are numbered from 0, and send to others.
#[test]
fn peers_exist_and_are_others() {
    let sends_to = |peer| {
        let mut builder = builder(Collective::Bcast, 2, 10, 1);
        let chunks = builder.list(&[ChunkId(0)]);
        let to = Rank(peer);
        builder.push(0, Rank(0), Op::Send { to, chunks });
        verify(&builder.finish(), &FullCrossbar).violations
    };
    assert!(matches!(
        sends_to(2)[..],
        [Violation::UnknownPeer { peer: Rank(2), .. }]
    ));
    let itself = sends_to(0);
    assert!(matches!(itself[..], [Violation::SelfMessage { .. }]));
    let named: Vec<_> = itself[0]
        .steps()
        .iter()
        .map(|of| (of.rank, of.step))
        .collect();
    assert_eq!(named, [(Rank(0), 0)]);
}

/// What comes out of one added place may go into another, beside a chunk that stays what it is.
#[test]
fn places_may_have_other_names_at_the_other_end() {
    let mut builder = builder(Collective::Bcast, 2, 10, 1);
    let chunk = ChunkId(0);
    let [from, to] = [(); 2].map(|()| builder.add_place(10));
    builder.copy(0, Rank(0), &[chunk], &[from]);
    builder.transfer(1, (Rank(0), &[chunk, from]), (Rank(1), &[chunk, to]));
    certified(&builder.finish());
}

/// The place of a result is a buffer at a rank that does not want the result.
#[test]
fn the_place_of_a_result_is_a_buffer_where_nobody_wants_it() {
    let mut builder = builder(Collective::Reduce, 2, 10, 1);
    let chunk = ChunkId(0);
    let result = builder.add_result(chunk);
    builder.copy(0, Rank(1), &[chunk], &[result]);
    builder.copy(0, Rank(0), &[chunk], &[result]);
    let (from, to) = (builder.list(&[result]), builder.list(&[result]));
    builder.push(
        1,
        Rank(1),
        Op::Send {
            to: Rank(0),
            chunks: from,
        },
    );
    let arrival = corecast_core::Arrival::Reduce;
    let recv = Op::Recv {
        from: Rank(1),
        chunks: to,
        arrival,
    };
    builder.push(1, Rank(0), recv);
    let schedule = builder.finish();
    // Rank 0 has an operand of as many bytes while it combines.
    assert_eq!(certified(&schedule).max_buffer_bytes, 10);
    let mut builder = schedule.edit();
    builder.steps_mut(Rank(0)).truncate(1);
    builder.steps_mut(Rank(1)).truncate(1);
    let certificate = verify(&builder.finish(), &FullCrossbar);
    assert_eq!(certificate.max_buffer_bytes, 10, "at rank 1 alone");
}

/// A block is dropped after the last step that sends it, not after the first.
#[test]
fn a_block_is_held_until_it_is_sent_for_the_last_time() {
    let needless = (1, 2, 3);
    let certificate = scattered(&[
        (0, 1, 3),
        needless,
        (0, 1, 2),
        (1, 3, 3),
        (1, 2, 2),
        (0, 1, 1),
    ]);
    assert_eq!(certificate.max_buffer_bytes, 20, "blocks 2 and 3 at rank 1");
    assert_eq!(certificate.redundant_bytes, 0);
}

/// A block that comes twice takes its place once.
#[test]
fn a_block_that_comes_again_is_not_held_twice() {
    let certificate = scattered(&[(0, 1, 3), (0, 1, 3), (1, 3, 3), (0, 2, 2), (0, 1, 1)]);
    assert_eq!(certificate.max_buffer_bytes, 10);
    assert_eq!(certificate.redundant_bytes, 10);
}

/// Routes over no link at all: what remains are the ranks' own ports.
struct NoLinks;

impl Routes for NoLinks {
    fn visit_links(&self, _: Rank, _: Rank, _: &mut dyn FnMut(LinkId)) {}

    fn carries_multicasts(&self) -> bool {
        true
    }
}

/// A port of a rank carries one message a round in each direction: whoever receives from `p - 1`
/// ranks, or sends to as many, needs `p - 1` rounds, whatever the links.
#[test]
fn ports_of_ranks_bound_the_rounds_in_both_directions() {
    for ranks in 2..7 {
        for collective in [Collective::Gather, Collective::Scatter] {
            let schedule = registered(collective, "linear", ranks, 8);
            let certificate = verify(&schedule, &NoLinks);
            assert_eq!(certificate.link_bound_rounds, ranks - 1, "{collective}");
            assert_eq!(certificate.busiest_link, None);
            assert!(certificate.is_contention_free());
        }
        let chain = registered(Collective::Bcast, "chain", ranks, 8);
        let certificate = verify(&chain, &NoLinks);
        assert_eq!(certificate.link_bound_rounds, 1);
        let doublings = ranks.next_power_of_two().ilog2();
        assert_eq!(
            certificate.bound_rounds, doublings,
            "routers that could copy a multicast help nobody who sends none"
        );
    }
}

/// One link that every message goes over.
struct OneLink;

impl Routes for OneLink {
    fn visit_links(&self, _: Rank, _: Rank, visit: &mut dyn FnMut(LinkId)) {
        visit(LinkId(5));
    }
}

/// The bound of a link is the sum over all rounds, its share the most in one of them.
#[test]
fn a_shared_link_is_named_with_its_round() {
    let mut builder = builder(Collective::Bcast, 4, 8, 1);
    for (round, from, to) in [(0, 0, 1), (1, 0, 2), (1, 1, 3)] {
        builder.message(round, Rank(from), Rank(to), &[ChunkId(0)]);
    }
    let certificate = verify(&builder.finish(), &OneLink);
    assert_eq!(certificate.link_bound_rounds, 3);
    let share = certificate.busiest_link.expect("used");
    assert_eq!(
        (share.round.0, share.link, share.messages),
        (1, LinkId(5), 2)
    );
    assert!(!certificate.is_contention_free());
}

/// Rank 0's message goes down a chain of five, each rank storing it before it passes it on; `label`
/// gives the round of every message.
fn chain(label: fn(u32) -> u32) -> Certificate {
    let mut builder = builder(Collective::Bcast, 5, 8, 1);
    for from in 0..4 {
        builder.message(label(from), Rank(from), Rank(from + 1), &[ChunkId(0)]);
    }
    verify(&builder.finish(), &FullCrossbar)
}

fn broken(certificate: &Certificate) -> Vec<String> {
    let violations = certificate.violations.iter();
    violations.map(ToString::to_string).collect()
}

#[test]
fn what_arrives_in_a_round_is_sent_on_in_a_later_one() {
    let certificate = chain(|from| from);
    assert!(certificate.is_correct() && certificate.is_contention_free());
    assert_eq!((certificate.rounds, certificate.bound_rounds), (4, 3));
    // One round for everything would beat the bound of three.
    let certificate = chain(|_| 0);
    assert_eq!(
        broken(&certificate),
        [1, 2, 3].map(|rank| format!(
            "rank {rank}, step 1, round 0: sends chunk 0, which arrives in round 0: round 1 is the \
             earliest"
        ))
    );
    assert!(!certificate.is_round_optimal());
    // Sent on in an earlier round than that of its arrival.
    let certificate = chain(|from| [0, 2, 1, 3][from as usize]);
    assert_eq!(
        broken(&certificate).len(),
        2,
        "{:?}",
        certificate.violations
    );
    assert!(broken(&certificate)[0].contains("the program has been in round 2 before"));
}

#[test]
fn what_a_rank_had_already_need_not_wait() {
    let with_echo = |round: u32| {
        let mut builder = builder(Collective::Bcast, 3, 8, 1);
        builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
        builder.message(1, Rank(1), Rank(0), &[ChunkId(0)]); // the root knows it
        builder.message(round, Rank(0), Rank(2), &[ChunkId(0)]);
        verify(&builder.finish(), &FullCrossbar)
    };
    assert!(with_echo(1).is_correct());
    assert!(broken(&with_echo(0))[0].contains("has been in round 1 before"));
}

#[test]
fn what_is_combined_waits_for_every_contribution() {
    let reduce = |round: u32| {
        let mut builder = builder(Collective::Reduce, 3, 8, 1);
        builder.reduce(0, Rank(2), Rank(1), &[ChunkId(0)]);
        builder.reduce(round, Rank(1), Rank(0), &[ChunkId(0)]);
        verify(&builder.finish(), &FullCrossbar)
    };
    assert!(reduce(1).is_correct());
    assert!(broken(&reduce(0))[0].contains("sends chunk 0, which arrives in round 0"));
}

/// Four messages of the root in one round are one round by their labels, and no schedule of
/// one-ported ranks.
#[test]
fn rounds_in_which_a_rank_sends_twice_are_not_optimal() {
    let mut builder = builder(Collective::Bcast, 5, 8, 1);
    for to in 1..5 {
        builder.message(0, Rank(0), Rank(to), &[ChunkId(0)]);
    }
    let certificate = certified(&builder.finish());
    assert_eq!((certificate.rounds, certificate.most_per_port), (1, 4));
    assert!(!certificate.is_round_optimal());
    let binomial = certified(&registered(Collective::Bcast, "binomial", 5, 8));
    assert_eq!((binomial.rounds, binomial.most_per_port), (3, 1));
    assert!(binomial.is_round_optimal());
}

/// Only rank 0 has something, for rank 2: one message is all it takes.
#[test]
fn an_alltoallv_may_leave_out_empty_blocks() {
    let mut request = Request::new(Collective::Alltoallv, 3, 0);
    request.counts = Some(vec![0, 0, 6, 0, 0, 0, 0, 0, 0].into());
    let spec = Spec::new(&request, Split::Even(1));
    let block = spec.chunk(spec.pair_block(Rank(0), Rank(2)), 0);
    let mut builder = ScheduleBuilder::new("by hand", spec.clone());
    builder.message(0, Rank(0), Rank(2), &[block]);
    let certificate = certified(&builder.finish());
    assert_eq!((certificate.rounds, certificate.bound_rounds), (1, 1));
    assert!(certificate.is_round_optimal());
    let nothing = ScheduleBuilder::new("nothing", spec).finish();
    let certificate = verify(&nothing, &FullCrossbar);
    let missing = Violation::MissingChunk {
        rank: Rank(2),
        chunk: block,
    };
    assert_eq!(certificate.violations, [missing]);
}

/// The first link of several that carry as much is named, and the earliest round; on a crossbar link
/// `2 r` is what rank `r` sends over, and `2 r + 1` what it receives over.
#[test]
fn of_equally_shared_links_the_earliest_and_lowest_is_named() {
    let share = |messages: &[(u32, u32, u32)]| {
        let mut builder = builder(Collective::Alltoall, 6, 8, 1);
        for &(round, from, to) in messages {
            let block = builder.spec().pair_block(Rank(from), Rank(to));
            let chunk = builder.spec().chunk(block, 0);
            builder.message(round, Rank(from), Rank(to), &[chunk]);
        }
        let share = verify(&builder.finish(), &FullCrossbar).busiest_link;
        share.map(|share| (share.round.0, share.link.0, share.messages))
    };
    assert_eq!(share(&[]), None);
    assert_eq!(
        share(&[(0, 4, 2)]),
        Some((0, 2 * 2 + 1, 1)),
        "its lower link"
    );
    assert_eq!(share(&[(0, 2, 4)]), Some((0, 2 * 2, 1)), "its lower link");
    assert_eq!(share(&[(0, 1, 2), (0, 3, 2)]), Some((0, 5, 2)), "received");
    assert_eq!(share(&[(0, 3, 2), (0, 3, 1)]), Some((0, 6, 2)), "sent");
    let twice = [(0, 3, 1), (1, 3, 2), (1, 3, 4), (2, 1, 0), (2, 1, 2)];
    assert_eq!(share(&twice), Some((1, 6, 2)), "the earlier of two rounds");
    let both = [(0, 3, 4), (0, 3, 5), (0, 1, 0), (0, 2, 0)];
    assert_eq!(share(&both), Some((0, 1, 2)), "the lower of two links");
    let most = [(0, 0, 1), (0, 0, 2), (1, 3, 1), (1, 3, 2), (1, 3, 4)];
    assert_eq!(share(&most), Some((1, 6, 3)), "the most comes first");
}

/// A multicast leaves its root's port once and enters every other rank's once. Where a chip does not
/// say how it is routed, its links are those of a message to each.
#[test]
fn a_multicast_uses_the_roots_port_once() {
    for ranks in 3..5 {
        let route = registered(Collective::Bcast, "static-route", ranks, 8);
        let certificate = verify(&route, &NoLinks);
        assert_eq!((certificate.link_bound_rounds, certificate.rounds), (1, 1));
        assert_eq!(
            (certificate.bound_rounds, certificate.most_per_port),
            (1, 1)
        );
        // Where it is a message to each, its sender sends all of them in one round.
        let one_by_one = verify(&route, &FullCrossbar);
        let sent = one_by_one.most_per_port;
        assert_eq!((one_by_one.bound_rounds, sent), (2, ranks - 1), "{ranks}");
        let share = verify(&route, &OneLink).busiest_link.expect("used");
        assert_eq!((share.link, share.messages), (LinkId(5), ranks - 1));
        assert_eq!(verify(&route, &OneLink).link_bound_rounds, ranks - 1);
    }
}

/// Messages and their payload are counted one by one; a single rank needs none, and no round.
#[test]
fn messages_and_bytes_are_counted() {
    for ranks in 1..9_u32 {
        let messages = u64::from(ranks) - 1;
        let binomial = certified(&registered(Collective::Bcast, "binomial", ranks, 30));
        assert_eq!(binomial.messages, messages);
        assert_eq!(binomial.payload_bytes, 30 * messages);
        assert_eq!(binomial.rounds, ranks.next_power_of_two().trailing_zeros());
        assert_eq!(binomial.bound_rounds, binomial.rounds);
        let gather = certified(&registered(Collective::Gather, "binomial", ranks, 30));
        assert!(gather.payload_bytes >= 30 * messages);
    }
}

/// The ranks that wait for each other, each with the peer it waits for and whether that must receive.
fn cycle(messages: impl Fn(&mut ScheduleBuilder)) -> Vec<(u32, u32, bool)> {
    let mut builder = builder(Collective::Allgather, 3, 8, 1);
    messages(&mut builder);
    let certificate = verify(&builder.finish(), &FullCrossbar);
    let found = certificate.violations.iter().find_map(|found| match found {
        Violation::Deadlock { cycle } | Violation::NeedsSlots { cycle, .. } => Some(cycle),
        _ => None,
    });
    let waits = |waiting: &Waiting| {
        (
            waiting.rank.0,
            waiting.peer.0,
            waiting.awaits == Awaits::Send,
        )
    };
    let mut waits: Vec<_> = found.expect("a deadlock").iter().map(waits).collect();
    waits.sort_unstable();
    waits
}

/// Everybody receives before anything is sent: no buffer helps.
#[test]
fn a_circle_of_receivers_waits_for_its_senders() {
    let all_receive = |builder: &mut ScheduleBuilder| {
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let chunks = builder.list(&[ChunkId(from)]);
            let (from, arrival) = (Rank(from), corecast_core::Arrival::Store);
            let recv = Op::Recv {
                from,
                chunks,
                arrival,
            };
            builder.push(0, Rank(to), recv);
        }
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (to, chunks) = (Rank(to), builder.list(&[ChunkId(from)]));
            builder.push(0, Rank(from), Op::Send { to, chunks });
        }
    };
    let expected = [(0, 2, false), (1, 0, false), (2, 1, false)];
    assert_eq!(cycle(all_receive), expected);
}

/// An exchange waits for whichever half is not done: its receiver, its sender, or, if neither half
/// is, its receiver.
#[test]
fn an_exchange_waits_for_the_half_that_is_not_done() {
    let exchange = |builder: &mut ScheduleBuilder| {
        let [send, recv] = [0, 1].map(|chunk| builder.list(&[ChunkId(chunk)]));
        let (to, from, arrival) = (Rank(1), Rank(1), corecast_core::Arrival::Store);
        let exchange = Op::Exchange {
            to,
            send,
            from,
            recv,
            arrival,
        };
        builder.push(0, Rank(0), exchange);
    };
    let send = |builder: &mut ScheduleBuilder, from: u32, to: u32| {
        let (to, chunks) = (Rank(to), builder.list(&[ChunkId(from)]));
        builder.push(0, Rank(from), Op::Send { to, chunks });
    };
    let recv = |builder: &mut ScheduleBuilder, from: u32, to: u32| {
        let chunks = builder.list(&[ChunkId(from)]);
        let (from, arrival) = (Rank(from), corecast_core::Arrival::Store);
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        builder.push(0, Rank(to), recv);
    };
    // Rank 1 waits for rank 2, and rank 2 for rank 0; where rank 1 does so decides.
    let rest = |builder: &mut ScheduleBuilder| {
        recv(builder, 0, 2);
        send(builder, 2, 1);
        send(builder, 0, 2);
    };
    let received_only = cycle(|builder| {
        exchange(builder);
        send(builder, 1, 0);
        recv(builder, 2, 1);
        recv(builder, 0, 1);
        rest(builder);
    });
    assert_eq!(received_only, [(0, 1, true), (1, 2, false), (2, 0, false)]);
    let sent_only = cycle(|builder| {
        exchange(builder);
        recv(builder, 0, 1);
        recv(builder, 2, 1);
        send(builder, 1, 0);
        rest(builder);
    });
    assert_eq!(sent_only, [(0, 1, false), (1, 2, false), (2, 0, false)]);
    let neither = cycle(|builder| {
        exchange(builder);
        recv(builder, 2, 1);
        recv(builder, 0, 1);
        send(builder, 1, 0);
        rest(builder);
    });
    assert_eq!(neither, [(0, 1, true), (1, 2, false), (2, 0, false)]);
}

/// A certificate lists the first violations and no more than it says.
#[test]
fn the_list_of_violations_has_an_end() {
    let count = |sends: u32| {
        let mut builder = builder(Collective::Bcast, 2, 8, 1);
        for round in 0..sends {
            builder.message(round, Rank(0), Rank(1), &[ChunkId(0)]);
        }
        builder.steps_mut(Rank(1)).truncate(1);
        verify(&builder.finish(), &FullCrossbar).violations.len()
    };
    let most = corecast_core::verify::VIOLATIONS_MAX;
    assert_eq!(count(2), 1);
    assert_eq!(count(most as u32 + 1), most);
    assert_eq!(count(most as u32 + 2), most);
}

/// A multicast takes its share of a port's rounds like other messages: one where it leaves, and one
/// wherever it arrives.
#[test]
fn a_multicast_and_plain_messages_share_ports() {
    let bound = |messages: &[(u32, u32)]| {
        let mut builder = builder(Collective::Allgather, 4, 8, 1);
        let tree = Grid::mesh(4, 1).column_then_rows(4, Rank(0));
        builder.multicast(0, tree.into(), &[ChunkId(0)]);
        for (round, &(from, to)) in (1..).zip(messages) {
            builder.message(round, Rank(from), Rank(to), &[ChunkId(from)]);
        }
        verify(&builder.finish(), &NoLinks).link_bound_rounds
    };
    assert_eq!(bound(&[]), 1);
    assert_eq!(bound(&[(0, 1), (0, 2)]), 3, "the root sends three times");
    assert_eq!(bound(&[(2, 1), (3, 1)]), 3, "rank 1 receives three times");
}

/// What is left over is named, and nothing else: neither the pairs of ranks before it nor those
/// behind it lose their partners.
#[test]
fn only_the_half_without_a_partner_is_named() {
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)];
    for (from, to) in pairs {
        for is_send_lost in [true, false] {
            let mut builder = builder(Collective::Allgather, 4, 8, 1);
            for (round, (from, to)) in (0..).zip(pairs) {
                builder.message(round, Rank(from), Rank(to), &[ChunkId(from)]);
            }
            let loser = if is_send_lost { from } else { to };
            builder
                .steps_mut(Rank(loser))
                .retain(|step| step.send_half().is_some() != is_send_lost);
            let certificate = verify(&builder.finish(), &FullCrossbar);
            assert_eq!(certificate.slots_needed, None, "it waits for its partner");
            let violations = certificate.violations;
            let halves = violations.iter().filter_map(|found| match *found {
                Violation::UnmatchedSend { at, to, .. } => Some((false, at.rank.0, to.0)),
                Violation::UnmatchedRecv { at, from, .. } => Some((true, from.0, at.rank.0)),
                _ => None,
            });
            let halves: Vec<_> = halves.collect();
            assert_eq!(halves, [(is_send_lost, from, to)], "{violations:?}");
        }
    }
}

/// The three questions to a certificate are answered by what it says.
#[test]
fn a_certificate_answers_from_its_evidence() {
    let sound = certified(&registered(Collective::Bcast, "chain", 4, 8));
    assert!(sound.is_correct() && sound.is_deadlock_free() && sound.is_contention_free());
    let (rank, chunk) = (Rank(1), ChunkId(0));
    let broken = Certificate {
        violations: vec![Violation::MissingChunk { rank, chunk }],
        ..sound.clone()
    };
    assert!(!broken.is_correct() && broken.is_deadlock_free());
    for slots_needed in [Some(1), None] {
        let stuck = Certificate {
            slots_needed,
            ..sound.clone()
        };
        assert!(!stuck.is_deadlock_free() && stuck.is_correct());
    }
}

/// Sender and receiver name the same chunks in the same order; what is sent under another name is
/// named, if there is such a chunk.
#[test]
fn a_mismatch_names_the_chunk_that_is_not_expected() {
    let mismatch_of = |bytes: u64, sent: &[u32], received: &[u32]| {
        let mut builder = builder(Collective::Bcast, 2, bytes, 3);
        let [sent, received] = [sent, received].map(|chunks| {
            let chunks: Vec<ChunkId> = chunks.iter().copied().map(ChunkId).collect();
            builder.list(&chunks)
        });
        let (to, from) = (Rank(1), Rank(0));
        builder.push(0, from, Op::Send { to, chunks: sent });
        let (chunks, arrival) = (received, corecast_core::Arrival::Store);
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        builder.push(0, to, recv);
        let violations = verify(&builder.finish(), &FullCrossbar).violations;
        violations.into_iter().find_map(|found| match found {
            Violation::ChunkMismatch { chunk, .. } => Some(chunk),
            _ => None,
        })
    };
    let mismatch = |sent: &[u32], received: &[u32]| mismatch_of(9, sent, received);
    assert_eq!(mismatch(&[0, 1, 2], &[0, 1, 2]), None);
    assert_eq!(mismatch(&[0, 1], &[0, 2]), Some(Some(ChunkId(1))));
    assert_eq!(mismatch(&[2], &[0]), Some(Some(ChunkId(2))));
    assert_eq!(mismatch(&[0, 1], &[1, 0]), Some(None), "in another order");
    let of_another_size = mismatch_of(10, &[0, 1, 2], &[2, 1, 0]);
    assert_eq!(of_another_size, Some(None), "a name is the nearer mistake");
}

/// What passes through the place of another chunk is followed: it may, if something brings it to its own.
#[test]
fn a_chunk_may_pass_through_the_place_of_another() {
    let swapped = |brings_back: bool| {
        let mut builder = builder(Collective::Bcast, 3, 8, 2);
        let [there, back] = [[0, 1], [1, 0]].map(|of| builder.list(&of.map(ChunkId)));
        let mut message = |round, [from, to]: [u32; 2], [sent, received]: [ChunkList; 2]| {
            let [from, to] = [from, to].map(Rank);
            builder.push(round, from, Op::Send { to, chunks: sent });
            let recv = Op::Recv {
                from,
                chunks: received,
                arrival: corecast_core::Arrival::Store,
            };
            builder.push(round, to, recv);
        };
        message(0, [0, 1], [there, back]);
        message(1, [1, 2], [back, there]);
        if brings_back {
            message(2, [2, 1], [there, there]);
        }
        verify(&builder.finish(), &FullCrossbar)
    };
    let certificate = swapped(true);
    assert_eq!(certificate.violations, []);
    assert_eq!(certificate.redundant_bytes, 0);
    let [first, second, end, _] = &swapped(false).violations[..] else {
        panic!("two names and two places");
    };
    let is_name = |found| matches!(found, &Violation::ChunkMismatch { .. });
    assert!(is_name(first) && is_name(second));
    assert!(matches!(end, Violation::WrongChunk { rank: Rank(1), .. }));
}
