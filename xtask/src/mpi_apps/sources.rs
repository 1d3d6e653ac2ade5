// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an application comes from: a folder that is given, Debian's source package, or the package index of
//! Python or Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::recipe::{Origin, Pinned, Recipe};
use crate::bench_mpi::{new_venv, quietly};

/// Puts the sources of `recipe` into a folder below `into`, and tells which version they are of.
///
/// A folder of that name in `given`, or an archive of Debian's package, is taken first; else what the recipe
/// names is fetched. What is there already is left as it is.
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
    let checkout = checkout.filter(|checkout| checkout.is_dir());
    let version = match (&recipe.from, checkout) {
        (Some(Origin::Wheel(python)), _) => {
            let wheels = [&[python.package.to_string()], &python.beside[..]].concat();
            environment(&wheels, &folder)?;
            python.package.version.clone()
        }
        (Some(Origin::Sdist(python)), _) => {
            environment(&python.beside, &folder)?;
            python.package.version.clone()
        }
        (_, Some(checkout)) => {
            quietly(
                Command::new("cp")
                    .args(["-a", "--"])
                    .arg(&checkout)
                    .arg(&folder),
            )?;
            commit(&checkout)
        }
        (Some(Origin::Crate(package)), None) => {
            vendored(package, into, &folder)?;
            package.version.clone()
        }
        (Some(Origin::Debian(package)), None) => {
            let archive = match given.and_then(|given| archive(given, package)) {
                Some(archive) => archive,
                None => download(package, into)?,
            };
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            quietly(
                Command::new("tar")
                    .arg("xf")
                    .arg(&archive)
                    .args(["--strip-components", "1", "-C"])
                    .arg(&folder),
            )?;
            version_of(&archive)
        }
        (None, None) => {
            return Err(format!(
                "no distribution has it; put a checkout at DIR/{} and say --sources DIR",
                recipe.name
            ));
        }
    };
    fs::write(&stamp, &version).map_err(|error| error.to_string())?;
    Ok((folder, version))
}

/// An environment of Python in `folder` with these wheels.
fn environment(wheels: &[String], folder: &Path) -> Result<(), String> {
    let mut pip = new_venv(folder)?;
    quietly(pip.args(["--only-binary", ":all:"]).args(wheels))
}

/// The sources of a crate in `folder`.
fn vendored(package: &Pinned, into: &Path, folder: &Path) -> Result<(), String> {
    let Pinned { name, version } = package;
    let fetch = into.join("fetch");
    // The workspace around these folders is not theirs.
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\n{name} = \"={version}\"\n"
    );
    let unwritable = |error: std::io::Error| format!("{}: {error}", fetch.display());
    fs::create_dir_all(&fetch).map_err(unwritable)?;
    fs::write(fetch.join("Cargo.toml"), manifest).map_err(unwritable)?;
    fs::write(fetch.join("lib.rs"), "").map_err(unwritable)?;
    quietly(
        Command::new("cargo")
            .args(["vendor", "--quiet"])
            .current_dir(&fetch),
    )?;
    let sources = fetch.join("vendor").join(name);
    let manifest = sources.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(unwritable)?;
    fs::write(&manifest, text + "\n[workspace]\n").map_err(unwritable)?;
    fs::rename(&sources, folder).map_err(unwritable)
}

/// `fftw3_3.3.10.orig.tar.gz` of a folder, for the package `fftw3`.
fn archive(folder: &Path, package: &str) -> Option<PathBuf> {
    let start = format!("{package}_");
    let entries = fs::read_dir(folder).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&start) && name.contains(".orig.tar.")
        })
        .max()
}

fn download(package: &str, into: &Path) -> Result<PathBuf, String> {
    let fetched = Command::new("apt-get")
        .args(["source", "--quiet", "--download-only", package])
        .current_dir(into)
        .output();
    let said = match fetched {
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    // Some mirrors lack what Debian has put beside the archive, which is not needed.
    archive(into, package).ok_or_else(|| {
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
