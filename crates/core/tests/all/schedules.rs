// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every registered algorithm, for all rank counts, is what it says it is: verified, free of
//! deadlock without buffers, as cheap as its closed form, and one-ported.

use std::collections::BTreeSet;

use corecast_core::random::GAMMA;
use corecast_core::{
    Algorithm, Collective, FullCrossbar, Op, Rank, Request, Schedule, algorithm, verify,
};
use proptest::prelude::*;

/// Rank counts beyond the gapless range: a power of two, one in between, one below a power.
const RANKS_LARGE: [u32; 3] = [64, 100, 127];

const BYTES: [u64; 5] = [0, 1, 5, 64, 1000];

/// A schedule that holds, with its rounds and messages.
type Known = Option<(Schedule, (u64, u64))>;

/// Checks one schedule, unless it is the one that is known; says everything needed to replay a failure.
fn check(algorithm: &dyn Algorithm, request: &Request, known: &mut Known) -> Result<(), String> {
    let problem = match algorithm::build(algorithm, request) {
        Ok(schedule) => problem_of(algorithm, request, schedule, known),
        Err(refused) => Some(refused.to_string()),
    };
    problem.map_or(Ok(()), |problem| {
        let name = algorithm.name();
        Err(format!(
            "{} {name}: {problem}\n{request:?}",
            request.collective
        ))
    })
}

fn problem_of(
    algorithm: &dyn Algorithm,
    request: &Request,
    schedule: Schedule,
    known: &mut Known,
) -> Option<String> {
    let done = match known {
        Some((same, done)) if *same == schedule => *done,
        _ => {
            let done = match proved(algorithm, &schedule) {
                Ok(done) => done,
                Err(problem) => return Some(problem),
            };
            *known = Some((schedule, done));
            done
        }
    };
    let cost = algorithm.cost(request);
    ((cost.rounds, cost.messages) != done)
        .then(|| format!("{cost:?}, but (rounds, messages) = {done:?}"))
}

/// Rounds and messages of a schedule that holds.
fn proved(algorithm: &dyn Algorithm, schedule: &Schedule) -> Result<(u64, u64), String> {
    let certificate = verify(schedule, &FullCrossbar);
    if !certificate.is_correct() || !certificate.is_deadlock_free() {
        return Err(format!("{:?}\n{schedule}", certificate.violations));
    }
    // The bound is for one port; a multicast that is a message to each receiver has many.
    if certificate.most_per_port <= 1 && certificate.rounds < certificate.bound_rounds {
        let (rounds, bound) = (certificate.rounds, certificate.bound_rounds);
        return Err(format!("{rounds} rounds beat the bound of {bound}"));
    }
    if schedule.algorithm() != algorithm.name() {
        return Err(format!("the schedule is called {}", schedule.algorithm()));
    }
    match busy_port(schedule) {
        Some(port) => Err(format!("not one-ported: {port}\n{schedule}")),
        None => Ok((u64::from(certificate.rounds), certificate.messages)),
    }
}

/// A rank that sends or receives twice in one round; a multicast is one send.
fn busy_port(schedule: &Schedule) -> Option<String> {
    for rank in schedule.all_ranks() {
        let mut used = BTreeSet::new();
        for step in schedule.steps(rank) {
            let multicasts = matches!(step.op, Op::Multicast { .. });
            let sends =
                (multicasts || step.send_half().is_some()).then(|| ("sends", step.last_round()));
            let receives = step.recv_half().map(|half| ("receives", half.round));
            for (verb, round) in sends.into_iter().chain(receives) {
                if !used.insert((verb, round)) {
                    return Some(format!("rank {rank} {verb} twice in round {round}"));
                }
            }
        }
    }
    None
}

/// Root 0, the middle, the last; for collectives without a root it must not matter.
fn roots(collective: Collective, ranks: u32) -> Vec<Rank> {
    let mut roots = vec![0, ranks / 2, ranks - 1];
    if !collective.is_rooted() {
        roots.truncate(1);
    }
    roots.dedup();
    roots.into_iter().map(Rank).collect()
}

