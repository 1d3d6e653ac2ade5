// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbolic execution: every stream in program order, messages in order per connection.
//!
//! The protocol is that of the message passing hardware (Park 2019, Figure 7): a receiver grants
//! its message, a `Forward` grants upstream only when it has been granted downstream, a sender
//! delivers when granted, a multicast when every receiver has granted. With `slots` messages per
//! connection a sender needs no grant while there is room. Which contents arrive does not depend on
//! the order of execution unless streams race (`races`), so one run decides for all; and what can
//! happen stays possible, so whether anything is stuck at the end does not depend on it either.

use std::collections::BTreeMap;

use super::holdings::{Content, Holdings};
use super::matching::{Matching, NONE};
use super::violation::{At, Awaits, Collector, Violation, Waiting};
use crate::collective::Combine;
use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::schedule::{Arrival, ChunkList, Lanes, Op, Schedule, Step};

/// Result of [`run`].
#[derive(Default)]
pub(super) struct Outcome {
    /// Fewest slots per connection with which every step completes; `None` if no number is enough.
    pub slots_needed: Option<u32>,
    pub redundant_bytes: u64,
    /// The steps in the order in which they completed; only in a schedule with several streams that
    /// completes at all.
    pub order: Vec<u32>,
}

/// Executes under rendezvous and, if that deadlocks, with the fewest slots that are enough; then
/// checks the postcondition of the execution that came to the end. What keeps it from its end goes to
/// `found`, what it shows on its way and there to `shown`.
pub(super) fn run(
    schedule: &Schedule,
    matching: &Matching,
    found: &mut Collector,
    shown: &mut Collector,
) -> Outcome {
    let mut first_shown = Collector::default();
    let mut execution = Execution::new(schedule, matching, 0);
    execution.run(&mut first_shown);
    let Some(cycle) = execution.wait_cycle() else {
        shown.extend(first_shown);
        return execution.conclude(shown);
    };
    drop(execution);
    let Some(needed) = least_slots(schedule, matching) else {
        shown.extend(first_shown);
        found.push(Violation::Deadlock { cycle });
        return Outcome::default();
    };
    let given = schedule.slots();
    if needed > given {
        let stuck = match given {
            0 => Some(cycle),
            _ => Execution::completed(schedule, matching, given).wait_cycle(),
        };
        found.push(Violation::NeedsSlots {
            needed,
            given,
            cycle: stuck.expect("fewer slots are not enough"),
        });
    }
    let mut execution = Execution::new(schedule, matching, needed);
    execution.run(shown);
    execution.conclude(shown)
}

/// One thing that happens in an execution; steps are numbered through all ranks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The message of this step leaves for all its receivers.
    Put(u32),
    /// This step takes its message.
    Take(u32),
    /// This local step is done.
    Local(u32),
}

/// What happens in an execution with the fewest slots with which every step completes.
pub(super) fn events(schedule: &Schedule, matching: &Matching) -> Result<Vec<Event>, Violation> {
    let slots = slots_needed(schedule, matching)?;
    let mut execution = Execution::new(schedule, matching, slots);
    execution.events = Some(Vec::new());
    execution.run(&mut Collector::default());
    Ok(execution.events.unwrap_or_default())
}

/// The fewest slots with which every step completes.
pub(super) fn slots_needed(schedule: &Schedule, matching: &Matching) -> Result<u32, Violation> {
    match Execution::completed(schedule, matching, 0).wait_cycle() {
        None => Ok(0),
        Some(cycle) => least_slots(schedule, matching).ok_or(Violation::Deadlock { cycle }),
    }
}

/// Whether every step completes under rendezvous.
pub(super) fn completes(schedule: &Schedule, matching: &Matching) -> bool {
    Execution::completed(schedule, matching, 0)
        .wait_cycle()
        .is_none()
}

