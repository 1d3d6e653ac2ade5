// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs on machines: on every chip, the same in every run, and in every format.

use crate::common;

use common::{SAMPLES, load};
use corecast_core::{Collective, Rank, Request, Time, algorithm};
use corecast_exchange::chakra::trace::{self, Node, RECV, SEND};
use corecast_exchange::find_format as find_schedule_format;
use corecast_machine::{
    ByMessages, CallLog, Job, Limits, Machine, Oracle, ProgramRun, Programs, RunError, RunOptions,
};
use corecast_machine_sim::SimMachine;
use corecast_replay::{CallGraph, FORMATS, KINDS, Replay, Stopped};

fn run_on<M: Programs>(machine: &M, graph: &CallGraph) -> Result<ProgramRun<CallLog>, RunError> {
    let replay = Replay::new(graph, &Default::default()).expect("there are schedules");
    let run = replay.run(machine, &RunOptions::default());
    run.map_err(|stopped| stopped.error)
}

fn chip(name: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(name).expect("built in"))
}

fn makespan<T>(run: &ProgramRun<T>) -> Time {
    run.finish.iter().copied().max().expect("a rank")
}

#[test]
fn samples_run_on_every_chip_and_take_the_same_time_twice() {
    let chips: Vec<&str> = corecast_chip::builtin_names().collect();
    assert!(chips.len() > 3, "{chips:?}");
    for name in chips {
        let machine = chip(name);
        for (sample, text) in SAMPLES {
            let graph = load(sample, text).graph;
            if graph.size() > machine.chip().cores_max() {
                continue;
            }
            let run = || {
                run_on(&machine, &graph).unwrap_or_else(|error| panic!("{name} {sample}: {error}"))
            };
            let (once, again) = (run(), run());
            assert_eq!(once.trace_hash, again.trace_hash, "{name} {sample}");
            assert_eq!(once.finish, again.finish, "{name} {sample}");
            assert_eq!(once.outputs, again.outputs, "{name} {sample}");
        }
    }
}

#[test]
fn a_program_takes_the_same_time_in_every_format() {
    let machine = chip("tilepro64");
    for (sample, text) in SAMPLES {
        let graph = load(sample, text).graph;
        let time = makespan(&run_on(&machine, &graph).expect("it runs"));
        let mut written = 0;
        for format in FORMATS {
            // Chakra's traces have whole microseconds.
            if format.name() == "chakra" {
                continue;
            }
            if let Ok(other) = format.write(&graph) {
                let name = format!("it.{}", format.extension());
                let graph = load(&name, other.files.concat()).graph;
                let run = run_on(&machine, &graph).expect("it runs");
                assert_eq!(makespan(&run), time, "{sample} as {name}");
                written += 1;
            }
        }
        assert!(written > 0, "{sample}");
    }
}

