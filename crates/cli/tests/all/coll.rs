// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our collectives below another MPI: `corecast coll`, with our own library in the place of another one,
//! as it is what is there everywhere. `cargo xtask coll` does the same with Open MPI and MPICH.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::mpi::{MPICH, Program, STANDARD, text};

/// What is linked to and preloaded is what was built with this test.
fn built(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("this test is a file");
    here.with_file_name(name)
}

/// The library for a program's MPI, in its folder.
fn preloaded(program: &Program, header: &str, soname: &str) -> PathBuf {
    let library = program.folder.path().join("libcorecast_coll.so");
    build(program, (header, soname), &library, &[]);
    library
}

/// What `corecast coll` builds for a program's MPI.
fn build(program: &Program, (header, soname): (&str, &str), to: &Path, options: &[&str]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../mpi/include")
        .join(header);
    let mpicc = format!(
        "cc -Wall -Wextra -Werror -I{} -Wl,--no-as-needed {}",
        headers.display(),
        program.folder.path().join(soname).display()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .arg("coll")
        .arg(to)
        .args(options)
        .args(["--json", "--mpicc", &mpicc, "--plans"])
        .arg(built("libcorecast_plans.so"))
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let fields: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["mpicc", "plans", "to"]);
}

/// A table of this folder's tests.
fn table(name: &str) -> PathBuf {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    tables.join(name)
}

