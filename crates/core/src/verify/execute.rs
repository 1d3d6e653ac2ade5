//! Symbolic execution in program order with per-pair queues.
//!
//! The protocol is that of the message passing hardware (Park 2019, Figure 7): a receiver grants
//! its message, a `Forward` grants upstream only when it has been granted downstream, a sender
//! delivers when granted. With `capacity` buffered messages per pair a sender needs no grant while
//! there is room. Which contents arrive does not depend on the order of execution, so one run
//! decides for all.

use super::Buffering;
use super::holdings::{Content, Holdings};
use super::matching::{Matching, NONE};
use super::violation::{Collector, Violation, Waiting};
use crate::collective::Combine;
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Arrival, ChunkList, Op, Schedule, Step};

/// Result of [`run`].
pub(super) struct Outcome {
    pub buffering: Buffering,
    pub redundant_bytes: u64,
}

/// Executes under rendezvous and, if that deadlocks, with growing buffers; then checks the
/// postcondition of the last execution that made progress to the end.
pub(super) fn run(schedule: &Schedule, matching: &Matching, found: &mut Collector) -> Outcome {
    let mut execution = Execution::new(schedule, matching, 0);
    execution.run(found);
    let Some(cycle) = execution.wait_cycle() else {
        return execution.conclude(Buffering::Rendezvous, found);
    };
    // One more message per pair than any pair ever sends is as good as an infinite buffer.
    let steps = schedule.steps_total() as u32;
    let mut capacity = 1;
    loop {
        let mut ignored = Collector::default();
        let mut buffered = Execution::new(schedule, matching, capacity);
        buffered.run(&mut ignored);
        if buffered.wait_cycle().is_none() {
            found.push(Violation::NeedsBuffering {
                messages_per_pair: capacity,
                cycle,
            });
            return buffered.conclude(Buffering::Messages(capacity), found);
        }
        if capacity >= steps {
            found.push(Violation::Deadlock { cycle });
            return Outcome {
                buffering: Buffering::Deadlock,
                redundant_bytes: 0,
            };
        }
        capacity = capacity.saturating_mul(2);
    }
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
    /// Messages a pair may buffer; 0 = rendezvous.
    capacity: u32,
    holdings: Holdings,
    /// Next step of every rank, numbered through all ranks.
    next: Vec<u32>,
    progress: Vec<Progress>,
    /// Contents of the message a rank is about to send, taken when it arrived at the step.
    outgoing: Vec<Option<Vec<Content>>>,
    /// Contents buffered for a receiving step.
    mail: Vec<Option<Vec<Content>>>,
    /// Messages buffered per pair.
    in_flight: Vec<u32>,
    work: Vec<Rank>,
    redundant_bytes: u64,
}

impl<'a> Execution<'a> {
    fn new(schedule: &'a Schedule, matching: &'a Matching, capacity: u32) -> Self {
        let (ranks, steps) = (schedule.ranks() as usize, schedule.steps_total());
        Self {
            schedule,
            matching,
            capacity,
            holdings: Holdings::initial(schedule.spec()),
            next: matching.first_step[..ranks].to_vec(),
            progress: vec![Progress::default(); steps],
            outgoing: vec![None; ranks],
            mail: vec![None; if capacity == 0 { 0 } else { steps }],
            in_flight: vec![0; matching.pairs as usize],
            work: schedule.all_ranks().collect(),
            redundant_bytes: 0,
        }
    }

    fn run(&mut self, found: &mut Collector) {
        while let Some(rank) = self.work.pop() {
            while self.advance(rank, found) {}
        }
    }

    /// The step a rank is at, with its rank-local index and number.
    fn current(&self, rank: Rank) -> Option<(usize, u32, Step)> {
        let number = self.next[rank.index()];
        let index = (number - self.matching.first_step[rank.index()]) as usize;
        self.schedule
            .steps(rank)
            .get(index)
            .map(|&step| (index, number, step))
    }

