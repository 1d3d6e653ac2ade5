// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mapper against the optimum, on small random graphs.

use corecast_flow::place::{Sites, Traffic, cost, near, optimal};
use proptest::prelude::*;

fn mesh(width: u32, height: u32) -> Sites {
    let mut cores: Vec<(u32, u32)> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .collect();
    let memory = cores.pop().expect("a router");
    Sites { cores, memory }
}

fn traffic() -> impl Strategy<Value = Traffic> {
    (2_usize..=6).prop_flat_map(|tasks| {
        let pair = (0..tasks, 0..tasks, 1_u64..=16);
        let pairs = proptest::collection::vec(pair, 1..=10);
        let memory = proptest::collection::vec(0_u64..=8, tasks);
        (pairs, memory).prop_map(|(pairs, memory)| Traffic {
            between: pairs.into_iter().filter(|&(a, b, _)| a != b).collect(),
            memory,
        })
    })
}

/// How much worse than the optimum `near` may be: a twentieth.
fn is_near(found: u64, best: u64) -> bool {
    found * 20 <= best * 21
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn near_is_close_to_the_optimum(traffic in traffic(), seed in 0_u64..4) {
        let sites = mesh(3, 3);
        let cores = near(&traffic, &sites, seed);
        let found = cost(&traffic, &sites, &cores);
        let best = optimal(&traffic, &sites, 1_000_000, found).expect("small enough");
        prop_assert!(is_near(found, best), "{found} against {best}");
        let mut used = cores.clone();
        used.sort_unstable();
        used.dedup();
        prop_assert_eq!(used.len(), cores.len());
        prop_assert_eq!(&near(&traffic, &sites, seed), &cores, "the same seed, the same cores");
    }

    /// Without its bound the search is plain enumeration.
    #[test]
    fn the_optimum_is_that_of_enumeration(traffic in traffic()) {
        let sites = mesh(3, 2);
        if traffic.memory.len() <= sites.cores.len() {
            let mut best = u64::MAX;
            enumerate(&traffic, &sites, &mut Vec::new(), &mut best);
            prop_assert_eq!(optimal(&traffic, &sites, 1_000_000, u64::MAX), Some(best));
        }
    }
}

fn enumerate(traffic: &Traffic, sites: &Sites, cores: &mut Vec<u32>, best: &mut u64) {
    if cores.len() == traffic.memory.len() {
        *best = (*best).min(cost(traffic, sites, cores));
        return;
    }
    for core in 0..sites.cores.len() as u32 {
        if !cores.contains(&core) {
            cores.push(core);
            enumerate(traffic, sites, cores, best);
            cores.pop();
        }
    }
}

#[test]
fn a_chain_costs_a_hop_per_edge() {
    let between = (0..16).map(|task| (task, task + 1, 1)).collect();
    let memory = (0..17).map(|task| u64::from(task == 0)).collect();
    let traffic = Traffic { between, memory };
    let sites = mesh(4, 5);
    let cores = near(&traffic, &sites, 0);
    // 16 hops between tasks, and one to the memory buffer.
    assert_eq!(cost(&traffic, &sites, &cores), 17);
}
