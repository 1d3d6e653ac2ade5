// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second opinion on schedules, as plain as possible and without any code of the verifier.
//!
//! Every rank has a memory of explicit multisets of contributions. Ranks are moved along by trying
//! every pair of ranks until nothing moves. What a collective promises is written down here once
//! more, from its definition.

use std::collections::BTreeMap;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Collective, Op, Rank, RoundIdx, Schedule, Spec, Step,
};

/// What a chunk of memory is made of: contributions `(rank, chunk)`, and how often each is in it.
type Value = BTreeMap<(u32, u32), u32>;

/// Why a schedule does not mean what its specification says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Broken {
    /// A step names a rank, a chunk or a multicast that does not exist, its own rank, or another's
    /// multicast; or it combines for nobody.
    Structure,
    /// Sender and receiver disagree about the sizes of chunks or about rounds, or rounds disagree with what
    /// depends on what.
    Labels,
    /// A rank sends what it does not hold.
    Unheld,
    /// Data that is only moved is reduced.
    Unreducible,
    /// A contribution enters a sum twice, even if the sum is thrown away later.
    Twice,
    /// Contributions to two chunks enter one sum.
    Mixed,
    /// Not every step completes when every send waits for its receiver.
    Stuck,
    /// A rank ends without what it was promised.
    Outcome,
}

struct World<'a> {
    schedule: &'a Schedule,
    memory: Vec<BTreeMap<u32, Value>>,
    at: Vec<usize>,
    sent: Vec<bool>,
    received: Vec<bool>,
    /// What the current step of a rank sends, as it was when the rank came to the step.
    outgoing: Vec<Option<Vec<Option<Value>>>>,
    /// Whether something went from the place of one chunk into that of another.
    has_renamed: bool,
}

/// Executes the schedule with every send waiting for its receiver and judges the result.
pub fn judge(schedule: &Schedule) -> Result<(), Broken> {
    check_names(schedule)?;
    let ranks = schedule.ranks() as usize;
    let mut world = World {
        schedule,
        memory: initial_memory(schedule.spec()),
        at: vec![0; ranks],
        sent: vec![false; ranks],
        received: vec![false; ranks],
        outgoing: vec![None; ranks],
        has_renamed: false,
    };
    (0..ranks).for_each(|rank| world.enter_step(rank));
    while world.sweep()? {}
    let all_done = (0..ranks).all(|rank| world.step(rank).is_none());
    if !all_done {
        return Err(Broken::Stuck);
    }
    check_rounds(schedule, world.has_renamed)?;
    check_outcome(schedule.spec(), &world.memory)
}

/// Rounds never fall along a program, and what a rank got in some round it sends in a later one.
/// Every pair of an earlier and a later step of a rank is looked at. Where chunks may be in any place
/// everything that comes is news.
fn check_rounds(schedule: &Schedule, has_renamed: bool) -> Result<(), Broken> {
    let spec = schedule.spec();
    let sends = |step: &Step| sent(step).map(|(round, _)| round);
    for rank in schedule.all_ranks() {
        let steps = schedule.steps(rank);
        for (later, earlier) in (0..steps.len()).flat_map(|l| (0..l).map(move |e| (l, e))) {
            let (later, earlier, before) = (&steps[later], &steps[earlier], &steps[..earlier]);
            let falls = sends(later).zip(sends(earlier)).is_some_and(|(l, e)| l < e);
            if falls || later.round < earlier.round {
                return Err(Broken::Labels);
            }
            let (Some((round, chunks)), Some(got)) = (sent(later), earlier.recv_half()) else {
                continue;
            };
            if got.arrival == Arrival::PassOn {
                continue; // what is held stays as it is
            }
            for chunk in schedule.chunks(got.chunks) {
                let receives = |step: &&Step| {
                    let half = step.recv_half();
                    half.is_some_and(|half| schedule.chunks(half.chunks).contains(chunk))
                };
                let owner = owner(spec, chunk.0 / spec.parts());
                let is_news = has_renamed
                    || match owner {
                        None => true, // contributions are combined
                        Some(owner) => owner != rank.0 && !before.iter().any(|s| receives(&s)),
                    };
                let is_sent = schedule.chunks(chunks).contains(chunk);
                if is_news && is_sent && round <= got.round {
                    return Err(Broken::Labels);
                }
            }
        }
    }
    Ok(())
}

