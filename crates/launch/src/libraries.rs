// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where our libraries are: programs that were linked with somebody else's find them by name.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Names that programs ask the system's loader for, and what a build calls the same files.
const NAMES: [(&str, &str); 3] = [
    ("libmpi.so.12", "libmpi.so"),
    // What Debian calls the same.
    ("libmpich.so.12", "libmpi.so"),
    ("libmpi_abi.so.1", "libmpi_abi.so"),
];

/// The folder with our libraries, seen from our executable: `../lib` where it was installed, else
/// its own folder, as in a build; that gets links by the names that programs ask for.
#[must_use]
pub fn libraries(executable: &Path) -> Option<PathBuf> {
    let folder = executable.parent()?;
    let installed = folder.parent().map(|above| above.join("lib"));
    let has_some = |folder: &PathBuf| NAMES.iter().any(|(name, _)| folder.join(name).exists());
    installed.filter(has_some).or_else(|| {
        for (name, built) in NAMES {
            if folder.join(built).exists() && !folder.join(name).exists() {
                // Another launcher may have been faster, and a folder of others stays as it is.
                let _ = symlink(built, folder.join(name));
            }
        }
        Some(folder.to_owned()).filter(has_some)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_install_comes_before_a_build_and_nothing_is_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let bin = root.path().join("bin");
        let executable = bin.join("corecast");
        assert_eq!(libraries(&executable), None);
        fs::create_dir_all(&bin).expect("a folder");
        fs::write(bin.join("libmpi.so"), "").expect("a file");
        assert_eq!(libraries(&executable).as_ref(), Some(&bin));
        for name in ["libmpi.so.12", "libmpich.so.12"] {
            assert!(bin.join(name).exists(), "{name}");
        }
        assert!(!bin.join("libmpi_abi.so.1").exists());
        let lib = root.path().join("lib");
        fs::create_dir_all(&lib).expect("a folder");
        fs::write(lib.join("libmpi_abi.so.1"), "").expect("a file");
        assert_eq!(libraries(&executable), Some(lib));
    }
}