/// The fewest slots with which a schedule completes that does not without any: one more never hurts,
/// and more than a connection has messages are never used.
fn least_slots(schedule: &Schedule, matching: &Matching) -> Option<u32> {
    let is_enough = |slots| {
        let execution = Execution::completed(schedule, matching, slots);
        execution.wait_cycle().is_none()
    };
    let most = matching.messages.iter().copied().max().unwrap_or(0).max(1);
    let (mut too_few, mut enough) = (0, 1);
    while !is_enough(enough) {
        if enough >= most {
            return None;
        }
        too_few = enough;
        enough = enough.saturating_mul(2).min(most);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

/// Progress of one step.
#[derive(Clone, Copy, Default)]
struct Progress {
    granted: bool,
    sent: bool,
    received: bool,
}

struct Execution<'a> {
    schedule: &'a Schedule,
    matching: &'a Matching,
    lanes: Lanes<'a>,
    /// Messages that a connection holds; 0 = rendezvous.
    slots: u32,
    holdings: Holdings,
    /// Next step of every stream, numbered through all ranks.
    next: Vec<u32>,
    progress: Vec<Progress>,
    /// The message a stream is about to send, as it was when the stream came to the step.
    outgoing: Vec<Option<Message>>,
    /// The message in the slot of a receiving step.
    mail: Vec<Option<Message>>,
    /// Lists of messages that have been taken, for those to come.
    spare: Vec<Vec<Content>>,
    /// Messages in the slots of every connection.
    in_flight: Vec<u32>,
    /// Receivers of a multicast that have not granted it.
    ungranted: BTreeMap<u32, usize>,
    /// Streams that may be able to go on.
    work: Vec<u32>,
    order: Vec<u32>,
    /// What has happened, if somebody asks.
    events: Option<Vec<Event>>,
    redundant_bytes: u64,
}

/// A step that a stream is at: its rank, its index there, its number, its stream.
#[derive(Clone, Copy)]
struct Current<'a> {
    rank: Rank,
    index: usize,
    number: u32,
    lane: u32,
    step: &'a Step,
}

/// What a message carries.
#[derive(Clone)]
enum Message {
    /// The chunks of this list, where chunks are names.
    Named(ChunkList),
    Contents(Vec<Content>),
}

impl<'a> Execution<'a> {
    fn new(schedule: &'a Schedule, matching: &'a Matching, slots: u32) -> Self {
        let (lanes, steps) = (schedule.lanes(), schedule.steps_total());
        Self {
            schedule,
            matching,
            lanes,
            slots,
            holdings: Holdings::initial(schedule, matching.are_anywhere),
            next: lanes.first_step[..lanes.count()].to_vec(),
            progress: vec![Progress::default(); steps],
            outgoing: vec![None; lanes.count()],
            mail: vec![None; if slots == 0 { 0 } else { steps }],
            spare: Vec::new(),
            in_flight: vec![0; matching.messages.len()],
            ungranted: BTreeMap::new(),
            work: (0..lanes.count() as u32).collect(),
            order: Vec::new(),
            events: None,
            redundant_bytes: 0,
        }
    }

    /// An execution that went as far as it could.
    fn completed(schedule: &'a Schedule, matching: &'a Matching, slots: u32) -> Self {
        let mut execution = Self::new(schedule, matching, slots);
        execution.run(&mut Collector::default());
        execution
    }

    fn run(&mut self, found: &mut Collector) {
        while let Some(lane) = self.work.pop() {
            let rank = self.lanes.rank(lane);
            while self.advance(rank, lane, found) {}
        }
    }

    fn note(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// The step that a stream is at.
    fn current(&self, rank: Rank, lane: u32) -> Option<Current<'a>> {
        let number = self.next[lane as usize];
        (number < self.lanes.first_step[lane as usize + 1]).then(|| {
            let (index, step) = self.locate(rank, number);
            Current {
                rank,
                index,
                number,
                lane,
                step,
            }
        })
    }

    /// Rank-local index and definition of a numbered step.
    fn locate(&self, rank: Rank, number: u32) -> (usize, &'a Step) {
        let index = (number - self.schedule.first_steps()[rank.index()]) as usize;
        (index, &self.schedule.steps(rank)[index])
    }

    fn is_complete(&self, rank: Rank, number: u32) -> bool {
        self.next[self.lanes.at(rank, number) as usize] > number
    }

    /// The step of its rank that a step still waits for.
    fn awaited(&self, rank: Rank, number: u32) -> Option<u32> {
        let mut waits = self.lanes.waits(number);
        waits.find(|&on| !self.is_complete(rank, on))
    }