/// The round and the chunks of what a step sends, to one rank or to many.
fn sent(step: &Step) -> Option<(RoundIdx, ChunkList)> {
    match step.op {
        Op::Multicast { chunks, .. } => Some((step.round, chunks)),
        _ => step.send_half().map(|half| (half.round, half.chunks)),
    }
}

/// Who receives what a step of `rank` sends.
fn receivers(schedule: &Schedule, rank: usize, step: &Step) -> Vec<usize> {
    match step.op {
        Op::Multicast { .. } => (0..schedule.ranks() as usize)
            .filter(|&to| to != rank)
            .collect(),
        _ => step
            .send_half()
            .into_iter()
            .map(|half| half.to.index())
            .collect(),
    }
}

/// Whether every step completes when each connection holds `slots` messages (at least 1). Contents
/// are of no importance.
pub fn completes_with_slots(schedule: &Schedule, slots: usize) -> bool {
    let ranks = schedule.ranks() as usize;
    let mut held = vec![vec![0; ranks]; ranks];
    let mut at = vec![0; ranks];
    let mut done = vec![(false, false); ranks];
    let mut moved = true;
    while moved {
        moved = false;
        for rank in 0..ranks {
            let Some(step) = schedule.steps(Rank(rank as u32)).get(at[rank]) else {
                continue;
            };
            let (mut sent, mut received) = done[rank];
            if let Some(half) = step.recv_half()
                && !received
                && held[half.from.index()][rank] > 0
            {
                held[half.from.index()][rank] -= 1;
                (received, moved) = (true, true);
            }
            let has_data = received || !matches!(step.op, Op::Forward { .. });
            let receivers = receivers(schedule, rank, step);
            let is_room = receivers.iter().all(|&to| held[rank][to] < slots);
            if !receivers.is_empty() && !sent && has_data && is_room {
                receivers.iter().for_each(|&to| held[rank][to] += 1);
                (sent, moved) = (true, true);
            }
            done[rank] = (sent, received);
            if (sent || receivers.is_empty()) && (received || step.recv_half().is_none()) {
                at[rank] += 1;
                done[rank] = (false, false);
            }
        }
    }
    (0..ranks).all(|rank| at[rank] == schedule.steps(Rank(rank as u32)).len())
}

/// Whether every step names what exists, and every ordered pair of ranks has as many sends as
/// receives.
pub fn is_matched(schedule: &Schedule) -> bool {
    let mut surplus: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for rank in schedule.all_ranks() {
        for step in schedule.steps(rank) {
            for to in receivers(schedule, rank.index(), step) {
                *surplus.entry((rank.0, to as u32)).or_default() += 1;
            }
            if let Some(half) = step.recv_half() {
                *surplus.entry((half.from.0, rank.0)).or_default() -= 1;
            }
        }
    }
    check_names(schedule).is_ok() && surplus.values().all(|&surplus| surplus == 0)
}

fn check_names(schedule: &Schedule) -> Result<(), Broken> {
    let mut sent_numbers = Vec::new();
    for rank in schedule.all_ranks() {
        for step in schedule.steps(rank) {
            let peers = [
                step.send_half().map(|half| half.to),
                step.recv_half().map(|half| half.from),
            ];
            let mut peers = peers.into_iter().flatten();
            let received = step.recv_half().map(|half| half.chunks);
            let lists = sent(step)
                .map(|(_, chunks)| chunks)
                .into_iter()
                .chain(received);
            let mut chunks = lists.flat_map(|list| schedule.chunks(list));
            let multicast = match step.op {
                Op::Multicast { number, .. } => Some((number, rank)),
                Op::RecvMulticast { number, from, .. } => Some((number, from)),
                _ => None,
            };
            let is_bad = multicast.is_some_and(|(number, root)| {
                !is_tree_from(schedule, number as usize, root)
                    || (root == rank && sent_numbers.contains(&number))
            });
            sent_numbers.extend(multicast.filter(|&(_, root)| root == rank).map(|(n, _)| n));
            let arrival = step.recv_half().map(|half| half.arrival);
            let passes_nothing =
                arrival == Some(Arrival::PassOn) && !matches!(step.op, Op::Forward { .. });
            if peers.any(|peer| peer == rank || peer.0 >= schedule.ranks())
                || chunks.any(|chunk| chunk.0 >= schedule.spec().chunks())
                || is_bad
                || passes_nothing
            {
                return Err(Broken::Structure);
            }
        }
    }
    let numbers = 0..schedule.multicasts().len();
    let mut roots = numbers.map(|n| (n, schedule.multicasts()[n].root()));
    if roots.any(|(number, root)| !is_tree_from(schedule, number, root)) {
        return Err(Broken::Structure);
    }
    Ok(())
}

