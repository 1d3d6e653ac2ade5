// SPDX-License-Identifier: MIT OR Apache-2.0
//! The message layer over a mesh: its costs, its flow control, and what happens without it.

use crate::common;

use common::FREE;
use corecast_chip::Chip;
use corecast_core::{
    Arrival, ChunkId, Collective, FlowControl, Op, Rank, Request, Schedule, ScheduleBuilder, Spec,
    Split, algorithm,
};
use corecast_machine::{
    Await, Background, Job, Machine, Report, RunError, RunOptions, Schedules, StepProgram, Steps,
    message_bytes,
};
use corecast_machine_sim::SimMachine;

fn chip(changes: &[(&str, &str)]) -> Chip {
    common::chip("tilepro64", changes)
}

fn schedule(
    machine: &SimMachine,
    collective: Collective,
    name: &str,
    (ranks, bytes): (u32, u64),
    flow_control: FlowControl,
) -> Schedule {
    let mut request = Request::new(collective, ranks, bytes);
    request.tuning.flow_control = flow_control;
    let request = machine.request(request, &RunOptions::default());
    let algorithm = algorithm::find(collective, name).expect("registered");
    algorithm::build(algorithm, &request).expect("fits")
}

fn run(machine: &SimMachine, schedule: &Schedule) -> Result<Report, RunError> {
    machine.run(&Job::new(schedule))
}

/// Cycles of a broadcast from rank 0 to rank 1.
fn one_message(changes: &[(&str, &str)], bytes: u64, flow_control: FlowControl) -> u64 {
    let chip = chip(changes);
    let machine = SimMachine::new(&chip);
    let schedule = schedule(
        &machine,
        Collective::Bcast,
        "linear",
        (2, bytes),
        flow_control,
    );
    let report = run(&machine, &schedule).expect("runs");
    assert!(report.delivered());
    report.makespan.ps() / chip.reference_clock().period_ps
}

#[test]
fn every_cost_of_a_message_shows_once() {
    let base = one_message(&FREE, 40, FlowControl::Off);
    // 2 header words and 10 of payload are written one per cycle; the last is read a cycle after
    // it has come: injection, two routers, ejection, reading.
    assert_eq!(base, 11 + 1 + 1 + 1 + 1);
    // Two ranks take part; the payload costs at both ends.
    let costs = [
        ("endpoint.call", 7),
        ("endpoint.call_per_rank", 14),
        ("endpoint.send", 7),
        ("endpoint.recv", 7),
        ("endpoint.recv_per_rank", 14),
        ("endpoint.payload", 14),
    ];
    for (key, cycles) in costs {
        let mut changes = FREE.to_vec();
        changes.push((key, "7"));
        assert_eq!(
            one_message(&changes, 40, FlowControl::Off),
            base + cycles,
            "{key}"
        );
    }
    let mut slow = FREE.to_vec();
    slow.push(("endpoint.inject", "3"));
    assert_eq!(one_message(&slow, 40, FlowControl::Off), base + 2 * 11);
    let mut charged = FREE.to_vec();
    charged.push(("endpoint.payload", "7"));
    assert_eq!(
        one_message(&charged, 0, FlowControl::Off),
        one_message(&FREE, 0, FlowControl::Off)
    );
}

/// Cycles of a collective over 4 ranks with synchronous messages, of which a send costs 100 and a
/// receive 1000.
fn synchronous(collective: Collective, name: &str, bytes: u64) -> u64 {
    let mut changes = FREE.to_vec();
    changes.extend([("endpoint.send", "100"), ("endpoint.recv", "1000")]);
    let chip = common::chip("tilepro64-operampi", &changes);
    let machine = SimMachine::new(&chip);
    let size = (4, bytes);
    let schedule = schedule(&machine, collective, name, size, FlowControl::Auto);
    assert!(schedule.has_flow_control(), "nothing is to be proved");
    let report = run(&machine, &schedule).expect("runs");
    assert!(report.delivered());
    report.makespan.ps() / chip.reference_clock().period_ps
}

