// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long it takes to build and to verify schedules over many ranks.
//!
//! The aim is under a second for each over 1,024 ranks; a ring allreduce there has two million
//! messages. `cargo bench -p corecast-core`.

use corecast_core::{Collective, FullCrossbar, Request, Schedule, algorithm, verify};

const CASES: [(Collective, &str, u32); 6] = [
    (Collective::Bcast, "binomial", 1024),
    (Collective::Allgather, "ring", 1024),
    (Collective::Allgather, "bruck", 1024),
    (Collective::Allreduce, "ring", 1024),
    (Collective::Alltoall, "pairwise", 1024),
    (Collective::Allreduce, "rabenseifner", 1024),
];

fn main() {
    divan::main();
}

fn name((collective, algorithm, ranks): &(Collective, &str, u32)) -> String {
    format!("{collective} {algorithm} {ranks}")
}

fn schedule(collective: Collective, name: &str, ranks: u32) -> Schedule {
    let algorithm = algorithm::find(collective, name).expect("registered");
    algorithm::build(algorithm, &Request::new(collective, ranks, 1 << 16)).expect("supported")
}

/// A case that is shown by its name.
struct Case(usize);

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&name(&CASES[self.0]))
    }
}

fn cases() -> impl Iterator<Item = Case> {
    (0..CASES.len()).map(Case)
}

#[divan::bench(args = cases(), max_time = 3, sample_count = 10)]
fn build_schedule(bencher: divan::Bencher, case: &Case) {
    let (collective, name, ranks) = CASES[case.0];
    bencher.bench(|| schedule(collective, name, ranks));
}

#[divan::bench(args = cases(), max_time = 3, sample_count = 10)]
fn verify_schedule(bencher: divan::Bencher, case: &Case) {
    let (collective, name, ranks) = CASES[case.0];
    let schedule = schedule(collective, name, ranks);
    bencher.bench(|| {
        let certificate = verify(&schedule, &FullCrossbar);
        assert!(certificate.is_correct());
        certificate
    });
}
