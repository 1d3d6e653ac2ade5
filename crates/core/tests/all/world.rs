// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second opinion on schedules with several streams, as plain as possible and without any code of
//! the verifier: an execution in which chance decides who goes on, and what happens before what as
//! the ways in a graph.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::random::SplitMix64;
use corecast_core::{Arrival, ChunkId, ChunkList, Collective, Op, Rank, Schedule, Step};

/// What a place holds: contributions `(rank, chunk)`, and how often each is in it. Data that is only
/// moved is the contribution of no rank.
type Value = BTreeMap<(Option<u32>, u32), u32>;

/// A sender, a receiver and a channel.
type Connection = (Rank, Rank, u32);

struct World<'a> {
    schedule: &'a Schedule,
    memory: Vec<BTreeMap<ChunkId, Value>>,
    connections: BTreeMap<Connection, VecDeque<Vec<Value>>>,
    /// Per rank and step.
    states: Vec<Vec<State>>,
}

#[derive(Clone, Default)]
struct State {
    sent: bool,
    received: bool,
    done: bool,
    /// What is left to send, if that is not what the places hold.
    outgoing: Option<Vec<Value>>,
}

/// Something that a stream can do at its step.
#[derive(Clone, Copy, Debug)]
enum Action {
    Put,
    Take,
    Local,
}

/// Whom a step sends to.
fn receivers(schedule: &Schedule, rank: Rank, step: &Step) -> Vec<Rank> {
    match step.op {
        Op::Multicast { .. } => schedule.all_ranks().filter(|&to| to != rank).collect(),
        _ => step.send_half().map(|half| half.to).into_iter().collect(),
    }
}

/// Executes every step, in an order that chance decides, with `slots` messages per connection, and
/// looks at what every rank holds then.
pub fn run(schedule: &Schedule, slots: usize, random: &mut SplitMix64) -> Result<(), String> {
    let mut world = World {
        schedule,
        memory: schedule
            .all_ranks()
            .map(|rank| initial(schedule, rank))
            .collect(),
        connections: BTreeMap::new(),
        states: schedule
            .all_ranks()
            .map(|rank| vec![State::default(); schedule.steps(rank).len()])
            .collect(),
    };
    loop {
        let possible = world.possible(slots);
        if possible.is_empty() {
            break;
        }
        let (rank, index, channel, action) = possible[random.below(possible.len() as u64) as usize];
        world.act(rank, index, channel, action);
    }
    let mut all = world.states.iter().flatten();
    if !all.all(|state| state.done) {
        return Err("stuck".to_owned());
    }
    world.check_outcome()
}

fn initial(schedule: &Schedule, rank: Rank) -> BTreeMap<ChunkId, Value> {
    let spec = schedule.spec();
    let own = combines(spec.collective()).then_some(rank.0);
    let chunks = spec.initial_chunks(rank);
    chunks
        .map(|chunk| (chunk, Value::from([((own, chunk.0), 1)])))
        .collect()
}

fn combines(collective: Collective) -> bool {
    collective.is_reduction() || collective == Collective::Barrier
}

