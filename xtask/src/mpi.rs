// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lays out what C programs need of the MPI library: libraries, headers, compilers' wrappers, the
//! launcher.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// One interface: its library as cargo and as programs name it, its header's folder, its package.
struct Interface {
    package: &'static str,
    library: &'static str,
    soname: &'static str,
    /// Another name that programs ask for.
    alias: Option<&'static str>,
    header: &'static str,
    pkg_config: &'static str,
    about: &'static str,
}

const INTERFACES: [Interface; 2] = [
    Interface {
        package: "corecast-mpi-abi",
        library: "mpi_abi",
        soname: "libmpi_abi.so.1",
        alias: None,
        header: "abi",
        pkg_config: "mpi_abi.pc",
        about: "the standard ABI of MPI 5.0",
    },
    Interface {
        package: "corecast-mpi-mpich",
        library: "mpi",
        soname: "libmpi.so.12",
        // Debian's.
        alias: Some("libmpich.so.12"),
        header: "mpich",
        pkg_config: "mpich.pc",
        about: "the ABI of MPICH",
    },
];

/// The library with plans for other MPIs: its package, and its name.
const PLANS: (&str, &str) = ("corecast-coll", "libcorecast_plans.so");

/// How Cargo builds what is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Optimised, as users have it.
    Release,
    /// As the workspace's tests have built it, with the checks of debug builds.
    Dev,
}

impl Profile {
    /// Its name, and the folder that Cargo builds into.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Release => ["release", "release"],
            Self::Dev => ["dev", "debug"],
        }
    }
}

/// What Cargo is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    pub profile: Profile,
    /// Packages that are built together with the libraries and the launcher.
    pub beside: &'a [&'a str],
    /// Variables of its environment.
    pub variables: &'a [(&'a str, String)],
}

impl Build<'_> {
    /// The libraries and the launcher alone, as users have them.
    pub const RELEASE: Self = Self {
        profile: Profile::Release,
        beside: &[],
        variables: &[],
    };
}

/// The libraries, by the names that programs ask for.
pub fn sonames() -> impl Iterator<Item = &'static str> {
    let interfaces = INTERFACES.iter().map(|interface| interface.soname);
    interfaces.chain([PLANS.1])
}

/// Commands that start a job, and their text: what they are called beside `corecast mpirun`.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];
const LAUNCHER: &str =
    "#!/bin/sh\nexec \"$(dirname -- \"$(readlink -f -- \"$0\")\")/corecast\" mpirun \"$@\"\n";

/// One of the two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abi {
    Standard,
    Mpich,
}

impl Abi {
    /// As `mpicc` calls it, in `CORECAST_MPI_ABI`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Mpich => "mpich",
        }
    }

    /// The one of this name.
    pub fn of(name: &str) -> Option<Self> {
        let mut all = [Self::Standard, Self::Mpich].into_iter();
        all.find(|abi| abi.name() == name)
    }
}

/// A path from the root on.
///
/// # Errors
/// When it does not exist.
pub fn whole(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Where all is installed that others' programs are compiled and started with: in `prefix`, or else built
/// and put into `target`.
///
/// # Errors
/// In words.
pub fn installed(root: &Path, prefix: Option<&Path>) -> Result<PathBuf, String> {
    match prefix {
        Some(prefix) => whole(prefix),
        None => {
            let prefix = root.join("target/mpi-suites/prefix");
            install(root, &prefix, &Build::RELEASE)?;
            Ok(prefix)
        }
    }
}

/// Where all is installed that the tests of the workspace have built.
///
/// # Errors
/// In words.
pub fn install_dev(root: &Path) -> Result<PathBuf, String> {
    let prefix = root.join("target/mpi-suites/dev");
    let build = Build {
        profile: Profile::Dev,
        // As those tests do, so that nothing is built again.
        beside: &["corecast-py"],
        ..Build::RELEASE
    };
    install(root, &prefix, &build)?;
    Ok(prefix)
}

/// Builds the libraries and the launcher, and installs them below `prefix`.
///
/// # Errors
/// In words.
pub fn install(root: &Path, prefix: &Path, build: &Build) -> Result<(), String> {
    let [name, built] = build.profile.names();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", name, "-p", "corecast"]);
    cargo.current_dir(root);
    cargo.envs(build.variables.iter().map(|(name, value)| (name, value)));
    let libraries = INTERFACES.iter().map(|interface| interface.package);
    let all = libraries.chain([PLANS.0]);
    for package in all.chain(build.beside.iter().copied()) {
        cargo.args(["-p", package]);
    }
    let status = cargo.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err("the libraries or the launcher do not build".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root.join("target"), |target| root.join(target));
    lay_out(root, &target.join(built), prefix)
        .map_err(|error| format!("{}: {error}", prefix.display()))
}

/// Copies everything to its place.
fn lay_out(root: &Path, built: &Path, prefix: &Path) -> io::Result<()> {
    let from = root.join("crates/mpi");
    for folder in ["bin", "lib/pkgconfig"] {
        fs::create_dir_all(prefix.join(folder))?;
    }
    for interface in &INTERFACES {
        let name = format!("lib{}.so", interface.library);
        replace(
            &built.join(&name),
            &prefix.join("lib").join(interface.soname),
        )?;
        for other in [Some(&*name), interface.alias].into_iter().flatten() {
            link(interface.soname, &prefix.join("lib").join(other))?;
        }
        let headers = prefix.join("include").join(interface.header);
        fs::create_dir_all(&headers)?;
        let header = from.join("include").join(interface.header).join("mpi.h");
        fs::copy(header, headers.join("mpi.h"))?;
        let text = fs::read_to_string(from.join("tools/mpi.pc.in"))?
            .replace("@ABOUT@", interface.about)
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@HEADER@", interface.header)
            .replace("@LIBRARY@", interface.library);
        fs::write(
            prefix.join("lib/pkgconfig").join(interface.pkg_config),
            text,
        )?;
    }
    replace(&built.join(PLANS.1), &prefix.join("lib").join(PLANS.1))?;
    replace(&from.join("tools/mpicc"), &prefix.join("bin/mpicc"))?;
    for name in ["mpic++", "mpicxx"] {
        link("mpicc", &prefix.join("bin").join(name))?;
    }
    replace(&built.join("corecast"), &prefix.join("bin/corecast"))?;
    for name in LAUNCHERS {
        let script = prefix.join("bin").join(name);
        fs::write(&script, LAUNCHER)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Copies over what may be in use: programs that run keep the old file.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let _ = fs::remove_file(to);
    fs::copy(from, to).map(|_| ())
}

fn link(to: &str, at: &Path) -> io::Result<()> {
    let _ = fs::remove_file(at);
    symlink(to, at)
}
