// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mutants [AREA [K/N] [missed] [tests=TEXT]]`: a small change in the code must fail a
//! test.
//!
//! `cargo-mutants` says which changes there are; all of an area are put into one build, each behind
//! a number (`weave`), and the tests that meet one are run with it (`run`). What is left out, and
//! why, is in `.cargo/mutants.toml`; survivors and their reasons are in `docs/mutants.md`, and one that
//! is not there is a failure. Too long for CI: meant for nights.

mod areas;
mod build;
mod list;
mod report;
mod run;
mod sites;
mod weave;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use areas::{AREAS, Area};
use report::Report;

/// Which mutants, and which tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    area: Option<String>,
    /// One of so many even parts.
    part: Option<(usize, usize)>,
    /// Only those that were missed or not run the last time.
    is_missed: bool,
    /// Only tests whose name contains this.
    tests: String,
}

impl Choice {
    /// # Errors
    /// What cannot be understood.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Self::default();
        for argument in arguments {
            if AREAS.iter().any(|area| area.name == argument) {
                choice.area = Some(argument.clone());
            } else if argument == "missed" {
                choice.is_missed = true;
            } else if let Some(text) = argument.strip_prefix("tests=") {
                text.clone_into(&mut choice.tests);
            } else if let Some(part) = part(argument) {
                choice.part = Some(part);
            } else {
                let names: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
                return Err(format!(
                    "{argument}: neither an area ({}) nor K/N, missed or tests=TEXT",
                    names.join(", ")
                ));
            }
        }
        Ok(choice)
    }
}

/// `3/8` is the fourth of eight parts.
fn part(text: &str) -> Option<(usize, usize)> {
    let (at, of) = text.split_once('/')?;
    let (at, of) = (at.parse().ok()?, of.parse().ok()?);
    (at < of).then_some((at, of))
}

/// Runs one area or all of them.
///
/// # Errors
/// What is missing, went wrong or survived, in one line.
pub fn run(root: &Path, choice: &Choice) -> Result<(), String> {
    let explained = fs::read_to_string(root.join("docs/mutants.md")).unwrap_or_default();
    let mut summary = format!("{}\n", report::HEAD);
    let mut failures = Vec::new();
    let all = AREAS.iter();
    for area in all.filter(|area| choice.area.as_ref().is_none_or(|name| name == area.name)) {
        let report = examine(root, area, choice)?;
        summary += &report.row(area.name);
        failures.extend(report.failures(area.name, &explained));
    }
    failures.iter().for_each(|failure| println!("{failure}"));
    print!("{summary}");
    match failures.len() {
        0 => Ok(()),
        many => Err(format!("{many} findings; all is in target/mutants")),
    }
}

/// Runs one area.
fn examine(root: &Path, area: &Area, choice: &Choice) -> Result<Report, String> {
    let home = root.join("target/mutants").join(area.name);
    let tree = home.join("tree");
    fs::create_dir_all(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    let list = list::list(root, area)?;
    let path = home.join("mutants.txt");
    let mut report = match choice.is_missed {
        true => Report::read(&path, &list.mutants)?,
        false => Report::new(&list.mutants),
    };
    let (programs, left_out) = build::build(root, &tree, area, &list)?;
    left_out
        .unbuildable
        .iter()
        .for_each(|&number| report.set(number, report::UNBUILDABLE, ""));
    left_out
        .unwoven
        .iter()
        .for_each(|&number| report.set(number, report::UNWOVEN, ""));
    let woven = (0..list.mutants.len()).filter(|&number| !left_out.has(number));
    let (at, of) = choice.part.unwrap_or((0, 1));
    let mutants: Vec<usize> = (0..)
        .zip(woven)
        .filter(|(index, _)| index % of == at)
        .map(|(_, number)| number)
        .filter(|&number| !choice.is_missed || report.is_open(number))
        .collect();
    println!(
        "{}: {} mutants, learning what tests meet",
        area.name,
        mutants.len()
    );
    let wanted = |name: &str| {
        name.contains(&choice.tests) && !area.skip.iter().any(|skip| name.contains(skip))
    };
    let tests = run::learn(&programs, &home, wanted)?;
    for test in tests.iter().rev().take(5) {
        println!(
            "{}: {} takes {:.1} s",
            area.name,
            test.name,
            test.time.as_secs_f64()
        );
    }
    report.write(&path)?;
    let report = Mutex::new(report);
    // Written every time, so that what ends early can go on.
    run::judge(&tests, &mutants, |number, fate| {
        let mut report = report.lock().expect("nobody panics with it");
        report.note(number, fate);
        report.write(&path)
    })?;
    Ok(report.into_inner().expect("nobody panics with it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_in_any_order() {
        let read = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            Choice::read(&words)
        };
        assert_eq!(read(""), Ok(Choice::default()));
        let all = Choice {
            area: Some("mesh".to_owned()),
            part: Some((3, 8)),
            is_missed: true,
            tests: "packet".to_owned(),
        };
        assert_eq!(read("mesh 3/8 missed tests=packet"), Ok(all));
        for wrong in ["meshes", "8/8", "3"] {
            assert!(read(wrong).is_err_and(|error| error.starts_with(wrong)));
        }
    }
}
