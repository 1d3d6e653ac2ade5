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
    let headers = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../mpi/include")
        .join(header);
    let library = program.folder.path().join("libcorecast_coll.so");
    let mpicc = format!(
        "cc -Wall -Wextra -Werror -I{} -Wl,--no-as-needed {}",
        headers.display(),
        program.folder.path().join(soname).display()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .arg("coll")
        .arg(&library)
        .args(["--json", "--mpicc", &mpicc, "--plans"])
        .arg(built("libcorecast_plans.so"))
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let fields: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["mpicc", "plans", "to"]);
    library
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
            for call in [
                "Barrier",
                "Bcast",
                "Gather",
                "Scatter",
                "Allgather",
                "Alltoall",
                "Reduce",
                "Allreduce",
                "Reduce_scatter_block",
            ] {
                let begin = format!("corecast: MPI_{call}, {ranks} ranks, ");
                let of_call = || told.lines().filter(|line| line.starts_with(&begin));
                let is_explained = |line: &str| {
                    line.contains(" over messages (") && line.contains("verified: correct")
                };
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
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/bcast.toml");
    let (is_right, _, told) = run(&format!("CORECAST_TABLE={}", tables.display()));
    assert!(
        is_right && told.contains("bcast.toml: the fastest at "),
        "{told}"
    );
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
