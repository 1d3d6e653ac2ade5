// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chain: the whole message goes from rank to rank, stored before it is passed on.
//!
//! ```text
//! p = 5, root 1        round  0     1     2     3
//!                      1 --> 0 --> 2 --> 3 --> 4
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | p - 1 | p - 1 | n bytes |
//!
//! The order is numeric with the root in front (Park 2019, 3.2.1). The message stays whole
//! whatever part size is asked for; cut into parts it is `pipelined`, cut through it is `ap`.
//! Source: Park 2019, section 2.2 with one part.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;
use crate::status;

pub(crate) struct Chain;

impl Algorithm for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "chain: every rank stores the whole message, then sends it to the next"
    }

    fn source(&self) -> &'static str {
        "Park 2019, section 2.2 with one part"
    }

    fn cost(&self, request: &Request) -> Cost {
        let others = u64::from(request.ranks) - 1;
        Cost {
            rounds: others,
            messages: others,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let order = status::numeric_order(request);
        for (round, pair) in order.windows(2).enumerate() {
            builder.message(round as u32, pair[0], pair[1], &[chunk]);
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;
    use crate::ids::Rank;

    #[test]
    fn drawn_for_five_ranks_and_root_1() {
        let mut request = Request::new(Collective::Bcast, 5, 64).with_root(Rank(1));
        request.tuning.part_bytes = Some(8);
        assert_eq!(
            drawing(&Chain.schedule(&request)),
            ["1->0:0", "0->2:0", "2->3:0", "3->4:0"]
        );
    }
}
