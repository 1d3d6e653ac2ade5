// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random chips, requests and surroundings: the right bytes, no panic, no deadlock that the
//! certificate denies, and makespans between the bounds.
//!
//! A case is made from one number, so any of them can be run alone. With
//! `CORECAST_CASES` the number of cases is chosen, with `CORECAST_SEED` the first of their numbers:
//!
//! ```text
//! CORECAST_CASES=1000000 CORECAST_SEED=1000 cargo test --release -p corecast-machine-sim \
//!     --test all random_chips
//! ```
//!
//! A failure says what was run and prints the line that runs it again.

use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use corecast_chip::{Chip, ChipError, Mesh, System, Udn, find_changed};
use corecast_core::random::SplitMix64;
use corecast_core::{
    Algorithm, Collective, FlowControl, Rank, Request, Schedule, algorithm, verify,
};
use corecast_machine::{
    Background, Job, Limits, Machine, Ongoing, Report, RunError, RunOptions, Skew, Time,
};
use corecast_machine_sim::{Fidelity, SimMachine};

/// Cases without `CORECAST_CASES`.
const CASES: u64 = 1000;
/// No case needs more. Case 207860041830 needs more than 5 million: 36 ranks on a row of 16 routers, whose flits
/// are bytes.
const EVENTS_MAX: u64 = 50_000_000;

/// Random numbers.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number from `from` to `to`, both possible.
    fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    /// As `within`, small numbers more often than large ones.
    fn small(&mut self, from: u64, to: u64) -> u64 {
        let top = self.within(from, to);
        self.within(from, top)
    }

    /// Once in `of` times.
    fn is_once_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.within(0, all.len() as u64 - 1) as usize]
    }
}

/// What is run.
struct Case {
    chip: Chip,
    request: Request,
    options: RunOptions,
    fidelity: Fidelity,
    /// The above in words.
    words: String,
    /// Whether it is run twice.
    repeats: bool,
}

fn changes(random: &mut Random) -> Vec<(String, String)> {
    let is_torus = random.is_once_in(3);
    let per_node = random.one_of(&[1, 1, 1, 2, 3]);
    let (width, height) = match random.within(0, 5) {
        0 => (random.within(1, 24), 1),
        1 => (1, random.within(1, 24)),
        _ => (random.small(1, 8), random.small(1, 8)),
    };
    let header = random.small(1, 4);
    // Queues that hold one short packet, several, or whole messages.
    let queue = header + random.small(1, 200);
    let numbers = [
        ("network.width", width),
        ("network.height", height),
        ("network.cores_per_router", per_node),
        ("network.vcs", random.small(if is_torus { 2 } else { 1 }, 6)),
        ("network.buffer", random.small(1, 12)),
        ("network.flit", random.one_of(&[1, 4, 4, 16])),
        ("network.routing", random.small(0, 3)),
        ("network.vc_allocation", random.small(0, 3)),
        ("network.switch", random.small(1, 4)),
        ("network.link", random.small(0, 3)),
        ("network.turn", random.small(0, 2)),
        ("network.credit", random.small(1, 6)),
        ("network.injection", random.small(1, 4)),
        ("network.ejection", random.small(1, 4)),
        ("endpoint.call", random.small(0, 40)),
        ("endpoint.call_per_rank", random.small(0, 4)),
        ("endpoint.send", random.small(0, 40)),
        ("endpoint.recv", random.small(0, 40)),
        ("endpoint.recv_per_rank", random.small(0, 4)),
        ("endpoint.payload", random.small(0, 40)),
        ("endpoint.inject", random.small(1, 5)),
        ("endpoint.extract", random.small(0, 5)),
        ("endpoint.combine", random.small(0, 4)),
        ("endpoint.route", random.small(0, 40)),
        ("endpoint.header", header),
        ("endpoint.packet", random.small(1, 60)),
        ("endpoint.queues", random.small(2, 6)),
        ("endpoint.queue", queue),
    ];
    let placement = match random.within(0, 7) {
        0 => "rows".to_owned(),
        1 => "columns".to_owned(),
        2 => "snake".to_owned(),
        3 => format!("random:{}", random.within(0, 99)),
        _ => "square".to_owned(),
    };
    let words = [
        ("network.kind", if is_torus { "torus" } else { "mesh" }),
        ("network.placement", &*placement),
        ("network.order", random.one_of(&["xy", "yx"])),
        (
            "endpoint.protocol",
            random.one_of(&["ready", "ready", "synchronous"]),
        ),
    ];
    let numbers = numbers.map(|(key, value)| (key.to_owned(), value.to_string()));
    let words = words.map(|(key, value)| (key.to_owned(), value.to_owned()));
    numbers.into_iter().chain(words).collect()
}

