// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear: every rank serves its peers in numeric order, 0 first.
//!
//! ```text
//! p = 4        round  0     1     2           3     4
//! swapping            0-1   0-2   0-3 1-2     1-3   2-3
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | 2 p - 3 (0 for one rank) | p (p - 1) | (p - 1) n bytes |
//!
//! The plain loop over peers of MPI libraries, with blocking operations: when two ranks reach each
//! other they swap both blocks at once, which also makes it free of deadlock. The pair (a, b) meets
//! in round a + b - 1; that all ranks begin with the same peers makes it twice as long as pairwise.
//! Source: the "basic linear" alltoall of MPI libraries; Thakur, Rabenseifner, Gropp 2005, section
//! 4.3, on why the order should be rotated instead.

use super::pair_list;
use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

/// For alltoall and alltoallv, which differ in block sizes alone.
pub(crate) struct Linear(pub Collective);

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.0
    }

    fn summary(&self) -> &'static str {
        "every rank swaps blocks with its peers in numeric order"
    }

    fn source(&self) -> &'static str {
        "basic linear; Thakur, Rabenseifner, Gropp 2005, section 4.3"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: (2 * p).saturating_sub(3),
            messages: p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let p = request.ranks;
        for round in 0..(2 * p).saturating_sub(3) {
            // The lower rank of a pair (low, high) with low + high = round + 1.
            let lowest = (round + 2).saturating_sub(p);
            let pairs = (lowest..=round / 2).map(|low| (Rank(low), Rank(round + 1 - low)));
            let mut messages = Vec::new();
            for (low, high) in pairs {
                messages.push((low, high, pair_list(&mut builder, low, high)));
                messages.push((high, low, pair_list(&mut builder, high, low)));
            }
            builder.exchange_round(round, Arrival::Store, messages);
        }
        builder.finish()
    }
}
