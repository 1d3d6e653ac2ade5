// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask viewer`: the page that shows results, type-checked, linted, tested and built again; it
//! fails if what was built is not what is committed, because the Rust crates embed that.
//!
//! Node's own tools do the work. In CI as root, a browser is installed where there is none; elsewhere
//! the message says how.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page that `crates/viewer` embeds.
const PAGE: &str = "crates/viewer/assets/page.html";

/// Runs all of it.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn run(root: &Path) -> Result<(), String> {
    let here = root.join("viewer");
    if !succeeds(Command::new("npm").arg("--version")) {
        return Err("the viewer needs Node.js 20 or later with npm".to_owned());
    }
    let browser = browser()?;
    install(&here)?;
    let says = |script: &str| {
        let mut npm = Command::new("npm");
        npm.current_dir(&here)
            .args(["run", "--silent", script])
            .env("CHROMIUM", &browser);
        match npm.status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(format!("npm run {script} in viewer")),
        }
    };
    says("check")?;
    says("test")?;
    let page = root.join(PAGE);
    let committed = fs::read(&page).map_err(|error| format!("{PAGE}: {error}"))?;
    says("build")?;
    let built = fs::read(&page).map_err(|error| format!("{PAGE}: {error}"))?;
    if built != committed {
        return Err(format!(
            "{PAGE} was not what viewer builds; now it is: commit it"
        ));
    }
    says("browser")
}

/// Installs what the lock names, unless that is there already.
fn install(here: &Path) -> Result<(), String> {
    let lock = here.join("package-lock.json");
    let wanted = fs::read_to_string(&lock).map_err(|error| error.to_string())?;
    let stamp = here.join("node_modules/installed.json");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing what {} names", lock.display());
    let mut npm = Command::new("npm");
    npm.current_dir(here)
        .args(["ci", "--ignore-scripts", "--silent"]);
    if !succeeds(&mut npm) {
        return Err("npm ci in viewer".to_owned());
    }
    fs::write(stamp, wanted).map_err(|error| error.to_string())
}

/// A Chromium: `CHROMIUM`, or where Debian puts it.
fn browser() -> Result<PathBuf, String> {
    let found = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let browser = found.unwrap_or_else(|| PathBuf::from("/usr/bin/chromium"));
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    if is_ci && !browser.exists() {
        println!("missing: {}; installing", browser.display());
        let install = "apt-get update -qq && apt-get install -y -qq chromium fonts-dejavu-core";
        if !succeeds(Command::new("sh").args(["-c", install])) {
            return Err("apt-get install chromium".to_owned());
        }
    }
    match browser.exists() {
        true => Ok(browser),
        false => Err(format!(
            "the viewer's tests need {}: install Debian's `chromium`, or set CHROMIUM",
            browser.display()
        )),
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
