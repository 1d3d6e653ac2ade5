// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPI programs in C on simulated chips: the same results as elsewhere, the same times in every run, and
//! how those end that cannot go on.

use crate::fields;
use crate::mpi;

use std::process::{Command, Output};

use corecast_core::Rank;
use corecast_machine::{
    Cause, Done, Endpoint, Pending, Program as MessageProgram, Programs, RunError, RunOptions,
    Source, TagFilter, Time,
};
use corecast_machine_sim::SimMachine;
use mpi::{Interface, MPICH, Program, STANDARD, text};
use serde_json::Value;

/// Bytes that the library puts before a short message.
const HEAD_BYTES: usize = 12;

fn program(interface: &Interface) -> Program {
    Program::new("virtual.c", interface)
}

fn on(program: &Program, chip: &str, ranks: u32, arguments: &[&str]) -> Output {
    let mut command = program.mpirun_with(&["--chip", chip], ranks, arguments);
    command.output().expect("the binary runs")
}

/// What a run that ends well prints.
fn said(output: &Output) -> String {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    text(&output.stdout)
}

#[test]
fn every_chip_gives_the_results_of_this_computer_and_the_same_times_twice() {
    let chips: Vec<&str> = corecast_chip::builtin_names().collect();
    assert!(chips.len() > 3, "{chips:?}");
    for (index, chip) in chips.into_iter().enumerate() {
        let program = program([&STANDARD, &MPICH][index % 2]);
        let here = program.run(6, &["storm", "3"]);
        let result = said(&here).lines().next().map(str::to_owned);
        let once = on(&program, chip, 6, &["storm", "3"]);
        let again = on(&program, chip, 6, &["storm", "3"]);
        assert_eq!(
            said(&once).lines().next().map(str::to_owned),
            result,
            "{chip}"
        );
        assert_eq!(said(&once), said(&again), "{chip}");
        assert_eq!(text(&once.stderr), text(&again.stderr), "{chip}");
    }
}

#[test]
fn a_whole_chip_takes_the_same_time_twice() {
    let program = program(&STANDARD);
    let run = || on(&program, "scc", 48, &["storm", "2"]);
    let (once, again) = (run(), run());
    assert_eq!(said(&once), said(&again));
    assert_eq!(text(&once.stderr), text(&again.stderr));
}

/// With many who want the same locks, so that some wait for a long time.
#[test]
fn random_one_sided_communication_does_what_a_naive_model_does() {
    let program = Program::new("windows_random.c", &STANDARD);
    for chip in ["scc", "park2019-bus"] {
        for seed in ["1", "2"] {
            said(&on(&program, chip, 4, &[seed, "apart"]));
        }
    }
}

/// Files take no time there and messages do: no rank has others write for it.
#[test]
fn random_collective_accesses_to_files_do_what_a_naive_model_does() {
    let program = Program::new("files_random.c", &STANDARD);
    for chip in ["scc", "park2019-bus"] {
        said(&on(&program, chip, 4, &["1", "alone"]));
    }
}

/// The same as the program's `pingpong`, without MPI.
struct Pingpong {
    bytes: usize,
    tick: Time,
}

impl MessageProgram for Pingpong {
    type Output = u64;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<u64, RunError> {
        let me = endpoint.rank().0;
        let payload = || vec![0; self.bytes].into();
        let mut pending: Vec<Pending> = Vec::new();
        pending.push(endpoint.irecv(Source::Any, TagFilter::Any).await?);
        let mut since = Vec::new();
        for _ in 0..3 {
            since.push(endpoint.now().ps());
            if me == 0 {
                // A look at the clock.
                endpoint.compute(self.tick).await?;
                pending.push(endpoint.isend(Rank(1), 0, payload()).await?);
            }
            loop {
                let (index, done) = endpoint.wait_any(&pending).await?;
                if let Done::Received(_) = done {
                    pending[index] = endpoint.irecv(Source::Any, TagFilter::Any).await?;
                    break;
                }
                drop(pending.remove(index));
            }
            if me == 1 {
                pending.push(endpoint.isend(Rank(0), 0, payload()).await?);
            }
        }
        Ok(since[2] - since[1])
    }

    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let _ = endpoint.finish().await;
        Ok(())
    }
}