/// A chip with a mesh whose cores read and write words; with its changes as options.
fn chip(random: &mut Random) -> (Result<Chip, ChipError>, String) {
    let base = random.one_of(&["tilepro64", "booksim-mesh"]);
    let changes = changes(random);
    let sets = changes
        .iter()
        .map(|(key, value)| format!(" --set {key}={value}"));
    let words = format!("--chip {base}{}", sets.collect::<String>());
    (find_changed(base, &changes), words)
}

fn request(random: &mut Random, algorithm: &dyn Algorithm, ranks: u32, bytes: u64) -> Request {
    let mut request = Request::new(algorithm.collective(), ranks, bytes);
    if algorithm.collective() == Collective::Alltoallv {
        let blocks = u64::from(ranks).pow(2);
        let counts = (0..blocks).map(|_| random.small(0, bytes / 4));
        request.counts = Some(counts.collect::<Vec<_>>().into());
    }
    if algorithm.collective().is_rooted() {
        request.root = Rank(random.within(0, u64::from(ranks) - 1) as u32);
    }
    let tuning = &mut request.tuning;
    tuning.part_bytes = random.is_once_in(3).then(|| random.within(1, 200));
    tuning.piece_bytes = random.is_once_in(3).then(|| random.within(1, 64));
    tuning.arity = random.within(2, 5) as u32;
    tuning.status_bits = random.within(1, 10) as u32;
    tuning.flow_control = random.one_of(&[FlowControl::Auto, FlowControl::Auto, FlowControl::On]);
    request
}

/// Background traffic that the mesh can carry: with more, a core's own packets wait behind a queue
/// that only grows.
fn background(random: &mut Random, mesh: &Mesh) -> Background {
    let packet_flits = random.within(1, 12) as u32;
    let hop = mesh.hop_cycles() + u64::from(mesh.credit_cycles + mesh.turn_cycles);
    let per_flit = (hop as f64 / f64::from(mesh.buffer_flits)).max(1.0);
    let flits = f64::from(packet_flits);
    let capacity = flits / (flits * per_flit + hop as f64);
    // Half of all packets cross the middle, half of those in one direction.
    let links = f64::from(mesh.grid.width.min(mesh.grid.height));
    let cores = f64::from(mesh.grid.ranks_max());
    let most = (4.0 * links / cores).min(1.0) * capacity;
    Background {
        rate: most * 0.05 * random.within(0, 5) as f64,
        packet_flits,
        seed: random.next(),
    }
}

fn options(random: &mut Random, ranks: u32, cycle: Time, (mesh, udn): (&Mesh, &Udn)) -> RunOptions {
    let most = cycle * random.one_of(&[0, 50, 3000]);
    let rank = |random: &mut Random| Rank(random.within(0, u64::from(ranks) - 1) as u32);
    let skew = match random.within(0, 3) {
        0 => Skew::Even(most),
        1 => Skew::One(rank(random), most),
        _ => Skew::Random(most),
    };
    let late = skew
        .late(ranks, random.next())
        .expect("names no other rank");
    let ongoing = (0..random.small(0, 2)).map(|_| Ongoing {
        src: rank(random),
        dst: random.is_once_in(2).then(|| rank(random)),
        bytes: random.within(0, 2000),
    });
    let ongoing = ongoing.collect();
    let has_background = udn.queues > 2 && random.is_once_in(3);
    let background = has_background.then(|| background(random, mesh));
    RunOptions {
        limits: Limits {
            events: EVENTS_MAX,
            ..Limits::default()
        },
        ongoing,
        late,
        background,
        ..RunOptions::default()
    }
}

/// The case of a number; none if the chip cannot be built, or the algorithm does not serve the
/// request.
fn case(number: u64) -> Option<(Case, Schedule)> {
    let mut random = Random(SplitMix64::new(number));
    let random = &mut random;
    let (chip, chip_words) = chip(random);
    // Too many channels at one router, or rings that would deadlock: refused, as they should be.
    let chip = chip.ok()?;
    let algorithms: Vec<&dyn Algorithm> = algorithm::all().collect();
    let algorithm = random.one_of(&algorithms);
    let ranks = random.within(1, u64::from(chip.cores_max().min(40))) as u32;
    let words = random.small(0, 80) / random.one_of(&[1, 1, 10]);
    let bytes = words * random.within(1, 4);
    let request = request(random, algorithm, ranks, bytes);
    let cycle = Time::from_ps(chip.reference_clock().period_ps);
    let System::Mesh { mesh, udn } = chip.system() else {
        panic!("the chips have meshes");
    };
    let options = options(random, ranks, cycle, (mesh, udn));
    let fidelity = random.one_of(&[
        Fidelity::Flit,
        Fidelity::Flit,
        Fidelity::Flit,
        Fidelity::Packet,
    ]);
    let machine = SimMachine::new(&chip);
    let request = machine.request(request, &options);
    let schedule = algorithm::build(algorithm, &request).ok()?;
    let words = format!(
        "{} {} --algorithm {} --ranks {ranks} --root {} --bytes {bytes} --fidelity {} {:?} \
         part {:?} piece {:?} late {:?} ongoing {:?} background {:?}",
        algorithm.collective(),
        chip_words,
        algorithm.name(),
        request.root.0,
        fidelity.name(),
        request.tuning.flow_control,
        request.tuning.part_bytes,
        request.tuning.piece_bytes,
        options.late,
        options.ongoing,
        options.background,
    );
    let case = Case {
        chip,
        request,
        options,
        fidelity,
        words,
        repeats: random.is_once_in(4),
    };
    Some((case, schedule))
}

