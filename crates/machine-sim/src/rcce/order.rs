// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which half of an exchange goes first where calls block.
//!
//! In a schedule neither half of an exchange waits for the other. A program whose calls block has to
//! choose, and the wrong choice hangs: the receiver of what it sends may come to that message only when
//! what it is to receive is out of the way. So the schedule is carried out beforehand, message by message
//! and without time, and the half that could end first goes first. Halves that could end together do so
//! along rows and circles of exchanges, where every other one sends first.

use std::ops::Range;

use corecast_core::verify::MessageEnds;
use corecast_core::{Op, Rank, Schedule};

/// No message, and no turn.
const NONE: u32 = u32::MAX;

/// Whether each exchange sends first, by the index of its step among those of all ranks. `first` is the
/// index of each rank's first step, and a step `is_coupled` if it passes on pieces of what still arrives.
pub(super) fn sends_first(
    schedule: &Schedule,
    first: &[usize],
    pairs: &[MessageEnds],
    is_coupled: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    let ops: Vec<Op> = steps.map(|step| step.op).collect();
    let is_forward = |step: usize| matches!(ops[step], Op::Forward { .. });
    let coupled = (0..ops.len()).map(|step| is_forward(step) && is_coupled(step));
    let mut ends = Ends::new(schedule, first, pairs, coupled.collect());
    ends.carry_out(schedule, is_forward);
    let is_exchange: Vec<bool> = ops
        .iter()
        .map(|op| matches!(op, Op::Exchange { .. }))
        .collect();
    let turns = |step: usize| (ends.turn_of(ends.sent(step)), ends.turn_of(ends.recv[step]));
    let is_tie = |step: &usize| is_exchange[*step] && turns(*step).0 == turns(*step).1;
    let mut sends_first: Vec<bool> = (0..is_exchange.len())
        .map(|step| is_exchange[step] && turns(step).0 < turns(step).1)
        .collect();
    // By the steps that receive, as messages are listed.
    let ties = pairs
        .iter()
        .map(|&[_, (rank, step)]| first[rank.index()] + step);
    let ties: Vec<usize> = ties.filter(is_tie).collect();
    let next = |step: usize| ends.receiver(step).filter(is_tie);
    let mut has_before = vec![false; is_exchange.len()];
    for after in ties.iter().filter_map(|&step| next(step)) {
        has_before[after] = true;
    }
    let mut is_done = vec![false; is_exchange.len()];
    let heads = ties.iter().filter(|&&step| !has_before[step]);
    for &start in heads.chain(&ties) {
        let (mut at, mut is_first) = (Some(start), true);
        while let Some(step) = at.filter(|&step| !is_done[step]) {
            sends_first[step] = is_first;
            is_done[step] = true;
            (at, is_first) = (next(step), !is_first);
        }
    }
    sends_first
}

/// The messages of a schedule by their steps, and when they ended.
struct Ends {
    /// Per message its sending and its receiving step, in order of the first.
    steps: Vec<[usize; 2]>,
    /// Per step the messages that it sends: where they begin, and one more.
    sends: Vec<u32>,
    /// Per step the message that it receives.
    recv: Vec<u32>,
    /// Per step its rank.
    rank: Vec<Rank>,
    /// Per step whether it passes on pieces of what still arrives.
    coupled: Vec<bool>,
    /// Per message in which turn it ended.
    turns: Vec<u32>,
}

impl Ends {
    fn new(
        schedule: &Schedule,
        first: &[usize],
        pairs: &[MessageEnds],
        coupled: Vec<bool>,
    ) -> Self {
        let index = |(rank, step): (Rank, usize)| first[rank.index()] + step;
        let mut steps: Vec<[usize; 2]> = pairs.iter().map(|&pair| pair.map(index)).collect();
        steps.sort_by_key(|&[send, _]| send);
        let total = schedule.steps_total();
        let (mut sends, mut recv) = (vec![0; total + 1], vec![NONE; total]);
        for (message, &[send, received]) in (0..).zip(&steps) {
            sends[send + 1] = message + 1;
            recv[received] = message;
        }
        for step in 0..total {
            sends[step + 1] = sends[step + 1].max(sends[step]);
        }
        let ranks = schedule.all_ranks();
        let rank = ranks.flat_map(|rank| schedule.steps(rank).iter().map(move |_| rank));
        Self {
            turns: vec![NONE; steps.len()],
            steps,
            sends,
            recv,
            rank: rank.collect(),
            coupled,
        }
    }

    /// The messages that a step sends.
    fn sent_by(&self, step: usize) -> Range<u32> {
        self.sends[step]..self.sends[step + 1]
    }

    /// The only message that a step sends.
    fn sent(&self, step: usize) -> u32 {
        self.sent_by(step).next().unwrap_or(NONE)
    }

    fn turn_of(&self, message: u32) -> u32 {
        match message {
            NONE => NONE,
            message => self.turns[message as usize],
        }
    }

    /// Where what a step sends ends, past those that pass on its pieces.
    fn receiver(&self, step: usize) -> Option<usize> {
        let mut message = self.sent(step);
        for _ in 0..=self.steps.len() {
            let &[_, to] = self.steps.get(message as usize)?;
            if !self.coupled[to] {
                return Some(to);
            }
            message = self.sent(to);
        }
        None // pieces that go round for ever
    }