impl World<'_> {
    fn step(&self, rank: Rank, index: usize) -> &Step {
        &self.schedule.steps(rank)[index]
    }

    fn possible(&self, slots: usize) -> Vec<(Rank, usize, u32, Action)> {
        let mut possible = Vec::new();
        for rank in self.schedule.all_ranks() {
            for (mut range, channel) in self.schedule.streams(rank) {
                let states = &self.states[rank.index()];
                let Some(index) = range.find(|&index| !states[index].done) else {
                    continue;
                };
                let mut waits = self.schedule.waits(rank, index);
                if !waits.all(|on| states[on].done) {
                    continue;
                }
                let (step, state) = (self.step(rank, index), &states[index]);
                if matches!(step.op, Op::Local { .. }) {
                    possible.push((rank, index, channel, Action::Local));
                }
                let queued = |from, to| {
                    let queue = self.connections.get(&(from, to, channel));
                    queue.map_or(0, VecDeque::len)
                };
                if let Some(half) = step.recv_half()
                    && !state.received
                    && queued(half.from, rank) > 0
                {
                    possible.push((rank, index, channel, Action::Take));
                }
                let receivers = receivers(self.schedule, rank, step);
                let has_data = state.received || !matches!(step.op, Op::Forward { .. });
                let is_room = receivers.iter().all(|&to| queued(rank, to) < slots);
                if !receivers.is_empty() && !state.sent && has_data && is_room {
                    possible.push((rank, index, channel, Action::Put));
                }
            }
        }
        possible
    }

    fn act(&mut self, rank: Rank, index: usize, channel: u32, action: Action) {
        let step = *self.step(rank, index);
        match action {
            Action::Local => {
                if let Op::Local {
                    source,
                    target,
                    arrival,
                } = step.op
                {
                    let values = self.values(rank, source);
                    self.put(rank, target, arrival, values);
                }
            }
            Action::Take => {
                let half = step.recv_half().expect("it receives");
                if let Op::Exchange { send, .. } = step.op
                    && !self.states[rank.index()][index].sent
                {
                    let values = self.values(rank, send);
                    self.states[rank.index()][index].outgoing = Some(values);
                }
                let queue = self.connections.get_mut(&(half.from, rank, channel));
                let values = queue.and_then(VecDeque::pop_front).expect("it has come");
                let combined = self.put(rank, half.chunks, half.arrival, values);
                self.states[rank.index()][index].received = true;
                if half.arrival == Arrival::PassOn {
                    self.states[rank.index()][index].outgoing = Some(combined);
                }
            }
            Action::Put => {
                let outgoing = self.states[rank.index()][index].outgoing.take();
                let values = outgoing.unwrap_or_else(|| self.values(rank, step.sent()));
                for to in receivers(self.schedule, rank, &step) {
                    let queue = self.connections.entry((rank, to, channel)).or_default();
                    queue.push_back(values.clone());
                }
                self.states[rank.index()][index].sent = true;
            }
        }
        let sends = !receivers(self.schedule, rank, &step).is_empty();
        let state = &mut self.states[rank.index()][index];
        state.done = (state.sent || !sends) && (state.received || step.recv_half().is_none());
    }

    fn values(&self, rank: Rank, list: ChunkList) -> Vec<Value> {
        let chunks = self.schedule.chunks(list).iter();
        let memory = &self.memory[rank.index()];
        chunks
            .map(|chunk| memory.get(chunk).cloned().unwrap_or_default())
            .collect()
    }

    /// Does with values what a step says; returns what came of combining them.
    fn put(
        &mut self,
        rank: Rank,
        list: ChunkList,
        arrival: Arrival,
        values: Vec<Value>,
    ) -> Vec<Value> {
        let memory = &mut self.memory[rank.index()];
        let mut combined = Vec::new();
        for (&chunk, value) in self.schedule.chunks(list).iter().zip(values) {
            let mut sum = memory.get(&chunk).cloned().unwrap_or_default();
            for (&contribution, &times) in &value {
                *sum.entry(contribution).or_default() += times;
            }
            match arrival {
                Arrival::Store => drop(memory.insert(chunk, value)),
                Arrival::Reduce => drop(memory.insert(chunk, sum.clone())),
                Arrival::PassOn => {}
            }
            combined.push(sum);
        }
        combined
    }

    fn check_outcome(&self) -> Result<(), String> {
        let spec = self.schedule.spec();
        for rank in self.schedule.all_ranks() {
            for chunk in spec.final_chunks(rank) {
                let place = self
                    .schedule
                    .results()
                    .get(&chunk)
                    .copied()
                    .unwrap_or(chunk);
                let held = self.memory[rank.index()].get(&place).cloned();
                let mut held = held.unwrap_or_default();
                if spec.collective() == Collective::Barrier {
                    held.values_mut().for_each(|times| *times = 1);
                }
                let owners: Vec<Option<u32>> = match combines(spec.collective()) {
                    true => (0..spec.ranks()).map(Some).collect(),
                    false => vec![None],
                };
                let owners = owners.into_iter();
                let promised: Value = owners.map(|owner| ((owner, chunk.0), 1)).collect();
                if held != promised {
                    return Err(format!("rank {rank}, chunk {chunk}: {held:?}"));
                }
            }
        }
        Ok(())
    }
}

/// The moments of all steps, and which of them lead to which.
pub struct Reach {
    first: Vec<usize>,
    leads: Vec<Vec<bool>>,
    is_exchange: Vec<bool>,
}

/// A step begins, does what it does with the places of its message, and ends.
const MOMENTS: usize = 3;

impl Reach {
    /// Whether the first step is over when the second one acts; an exchange acts when it begins.
    pub fn is_before(&self, a: (Rank, usize), b: (Rank, usize)) -> bool {
        let [a, b] = [a, b].map(|(rank, index)| self.first[rank.index()] + index);
        let acts = if self.is_exchange[b] { 0 } else { 1 };
        self.leads[a * MOMENTS + 2][b * MOMENTS + acts]
    }
}

/// What happens before what: along streams, by waits, and by messages, which say that their sender is
/// done, and of an exchange that it has begun.
pub fn reachable(schedule: &Schedule) -> Reach {
    let mut first = Vec::new();
    let mut total = 0;
    for rank in schedule.all_ranks() {
        first.push(total);
        total += schedule.steps(rank).len();
    }
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); total * MOMENTS];
    let mut is_exchange = vec![false; total];
    let mut senders: BTreeMap<Connection, VecDeque<usize>> = BTreeMap::new();
    let streams = |rank: Rank| schedule.streams(rank).collect::<Vec<_>>();
    for rank in schedule.all_ranks() {
        for (range, channel) in streams(rank) {
            for index in range.clone() {
                let (step, number) = (&schedule.steps(rank)[index], first[rank.index()] + index);
                is_exchange[number] = matches!(step.op, Op::Exchange { .. });
                next[number * MOMENTS].push(number * MOMENTS + 1);
                next[number * MOMENTS + 1].push(number * MOMENTS + 2);
                let previous = (index > range.start).then(|| index - 1);
                for on in schedule.waits(rank, index).chain(previous) {
                    let on = first[rank.index()] + on;
                    next[on * MOMENTS + 2].push(number * MOMENTS);
                }
                for to in receivers(schedule, rank, step) {
                    senders
                        .entry((rank, to, channel))
                        .or_default()
                        .push_back(number);
                }
            }
        }
    }
    for rank in schedule.all_ranks() {
        for (range, channel) in streams(rank) {
            for index in range {
                let number = first[rank.index()] + index;
                let half = schedule.steps(rank)[index].recv_half();
                let queue = half.and_then(|half| senders.get_mut(&(half.from, rank, channel)));
                if let Some(sender) = queue.and_then(VecDeque::pop_front) {
                    let says = if is_exchange[sender] { 0 } else { 2 };
                    next[sender * MOMENTS + says].push(number * MOMENTS + 1);
                }
            }
        }
    }
    let leads = (0..next.len())
        .map(|start| ways_from(&next, start))
        .collect();
    Reach {
        first,
        leads,
        is_exchange,
    }
}

fn ways_from(next: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        for &to in &next[at] {
            if !seen[to] {
                seen[to] = true;
                work.push(to);
            }
        }
    }
    seen
}
