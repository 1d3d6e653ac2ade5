// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic of others beside a run, on chips whose cores do not write words into the mesh.

use corecast_core::{Collective, Rank, Request, Schedule, ScheduleBuilder, Spec, Split, algorithm};
use corecast_machine::{Background, Cause, Job, Machine, Report, RunError, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

/// A chip, a size in bytes that keeps its network busy, and loads up to near its saturation.
const CASES: [(&str, u32, u64, [f64; 3]); 2] = [
    ("scc", 48, 200, [0.05, 0.15, 0.3]),
    ("nagam", 18, 200, [0.02, 0.08, 0.2]),
];

fn machine(chip: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(chip).expect("built in"))
}

fn schedule(machine: &SimMachine, ranks: u32, bytes: u64) -> Schedule {
    let request = Request::new(Collective::Alltoall, ranks, bytes);
    let request = machine.request(request, &RunOptions::default());
    let pairwise = algorithm::find(Collective::Alltoall, "pairwise").expect("registered");
    algorithm::build(pairwise, &request).expect("serves every rank count")
}

fn options(rate: f64, seed: u64) -> RunOptions {
    let background = Background {
        rate,
        packet_flits: 4,
        seed,
    };
    RunOptions {
        background: Some(background),
        ..RunOptions::default()
    }
}

fn run(machine: &SimMachine, schedule: &Schedule, options: RunOptions) -> Report {
    let job = Job {
        options,
        ..Job::new(schedule)
    };
    let report = machine.run(&job).expect("runs");
    assert!(report.delivered());
    report
}

#[test]
fn no_load_is_no_traffic_and_more_load_is_not_faster() {
    for (chip, ranks, bytes, loads) in CASES {
        let machine = machine(chip);
        let schedule = schedule(&machine, ranks, bytes);
        let alone = run(&machine, &schedule, RunOptions::default());
        let nothing = run(&machine, &schedule, options(0.0, 1));
        assert_eq!(nothing.first_difference(&alone), None, "{chip}");
        let mean = |rate| {
            let seeds = 0..4;
            let times = seeds.map(|seed| run(&machine, &schedule, options(rate, seed)));
            times.map(|report| report.makespan.ns()).sum::<f64>() / 4.0
        };
        let means = loads.map(mean);
        assert!(
            alone.makespan.ns() < means[0],
            "{chip}: {alone:?} {means:?}"
        );
        assert!(means.is_sorted(), "{chip}: {means:?}");
    }
}

#[test]
fn the_seed_decides() {
    for (chip, ranks, bytes, loads) in CASES {
        let machine = machine(chip);
        let schedule = schedule(&machine, ranks, bytes);
        let run = |seed| run(&machine, &schedule, options(loads[1], seed));
        assert_eq!(run(3).first_difference(&run(3)), None, "{chip}");
        assert_ne!(run(3).trace_hash, run(4).trace_hash, "{chip}");
    }
}

/// What a line waits for others is attributed to the link, and to nobody's message.
#[test]
fn lines_that_wait_name_the_link() {
    let machine = machine("scc");
    let schedule = schedule(&machine, 48, 200);
    let of_links = |report: &Report| {
        let ranks = report.activity.iter();
        let lost = ranks.map(|rank| rank.total(|cause| matches!(cause, Cause::LinkBusy(_))).ps());
        lost.sum::<u64>()
    };
    let alone = run(&machine, &schedule, RunOptions::default());
    assert_eq!((of_links(&alone), alone.holds.len()), (0, 0));
    let beside = run(&machine, &schedule, options(0.15, 1));
    assert!(of_links(&beside) > 0);
    assert!(beside.holds.iter().all(|hold| hold.holder.is_none()));
}