#[test]
fn synchronous_messages_cost_both_ends_one_after_the_other() {
    let near = |cycles: u64, software: u64| {
        let is_near = (software..software + 200).contains(&cycles);
        assert!(is_near, "{cycles} cycles, {software} of them software");
    };
    // The root's next send begins when the receive before it has ended.
    near(synchronous(Collective::Bcast, "linear", 40), 3 * 1100);
    near(synchronous(Collective::Reduce, "linear", 40), 3 * 1100);
    // Both directions of an exchange at once.
    near(synchronous(Collective::Alltoall, "pairwise", 40), 3 * 1100);
    // Without payload nobody waits: three reports, three releases, the last of them received.
    near(
        synchronous(Collective::Barrier, "linear", 0),
        100 + 3 * 1000 + 3 * 100 + 1000,
    );
}

#[test]
fn flow_control_costs_a_ready_per_packet() {
    let without = one_message(&FREE, 40, FlowControl::Off);
    let with = one_message(&FREE, 40, FlowControl::On);
    // The ready has two header words, and they travel and are read as the words of a message.
    assert_eq!(with - without, 1 + 1 + 1 + 1 + 1);
    let packets = |bytes| {
        one_message(&FREE, bytes, FlowControl::On) - one_message(&FREE, bytes, FlowControl::Off)
    };
    assert!(
        packets(4 * 116 * 4) > 3 * packets(4 * 116),
        "four packets, four readies"
    );
}

#[test]
fn flow_control_goes_only_with_a_proof() {
    let machine = SimMachine::new(&chip(&[]));
    let decide = |collective, name, size| {
        let schedule = schedule(&machine, collective, name, size, FlowControl::Auto);
        assert!(run(&machine, &schedule).expect("runs").delivered());
        schedule.has_flow_control()
    };
    assert!(!decide(Collective::Bcast, "binomial", (16, 400)));
    assert!(
        decide(Collective::Bcast, "binomial", (16, 500)),
        "125 words and a header"
    );
    assert!(
        !decide(Collective::Gather, "linear", (16, 20)),
        "15 messages of 7 words"
    );
    assert!(
        decide(Collective::Gather, "linear", (16, 24)),
        "15 messages of 8 words"
    );
}

#[test]
fn without_proof_the_mesh_can_fill_up_and_stop_for_ever() {
    let machine = SimMachine::new(&chip(&[]));
    // Everybody writes a long message before reading one.
    let size = (9, 4000);
    let with = schedule(
        &machine,
        Collective::Alltoall,
        "pairwise",
        size,
        FlowControl::Auto,
    );
    assert!(with.has_flow_control());
    assert!(run(&machine, &with).expect("runs").delivered());
    let mut builder = with.clone().edit();
    for rank in with.all_ranks() {
        // Sends first, then receives: fine with unlimited buffers, deadly with these.
        let steps = std::mem::take(builder.steps_mut(rank));
        let (mut sends, mut recvs) = (Vec::new(), Vec::new());
        for step in steps {
            let (send, recv) = (
                step.send_half().expect("both"),
                step.recv_half().expect("both"),
            );
            sends.push(corecast_core::Step {
                op: corecast_core::Op::Send {
                    to: send.to,
                    chunks: send.chunks,
                },
                ..step
            });
            recvs.push(corecast_core::Step {
                op: corecast_core::Op::Recv {
                    from: recv.from,
                    chunks: recv.chunks,
                    arrival: recv.arrival,
                },
                ..step
            });
        }
        builder
            .steps_mut(rank)
            .extend(sends.into_iter().chain(recvs));
    }
    let unsuitable = builder.finish().without_flow_control();
    let error = run(&machine, &unsuitable).expect_err("the mesh is full");
    let RunError::Deadlock { blocked, .. } = error else {
        panic!("{error}");
    };
    // Each of them writes the message of its first step.
    assert!(blocked.iter().any(|one| one.awaits == Await::Send));
    assert!(blocked.iter().all(|one| one.step == 0));
}

/// A rank that waits says in which of its steps.
#[test]
fn a_deadlock_names_the_steps() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 4), Split::Even(1));
    let mut builder = ScheduleBuilder::new("stuck", spec);
    builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
    let chunks = builder.list(&[ChunkId(0)]);
    let arrival = Arrival::Store;
    for (rank, from) in [(1, 2), (2, 1)] {
        let from = Rank(from);
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        builder.push(1, Rank(rank), recv);
        builder.push(2, Rank(rank), Op::Send { to: from, chunks });
    }
    let machine = SimMachine::new(&chip(&[]));
    let error = run(&machine, &builder.finish()).expect_err("it cannot end");
    let RunError::Deadlock { blocked, .. } = error else {
        panic!("{error}");
    };
    let steps: Vec<_> = blocked.iter().map(|one| (one.rank.0, one.step)).collect();
    assert_eq!(steps, [(1, 1), (2, 0)]);
}

