// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much can lie unread at a rank when nobody waits for permission to send.
//!
//! Without flow control a message may arrive as soon as its sender can have sent it. Suppose rank
//! `r` has completed `p` of its steps and does nothing more for a while. A message to `r` lies
//! unread then if its sender needs no more than `p` completed steps of `r`, directly or through
//! others, and `r` does not read it before step `p`. The largest sum over all `p` is what a queue
//! has to hold in the worst case, whatever the timing.
//!
//! How many steps of `r` a send needs follows from happened-before: a send needs the steps before
//! it in its own program, and a receive needs the send of its message (Lamport 1978; the vectors
//! are those of Mattern 1989).

use super::matching::{Matching, NONE};
use super::violation::Collector;
use crate::ids::Rank;
use crate::schedule::{Op, Schedule};

/// Most entries of all vectors together: 256 MiB.
const ENTRIES_MAX: u64 = 1 << 26;

/// The most that can lie unread at any rank without flow control, as the sum of `weight` over the
/// payload bytes of its messages; `None` if the schedule is not correct. Where the proof would need
/// more than 256 MiB, and where a rank has several streams, all that a rank receives stands in for
/// it, which is never less.
///
/// # Cost
/// Time and memory proportional to steps times ranks, with that limit.
#[must_use]
pub fn worst_queue(schedule: &Schedule, weight: &dyn Fn(u64) -> u64) -> Option<u64> {
    let mut found = Collector::default();
    if !super::structure::check(schedule, &mut found) {
        return None;
    }
    let matching = Matching::new(schedule, &mut found);
    if !found.is_empty() {
        return None;
    }
    let entries = schedule.steps_total() as u64 * u64::from(schedule.ranks());
    if entries > ENTRIES_MAX || schedule.has_streams() {
        return Some(everything(schedule, weight));
    }
    let needs = Needs::new(schedule, &matching)?;
    let worst = schedule.all_ranks().map(|rank| {
        let mut change = vec![0_i128; schedule.steps(rank).len() + 1];
        let first = schedule.first_steps()[rank.index()];
        for (index, step) in schedule.steps(rank).iter().enumerate() {
            if let Some(half) = step.recv_half() {
                let sender = matching.sender_of[first as usize + index];
                let earliest = needs.of(sender, rank) as usize;
                let amount = i128::from(weight(schedule.message_bytes(half.chunks)));
                change[earliest.min(index)] += amount;
                change[index + 1] -= amount; // read while step `index` is executed
            }
        }
        let mut unread = 0;
        let sums = change.into_iter().map(|amount| {
            unread += amount;
            unread
        });
        sums.max().unwrap_or(0)
    });
    let most = worst.max().unwrap_or(0);
    Some(u64::try_from(most).unwrap_or(u64::MAX))
}

/// The most that any rank receives at all: no queue ever holds more.
fn everything(schedule: &Schedule, weight: &dyn Fn(u64) -> u64) -> u64 {
    let received = schedule.all_ranks().map(|rank| {
        let steps = schedule.steps(rank).iter();
        let halves = steps.filter_map(|step| step.recv_half());
        let weights = halves.map(|half| weight(schedule.message_bytes(half.chunks)));
        weights.fold(0, u64::saturating_add)
    });
    received.max().unwrap_or(0)
}

/// Per step and rank: completed steps of the rank that the step's send needs.
struct Needs {
    ranks: usize,
    entries: Vec<u32>,
}

impl Needs {
    fn of(&self, step: u32, rank: Rank) -> u32 {
        self.entries[step as usize * self.ranks + rank.index()]
    }

