// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verifier against a second opinion, on damaged schedules.
//!
//! Every registered schedule is damaged in every way of [`damage`] at many sites. For each damaged
//! schedule [`oracle`] decides by brute force whether it still means what it should, and the
//! verifier must agree: it may neither miss damage nor refuse a schedule that damage left intact.

use crate::damage;
use crate::oracle;

use std::collections::BTreeMap;

use corecast_core::{Certificate, FullCrossbar, Rank, Request, Schedule, algorithm, verify};
use proptest::prelude::*;

/// Sites per schedule and kind of damage; more are sampled evenly.
const SITES_MAX: usize = 24;

/// Schedules of every algorithm that supports the request made for it.
fn schedules(ranks: u32) -> impl Iterator<Item = Schedule> {
    algorithm::all().filter_map(move |algorithm| {
        let collective = algorithm.collective();
        let mut request = Request::new(collective, ranks, 60);
        request.tuning.part_bytes = Some(20);
        if let Some(counts) = &request.counts {
            // Every third pair has nothing to say.
            let some = |pair| if pair % 3 == 1 { 0 } else { 60 };
            request.counts = Some((0..counts.len()).map(some).collect());
        }
        if collective.is_rooted() {
            request = request.with_root(Rank(1 % ranks));
        }
        algorithm::build(algorithm, &request).ok()
    })
}

/// What the oracle says, after checking that the verifier says the same.
fn agreed(schedule: &Schedule, kind: &str) -> Result<(), oracle::Broken> {
    let judged = oracle::judge(schedule);
    let certificate = verify(schedule, &FullCrossbar);
    check_slots(schedule, &certificate);
    let violations = certificate.violations;
    assert_eq!(
        judged.is_ok(),
        violations.is_empty(),
        "{kind}: the oracle says {judged:?}, the verifier {violations:?}\n{schedule}"
    );
    judged
}

/// The certificate of a schedule that is stuck without slots names the least number with which it is
/// not, or none if there is none. Unmatched messages are reported instead. Whether there are any is
/// counted here: the certificate lists only the first violations.
fn check_slots(schedule: &Schedule, certificate: &Certificate) {
    let enough = |slots: u32| oracle::completes_with_slots(schedule, slots as usize);
    if !oracle::is_matched(schedule) {
        return;
    }
    let agrees = match certificate.slots_needed {
        Some(0) => true, // judged with the contents
        Some(slots) => enough(slots) && (slots == 1 || !enough(slots - 1)),
        None => !enough(1 << 20),
    };
    assert!(agrees, "{:?}\n{schedule}", certificate.slots_needed);
}

#[test]
fn undamaged_schedules_are_sound_for_both() {
    for ranks in 1..=9 {
        let mut count = 0;
        for schedule in schedules(ranks) {
            assert_eq!(agreed(&schedule, "undamaged"), Ok(()), "{schedule}");
            count += 1;
        }
        assert!(count > 0, "no algorithm is registered");
    }
}

/// Every `n`-th site, so that at most [`SITES_MAX`] of those that exist are taken.
fn sites(kind: &damage::Kind, schedule: &Schedule) -> Vec<Schedule> {
    // No kind has more sites than steps and pairs of ranks together.
    let ranks = schedule.ranks() as usize;
    let sites = schedule.steps_total() + ranks * ranks;
    let damaged: Vec<Schedule> = (0..sites)
        .filter_map(|site| (kind.apply)(schedule, site))
        .collect();
    let stride = damaged.len().div_ceil(SITES_MAX).max(1);
    damaged.into_iter().step_by(stride).collect()
}

#[test]
fn the_verifier_and_the_oracle_agree_on_damaged_schedules() {
    assert!(damage::KINDS.len() >= 8);
    for kind in damage::KINDS {
        let mut reasons: BTreeMap<oracle::Broken, usize> = BTreeMap::new();
        let mut harmless = 0;
        for schedule in [5, 8].into_iter().flat_map(schedules) {
            for damaged in sites(kind, &schedule) {
                match agreed(&damaged, kind.name) {
                    Ok(()) => harmless += 1,
                    Err(reason) => *reasons.entry(reason).or_default() += 1,
                }
            }
        }
        let killed: usize = reasons.values().sum();
        println!(
            "{:32} killed {killed:5}, harmless {harmless:4}, {reasons:?}",
            kind.name
        );
        assert!(killed > 0, "{}: no damage was found", kind.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None, // proptest prints the smallest failing damage
        ..ProptestConfig::default()
    })]

    #[test]
    fn they_agree_on_schedules_damaged_several_times(
        ranks in 2..=6_u32,
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize), 1..4),
    ) {
        let candidates: Vec<_> = algorithm::all().collect();
        let algorithm = candidates[which.index(candidates.len())];
        let mut request = Request::new(algorithm.collective(), ranks, 60);
        request.tuning.part_bytes = Some(30);
        if let Ok(mut schedule) = algorithm::build(algorithm, &request) {
            for (kind, site) in &damages {
                let kind = &damage::KINDS[kind.index(damage::KINDS.len())];
                schedule = (kind.apply)(&schedule, *site).unwrap_or(schedule);
            }
            let _ = agreed(&schedule, "several");
        }
    }
}