    /// Does what the current step of a stream can do; returns whether the step is complete.
    fn advance(&mut self, rank: Rank, lane: u32, found: &mut Collector) -> bool {
        let Some(at) = self.current(rank, lane) else {
            return false;
        };
        if self.awaited(rank, at.number).is_some() {
            return false;
        }
        self.skip_unmatched(&at);
        if at.step.recv_half().is_some() {
            self.try_receive(&at, found);
            self.try_grant(&at);
        }
        if let Op::Local {
            source,
            target,
            arrival,
        } = at.step.op
        {
            let message = self.collect(&at, source, found);
            self.put(&at, target, arrival, message, found);
            self.note(Event::Local(at.number));
        }
        let sends = at.step.send_half().is_some() || matches!(at.step.op, Op::Multicast { .. });
        if sends && !self.progress[at.number as usize].sent {
            let waits_for_data = matches!(at.step.op, Op::Forward { .. })
                && !self.progress[at.number as usize].received;
            if !waits_for_data {
                if self.outgoing[lane as usize].is_none() {
                    let message = self.collect(&at, at.step.sent(), found);
                    self.outgoing[lane as usize] = Some(message);
                }
                self.try_send(&at, found);
            }
        }
        let progress = self.progress[at.number as usize];
        let done =
            (!sends || progress.sent) && (at.step.recv_half().is_none() || progress.received);
        if done {
            self.complete(&at);
        }
        done
    }

    fn complete(&mut self, at: &Current) {
        self.next[at.lane as usize] += 1;
        self.outgoing[at.lane as usize] = None;
        if self.schedule.has_streams() {
            self.order.push(at.number);
            let waiters = self.lanes.waiters(at.number);
            let waiters = waiters.map(|number| self.lanes.at(at.rank, number));
            self.work.extend(waiters);
        }
    }

    /// A half without a partner has been reported; the rest is still worth checking.
    fn skip_unmatched(&mut self, at: &Current) {
        let index = at.number as usize;
        let mut receivers = self.matching.receivers(at.number).iter();
        if receivers.all(|&receiver| receiver == NONE) {
            self.progress[index].sent = true;
        }
        if self.matching.sender_of[index] == NONE {
            self.progress[index].received = true;
        }
    }

    /// What the places of a list hold; what is missing is reported, and taken for what it should be.
    fn collect(&mut self, current: &Current, list: ChunkList, found: &mut Collector) -> Message {
        let mut contents = self.spare.pop().unwrap_or_default();
        let chunks = self.schedule.chunks(list).iter();
        let missing = |chunk| {
            let at = self.at(current, current.step.last_round());
            match current.step.op {
                Op::Local { .. } => Violation::ReadsUnheld { at, chunk },
                _ => Violation::SendsUnheld { at, chunk },
            }
        };
        let rank = current.rank;
        if self.holdings.are_names() {
            let missed = chunks.filter(|&&chunk| !self.holdings.holds(rank, chunk));
            missed.for_each(|&chunk| found.push(missing(chunk)));
            return Message::Named(list);
        }
        contents.extend(chunks.map(|&chunk| {
            self.holdings.content(rank, chunk).unwrap_or_else(|| {
                found.push(missing(chunk));
                Content::Whole(chunk)
            })
        }));
        Message::Contents(contents)
    }

    /// A step as violations name it, with this label.
    fn at(&self, current: &Current, round: RoundIdx) -> At {
        At {
            rank: current.rank,
            step: self.schedule.position(current.rank, current.index),
            round,
        }
    }

    /// Tells the sender that its message will be taken, once it will.
    fn try_grant(&mut self, at: &Current) {
        let forwards = matches!(at.step.op, Op::Forward { .. });
        let downstream = self.matching.receivers(at.number)[0];
        let may_grant = !forwards
            || downstream == NONE
            || self.slots > 0
            || self.progress[downstream as usize].granted;
        let progress = &mut self.progress[at.number as usize];
        let sender = self.matching.sender_of[at.number as usize];
        if !may_grant || progress.granted {
            return;
        }
        progress.granted = true;
        if sender == NONE {
            return;
        }
        if let [_, _, ..] = self.matching.receivers(sender) {
            let all = self.matching.receivers(sender).len();
            let left = self.ungranted.entry(sender).or_insert(all);
            *left -= 1;
            if *left > 0 {
                return;
            }
        }
        let from = at.step.recv_half().expect("a receiving step").from;
        self.work.push(self.lanes.at(from, sender));
    }

    fn try_send(&mut self, at: &Current, found: &mut Collector) {
        let matching = self.matching;
        let receivers = matching.receivers(at.number);
        let connection = |receiver: &u32| matching.connection_of[*receiver as usize] as usize;
        let is_free = |receiver: &u32| match self.slots {
            0 => self.progress[*receiver as usize].granted,
            slots => self.in_flight[connection(receiver)] < slots,
        };
        if !receivers.iter().all(is_free) {
            return;
        }
        let message = self.outgoing[at.lane as usize].take();
        let mut message = Some(message.expect("taken when the stream came to the step"));
        self.progress[at.number as usize].sent = true;
        self.note(Event::Put(at.number));
        let single = at.step.send_half().map(|half| half.to);
        for (place, receiver) in receivers.iter().enumerate() {
            let to = single.unwrap_or_else(|| self.schedule.rank_of(*receiver));
            let message = match place + 1 == receivers.len() {
                true => message.take(),
                false => message.clone(),
            };
            if self.slots > 0 {
                self.in_flight[connection(receiver)] += 1;
                self.mail[*receiver as usize] = message;
            } else if let Some(message) = message {
                self.deliver(to, *receiver, message, found);
            }
            self.work.push(self.lanes.at(to, *receiver));
        }
    }

