// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams per rank: what is correct stays correct when its steps are dealt
//! out to streams, in every order in which they can be executed, and what is missing is noticed.

use crate::split;
use crate::world;

use corecast_core::random::SplitMix64;
use corecast_core::verify::Violation;
use corecast_core::{
    Arrival, Certificate, Collective, FullCrossbar, Op, Rank, Request, Schedule, ScheduleBuilder,
    Spec, Split, algorithm, in_one_stream, verify,
};
use proptest::prelude::*;
use split::{Deal, conflict, split};

/// A registered schedule in parts.
fn registered(which: usize, ranks: u32, parts: u64) -> Option<Schedule> {
    let candidates: Vec<_> = algorithm::all().collect();
    let algorithm = candidates[which % candidates.len()];
    let mut request = Request::new(algorithm.collective(), ranks, 8 * parts);
    request.tuning.part_bytes = Some(8);
    if let Some(counts) = &request.counts {
        request.counts = Some(vec![8 * parts; counts.len()].into());
    }
    algorithm::build(algorithm, &request).ok()
}

fn certified(schedule: &Schedule) -> Certificate {
    let certificate = verify(schedule, &FullCrossbar);
    assert_eq!(certificate.violations, [], "{schedule}");
    certificate
}

/// Whether two steps of a rank touch the same place, one of them to write, and nothing orders them:
/// neither streams nor waits nor messages, looked at pair by pair.
fn has_race(schedule: &Schedule) -> bool {
    let reach = world::reachable(schedule);
    schedule.all_ranks().any(|rank| {
        let steps = schedule.steps(rank);
        (0..steps.len()).any(|a| {
            (0..a).any(|b| {
                conflict(schedule, &steps[a], &steps[b])
                    && !reach.is_before((rank, a), (rank, b))
                    && !reach.is_before((rank, b), (rank, a))
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None, // proptest prints the smallest failing case
        ..ProptestConfig::default()
    })]

    /// The verifier agrees, whoever goes first agrees, and so does what comes of it in one stream.
    #[test]
    fn a_schedule_dealt_out_to_streams_stays_correct(
        which in any::<usize>(), ranks in 2..=6_u32, parts in 1..=3_u64, streams in 2..=4_u32,
        by_channel in any::<bool>(), seed in any::<u64>(),
    ) {
        let Some(schedule) = registered(which, ranks, parts) else { return Ok(()) };
        let deal = if by_channel { Deal::ByChannel } else { Deal::ByPeer };
        let streams = split(&schedule, deal, streams, seed);
        let (one, several) = (certified(&schedule), certified(&streams));
        prop_assert_eq!(several.slots_needed, Some(0));
        let sums = |c: &Certificate| (c.rounds, c.messages, c.payload_bytes, c.redundant_bytes);
        prop_assert_eq!(sums(&one), sums(&several));
        prop_assert!(!has_race(&streams));
        for slots in 1..3 {
            prop_assert_eq!(world::run(&streams, slots, &mut SplitMix64::new(seed)), Ok(()));
        }
        let linear = in_one_stream(&streams).expect("correct");
        prop_assert!(linear.is_plain());
        let certificate = verify(&linear, &FullCrossbar);
        prop_assert_eq!(certificate.slots_needed, Some(0));
        let is_label = |violation: &Violation| matches!(
            violation,
            Violation::RoundFalls { .. } | Violation::SendsTooEarly { .. }
        );
        prop_assert!(certificate.violations.iter().all(is_label), "{:?}", certificate.violations);
        prop_assert_eq!(certificate.messages, several.messages);
    }

    /// Without one of its waits a schedule has a race, unless messages order the same steps.
    #[test]
    fn a_wait_that_is_left_out_is_noticed(
        which in any::<usize>(), ranks in 2..=6_u32, parts in 1..=3_u64,
        by_channel in any::<bool>(), seed in any::<u64>(), wait in any::<prop::sample::Index>(),
    ) {
        let Some(schedule) = registered(which, ranks, parts) else { return Ok(()) };
        let deal = if by_channel { Deal::ByChannel } else { Deal::ByPeer };
        let mut builder = split(&schedule, deal, 3, seed).edit();
        if builder.waits_mut().is_empty() {
            return Ok(());
        }
        let index = wait.index(builder.waits_mut().len());
        builder.waits_mut().remove(index);
        let damaged = builder.finish();
        let violations = verify(&damaged, &FullCrossbar).violations;
        let races = violations.iter().any(|found| matches!(found, Violation::Race { .. }));
        prop_assert_eq!(races, has_race(&damaged), "{:?}\n{}", violations, damaged);
        if violations.is_empty() {
            prop_assert_eq!(world::run(&damaged, 1, &mut SplitMix64::new(seed)), Ok(()));
        }
    }
}

/// The property above is not empty: many waits are needed, and some are left to messages.
#[test]
fn most_waits_are_needed() {
    let (mut needed, mut implied) = (0, 0);
    for which in 0..algorithm::all().count() {
        let Some(schedule) = registered(which, 5, 2) else {
            continue;
        };
        let streams = split(&schedule, Deal::ByPeer, 3, which as u64);
        for index in 0..streams.clone().edit().waits_mut().len() {
            let mut builder = streams.clone().edit();
            builder.waits_mut().remove(index);
            match verify(&builder.finish(), &FullCrossbar).is_correct() {
                true => implied += 1,
                false => needed += 1,
            }
        }
    }
    assert!(
        needed > 100 && implied > 0,
        "{needed} needed, {implied} implied"
    );
}

/// Two ranks that send `messages` before they receive need that many slots, no fewer, and no power
/// of two instead.
#[test]
fn the_least_number_of_slots_is_found() {
    for messages in 1..=7_u32 {
        let request = Request::new(Collective::Allgather, 2, 8 * u64::from(messages));
        let spec = Spec::new(&request, Split::Even(messages));
        let mut builder = ScheduleBuilder::new("crossed", spec);
        for rank in [0, 1] {
            for part in 0..messages {
                let chunks = builder.list(&[builder.spec().chunk(rank, part)]);
                let to = Rank(1 - rank);
                builder.push(part, Rank(rank), Op::Send { to, chunks });
            }
        }
        for rank in [0, 1] {
            for part in 0..messages {
                let from = Rank(1 - rank);
                let chunks = builder.list(&[builder.spec().chunk(from.0, part)]);
                let arrival = Arrival::Store;
                let recv = Op::Recv {
                    from,
                    chunks,
                    arrival,
                };
                builder.push(messages - 1, Rank(rank), recv);
            }
        }
        let mut relabelled = builder.clone();
        for rank in [0, 1] {
            for step in relabelled.steps_mut(Rank(rank)) {
                step.round.0 = 0;
            }
        }
        let crossed = relabelled.clone().finish();
        let certificate = verify(&crossed, &FullCrossbar);
        assert_eq!(certificate.slots_needed, Some(messages));
        assert!(matches!(
            certificate.violations[..],
            [Violation::NeedsSlots { given: 0, .. }]
        ));
        for given in 1..=messages + 1 {
            relabelled.set_slots(given);
            let certificate = verify(&relabelled.clone().finish(), &FullCrossbar);
            assert_eq!(certificate.slots_needed, Some(messages));
            assert_eq!(certificate.is_correct(), given >= messages, "{given}");
            assert!(!certificate.is_deadlock_free());
        }
        // In one stream the slots are places of the receivers.
        let linear = in_one_stream(&relabelled.finish())
            .expect("completes")
            .into_owned();
        let certificate = verify(&linear, &FullCrossbar);
        assert_eq!(certificate.slots_needed, Some(0), "{linear}");
        assert_eq!(certificate.violations, [], "{linear}");
    }
}
