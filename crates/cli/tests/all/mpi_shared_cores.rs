// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPI programs of which several ranks share a core of a simulated chip.

use crate::mpi;

use corecast_machine::{Endpoint, Program as MessageProgram, Programs, RunError, RunOptions, Time};
use corecast_machine_sim::SimMachine;
use mpi::{Interface, MPICH, Program, STANDARD, text};
use serde_json::Value;

const CHIPS: [&str; 4] = ["scc", "tilepro64", "nagam", "park2019-bus"];

fn program(interface: &Interface) -> Program {
    Program::new("virtual.c", interface)
}

/// What a run that ends well prints, and what is said about it.
fn said(program: &Program, options: &[&str], ranks: u32, arguments: &[&str]) -> (String, String) {
    let mut command = program.mpirun_with(options, ranks, arguments);
    let output = command.output().expect("the binary runs");
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{options:?}: {told}");
    (text(&output.stdout), told)
}

fn shared<'a>(chip: &'a str, per_core: &'a str) -> Vec<&'a str> {
    vec!["--chip", chip, "--ranks-per-core", per_core]
}

#[test]
fn they_give_the_results_of_this_computer_and_the_same_times_twice() {
    for (index, chip) in CHIPS.into_iter().enumerate() {
        let program = program([&STANDARD, &MPICH][index % 2]);
        let here = text(&program.run(7, &["storm", "3"]).stdout);
        // Two, of which the last core has one; three; all.
        for per_core in ["2", "3", "7"] {
            let run = || said(&program, &shared(chip, per_core), 7, &["storm", "3"]);
            let (once, again) = (run(), run());
            assert_eq!(once.0.lines().next(), here.lines().next(), "{chip}");
            assert_eq!(once, again, "{chip}, {per_core}");
        }
    }
}

#[test]
fn one_sided_communication_does_what_a_naive_model_does() {
    let program = Program::new("windows_random.c", &STANDARD);
    for chip in ["scc", "tilepro64"] {
        said(&program, &shared(chip, "2"), 5, &["1", "apart"]);
    }
}

#[test]
fn loops_that_look_let_the_others_go_on() {
    let program = program(&MPICH);
    for chip in CHIPS {
        for check in ["looks", "watches", "clocks"] {
            let (printed, _) = said(&program, &shared(chip, "3"), 3, &[check]);
            // Who is late computes in one turn: there may be one look in vain and no more.
            let expected = if check == "looks" { "0\n" } else { "1\n" };
            assert_eq!(printed, expected, "{check} on {chip}");
        }
    }
}

/// Two copies and a look at the clock, on the machine itself.
struct Copies {
    bytes: u64,
    tick: Time,
}

impl MessageProgram for Copies {
    type Output = u64;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<u64, RunError> {
        let since = endpoint.now();
        endpoint.compute(self.tick).await?;
        endpoint.copy(self.bytes).await?;
        endpoint.copy(self.bytes).await?;
        Ok((endpoint.now() - since).ps())
    }
}

#[test]
fn a_message_within_a_core_is_a_copy() {
    let program = program(&STANDARD);
    for name in CHIPS {
        let chip = corecast_chip::find(name).expect("built in");
        for bytes in [0, 8, 200] {
            let copies = Copies {
                bytes: bytes + 16,
                tick: Time::from_ps(chip.reference_clock().period_ps),
            };
            let run = SimMachine::new(&chip).run_programs(1, &copies, &RunOptions::default());
            let expected = run.expect("runs").outputs[0];
            let bytes = bytes.to_string();
            let (printed, _) = said(&program, &shared(name, "2"), 2, &["pingpong", &bytes]);
            let took: u64 = printed.trim().parse().expect("a number");
            assert_eq!(took, expected, "{name}, {bytes} bytes");
        }
    }
}

