// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the labels of rounds agree with what depends on what.
//!
//! Rounds are counted and contention is looked for round by round, which means something only if a
//! schedule can be carried out round after round. It can if these rules hold at every rank:
//!
//! * *Rounds never fall* along a stream, neither from step to step nor from send to send: a step
//!   begins when the one before it is done. Nor do they fall from a step to one that waits for it.
//! * *Data are sent on in a later round* than the one in which they arrived. They depend on an
//!   arrival if the rank did not hold them before, or if it combines what arrives with what it
//!   holds; what it receives once more and held already is no reason to wait. The send of an
//!   [`Op::Forward`] is in the round after its receive by definition, even though it begins while the
//!   data still arrive. What was copied arrived when the original did, and what was combined when the
//!   later of both did: local steps take no round.
//!
//! Both ends of a message have one label, which [matching](super::matching) checks; so no message
//! is in a round before that of anything it depends on, whichever ranks that was at. Only where a
//! schedule needs slots may a message be received in a later round: it waits in one until then.
//!
//! ```text
//! rank 1    receives x in round 0, sends x in round 0    refused
//! rank 1    receives x in round 0, sends x in round 1    accepted
//! ```

use super::matching::Matching;
use super::violation::{At, Collector, Violation};
use crate::collective::Combine;
use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::schedule::{Arrival, Op, Schedule, Step};

/// Reports every label that breaks a rule, in a schedule whose chunks and ranks exist. Steps of ranks
/// with several streams are looked at in the order of `order`, in which they completed.
pub(super) fn check(
    schedule: &Schedule,
    matching: &Matching,
    order: &[u32],
    found: &mut Collector,
) {
    let mut arrivals = Arrivals {
        schedule,
        combines: schedule.spec().collective().combine() != Combine::Nothing,
        are_anywhere: matching.are_anywhere,
        latest: vec![NEVER; schedule.places_total() as usize],
    };
    let mut of_ranks = vec![
        Vec::new();
        if order.is_empty() {
            0
        } else {
            schedule.ranks() as usize
        }
    ];
    let firsts = schedule.first_steps();
    for &number in order {
        let rank = firsts.partition_point(|&first| first <= number) - 1;
        of_ranks[rank].push((number - firsts[rank]) as usize);
    }
    for rank in schedule.all_ranks() {
        check_order(schedule, rank, found);
        match of_ranks.get(rank.index()) {
            Some(order) => arrivals.check(rank, order.iter().copied(), found),
            None => arrivals.check(rank, 0..schedule.steps(rank).len(), found),
        }
    }
}

fn check_order(schedule: &Schedule, rank: Rank, found: &mut Collector) {
    let steps = schedule.steps(rank);
    for (range, _) in schedule.streams(rank) {
        let (mut of_step, mut of_send) = (RoundIdx(0), RoundIdx(0));
        for index in range {
            let step = &steps[index];
            for on in schedule.waits(rank, index).map(|on| &steps[on]) {
                of_step = of_step.max(on.round);
                of_send = of_send.max(on.send_half().map_or(RoundIdx(0), |half| half.round));
            }
            let send = match step.op {
                Op::Multicast { .. } => step.round,
                _ => step.send_half().map_or(of_send, |half| half.round),
            };
            let falls = if step.round < of_step {
                Some((step.round, of_step))
            } else {
                (send < of_send).then_some((send, of_send))
            };
            if let Some((round, before)) = falls {
                found.push(Violation::RoundFalls {
                    at: At {
                        rank,
                        step: schedule.position(rank, index),
                        round,
                    },
                    before,
                });
            }
            of_step = of_step.max(step.round);
            of_send = of_send.max(send);
        }
    }
}

/// Per place, the rank whose program is looked at and the latest round in which it got something
/// that its own sends of the place depend on.
struct Arrivals<'a> {
    schedule: &'a Schedule,
    combines: bool,
    are_anywhere: bool,
    latest: Vec<(Rank, RoundIdx)>,
}

/// Nothing has arrived.
const NEVER: (Rank, RoundIdx) = (Rank(u32::MAX), RoundIdx(0));

impl Arrivals<'_> {
    fn check(&mut self, rank: Rank, order: impl Iterator<Item = usize>, found: &mut Collector) {
        let schedule = self.schedule;
        for index in order {
            let step = &schedule.steps(rank)[index];
            self.check_sent(rank, index, step, found);
            if let Op::Local {
                source,
                target,
                arrival,
            } = step.op
            {
                let lists = [source, target].map(|list| schedule.chunks(list));
                // What is read was there before this step wrote anything.
                let read = lists[0].iter().map(|chunk| self.latest[chunk.index()]);
                let read: Vec<_> = read.collect();
                for (&target, source) in lists[1].iter().zip(read) {
                    let held = self.latest[target.index()];
                    let is_later = held.0 == rank && (source.0 != rank || source.1 <= held.1);
                    let keeps = arrival != Arrival::Store && is_later;
                    self.latest[target.index()] = if keeps { held } else { source };
                }
            }
            // What an exchange sends is what was held before it; a forward's label is a later one.
            let half = step.recv_half();
            if let Some(half) = half.filter(|half| half.arrival != Arrival::PassOn) {
                for &chunk in schedule.chunks(half.chunks) {
                    self.arrive(rank, chunk, half.round);
                }
            }
        }
    }

    fn check_sent(&self, rank: Rank, index: usize, step: &Step, found: &mut Collector) {
        let round = step.last_round();
        let early = self.schedule.chunks(step.sent()).iter().find_map(|&chunk| {
            let (of, arrives_in) = self.latest[chunk.index()];
            (of == rank && round <= arrives_in).then_some((chunk, arrives_in))
        });
        if let Some((chunk, arrives_in)) = early {
            found.push(Violation::SendsTooEarly {
                at: At {
                    rank,
                    step: self.schedule.position(rank, index),
                    round,
                },
                chunk,
                arrives_in,
            });
        }
    }

    fn arrive(&mut self, rank: Rank, chunk: ChunkId, round: RoundIdx) {
        let spec = self.schedule.spec();
        let latest = &mut self.latest[chunk.index()];
        let is_known = !self.combines
            && !self.are_anywhere
            && (latest.0 == rank || spec.holds_initially(rank, chunk));
        if !is_known {
            let before = if latest.0 == rank { latest.1 } else { round };
            *latest = (rank, before.max(round));
        }
    }
}
