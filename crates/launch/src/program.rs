// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the programs of a job before anything is started.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::LaunchError;
use crate::part::Part;

/// The file of each part's program.
pub fn find_all(parts: &[Part]) -> Result<Vec<PathBuf>, LaunchError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = parts.iter().map(|part| find(&part.program, &path));
    found.collect()
}

/// The file of a program that is a path, or a name in one of the folders of `path`.
pub fn find(program: &OsStr, path: &OsStr) -> Result<PathBuf, LaunchError> {
    if program.as_encoded_bytes().contains(&b'/') {
        let file = PathBuf::from(program);
        let what = match fs::metadata(&file) {
            Err(_) => "not there",
            Ok(found) if found.is_dir() => "a folder",
            Ok(found) if found.permissions().mode() & 0o111 == 0 => "not marked executable",
            Ok(_) => return Ok(file),
        };
        let program = program.to_owned();
        return Err(LaunchError::NotExecutable { program, what });
    }
    let in_path = env::split_paths(path).map(|folder| folder.join(program));
    if let Some(file) = in_path.into_iter().find(|file| is_executable(file)) {
        return Ok(file);
    }
    if program.as_encoded_bytes().starts_with(b"-") {
        let option = program.to_owned();
        return Err(LaunchError::NoOption { option });
    }
    Err(LaunchError::NoProgram {
        program: program.to_owned(),
        is_here: is_executable(&Path::new(".").join(program)),
    })
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Help as _;

    #[test]
    fn names_are_sought_in_path_and_paths_are_taken_as_they_are() {
        let path = OsStr::new("/nowhere:/usr/bin:/bin");
        assert!(find(OsStr::new("sh"), path).is_ok_and(|file| file.ends_with("bin/sh")));
        let message = |program: &str| {
            let error = find(OsStr::new(program), path).expect_err("not a program");
            error.with_help().to_string()
        };
        let right = "\n  give the path of a program, or the name of one in a folder of PATH";
        assert_eq!(
            message("no-such"),
            format!("there is no program \"no-such\" in the folders of PATH{right}")
        );
        assert_eq!(
            message("--oversubscribe"),
            "there is no option \"--oversubscribe\"\n  `corecast mpirun --help` lists the options; the \
             program comes behind them"
        );
        assert_eq!(
            message("./no-such"),
            format!("\"./no-such\" cannot be executed: it is not there{right}")
        );
        assert_eq!(
            message("/usr"),
            format!("\"/usr\" cannot be executed: it is a folder{right}")
        );
        assert_eq!(
            message("./Cargo.toml"),
            format!("\"./Cargo.toml\" cannot be executed: it is not marked executable{right}")
        );
    }
}