/// A link that others ask for more than it carries still serves lines in their turn: a line waits
/// for at most four packets at each of its links and at its port.
#[test]
fn lines_get_their_turn_on_overloaded_links() {
    let machine = machine("scc");
    let schedule = schedule(&machine, 48, 100);
    let alone = run(&machine, &schedule, RunOptions::default())
        .makespan
        .ns();
    let beside = run(&machine, &schedule, options(1.0, 1)).makespan.ns();
    // At most 8 links and a port, 16 flits of 1.25 ns each, where a line takes 94 ns and more.
    let most = alone * (1.0 + 9.0 * 16.0 * 1.25 / 94.0);
    assert!((1.1 * alone..most).contains(&beside), "{alone} {beside}");
}

/// A deadlock is found although other traffic goes on.
#[test]
fn a_deadlock_beside_others_is_one() {
    for (chip, ..) in CASES {
        let spec = Spec::new(&Request::new(Collective::Alltoall, 4, 16), Split::Even(1));
        let mut builder = ScheduleBuilder::new("one-sided", spec);
        let chunk = builder.spec().chunk(1, 0);
        builder.message(0, Rank(0), Rank(1), &[chunk]);
        builder.steps_mut(Rank(0)).clear();
        let schedule = builder.finish();
        let job = Job {
            options: options(0.05, 1),
            ..Job::new(&schedule)
        };
        let error = machine(chip).run(&job).expect_err("nobody sends");
        assert!(
            matches!(error, RunError::Deadlock { .. }),
            "{chip}: {error}"
        );
    }
}

/// Where others ask for more than a network can carry they get what there is, and the run ends: a core
/// has so many of their packets under way at most. Nothing is held back at small loads.
#[test]
fn a_full_network_holds_others_back() {
    let chips = [
        (machine("tilepro64"), 64, Collective::Bcast, 0.4),
        (
            machine("tilepro64").with_fidelity(Fidelity::Packet),
            64,
            Collective::Bcast,
            1.0,
        ),
        (machine("scc"), 48, Collective::Alltoall, 1.0),
        (machine("nagam"), 18, Collective::Alltoall, 1.0),
    ];
    for (machine, ranks, collective, too_much) in chips {
        let request = Request::new(collective, ranks, 200);
        let request = machine.request(request, &RunOptions::default());
        let algorithm = algorithm::of(collective).next().expect("there is one");
        let schedule = algorithm::build(algorithm, &request).expect("serves every rank count");
        let beside = |rate| run(&machine, &schedule, options(rate, 1)).background;
        let few = beside(0.02);
        assert!(few.packets > 0 && few.held_back == 0, "{few:?}");
        let share = beside(too_much).sent_share().expect("it has packets");
        assert!(share < 0.95, "{}: {share}", machine.chip().name);
    }
    let alone = machine("scc");
    let alone = run(&alone, &schedule(&alone, 48, 100), RunOptions::default());
    assert_eq!(alone.background.sent_share(), None);
}

/// Links of the SCC carry the packets of others, too: each takes as many hops as uniform traffic does on its
/// routers.
#[test]
fn links_carry_what_others_send() {
    let machine = machine("scc");
    let schedule = schedule(&machine, 48, 100);
    let carried = |report: &Report| {
        let flits = report.links.iter().map(|link| link.flits);
        flits.sum::<u64>()
    };
    let alone = run(&machine, &schedule, RunOptions::default());
    let beside = run(&machine, &schedule, options(0.05, 1));
    let packet_flits = options(0.05, 1).background.expect("some").packet_flits;
    let sent = beside.background.packets - beside.background.held_back;
    let hops =
        (carried(&beside) - carried(&alone)) as f64 / (sent * u64::from(packet_flits)) as f64;
    // Uniform traffic on 6 x 4 routers: (36 - 1) / 18 + (16 - 1) / 12 hops, a little more as nobody sends to itself.
    let expected = 35.0 / 18.0 + 15.0 / 12.0;
    assert!(
        (0.97..1.06).contains(&(hops / expected)),
        "{hops} hops, {expected} expected"
    );
}
