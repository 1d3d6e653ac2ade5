// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask dist`: what users install, in `target/dist`: the command with the MPI libraries as an
//! archive, the Python package as a wheel, and their checksums.
//!
//! The archive is unpacked below any folder, such as `/usr/local`; in it are the shells' completions and
//! the manual's pages, which the command writes itself. Both are for this computer's kind of processor, and
//! for systems whose C library is as new as the wheel's name says: 2.34 of glibc, since functions that would
//! need a newer one are taken in their oldest version (`xtask/src/older.c`).

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{mpi, notices, py};

/// What the command writes for a shell or for `man`, and where that is looked for.
const GENERATED: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/corecast"),
    ("zsh", "share/zsh/site-functions/_corecast"),
    ("fish", "share/fish/vendor_completions.d/corecast.fish"),
];

/// Where `man` looks for pages.
const MANUAL: &str = "share/man/man1";

/// Files for whoever reads, in `share/doc/corecast`.
const READ: [&str; 5] = [
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];

/// Builds all of it.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn run(root: &Path) -> Result<(), String> {
    let name = format!(
        "corecast-{}-{}-{}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let (dist, laid_out) = (root.join("target/dist"), root.join("target/laid-out"));
    let prefix = laid_out.join(&name);
    if laid_out.exists() {
        fs::remove_dir_all(&laid_out).map_err(|error| error.to_string())?;
    }
    let variables: Vec<(&str, String)> = older(root)?.into_iter().collect();
    // Built together with the rest, what the wheel shares with it is built once.
    let build = mpi::Build {
        beside: &["corecast-py"],
        variables: &variables,
        ..mpi::Build::RELEASE
    };
    mpi::install(root, &prefix, &build)?;
    // Lines in backtraces are five sixths of what would have to be fetched.
    let mut strip = Command::new("strip");
    strip.arg("--strip-debug").arg(prefix.join("bin/corecast"));
    let libraries = mpi::sonames().map(|name| prefix.join("lib").join(name));
    py::says(strip.args(libraries), "strip of the command and libraries")?;
    generate(&prefix)?;
    let doc = prefix.join("share/doc/corecast");
    fs::create_dir_all(&doc).map_err(|error| error.to_string())?;
    for file in READ {
        let copied = fs::copy(root.join(file), doc.join(file));
        copied.map_err(|error| format!("{file}: {error}"))?;
    }
    let notices = doc.join(notices::FILE);
    notices::write(root, &notices)?;
    let with = py::Distributed {
        libraries: &prefix.join("lib"),
        notices: &notices,
        variables: &variables,
    };
    py::dist(root, &dist, with)?;
    // The same files give the same archive.
    let archive = dist.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mtime=@0", "--use-compress-program=gzip -n", "-cf"]);
    py::says(
        tar.arg(archive).arg("-C").arg(laid_out).arg(name),
        "tar of the archive",
    )?;
    let mut sums = Command::new("sh");
    sums.current_dir(&dist).args([
        "-c",
        "sha256sum *.tar.gz *.whl > SHA256SUMS && cat SHA256SUMS",
    ]);
    py::says(&mut sums, "sha256sum in target/dist")
}

/// The variable by which everything is linked with `older.c`; none for processors whose oldest versions
/// nobody has looked up.
fn older(root: &Path) -> Result<Option<(&'static str, String)>, String> {
    let base = match std::env::consts::ARCH {
        "x86_64" => "GLIBC_2.2.5",
        "aarch64" => "GLIBC_2.17",
        _ => return Ok(None),
    };
    let object = root.join("target/older.o");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut cc = Command::new(compiler);
    cc.args(["-c", "-O2", "-fPIC", "-fno-builtin", "-ffunction-sections"])
        .arg(format!("-DBASE=\"{base}\""))
        .arg(root.join("xtask/src/older.c"))
        .arg("-o")
        .arg(&object);
    fs::create_dir_all(root.join("target")).map_err(|error| error.to_string())?;
    py::says(&mut cc, "cc of xtask/src/older.c")?;
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flag = format!("-Clink-arg={}", object.display());
    let flags = own.split_whitespace().chain([flag.as_str()]);
    // Separated so that a path may have spaces.
    let flags: Vec<&str> = flags.collect();
    Ok(Some(("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))))
}

/// Writes completions and manual: a page of all verbs, and one of each.
fn generate(prefix: &Path) -> Result<(), String> {
    let command = prefix.join("bin/corecast");
    let write = |what: &[&str], to: &str| {
        let to = prefix.join(to);
        let folder = to.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let mut generate = Command::new(&command);
        generate.arg("generate").args(what).arg("-o").arg(to);
        py::says(
            &mut generate,
            &format!("corecast generate {}", what.join(" ")),
        )
    };
    for (what, to) in GENERATED {
        write(&[what], to)?;
    }
    write(&["man"], &format!("{MANUAL}/corecast.1"))?;
    let page = fs::read_to_string(prefix.join(MANUAL).join("corecast.1"));
    for verb in verbs(&page.map_err(|error| error.to_string())?) {
        write(&["man", &verb], &format!("{MANUAL}/corecast-{verb}.1"))?;
    }
    Ok(())
}

/// The verbs that the page of all names as further pages, such as `corecast\-mpirun(1)`; `help` has
/// none of its own.
fn verbs(page: &str) -> Vec<String> {
    let named = page
        .lines()
        .filter_map(|line| line.strip_prefix("corecast\\-"));
    let verbs = named.filter_map(|line| line.strip_suffix("(1)"));
    let verbs = verbs.map(|verb| verb.replace('\\', ""));
    verbs.filter(|verb| verb != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::verbs;

    #[test]
    fn the_page_of_all_names_the_others() {
        let page =
            ".TP\ncorecast\\-run(1)\nRun\n.TP\ncorecast\\-a\\-b(1)\n.TP\ncorecast\\-help(1)\n";
        assert_eq!(verbs(page), ["run", "a-b"]);
    }
}
