// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random requests in random surroundings: delivered, accounted for, deterministic, never below
//! the bound.

use corecast_core::{Algorithm, Collective, Help as _, Rank, Request, algorithm};
use corecast_machine::{Job, Limits, Machine, Ongoing, RunError, RunOptions, Time};
use corecast_machine_sim::SimMachine;
use proptest::prelude::*;

fn machine(chip: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(chip).expect("a built-in chip"))
}

fn options(ranks: u32) -> impl Strategy<Value = RunOptions> {
    let ongoing =
        (0..ranks, proptest::option::of(0..ranks), 0..5000_u64).prop_map(|(src, dst, bytes)| {
            Ongoing {
                src: Rank(src),
                dst: dst.map(Rank),
                bytes,
            }
        });
    let late = (0..500_000_u64).prop_map(Time::from_ps);
    (
        proptest::collection::vec(ongoing, 0..4),
        proptest::collection::vec(late, 0..=ranks as usize),
    )
        .prop_map(|(ongoing, late)| RunOptions {
            limits: Limits::default(),
            ongoing,
            late,
            ..RunOptions::default()
        })
}

fn case() -> impl Strategy<Value = (&'static dyn Algorithm, Request, RunOptions)> {
    let algorithms: Vec<&'static dyn Algorithm> = algorithm::all().collect();
    assert!(!algorithms.is_empty());
    (1..=16_u32).prop_flat_map(move |ranks| {
        let request = (
            proptest::sample::select(algorithms.clone()),
            0..ranks,
            0..600_u64,
            proptest::option::of(1..200_u64),
            proptest::option::of(1..64_u64),
            1..=10_u32,
        )
            .prop_map(
                move |(algorithm, root, bytes, part_bytes, piece_bytes, bits)| {
                    let request = Request::new(algorithm.collective(), ranks, bytes);
                    let mut request = request.with_root(Rank(root));
                    request.tuning.part_bytes = part_bytes;
                    request.tuning.piece_bytes = piece_bytes;
                    request.tuning.status_bits = bits;
                    (algorithm, request)
                },
            );
        (request, options(ranks))
            .prop_map(|((algorithm, request), options)| (algorithm, request, options))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_run_is_right_and_repeatable((algorithm, request, options) in case()) {
        prop_assume!(algorithm.supports(&request).is_ok());
        for chip in corecast_chip::builtin_names() {
            let machine = machine(chip);
            let request = machine.request(request.clone(), &options);
            let schedule = algorithm.schedule(&request);
            let job = Job { options: options.clone(), ..Job::new(&schedule) };
            let report = machine.run(&job).expect("runs");
            prop_assert!(report.delivered());
            report.assert_accounted();
            let again = machine.run(&job).expect("runs");
            prop_assert_eq!(report.first_difference(&again), None);
            let cycle_ps = machine.chip().reference_clock().period_ps;
            let bound = machine.chip().bound_cycles(&request);
            prop_assert!(report.makespan.ps() >= bound * cycle_ps);
        }
    }
}

#[test]
fn limits_end_a_run_with_a_named_error() {
    let machine = machine("park2019-bus");
    let request = Request::new(Collective::Bcast, 8, 4096);
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = linear.schedule(&request);
    let run = |limits| {
        let options = RunOptions {
            limits,
            ..RunOptions::default()
        };
        machine
            .run(&Job {
                options,
                ..Job::new(&schedule)
            })
            .expect_err("the limit is too low")
    };
    let time = run(Limits {
        time: Time::from_ps(1_000_000),
        ..Limits::default()
    });
    assert!(matches!(time, RunError::TimeLimit { .. }), "{time}");
    assert!(time.to_string().contains("waits for"), "{time}");
    let events = run(Limits {
        events: 20,
        ..Limits::default()
    });
    assert!(
        matches!(events, RunError::EventLimit { limit: 20, .. }),
        "{events}"
    );
}

#[test]
fn too_many_ranks_are_refused() {
    let machine = machine("chung2011-bus");
    let request = Request::new(Collective::Barrier, 17, 0);
    let algorithm = algorithm::find(Collective::Barrier, "dissemination").expect("registered");
    let schedule = algorithm.schedule(&request);
    let error = machine.run(&Job::new(&schedule)).expect_err("16 cores");
    assert_eq!(
        error.with_help().to_string(),
        "chung2011-bus has 16 cores\n  17 ranks do not fit"
    );
}
