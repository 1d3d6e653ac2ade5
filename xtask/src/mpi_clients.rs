// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mpi-clients`: programs that others have built, on our MPI library.
//!
//! Intel's own benchmark binaries need `libmpi.so.12` and nothing else; the wheel of mpi4py loads the
//! same. Both are fetched as they are; nothing is compiled. What works is printed as a table.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench_mpi::{corecast, last_line, venv};

/// Intel's benchmarks: the binary and its tests, by what a test needs.
const INTEL: [(&str, &[&str]); 3] = [
    (
        "IMB-MPI1",
        &[
            "PingPong",
            "PingPing",
            "Sendrecv",
            "Exchange",
            "Barrier",
            "Bcast",
            "Reduce",
            "Reduce_local",
            "Reduce_scatter",
            "Reduce_scatter_block",
            "Allreduce",
            "Allgather",
            "Allgatherv",
            "Gather",
            "Gatherv",
            "Scatter",
            "Scatterv",
            "Alltoall",
            "Alltoallv",
        ],
    ),
    (
        "IMB-P2P",
        &[
            "PingPong",
            "PingPing",
            "Unirandom",
            "Birandom",
            "Sendrecv_Replace",
            "Stencil2D",
        ],
    ),
    (
        "IMB-NBC",
        &[
            "Ibarrier",
            "Ibcast",
            "Ireduce",
            "Iallreduce",
            "Iallgather",
            "Iallgatherv",
            "Igather",
            "Igatherv",
            "Iscatter",
            "Iscatterv",
            "Ialltoall",
            "Ialltoallv",
            "Ireduce_scatter",
        ],
    ),
];

/// Numbers of ranks that every client runs with.
const RANKS: [u32; 2] = [2, 4];

/// What a run took too long to end after, in seconds.
const LIMIT_S: &str = "60";

/// The options: `--wheels DIR`, a folder in the place of the package index, and `--chip CHIP`, a simulated
/// chip in the place of this computer's cores.
fn options(arguments: &[String]) -> Result<[Option<&str>; 2], String> {
    let mut options = [None; 2];
    for pair in arguments.chunks(2) {
        let which = match &*pair[0] {
            "--wheels" => 0,
            "--chip" => 1,
            other => return Err(format!("`{other}` is neither --wheels nor --chip")),
        };
        let value = pair
            .get(1)
            .ok_or_else(|| format!("{} names nothing", pair[0]))?;
        options[which] = Some(&**value);
    }
    Ok(options)
}

/// How programs are started.
struct Launcher {
    mpirun: PathBuf,
    chip: Option<String>,
}

/// Runs all clients.
///
/// # Errors
/// When a client could not be had, or one of its runs failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let [wheels, chip] = options(arguments)?;
    let folder = root.join("target/bench-mpi");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let ours = corecast(root)?;
    let launcher = Launcher {
        mpirun: ours.prefix.join("corecast"),
        chip: chip.map(str::to_owned),
    };
    let intel = venv(&folder, "impi", "impi-rt==2021.19.0", wheels);
    let mpi4py = venv(&folder, "mpi4py", "mpi4py==4.1.2", wheels);
    let mut failed = 0;
    println!(
        "\n| client | test | {} |",
        RANKS.map(|n| format!("{n} ranks")).join(" | ")
    );
    println!("|---|---|{}", "---|".repeat(RANKS.len()));
    match intel {
        Ok(prefix) => {
            for (binary, tests) in INTEL {
                let program = prefix.join("bin").join(binary);
                for test in tests {
                    failed += row(&launcher, binary, test, |command, ranks| {
                        command.arg(&program).args(["-npmin", &ranks.to_string()]);
                        command.args(["-iter", "20", "-time", "0.2", "-msglog", "3:18", test]);
                    });
                }
            }
        }
        Err(error) => println!("| IMB | missing: {error} |"),
    }
    match mpi4py {
        Ok(prefix) => {
            let python = prefix.join("bin/python");
            let script = root.join("xtask/mpi-clients/checks.py");
            let list = Command::new(&python).arg(&script).arg("--list").output();
            let list = list.map_err(|error| error.to_string())?;
            let list = String::from_utf8_lossy(&list.stdout).into_owned();
            for check in list.lines() {
                failed += row(&launcher, "mpi4py 4.1.2", check, |command, _| {
                    command
                        .arg(&python)
                        .args(["-m", "mpi4py"])
                        .arg(&script)
                        .arg(check);
                    command.env("MPI4PY_MPIABI", "mpich");
                });
            }
        }
        Err(error) => println!("| mpi4py | missing: {error} |"),
    }
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} runs of clients do not work")),
    }
}

/// Prints one line of the table; how many of its runs failed.
fn row(
    launcher: &Launcher,
    client: &str,
    test: &str,
    program: impl Fn(&mut Command, u32),
) -> usize {
    let outcomes = RANKS.map(|ranks| {
        let mut command = Command::new(&launcher.mpirun);
        command.args(["mpirun", "-n", &ranks.to_string(), "--timeout", LIMIT_S]);
        command.args(launcher.chip.iter().flat_map(|chip| ["--chip", chip]));
        program(&mut command, ranks);
        match command.stdin(std::process::Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(last_line(&output.stderr)),
            Err(error) => Err(error.to_string()),
        }
    });
    let shown = outcomes.each_ref().map(|outcome| match outcome {
        Ok(()) => "works".to_owned(),
        Err(error) => error.replace('|', "/"),
    });
    println!("| {client} | {test} | {} |", shown.join(" | "));
    outcomes.iter().filter(|outcome| outcome.is_err()).count()
}
