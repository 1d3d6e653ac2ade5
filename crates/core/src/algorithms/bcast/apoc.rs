// SPDX-License-Identifier: MIT OR Apache-2.0
//! Atomic pipelined broadcast, order change: the busier a rank, the later its place in the chain.
//!
//! ```text
//! p = 8, root 5, status of ranks 0 to 7: 10 10 10 11 10 00 01 01
//!
//!        5 ===> 6 ===> 7 ===> 0 ===> 1 ===> 2 ===> 4 ===> 3
//!       root    01     01     10     10     10     10     11
//! ```
//!
//! | rounds | messages | synchronisations | root's port |
//! |---|---|---|---|
//! | p - 1 | p - 1 | 1 | n bytes |
//!
//! The chain of `ap` in the order of the status classes, numeric inside a class. The transfers a
//! rank is still busy with end while the stream is on its way to it, so they cost nothing if they
//! are short enough. Two bits per rank unless the tuning says otherwise.
//! Source: Park 2019, sections 3.2.2 to 3.3, Figures 12, 14 and 15.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;

pub(crate) struct Apoc;

impl Algorithm for Apoc {
    fn name(&self) -> &'static str {
        "apoc"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "atomic pipelined, the busier a rank the later its turn (n-bit status)"
    }

    fn source(&self) -> &'static str {
        "Park 2019, sections 3.2.2 to 3.3"
    }

    fn cost(&self, request: &Request) -> Cost {
        super::ap::stream_cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        super::ap::stream_by_status(self.name(), request, request.tuning.status_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;
    use crate::ids::Rank;
    use crate::schedule::{Launch, Op};

    #[test]
    fn parks_worked_example() {
        let mut request = Request::new(Collective::Bcast, 8, 64).with_root(Rank(5));
        request.busy_bytes = vec![600, 600, 600, 1500, 600, 0, 100, 100];
        let schedule = Apoc.schedule(&request);
        assert_eq!(
            drawing(&schedule),
            [
                "5->6:0", "6->7:0", "7->0:0", "0->1:0", "1->2:0", "2->4:0", "4->3:0"
            ]
        );
        let only_op = |rank| match schedule.steps(Rank(rank)) {
            [step] => step.op,
            steps => panic!("rank {rank} has {} steps", steps.len()),
        };
        let middle = only_op(2);
        assert!(matches!(
            middle,
            Op::Forward {
                from: Rank(1),
                to: Rank(4),
                ..
            }
        ));
        assert!(matches!(only_op(5), Op::Send { to: Rank(6), .. }));
        assert!(matches!(only_op(3), Op::Recv { from: Rank(4), .. }));
        assert_eq!(schedule.status_bits(), Some(2));
        let hops = vec![3, 4, 5, 7, 6, 0, 1, 2];
        assert_eq!(*schedule.launch(), Launch::AtomicOnArrival { hops });
    }
}