    /// Does what the current step of `rank` can do; returns whether the step is complete.
    fn advance(&mut self, rank: Rank, found: &mut Collector) -> bool {
        let Some((index, number, step)) = self.current(rank) else {
            return false;
        };
        self.skip_unmatched(number, &step);
        if let Some(half) = step.recv_half() {
            self.try_receive(rank, index, number, &step, found);
            let forwards = matches!(step.op, Op::Forward { .. });
            let downstream = self.matching.receiver_of[number as usize];
            let may_grant = !forwards
                || downstream == NONE
                || self.capacity > 0
                || self.progress[downstream as usize].granted;
            let progress = &mut self.progress[number as usize];
            if may_grant && !progress.granted {
                progress.granted = true;
                self.work.push(half.from);
            }
        }
        if let Some(half) = step.send_half()
            && !self.progress[number as usize].sent
        {
            let holds_data =
                !matches!(step.op, Op::Forward { .. }) || self.progress[number as usize].received;
            if holds_data && self.outgoing[rank.index()].is_none() {
                let round = half.round;
                let contents = self.collect(rank, index, half.chunks, |rank, step, chunk| {
                    found.push(Violation::SendsUnheld {
                        rank,
                        step,
                        round,
                        chunk,
                    });
                });
                self.outgoing[rank.index()] = Some(contents);
            }
            if holds_data {
                self.try_send(rank, number, half.to, found);
            }
        }
        let progress = self.progress[number as usize];
        let done = (step.send_half().is_none() || progress.sent)
            && (step.recv_half().is_none() || progress.received);
        if done {
            self.next[rank.index()] += 1;
            self.outgoing[rank.index()] = None;
        }
        done
    }

    /// A half without a partner has been reported; the rest is still worth checking.
    fn skip_unmatched(&mut self, number: u32, step: &Step) {
        let index = number as usize;
        if step.send_half().is_some() && self.matching.receiver_of[index] == NONE {
            self.progress[index].sent = true;
        }
        if step.recv_half().is_some() && self.matching.sender_of[index] == NONE {
            self.progress[index].received = true;
        }
    }

    fn collect(
        &self,
        rank: Rank,
        step: usize,
        chunks: ChunkList,
        mut missing: impl FnMut(Rank, usize, ChunkId),
    ) -> Vec<Content> {
        let contents = self.schedule.chunks(chunks).iter().map(|&chunk| {
            self.holdings.content(rank, chunk).unwrap_or_else(|| {
                missing(rank, step, chunk);
                Content::Whole
            })
        });
        contents.collect()
    }

    fn try_send(&mut self, rank: Rank, number: u32, to: Rank, found: &mut Collector) {
        let receiver = self.matching.receiver_of[number as usize];
        if self.capacity > 0 {
            let in_flight = &mut self.in_flight[self.matching.pair_of[number as usize] as usize];
            if *in_flight < self.capacity {
                *in_flight += 1;
                self.mail[receiver as usize] = self.outgoing[rank.index()].take();
                self.progress[number as usize].sent = true;
                self.work.push(to);
            }
        } else if self.progress[receiver as usize].granted {
            let contents = self.outgoing[rank.index()]
                .take()
                .expect("taken when it arrived");
            self.progress[number as usize].sent = true;
            let index = (receiver - self.matching.first_step[to.index()]) as usize;
            self.deliver(to, index, receiver, contents, found);
            self.work.push(to);
        }
    }

    /// Takes a buffered message out of the mail.
    fn try_receive(
        &mut self,
        rank: Rank,
        index: usize,
        number: u32,
        step: &Step,
        found: &mut Collector,
    ) {
        let Some(contents) = self.mail.get_mut(number as usize).and_then(Option::take) else {
            return;
        };
        let sender = self.matching.sender_of[number as usize];
        self.in_flight[self.matching.pair_of[sender as usize] as usize] -= 1;
        if let Op::Exchange { send, .. } = step.op
            && self.outgoing[rank.index()].is_none()
            && !self.progress[number as usize].sent
        {
            // The outgoing message holds the values from before this step.
            self.outgoing[rank.index()] = Some(self.collect(rank, index, send, |_, _, _| {}));
        }
        self.deliver(rank, index, number, contents, found);
        let from = step.recv_half().expect("a receiving step").from;
        self.work.push(from);
    }