/// Whether there is such a multicast, and every rank on it gets to this root, one after the other.
fn is_tree_from(schedule: &Schedule, number: usize, root: Rank) -> bool {
    let Some(tree) = schedule.multicasts().get(number) else {
        return false;
    };
    let leads_there = |rank: Rank| {
        let mut at = rank;
        for _ in 0..schedule.ranks() {
            at = tree.parent(at).unwrap_or(at);
        }
        at == root
    };
    tree.root() == root && tree.edges().all(|(_, rank)| leads_there(rank))
}

impl World<'_> {
    fn step(&self, rank: usize) -> Option<Step> {
        let steps = self.schedule.steps(Rank(rank as u32));
        steps.get(self.at[rank]).copied()
    }

    fn enter_step(&mut self, rank: usize) {
        let Some(step) = self.step(rank) else { return };
        self.sent[rank] = sent(&step).is_none();
        self.received[rank] = step.recv_half().is_none();
        self.outgoing[rank] = None;
        if !matches!(step.op, Op::Forward { .. }) {
            self.take_outgoing(rank, step);
        }
    }

    fn take_outgoing(&mut self, rank: usize, step: Step) {
        let Some((_, chunks)) = sent(&step) else {
            return;
        };
        let chunks = self.schedule.chunks(chunks).iter();
        let values = chunks.map(|chunk| self.memory[rank].get(&chunk.0).cloned());
        self.outgoing[rank] = Some(values.collect());
    }

    /// Whether a message from `from` would be taken by `to` now. A `Forward` takes a message only
    /// when the next rank would take it from there.
    fn is_open(&self, from: usize, to: usize, hops_left: usize) -> bool {
        let Some(step) = self.step(to) else {
            return false;
        };
        let expects = step
            .recv_half()
            .is_some_and(|half| half.from.index() == from);
        if !expects || self.received[to] || hops_left == 0 {
            return false;
        }
        match step.op {
            Op::Forward { to: next, .. } => self.is_open(to, next.index(), hops_left - 1),
            _ => true,
        }
    }

    /// Moves every message that can move; returns whether any did.
    fn sweep(&mut self) -> Result<bool, Broken> {
        let ranks = self.at.len();
        let mut moved = false;
        for from in 0..ranks {
            let Some(step) = self.step(from) else {
                continue;
            };
            let receivers = receivers(self.schedule, from, &step);
            let has_data = self.outgoing[from].is_some();
            let is_open = receivers.iter().all(|&to| self.is_open(from, to, ranks));
            if self.sent[from] || receivers.is_empty() || !has_data || !is_open {
                continue;
            }
            self.transfer(from, &receivers, step)?;
            moved = true;
        }
        Ok(moved)
    }

    fn transfer(&mut self, from: usize, receivers: &[usize], sender: Step) -> Result<(), Broken> {
        let (round, chunks) = sent(&sender).expect("the sender is at a send");
        let values = self.outgoing[from].take().expect("the sender has data");
        for &to in receivers {
            let receiver = self
                .step(to)
                .expect("the receiver is at the step that is open");
            let receive = receiver.recv_half().expect("the receiver is at a receive");
            let numbers = [sender, receiver].map(|step| match step.op {
                Op::Multicast { number, .. } | Op::RecvMulticast { number, .. } => Some(number),
                _ => None,
            });
            let schedule = self.schedule;
            let lists = [chunks, receive.chunks].map(|list| schedule.chunks(list));
            let [sizes, room] = lists.map(|list| {
                let bytes = list.iter().map(|&chunk| schedule.chunk_bytes(chunk));
                bytes.collect::<Vec<_>>()
            });
            self.has_renamed |= lists[0] != lists[1];
            let agree = sizes == room && round == receive.round && numbers[0] == numbers[1];
            if !agree {
                return Err(Broken::Labels);
            }
            let mut combined = Vec::new();
            for (chunk, value) in lists[1].iter().zip(values.clone()) {
                let value = value.ok_or(Broken::Unheld)?;
                let held = self.memory[to].get(&chunk.0).cloned();
                match receive.arrival {
                    Arrival::Store => {
                        self.memory[to].insert(chunk.0, value);
                    }
                    Arrival::Reduce => self.add(to, *chunk, &value)?,
                    Arrival::PassOn => {
                        self.add(to, *chunk, &value)?;
                        combined.push(self.memory[to].remove(&chunk.0));
                        self.memory[to].extend(held.map(|held| (chunk.0, held)));
                    }
                }
            }
            self.received[to] = true;
            if receive.arrival == Arrival::PassOn {
                self.outgoing[to] = Some(combined);
            } else if matches!(receiver.op, Op::Forward { .. }) {
                self.take_outgoing(to, receiver);
            }
        }
        self.sent[from] = true;
        for &rank in receivers.iter().chain([&from]) {
            if self.sent[rank] && self.received[rank] {
                self.at[rank] += 1;
                self.enter_step(rank);
            }
        }
        Ok(())
    }

    fn add(&mut self, rank: usize, chunk: ChunkId, arrived: &Value) -> Result<(), Broken> {
        use Collective as C;
        let collective = self.schedule.spec().collective();
        let sums = matches!(collective, C::Reduce | C::Allreduce | C::ReduceScatter);
        if !sums && collective != C::Barrier {
            return Err(Broken::Unreducible);
        }
        let held = self.memory[rank].entry(chunk.0).or_default();
        let mut chunks = held.keys().chain(arrived.keys()).map(|&(_, chunk)| chunk);
        let first = chunks.next();
        if chunks.any(|chunk| Some(chunk) != first) {
            return Err(Broken::Mixed);
        }
        for (&contribution, &times) in arrived {
            let total = held.entry(contribution).or_default();
            *total += times;
            if sums && *total > 1 {
                return Err(Broken::Twice);
            }
            // In a barrier only "at least once" counts; the exact number would overflow.
            *total = (*total).min(2);
        }
        Ok(())
    }
}

