// SPDX-License-Identifier: MIT OR Apache-2.0
//! `doctor`: what is found on this computer and in this build, what is missing and how to get it.

use std::env;
use std::path::{Path, PathBuf};

use corecast_core::algorithm;
use corecast_study::MACHINES;
use serde::Serialize;

use crate::output::{Answer, json};
use crate::style;

/// Model of this computer's processor, as far as the system tells.
pub fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(':'));
    model.map_or("unknown".to_owned(), |(_, model)| model.trim().to_owned())
}

/// Number of cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What was found.
#[derive(Serialize)]
struct Found {
    version: &'static str,
    cpu_model: String,
    cores: usize,
    chips: Vec<&'static str>,
    algorithms: usize,
    machines: Vec<&'static str>,
    needs: Vec<Need>,
}

/// Something that simulations do without.
#[derive(Serialize)]
struct Need {
    /// What it is for.
    purpose: &'static str,
    /// What it is called.
    what: &'static str,
    /// Where it is; none if it is missing.
    found: Option<PathBuf>,
    /// How to get it.
    get: &'static str,
}

const MPI: &str = "MPI programs (mpirun)";
const COMPILE: &str = "compiling MPI programs (mpicc)";
const HARDWARE: &str = "the hardware engine's tests (cargo xtask rtl)";
const PAGE: &str = "building the page of --view and testing it (cargo xtask viewer)";
const PACKAGE: &str = "building the Python package (cargo xtask dist)";
const BUILD_TOOLS: &str = "Debian: apt-get install build-essential";

/// Programs that are looked for on the search path: for what, which, how to get it.
const PROGRAMS: [(&str, &str, &str); 11] = [
    (COMPILE, "cc", BUILD_TOOLS),
    (COMPILE, "c++", BUILD_TOOLS),
    (
        PACKAGE,
        "python3",
        "Debian: apt-get install python3 python3-venv",
    ),
    (
        PACKAGE,
        "cargo",
        "Rust's own installer, or apt-get install cargo",
    ),
    (PAGE, "node", "Node.js 20 or later, from nodejs.org"),
    (PAGE, "npm", "it comes with Node.js"),
    (PAGE, "chromium", "Debian: apt-get install chromium"),
    (HARDWARE, "make", "rtl/packages.sh installs it on Debian"),
    (HARDWARE, "perl", "rtl/packages.sh installs it on Debian"),
    (
        HARDWARE,
        "iverilog",
        "rtl/packages.sh installs it on Debian",
    ),
    (
        HARDWARE,
        "berkeley-abc",
        "rtl/packages.sh installs it on Debian",
    ),
];

/// What there is, and what is missing.
fn needs() -> Vec<Need> {
    let executable = env::current_exe().ok();
    let mpi = Need {
        purpose: MPI,
        what: "libmpi_abi.so.1 or libmpi.so.12",
        found: executable.and_then(|file| corecast_launch::libraries(&file)),
        get: "cargo build --release -p corecast-mpi-abi -p corecast-mpi-mpich, or cargo xtask mpi-install DIR",
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let program = |(purpose, what, get)| Need {
        purpose,
        what,
        found: on_path(env::split_paths(&path), what),
        get,
    };
    [mpi].into_iter().chain(PROGRAMS.map(program)).collect()
}

/// The first file of that name.
fn on_path(mut folders: impl Iterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    let is_file = |folder: PathBuf| Some(folder.join(name)).filter(|file| Path::is_file(file));
    folders.find_map(is_file)
}

/// The verb.
pub fn answer() -> Answer {
    let found = Found {
        version: env!("CARGO_PKG_VERSION"),
        cpu_model: cpu_model(),
        cores: cores(),
        chips: corecast_chip::builtin_names().collect(),
        algorithms: algorithm::all().count(),
        machines: MACHINES.map(|machine| machine.name()).to_vec(),
        needs: needs(),
    };
    let mut text = format!(
        "corecast    {}\nprocessor   {}, {} cores usable\nchips       {}\n\
         algorithms  {}\nmachines    {}\n\n",
        found.version,
        found.cpu_model,
        found.cores,
        found.chips.join(", "),
        found.algorithms,
        found.machines.join(", ")
    );
    for need in &found.needs {
        let Need {
            what, purpose, get, ..
        } = need;
        text += &match &need.found {
            Some(file) => format!("{what}: {}\n", file.display()),
            None => {
                let missing = style::near(&format!("{what} is missing"));
                format!("{missing}, for {purpose}; {get}\n")
            }
        };
    }
    Answer::new(text, json(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_order_of_the_path_and_folders_are_none() {
        let root = tempfile::tempdir().expect("a folder");
        let folders = ["a", "b", "c"].map(|name| root.path().join(name));
        std::fs::create_dir_all(folders[0].join("tool")).expect("a folder");
        for folder in &folders[1..] {
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::write(folder.join("tool"), "").expect("a file");
        }
        let found = on_path(folders.iter().cloned(), "tool");
        assert_eq!(found, Some(folders[1].join("tool")));
        assert_eq!(on_path(folders.into_iter(), "other"), None);
    }
}
