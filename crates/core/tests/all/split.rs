// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams per rank, made of schedules with one: the steps of every rank are
//! dealt out to streams, with the waits that keep what touches the same place in order.

use std::collections::BTreeMap;

use corecast_core::random::SplitMix64;
use corecast_core::{Op, Rank, Schedule, ScheduleBuilder, Step, StepRef};

/// How steps are dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deal {
    /// All that a rank says to another goes into one stream of each, and all streams have channel 0.
    ByPeer,
    /// Every message goes over a channel of its own choice, and every channel has a stream.
    ByChannel,
}

/// The steps of `schedule`, which has one stream per rank, on up to `streams` streams per rank.
pub fn split(schedule: &Schedule, deal: Deal, streams: u32, seed: u64) -> Schedule {
    let mut mix = SplitMix64::new(seed);
    let mut groups = Groups::default();
    for (from, index, half) in schedule.sends() {
        groups.meet((from, index), half.to, schedule);
    }
    let mut builder = ScheduleBuilder::new(schedule.algorithm(), schedule.spec().clone());
    for place in schedule.places() {
        match place.result_of {
            Some(chunk) => builder.add_result(chunk),
            None => builder.add_place(place.bytes),
        };
    }
    for tree in schedule.multicasts() {
        builder.add_multicast(tree.clone());
    }
    for rank in schedule.all_ranks() {
        for stream in 1..streams {
            let channel = if deal == Deal::ByChannel { stream } else { 0 };
            assert_eq!(builder.add_stream(rank, channel), stream);
        }
    }
    let mut of_group: BTreeMap<(Rank, usize), u32> = BTreeMap::new();
    for rank in schedule.all_ranks() {
        let steps = schedule.steps(rank);
        let mut placed: Vec<StepRef> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let group = match deal {
                Deal::ByPeer => groups.of_peers(rank, index),
                Deal::ByChannel => groups.of_message(rank, index),
            };
            let drawn = || (mix.next() % u64::from(streams)) as u32;
            let stream = *of_group.entry(group).or_insert_with(drawn);
            let mut op = step.op;
            relist(&mut op, |list| builder.list(schedule.chunks(list)));
            placed.push(builder.push_on(step.round.0, (rank, stream), op));
        }
        for (step, on) in needed_waits(schedule, rank, &placed) {
            builder.wait(step, on);
        }
    }
    builder.finish()
}

/// Whether two steps may not change places: they touch the same place, and one of them writes.
pub fn conflict(schedule: &Schedule, a: &Step, b: &Step) -> bool {
    let overlap = |a: &Step, b: &Step| {
        let written = schedule.chunks(a.written());
        let touched = [b.read(), b.written()];
        let mut touched = touched.iter().flat_map(|&list| schedule.chunks(list));
        touched.any(|chunk| written.contains(chunk))
    };
    overlap(a, b) || overlap(b, a)
}

/// The waits that order every conflict of a rank, none of which follows from the others.
fn needed_waits(schedule: &Schedule, rank: Rank, placed: &[StepRef]) -> Vec<(StepRef, StepRef)> {
    let steps = schedule.steps(rank);
    let mut waits = Vec::new();
    // Which earlier steps come before each.
    let mut before: Vec<Vec<bool>> = Vec::new();
    for (later, step) in steps.iter().enumerate() {
        let mut known = vec![false; steps.len()];
        let add = |known: &mut Vec<bool>, earlier: usize, before: &Vec<Vec<bool>>| {
            known[earlier] = true;
            for (known, &seen) in known.iter_mut().zip(&before[earlier]) {
                *known |= seen;
            }
        };
        let same = |&earlier: &usize| placed[earlier].stream == placed[later].stream;
        if let Some(previous) = (0..later).rev().find(same) {
            add(&mut known, previous, &before);
        }
        for earlier in (0..later).rev() {
            if !known[earlier] && conflict(schedule, &steps[earlier], step) {
                waits.push((placed[later], placed[earlier]));
                add(&mut known, earlier, &before);
            }
        }
        before.push(known);
    }
    waits
}

fn relist(
    op: &mut Op,
    mut change: impl FnMut(corecast_core::ChunkList) -> corecast_core::ChunkList,
) {
    match op {
        Op::Send { chunks, .. }
        | Op::Recv { chunks, .. }
        | Op::Forward { chunks, .. }
        | Op::Multicast { chunks, .. }
        | Op::RecvMulticast { chunks, .. } => *chunks = change(*chunks),
        Op::Exchange { send, recv, .. } => {
            *send = change(*send);
            *recv = change(*recv);
        }
        Op::Local { source, target, .. } => {
            *source = change(*source);
            *target = change(*target);
        }
    }
}

/// Steps that must stay together.
#[derive(Default)]
struct Groups {
    /// Every step's neighbour towards the one that stands for its messages.
    messages: BTreeMap<(Rank, usize), (Rank, usize)>,
    /// The same for steps of a rank that have a peer in common.
    peers: BTreeMap<(Rank, usize), (Rank, usize)>,
    /// The first step of a rank that has this peer, as one that sends or that receives.
    first: BTreeMap<(Rank, Rank, bool), (Rank, usize)>,
    /// Receives that have been met, per pair.
    met: BTreeMap<(Rank, Rank), usize>,
}

type Parents = BTreeMap<(Rank, usize), (Rank, usize)>;

fn find(parents: &Parents, mut at: (Rank, usize)) -> (Rank, usize) {
    while let Some(&next) = parents.get(&at) {
        at = next;
    }
    at
}

fn unite(parents: &mut Parents, a: (Rank, usize), b: (Rank, usize)) {
    let (a, b) = (find(parents, a), find(parents, b));
    if a != b {
        parents.insert(a, b);
    }
}

impl Groups {
    /// The next message of a sending step goes to the next receive of `to`.
    fn meet(&mut self, send: (Rank, usize), to: Rank, schedule: &Schedule) {
        let from = send.0;
        let count = self.met.entry((from, to)).or_default();
        let steps = schedule.steps(to).iter().enumerate();
        let mut receives =
            steps.filter(|(_, step)| step.recv_half().is_some_and(|half| half.from == from));
        let (index, _) = receives.nth(*count).expect("every message is received");
        *count += 1;
        let recv = (to, index);
        unite(&mut self.messages, send, recv);
        for (step, key) in [(send, (from, to, true)), (recv, (to, from, false))] {
            let first = *self.first.entry(key).or_insert(step);
            unite(&mut self.peers, step, first);
        }
    }

    fn of_peers(&self, rank: Rank, index: usize) -> (Rank, usize) {
        find(&self.peers, (rank, index))
    }

    fn of_message(&self, rank: Rank, index: usize) -> (Rank, usize) {
        find(&self.messages, (rank, index))
    }
}