fn check(
    program: &Program,
    library: &Path,
    variables: &[&str],
    ranks: u32,
) -> (bool, String, String) {
    let preload = format!("LD_PRELOAD={}", library.display());
    let mut options = vec!["-x", &preload];
    options.extend(variables.iter().flat_map(|variable| ["-x", variable]));
    let output = program.mpirun_with(&options, ranks, &["17"]).output();
    let output = output.expect("the binary runs");
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Calls with counts.
const SERVED: [&str; 16] = [
    "Bcast",
    "Gather",
    "Scatter",
    "Allgather",
    "Alltoall",
    "Reduce",
    "Allreduce",
    "Reduce_scatter_block",
    "Gatherv",
    "Scatterv",
    "Allgatherv",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    "Scan",
    "Exscan",
];

#[test]
fn every_call_that_is_served_gives_what_the_library_below_gives() {
    let source = "../../../coll/tests/check.c";
    for (interface, header, soname) in [
        (&STANDARD, "abi", "libmpi_abi.so.1"),
        (&MPICH, "mpich", "libmpi.so.12"),
    ] {
        let program = Program::new(source, interface);
        let library = preloaded(&program, header, soname);
        for ranks in [2, 5] {
            let (is_right, said, told) = check(&program, &library, &["CORECAST_EXPLAIN=1"], ranks);
            assert!(
                is_right && said.ends_with(" cases, 0 differ\n"),
                "{said}{told}"
            );
            let large = SERVED.iter().map(|call| format!("{call}_c"));
            let small = SERVED.iter().chain(&["Barrier"]);
            for call in small.map(|call| (*call).to_owned()).chain(large) {
                let begin = format!("corecast: MPI_{call}, {ranks} ranks, ");
                let of_call = || told.lines().filter(|line| line.starts_with(&begin));
                let proof = match call.contains("can") {
                    true => "(prefixes go by no other algorithm)",
                    false => "verified: correct",
                };
                let is_explained =
                    |line: &str| line.contains(" over messages (") && line.contains(proof);
                assert!(of_call().any(is_explained), "{call}: {told}");
                assert!(
                    of_call().any(|line| line.contains(" us each at rank 0, the shortest ")),
                    "{call}: {told}"
                );
            }
            let left = format!(
                "corecast: MPI_Allreduce, {} ranks: left to the library (between two groups)",
                ranks.div_ceil(2)
            );
            assert!(told.lines().any(|line| line == left), "{told}");
        }
    }
}

#[test]
fn what_is_asked_for_is_the_same_at_all_ranks_or_the_job_ends() {
    let program = Program::new("../../../coll/tests/check.c", &STANDARD);
    let library = preloaded(&program, "abi", "libmpi_abi.so.1");
    let run = |variable: &str| check(&program, &library, &[variable, "CORECAST_EXPLAIN=1"], 3);
    let (is_right, _, told) = run("CORECAST_ALGORITHM_BCAST=chain");
    assert!(
        is_right
            && told.contains("chain over messages (CORECAST_ALGORITHM_BCAST=chain asks for it"),
        "{told}"
    );
    let (is_right, _, told) = run("CORECAST_ALGORITHM_GATHER=library");
    let left =
        "corecast: MPI_Gather, 3 ranks: left to the library (its variable names the library)";
    assert!(is_right && told.contains(left), "{told}");
    let (is_right, _, told) = run("CORECAST_ALGORITHM_SCAN=library");
    let left = "corecast: MPI_Scan, 3 ranks: left to the library (its variable names the library)";
    assert!(is_right && told.contains(left), "{told}");
    let (is_right, _, told) = run(&format!("CORECAST_TABLE={}", table("bcast.toml").display()));
    let expected = "bcast.toml: the table is of machine `sim`, and calls go over another MPI here, which is \
        `pmpi`; measure it: corecast coll PROGRAM --tune\n";
    assert!(!is_right && told.contains(expected), "{told}");
    let (is_right, said, told) = run("CORECAST_COLL=off");
    assert!(
        is_right && told.contains("left to the library (CORECAST_COLL is off)"),
        "{said}{told}"
    );
    let (is_right, _, told) = run("CORECAST_COLL=nodes");
    let expected = "corecast: CORECAST_COLL is \"nodes\"; it is job, node or off\n";
    assert!(!is_right && told.contains(expected), "{told}");
    // One program of the job has another environment.
    let preload = format!("LD_PRELOAD={}", library.display());
    let mut job = program.mpirun_with(&["-x", &preload], 1, &["17"]);
    job.args([":", "-n", "1", "env", "CORECAST_ALGORITHM_BCAST=linear"]);
    let output = job
        .arg(program.path())
        .arg("17")
        .output()
        .expect("the binary runs");
    let told = text(&output.stderr);
    assert!(
        !output.status.success() && told.contains("begin with CORECAST_ differ between ranks"),
        "{told}"
    );
}

/// Of one collective a table has small calls left to the library, and others by an algorithm.
#[test]
fn a_table_leaves_calls_to_the_library_by_their_size() {
    let program = Program::new("../../../coll/tests/check.c", &STANDARD);
    let library = preloaded(&program, "abi", "libmpi_abi.so.1");
    let table = table("pmpi.toml");
    let named = format!("CORECAST_TABLE={}", table.display());
    let (is_right, said, told) = check(&program, &library, &[&named, "CORECAST_EXPLAIN=1"], 3);
    assert!(
        is_right && said.ends_with(" cases, 0 differ\n"),
        "{said}{told}"
    );
    let left = format!(
        "corecast: MPI_Bcast, 3 ranks, 4 bytes: left to the library ({}: the fastest at 3 ranks and 8 bytes \
         on Some MPI at node7)",
        table.display()
    );
    assert!(told.lines().any(|line| line == left), "{told}");
    let ours = format!(
        ": chain over messages ({}: the fastest at 3 ranks and 64 bytes on Some MPI at node7; verified: ",
        table.display()
    );
    assert!(told.contains(&ours), "{told}");
    // What is named in the environment comes before what was measured.
    let variables = [
        &*named,
        "CORECAST_ALGORITHM_BCAST=linear",
        "CORECAST_EXPLAIN=1",
    ];
    let (is_right, _, told) = check(&program, &library, &variables, 3);
    let expected =
        ": linear over messages (CORECAST_ALGORITHM_BCAST=linear asks for it; verified: ";
    assert!(is_right && told.contains(expected), "{told}");
    assert!(
        !told.contains("MPI_Bcast, 3 ranks, 4 bytes: left"),
        "{told}"
    );
}

#[test]
fn what_a_job_measures_is_what_programs_then_go_by() {
    const RANKS: u32 = 3;
    let program = Program::new("../../../coll/tests/check.c", &STANDARD);
    let library = preloaded(&program, "abi", "libmpi_abi.so.1");
    let tables = program.folder.path().join("tables");
    let tables = tables.to_str().expect("a temporary path is text");

    let tuner = Program::new("../../../coll/tests/check.c", &STANDARD);
    let options = ["--tune", "--collective", "bcast,barrier,reduce"];
    let options = [&options[..], &["--bytes", "64"]].concat();
    build(&tuner, ("abi", "libmpi_abi.so.1"), &tuner.path(), &options);
    let run = |ranks, arguments: &[&str], variables: &[&str]| {
        let output = tuner.mpirun_with(variables, ranks, arguments).output();
        let output = output.expect("the binary runs");
        (
            output.status.success(),
            text(&output.stdout) + &text(&output.stderr),
        )
    };
    let (is_right, said) = run(RANKS, &[tables], &[]);
    assert!(is_right, "{said}");
    let variable = format!("CORECAST_TABLE={tables}");
    let (is_right, _, told) = check(
        &program,
        &library,
        &[&variable, "CORECAST_EXPLAIN=1"],
        RANKS,
    );
    assert!(is_right, "{told}");
    let calls = [
        ("bcast", "Bcast", 64),
        ("reduce", "Reduce", 64),
        ("barrier", "Barrier", 0),
    ];
    for (collective, call, bytes) in calls {
        let file = format!("{tables}/{collective}.toml");
        assert!(said.contains(&format!("wrote {file}\n")), "{said}");
        let written = std::fs::read_to_string(&file).expect("it is there");
        let table = corecast_tune::Table::parse(&written, &file).expect("a table");
        assert_eq!(table.setting().machine, corecast_tune::PMPI);
        let cell = table
            .cell(RANKS, bytes)
            .expect("the cell that was asked for");
        assert_eq!(table.cells().count(), 1, "{written}");
        let way = match cell.algorithm {
            corecast_tune::LIBRARY => "left to the library".to_owned(),
            algorithm => format!("{algorithm} over messages"),
        };
        let why = format!("({file}: the fastest at {RANKS} ranks and {bytes} bytes on ");
        let is_said = |line: &str| {
            let begin = format!("corecast: MPI_{call}, {RANKS} ranks, ");
            line.starts_with(&begin) && line.contains(&format!(": {way} {why}"))
        };
        assert!(told.lines().any(is_said), "{call}: {told}");
    }

    for (ranks, arguments, variables, expected) in [
        (
            2,
            &[][..],
            &[][..],
            "this program takes one argument: the folder",
        ),
        (1, &[tables], &[], "one rank has nothing to measure"),
        (
            2,
            &["/dev/null/tables"],
            &[],
            "cannot make the folder `/dev/null/tables`: ",
        ),
        (
            2,
            &[tables],
            &["-x", "CORECAST_COLL=node"],
            "measure without them",
        ),
        (
            2,
            &[tables],
            &["-x", "CORECAST_ALGORITHM_BCAST=library"],
            "measure without them",
        ),
    ] {
        let (is_right, said) = run(ranks, arguments, variables);
        assert!(!is_right && said.contains(expected), "{expected}: {said}");
    }
    let other = format!("{tables}/bcast.toml");
    std::fs::copy(table("bcast.toml"), &other).expect("copied");
    let (is_right, said) = run(2, &[tables], &[]);
    let expected = format!("corecast: {other}: the table holds for something else: machine is ");
    assert!(!is_right && said.contains(&expected), "{said}");
}
