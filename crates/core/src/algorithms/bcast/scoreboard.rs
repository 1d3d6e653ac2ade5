// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scoreboard: sequential sends in which free ranks are served before busy ones.
//!
//! ```text
//! p = 4, root 0, scoreboard 0110      round  0  1  2
//!                           0 -> 3 (free)    *
//!                           0 -> 1 (busy)       *
//!                           0 -> 2 (busy)          *
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | p - 1 | p - 1 | (p - 1) n bytes |
//!
//! The sends of `linear` in the order of a register with one bit per rank, numeric inside either
//! group: while the root serves the free ranks the others finish what they are busy with. Reading
//! the register costs one cycle.
//! Source: Chung 2011, section 3 and section 4.1, case 3.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;
use crate::status;

pub(crate) struct Scoreboard;

impl Algorithm for Scoreboard {
    fn name(&self) -> &'static str {
        "scoreboard"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "sequential tree: the root sends to the free ranks, then to the busy ones"
    }

    fn source(&self) -> &'static str {
        "Chung 2011, section 3"
    }

    fn cost(&self, request: &Request) -> Cost {
        super::linear::Linear.cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let order = status::order(request, 1);
        let mut builder = super::linear::sequential_sends(self.name(), request, &order);
        builder.set_status_bits(1);
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn chungs_case_3() {
        let mut request = Request::new(Collective::Bcast, 4, 64);
        request.busy_bytes = vec![0, 512, 512, 0];
        let schedule = Scoreboard.schedule(&request);
        assert_eq!(drawing(&schedule), ["0->3:0", "0->1:0", "0->2:0"]);
        assert_eq!(schedule.status_bits(), Some(1));
    }
}