#[test]
fn a_message_takes_as_long_as_one_of_the_chip_with_twelve_bytes_more() {
    let program = program(&STANDARD);
    // With the largest sizes that are sent without asking.
    for (name, most) in [
        ("scc", 6000),
        ("tilepro64", 400),
        ("nagam", 400),
        ("park2019-bus", 60_000),
    ] {
        let chip = corecast_chip::find(name).expect("built in");
        let tick = Time::from_ps(chip.reference_clock().period_ps);
        for bytes in [0, 8, most] {
            let alone = Pingpong {
                bytes: bytes + HEAD_BYTES,
                tick,
            };
            let machine = SimMachine::new(&chip);
            let run = machine.run_programs(2, &alone, &RunOptions::default());
            let expected = run.expect("runs").outputs[0];
            let output = on(&program, name, 2, &["pingpong", &bytes.to_string()]);
            let took: u64 = said(&output).trim().parse().expect("a number");
            assert_eq!(took, expected, "{name}, {bytes} bytes");
        }
    }
}

/// Picoseconds of the whole run, as its report has them.
fn makespan_ns(program: &Program, options: &[&str], ranks: u32, arguments: &[&str]) -> Value {
    let report = program.folder.path().join("whole.json");
    let report = report.to_str().expect("UTF-8");
    let options = [options, &["--report", report]].concat();
    let mut command = program.mpirun_with(&options, ranks, arguments);
    said(&command.output().expect("the binary runs"));
    let text = std::fs::read_to_string(report).expect("written");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["makespan_ns"].clone()
}

#[test]
fn a_collective_takes_as_long_as_on_the_machine_of_programs() {
    let program = program(&STANDARD);
    let cases = [
        ("scc", "bcast", "binomial", "4096", 12),
        ("tilepro64", "allreduce", "recursive-doubling", "64", 6),
        ("tilepro64", "bcast", "van-de-geijn", "20000", 5),
        ("nagam", "gather", "binomial", "1000", 7),
        ("park2019-bus", "alltoall", "pairwise", "70000", 4),
        ("park2019-bus", "bcast", "apoc", "70000", 4),
        ("scc", "barrier", "dissemination", "0", 9),
        ("scc", "allreduce", "recursive-doubling", "8", 48),
        ("nagam", "reduce", "kary-tree", "8", 9),
        ("tilepro64", "allgather", "bruck", "32", 11),
        ("park2019-bus", "alltoall", "bruck", "16", 7),
    ];
    for (chip, call, algorithm, bytes, ranks) in cases {
        let named = format!("CORECAST_ALGORITHM_{}={algorithm}", call.to_uppercase());
        let options = ["--chip", chip, "-x", &named];
        let took = makespan_ns(&program, &options, ranks, &[call, bytes]);
        let mut alone = Command::new(env!("CARGO_BIN_EXE_corecast"));
        let scene =
            format!("run {call} --machine mpi --chip {chip} --algorithm {algorithm} --json");
        alone
            .args(scene.split(' '))
            .args(["--ranks", &ranks.to_string()]);
        if call != "barrier" {
            alone.args(["--bytes", bytes]);
        }
        if ["allreduce", "reduce"].contains(&call) {
            alone.args(["--dtype", "i32"]);
        }
        let runs: Value =
            serde_json::from_str(&said(&alone.output().expect("it runs"))).expect("JSON");
        let run = runs.as_array().map_or(&runs, |runs| &runs[0]);
        assert_eq!(took, run["makespan_ns"], "{chip} {call} {bytes}");
    }
}

