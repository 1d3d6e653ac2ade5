// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broadcast: the root's message reaches every rank.

use crate::algorithm::Algorithm;

mod ap;
mod apoc;
mod apoc_1bit;
mod binary;
mod binomial;
mod chain;
mod cube;
mod distance_mst;
mod dopl;
mod linear;
mod mst;
mod oc_bcast;
mod pipelined;
mod rotating_tree;
mod scoreboard;
mod static_route;
mod van_de_geijn;
mod van_de_geijn_modified;

pub use pipelined::optimal_parts;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear,
    &chain::Chain,
    &binary::Binary,
    &binomial::Binomial,
    &mst::Mst,
    &distance_mst::DistanceMst,
    &van_de_geijn::VanDeGeijn,
    &van_de_geijn_modified::VanDeGeijnModified,
    &pipelined::Pipelined,
    &ap::Ap,
    &apoc_1bit::Apoc1Bit,
    &apoc::Apoc,
    &scoreboard::Scoreboard,
    &static_route::StaticRoute,
    &cube::CUBE,
    &cube::PUBLISHED,
    &dopl::DOPL,
    &dopl::PUBLISHED,
    &oc_bcast::OcBcast,
    &rotating_tree::RotatingTree,
];

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::ALL;
    use crate::collective::Collective;
    use crate::ids::Rank;
    use crate::request::Request;
    use crate::routes::FullCrossbar;
    use crate::schedule::{Op, Schedule};
    use crate::verify::verify;

    /// One line per round: every message as `from->to:chunks`, by sender.
    pub(crate) fn drawing(schedule: &Schedule) -> Vec<String> {
        let mut rounds = vec![Vec::new(); schedule.rounds() as usize];
        for (from, _, half) in schedule.sends() {
            let chunks = schedule.chunks(half.chunks);
            let chunks: Vec<String> = chunks.iter().map(ToString::to_string).collect();
            let message = format!("{from}->{}:{}", half.to, chunks.join(","));
            rounds[half.round.index()].push(message);
        }
        rounds.iter().map(|messages| messages.join(" ")).collect()
    }

    /// Whether no rank sends two messages, or receives two, in one round; a multicast is one.
    fn is_one_ported(schedule: &Schedule) -> bool {
        let mut used = BTreeSet::new();
        let mut multicasts = BTreeSet::new();
        let mut is_first = |from: Rank, step: usize| {
            let op = schedule.steps(from)[step].op;
            !matches!(op, Op::Multicast { .. }) || multicasts.insert((from, step))
        };
        let mut sends = schedule
            .sends()
            .filter(|&(from, step, _)| is_first(from, step));
        sends.all(|(from, _, half)| {
            used.insert((half.round, from, "out")) && used.insert((half.round, half.to, "in"))
        })
    }

    fn check(request: &Request) {
        request.check().expect("a valid request");
        for algorithm in ALL {
            let case = format!("{}, {request:?}", algorithm.name());
            let schedule = algorithm.schedule(request);
            let certificate = verify(&schedule, &FullCrossbar);
            assert!(
                certificate.is_correct(),
                "{:?}, {case}",
                certificate.violations
            );
            assert!(certificate.is_deadlock_free(), "{case}");
            let cost = algorithm.cost(request);
            assert_eq!(u64::from(certificate.rounds), cost.rounds, "{case}");
            assert_eq!(certificate.messages, cost.messages, "{case}");
            let is_multi_ported = certificate.most_per_port > 1;
            assert!(
                is_multi_ported || certificate.rounds >= certificate.bound_rounds,
                "{case}"
            );
            assert!(is_one_ported(&schedule), "{case}");
        }
    }

    #[test]
    fn every_algorithm_keeps_its_promise_and_its_cost() {
        assert!(!ALL.is_empty());
        for ranks in 1..=40 {
            for root in BTreeSet::from([0, 1, ranks / 2, ranks - 1]) {
                for bytes in [0, 1, 37, 4096] {
                    let mut request = Request::new(Collective::Bcast, ranks, bytes);
                    request.root = Rank(root.min(ranks - 1));
                    check(&request);
                    request.busy_bytes = (0..ranks).map(|r| u64::from(r * 397 % 5 * 300)).collect();
                    request.tuning.part_bytes = Some(100);
                    check(&request);
                }
            }
        }
    }
}
