// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPI programs in C under `corecast mpirun`: messages between ranks, and how ranks end.
//!
//! The programs are compiled here, once per test, against the libraries that were built with the test.

use crate::mpi;

use std::path::Path;
use std::process::{Command, Stdio};

use mpi::{Interface, MPICH, Program, STANDARD, text};

#[test]
fn every_rank_knows_its_place() {
    let program = Program::new("messages.c", &STANDARD);
    // With one rank and without the launcher, too.
    let mut alone = Command::new(program.path());
    let alone = alone
        .arg("hello")
        .env("LD_LIBRARY_PATH", program.folder.path())
        .output();
    assert_eq!(text(&alone.expect("it runs").stdout), "rank 0 of 1\n");
    for ranks in [1, 2, 5] {
        let output = program.run(ranks, &["hello"]);
        let out = text(&output.stdout);
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        let expected: Vec<String> = (0..ranks).map(|r| format!("rank {r} of {ranks}")).collect();
        assert_eq!(lines, expected, "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0));
    }
}

/// Runs every check of messages on several numbers of ranks, more than there are cores among them.
fn messages_arrive(interface: &Interface) {
    let program = Program::new("messages.c", interface);
    let checks = [
        "ring",
        "wildcards",
        "large",
        "unexpected",
        "ssend",
        "probe",
        "sleeps",
    ];
    for check in checks {
        for ranks in [2, 3, 6] {
            let output = program.run(ranks, &[check]);
            let said = text(&output.stderr);
            let code = output.status.code();
            assert_eq!(code, Some(0), "{check}, {ranks} ranks: {said}");
        }
    }
}

/// Runs every check of a program on several numbers of ranks, more than there are cores among them.
fn checks_pass(source: &str, interface: &Interface, checks: &[&str], all_ranks: &[u32]) {
    let program = Program::new(source, interface);
    for check in checks {
        for &ranks in all_ranks {
            let output = program.run(ranks, &[check]);
            let said = text(&output.stderr);
            let code = output.status.code();
            assert_eq!(code, Some(0), "{check}, {ranks} ranks: {said}");
        }
    }
}

/// Of objects that others still use, and of errors.
const DETAILS: [&str; 13] = [
    "keys",
    "frees",
    "elements",
    "persistent",
    "parts",
    "edges",
    "torus",
    "codes",
    "errors",
    "statuses",
    "sessions",
    "views",
    "windows",
];

#[test]
fn objects_live_as_long_as_others_use_them() {
    for interface in [&STANDARD, &MPICH] {
        checks_pass("details.c", interface, &DETAILS, &[1, 2, 3, 6]);
    }
}

#[test]
fn threads_of_a_rank_do_not_wait_for_each_other() {
    for interface in [&STANDARD, &MPICH] {
        let alone = ["locks", "files", "together", "functions", "sessions"];
        checks_pass("threads.c", interface, &alone, &[1, 2, 3, 6]);
        checks_pass("threads.c", interface, &["flushes", "joins"], &[2, 3]);
    }
}

#[test]
fn programs_that_a_rank_starts_are_told_what_they_are_not() {
    let output = Program::new("starts.c", &STANDARD).run(2, &[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = said.matches("start it without CORECAST_SEGMENT in its environment");
    assert_eq!(told.count(), 2, "{said}");
}

#[test]
fn ranks_that_disagree_are_told_where_calls_are_compared() {
    let program = Program::new("details.c", &STANDARD);
    for ranks in [1, 2, 3, 6] {
        for check in ["edges", "mismatched"] {
            let mut command = program.mpirun(ranks, &[check]);
            let output = command.env("CORECAST_CHECK", "1").output();
            let output = output.expect("the binary runs");
            let said = text(&output.stderr);
            assert!(output.status.success(), "{check}, {ranks}: {said}");
        }
    }
}

const WINDOWS: [&str; 7] = [
    "fences", "locks", "requests", "groups", "together", "own", "pairs",
];
const INTERFACES: [&str; 7] = [
    "files", "external", "refused", "full", "vanishes", "parts", "sessions",
];

#[test]
fn windows_do_what_they_say() {
    checks_pass("windows.c", &STANDARD, &WINDOWS, &[1, 2, 3, 6]);
    checks_pass("windows.c", &MPICH, &WINDOWS, &[1, 2, 3, 6]);
}

#[test]
fn elements_in_the_memory_of_others_are_combined_as_everywhere() {
    let checks = ["operators", "crowd", "far"];
    checks_pass("windows_elements.c", &STANDARD, &checks, &[1, 2, 3, 6]);
    checks_pass("windows_elements.c", &MPICH, &checks, &[2]);
    // The memory of others is not written by address, or it is read by that as well.
    let program = Program::new("windows_elements.c", &STANDARD);
    for wanted in ["0", "1"] {
        let mut command = program.mpirun(3, &["far"]);
        let output = command.env("CORECAST_SINGLE_COPY", wanted).output();
        let output = output.expect("the binary runs");
        assert!(
            output.status.success(),
            "{wanted}: {}",
            text(&output.stderr)
        );
    }
}

#[test]
fn random_one_sided_communication_does_what_a_naive_model_does() {
    let seeds = ["1", "2", "3", "4", "5", "6"];
    checks_pass("windows_random.c", &STANDARD, &seeds, &[1, 2, 4, 6]);
    checks_pass("windows_random.c", &MPICH, &seeds[..1], &[3]);
}

#[test]
fn who_waits_for_a_lock_of_the_dead_is_told() {
    let program = Program::new("windows.c", &STANDARD);
    let output = program.run(3, &["dies"]);
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(137), "{out}{errors}");
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["rank 0 knows", "rank 2 knows"], "{errors}");
    assert!(
        errors.contains("rank 1 was killed by signal 9 (SIGKILL)"),
        "{errors}"
    );
}

#[test]
fn groups_files_sessions_and_partitions_do_what_they_say() {
    for interface in [&STANDARD, &MPICH] {
        checks_pass("interfaces.c", interface, &INTERFACES, &[1, 2, 3, 6]);
        checks_pass("interfaces.c", interface, &["between"], &[2, 3, 6]);
    }
}

#[test]
fn collective_accesses_to_files_go_by_two_phases_where_that_pays() {
    let checks = ["taken", "hints", "wrong", "overlaps"];
    for interface in [&STANDARD, &MPICH] {
        checks_pass("files_together.c", interface, &checks, &[1, 2, 3, 6]);
        checks_pass("files_together.c", interface, &["full"], &[2, 3, 6]);
    }
}

#[test]
fn random_collective_accesses_to_files_do_what_a_naive_model_does() {
    let seeds = ["1", "2", "3", "4", "5", "6"];
    checks_pass("files_random.c", &STANDARD, &seeds, &[1, 2, 3, 4]);
    checks_pass("files_random.c", &MPICH, &seeds[..1], &[3]);
}

#[test]
fn small_pieces_of_a_file_are_written_and_nothing_between_them() {
    let checks = ["turns", "between", "cut", "full"];
    for interface in [&STANDARD, &MPICH] {
        checks_pass("files_small.c", interface, &checks, &[1, 2, 3, 6]);
    }
}

/// One after the other, since they start many processes.
const DYNAMIC: [&str; 7] = [
    "spawn",
    "many",
    "multiple",
    "missing",
    "worlds",
    "generations",
    "late",
];

#[test]
fn processes_start_others_and_find_each_other() {
    for interface in [&STANDARD, &MPICH] {
        checks_pass("dynamic.c", interface, &DYNAMIC, &[1, 2, 3]);
        checks_pass(
            "dynamic.c",
            interface,
            &["ports", "join", "unrelated"],
            &[2, 3],
        );
    }
}

#[test]
fn a_started_process_that_dies_ends_all_with_its_name() {
    let program = Program::new("dynamic.c", &STANDARD);
    let output = program.run(2, &["dies"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(137), "{said}");
    let last = said.lines().last().unwrap_or_default();
    let sentence = "rank 3 was killed by signal 9 (SIGKILL); the others were ended";
    assert_eq!(last, format!("error: {sentence}"), "{said}");
    let line = "corecast: rank 0: MPI_Recv: rank 3 was killed by signal 9 (SIGKILL) \
                (MPI_ERR_PROC_ABORTED)";
    assert!(said.contains(line), "{said}");
}

#[test]
fn without_mpirun_nothing_is_started() {
    let program = Program::new("dynamic.c", &STANDARD);
    let mut alone = Command::new(program.path());
    let alone = alone.arg("generations");
    let alone = alone.env("LD_LIBRARY_PATH", program.folder.path()).output();
    let said = text(&alone.expect("it runs").stderr);
    let line = "corecast: rank 0: MPI_Comm_spawn: this program runs without mpirun, which would have \
                to do that, or on a simulated chip, where nothing else can be started (MPI_ERR_SPAWN)";
    assert!(said.contains(line), "{said}");
}

#[test]
fn tools_set_what_the_environment_would_and_count_what_ranks_do() {
    for interface in [&STANDARD, &MPICH] {
        let program = Program::new("tools.c", interface);
        for ranks in [1, 2, 3] {
            let output = program.run(ranks, &[]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{ranks} ranks: {said}");
            let line = "MPI_Bcast, 3 ranks, 4 bytes: chain over messages";
            assert!(ranks < 3 || said.contains(line), "{said}");
        }
    }
}

#[test]
fn messages_arrive_behind_the_standard_interface() {
    messages_arrive(&STANDARD);
}

#[test]
fn messages_arrive_behind_that_of_mpich() {
    messages_arrive(&MPICH);
}

#[test]
#[ignore = "it takes 4.3 GiB of memory, and minutes beside other work"]
fn messages_and_broadcasts_have_more_than_2_gib() {
    let program = Program::new("large.c", &STANDARD);
    let output = program.mpirun_with(&["--timeout", "900"], 2, &[]).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn messages_arrive_where_memory_is_scarce() {
    let program = Program::new("messages.c", &STANDARD);
    let mpirun = program.mpirun(6, &["large"]);
    // Less than the segment of six ranks would like to have: in kilobytes.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 300000; exec \"$0\" \"$@\""]);
    limited.arg(mpirun.get_program()).args(mpirun.get_args());
    let output = limited.output().expect("there is a shell");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn one_rank_that_ends_badly_ends_all_with_its_name_and_code() {
    let program = Program::new("ends.c", &STANDARD);
    let ends = [
        (
            "abort",
            7,
            "rank 2 called MPI_Abort with code 7; the others were ended",
        ),
        (
            "killed",
            137,
            "rank 2 was killed by signal 9 (SIGKILL); the others were ended",
        ),
        (
            "busy",
            137,
            "rank 2 was killed by signal 9 (SIGKILL); the others were ended",
        ),
        (
            "fault",
            139,
            "rank 2 was killed by signal 11 (SIGSEGV); the others were ended",
        ),
        (
            "exit",
            4,
            "rank 2 ended with exit code 4 before MPI_Finalize; the others were ended",
        ),
        (
            "leave",
            1,
            "rank 2 ended before MPI_Finalize; the others were ended",
        ),
        (
            "absent",
            1,
            "rank 2 ended without MPI_Init, and the others wait for it; the others were ended",
        ),
        (
            "early",
            5,
            "rank 2 ended with exit code 5; the others were ended",
        ),
        (
            "barriers",
            137,
            "rank 2 was killed by signal 9 (SIGKILL); the others were ended",
        ),
        ("code", 3, "rank 2 ended with exit code 3"),
    ];
    for (how, code, sentence) in ends {
        let output = program.run(4, &[how, "2"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{how}: {said}");
        let last = said.lines().last().unwrap_or_default();
        assert_eq!(last, format!("error: {sentence}"), "{how}");
    }
}

#[test]
fn what_a_rank_has_printed_is_not_lost_when_it_ends_all() {
    let program = Program::new("ends.c", &STANDARD);
    let output = program.run(3, &["abort", "2"]);
    let said = text(&output.stdout);
    let line = "rank 2 has come so far";
    assert!(said.lines().any(|said| said == line), "{said}");
}

#[test]
fn a_call_that_waits_for_the_dead_says_who_died_and_of_what() {
    let program = Program::new("ends.c", &STANDARD);
    // With threads that may all call, and a core for every rank or not.
    for (ranks, words) in [
        (3, &["killed", "1"][..]),
        (2, &["killed", "1", "threads"]),
        (3, &["killed", "1", "threads"]),
    ] {
        let output = program.run(ranks, words);
        let said = text(&output.stderr);
        for rank in (0..ranks).filter(|rank| *rank != 1) {
            let line = format!(
                "corecast: rank {rank}: MPI_Recv: rank 1 was killed by signal 9 (SIGKILL) (MPI_ERR_PROC_ABORTED)"
            );
            assert!(said.lines().any(|said| said == line), "{words:?}: {said}");
        }
    }
}

#[test]
fn input_is_that_of_rank_0() {
    use std::io::Write as _;
    let program = Program::new("ends.c", &STANDARD);
    let mut command = program.mpirun(3, &["input"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"1 2 3\n").expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout), "6\n6\n6\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn many_starts_end_well() {
    let program = Program::new("messages.c", &STANDARD);
    let starts = std::env::var("CORECAST_STARTS").ok();
    let starts = starts.and_then(|text| text.parse().ok()).unwrap_or(50);
    for start in 0..starts {
        let output = program.run(3, &["ring"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "start {start}: {said}");
    }
}

#[test]
fn elements_arrive_whatever_their_datatypes_are() {
    let checks = [
        "structs",
        "halo",
        "pieces",
        "transpose",
        "columns",
        "arrays",
        "own",
        "operators",
    ];
    for interface in [&STANDARD, &MPICH] {
        let program = Program::new("datatypes.c", interface);
        for check in checks {
            for ranks in [2, 3, 5] {
                let output = program.run(ranks, &[check]);
                let said = text(&output.stderr);
                let code = output.status.code();
                assert_eq!(code, Some(0), "{check}, {ranks} ranks: {said}");
            }
        }
    }
}

/// A decision table for broadcasts: a chain for short ones, boards for long ones.
const TABLE: &str = r#"
format = 1
corecast = "0.1.0"
collective = "bcast"
chip = "this one"
fingerprint = "0123456789abcdef"
root = 0
flow_control = "auto"
status_bits = 2
arity = 3
algorithms = ["boards", "chain"]
machine = "host"
[[cell]]
ranks = 3
bytes = 8
algorithm = "chain"
ns = 300
[[cell]]
ranks = 3
bytes = 16384
algorithm = "boards"
ns = 3000
"#;

#[test]
fn a_measured_table_decides_and_is_named_by_what_explains() {
    let program = Program::new("collectives.c", &STANDARD);
    let table = program.folder.path().join("bcast.toml");
    std::fs::write(&table, TABLE).expect("written");
    let explained = |path: Option<&Path>| {
        let mut command = program.mpirun(3, &[]);
        command.env("CORECAST_EXPLAIN", "1");
        if let Some(path) = path {
            command.env("CORECAST_TABLE", path);
        }
        let output = command.output().expect("the binary runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let usual = explained(None);
    assert!(
        usual.contains("MPI_Bcast, 3 ranks, 8 bytes: through boards"),
        "{usual}"
    );
    for path in [&*table, program.folder.path()] {
        let measured = explained(Some(path));
        let has = |line: &str| assert!(measured.contains(line), "{line}\n{measured}");
        has("MPI_Bcast, 3 ranks, 8 bytes: chain over messages (");
        has("bcast.toml: the fastest at 3 ranks and 8 bytes on this one; verified: correct");
        has("MPI_Bcast, 3 ranks, 20000 bytes: through boards (");
        has("MPI_Allreduce, 3 ranks, 8 bytes: through boards (every rank reads");
    }
}

#[test]
fn collectives_are_right_with_elements_that_have_gaps() {
    for interface in [&STANDARD, &MPICH] {
        let program = Program::new("collectives.c", interface);
        for ranks in [1, 2, 4, 5] {
            for check in ["0", "1"] {
                let mut command = program.mpirun(ranks, &[]);
                let output = command.env("CORECAST_CHECK", check).output();
                let output = output.expect("the binary runs");
                assert!(output.status.success(), "{ranks}: {}", text(&output.stderr));
            }
        }
    }
}

#[test]
fn a_table_that_cannot_be_read_is_refused_before_anything_starts() {
    let program = Program::new("collectives.c", &STANDARD);
    let folder = program.folder.path();
    let table = folder.join("bcast.toml");
    std::fs::write(&table, TABLE.replace("chain", "chian")).expect("written");
    let launched = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        command
            .args(["mpirun", "-n", "2", "--table"])
            .arg(path)
            .arg(program.path());
        let output = command
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let said = launched(&table);
    assert!(
        said.contains("bcast.toml:11: `algorithms` cannot be `chian`"),
        "{said}"
    );
    assert!(said.contains("did you mean `chain`?"), "{said}");
    let missing = launched(&folder.join("nothing.toml"));
    assert!(missing.contains("nothing.toml`: No such file"), "{missing}");
    let empty = tempfile::tempdir().expect("a folder");
    assert!(launched(empty.path()).contains("has no table"));
    std::fs::write(&table, TABLE).expect("written");
    std::fs::write(folder.join("second.toml"), TABLE).expect("written");
    assert!(launched(folder).contains("are both tables of bcast"));
    // Without the launcher's look at it, each rank says so and ends.
    let mut alone = program.mpirun(1, &[]);
    let output = alone
        .env("CORECAST_TABLE", folder)
        .output()
        .expect("it runs");
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("CORECAST_TABLE: `"), "{said}");
}
