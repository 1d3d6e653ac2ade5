//! Fits five numbers of the SCC's chip file to the visible entries of the thesis on broadcasts:
//! `cargo run --release --example fit_scc_thesis`.
//!
//! Coordinate descent on the sum of squares of ln(ours / published). What it prints is what the chip
//! file says.

use corecast_papers::scc_thesis::{CUBE, Cell, DOPL, Table, seconds};
use rayon::prelude::*;

/// Parameters with their first values, in cycles.
const START: [(&str, u64); 5] = [
    ("memory.read", 135),
    ("memory.l2_store", 30),
    ("memory.store", 190),
    ("endpoint.rcce", 35),
    ("endpoint.ircce", 653),
];

/// Published and ours for every visible entry.
fn cells(values: &[u64]) -> Vec<(String, f64, f64)> {
    let changes: Vec<_> = START
        .iter()
        .zip(values)
        .map(|((name, _), value)| ((*name).to_owned(), value.to_string()))
        .collect();
    let mut entries: Vec<(&Table, u64, u64, f64)> = Vec::new();
    for table in [&CUBE, &DOPL] {
        for (cut, bytes, cell) in table.entries() {
            if let Cell::Both(time, _) | Cell::One(time) = cell {
                entries.push((table, cut, bytes, time));
            }
        }
    }
    entries
        .into_par_iter()
        .map(|(table, cut, bytes, time)| {
            let ours = seconds(&table.chip(&changes), table.algorithm, 48, bytes, cut);
            let name = format!("{} {bytes} {cut}", table.algorithm);
            (name, time, ours.expect("runs")[0])
        })
        .collect()
}

fn badness(values: &[u64]) -> f64 {
    let cells = cells(values);
    cells
        .iter()
        .map(|(_, published, ours)| (ours / published).ln().powi(2))
        .sum()
}

fn main() {
    let given: Vec<u64> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap())
        .collect();
    if !given.is_empty() {
        return show(&given);
    }
    let mut best: Vec<u64> = START.iter().map(|&(_, value)| value).collect();
    let mut least = badness(&best);
    for percent in [10, 3, 1] {
        loop {
            let before = least;
            for index in 0..best.len() {
                let step = (best[index] * percent / 100).max(1);
                for value in [best[index] + step, best[index].saturating_sub(step)] {
                    let mut tried = best.clone();
                    tried[index] = value;
                    let badness = badness(&tried);
                    if badness < least {
                        (best, least) = (tried, badness);
                        eprintln!("{least:.4} {best:?}");
                    }
                }
            }
            if least >= before * 0.999 {
                break;
            }
        }
    }
    show(&best);
}

fn show(best: &[u64]) {
    let mut squares = 0.0;
    let cells = cells(best);
    for (name, published, ours) in &cells {
        let error = ours / published - 1.0;
        squares += error * error;
        println!(
            "{name:28} published {published:.6}  ours {ours:.6}  {:+.1} %",
            100.0 * error
        );
    }
    println!("rms {:.1} %", 100.0 * (squares / cells.len() as f64).sqrt());
    for ((name, _), value) in START.iter().zip(best) {
        println!("  {name} = {value}");
    }
}
