// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every machine must do; each machine crate calls these checks from its own tests.

mod messages;
mod patterns;

pub use messages::{exchanges_messages, messages_are_repeatable};

use corecast_core::random::SplitMix64;
use corecast_core::{
    ChunkId, Collective, ElementType, Limits, Rank, ReduceOp, Request, RouteTree, Schedule,
    ScheduleBuilder, Spec, Split, algorithm,
};

use crate::job::{Job, Machine, Ongoing};
use crate::oracle::Oracle;

/// Requests that cover every algorithm: all rank counts to `ranks_max`, several roots, sizes that
/// do not divide, and none at all.
pub fn requests(
    collective: Collective,
    ranks_max: u32,
    sizes: &'static [u64],
) -> impl Iterator<Item = Request> {
    (1..=ranks_max).flat_map(move |ranks| {
        let roots = if collective.is_rooted() {
            vec![0, ranks / 2, ranks - 1]
        } else {
            vec![0]
        };
        let mut roots: Vec<u32> = roots;
        roots.dedup();
        roots.into_iter().flat_map(move |root| {
            sizes
                .iter()
                .map(move |&bytes| Request::new(collective, ranks, bytes).with_root(Rank(root)))
        })
    })
}

/// Every algorithm gives the same bytes as on the [`Oracle`].
///
/// # Panics
/// If it does not, with the algorithm, the request and what differed.
pub fn same_bytes_as_oracle(machine: &dyn Machine, ranks_max: u32, sizes: &'static [u64]) {
    let mut runs = 0;
    for algorithm in algorithm::all() {
        for request in requests(algorithm.collective(), ranks_max, sizes) {
            if algorithm.supports(&request).is_err() {
                continue;
            }
            let schedule = algorithm.schedule(&request);
            let job = Job {
                seed: 7,
                ..Job::new(&schedule)
            };
            let name = algorithm.name();
            let case = format!("{name} on {} of {request:?}", machine.name());
            let ours = machine
                .run(&job)
                .unwrap_or_else(|error| panic!("{case}: {error}"));
            let oracle = Oracle
                .run(&job)
                .unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(ours.delivered(), "{case}: wrong data {:?}", ours.wrong);
            assert_eq!(
                ours.outputs, oracle.outputs,
                "{case}: other bytes than the oracle"
            );
            assert_eq!(
                ours.finish.len(),
                request.ranks as usize,
                "{case}: a finish per rank"
            );
            runs += 1;
        }
    }
    assert!(runs > 100, "the registry is not empty");
}

/// Exchanges of blocks of any sizes give the same bytes as on the [`Oracle`]: by every algorithm, and by
/// schedules as files have them, with messages where there is something to send alone, and with several
/// of unlike sizes between two ranks.
///
/// # Panics
/// If one does not, with the sizes of its blocks.
pub fn uneven_exchanges_as_oracle(machine: &dyn Machine, cases: u64) {
    for seed in 0..cases {
        let mut mix = SplitMix64::new(seed);
        let ranks = 1 + (mix.next() % 6) as u32;
        // Many blocks are empty, among them those of ranks to themselves.
        let pairs = u64::from(ranks * ranks);
        let mut sizes = |number: u64| -> Vec<u64> {
            let drawn = (0..number).map(|_| (mix.next(), mix.next()));
            let size = |(kind, size)| if kind % 3 == 0 { 0 } else { size % 200 };
            drawn.map(size).collect()
        };
        let mut request = Request::without_counts(Collective::Alltoallv, ranks, 64);
        request.counts = Some(sizes(pairs).into());
        let whole = Spec::new(&request, Split::Even(1));
        let parts = Spec::of_sizes(ranks, 64, &sizes(pairs * 2));
        let mut schedules = vec![as_messages(whole), as_messages(parts)];
        for algorithm in algorithm::of(Collective::Alltoallv) {
            if algorithm.supports(&request).is_ok() {
                schedules.push(algorithm.schedule(&request));
            }
        }
        assert!(schedules.len() > 3, "the registry is not empty");
        for schedule in schedules {
            let job = Job::new(&schedule);
            let counts = schedule.spec().counts();
            let case = format!("{} of {counts:?}", schedule.algorithm());
            let [ours, oracle] = [machine, &Oracle].map(|machine| {
                let report = machine.run(&job);
                report.unwrap_or_else(|error| panic!("{case} on {}: {error}", machine.name()))
            });
            assert!(ours.delivered(), "{case}: wrong data {:?}", ours.wrong);
            assert_eq!(ours.outputs, oracle.outputs, "{case}");
        }
    }
}