/// Ranks that give collectives and messages away are where those are that do not, at every moment, whatever goes
/// on beside them; and they are woken less often.
#[test]
fn collectives_and_messages_take_as_long_whoever_carries_them_out() {
    let chips: Vec<&str> = corecast_chip::builtin_names().collect();
    for (index, chip) in chips.into_iter().enumerate() {
        let program = program([&STANDARD, &MPICH][index % 2]);
        let report = program.folder.path().join("r.json");
        let run = |variable: &str, check: [&str; 2]| {
            let report = report.to_str().expect("UTF-8");
            let options = ["--chip", chip, "--report", report, "-x", variable];
            let mut command = program.mpirun_with(&options, 6, &check);
            let told = said(&command.output().expect("the binary runs"));
            let text = std::fs::read_to_string(report).expect("written");
            let mut report: Value = serde_json::from_str(&text).expect("JSON");
            let hand_overs = report["hand_overs"].take();
            (told, report, hand_overs.as_u64().expect("a number"))
        };
        for check in [["storm", "3"], ["beside", "5"], ["exchange", "7"]] {
            let [carried, kept] = ["CORECAST_CARRY=1", "CORECAST_CARRY=0"].map(|it| run(it, check));
            assert_eq!(carried.0, kept.0, "{check:?} on {chip}");
            assert_eq!(carried.1, kept.1, "{check:?} on {chip}");
            assert!(carried.2 < kept.2, "{check:?} on {chip}: {carried:?}");
        }
        for check in [["beside", "2"], ["exchange", "4"]] {
            let wrong = run("CORECAST_CARRY=1", check).0;
            assert!(wrong.starts_with("0\n"), "{check:?} on {chip}: {wrong}");
        }
    }
}

/// Who waits for whom is told in the same words, and whose sum has another length.
#[test]
fn what_cannot_end_is_told_whoever_carries_it_out() {
    let program = program(&STANDARD);
    let run = |chip: &str, variables: [&str; 2], check: [&str; 2]| {
        let options = ["--chip", chip, "-x", variables[0], "-x", variables[1]];
        let output = program.mpirun_with(&options, 5, &check).output();
        let output = output.expect("the binary runs");
        (output.status.code(), text(&output.stderr))
    };
    let doubling = "CORECAST_ALGORITHM_ALLREDUCE=recursive-doubling";
    let whoever = ["CORECAST_CARRY=1", "CORECAST_CARRY=0"];
    // Who sends what is not short waits for its receiver, too.
    let and_sends = " and for rank 4 to receive in MPI_COMM_WORLD\n";
    for (chip, count, end) in [
        ("scc", "1", "\n"),
        ("nagam", "1", "\n"),
        ("tilepro64", "2000", and_sends),
    ] {
        let [carried, kept] = whoever.map(|it| run(chip, [it, doubling], ["alone", count]));
        assert_eq!(carried, kept, "{chip}");
        let (code, told) = carried;
        assert_eq!(code, Some(3), "{told}");
        let waits = "waits in MPI_Allreduce for a message from rank 4 in MPI_COMM_WORLD";
        for expected in [
            "rank 4 waits in MPI_Recv for a message from rank 0 with tag 9 in MPI_COMM_WORLD\n",
            &format!(" {waits}{end}"),
        ] {
            assert!(told.contains(expected), "{told}");
        }
    }
    for chip in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let [carried, kept] = whoever.map(|it| run(chip, [it, doubling], ["amiss", "1"]));
        assert_eq!(carried, kept, "{chip}");
        let (code, told) = carried;
        assert_eq!(code, Some(3), "{told}");
        let mut expected = "rank 0 waits in MPI_Waitall for a message from any rank with tag 6 in \
                            MPI_COMM_WORLD"
            .to_owned();
        // The bus takes 20000 bytes along with their envelope.
        if chip != "park2019-bus" {
            expected += " and for rank 2 to receive";
        }
        assert!(told.contains(&expected), "{chip}: {told}");
    }
    for (variable, count) in whoever.into_iter().flat_map(|it| [(it, "1"), (it, "8000")]) {
        let (code, told) = run("scc", [variable, doubling], ["unlike", count]);
        assert_eq!(code, Some(15), "{told}");
        let expected = "; counts and types of all ranks must agree (MPI_ERR_TRUNCATE)\n";
        assert!(told.contains(expected), "{told}");
    }
}

/// The tables that come with the chip say so; calls that go on beside others use messages.
#[test]
fn broadcasts_are_the_hardwares_where_the_chip_has_some() {
    let program = program(&STANDARD);
    for (chip, ranks) in [("park2019-bus", 7), ("chung2011-bus", 4), ("scc", 5)] {
        let output = on(&program, chip, ranks, &["broadcasts"]);
        let expected = "0 wrong\n".repeat(ranks as usize);
        assert_eq!(said(&output), expected, "{chip}");
    }
    let explains = |call: &str| {
        let options = ["--chip", "park2019-bus", "-x", "CORECAST_EXPLAIN=1"];
        let output = program.mpirun_with(&options, 7, &[call, "64"]).output();
        text(&output.expect("the binary runs").stderr)
    };
    let told = explains("bcast");
    let expected = "MPI_Bcast, 7 ranks, 64 bytes: apoc by the machine's own broadcast (";
    assert!(told.contains(expected), "{told}");
    let told = explains("ibcast");
    let expected = "MPI_Ibcast, 7 ranks, 64 bytes: binomial over messages (";
    assert!(told.contains(expected), "{told}");
    assert!(
        told.contains("a table's is for the machine's own broadcasts"),
        "{told}"
    );
}

