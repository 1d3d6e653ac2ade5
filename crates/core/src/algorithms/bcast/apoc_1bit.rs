// SPDX-License-Identifier: MIT OR Apache-2.0
//! Atomic pipelined broadcast, order change by one status bit: free ranks before busy ones.
//!
//! ```text
//! p = 5, root 0, 1 and 2 busy     0 ===> 3 ===> 4 ===> 1 ===> 2
//!                                        free          busy
//! ```
//!
//! | rounds | messages | synchronisations | root's port |
//! |---|---|---|---|
//! | p - 1 | p - 1 | 1 | n bytes |
//!
//! The chain of `ap` in the order root, free ranks, busy ranks, numeric inside either group. It
//! begins before the busy ranks are free if they will be free when the stream reaches them; among
//! the busy the bit does not tell who is nearly done, which `apoc` improves.
//! Source: Park 2019, section 3.2.1, Figures 8, 9 and 11 ("initial technique").

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;

pub(crate) struct Apoc1Bit;

impl Algorithm for Apoc1Bit {
    fn name(&self) -> &'static str {
        "apoc-1bit"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "atomic pipelined, free ranks before busy ones (one status bit)"
    }

    fn source(&self) -> &'static str {
        "Park 2019, section 3.2.1"
    }

    fn cost(&self, request: &Request) -> Cost {
        super::ap::stream_cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        super::ap::stream_by_status(self.name(), request, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;
    use crate::schedule::Launch;

    #[test]
    fn drawn_for_five_ranks_of_which_two_are_busy() {
        let mut request = Request::new(Collective::Bcast, 5, 64);
        request.busy_bytes = vec![0, 2000, 1, 0, 0];
        request.tuning.status_bits = 2; // not read here
        let schedule = Apoc1Bit.schedule(&request);
        assert_eq!(drawing(&schedule), ["0->3:0", "3->4:0", "4->1:0", "1->2:0"]);
        assert_eq!(schedule.status_bits(), Some(1));
        let hops = vec![0, 3, 4, 1, 2];
        assert_eq!(*schedule.launch(), Launch::AtomicOnArrival { hops });
    }
}
