// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench-mpi`: our MPI library beside MPICH, Open MPI and Intel MPI, in one run.
//!
//! The same plain MPI program (`xtask/bench-mpi/mpibench.c`) runs on all of them, in turn inside each
//! repetition, so that whatever else the machine does is spread over all. A figure is the median over
//! repetitions of the P50 over iterations; what counts is the ratio to the best of the others, with
//! iterations on cores that share a cache and on cores that do not counted apart. What the machine
//! allows without any library (`xtask/bench-mpi/floor.c`) is measured in each repetition, too: for
//! every row of messages and collectives between two ranks, and for single ways of moving bytes.

mod libraries;
mod measure;
mod options;
mod picture;
mod plan;
mod table;
mod verdict;

use std::fs;
use std::path::Path;

pub use libraries::{compile, corecast, last_line, new_venv, quietly, venv};
use measure::Results;
use options::Options;

/// The name under which the machine's own figures are kept.
const FLOOR: &str = "machine";

/// Runs the benchmark with these arguments.
///
/// # Errors
/// What went wrong, in one line.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::read(arguments)?;
    let folder = root.join("target/bench-mpi");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let libraries = libraries::all(root, &folder, &options)?;
    if libraries.is_empty() {
        return Err("there is no MPI library to measure".to_owned());
    }
    let machine = measure::Machine::find();
    println!("\n{machine}\n");
    for library in &libraries {
        println!("{}", library.describe());
    }
    let groups = plan::groups(&options, machine.cores);
    let mut results = Results::default();
    let gauge = measure::Gauge::make(&folder)?;
    let floor = libraries::floor(root, &folder)?;
    let load = measure::Load::start(options.load);
    for repetition in 0..options.repetitions {
        results.measure_floor(&floor, FLOOR);
        for group in &groups {
            eprintln!(
                "repetition {} of {}: {}",
                repetition + 1,
                options.repetitions,
                group.name()
            );
            for (turn, test) in group.tests.iter().enumerate() {
                // Nobody is always the one after an idle pause.
                let shift = repetition + turn;
                let turns = libraries.len() + usize::from(group.has_floor());
                for index in 0..turns {
                    match libraries.get((index + shift) % turns) {
                        Some(library) => {
                            results.measure(library, group, test, (&options, &gauge));
                        }
                        None => results.measure_floor_of(&floor, FLOOR, group, test),
                    }
                }
            }
        }
    }
    drop(load);
    let names: Vec<&str> = libraries.iter().map(|library| library.name).collect();
    print!("{}", table::floor(&results, FLOOR));
    print!("{}", table::markdown(&results, &groups, &names));
    for path in &options.outputs {
        let text = match Path::new(path).extension().and_then(|kind| kind.to_str()) {
            Some("json") => table::json(&results, &machine, &libraries, &options),
            Some("svg") => picture::svg(root, &results, &groups, &names, (&machine, options.load))?,
            _ => table::csv(&results),
        };
        fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
        println!("\nall figures: {path}");
    }
    Ok(())
}