    /// Takes a message out of its slot.
    fn try_receive(&mut self, at: &Current, found: &mut Collector) {
        let mail = self.mail.get_mut(at.number as usize);
        let Some(message) = mail.and_then(Option::take) else {
            return;
        };
        let sender = self.matching.sender_of[at.number as usize];
        let connection = self.matching.connection_of[at.number as usize];
        self.in_flight[connection as usize] -= 1;
        if let Op::Exchange { send, .. } = at.step.op
            && self.outgoing[at.lane as usize].is_none()
            && !self.progress[at.number as usize].sent
        {
            // The outgoing message holds the values from before this step.
            let outgoing = self.collect(at, send, found);
            self.outgoing[at.lane as usize] = Some(outgoing);
        }
        self.deliver(at.rank, at.number, message, found);
        let from = at.step.recv_half().expect("a receiving step").from;
        self.work.push(self.lanes.at(from, sender));
    }

    /// Hands a message to the step that receives it.
    fn deliver(&mut self, rank: Rank, number: u32, message: Message, found: &mut Collector) {
        let (index, step) = self.locate(rank, number);
        let half = step.recv_half().expect("matched to a receiving step");
        let at = Current {
            rank,
            index,
            number,
            lane: self.lanes.at(rank, number),
            step,
        };
        self.put(&at, half.chunks, half.arrival, message, found);
        self.progress[number as usize].received = true;
        self.note(Event::Take(number));
    }

    /// Does with a message, or with what a local step has read, what the step says.
    fn put(
        &mut self,
        at: &Current,
        list: ChunkList,
        arrival: Arrival,
        message: Message,
        found: &mut Collector,
    ) {
        let chunks = self.schedule.chunks(list).iter();
        let mut passed_on = Vec::new();
        match message {
            Message::Named(sent) => {
                for (&chunk, &sent) in chunks.zip(self.schedule.chunks(sent)) {
                    let content = Content::Whole(sent);
                    passed_on.extend(self.put_one(at, chunk, arrival, content, found));
                }
            }
            Message::Contents(mut contents) => {
                for (&chunk, content) in chunks.zip(contents.drain(..)) {
                    passed_on.extend(self.put_one(at, chunk, arrival, content, found));
                }
                self.spare.push(contents);
            }
        }
        if arrival == Arrival::PassOn {
            self.outgoing[at.lane as usize] = Some(Message::Contents(passed_on));
        }
    }

    /// The same for one place; returns what is passed on instead of being kept.
    fn put_one(
        &mut self,
        at: &Current,
        chunk: ChunkId,
        arrival: Arrival,
        content: Content,
        found: &mut Collector,
    ) -> Option<Content> {
        if arrival == Arrival::Store {
            if at.step.recv_half().is_some() && self.holdings.is_known(at.rank, chunk, &content) {
                self.redundant_bytes += self.schedule.chunk_bytes(chunk);
            }
            self.holdings.store(at.rank, chunk, content);
            return None;
        }
        let combined = self.combine(at, chunk, &content, found);
        if arrival == Arrival::PassOn {
            return Some(combined.unwrap_or(content));
        }
        if let Some(combined) = combined {
            self.holdings.store(at.rank, chunk, combined);
        }
        None
    }

    /// What comes of combining contents with those of a place.
    fn combine(
        &self,
        current: &Current,
        chunk: ChunkId,
        arrived: &Content,
        found: &mut Collector,
    ) -> Option<Content> {
        let at = self.at(current, current.step.round);
        let (arrives, arrived) = match (arrived, self.schedule.spec().collective().combine()) {
            (Content::Partial(arrives, arrived), how) if how != Combine::Nothing => {
                (*arrives, arrived)
            }
            _ => {
                found.push(Violation::ReducesUnreducible { at, chunk });
                return None;
            }
        };
        let Some(Content::Partial(holds, held)) = self.holdings.content(current.rank, chunk) else {
            found.push(Violation::ReducesUnheld { at, chunk });
            return None;
        };
        if holds != arrives {
            found.push(Violation::ReducesOther {
                at,
                chunk,
                holds,
                arrives,
            });
        }
        let (union, twice) = held.union(arrived);
        let is_exact = self.schedule.spec().collective().combine() == Combine::ExactlyOnce;
        if let Some(contribution) = twice.filter(|_| is_exact) {
            found.push(Violation::ReducedTwice {
                at,
                chunk,
                contribution: Rank(contribution),
            });
        }
        Some(Content::Partial(holds, union))
    }