#[test]
fn a_schedule_under_mpi_is_explained_without_a_bound() {
    let scene =
        "explain bcast --machine mpi --chip park2019-bus --ranks 8 --bytes 256 --algorithm apoc";
    let mut explain = Command::new(env!("CARGO_BIN_EXE_corecast"));
    let told = said(&explain.args(scene.split(' ')).output().expect("it runs"));
    assert!(told.contains("\n85 cycles, no bound is known\n"), "{told}");
}

#[test]
fn who_does_not_take_part_in_a_broadcast_is_named() {
    let program = program(&STANDARD);
    let output = on(&program, "park2019-bus", 3, &["absent"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    for expected in [
        "rank 0 waits in MPI_Bcast for rank 2 to take part in MPI_COMM_WORLD\n",
        "rank 1 waits in MPI_Bcast for rank 2 to take part in MPI_COMM_WORLD\n",
        "rank 2 waits in MPI_Recv for a message from rank 0 with tag 7 in MPI_COMM_WORLD\n",
    ] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn roots_of_a_broadcast_that_differ_are_told() {
    let program = program(&STANDARD);
    let output = on(&program, "park2019-bus", 3, &["roots"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let waits = |rank, other, root, theirs| {
        format!(
            "rank {rank} waits in MPI_Bcast for rank {other} to take part with root {root}, and not with \
             root {theirs}, in MPI_COMM_WORLD\n"
        )
    };
    for expected in [waits(0, 1, 0, 1), waits(1, 0, 1, 0), waits(2, 1, 0, 1)] {
        assert!(told.contains(&expected), "{told}");
    }
}

/// A chip's cores see no memory of each other; those of this computer do.
#[test]
fn who_can_share_memory_is_told() {
    let program = program(&STANDARD);
    for chip in ["scc", "park2019-bus"] {
        assert_eq!(
            said(&on(&program, chip, 3, &["sharing"])),
            "1\n1\n1\n",
            "{chip}"
        );
    }
    assert_eq!(said(&program.run(3, &["sharing"])), "3\n3\n3\n");
}

#[test]
fn calls_before_and_after_the_library_runs_end_the_program() {
    let program = program(&STANDARD);
    for (check, when) in [
        ("early", "before MPI_Init"),
        ("outlived", "after MPI_Finalize"),
    ] {
        for output in [program.run(2, &[check]), on(&program, "scc", 2, &[check])] {
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            let expected = format!("corecast: MPI_Barrier was called {when} (MPI_ERR_OTHER)\n");
            assert!(told.contains(&expected), "{told}");
            assert!(told.contains(" ended with exit code 1"), "{told}");
        }
    }
}

#[test]
fn ranks_on_other_cores_take_what_their_way_takes() {
    let program = program(&STANDARD);
    let time = |chip: &str, cores: &str| {
        let options = ["--chip", chip, "--ranks-to-cores", cores];
        let mut command = program.mpirun_with(&options, 2, &["pingpong", "16"]);
        let output = command.output().expect("the binary runs");
        said(&output).trim().parse::<u64>().expect("picoseconds")
    };
    let usual = said(&on(&program, "scc", 2, &["pingpong", "16"]));
    assert_eq!(time("scc", "0,1").to_string(), usual.trim());
    assert_eq!(time("scc", "rows").to_string(), usual.trim());
    assert!(time("scc", "0,47") > time("scc", "0,1"));
    // One hop, three, and seven of a row: each takes as long as any other.
    let [near, middle, far] = ["0,1", "0,3", "0,7"].map(|cores| time("tilepro64", cores));
    assert!(near < middle);
    assert_eq!((middle - near) * 2, far - middle);
}

#[test]
fn loops_that_look_and_clocks_go_on_in_virtual_time() {
    let program = program(&MPICH);
    for chip in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        for check in ["looks", "watches", "clocks", "threads"] {
            let output = on(&program, chip, 3, &[check]);
            assert_eq!(said(&output), "1\n", "{check} on {chip}");
        }
    }
}

#[test]
fn sessions_begin_again_until_the_process_ends() {
    let program = program(&STANDARD);
    for arguments in [["sessions", "0"], ["sessions", "1"]] {
        let output = on(&program, "scc", 3, &arguments);
        assert_eq!(said(&output), "3\n3\n", "{arguments:?}");
    }
    // What has ended by MPI_Finalize does not begin again.
    let output = on(&program, "scc", 2, &["afterwards"]);
    assert_eq!(said(&output), "1\n");
}

/// A run that ends badly: its exit code, and what it says last.
fn fails(arguments: &[&str], ranks: u32, options: &[&str]) -> (i32, String) {
    let program = program(&STANDARD);
    let options = [&["--chip", "park2019-bus"], options].concat();
    let mut command = program.mpirun_with(&options, ranks, arguments);
    let output = command.output().expect("the binary runs");
    let errors = text(&output.stderr);
    let at = errors.find("error:").unwrap_or_default();
    let code = output.status.code().expect("no signal");
    (code, errors[at..].to_owned())
}

#[test]
fn a_deadlock_says_who_waits_for_whom_in_which_call() {
    let expected = "error: deadlock at 3230 ns: no rank can go on
  rank 0 waits in MPI_Recv for a message from rank 1 with tag 7 in MPI_COMM_WORLD
  rank 1 waits in MPI_Recv for a message from rank 2 with tag 8 in rows
  rank 2 waits in MPI_Send for rank 0 to receive with tag 3 in MPI_COMM_WORLD
  rank 3 waits in MPI_Recv for a message from any rank in rows
  rank 4 waits in MPI_Barrier for a message from rank 3 in rows
";
    assert_eq!(fails(&["deadlock"], 5, &[]), (3, expected.to_owned()));
    let expected = "error: deadlock at 10 ns: no rank can go on
  rank 1 waits in MPI_Finalize for rank 0 to receive
";
    assert_eq!(fails(&["unreceived"], 2, &[]), (3, expected.to_owned()));
    // A probe waits as a receive does.
    let (code, told) = fails(&["probes"], 2, &[]);
    assert_eq!(code, 3, "{told}");
    for expected in [
        "rank 0 waits in MPI_Probe for a message from rank 1 with tag 7 in MPI_COMM_WORLD\n",
        "rank 1 waits in MPI_Mprobe for a message from any rank with tag 8 in MPI_COMM_WORLD\n",
    ] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_quiet_run_says_only_what_the_program_says() {
    let program = program(&STANDARD);
    for (options, is_quiet) in [
        (&["--chip", "scc", "--quiet"][..], true),
        (&["--chip", "scc"], false),
    ] {
        let mut command = program.mpirun_with(options, 2, &["hello"]);
        let output = command.output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(text(&output.stdout), "2 ranks\nand no more");
        assert_eq!(
            output.stderr.is_empty(),
            is_quiet,
            "{}",
            text(&output.stderr)
        );
    }
    // What goes wrong is said.
    let (code, told) = fails(&["deadlock"], 5, &["--quiet"]);
    assert!(
        code == 3 && told.starts_with("error: deadlock at "),
        "{told}"
    );
}

#[test]
fn communicators_without_a_name_are_told_apart_in_a_deadlock() {
    let (code, told) = fails(&["crossed"], 2, &[]);
    assert_eq!(code, 3, "{told}");
    let comms: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split_once("MPI_Allreduce for a message from rank "))
        .filter_map(|(_, rest)| rest.split_once(" in "))
        .map(|(_, comm)| comm)
        .collect();
    let [one, other] = comms[..] else {
        panic!("{told}");
    };
    assert!(one != other, "{told}");
    for comm in [one, other] {
        assert!(
            comm.starts_with("communicator ") && comm.ends_with(" of 2 ranks"),
            "{told}"
        );
    }
}

#[test]
fn what_ranks_have_printed_is_not_lost_when_all_end() {
    let program = program(&STANDARD);
    for (check, ranks) in [("crossed", vec![0, 1]), ("abort", vec![2])] {
        let number = ranks.last().map_or(0, |last| last + 1);
        let mut command = program.mpirun_with(&["--chip", "park2019-bus"], number, &[check]);
        let output = command.output().expect("the binary runs");
        let said = text(&output.stdout);
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        let expected = ranks.iter();
        let expected = expected.map(|rank| format!("rank {rank} has come so far"));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{check}");
    }
}

#[test]
fn who_ends_badly_ends_all_with_one_message() {
    let cases = [
        (
            "crash",
            139,
            "error: rank 2 was killed by signal 11 (SIGSEGV); the others were ended\n",
        ),
        (
            "exit",
            1,
            "error: rank 2 ended before MPI_Finalize; the others were ended\n",
        ),
        (
            "abort",
            5,
            "error: rank 2 called MPI_Abort with code 5; the others were ended\n",
        ),
        ("late", 9, "error: rank 2 ended with exit code 9\n"),
    ];
    for (check, code, message) in cases {
        assert_eq!(
            fails(&[check], 3, &[]),
            (code, message.to_owned()),
            "{check}"
        );
    }
    // What needs memory that all see is refused by the library.
    let (code, message) = fails(&["shared"], 2, &[]);
    assert!(
        code != 0 && message.contains("called MPI_Abort"),
        "{message}"
    );
}

#[test]
fn limits_end_what_does_not_end_by_itself() {
    let expected = "error: the program did not end within 100000 ns of virtual time
  rank 0 is in MPI_Iprobe
  rank 1 is in MPI_Iprobe
  help: raise --limit-ns or --limit-events if the program needs longer
";
    let ended = fails(&["endless"], 2, &["--limit-ns", "100000"]);
    assert_eq!(ended, (3, expected.to_owned()));
    let ended = fails(&["endless"], 2, &["--limit-events", "1000"]);
    assert_eq!(ended.0, 3);
    let expected = "error: the time of 1 s is over; the ranks were ended
  help: rank 1 was between two calls of MPI then: if it loops there, only --timeout ends that, as computing takes no virtual time; if not, it needs a longer one
";
    let program = program(&STANDARD);
    let mut command = program.mpirun_with(&["--chip", "scc", "--timeout", "1"], 2, &["loop"]);
    let output = command.output().expect("the binary runs");
    let ended = (output.status.code(), text(&output.stderr));
    assert_eq!(ended, (Some(124), expected.to_owned()));
}

#[test]
fn a_child_that_fork_made_is_no_rank() {
    let program = program(&STANDARD);
    let output = on(&program, "scc", 2, &["fork"]);
    assert_eq!(said(&output), "1\n");
    let errors = text(&output.stderr);
    assert!(
        errors.contains("rank 1: a child that fork made has called MPI_Barrier"),
        "{errors}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    let refused = |options: &[&str], ranks| {
        let program = program(&STANDARD);
        let mut command = program.mpirun_with(options, ranks, &[]);
        let output = command.output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let expected = "error: -n: 49 ranks do not fit on scc
  help: use 1 to 48 ranks, one per core, or --ranks-per-core 2
";
    assert_eq!(refused(&["--chip", "scc"], 49), expected);
    assert!(refused(&["--chip", "ssc"], 2).contains("did you mean `scc`?"));
    assert!(refused(&["--report", "r.json"], 2).contains("--chip"));
    let chip = ["--chip", "scc"];
    let compute = refused(&[&chip[..], &["--compute", "fast"]].concat(), 2);
    assert!(
        compute.contains("write stated, or measured:FACTOR"),
        "{compute}"
    );
    let skew = refused(&[&chip[..], &["--skew", "7=5"]].concat(), 2);
    assert!(skew.contains("--skew"), "{skew}");
    let one_file = ["--svg", "a.svg", "--trace", "a.svg"];
    assert!(refused(&[&chip[..], &one_file].concat(), 2).contains("name one file"));
}

#[test]
fn a_program_without_mpi_is_no_result() {
    let program = program(&STANDARD);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_corecast"));
    command.args([
        "mpirun",
        "-n",
        "2",
        "--chip",
        "scc",
        "--timeout",
        "60",
        "/bin/true",
    ]);
    let output = command.output().expect("the binary runs");
    let expected = "error: no rank called MPI_Init, so that nothing was simulated
  help: without --chip any program can be started
";
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(1), expected.to_owned())
    );
    drop(program);
}

#[test]
fn reports_account_for_every_nanosecond_of_every_rank() {
    let program = program(&STANDARD);
    let file = |name: &str| program.folder.path().join(name).display().to_string();
    let [report, svg, trace, matrix] = ["r.json", "t.svg", "t.json", "m.csv"].map(file);
    let toml = file("mine.toml");
    let own = "base = \"scc\"\nname = \"mine\"\nsummary = \"Mine.\"\nsource = \"me\"\n";
    std::fs::write(&toml, own).expect("written");
    let options = [
        "--chip",
        &toml,
        "--skew",
        "uniform:500",
        "--seed",
        "3",
        "--report",
        &report,
        "--svg",
        &svg,
        "--trace",
        &trace,
        "--matrix",
        &matrix,
    ];
    let output = program.mpirun_with(&options, 4, &["storm", "2"]).output();
    said(&output.expect("the binary runs"));
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    let report: Value = serde_json::from_str(&read(&report)).expect("JSON");
    let documented = |heading| fields::documented(heading);
    let mut described = documented("mpirun --report");
    described.extend(documented("Settings of results"));
    described.extend(documented("Settings of programs"));
    // Only files have computing in operations.
    assert!(described.remove("flops"));
    let printed = fields::of(&report);
    assert!(printed.is_subset(&described), "{printed:?}");
    let causes: Vec<&str> = Cause::KINDS.to_vec();
    described.retain(|name| !causes.contains(&name.as_str()) && !printed.contains(name));
    assert!(described.is_empty(), "{described:?} are not written");
    assert_eq!(
        (&report["chip"], &report["ranks"]),
        (&"mine".into(), &4.into())
    );
    assert_eq!(
        (&report["seed"], &report["skew"][0]),
        (&3.into(), &"uniform:500".into())
    );
    let sum = |causes: &Value| -> f64 {
        let causes = causes.as_object().expect("causes").values();
        causes.map(|ns| ns.as_f64().expect("a number")).sum()
    };
    let makespan = report["makespan_ns"].as_f64().expect("a number");
    let ranks = report["per_rank"].as_array().expect("ranks");
    for rank in ranks {
        assert!((sum(&rank["causes_ns"]) - makespan).abs() < 1e-6, "{rank}");
        for call in rank["calls"].as_array().expect("calls") {
            let ns = call["ns"].as_f64().expect("a number");
            assert!((sum(&call["causes_ns"]) - ns).abs() < 1e-6, "{call}");
        }
        let count = |name: &str| {
            let calls = rank["calls"].as_array().expect("calls").iter();
            let found = calls.clone().find(|call| call["call"] == name);
            found.map_or(0, |call| call["count"].as_u64().expect("a count"))
        };
        assert_eq!(
            (
                count("MPI_Allreduce"),
                count("MPI_Bcast"),
                count("MPI_Finalize")
            ),
            (2, 2, 1)
        );
    }
    let pairs = report["pairs"].as_array().expect("pairs");
    let messages = pairs
        .iter()
        .map(|pair| pair["messages"].as_u64().expect("a count"));
    assert_eq!(
        messages.sum::<u64>(),
        report["messages"].as_u64().expect("a count")
    );
    assert_eq!(read(&matrix).lines().count(), pairs.len() + 1);
    assert!(read(&svg).contains("an MPI program over 4 ranks"));
    let trace: Value = serde_json::from_str(&read(&trace)).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().any(|event| event["name"] == "MPI_Allreduce"));
}

/// A program whose packets are written down, and replayed.
struct Captured {
    program: Program,
    capture: String,
    report: String,
}

impl Captured {
    fn new() -> Self {
        let program = program(&STANDARD);
        let path = |name: &str| {
            let path = program.folder.path().join(name);
            path.to_str().expect("UTF-8").to_owned()
        };
        Self {
            capture: path("it.calls"),
            report: path("r.json"),
            program,
        }
    }

    /// Runs the program; its time and its messages.
    fn run(&self, chip: &str, ranks: u32, arguments: &[&str]) -> (Value, Value) {
        let options = [
            "--chip",
            chip,
            "--capture",
            &self.capture,
            "--report",
            &self.report,
        ];
        let output = self
            .program
            .mpirun_with(&options, ranks, arguments)
            .output();
        said(&output.expect("the binary runs"));
        makespan(&std::fs::read_to_string(&self.report).expect("written"))
    }

    /// The same of what was captured last.
    fn replay(&self, chip: &str) -> (Value, Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        let output = command
            .args(["replay", &self.capture, "--chip", chip, "--json"])
            .output();
        makespan(&said(&output.expect("the binary runs")))
    }
}

fn makespan(text: &str) -> (Value, Value) {
    let record: Value = serde_json::from_str(text).expect("JSON");
    (record["makespan_ns"].clone(), record["messages"].clone())
}

/// Control flow of these programs does not depend on time, but for who answers first: and that is part of
/// what is captured.
#[test]
fn a_captured_program_takes_the_same_time_without_its_processes() {
    let captured = Captured::new();
    for chip in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        for arguments in [&["storm", "2"][..], &["pingpong", "100000"], &["clocks"]] {
            let expected = captured.run(chip, 4, arguments);
            assert_eq!(captured.replay(chip), expected, "{chip} {arguments:?}");
        }
    }
    // Elsewhere it takes another time.
    assert_ne!(captured.replay("scc"), captured.replay("tilepro64"));
}

/// A flush with nothing to wait for takes no time, as long as there are few of them.
#[test]
fn captured_windows_take_the_same_time() {
    let captured = Captured::new();
    for chip in ["scc", "tilepro64", "nagam"] {
        for kind in 0..8 {
            let arguments = ["windows", &kind.to_string()];
            let expected = captured.run(chip, 6, &arguments);
            assert_eq!(captured.replay(chip), expected, "{chip} {arguments:?}");
        }
    }
}

/// Sends that wait until others are gone wait for those before them, too: messages with one tag would
/// overtake each other on another chip, and be too long for their receives.
#[test]
fn captured_sends_that_wait_for_room_keep_their_order() {
    let captured = Captured::new();
    let chips = ["scc", "tilepro64", "nagam", "park2019-bus"];
    for chip in chips {
        let expected = captured.run(chip, 5, &["crowd", "150"]);
        for other in chips {
            let (took, messages) = captured.replay(other);
            assert_eq!(messages, expected.1, "{chip} {other}");
            assert_eq!(took == expected.0, other == chip, "{chip} {other}");
        }
    }
}

/// What is replayed has messages only.
#[test]
fn a_capture_says_that_broadcasts_are_not_the_hardwares() {
    let captured = Captured::new();
    let told = |chip: &str, more: &[&str]| {
        let options = [&["--chip", chip][..], more].concat();
        let mut command = captured
            .program
            .mpirun_with(&options, 4, &["bcast", "1000"]);
        text(&command.output().expect("the binary runs").stderr)
    };
    let capture = ["--capture", &*captured.capture];
    let expected = "broadcasts go over messages here";
    assert!(told("park2019-bus", &capture).contains(expected));
    assert!(!told("park2019-bus", &[]).contains(expected));
    assert!(!told("scc", &capture).contains(expected));
}

/// More than 64 bits of picoseconds: it would begin again at 0.
#[test]
fn computing_without_end_comes_to_the_limit() {
    let (code, told) = fails(&["stated", "8589935"], 1, &["--limit-ns", "5000000000"]);
    let expected = "error: the program did not end within 5000000000 ns of virtual time\n";
    assert_eq!(code, 3);
    assert!(told.starts_with(expected), "{told}");
    let longest = u64::MAX.to_string();
    let (code, told) = fails(&["stated", "8589935"], 1, &["--limit-ns", &longest]);
    assert_eq!(code, 3, "{told}");
    assert!(
        told.starts_with("error: the program did not end within 18446744073709550 ns"),
        "{told}"
    );
}

/// Only the order says that it comes back when it has come: half of the time is none of a round trip.
#[test]
fn a_ball_without_bytes_takes_nearly_as_long_as_one_with_a_byte() {
    for chip in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let scene = format!("pingpong --machine mpi --chip {chip} --to 1 --bytes 0,1 --json");
        let mut pingpong = Command::new(env!("CARGO_BIN_EXE_corecast"));
        let told = said(&pingpong.args(scene.split(' ')).output().expect("it runs"));
        let rows: Value = serde_json::from_str(&told).expect("JSON");
        let [none, one] = [0, 1].map(|row| rows[row]["latency_ns"].as_f64().expect("a time"));
        assert!(none > one * 0.8 && none <= one, "{chip}: {none} {one}");
    }
}