    fn deliver(
        &mut self,
        rank: Rank,
        index: usize,
        number: u32,
        contents: Vec<Content>,
        found: &mut Collector,
    ) {
        let step = self.schedule.steps(rank)[index];
        let half = step.recv_half().expect("matched to a receiving step");
        for (&chunk, content) in self.schedule.chunks(half.chunks).iter().zip(contents) {
            match (half.arrival, content) {
                (Arrival::Store, content) => {
                    let known = matches!(content, Content::Whole)
                        && self.holdings.content(rank, chunk).is_some();
                    if known {
                        self.redundant_bytes += self.schedule.spec().chunk_bytes(chunk);
                    }
                    self.holdings.store(rank, chunk, content);
                }
                (Arrival::Reduce, Content::Partial(arrived)) => {
                    self.combine(rank, index, step, chunk, &arrived, found);
                }
                (Arrival::Reduce, Content::Whole) => found.push(Violation::ReducesUnreducible {
                    rank,
                    step: index,
                    round: step.round,
                    chunk,
                }),
            }
        }
        self.progress[number as usize].received = true;
    }

    fn combine(
        &mut self,
        rank: Rank,
        index: usize,
        step: Step,
        chunk: ChunkId,
        arrived: &super::contributions::Contributions,
        found: &mut Collector,
    ) {
        let Some(Content::Partial(held)) = self.holdings.content(rank, chunk) else {
            unreachable!("combining collectives hold a contribution for every chunk");
        };
        let (union, twice) = held.union(arrived);
        let exact = self.schedule.spec().collective().combine() == Combine::ExactlyOnce;
        if let Some(contribution) = twice.filter(|_| exact) {
            found.push(Violation::ReducedTwice {
                rank,
                step: index,
                round: step.round,
                chunk,
                contribution: Rank(contribution),
            });
        }
        self.holdings.store(rank, chunk, Content::Partial(union));
    }

    /// The peer that the current step of `rank` waits for.
    fn waits_for(&self, rank: Rank) -> Option<Waiting> {
        let (index, number, step) = self.current(rank)?;
        let progress = self.progress[number as usize];
        let waiting = |peer, sends| Waiting {
            rank,
            step: index,
            round: step.round,
            peer,
            sends,
        };
        let send = step.send_half().filter(|_| !progress.sent);
        let recv = step.recv_half().filter(|_| !progress.received);
        match (send, recv) {
            // A Forward that could not grant waits downstream; one that did waits upstream.
            (Some(send), Some(recv)) => Some(if progress.granted {
                match step.op {
                    Op::Exchange { .. } if !self.is_at_receive(number) => waiting(send.to, true),
                    _ => waiting(recv.from, false),
                }
            } else {
                waiting(send.to, true)
            }),
            (Some(send), None) => Some(waiting(send.to, true)),
            (None, Some(recv)) => Some(waiting(recv.from, false)),
            (None, None) => None,
        }
    }

    /// Whether the receiver of the message sent by step `number` has granted it.
    fn is_at_receive(&self, number: u32) -> bool {
        let receiver = self.matching.receiver_of[number as usize];
        receiver == NONE || self.progress[receiver as usize].granted
    }

    /// A cycle of ranks that wait for each other, if any rank is stuck.
    fn wait_cycle(&self) -> Option<Vec<Waiting>> {
        let start = self
            .schedule
            .all_ranks()
            .find_map(|rank| self.waits_for(rank))?;
        let mut seen = vec![NONE; self.schedule.ranks() as usize];
        let mut path: Vec<Waiting> = Vec::new();
        let mut waiting = start;
        loop {
            let position = &mut seen[waiting.rank.index()];
            if *position != NONE {
                return Some(path.split_off(*position as usize));
            }
            *position = path.len() as u32;
            path.push(waiting);
            match self.waits_for(waiting.peer) {
                Some(next) => waiting = next,
                // The peer has finished: everything matches, so this is unreachable for whole
                // schedules, and for damaged ones the chain itself is the answer.
                None => return Some(path),
            }
        }
    }

    /// Checks the postcondition.
    fn conclude(&self, buffering: Buffering, found: &mut Collector) -> Outcome {
        let spec = self.schedule.spec();
        for rank in self.schedule.all_ranks() {
            for chunk in spec.final_chunks(rank) {
                match self.holdings.content(rank, chunk) {
                    None => found.push(Violation::MissingChunk { rank, chunk }),
                    Some(Content::Partial(set)) => {
                        if let Some(missing) = set.first_missing(spec.ranks()) {
                            let contribution = Rank(missing);
                            found.push(Violation::MissingContribution {
                                rank,
                                chunk,
                                contribution,
                            });
                        }
                    }
                    Some(Content::Whole) => {}
                }
            }
        }
        Outcome {
            buffering,
            redundant_bytes: self.redundant_bytes,
        }
    }
}