    /// What the current step of a stream waits for, and the stream that has to act.
    fn waits_for(&self, lane: u32) -> Option<(Waiting, u32)> {
        let rank = self.lanes.rank(lane);
        let at = self.current(rank, lane)?;
        let progress = self.progress[at.number as usize];
        let waiting = |peer, awaits| Waiting {
            rank,
            step: self.schedule.position(rank, at.index),
            round: at.step.round,
            peer,
            awaits,
        };
        if let Some(on) = self.awaited(rank, at.number) {
            let (index, _) = self.locate(rank, on);
            let awaits = Awaits::Step(self.schedule.position(rank, index));
            return Some((waiting(rank, awaits), self.lanes.at(rank, on)));
        }
        let receivers = self.matching.receivers(at.number).iter();
        let mut receivers = receivers.filter(|&&receiver| receiver != NONE);
        let refuses = receivers
            .clone()
            .find(|&&step| !self.progress[step as usize].granted);
        let receiver = refuses.or(receivers.next()).filter(|_| !progress.sent);
        let send = receiver.map(|&receiver| {
            let peer = self.schedule.rank_of(receiver);
            (waiting(peer, Awaits::Send), self.lanes.at(peer, receiver))
        });
        let sender = self.matching.sender_of[at.number as usize];
        let recv = at.step.recv_half().filter(|_| !progress.received);
        let recv = recv.map(|half| {
            (
                waiting(half.from, Awaits::Recv),
                self.lanes.at(half.from, sender),
            )
        });
        match (send, recv) {
            // A Forward that could not grant waits downstream; one that did waits upstream.
            (Some(send), Some(recv)) => Some(if progress.granted {
                match at.step.op {
                    Op::Exchange { .. } if refuses.is_some() => send,
                    _ => recv,
                }
            } else {
                send
            }),
            (send, recv) => send.or(recv),
        }
    }

    /// A cycle of streams that wait for each other, if any is stuck.
    fn wait_cycle(&self) -> Option<Vec<Waiting>> {
        let lanes = 0..self.lanes.count() as u32;
        let mut next = lanes
            .into_iter()
            .find(|&lane| self.waits_for(lane).is_some())?;
        let mut seen = vec![NONE; self.lanes.count()];
        let mut path: Vec<Waiting> = Vec::new();
        loop {
            let position = &mut seen[next as usize];
            if *position != NONE {
                return Some(path.split_off(*position as usize));
            }
            *position = path.len() as u32;
            // Where the one that has to act has finished, everything matches, so this is unreachable
            // for whole schedules, and for damaged ones the chain itself is the answer.
            let Some((waiting, on)) = self.waits_for(next) else {
                return Some(path);
            };
            path.push(waiting);
            next = on;
        }
    }

    /// Checks the postcondition.
    fn conclude(self, found: &mut Collector) -> Outcome {
        let spec = self.schedule.spec();
        let results = self.schedule.results();
        // Then nothing lies anywhere but in its own place.
        let are_names = self.holdings.are_names();
        for rank in self.schedule.all_ranks() {
            for chunk in spec.final_chunks(rank) {
                if are_names && self.holdings.holds(rank, chunk) {
                    continue;
                }
                let place = results.get(&chunk).copied().unwrap_or(chunk);
                let content = self.holdings.content(rank, place);
                let holds = content.as_ref().map(Content::chunk);
                if let Some(holds) = holds.filter(|&holds| holds != chunk) {
                    found.push(Violation::WrongChunk { rank, chunk, holds });
                    continue;
                }
                match content {
                    None => found.push(Violation::MissingChunk { rank, chunk }),
                    Some(Content::Partial(_, set)) => {
                        if let Some(missing) = set.first_missing(spec.ranks()) {
                            let contribution = Rank(missing);
                            found.push(Violation::MissingContribution {
                                rank,
                                chunk,
                                contribution,
                            });
                        }
                    }
                    Some(Content::Whole(_)) => {}
                }
            }
        }
        Outcome {
            slots_needed: Some(self.slots),
            redundant_bytes: self.redundant_bytes,
            order: self.order,
        }
    }
}
