// SPDX-License-Identifier: MIT OR Apache-2.0
//! Atomic pipelined broadcast: one synchronisation, then the message streams along the chain.
//!
//! ```text
//! p = 4, root 0        0: Send    1: Fwd    2: Fwd    3: Recv
//!                        0 =======> 1 =====> 2 =====> 3
//!               message in round  0        1        2      (they overlap in time)
//! ```
//!
//! | rounds | messages | synchronisations | root's port |
//! |---|---|---|---|
//! | p - 1 | p - 1 | 1 | n bytes |
//!
//! Rounds are labels: a `Forward` sends on the first piece while the next one arrives, so the time
//! is about n plus one piece per hop. The order is numeric with the root in front (3.2.1), and the
//! operation begins when every port is free. The piece size is the machine's word unless given.
//! Source: Park 2019, section 3.1, Figures 6 and 7, after Park, Yun, Moon 2014.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Launch, Op, Schedule, ScheduleBuilder};
use crate::spec::Spec;
use crate::status;

pub(crate) struct Ap;

impl Algorithm for Ap {
    fn name(&self) -> &'static str {
        "ap"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "atomic pipelined: one synchronisation, cut-through chain in numeric order"
    }

    fn source(&self) -> &'static str {
        "Park 2019, section 3.1; Park, Yun, Moon 2014"
    }

    fn cost(&self, request: &Request) -> Cost {
        stream_cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = stream(self.name(), request, &status::numeric_order(request));
        builder.set_launch(Launch::AtomicWhenFree);
        builder.finish()
    }
}

/// Cost of [`stream`].
pub(super) fn stream_cost(request: &Request) -> Cost {
    let others = u64::from(request.ranks) - 1;
    Cost {
        rounds: others,
        messages: others,
    }
}

/// The whole message through a chain: head `Send`, body `Forward`, tail `Recv`.
pub(super) fn stream(name: &str, request: &Request, order: &[Rank]) -> ScheduleBuilder {
    let mut builder = ScheduleBuilder::new(name, Spec::new(request, Split::Even(1)));
    builder.set_piece_bytes(request.tuning.piece_bytes);
    let chunks = builder.list(&[builder.spec().chunk(0, 0)]);
    if let [head, next, ..] = *order {
        builder.push(0, head, Op::Send { to: next, chunks });
    }
    for (round, window) in order.windows(3).enumerate() {
        let (from, to) = (window[0], window[2]);
        let arrival = Arrival::Store;
        let op = Op::Forward {
            from,
            to,
            chunks,
            arrival,
        };
        builder.push(round as u32, window[1], op);
    }
    if let [.., from, tail] = *order {
        let arrival = Arrival::Store;
        let op = Op::Recv {
            from,
            chunks,
            arrival,
        };
        builder.push(order.len() as u32 - 2, tail, op);
    }
    builder
}

/// As [`stream`], in the order of a status register of `bits` bits per rank, begun as soon as the
/// stream will find every rank free on arrival.
pub(super) fn stream_by_status(name: &str, request: &Request, bits: u32) -> Schedule {
    let order = status::order(request, bits);
    let mut hops = vec![0; order.len()];
    for (position, rank) in order.iter().enumerate() {
        hops[rank.index()] = position as u32;
    }
    let mut builder = stream(name, request, &order);
    builder.set_status_bits(bits);
    builder.set_launch(Launch::AtomicOnArrival { hops });
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_four_ranks_with_one_step_each() {
        let schedule = Ap.schedule(&Request::new(Collective::Bcast, 4, 64));
        assert_eq!(drawing(&schedule), ["0->1:0", "1->2:0", "2->3:0"]);
        assert!(
            schedule
                .all_ranks()
                .all(|rank| schedule.steps(rank).len() == 1)
        );
        assert_eq!(*schedule.launch(), Launch::AtomicWhenFree);
    }
}
