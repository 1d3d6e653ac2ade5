// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a schedule can take at most on a mesh, whatever the timing.
//!
//! The bound holds for every arrival pattern, counted from the last arrival, and for schedules that
//!
//! * have no contention: no link carries two messages in one round;
//! * have one stream per rank: the path is that of one order;
//! * need no flow control: it is proved that no queue can overflow, so that words never wait in the
//!   mesh for a core.
//!
//! Ranks drift apart, so messages of *different* rounds can still meet. Follow the chain of causes
//! backwards from the last finish. Each of its parts is software of one core, a message on its way,
//! or a message held up. The first two add up to no more than the longest path through the program,
//! with every message taking as long as it takes alone. While the message of the chain is held up,
//! by a link, an input or a core that reads other words first, the words that hold it up are
//! themselves moving or being read: nothing waits for a core, and dimension-order routes have no
//! cycle. A word takes a bounded time for each of its stages and passes each of them once, so all
//! hold-ups of the chain together are no longer than all stages of all words.
//!
//! ```text
//! makespan <= last arrival + longest path + sum over packets of words * (stages + reading)
//! ```
//!
//! The first sum is what takes the time where software is slow; the second is large where the
//! network is. Background traffic and transfers from before the run are not covered.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm, verify};
//! use corecast_machine::{Job, Machine, RunOptions};
//! use corecast_machine_sim::SimMachine;
//! let machine = SimMachine::new(&corecast_chip::find("tilepro64").unwrap());
//! let options = RunOptions::default();
//! let request = machine.request(Request::new(Collective::Bcast, 16, 64), &options);
//! let algorithm = algorithm::find(Collective::Bcast, "static-route").unwrap();
//! let schedule = algorithm::build(algorithm, &request).unwrap();
//! let certificate = verify(&schedule, &machine.chip().routes(16));
//! let worst = machine.worst_case(&schedule, &certificate).unwrap();
//! assert!(machine.run(&Job::new(&schedule)).unwrap().makespan <= worst);
//! ```

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};

use corecast_chip::{Mesh, System, Udn};
use corecast_core::{
    Arrival, Certificate, ChunkList, Op, Rank, Schedule, Seats, Step, worst_queue,
};
use corecast_machine::Time;

use crate::SimMachine;
use crate::udn::Costs;

impl SimMachine {
    /// The longest makespan of `schedule` from the last arrival on, whatever the arrival pattern;
    /// `certificate` must be its own on the routes of this chip. None on a crossbar, and for
    /// schedules that the module's documentation excludes.
    #[must_use]
    pub fn worst_case(&self, schedule: &Schedule, certificate: &Certificate) -> Option<Time> {
        let System::Mesh { mesh, udn } = self.chip().system() else {
            return None;
        };
        let is_proved = !schedule.has_streams()
            && certificate.is_correct()
            && certificate.is_deadlock_free()
            && certificate.is_contention_free();
        if !is_proved {
            return None;
        }
        let bounds = Bounds::new(mesh, udn, schedule);
        let moves_words = schedule.sends().any(|(rank, step, _)| {
            let op = schedule.steps(rank)[step].op;
            !mesh.carries_multicasts() || !matches!(op, Op::Multicast { .. })
        });
        if moves_words {
            let mut queue = udn.queue(mesh)?;
            queue.packet_words = bounds.packet_words;
            let worst = worst_queue(schedule, &|bytes| queue.message_words(bytes))?;
            if schedule.has_flow_control() || worst > queue.words {
                return None;
            }
        }
        let mut path = LongestPath::new(&bounds, schedule);
        let ps = path.finish()?.checked_add(path.hold_ups_ps)?;
        Some(Time::from_ps(ps))
    }
}

/// The longest times of the network, in picoseconds, beside the costs of the software.
struct Bounds<'a> {
    mesh: &'a Mesh,
    costs: Costs,
    /// Most words of payload in a packet.
    packet_words: u64,
    /// A word through one router and over one link, with the credit that it needs.
    stage: u64,
    /// A core's first word after the one before, in a packet that nothing holds up.
    word: u64,
    /// A core's reading of a word.
    extract: u64,
}

impl<'a> Bounds<'a> {
    fn new(mesh: &'a Mesh, udn: &Udn, schedule: &Schedule) -> Self {
        let cycles = |cycles: u32| mesh.clock.to_ps(u64::from(cycles));
        let stage = cycles(
            mesh.routing_cycles
                + mesh.vc_allocation_cycles
                + mesh.switch_cycles
                + mesh.link_cycles
                + mesh.link_interval_cycles
                + mesh.turn_cycles
                + mesh.credit_cycles,
        );
        let costs = Costs::new(mesh, udn, schedule.ranks());
        // The simulator rounds a word's time up to whole cycles of the mesh.
        let period = mesh.clock.to_ps(1);
        let inject = costs.inject.ps().div_ceil(period) * period;
        Self {
            packet_words: costs.packet_words_of(schedule),
            stage,
            word: inject
                .max(cycles(mesh.link_interval_cycles))
                .max(stage.div_ceil(u64::from(mesh.buffer_flits)) + period),
            extract: costs.extract.ps(),
            mesh,
            costs,
        }
    }