/// What a run of a case must be. Whether there was a worst case to compare with.
fn check(case: &Case, schedule: &Schedule) -> Result<bool, String> {
    let machine = SimMachine::new(&case.chip).with_fidelity(case.fidelity);
    let certificate = verify(schedule, &case.chip.routes(schedule.ranks()));
    if !certificate.is_correct() {
        return Err(format!("is not correct: {:?}", certificate.violations));
    }
    let job = Job {
        options: case.options.clone(),
        ..Job::new(schedule)
    };
    let report = match machine.run(&job) {
        Ok(report) => report,
        Err(RunError::Deadlock { .. }) if !certificate.is_deadlock_free() => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    if !report.delivered() {
        return Err("wrong data".to_owned());
    }
    report.assert_accounted();
    check_bound(case, &report)?;
    if case.repeats {
        let again = machine.run(&job).map_err(|error| error.to_string())?;
        if let Some(difference) = report.first_difference(&again) {
            return Err(format!("does not repeat: {difference:?}"));
        }
    }
    let is_covered = case.options.background.is_none() && case.options.ongoing.is_empty();
    let worst = machine.worst_case(schedule, &certificate);
    let last = case
        .options
        .late
        .iter()
        .copied()
        .max()
        .unwrap_or(Time::ZERO);
    match worst.filter(|_| is_covered) {
        Some(worst) if report.makespan > last + worst => {
            let makespan = report.makespan;
            Err(format!(
                "takes {makespan:?}, worst case {worst:?} after {last:?}"
            ))
        }
        worst => Ok(worst.is_some()),
    }
}

/// No run is faster than the bound.
fn check_bound(case: &Case, report: &Report) -> Result<(), String> {
    let bound = case.chip.bound_cycles(&case.request);
    let cycle_ps = case.chip.reference_clock().period_ps;
    if report.makespan.ps() < bound * cycle_ps {
        let cycles = report.makespan.ps() / cycle_ps;
        return Err(format!(
            "takes {cycles} cycles, fewer than the bound of {bound}"
        ));
    }
    Ok(())
}

/// Runs the case of a number; none if there is none, otherwise whether it had a worst case.
fn run(number: u64) -> Result<Option<bool>, String> {
    let mut words = "building it".to_owned();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let Some((case, schedule)) = case(number) else {
            return Ok(None);
        };
        words.clone_from(&case.words);
        check(&case, &schedule).map(Some)
    }));
    let result = result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(format!("panics: {}", text.unwrap_or_default()))
    });
    result.map_err(|error| {
        format!(
            "{words}\n  {error}\n  again: CORECAST_CASES=1 CORECAST_SEED={number} \
             cargo test -p corecast-machine-sim --test all random_chips"
        )
    })
}

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not {text}")),
        Err(_) => default,
    }
}

#[test]
fn every_case_is_right() {
    let (cases, seed) = (
        variable("CORECAST_CASES", CASES),
        variable("CORECAST_SEED", 0),
    );
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (next, ran, bounded) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut failures = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= cases {
                return failures;
            }
            match run(seed.wrapping_add(index)) {
                Ok(None) => {}
                Ok(Some(has_worst_case)) => {
                    ran.fetch_add(1, Ordering::Relaxed);
                    bounded.fetch_add(u64::from(has_worst_case), Ordering::Relaxed);
                }
                Err(text) => {
                    // At once, past what the test harness holds back: a night has many hours.
                    let _ = writeln!(io::stderr(), "{text}");
                    failures.push(index);
                }
            }
        }
    };
    let failures: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("panics are caught"));
        results.flatten().collect()
    });
    let (ran, bounded) = (ran.into_inner(), bounded.into_inner());
    println!("{ran} of {cases} numbers gave a case that ran, {bounded} with a worst case");
    assert!(
        failures.is_empty(),
        "{} of {cases} cases fail",
        failures.len()
    );
    if cases >= 1000 {
        assert!(
            ran > cases / 3 && bounded > cases / 100,
            "{ran} ran, {bounded} with worst case"
        );
    }
}