#[test]
fn runs_repeat() {
    let machine = SimMachine::new(&chip(&[]));
    let size = (16, 64);
    let exchange = schedule(
        &machine,
        Collective::Alltoall,
        "pairwise",
        size,
        FlowControl::Auto,
    );
    let (a, b) = (run(&machine, &exchange), run(&machine, &exchange));
    let (a, b) = (a.expect("runs"), b.expect("runs"));
    assert_eq!(a.first_difference(&b), None);
    assert_eq!(a.trace_hash, b.trace_hash);
}

#[test]
fn contention_free_slots_are_not_slower_than_their_messages_one_by_one() {
    // Every message of a slot has its links for itself: doubling the ranks of a slot costs nothing.
    let machine = SimMachine::new(&chip(&[]));
    let time = |name| {
        let size = (16, 64);
        let exchange = schedule(&machine, Collective::Alltoall, name, size, FlowControl::On);
        run(&machine, &exchange).expect("runs").makespan
    };
    assert!(time("contention-free") < time("linear"));
}

/// Cycles until each rank has finished a static-route broadcast of `words` words from rank 0.
fn static_route(ranks: u32, words: u64, late: &[u64]) -> Vec<u64> {
    let (report, cycle) = static_run(ranks, words, late, &[]);
    report.finish.iter().map(|time| time.ps() / cycle).collect()
}

/// Its report, and the picoseconds of a cycle.
fn static_run(
    ranks: u32,
    words: u64,
    late: &[u64],
    changes: &[(&'static str, &'static str)],
) -> (Report, u64) {
    let changes = [&FREE[..], &[("endpoint.route", "10")], changes].concat();
    let chip = chip(&changes);
    let machine = SimMachine::new(&chip);
    let size = (ranks, 4 * words);
    let schedule = schedule(
        &machine,
        Collective::Bcast,
        "static-route",
        size,
        FlowControl::Auto,
    );
    let cycle = chip.reference_clock().period_ps;
    let late = late
        .iter()
        .map(|&cycles| corecast_machine::Time::from_ps(cycles * cycle));
    let options = RunOptions {
        late: late.collect(),
        ..RunOptions::default()
    };
    let job = Job {
        options,
        ..Job::new(&schedule)
    };
    let report = machine.run(&job).expect("runs");
    assert!(report.delivered());
    (report, cycle)
}

/// Words that are written more slowly than they are read come at the root's speed.
#[test]
fn a_static_route_is_as_fast_as_its_root() {
    for (inject, extract) in [("3", "1"), ("2", "5")] {
        let changes = [("endpoint.inject", inject), ("endpoint.extract", extract)];
        let (report, cycle) = static_run(9, 20, &[], &changes);
        let [inject, extract] =
            [inject, extract].map(|text| text.parse::<u64>().expect("a number"));
        let first = 10 + inject + 4;
        let end = first + (19 * inject + extract).max(20 * extract);
        assert_eq!(report.finish[8].ps() / cycle, end);
        assert_eq!(report.finish[0].ps() / cycle, 10 + 20 * inject);
    }
}

/// Every word goes over every link of the tree, and over no other.
#[test]
fn a_static_route_uses_each_link_once() {
    let (report, _) = static_run(9, 20, &[], &[]);
    let used = report.links.iter().filter(|link| link.flits > 0);
    let used: Vec<u64> = used.map(|link| link.flits).collect();
    assert_eq!(used, [20; 8]);
}

#[test]
fn a_static_route_costs_its_configuration_and_a_cycle_per_hop_and_word() {
    // 3 x 3: rank 0 in the corner. Route 10, the first word a cycle later, a hop each, read in 1.
    let finish = static_route(9, 1, &[]);
    assert_eq!(finish[0], 10 + 1);
    for (rank, hops) in [(1, 1), (2, 2), (3, 1), (4, 2), (8, 4)] {
        assert_eq!(finish[rank], 10 + 1 + hops + 1, "rank {rank}");
    }
    let longer = static_route(9, 20, &[]);
    assert_eq!(longer[8], finish[8] + 19);
}