    /// `None` if some step can never be executed.
    fn new(schedule: &Schedule, matching: &Matching) -> Option<Self> {
        let ranks = schedule.ranks() as usize;
        let total = schedule.steps_total();
        let mut needs = Self {
            ranks,
            entries: vec![0; total * ranks],
        };
        let mut known = vec![false; total];
        let mut next: Vec<u32> = schedule.first_steps()[..ranks].to_vec();
        // Per step that is not known yet: the rank that waits for it.
        let mut waiting: Vec<u32> = vec![NONE; total];
        let mut work: Vec<usize> = (0..ranks).collect();
        let mut done = 0;
        while let Some(rank) = work.pop() {
            while next[rank] < schedule.first_steps()[rank + 1] {
                let step = next[rank];
                if let Some(missing) = needs.fill(schedule, matching, &known, rank, step) {
                    waiting[missing as usize] = rank as u32;
                    break;
                }
                known[step as usize] = true;
                done += 1;
                next[rank] += 1;
                let waiter = std::mem::replace(&mut waiting[step as usize], NONE);
                if waiter != NONE {
                    work.push(waiter as usize);
                }
            }
        }
        (done == total).then_some(needs)
    }

    /// Computes the vector of a step, or names the step whose vector is missing.
    fn fill(
        &mut self,
        schedule: &Schedule,
        matching: &Matching,
        known: &[bool],
        rank: usize,
        step: u32,
    ) -> Option<u32> {
        let first = schedule.first_steps()[rank];
        let own = &schedule.steps(Rank(rank as u32))[(step - first) as usize];
        // The send of a Forward also needs its own receive; other sends need the steps before.
        let forwarded = matches!(own.op, Op::Forward { .. }).then_some(step);
        let before = (step > first).then(|| step - 1);
        let received = before.into_iter().chain(forwarded);
        let senders = received
            .map(|at| matching.sender_of[at as usize])
            .filter(|&sender| sender != NONE);
        let sources: Vec<u32> = before.into_iter().chain(senders).collect();
        if let Some(&missing) = sources.iter().find(|&&source| !known[source as usize]) {
            return Some(missing);
        }
        let row = step as usize * self.ranks;
        for source in sources {
            let from = source as usize * self.ranks;
            for index in 0..self.ranks {
                let needed = self.entries[from + index];
                let entry = &mut self.entries[row + index];
                *entry = (*entry).max(needed);
            }
        }
        self.entries[row + rank] = step - first;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Split};
    use crate::request::Request;
    use crate::schedule::ScheduleBuilder;
    use crate::spec::Spec;
    use crate::{algorithm, ids::ChunkId};

    fn queue(collective: Collective, name: &str, ranks: u32) -> u64 {
        let request = Request::new(collective, ranks, 10);
        let algorithm = algorithm::find(collective, name).expect("registered");
        let schedule = algorithm.schedule(&request);
        worst_queue(&schedule, &|bytes| bytes).expect("correct")
    }

    #[test]
    fn gathering_fills_the_root_and_a_chain_holds_one() {
        assert_eq!(
            queue(Collective::Gather, "linear", 8),
            70,
            "all may send at once"
        );
        assert_eq!(queue(Collective::Bcast, "chain", 8), 10);
        assert_eq!(queue(Collective::Bcast, "linear", 8), 10);
        assert_eq!(queue(Collective::Bcast, "ap", 8), 10);
    }

    #[test]
    fn a_ring_lets_neighbours_run_ahead_by_a_lap_at_most() {
        // The left neighbour needs what has gone around before it can send again.
        let unread = queue(Collective::Allgather, "ring", 5);
        assert!((10..=40).contains(&unread), "{unread}");
    }

    #[test]
    fn messages_add_up_until_they_are_read() {
        let request = Request::new(Collective::Bcast, 2, 30);
        let mut builder = ScheduleBuilder::new("parts", Spec::new(&request, Split::Even(3)));
        for part in 0..3 {
            builder.message(part, Rank(0), Rank(1), &[ChunkId(part)]);
        }
        let schedule = builder.finish();
        assert_eq!(worst_queue(&schedule, &|bytes| bytes), Some(30));
        assert_eq!(worst_queue(&schedule, &|_| 1), Some(3));
    }

    #[test]
    fn incorrect_schedules_have_no_proof() {
        let request = Request::new(Collective::Bcast, 4, 64);
        let algorithm = algorithm::find(Collective::Bcast, "binomial").expect("registered");
        let mut damaged = algorithm.schedule(&request).edit();
        damaged.steps_mut(Rank(3)).pop();
        assert_eq!(worst_queue(&damaged.finish(), &|bytes| bytes), None);
    }
}
