// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fits five numbers of the SCC's chip file to the visible entries of the thesis on broadcasts:
//! `cargo run --release --example fit_scc_thesis`.
//!
//! Coordinate descent on the sum of squares of ln(ours / published), and a penalty for every column
//! whose smallest time is in another line than the published one. What it prints is what the chip
//! file says, and what that predicts for the withheld entries, which take no part in the fit. With
//! five values as arguments it only shows their errors.

use corecast_machine::Watch;
use corecast_papers::scc_thesis::{CUBE, Cell, DOPL, Table, seconds};
use rayon::prelude::*;

/// Parameters with their first values, in cycles.
const START: [(&str, u64); 5] = [
    ("memory.read", 83),
    ("memory.l2_store", 30),
    ("memory.store", 199),
    ("endpoint.rcce", 0),
    ("endpoint.ircce", 731),
];

/// An entry: table and message size, part or pipe size, published and ours; not a number where it is
/// withheld.
type Entry = ((&'static str, u64), u64, f64, f64);

/// What a column with another best size adds: as much as one entry that is 14 % off.
const WRONG_BEST: f64 = 0.02;

/// Every visible entry, or every withheld one.
fn cells(values: &[u64], is_visible: bool) -> Vec<Entry> {
    let changes: Vec<_> = START
        .iter()
        .zip(values)
        .map(|((name, _), value)| ((*name).to_owned(), value.to_string()))
        .collect();
    let mut entries: Vec<(&Table, u64, u64, f64)> = Vec::new();
    for table in [&CUBE, &DOPL] {
        for (cut, bytes, cell) in table.entries() {
            match cell {
                Cell::Both(time, _) | Cell::One(time) if is_visible => {
                    entries.push((table, cut, bytes, time));
                }
                Cell::Withheld if !is_visible => entries.push((table, cut, bytes, f64::NAN)),
                _ => {}
            }
        }
    }
    entries
        .into_par_iter()
        .map(|(table, cut, bytes, time)| {
            let ours = seconds(
                &table.chip(&changes),
                table,
                48,
                bytes,
                cut,
                &Watch::default(),
            );
            let [least, _] = ours.expect("runs");
            ((table.algorithm, bytes), cut, time, least)
        })
        .collect()
}

/// Columns whose smallest time is in another line than the published one.
fn wrong_best(cells: &[Entry]) -> usize {
    let mut columns: Vec<_> = cells.iter().map(|entry| entry.0).collect();
    columns.sort_unstable();
    columns.dedup();
    let is_wrong = |column: &(&str, u64)| {
        let entries = || cells.iter().filter(move |entry| entry.0 == *column);
        let published = entries().min_by(|a, b| a.2.total_cmp(&b.2));
        let ours = entries().min_by(|a, b| a.3.total_cmp(&b.3));
        published.map(|entry| entry.1) != ours.map(|entry| entry.1)
    };
    columns.iter().filter(|&column| is_wrong(column)).count()
}

fn badness(values: &[u64]) -> f64 {
    let cells = cells(values, true);
    let squares = cells
        .iter()
        .map(|(_, _, published, ours)| (ours / published).ln().powi(2));
    squares.sum::<f64>() + WRONG_BEST * wrong_best(&cells) as f64
}

fn main() {
    let given = std::env::args().skip(1).map(|value| value.parse());
    let given: Vec<u64> = given
        .map(|value| value.expect("a number of cycles"))
        .collect();
    if given.len() == START.len() {
        return show(&given);
    }
    let mut best: Vec<u64> = START.iter().map(|&(_, value)| value).collect();
    let mut least = badness(&best);
    for percent in [3, 1] {
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

fn show(values: &[u64]) {
    for ((table, bytes), cut, _, ours) in cells(values, false) {
        println!("{table:14} {bytes:7} B, cut {cut:6} B: withheld, ours {ours:.6} s");
    }
    let cells = cells(values, true);
    let mut squares = 0.0;
    for ((table, bytes), cut, published, ours) in &cells {
        let error = ours / published - 1.0;
        squares += error * error;
        let percent = 100.0 * error;
        println!(
            "{table:14} {bytes:7} B, cut {cut:6} B: published {published:.6} s, ours {ours:.6} s, \
             {percent:+.1} %"
        );
    }
    let rms = 100.0 * (squares / cells.len() as f64).sqrt();
    let wrong = wrong_best(&cells);
    println!("rms {rms:.1} %, {wrong} columns with another best size");
    for ((name, _), value) in START.iter().zip(values) {
        println!("  {name} = {value}");
    }
}