    /// Carries the schedule out: in every turn all messages end whose steps are all begun.
    fn carry_out(&mut self, schedule: &Schedule, is_forward: impl Fn(usize) -> bool) {
        let mut end = 0;
        let ranks = schedule.all_ranks().map(|rank| {
            let start = end;
            end += schedule.steps(rank).len();
            (start, end)
        });
        // The step that each rank has begun, and the end of its steps.
        let mut at: Vec<(usize, usize)> = ranks.collect();
        let mut ending = Vec::new();
        for turn in 0.. {
            for (step, end) in &mut at {
                while *step < *end && self.is_over(*step) {
                    *step += 1;
                }
            }
            // A step of a rank that has ended is none of its steps.
            let is_begun = |step: usize| at[self.rank[step].index()].0 == step;
            for &(step, _) in at.iter().filter(|(step, end)| step < end) {
                let stores_first = is_forward(step) && self.turn_of(self.recv[step]) == NONE;
                if self.coupled[step] || stores_first {
                    continue;
                }
                let mut sent = self.sent_by(step);
                let Some(message) = sent.find(|&message| self.turn_of(message) == NONE) else {
                    continue;
                };
                let before = ending.len();
                if !self.can_end(message, &is_begun, &mut ending) {
                    ending.truncate(before);
                }
            }
            if ending.is_empty() {
                return;
            }
            for message in ending.drain(..) {
                self.turns[message as usize] = turn;
            }
        }
    }

    /// Whether everything that a step sends and receives has ended.
    fn is_over(&self, step: usize) -> bool {
        let has_come = self.recv[step] == NONE || self.turn_of(self.recv[step]) != NONE;
        has_come
            && self
                .sent_by(step)
                .all(|message| self.turn_of(message) != NONE)
    }

    /// Whether a message can end, together with those by which it is passed on; these are listed.
    fn can_end(
        &self,
        mut message: u32,
        is_begun: &impl Fn(usize) -> bool,
        ending: &mut Vec<u32>,
    ) -> bool {
        for _ in 0..=self.steps.len() {
            ending.push(message);
            let [_, to] = self.steps[message as usize];
            if !is_begun(to) {
                return false;
            }
            if !self.coupled[to] {
                return true;
            }
            message = self.sent(to);
            if message == NONE {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::{
        Arrival, ChunkId, Collective, Request, ScheduleBuilder, Spec, Split, verify,
    };

    use super::*;

    /// What a rank does: to whom, from whom.
    #[derive(Clone, Copy)]
    enum Do {
        Send(u32),
        Recv(u32),
        Exchange(u32, u32),
        Forward(u32, u32),
    }
    use Do::{Exchange, Forward, Recv, Send};

    /// Whether the only exchange sends first.
    fn sends_first(ranks: &[&[Do]], is_coupled: bool) -> bool {
        let request = Request::new(Collective::Bcast, ranks.len() as u32, 8);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
        let chunks = builder.list(&[ChunkId(0)]);
        let arrival = Arrival::Store;
        for (rank, steps) in (0..).map(Rank).zip(ranks) {
            for &step in *steps {
                let [to, from] = match step {
                    Send(other) | Recv(other) => [other; 2],
                    Exchange(to, from) | Forward(to, from) => [to, from],
                };
                let [to, from] = [to, from].map(Rank);
                let op = match step {
                    Send(_) => Op::Send { to, chunks },
                    Recv(_) => Op::Recv {
                        from,
                        chunks,
                        arrival,
                    },
                    Exchange(..) => Op::Exchange {
                        to,
                        send: chunks,
                        from,
                        recv: chunks,
                        arrival,
                    },
                    Forward(..) => Op::Forward {
                        from,
                        to,
                        chunks,
                        arrival,
                    },
                };
                builder.push(0, rank, op);
            }
        }
        let schedule = builder.finish();
        let mut first = vec![0];
        for rank in schedule.all_ranks() {
            first.push(first[rank.index()] + schedule.steps(rank).len());
        }
        let pairs = verify::messages(&schedule);
        let order = super::sends_first(&schedule, &first, &pairs, |_| is_coupled);
        let steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
        let mut exchanges = steps.zip(order);
        let is_exchange = |op| matches!(op, Op::Exchange { .. });
        let of_exchange = exchanges.find(|(step, _)| is_exchange(step.op));
        of_exchange.expect("there is one").1
    }

    /// Rank 1 takes what rank 0 exchanges at once if it stores it; if it passes on pieces, only with rank 2,
    /// which comes to that later than rank 0 receives.
    #[test]
    fn only_pieces_wait_for_who_gets_them() {
        let ranks: [&[Do]; 5] = [
            &[Exchange(1, 3)],
            &[Forward(2, 0)],
            &[Recv(3), Recv(4), Recv(1)],
            &[Send(2), Send(0)],
            &[Send(2)],
        ];
        assert!(sends_first(&ranks, false));
        assert!(!sends_first(&ranks, true));
    }

    /// Rank 1 has nothing to pass on to the exchange of rank 2 before rank 0 comes to it, later than rank 3
    /// takes what rank 2 sends.
    #[test]
    fn who_stores_what_it_forwards_receives_first() {
        let ranks: [&[Do]; 6] = [
            &[Send(5), Send(1)],
            &[Forward(2, 0)],
            &[Exchange(3, 1)],
            &[Recv(4), Recv(2)],
            &[Send(3)],
            &[Recv(0)],
        ];
        assert!(sends_first(&ranks, false));
    }
}