/// The report of a run of the program.
fn report(program: &Program, options: &[&str], ranks: u32, arguments: &[&str]) -> Value {
    let path = program.folder.path().join("shared.json");
    let options = [options, &["--report", path.to_str().expect("UTF-8")]].concat();
    said(program, &options, ranks, arguments);
    let text = std::fs::read_to_string(path).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn computing_takes_turns() {
    let program = program(&STANDARD);
    let alone = report(&program, &["--chip", "nagam"], 4, &["uneven"]);
    let shared = report(&program, &shared("nagam", "4"), 4, &["uneven"]);
    let compute = |report: &Value| number(&report["causes_ns"]["compute"]);
    // Three rounds of 50 us on one rank and 5 us on the others.
    assert!(compute(&alone) >= 195_000.0 && number(&alone["makespan_ns"]) < 160_000.0);
    assert!(compute(&shared) >= 195_000.0 && number(&shared["makespan_ns"]) >= 195_000.0);
    // Nothing else takes long: of the time of the core nobody waits in vain.
    assert!(number(&shared["makespan_ns"]) < 200_000.0, "{shared}");
    assert_eq!(shared["ranks_per_core"], 4);
    // Ranks wait for each other, and the path goes through the turns of all.
    let path = shared["critical_path"].as_array().expect("stretches");
    let ranks = path.iter().map(|stretch| number(&stretch["rank"]) as u32);
    assert_eq!(
        ranks.collect::<std::collections::BTreeSet<_>>(),
        (0..4).collect()
    );
}

#[test]
fn every_rank_has_its_own_messages_calls_and_causes() {
    let program = program(&STANDARD);
    for chip in CHIPS {
        let tables = ["--table", "none"];
        let alone = [&["--chip", chip][..], &tables].concat();
        let alone = report(&program, &alone, 7, &["storm", "2"]);
        for per_core in ["2", "7"] {
            let options = [&shared(chip, per_core)[..], &tables].concat();
            let shared = report(&program, &options, 7, &["storm", "2"]);
            let pairs = |report: &Value| -> Vec<(u64, u64, u64, u64)> {
                let pairs = report["pairs"].as_array().expect("pairs").iter();
                let of = |pair: &Value, name: &str| pair[name].as_u64().expect("a count");
                let more = if report["ranks_per_core"] == 1 { 4 } else { 0 };
                let pair = |pair: &Value| {
                    let messages = of(pair, "messages");
                    let bytes = of(pair, "bytes") + more * messages;
                    (of(pair, "from"), of(pair, "to"), messages, bytes)
                };
                pairs.map(pair).collect()
            };
            assert_eq!(pairs(&alone), pairs(&shared), "{chip}, {per_core} per core");
            let makespan = number(&shared["makespan_ns"]);
            let ranks = |report: &Value| report["per_rank"].as_array().expect("ranks").clone();
            for (rank, other) in ranks(&shared).iter().zip(&ranks(&alone)) {
                let causes = rank["causes_ns"].as_object().expect("causes").values();
                let sum: f64 = causes.map(number).sum();
                assert!((sum - makespan).abs() < 1e-6, "{chip}: {rank}");
                let counts = |rank: &Value| {
                    let calls = rank["calls"].as_array().expect("calls").iter();
                    let mut counts: Vec<_> = calls
                        .filter(|call| call["call"] != "no call")
                        .map(|call| (call["call"].to_string(), call["count"].as_u64()))
                        .collect();
                    counts.sort();
                    counts
                };
                assert_eq!(counts(rank), counts(other), "{chip}");
            }
        }
    }
}

#[test]
fn more_ranks_than_cores_fit_and_one_too_many_is_refused() {
    let program = program(&STANDARD);
    said(&program, &shared("park2019-bus", "3"), 24, &["ring", "64"]);
    let refused = |options: &[&str], ranks| {
        let output = program.mpirun_with(options, ranks, &["ring", "8"]).output();
        let output = output.expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert_eq!(
        refused(&shared("scc", "3"), 145),
        "error: -n: 145 ranks do not fit on scc\n  help: use 1 to 144 ranks, 3 per core\n"
    );
    assert_eq!(
        refused(&shared("scc", "0"), 2),
        "error: --ranks-per-core: 0 ranks cannot share a core\n  help: use 1 to 65536\n"
    );
    assert!(refused(&["--ranks-per-core", "2"], 2).contains("--chip"));
}

/// A replay takes turns as the program did.
#[test]
fn a_captured_program_takes_the_same_time_with_as_many_ranks_on_a_core() {
    let program = program(&STANDARD);
    let capture = program.folder.path().join("it.calls");
    let capture = capture.to_str().expect("UTF-8");
    for chip in CHIPS {
        for per_core in ["2", "3", "5"] {
            for arguments in [&["storm", "2"][..], &["pingpong", "100000"], &["uneven"]] {
                let options = [&shared(chip, per_core)[..], &["--capture", capture]].concat();
                let told = report(&program, &options, 5, arguments);
                let replay = ["replay", capture, "--json"];
                let output = std::process::Command::new(env!("CARGO_BIN_EXE_corecast"))
                    .args([&replay[..], &shared(chip, per_core)].concat())
                    .output()
                    .expect("the binary runs");
                assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
                let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
                for what in ["makespan_ns", "messages", "pairs"] {
                    let which = format!("{what} of {arguments:?} on {chip}, {per_core} per core");
                    assert_eq!(again[what], told[what], "{which}");
                }
            }
        }
    }
}

#[test]
fn a_deadlock_names_ranks_and_not_cores() {
    let program = program(&STANDARD);
    let options = shared("park2019-bus", "2");
    let output = program.mpirun_with(&options, 5, &["deadlock"]).output();
    let output = output.expect("the binary runs");
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let (_, told) = told.split_once("no rank can go on\n").expect("a deadlock");
    let expected =
        "  rank 0 waits in MPI_Recv for a message from rank 1 with tag 7 in MPI_COMM_WORLD
  rank 1 waits in MPI_Recv for a message from rank 2 with tag 8 in rows
  rank 2 waits in MPI_Send for rank 0 to receive with tag 3 in MPI_COMM_WORLD
  rank 3 waits in MPI_Recv for a message from any rank in rows
  rank 4 waits in MPI_Barrier for a message from rank 3 in rows
";
    assert_eq!(told, expected);
}

#[test]
fn late_cores_are_late_with_all_their_ranks() {
    let program = program(&STANDARD);
    let options = [&shared("scc", "2")[..], &["--skew", "1=100000"]].concat();
    let report = report(&program, &options, 4, &["ring", "8"]);
    assert!(number(&report["makespan_ns"]) > 100_000.0);
    let output = program
        .mpirun_with(
            &[&shared("scc", "2")[..], &["--skew", "2=5"]].concat(),
            4,
            &[],
        )
        .output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
