// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast programs are read, checked, run and explained: operations of a GOAL graph a second.
//!
//! ```console
//! $ cargo run --release -p corecast-study --example replay_speed -- [MILLIONS] [CHIP] [FIDELITY] [FILE]
//! ```
//!
//! Without a file two graphs of so many million operations are made: four ranks with a chain of
//! computations each, and a ring in which every rank computes, sends, receives and waits.

use std::fmt::Write as _;
use std::time::Instant;

use corecast_machine::Limits;
use corecast_machine_sim::Fidelity;
use corecast_study::{ChipChoice, ProgramPlan, ReplayPlan, ReplayStudy};

/// Ranks of the ring: the cores of the smallest mesh among the chips.
const RING: u32 = 16;

fn chains(operations: u32) -> String {
    let mut text = "num_ranks 4\n".to_owned();
    for rank in 0..4 {
        let _ = write!(text, "rank {rank} {{\nc0: calc 100\n");
        for number in 1..operations / 4 {
            let before = number - 1;
            let _ = writeln!(text, "c{number}: calc 100\nc{number} requires c{before}");
        }
        text += "}\n";
    }
    text
}

fn ring(operations: u32) -> String {
    let mut text = format!("num_ranks {RING}\n");
    for rank in 0..RING {
        let (next, before) = ((rank + 1) % RING, (rank + RING - 1) % RING);
        let _ = writeln!(text, "rank {rank} {{");
        for turn in 0..operations / RING / 3 {
            let _ = write!(
                text,
                "c{turn}: calc 100\ns{turn}: send 64b to {next}\nr{turn}: recv 64b from {before}\n\
                 s{turn} requires c{turn}\n"
            );
            if turn > 0 {
                let last = turn - 1;
                let _ = write!(text, "c{turn} requires s{last}\nc{turn} requires r{last}\n");
            }
        }
        text += "}\n";
    }
    text
}

fn measure(name: &str, (chip, fidelity): (&str, Option<Fidelity>), contents: &[u8]) {
    let start = Instant::now();
    let program = corecast_replay::read(name, contents, &Default::default()).expect("a program");
    let read = start.elapsed().as_secs_f64();
    let calls = program.graph.calls_total() as f64;
    let on = ProgramPlan {
        limits: Limits {
            events: u64::MAX,
            ..Limits::default()
        },
        fidelity,
        ..ProgramPlan::new(ChipChoice::find(chip, &[]).expect("a chip"))
    };
    let study = ReplayStudy::new(ReplayPlan::new(on), program.graph).expect("it fits");
    let start = Instant::now();
    let run = study.run().expect("it ends");
    let ran = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let explained = run.calls.explain();
    let explaining = start.elapsed().as_secs_f64();
    println!(
        "{name} on {chip}: {calls} operations, {read:.2} s read and checked, {ran:.2} s run, {:.0} \
         operations/s in all, {} messages; {explaining:.2} s to explain {} stretches",
        calls / (read + ran),
        run.calls.report.messages.len(),
        explained.path.len()
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let millions: f64 = arguments
        .next()
        .map_or(1.0, |text| text.parse().expect("a number"));
    let chip = arguments.next().unwrap_or_else(|| "tilepro64".to_owned());
    let known = |name: &String| Fidelity::ALL.into_iter().find(|one| one.name() == name);
    let fidelity = arguments.peek().and_then(known);
    arguments.next_if(|_| fidelity.is_some());
    let on = (&*chip, fidelity);
    if let Some(path) = arguments.next() {
        return measure(&path, on, &std::fs::read(&path).expect("a readable file"));
    }
    let operations = (millions * 1e6) as u32;
    measure("chains", on, chains(operations).as_bytes());
    measure("ring", on, ring(operations).as_bytes());
}
