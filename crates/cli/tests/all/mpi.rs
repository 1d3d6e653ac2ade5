// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of MPI in C for tests, with what it takes to compile and start them.
#![allow(dead_code, reason = "no test uses all of it")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// One of the two interfaces: its header's folder, its library as cargo and as programs name it.
pub struct Interface {
    header: &'static str,
    built: &'static str,
    soname: &'static str,
}

pub const STANDARD: Interface = Interface {
    header: "abi",
    built: "libmpi_abi.so",
    soname: "libmpi_abi.so.1",
};

pub const MPICH: Interface = Interface {
    header: "mpich",
    built: "libmpi.so",
    soname: "libmpi.so.12",
};

/// A program in a folder of its own, with the library under the name that programs ask for.
pub struct Program {
    pub folder: TempDir,
}

impl Program {
    pub fn new(source: &str, interface: &Interface) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let here = std::env::current_exe().expect("this test is a file");
        let built = here.with_file_name(interface.built);
        assert!(built.exists(), "{} was not built", built.display());
        let library = folder.path().join(interface.soname);
        symlink(&built, &library).expect("a link");
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let headers = package.join("../mpi/include").join(interface.header);
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-I"])
            .arg(headers);
        cc.arg("-o").arg(folder.path().join("program"));
        cc.arg(package.join("tests/mpi").join(source)).arg(&library);
        cc.arg("-lm");
        let output = cc.output().expect("a C compiler (cc)");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{source}: {said}");
        Self { folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// `corecast mpirun` with this program and these arguments. No wait is endless.
    pub fn mpirun(&self, ranks: u32, arguments: &[&str]) -> Command {
        self.mpirun_with(&[], ranks, arguments)
    }

    /// The same with further options.
    pub fn mpirun_with(&self, options: &[&str], ranks: u32, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        let libraries = format!("LD_LIBRARY_PATH={}", self.folder.path().display());
        command.args(["mpirun", "-x", &libraries]);
        if !options.contains(&"--timeout") {
            command.args(["--timeout", "120"]);
        }
        command.args(options);
        command.args(["-n", &ranks.to_string()]).arg(self.path());
        command.args(arguments).stdin(Stdio::null());
        command.env_remove("CLICOLOR_FORCE");
        command
    }

    pub fn run(&self, ranks: u32, arguments: &[&str]) -> Output {
        let output = self.mpirun(ranks, arguments).output();
        output.expect("the binary runs")
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
