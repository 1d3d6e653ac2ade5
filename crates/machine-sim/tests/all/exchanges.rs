// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule that is certified free of deadlocks ends on every message layer, whatever its exchanges and
//! forwards wait for.

use std::collections::VecDeque;

use corecast_core::{
    Arrival, ChunkId, Collective, FullCrossbar, Op, Rank, Request, Schedule, ScheduleBuilder, Spec,
    Split, verify,
};
use corecast_machine::{Job, Machine};
use corecast_machine_sim::SimMachine;
use proptest::prelude::*;

use crate::common::chip;

/// A message of a chunk.
type Hop = (u32, u32, u32);

/// Half of a message at a rank: whether it is the sending one, the other rank, and the chunk.
type Half = (bool, u32, u32);

/// Blocks of an alltoallv that go straight to their receivers or by way of a third rank, in the order
/// in which all of it could happen.
#[derive(Clone, Debug)]
struct Blocks {
    ranks: u32,
    bytes: u64,
    piece_bytes: Option<u64>,
    /// From, to, and by way of whom; a rank of both ends is no detour.
    pairs: Vec<(u32, u32, u32)>,
    /// Which neighbouring halves are one step.
    joins: Vec<bool>,
}

impl Blocks {
    fn any() -> impl Strategy<Value = Self> {
        (3..=6_u32).prop_flat_map(|ranks| {
            let pair = (0..ranks, 0..ranks, 0..2 * ranks);
            let bytes = prop::sample::select(vec![64, 600, 5000, 40_000]);
            (
                bytes,
                prop::option::of(Just(512)),
                prop::collection::vec(pair, 2..10),
                prop::collection::vec(any::<bool>(), 16),
            )
                .prop_map(move |(bytes, piece_bytes, pairs, joins)| Self {
                    ranks,
                    bytes,
                    piece_bytes,
                    pairs,
                    joins,
                })
        })
    }

    fn hops(&self) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut known = Vec::new();
        for &(from, to, via) in &self.pairs {
            let chunk = from * self.ranks + to;
            if from == to || known.contains(&chunk) {
                continue;
            }
            known.push(chunk);
            if via >= self.ranks || via == from || via == to {
                hops.push((from, to, chunk));
            } else {
                hops.extend([(from, via, chunk), (via, to, chunk)]);
            }
        }
        hops
    }

    fn schedule(&self) -> Schedule {
        let hops = self.hops();
        let mut counts = vec![0; (self.ranks * self.ranks) as usize];
        for &(.., chunk) in &hops {
            counts[chunk as usize] = self.bytes;
        }
        let mut request = Request::without_counts(Collective::Alltoallv, self.ranks, self.bytes);
        request.counts = Some(counts.into());
        let spec = Spec::new(&request, Split::Even(1));
        let mut builder = ScheduleBuilder::new("any", spec);
        builder.set_piece_bytes(self.piece_bytes);
        let mut joins = self.joins.iter().cycle();
        for rank in 0..self.ranks {
            let halves = hops.iter().flat_map(|&(from, to, chunk)| {
                let sends = (from == rank).then_some((true, to, chunk));
                let receives = (to == rank).then_some((false, from, chunk));
                sends.into_iter().chain(receives)
            });
            let mut halves: VecDeque<Half> = halves.collect();
            while let Some(half) = halves.pop_front() {
                let next = halves.front().copied();
                let next = next.filter(|next| next.0 != half.0 && *joins.next().expect("a circle"));
                let op = op(&mut builder, half, next);
                if !matches!(op, Op::Send { .. } | Op::Recv { .. }) {
                    halves.pop_front();
                }
                builder.push(0, Rank(rank), op);
            }
        }
        verify::with_rounds(builder.finish())
    }
}

/// One step of a half, and of the next one if they can be one.
fn op(builder: &mut ScheduleBuilder, half: Half, next: Option<Half>) -> Op {
    let arrival = Arrival::Store;
    let (is_send, peer, chunk) = half;
    let chunks = builder.list(&[ChunkId(chunk)]);
    match (is_send, next) {
        (false, Some((_, to, passed))) if passed == chunk => Op::Forward {
            from: Rank(peer),
            to: Rank(to),
            chunks,
            arrival,
        },
        (_, Some((_, other, of_other))) if of_other != chunk => {
            let other_chunks = builder.list(&[ChunkId(of_other)]);
            let ((to, send), (from, recv)) = match is_send {
                true => ((peer, chunks), (other, other_chunks)),
                false => ((other, other_chunks), (peer, chunks)),
            };
            Op::Exchange {
                to: Rank(to),
                send,
                from: Rank(from),
                recv,
                arrival,
            }
        }
        (true, _) => Op::Send {
            to: Rank(peer),
            chunks,
        },
        (false, _) => Op::Recv {
            from: Rank(peer),
            chunks,
            arrival,
        },
    }
}

/// Message layers whose senders wait, each for another reason.
const LAYERS: [(&str, &[(&str, &str)]); 9] = [
    ("scc", &[]),
    ("scc", &[("endpoint.library", "rcce")]),
    (
        "scc",
        &[("endpoint.library", "rcce"), ("endpoint.mpb", "256")],
    ),
    ("scc", &[("endpoint.library", "one-sided")]),
    (
        "scc",
        &[("endpoint.library", "one-sided"), ("endpoint.mpb", "256")],
    ),
    ("tilepro64-operampi", &[]),
    ("tilepro64", &[("endpoint.protocol", "synchronous")]),
    (
        "nagam",
        &[("endpoint.input", "64"), ("endpoint.output", "64")],
    ),
    ("park2019-bus", &[("endpoint.queue_depth", "2")]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_certified_free_of_deadlocks_ends_on_every_layer(blocks in Blocks::any()) {
        let schedule = blocks.schedule();
        let certificate = verify::verify(&schedule, &FullCrossbar);
        prop_assume!(certificate.is_correct() && certificate.is_deadlock_free());
        for (name, changes) in LAYERS {
            let machine = SimMachine::new(&chip(name, changes));
            let report = machine.run(&Job::new(&schedule));
            let report = report.map_err(|error| format!("{name} {changes:?}: {error}\n{schedule}"));
            prop_assert!(report.as_ref().is_ok_and(|report| report.delivered()), "{:?}", report.err());
        }
    }
}
