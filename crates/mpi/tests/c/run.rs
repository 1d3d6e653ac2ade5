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
        let folder = self.folder(program);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mpi");
        let binary = folder.join(program);
        let compiled = Command::new("cc")
            .args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
            .arg("-I")
            .arg(sources.join("include").join(self.header))
            .arg(sources.join("tests/c").join(program).with_extension("c"))
            .arg("-o")
            .arg(&binary)
            .arg("-L")
            .arg(&folder)
            .arg(format!("-l{}", self.name))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}");
        Command::new(&binary)
            .env("LD_LIBRARY_PATH", &folder)
            .output()
            .unwrap()
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

/// That a program ended well; else what it said.
pub fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}{errors}", output.status);
}