/// Every chunk that has bytes as a message of its own.
fn as_messages(spec: Spec) -> Schedule {
    let ranks = spec.ranks();
    let mut builder = ScheduleBuilder::new("messages", spec);
    let mut round = 0;
    for chunk in (0..builder.spec().chunks()).map(ChunkId) {
        let block = chunk.0 / builder.spec().parts();
        let (from, to) = (Rank(block / ranks), Rank(block % ranks));
        if from != to && builder.spec().chunk_bytes(chunk) > 0 {
            builder.message(round, from, to, &[chunk]);
            round += 1;
        }
    }
    builder.finish()
}

/// A multicast whose routes lead past some of the ranks reaches the others, and no other.
///
/// # Panics
/// If it does not.
pub fn multicasts_to_some(machine: &dyn Machine) {
    for bytes in [0, 8, 1000] {
        let request = Request::new(Collective::Bcast, 6, bytes).with_root(Rank(2));
        let mut builder = ScheduleBuilder::new("to-some", Spec::new(&request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let edges = [(2, 5), (5, 0), (2, 1)].map(|(from, to)| (Rank(from), Rank(to)));
        let tree = RouteTree::to_some(Rank(2), 6, &edges);
        builder.multicast(0, tree.into(), &[chunk]);
        builder.message(1, Rank(0), Rank(4), &[chunk]);
        builder.message(1, Rank(1), Rank(3), &[chunk]);
        let schedule = builder.finish();
        let report = machine.run(&Job::new(&schedule));
        let report = report.unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
        assert!(report.delivered(), "{bytes} bytes: {:?}", report.wrong);
    }
}

/// A schedule that can never complete ends in an error that names the ranks.
///
/// # Panics
/// If the machine hangs, succeeds, or names nobody.
pub fn reports_a_lost_message(machine: &dyn Machine, limits: Limits) {
    let request = Request::new(Collective::Bcast, 3, 16);
    let mut builder = ScheduleBuilder::new("lost", Spec::new(&request, Split::Even(1)));
    let chunk = builder.spec().chunk(0, 0);
    builder.message(0, Rank(0), Rank(1), &[chunk]);
    builder.message(1, Rank(1), Rank(2), &[chunk]);
    builder.steps_mut(Rank(1)).pop(); // rank 1 never sends, rank 2 waits for ever
    let schedule = builder.finish();
    let mut job = Job::new(&schedule);
    job.options.limits = limits;
    let error = machine.run(&job).expect_err("a lost message is an error");
    assert!(error.is_limit(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("rank 2 waits for a message from rank 1"),
        "{text}"
    );
}

/// Options that name ranks outside the run are refused.
///
/// # Panics
/// If they are accepted.
pub fn refuses_unknown_ranks(machine: &dyn Machine) {
    let request = Request::new(Collective::Bcast, 2, 16);
    let binomial = algorithm::find(Collective::Bcast, "binomial").expect("a standard algorithm");
    let schedule = binomial.schedule(&request);
    let mut job = Job::new(&schedule);
    job.options.ongoing = vec![Ongoing {
        src: Rank(2),
        dst: None,
        bytes: 4,
    }];
    let error = machine.run(&job).expect_err("rank 2 of 2 does not exist");
    assert!(error.to_string().contains("names rank 2"), "{error}");
}

/// Reductions give the same bits as on the [`Oracle`] for every element type and operator.
///
/// # Panics
/// If one does not.
pub fn same_reductions_as_oracle(machine: &dyn Machine) {
    let reductions = algorithm::all().filter(|a| a.collective().is_reduction());
    for algorithm in reductions {
        for (ranks, element) in (3..8).zip(ElementType::ALL) {
            let mut request = Request::new(algorithm.collective(), ranks, 24 * 8);
            request.element_bytes = element.bytes();
            if algorithm.supports(&request).is_err() {
                continue;
            }
            let schedule = algorithm.schedule(&request);
            for op in ReduceOp::ALL {
                let job = Job {
                    op,
                    element,
                    seed: 3,
                    ..Job::new(&schedule)
                };
                let case = format!("{} {op:?} of {element:?}", algorithm.name());
                let ours = machine
                    .run(&job)
                    .unwrap_or_else(|error| panic!("{case}: {error}"));
                let oracle = Oracle
                    .run(&job)
                    .unwrap_or_else(|error| panic!("{case}: {error}"));
                assert!(ours.delivered(), "{case}: wrong data");
                assert_eq!(
                    ours.outputs, oracle.outputs,
                    "{case}: other bits than the oracle"
                );
            }
        }
    }
}
