// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which step receives next over which connection.
//!
//! Receives are laid out by the rank that each expects its message from, in one pass that counts and
//! one that places them, because sorting the halves of a million messages takes longer than everything
//! that is done with them afterwards.

use super::matching::NONE;
use crate::ids::Rank;
use crate::schedule::{Schedule, Step};

/// A rank and the number of one of its steps.
pub(super) type Numbered = (Rank, u32);

/// All steps that receive: by the rank that each expects its message from, and of those from one rank
/// in order of receivers, channels and numbers.
pub(super) struct Expected {
    recvs: Vec<Numbered>,
    /// Those from rank `r` are `recvs[first[r]..first[r + 1]]`; what ranks that do not exist are to send
    /// lies behind all of them.
    first: Vec<u32>,
}

impl Expected {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let ranks = schedule.ranks() as usize;
        let place = |from: Rank| from.index().min(ranks);
        let mut first = vec![0_u32; ranks + 2];
        for rank in schedule.all_ranks() {
            for half in schedule.steps(rank).iter().filter_map(Step::recv_half) {
                first[place(half.from) + 1] += 1;
            }
        }
        let mut sum = 0;
        for first in &mut first {
            sum += *first;
            *first = sum;
        }
        let mut next = first.clone();
        let mut recvs = vec![(Rank(0), 0); sum as usize];
        let lanes = schedule.lanes();
        let mut of_rank = Vec::new();
        for rank in schedule.all_ranks() {
            of_rank.extend(lanes.of(rank));
            of_rank.sort_by_key(|&lane| lanes.channel(lane));
            for lane in of_rank.drain(..) {
                for (number, step) in lanes.numbers(lane).zip(schedule.steps_of(lane)) {
                    if let Some(half) = step.recv_half() {
                        let next = &mut next[place(half.from)];
                        recvs[*next as usize] = (rank, number);
                        *next += 1;
                    }
                }
            }
        }
        Self { recvs, first }
    }

    pub(super) fn from(&self, rank: Rank) -> &[Numbered] {
        let range = self.first[rank.index()]..self.first[rank.index() + 1];
        &self.recvs[range.start as usize..range.end as usize]
    }
}

/// The connections of one sender, one behind the other in order of receivers and channels.
pub(super) struct Connections<'a> {
    recvs: &'a [Numbered],
    list: Vec<Connection>,
    /// Per receiver, the first of its connections; [`NONE`] if it has none.
    first: Vec<u32>,
}

/// What is received over a connection and has no sender yet: a range of receives.
struct Connection {
    to: Rank,
    channel: u32,
    next: u32,
    end: u32,
}

impl<'a> Connections<'a> {
    pub(super) fn new(schedule: &Schedule) -> Self {
        Self {
            recvs: &[],
            list: Vec::new(),
            first: vec![NONE; schedule.ranks() as usize],
        }
    }

    /// Turns to those of another sender; returns how many there are.
    pub(super) fn open(&mut self, schedule: &Schedule, recvs: &'a [Numbered]) -> usize {
        for connection in self.list.drain(..) {
            self.first[connection.to.index()] = NONE;
        }
        self.recvs = recvs;
        let lanes = schedule.lanes();
        for (next, &(to, number)) in (0..).zip(recvs) {
            let channel = lanes.channel(lanes.at(to, number));
            match self.list.last_mut() {
                Some(last) if (last.to, last.channel) == (to, channel) => last.end += 1,
                _ => {
                    let first = &mut self.first[to.index()];
                    *first = (*first).min(self.list.len() as u32);
                    self.list.push(Connection {
                        to,
                        channel,
                        next,
                        end: next + 1,
                    });
                }
            }
        }
        self.list.len()
    }

    /// The next step that receives over a connection, and which connection that is.
    pub(super) fn take(&mut self, to: Rank, channel: u32) -> Option<(usize, u32)> {
        let first = *self.first.get(to.index())? as usize;
        let of_receiver = self.list.get_mut(first..)?.iter_mut();
        let mut of_receiver = of_receiver.take_while(|connection| connection.to == to);
        let index = first + of_receiver.position(|connection| connection.channel == channel)?;
        let connection = &mut self.list[index];
        let (_, number) = self.recvs[connection.next as usize..connection.end as usize].first()?;
        connection.next += 1;
        Some((index, *number))
    }

    /// What nobody has taken: the channel, and the step that receives.
    pub(super) fn left(&self) -> impl Iterator<Item = (u32, Numbered)> {
        self.list.iter().flat_map(|connection| {
            let left = &self.recvs[connection.next as usize..connection.end as usize];
            left.iter().map(|&recv| (connection.channel, recv))
        })
    }
}
