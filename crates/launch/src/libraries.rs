//! Where our libraries are: programs that were linked with somebody else's find them by name.

use std::path::{Path, PathBuf};

/// Names that programs ask the system's loader for.
const NAMES: [&str; 2] = ["libmpi.so.12", "libmpi_abi.so.1"];

/// The folder with our libraries, seen from our executable: `../lib` where it was installed, else
/// `lib` beside it or its own folder, as in a build.
#[must_use]
pub fn libraries(executable: &Path) -> Option<PathBuf> {
    let folder = executable.parent()?;
    let installed = folder.parent().map(|above| above.join("lib"));
    let folders = [installed, Some(folder.join("lib")), Some(folder.to_owned())];
    let mut folders = folders.into_iter().flatten();
    folders.find(|folder| NAMES.iter().any(|name| folder.join(name).exists()))
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
        fs::write(bin.join("libmpi.so.12"), "").expect("a file");
        assert_eq!(libraries(&executable), Some(bin));
        let lib = root.path().join("lib");
        fs::create_dir_all(&lib).expect("a folder");
        fs::write(lib.join("libmpi_abi.so.1"), "").expect("a file");
        assert_eq!(libraries(&executable), Some(lib));
    }
}
