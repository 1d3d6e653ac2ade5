// SPDX-License-Identifier: MIT OR Apache-2.0
//! OC-Bcast: a tree of seven children per rank through shared buffers. A rank takes a part from its
//! parent's buffer into its own, where all its children read it.
//!
//! ```text
//! p = 9, root 0     rank 0: parts into its own buffer, told to 1..7
//!                   rank 1: out of the buffer of 0 into its own, told to 8
//! ```
//!
//! | rounds (p > 1, k parts) | messages |
//! |---|---|
//! | 7 (k - 1) + the rounds of one part | (p - 1) k |
//!
//! Rank m (counted from the root) has the children 7 m + 1 to 7 m + 7. While children read one half
//! of a buffer, the rank fills the other. Without shared buffers it is a tree of plain messages.
//! Source: Petrovic, Shahmirzadi, Ropars, Schiper 2012, High-performance RMA-based broadcast on the
//! Intel SCC, SPAA; seven children are their choice.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder, Transport};
use crate::spec::Spec;

/// Children of a rank.
const ARITY: u32 = 7;

pub(crate) struct OcBcast;

impl Algorithm for OcBcast {
    fn name(&self) -> &'static str {
        "oc-bcast"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "tree of seven children per rank, who read out of its shared buffer"
    }

    fn source(&self) -> &'static str {
        "Petrovic, Shahmirzadi, Ropars, Schiper 2012, SPAA"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = request.ranks;
        let parts = u64::from(spec(request).parts());
        Cost {
            rounds: match p {
                1 => 0,
                p => u64::from(ARITY) * (parts - 1) + first_rounds(p),
            },
            messages: u64::from(p - 1) * parts,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), spec(request));
        builder.set_transport(Transport::SharedBuffers);
        let p = request.ranks;
        let rank = |member: u32| {
            let sum = u64::from(request.root.0) + u64::from(member);
            Rank((sum % u64::from(p)) as u32)
        };
        for part in 0..builder.spec().parts() {
            let chunk = builder.spec().chunk(0, part);
            let list = builder.list(&[chunk]);
            for member in 0..p {
                for (index, child) in (0_u32..).zip(children(member, p)) {
                    let round = part * ARITY + depth_round(member) + index;
                    builder.deliver(round, rank(member), rank(child), list, Arrival::Store);
                }
            }
        }
        builder.finish()
    }
}

fn spec(request: &Request) -> Spec {
    let depth = f64::from(request.ranks).log(f64::from(ARITY)).ceil();
    Spec::new(request, request.split_shared(depth))
}

fn children(member: u32, p: u32) -> impl Iterator<Item = u32> {
    let first = u64::from(member) * u64::from(ARITY) + 1;
    let end = (first + u64::from(ARITY)).min(u64::from(p));
    (first..end).map(|child| child as u32) // below p
}

/// Round of the first message that a rank sends of the first part.
fn depth_round(mut member: u32) -> u32 {
    let mut round = 0;
    while member > 0 {
        round += (member - 1) % ARITY + 1;
        member = (member - 1) / ARITY;
    }
    round
}

/// Rounds of one part.
fn first_rounds(p: u32) -> u64 {
    // The last round is that of a rank of the last two levels, so of the last p of them.
    let last = (1..p).map(depth_round).max();
    u64::from(last.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_nine_ranks_and_one_part() {
        let mut request = Request::new(Collective::Bcast, 9, 8);
        request.tuning.part_bytes = Some(8);
        assert_eq!(
            drawing(&OcBcast.schedule(&request)),
            [
                "0->1:0",
                "0->2:0 1->8:0",
                "0->3:0",
                "0->4:0",
                "0->5:0",
                "0->6:0",
                "0->7:0",
            ]
        );
    }
}