fn requests(collective: Collective, ranks: u32, bytes: &[u64]) -> Vec<Request> {
    let mut requests = Vec::new();
    for root in roots(collective, ranks) {
        for &bytes in bytes {
            // Parts that divide nothing evenly, and parts as large as the whole.
            for part_bytes in [None, Some(7), Some(1000)] {
                let mut request = Request::new(collective, ranks, bytes).with_root(root);
                request.tuning.part_bytes = part_bytes;
                requests.push(request);
            }
        }
    }
    requests
}

fn check_all(ranks: impl Iterator<Item = u32> + Clone, bytes: &[u64]) {
    let mut checked = 0;
    for algorithm in algorithm::all() {
        // Most schedules do not ask how large parts may be.
        let mut known = None;
        for ranks in ranks.clone() {
            for request in requests(algorithm.collective(), ranks, bytes) {
                if algorithm.supports(&request).is_ok() {
                    check(algorithm, &request, &mut known)
                        .unwrap_or_else(|problem| panic!("{problem}"));
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 0, "no algorithm is registered");
}

#[test]
fn every_collective_has_an_algorithm_and_names_are_unique() {
    for collective in Collective::ALL {
        let names: Vec<&str> = algorithm::of(collective).map(|a| a.name()).collect();
        assert!(!names.is_empty(), "{collective} has no algorithm");
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len(), "{collective}: {names:?}");
        for algorithm in algorithm::of(collective) {
            assert_eq!(algorithm.collective(), collective, "{}", algorithm.name());
            assert!(!algorithm.summary().is_empty() && !algorithm.source().is_empty());
        }
    }
}

#[test]
fn every_algorithm_takes_one_rank_and_any_power_of_two() {
    for algorithm in algorithm::all() {
        for ranks in [1, 2, 8, 32] {
            let request = Request::new(algorithm.collective(), ranks, 64);
            assert!(algorithm.supports(&request).is_ok(), "{}", algorithm.name());
        }
        let needs = algorithm.requires();
        let refuses = (1..=33)
            .chain([1 << 12])
            .map(|ranks| Request::new(algorithm.collective(), ranks, 64))
            .any(|request| algorithm.supports(&request).is_err());
        assert_eq!(
            refuses,
            !needs.is_empty(),
            "{}: `{needs}`",
            algorithm.name()
        );
    }
}

#[test]
fn small_rank_counts_without_gaps() {
    check_all(1..=33, &BYTES);
}

#[test]
fn large_rank_counts() {
    check_all(RANKS_LARGE.into_iter(), &[1, 64]);
}

/// A request of any collective within the ranges that `Request::check` accepts.
fn any_request() -> impl Strategy<Value = Request> {
    let sizes = (0..10_usize, 1..=40_u32, any::<u32>(), 0..4000_u64);
    let shape = (
        0..4_u32,
        2..7_u32,
        1..=10_u32,
        prop::option::of(16..3000_u64),
    );
    let state = (any::<bool>(), any::<u64>(), any::<bool>());
    (sizes, shape, state).prop_map(|(sizes, shape, (busy, seed, even))| {
        let (collective, ranks, root, elements) = sizes;
        let (element_log2, arity, status_bits, part_bytes) = shape;
        let element_bytes = 1 << element_log2;
        let bytes = elements * u64::from(element_bytes);
        let collective = Collective::ALL[collective];
        let mut request = Request::new(collective, ranks, bytes).with_root(Rank(root % ranks));
        request.element_bytes = element_bytes;
        request.tuning.arity = arity;
        request.tuning.status_bits = status_bits;
        request.tuning.part_bytes = part_bytes;
        // Numbers that differ from rank to rank and from pair to pair; their values are of no
        // importance.
        let scattered = |index: u64| (seed ^ index.wrapping_mul(GAMMA)) % 2048;
        if busy {
            request.busy_bytes = (0..u64::from(ranks)).map(scattered).collect();
        }
        if !even && let Some(counts) = &request.counts {
            request.counts = Some((0..counts.len() as u64).map(scattered).collect());
        }
        request
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None, // proptest prints the smallest failing request
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_request_is_served_by_every_algorithm_that_supports_it(request in any_request()) {
        prop_assert!(request.check().is_ok());
        for algorithm in algorithm::of(request.collective) {
            if algorithm.supports(&request).is_ok() {
                check(algorithm, &request, &mut None).map_err(TestCaseError::fail)?;
            }
        }
    }
}