#[test]
fn a_late_core_holds_up_those_behind_it_and_nobody_else() {
    // Rank 1 comes late: rank 2 is behind it in the row, rank 3 in the column is not.
    let finish = static_route(9, 4, &[0, 1000]);
    let on_time = static_route(9, 4, &[]);
    assert_eq!(finish[3], on_time[3]);
    assert_eq!(finish[1], 1000 + 10 + 4);
    assert_eq!(finish[2], 1000 + 10 + 1 + 4);
}

#[test]
fn background_traffic_delays_messages_and_leaves_nothing_behind() {
    let machine = SimMachine::new(&chip(&FREE));
    let schedule = schedule(
        &machine,
        Collective::Alltoall,
        "pairwise",
        (16, 40),
        FlowControl::Auto,
    );
    let run = |rate: f64, seed| {
        let background = Background {
            rate,
            packet_flits: 4,
            seed,
        };
        let options = RunOptions {
            background: Some(background),
            ..RunOptions::default()
        };
        let report = machine.run(&Job {
            options,
            ..Job::new(&schedule)
        });
        let report = report.expect("runs");
        assert!(report.delivered());
        report
    };
    let alone = machine.run(&Job::new(&schedule)).expect("runs").makespan;
    assert_eq!(run(0.0, 1).makespan, alone);
    let mean = |rate| {
        (0..8)
            .map(|seed| run(rate, seed).makespan.ns())
            .sum::<f64>()
            / 8.0
    };
    let (some, much) = (mean(0.02), mean(0.15));
    assert!(alone.ns() < some && some < much, "{alone:?} {some} {much}");
    assert_eq!(run(0.1, 3).first_difference(&run(0.1, 3)), None);
    assert_ne!(run(0.1, 3).trace_hash, run(0.1, 4).trace_hash);
}

/// Rank 0 sends messages with and without payload to rank 1, and gets them back in order.
struct Echo;

impl StepProgram for Echo {
    type Output = Vec<u64>;

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<Vec<u64>, RunError> {
        let mut lengths = Vec::new();
        for bytes in [0, 4, 0, 0, 700, 4, 0] {
            if endpoint.rank() == Rank(0) {
                endpoint.send(Rank(1), vec![vec![7; bytes].into()]).await?;
                lengths.push(message_bytes(&endpoint.recv(Rank(1)).await?));
            } else {
                let message = endpoint.recv(Rank(0)).await?;
                endpoint.send(Rank(0), message).await?;
            }
        }
        Ok(lengths)
    }
}

#[test]
fn programs_mix_messages_with_and_without_payload() {
    for chip in ["tilepro64", "tilepro64-operampi"] {
        let machine = SimMachine::new(&corecast_chip::find(chip).expect("built in"));
        let run = machine.run_steps(2, &Echo, &RunOptions::default());
        let run = run.expect("runs, and leaves no word behind");
        assert_eq!(run.outputs[0], [0, 4, 0, 0, 700, 4, 0], "{chip}");
    }
}

/// Cores of another clock than the mesh write at their own speed, and not in every second cycle.
#[test]
fn a_core_that_is_a_little_slower_than_the_mesh_writes_a_little_slower() {
    let time = |core_ps: u32| {
        let text = format!(
            "name = \"slow\"\nbase = \"booksim-mesh\"\nsummary = \"Slow cores.\"\nsource = \"by hand\"\n\
             [clocks.core]\nperiod = {{ value = {core_ps}, unit = \"ps\", kind = \"assumed\", \
             source = \"by hand\" }}\n[endpoint]\nclock = \"core\"\npacket = {{ value = 256, \
             unit = \"words\", kind = \"assumed\", source = \"by hand\" }}\n\
             queue = {{ value = 512, unit = \"words\", kind = \"assumed\", source = \"by hand\" }}\n"
        );
        let chip = Chip::parse(&text, "slow.toml").expect("a chip");
        let request = Request::new(Collective::Bcast, 2, 16 * 200);
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let report = SimMachine::new(&chip).run(&Job::new(&linear.schedule(&request)));
        report.expect("it runs").makespan.ps()
    };
    let fast = time(1000);
    for core_ps in [1001, 1250, 1500, 1999, 2000, 3000] {
        // 200 words and a header: the rest takes as long as it did, and a word is written a cycle late
        // at most.
        let slow = fast + 201 * u64::from(core_ps - 1000);
        let taken = time(core_ps);
        assert!(
            (slow..=slow + 4 * 1000).contains(&taken),
            "{core_ps} ps: {taken} and not {slow}"
        );
    }
}