    /// From the core that writes a word to the one that can read it, alone, with the rounding of
    /// both cores' times to cycles of the mesh.
    fn transit(&self, hops: u32) -> u64 {
        let ends = self.mesh.injection_cycles + self.mesh.ejection_cycles + 2;
        self.stage * (u64::from(hops) + 1) + self.mesh.clock.to_ps(u64::from(ends))
    }

    /// All stages of a packet's words: injection, routers, ejection, reading.
    fn hold_ups(&self, flits: u64, hops: u32) -> u64 {
        flits.saturating_mul(self.transit(hops) + self.word + self.extract)
    }

    /// Flits of every packet of a message.
    fn packets(&self, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let header = self.costs.header_words;
        let packets = self.costs.packets(bytes, self.packet_words);
        packets.map(move |packet| packet.words + header)
    }
}

/// What a core does next.
#[derive(Clone, Copy)]
enum Action {
    Spend(u64),
    Inject { to: Rank, flits: u64 },
    Take { from: Rank, flits: u64 },
    Multicast { number: usize, words: u64 },
    TakeMulticast { number: usize, words: u64 },
}

/// The longest path through the programs of all ranks, all entering at once.
struct LongestPath<'a> {
    bounds: &'a Bounds<'a>,
    schedule: &'a Schedule,
    time: Vec<u64>,
    next_step: Vec<usize>,
    actions: Vec<VecDeque<Action>>,
    /// When packets between a pair of ranks can be read.
    arrivals: BTreeMap<(Rank, Rank), VecDeque<u64>>,
    /// When the first word of a multicast leaves a rank, and who waits to know.
    heads: BTreeMap<(usize, Rank), u64>,
    behind: BTreeMap<(usize, Rank), Vec<Rank>>,
    seats: Seats,
    hold_ups_ps: u64,
}

impl<'a> LongestPath<'a> {
    fn new(bounds: &'a Bounds<'a>, schedule: &'a Schedule) -> Self {
        let ranks = schedule.ranks();
        let call = bounds.costs.call.ps();
        let is_empty = schedule.steps_total() == 0;
        Self {
            bounds,
            schedule,
            time: vec![if is_empty { 0 } else { call }; ranks as usize],
            next_step: vec![0; ranks as usize],
            actions: vec![VecDeque::new(); ranks as usize],
            arrivals: BTreeMap::new(),
            heads: BTreeMap::new(),
            behind: BTreeMap::new(),
            seats: bounds.mesh.place(ranks),
            hold_ups_ps: 0,
        }
    }

    /// When the last rank has finished; none if one never does, or far beyond any run.
    fn finish(&mut self) -> Option<u64> {
        // The first rank first: messages mostly come from lower ones, and then few ranks wait with
        // their actions.
        let mut ready: Vec<Rank> = self.schedule.all_ranks().collect();
        ready.reverse();
        while let Some(rank) = ready.pop() {
            self.run(rank, &mut ready)?;
        }
        let mut ranks = self.schedule.all_ranks();
        let is_done = ranks.all(|rank| {
            let steps = self.schedule.steps(rank).len();
            self.actions[rank.index()].is_empty() && self.next_step[rank.index()] == steps
        });
        is_done.then(|| self.time.iter().copied().max().unwrap_or(0))
    }

    /// Runs a rank until it waits for another; those that may go on are put into `ready`.
    fn run(&mut self, rank: Rank, ready: &mut Vec<Rank>) -> Option<()> {
        loop {
            let Some(&action) = self.actions[rank.index()].front() else {
                let index = self.next_step[rank.index()];
                let Some(step) = self.schedule.steps(rank).get(index) else {
                    self.actions[rank.index()] = VecDeque::new(); // gives back its memory
                    return Some(());
                };
                self.next_step[rank.index()] += 1;
                self.actions[rank.index()] = self.expand(step);
                continue;
            };
            let now = self.time[rank.index()];
            let after = match action {
                Action::Spend(ps) => now.checked_add(ps)?,
                Action::Inject { to, flits } => {
                    let hops = self.seats.hops(rank, to);
                    let end = now.checked_add(self.bounds.word.checked_mul(flits)?)?;
                    let arrival = end.checked_add(self.bounds.transit(hops))?;
                    let hold_ups = self.bounds.hold_ups(flits, hops);
                    self.hold_ups_ps = self.hold_ups_ps.checked_add(hold_ups)?;
                    let waiting = self.arrivals.entry((rank, to)).or_default();
                    waiting.push_back(arrival);
                    ready.push(to);
                    end
                }
                Action::Take { from, flits } => {
                    let Entry::Occupied(mut waiting) = self.arrivals.entry((from, rank)) else {
                        return Some(());
                    };
                    let arrival = waiting.get_mut().pop_front();
                    if waiting.get().is_empty() {
                        waiting.remove();
                    }
                    let arrival =
                        arrival.expect("a pair has an entry while something is on its way");
                    now.max(arrival)
                        .checked_add(self.bounds.extract.checked_mul(flits)?)?
                }
                Action::Multicast { number, words } => {
                    // The first word is under way when it has been written.
                    let word = self.static_word();
                    self.pass_on(number, rank, now + word, ready);
                    now + word * words
                }
                Action::TakeMulticast { number, words } => {
                    let tree = &self.schedule.multicasts()[number];
                    let parent = tree.parent(rank)?;
                    let Some(&head) = self.heads.get(&(number, parent)) else {
                        self.behind.entry((number, parent)).or_default().push(rank);
                        return Some(());
                    };
                    let mesh = self.bounds.mesh;
                    let hop = mesh.clock.to_ps(u64::from(mesh.static_hop_cycles?));
                    let hops = u64::from(self.seats.hops(parent, rank));
                    let first = now.max(head + hop * hops);
                    self.pass_on(number, rank, first, ready);
                    let slowest = self.static_word().max(self.bounds.extract);
                    first + slowest * words + self.bounds.extract
                }
            };
            self.time[rank.index()] = after;
            self.actions[rank.index()].pop_front();
        }
    }

