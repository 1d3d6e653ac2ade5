// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an application comes from: a folder that is given, Debian's source package, or the package index of
//! Python or Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::recipe::{Python, Recipe};

/// Puts the sources of `recipe` into a folder below `into`, and tells which version they are of.
///
/// A folder or an archive of that name in `given` is taken first; else what the recipe names is fetched. What
/// is there already is left as it is.
///
/// # Errors
/// When there are none.
pub fn unpack(
    recipe: &Recipe,
    given: Option<&Path>,
    into: &Path,
) -> Result<(PathBuf, String), String> {
    let folder = into.join("source");
    let stamp = into.join("version");
    if let Ok(version) = fs::read_to_string(&stamp) {
        return Ok((folder, version));
    }
    fs::create_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
    // What is left of an attempt that did not come to its end.
    let _ = fs::remove_dir_all(&folder);
    let checkout = given.map(|given| given.join(&recipe.name));
    let version = match checkout.filter(|checkout| checkout.is_dir()) {
        Some(checkout) => {
            let copy = Command::new("cp")
                .args(["-a", "--"])
                .arg(&checkout)
                .arg(&folder)
                .status();
            succeeded(copy, "cp")?;
            commit(&checkout)
        }
        None if let Some(python) = &recipe.python => environment(python, &folder)?,
        None if let Some(named) = &recipe.crate_ => vendored(named, into, &folder)?,
        None => {
            let archive = match given.and_then(|given| archive(given, recipe)) {
                Some(archive) => archive,
                None => download(recipe, into)?,
            };
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            let tar = Command::new("tar")
                .arg("xf")
                .arg(&archive)
                .args(["--strip-components", "1", "-C"])
                .arg(&folder)
                .status();
            succeeded(tar, "tar")?;
            version_of(&archive)
        }
    };
    fs::write(&stamp, &version).map_err(|error| error.to_string())?;
    Ok((folder, version))
}

fn succeeded(status: std::io::Result<std::process::ExitStatus>, what: &str) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

/// An environment of Python in `folder`, and its application's version.
fn environment(python: &Python, folder: &Path) -> Result<String, String> {
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(folder)
        .status();
    succeeded(made, "python3 -m venv")?;
    let installed = Command::new(folder.join("bin/pip"))
        .args(["install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:"])
        .args(&python.wheels)
        .status();
    succeeded(installed, "pip install")?;
    Ok(python.version.clone())
}

/// The sources of a crate, `NAME@VERSION`, in `folder`, and its version.
fn vendored(named: &str, into: &Path, folder: &Path) -> Result<String, String> {
    let (name, version) = named.split_once('@').unwrap_or((named, "*"));
    let fetch = into.join("fetch");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\n{name} = \"={version}\"\n"
    );
    let written = fs::create_dir_all(&fetch)
        .and_then(|()| fs::write(fetch.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(fetch.join("lib.rs"), ""));
    written.map_err(|error| format!("{}: {error}", fetch.display()))?;
    let vendor = Command::new("cargo")
        .args(["vendor", "--quiet"])
        .current_dir(&fetch)
        .stdout(std::process::Stdio::null())
        .status();
    succeeded(vendor, "cargo vendor")?;
    let sources = fetch.join("vendor").join(name);
    fs::rename(&sources, folder).map_err(|error| format!("{}: {error}", sources.display()))?;
    Ok(version.to_owned())
}

/// `fftw3_3.3.10.orig.tar.gz` of a folder, for the package `fftw3`.
fn archive(folder: &Path, recipe: &Recipe) -> Option<PathBuf> {
    let start = format!("{}_", recipe.package.as_ref()?);
    let entries = fs::read_dir(folder).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&start) && name.contains(".orig.tar.")
        })
        .max()
}

fn download(recipe: &Recipe, into: &Path) -> Result<PathBuf, String> {
    let Some(package) = &recipe.package else {
        return Err(format!(
            "no distribution has it; put a checkout at DIR/{} and say --sources DIR",
            recipe.name
        ));
    };
    let fetched = Command::new("apt-get")
        .args(["source", "--quiet", "--download-only", package])
        .current_dir(into)
        .output();
    let said = match fetched {
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    // Some mirrors lack what Debian has put beside the archive, which is not needed.
    archive(into, recipe).ok_or_else(|| {
        format!(
            "apt-get has no source of {package}: {}; that needs a line `deb-src`, or an archive in DIR and \
             --sources DIR",
            said.trim()
        )
    })
}

/// `3.3.10` of `fftw3_3.3.10.orig.tar.gz`.
fn version_of(archive: &Path) -> String {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let version = name.split_once('_').map_or(&*name, |(_, rest)| rest);
    let end = version.find(".orig.tar.").unwrap_or(version.len());
    version[..end].to_owned()
}

fn commit(checkout: &Path) -> String {
    let head = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    let head = head.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    match head {
        Ok(commit) if !commit.is_empty() => commit,
        _ => "a folder".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_archives_name() {
        let version = |name| version_of(Path::new(name));
        assert_eq!(version("a/fftw3_3.3.10.orig.tar.gz"), "3.3.10");
        assert_eq!(version("hdf5_1.10.8+repack1.orig.tar.xz"), "1.10.8+repack1");
    }
}
