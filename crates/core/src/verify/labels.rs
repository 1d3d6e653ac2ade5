//! Whether the labels of rounds agree with what depends on what.
//!
//! Rounds are counted and contention is looked for round by round, which means something only if a
//! schedule can be carried out round after round. It can if these rules hold at every rank:
//!
//! * *Rounds never fall* along a program, neither from step to step nor from send to send: a step
//!   begins when the one before it is done.
//! * *Data are sent on in a later round* than the one in which they arrived. They depend on an
//!   arrival if the rank did not hold them before, or if it combines what arrives with what it
//!   holds; what it receives once more and held already is no reason to wait. The send of an
//!   [`Op::Forward`](crate::schedule::Op::Forward) is in the round after its receive by definition,
//!   even though it begins while the data still arrive.
//!
//! Both ends of a message have one label, which [matching](super::matching) checks; so no message
//! is in a round before that of anything it depends on, whichever ranks that was at.
//!
//! ```text
//! rank 1    receives x in round 0, sends x in round 0    refused
//! rank 1    receives x in round 0, sends x in round 1    accepted
//! ```

use super::violation::{Collector, Violation};
use crate::collective::Combine;
use crate::ids::{Rank, RoundIdx};
use crate::schedule::Schedule;

/// Reports every label that breaks a rule, in a schedule whose chunks and ranks exist.
pub(super) fn check(schedule: &Schedule, found: &mut Collector) {
    let mut arrivals = Arrivals {
        latest: vec![(Rank(u32::MAX), RoundIdx(0)); schedule.spec().chunks() as usize],
    };
    for rank in schedule.all_ranks() {
        check_order(schedule, rank, found);
        arrivals.check(schedule, rank, found);
    }
}

fn check_order(schedule: &Schedule, rank: Rank, found: &mut Collector) {
    let (mut of_step, mut of_send) = (RoundIdx(0), RoundIdx(0));
    for (index, step) in schedule.steps(rank).iter().enumerate() {
        let send = step.send_half().map_or(of_send, |half| half.round);
        let falls = if step.round < of_step {
            Some((step.round, of_step))
        } else {
            (send < of_send).then_some((send, of_send))
        };
        if let Some((round, before)) = falls {
            found.push(Violation::RoundFalls {
                rank,
                step: index,
                round,
                before,
            });
        }
        of_step = of_step.max(step.round);
        of_send = of_send.max(send);
    }
}

/// Per chunk, the rank whose program is looked at and the latest round in which it got something
/// that its own sends of the chunk depend on.
struct Arrivals {
    latest: Vec<(Rank, RoundIdx)>,
}

impl Arrivals {
    fn check(&mut self, schedule: &Schedule, rank: Rank, found: &mut Collector) {
        let spec = schedule.spec();
        let combines = spec.collective().combine() != Combine::Nothing;
        for (index, step) in schedule.steps(rank).iter().enumerate() {
            if let Some(half) = step.send_half() {
                let round = half.round;
                let early = schedule.chunks(half.chunks).iter().find_map(|&chunk| {
                    let (of, arrives_in) = self.latest[chunk.index()];
                    (of == rank && round <= arrives_in).then_some((chunk, arrives_in))
                });
                if let Some((chunk, arrives_in)) = early {
                    found.push(Violation::SendsTooEarly {
                        rank,
                        step: index,
                        round,
                        chunk,
                        arrives_in,
                    });
                }
            }
            // What an exchange sends is what was held before it; a forward's label is a later one.
            let Some(half) = step.recv_half() else {
                continue;
            };
            for &chunk in schedule.chunks(half.chunks) {
                let latest = &mut self.latest[chunk.index()];
                let is_known = !combines && (latest.0 == rank || spec.holds_initially(rank, chunk));
                if !is_known {
                    let before = if latest.0 == rank {
                        latest.1
                    } else {
                        half.round
                    };
                    *latest = (rank, before.max(half.round));
                }
            }
        }
    }
}