    /// The first word of a multicast leaves `rank` at `head`.
    fn pass_on(&mut self, number: usize, rank: Rank, head: u64, ready: &mut Vec<Rank>) {
        self.heads.insert((number, rank), head);
        let behind = self.behind.remove(&(number, rank));
        ready.extend(behind.unwrap_or_default());
    }

    fn static_word(&self) -> u64 {
        self.bounds.costs.inject.ps()
    }

    /// What a step makes its core do.
    fn expand(&self, step: &Step) -> VecDeque<Action> {
        let (bounds, schedule) = (self.bounds, self.schedule);
        let costs = &bounds.costs;
        let mut actions = VecDeque::new();
        if bounds.mesh.carries_multicasts()
            && let Op::Multicast { number, chunks } | Op::RecvMulticast { number, chunks, .. } =
                step.op
        {
            let words = costs.words(schedule.message_bytes(chunks));
            let number = number as usize;
            actions.push_back(Action::Spend(costs.route.ps()));
            actions.push_back(match step.recv_half() {
                Some(_) => Action::TakeMulticast { number, words },
                None => Action::Multicast { number, words },
            });
            return actions;
        }
        let injects = |to, bytes| {
            let packets = bounds.packets(bytes);
            packets.map(move |flits| Action::Inject { to, flits })
        };
        let takes = |from, bytes| {
            let packets = bounds.packets(bytes);
            packets.map(move |flits| Action::Take { from, flits })
        };
        let recv = |bytes| Action::Spend(costs.recv(bytes).ps());
        let combine = |list: ChunkList| {
            let words = costs.words(schedule.message_bytes(list));
            Action::Spend(costs.combine.ps().saturating_mul(words))
        };
        match step.op {
            Op::Send { to, chunks } => {
                let bytes = schedule.message_bytes(chunks);
                actions.push_back(Action::Spend(costs.send(bytes).ps()));
                actions.extend(injects(to, bytes));
            }
            Op::Multicast { chunks, .. } => {
                let bytes = schedule.message_bytes(chunks);
                for half in schedule.branches(step) {
                    actions.push_back(Action::Spend(costs.send(bytes).ps()));
                    actions.extend(injects(half.to, bytes));
                }
            }
            Op::Local { source, .. } => actions.push_back(combine(source)),
            Op::Recv { from, chunks, .. } | Op::RecvMulticast { from, chunks, .. } => {
                let bytes = schedule.message_bytes(chunks);
                actions.extend(takes(from, bytes));
                actions.push_back(recv(bytes));
            }
            Op::Exchange {
                to,
                send,
                from,
                recv: arriving,
                ..
            } => {
                let (sent, received) = (
                    schedule.message_bytes(send),
                    schedule.message_bytes(arriving),
                );
                actions.push_back(Action::Spend(costs.send(sent).ps()));
                let mut incoming = takes(from, received);
                for inject in injects(to, sent) {
                    actions.push_back(inject);
                    actions.extend(incoming.next());
                }
                actions.extend(incoming);
                actions.push_back(recv(received));
            }
            Op::Forward {
                from,
                to,
                chunks,
                arrival,
            } => {
                // As if nothing went on before all has come.
                let bytes = schedule.message_bytes(chunks);
                actions.extend(takes(from, bytes));
                actions.push_back(recv(bytes));
                if arrival != Arrival::Store {
                    actions.push_back(combine(chunks));
                }
                actions.push_back(Action::Spend(costs.send(bytes).ps()));
                actions.extend(injects(to, bytes));
                return actions;
            }
        }
        if let Some(half) = step.recv_half()
            && half.arrival != Arrival::Store
        {
            actions.push_back(combine(half.chunks));
        }
        actions
    }
}