#[test]
fn a_schedule_as_a_graph_takes_the_time_that_it_takes_over_messages() {
    let goal = find_schedule_format("goal").expect("in the list");
    let mut compared = 0;
    for name in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let machine = chip(name);
        let rooted = [
            (Collective::Bcast, "linear"),
            (Collective::Bcast, "binomial"),
            (Collective::Scatter, "binomial"),
            (Collective::Gather, "binomial"),
            (Collective::Gather, "linear"),
        ];
        for (collective, algorithm) in rooted {
            for bytes in [8, 700, 10_000] {
                let request = Request::new(collective, 8, bytes);
                let algorithm = algorithm::find(collective, algorithm).expect("registered");
                let schedule = algorithm::build(algorithm, &request).expect("it serves");
                let by_messages = ByMessages(machine.clone()).run(&Job::new(&schedule));
                let by_messages = by_messages.expect("it runs").makespan;
                let text = goal.write(&schedule).expect("a graph");
                let graph = load("it.goal", text.text().expect("text")).graph;
                let run = run_on(&machine, &graph).expect("it runs");
                assert_eq!(makespan(&run), by_messages, "{name} {collective} {bytes}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 4 * 5 * 3);
}

#[test]
fn what_computes_takes_its_time_and_messages_go_meanwhile() {
    let text = "corecast calls 1\nranks 2\nrank 0\n  compute 5us\n  compute 2.5us\n";
    let run = run_on(&chip("scc"), &load("it.calls", text).graph).expect("it runs");
    assert_eq!(run.finish, [Time::from_ps(7_500_000), Time::ZERO]);
    // The message is on its way when computing begins, in whatever order the file has them.
    let text =
        "num_ranks 2\nrank 0 {\ncalc 9000000\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
    let run = run_on(&Oracle, &load("it.goal", text).graph).expect("it runs");
    let spans = &run.outputs[0].counts;
    let named: Vec<(&str, u64)> = spans
        .iter()
        .map(|&(kind, count)| (KINDS[kind as usize], count))
        .collect();
    assert_eq!(named, [("compute", 1), ("send", 1)]);
}

#[test]
fn deadlocks_name_the_calls_in_a_circle() {
    let text = "corecast calls 1\nranks 3\nrank 0\n  recv 1 8\n  send 1 8\n\
                rank 1\n  recv 0 8\n  send 0 8\n  barrier\nrank 0\n";
    // Rank 2 waits in the barrier for the others.
    let text = text.replace("rank 0\n  recv", "rank 2\n  barrier\nrank 0\n  recv");
    let text = text
        .trim_end_matches("rank 0\n")
        .replace("  send 1 8\n", "  send 1 8\n  barrier\n");
    let graph = load("it.calls", &text).graph;
    let replay = Replay::new(&graph, &Default::default()).expect("there are schedules");
    for machine in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let run = replay.run(&chip(machine), &RunOptions::default());
        let stopped = run.expect_err("nobody can go on");
        assert!(matches!(stopped.error, RunError::Deadlock { .. }));
        let lines: Vec<String> = stopped.stuck.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        let expected = "rank 0 waits in `recv up to 8 bytes from rank 1 with tag 0` (it.calls:6)";
        assert_eq!(lines[0], expected, "{machine}");
        assert!(
            lines[2].starts_with("rank 2 waits in `barrier` (it.calls:4)"),
            "{}",
            lines[2]
        );
    }
}

#[test]
fn a_limit_names_what_was_under_way() {
    let text = "corecast calls 1\nranks 2\nrank 0\n  compute 9us\n  send 1 8\nrank 1\n  recv 0 8\n";
    let graph = load("it.calls", text).graph;
    let replay = Replay::new(&graph, &Default::default()).expect("no collectives");
    let options = RunOptions {
        limits: Limits {
            time: Time::from_ps(1_000_000),
            ..Limits::default()
        },
        ..RunOptions::default()
    };
    let run = replay.run(&chip("tilepro64"), &options);
    let Stopped { error, stuck } = run.expect_err("it takes longer");
    assert!(matches!(error, RunError::TimeLimit { .. }), "{error}");
    assert!(stuck.iter().any(|one| one.rank == 1), "{stuck:?}");
}

#[test]
fn a_message_that_is_too_long_is_told_with_its_place() {
    let text = "corecast calls 1\nranks 2\nrank 0\n  send 1 9\nrank 1\n  recv 0 8\n";
    let graph = load("it.calls", text).graph;
    let error = run_on(&Oracle, &graph).expect_err("it does not fit");
    let expected = "rank 1 failed: it.calls:6: recv up to 8 bytes from rank 0 with tag 0 got a message of \
                    9 bytes";
    assert_eq!(error.to_string(), expected);
}

/// A receive with any tag must not take what a collective or another group has sent.
#[test]
fn any_tag_is_any_of_its_group() {
    let text = "corecast calls 1\nranks 2\ngroup other 1 0\n\
                rank 0\n  isend 1 8 tag 3\n  iallreduce 16\n  send 0 24 tag 3 in other\n\
                rank 1\n  recv any 8 tag any in other\n  recv any 8 tag any\n  allreduce 16\n";
    // In the other group rank 0 is rank 1.
    let text = text.replace("recv any 8 tag any in other", "recv 1 24 tag any in other");
    let graph = load("it.calls", &text).graph;
    for machine in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let run = run_on(&chip(machine), &graph);
        let run = run.unwrap_or_else(|error| panic!("{machine}: {error}"));
        assert_eq!(run.messages.len(), 4, "{machine}");
    }
}

#[test]
fn every_collective_runs_in_every_form_over_a_group() {
    let forms = [
        "barrier in g",
        "bcast 300 root 2 in g",
        "scatter 20 root 1 in g",
        "scatter counts 1 2 3 root 1 in g",
        "gather 20 in g",
        "gather counts 1 0 3 in g",
        "allgather 20 in g",
        "allgather counts 5 0 9 in g",
        "reduce 64 root 2 element 8 in g",
        "allreduce 64 element 4 in g",
        "reduce_scatter 64 in g",
        "reduce_scatter counts 8 0 16 in g",
        "alltoall 40 in g",
        "scan 16 in g",
        "exscan 16 in g",
    ];
    let mut text = "corecast calls 1\nranks 4\ngroup g 3 0 2\n".to_owned();
    for rank in [3, 0, 2] {
        text += &format!("rank {rank}\n  {}\n", forms.join("\n  "));
    }
    let graph = load("it.calls", &text).graph;
    let run = run_on(&chip("tilepro64"), &graph).expect("all of them run");
    let (talks, rests) = (
        run.messages
            .iter()
            .filter(|m| m.from != Rank(1) && m.to != Rank(1)),
        0,
    );
    assert_eq!(talks.count(), run.messages.len() - rests);
    assert!(run.messages.len() > 30);
}

/// As ASTRA-sim's own ring allreduce has it: a long message to the right, then one from the left.
#[test]
fn traces_in_which_all_send_before_they_receive_end_on_every_chip() {
    let file = |rank: u32| {
        let [right, left] = [(rank + 1) % 4, (rank + 3) % 4];
        let message = |id: u64, kind, peer: &str, of: u32| Node {
            id,
            kind,
            after: (1..id).collect(),
            numbers: trace::of_message(kind, (131_072, peer, of, 0)),
            ..Node::default()
        };
        let calls = [
            message(1, SEND, "comm_dst", right),
            message(2, RECV, "comm_src", left),
            message(3, SEND, "comm_dst", right),
            message(4, RECV, "comm_src", left),
        ];
        trace::file(&[], &calls)
    };
    let graph = load("ring.0.et", (0..4).flat_map(file).collect::<Vec<u8>>()).graph;
    for name in corecast_chip::builtin_names() {
        let run = run_on(&chip(name), &graph).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(makespan(&run) > Time::ZERO, "{name}");
    }
}

#[test]
fn files_of_others_run() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let path = std::path::Path::new(&reference).join("goal/binary_tree_32.goal");
    let text = std::fs::read_to_string(path).expect("readable");
    let run = run_on(&chip("scc"), &load("binary_tree_32.goal", &text).graph).expect("it runs");
    assert_eq!(run.messages.len(), 31);
}
