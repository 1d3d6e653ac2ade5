// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distance minimum spanning tree: recursive halving in which the distance travelled halves too.
//!
//! ```text
//! p = 8, root 0        round 0   0 -----------> 4
//!                            1   0 ----> 2      4 ----> 6
//!                            2   0 -> 1  2 -> 3  4 -> 5  6 -> 7
//! ```
//!
//! | rounds | messages | root's port | hops in round k |
//! |---|---|---|---|
//! | ceil(log2 p) | p - 1 | ceil(log2 p) n bytes | at most ceil(p / 2^(k+1)) |
//!
//! The recursion is that of `mst`; the partner is the rank at the corresponding position of the
//! other half, half an interval away, where `mst` takes the mirror image up to a whole interval
//! away. With consecutive ranks on a linear array every message stays inside its interval, and the
//! intervals of one round are disjoint, so no link carries two messages of one round. (This much
//! holds for `mst` as well; `binomial` shares links.)
//! Source: Park 2019, sections 1 and 2.2, names the algorithm without a definition; halving the
//! distance is our reading of the name, the recursion is Barnett et al. 1994.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::pattern::Partner;
use crate::request::Request;
use crate::schedule::Schedule;

pub(crate) struct DistanceMst;

impl Algorithm for DistanceMst {
    fn name(&self) -> &'static str {
        "distance-mst"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "distance minimum spanning tree: recursive halving, half an interval away"
    }

    fn source(&self) -> &'static str {
        "Park 2019, section 2.2 (name only); Barnett et al. 1994 for the recursion"
    }

    fn cost(&self, request: &Request) -> Cost {
        super::mst::halving_cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        super::mst::halving(self.name(), request, Partner::Halfway)
    }
}

#[cfg(test)]
mod tests {
    use super::super::binomial::Binomial;
    use super::super::tests::drawing;
    use super::*;
    use crate::ids::Rank;
    use crate::routes::{LinkId, Routes};
    use crate::verify::verify;

    /// Rank `r` sits next to rank `r + 1`: link `2 r` leads up from it, link `2 r + 1` back down.
    struct LinearArray;

    impl Routes for LinearArray {
        fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
            (from.0..to.0).for_each(|r| visit(LinkId(2 * r)));
            (to.0..from.0).for_each(|r| visit(LinkId(2 * r + 1)));
        }
    }

    #[test]
    fn no_round_shares_a_link_of_a_linear_array() {
        for ranks in 1..=64_u32 {
            for root in (0..ranks).map(Rank) {
                let request = Request::new(Collective::Bcast, ranks, 64).with_root(root);
                let schedule = DistanceMst.schedule(&request);
                let certificate = verify(&schedule, &LinearArray);
                assert!(certificate.is_correct(), "{:?}", certificate.violations);
                assert!(certificate.is_contention_free(), "p {ranks}, root {root}");
                for (from, _, half) in schedule.sends() {
                    let hops_max = ranks.div_ceil(2 << half.round.0);
                    assert!(
                        from.0.abs_diff(half.to.0) <= hops_max,
                        "p {ranks}, root {root}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_check_sees_shared_links() {
        let schedule = Binomial.schedule(&Request::new(Collective::Bcast, 8, 64));
        assert!(!verify(&schedule, &LinearArray).is_contention_free());
    }

    #[test]
    fn drawn_for_eight_ranks() {
        assert_eq!(
            drawing(&DistanceMst.schedule(&Request::new(Collective::Bcast, 8, 64))),
            ["0->4:0", "0->2:0 4->6:0", "0->1:0 2->3:0 4->5:0 6->7:0"]
        );
    }
}