/// The rank whose data block `block` is at the start; `None` if every rank contributes to it.
fn owner(spec: &Spec, block: u32) -> Option<u32> {
    match spec.collective() {
        Collective::Bcast | Collective::Scatter => Some(spec.root().0),
        Collective::Gather | Collective::Allgather => Some(block),
        Collective::Alltoall | Collective::Alltoallv => Some(block / spec.ranks()),
        _ => None,
    }
}

fn initial_memory(spec: &Spec) -> Vec<BTreeMap<u32, Value>> {
    let memory = |rank: u32| {
        let owns = |chunk: &u32| owner(spec, chunk / spec.parts()).is_none_or(|o| o == rank);
        let chunks = (0..spec.chunks()).filter(owns);
        chunks
            .map(|chunk| (chunk, Value::from([((rank, chunk), 1)])))
            .collect()
    };
    (0..spec.ranks()).map(memory).collect()
}

fn check_outcome(spec: &Spec, memory: &[BTreeMap<u32, Value>]) -> Result<(), Broken> {
    use Collective as C;
    for (rank, held) in (0_u32..).zip(memory) {
        for chunk in 0..spec.chunks() {
            let block = chunk / spec.parts();
            let wanted = match spec.collective() {
                C::Bcast | C::Allgather | C::Allreduce | C::Barrier => true,
                C::Gather | C::Reduce => rank == spec.root().0,
                C::Scatter | C::ReduceScatter => block == rank,
                C::Alltoall => block % spec.ranks() == rank,
                C::Alltoallv => block % spec.ranks() == rank && spec.block_bytes(block) > 0,
            };
            let contributors = match owner(spec, block) {
                Some(owner) => owner..owner + 1,
                None => 0..spec.ranks(),
            };
            let expected: Vec<_> = contributors.map(|rank| (rank, chunk)).collect();
            let found: Vec<_> = held
                .get(&chunk)
                .into_iter()
                .flat_map(|v| v.keys().copied())
                .collect();
            if wanted && found != expected {
                return Err(Broken::Outcome);
            }
        }
    }
    Ok(())
}
