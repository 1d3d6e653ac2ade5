// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modified van de Geijn: two halves that exchange the parts over many concurrent pairs.
//!
//! ```text
//! p = 5, root 0        halves {0 1 2} and {3 4}, parts 0 and 1
//!
//!   round 0   0 -> 1: part 1                                  scatter in the root's half
//!         1   0 -> 3: part 0    1 -> 4: part 1                across, all pairs at once
//!         2   0 -> 1: 0   1 -> 2: 1   3 -> 4: 0   4 -> 3: 1   ring in either half
//!         3   1 -> 2: 0   2 -> 0: 1
//! ```
//!
//! | rounds (p > 1) | messages | across the halves |
//! |---|---|---|
//! | ceil(log2 m) + 1 + ceil(p/2) - 1 | m p - 1 | n bytes in m messages, one round |
//!
//! The halves are ranks 0..ceil(p/2) and the others; there are m = floor(p/2) even parts, one per
//! pair of a rank of the root's half and one of the other. In a half of m + 1 ranks one rank starts
//! its ring without a part, and its turns are skipped. Empty parts still travel. Between the same
//! halves the ring of `van-de-geijn` has two messages at a time, in each of its p - 1 rounds.
//!
//! Source: Matsuda, Kudoh, Kodama, Takano, Ishikawa 2006, cited by Park 2019, section 1. Its text
//! was not at hand: from secondary descriptions we take that it is van de Geijn's algorithm for
//! two clusters joined by a fast long line, over which several pairs transfer at once. Ours are
//! the order (scatter, across, ring), the number of pairs (all) and the treatment of odd p.

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

use super::van_de_geijn::{collect, scatter};

pub(crate) struct VanDeGeijnModified;

impl Algorithm for VanDeGeijnModified {
    fn name(&self) -> &'static str {
        "van-de-geijn-modified"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "scatter in the root's half, all pairs across at once, then a ring in either half"
    }

    fn source(&self) -> &'static str {
        "Matsuda, Kudoh, Kodama, Takano, Ishikawa 2006 (after secondary descriptions)"
    }

    fn cost(&self, request: &Request) -> Cost {
        let (ranks, pairs) = (request.ranks, request.ranks / 2);
        if pairs == 0 {
            return Cost {
                rounds: 0,
                messages: 0,
            };
        }
        Cost {
            rounds: u64::from(log2_ceil(pairs)) + u64::from(ranks.div_ceil(2)),
            messages: u64::from(pairs) * u64::from(ranks) - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let (ranks, pairs) = (request.ranks, request.ranks / 2);
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(pairs)));
        if pairs == 0 {
            return builder.finish();
        }
        let middle = ranks.div_ceil(2);
        let mut home: Vec<Rank> = (0..middle).map(Rank).collect();
        let mut away: Vec<Rank> = (middle..ranks).map(Rank).collect();
        if request.root.0 >= middle {
            (home, away) = (away, home);
        }
        // The root takes part 0, so that the rank without a part is never the root.
        let root = (request.root.0 - home[0].0) as usize;
        home.rotate_left(root);
        scatter(&mut builder, &home[..pairs as usize], 0);
        let across = log2_ceil(pairs);
        for (part, (&from, &to)) in home.iter().zip(&away).enumerate() {
            let chunk = builder.spec().chunk(0, part as u32);
            builder.message(across, from, to, &[chunk]);
        }
        collect(&mut builder, across + 1, &home, pairs);
        collect(&mut builder, across + 1, &away, pairs);
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    fn drawn(ranks: u32, root: u32) -> Vec<String> {
        let request = Request::new(Collective::Bcast, ranks, 64).with_root(Rank(root));
        drawing(&VanDeGeijnModified.schedule(&request))
    }

    #[test]
    fn drawn_for_five_ranks() {
        let rings = ["0->1:0 1->2:1 3->4:0 4->3:1", "1->2:0 2->0:1"];
        let expected = ["0->1:1", "0->3:0 1->4:1", rings[0], rings[1]];
        assert_eq!(drawn(5, 0), expected);
    }

    #[test]
    fn a_root_at_the_end_of_the_larger_half_has_a_part() {
        assert_eq!(drawn(3, 1), ["1->2:0", "1->0:0"]);
        assert_eq!(drawn(3, 2), ["2->0:0", "0->1:0"]);
    }
}
