// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles a C program against one of the headers and runs it with the library that was built with
//! the test: what the tests of both libraries share.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// What to compile and link with.
pub struct Library {
    /// The folder of `mpi.h` in `crates/mpi/include`.
    pub header: &'static str,
    /// The name of the library as cargo builds it, without `lib` and `.so`.
    pub name: &'static str,
    /// The name that programs ask for.
    pub soname: &'static str,
}

impl Library {
    /// Compiles `tests/c/NAME.c`, runs it alone, and gives what came of it.
    pub fn run(&self, program: &str) -> Output {
        self.run_with(program, &[])
    }

    /// The same with arguments.
    pub fn run_with(&self, program: &str, arguments: &[&str]) -> Output {
        let source = sources().join("tests/c").join(program);
        let binary = self.compile(program, &source.with_extension("c"), &["-Wall", "-Wextra"]);
        self.command(&binary).args(arguments).output().unwrap()
    }

    /// Calls every function with random arguments, and again with every other seed.
    pub fn fuzz(&self, seeds: impl IntoIterator<Item = u64>, calls: u64) {
        let list = fs::read_to_string(sources().join("functions.txt")).unwrap();
        let source = self.folder("fuzz").join("fuzz.c");
        fs::write(&source, super::fuzz::program(&list)).unwrap();
        // Casts between types of functions are what a program does that has one for all.
        let binary = self.compile("fuzz", &source, &["-Wall", "-Wno-unused-function"]);
        for seed in seeds {
            let arguments = [seed.to_string(), calls.to_string()];
            println!("{} {} {}", binary.display(), arguments[0], arguments[1]);
            succeeded(&self.command(&binary).args(arguments).output().unwrap());
        }
    }

    fn compile(&self, program: &str, source: &Path, flags: &[&str]) -> PathBuf {
        let folder = self.folder(program);
        let binary = folder.join(program);
        let compiled = Command::new("cc")
            .args(["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-Werror"])
            .args(flags)
            .arg("-I")
            .arg(sources().join("include").join(self.header))
            .arg("-I")
            .arg(sources().join("tests/c"))
            .arg(source)
            .arg("-o")
            .arg(&binary)
            .arg("-L")
            .arg(&folder)
            .arg(format!("-l{}", self.name))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}");
        binary
    }

    fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.env("LD_LIBRARY_PATH", binary.parent().unwrap());
        command
    }

    /// A folder with the library by the names that linker and programs look for.
    fn folder(&self, program: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program);
        fs::create_dir_all(&folder).unwrap();
        let built = env::current_exe().unwrap();
        let built = built.parent().unwrap().join(format!("lib{}.so", self.name));
        for name in [self.soname.to_owned(), format!("lib{}.so", self.name)] {
            let link = folder.join(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&built, &link).unwrap();
        }
        folder
    }
}

/// `crates/mpi`.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mpi")
}

/// That a program ended well; else what it said.
pub fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}{errors}", output.status);
}
