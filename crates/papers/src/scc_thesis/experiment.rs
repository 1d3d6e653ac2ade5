//! Every number that the thesis prints, beside ours.

use rayon::prelude::*;

use super::tables::{CUBE, Cell, DOPL, SIZES, Table};
use super::{CHOSEN, RANKS, RCCE, seconds};
use crate::bench::PaperError;
use crate::row::Row;

const NAME: &str = "scc-thesis";

/// Numbers of the chip file that are fitted, all to the smallest times of the tables.
const FITTED: [&str; 5] = [
    "memory.read",
    "memory.l2_store",
    "memory.store",
    "endpoint.rcce",
    "endpoint.ircce",
];

/// An entry of a table with its place, and our smallest and mean time.
type Entry = (u64, u64, Cell, [f64; 2]);

pub(super) fn rows() -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    for table in [&CUBE, &DOPL] {
        let entries = entries(table)?;
        rows.extend(entries.iter().flat_map(|entry| times(table, entry)));
        rows.extend(best(table, &entries));
    }
    rows.extend(claims()?);
    rows.extend(sensitivity()?);
    Ok(rows)
}

fn entries(table: &Table) -> Result<Vec<Entry>, PaperError> {
    let chip = table.chip(&[]);
    let all: Vec<_> = table.entries().collect();
    let all = all.into_par_iter().map(|(cut, bytes, cell)| {
        let ours = seconds(&chip, table.algorithm, RANKS, bytes, cut)?;
        Ok((cut, bytes, cell, ours))
    });
    all.collect()
}

fn what_is_cut(table: &Table) -> &'static str {
    if table.algorithm == DOPL.algorithm {
        "pipe"
    } else {
        "part"
    }
}

/// The smallest time of an entry and, for Cube, the mean.
fn times(table: &Table, &(cut, bytes, cell, ours): &Entry) -> Vec<Row> {
    let row = |quantity: &str, published: Option<f64>, ours: f64| {
        let conditions = format!(
            "{}, {bytes} B, {} size {cut} B",
            table.algorithm,
            what_is_cut(table)
        );
        let row = Row::new(NAME, table.section, conditions, quantity, "us");
        let row = match published {
            Some(seconds) => row.published(1e6 * seconds),
            None => row,
        };
        row.ours(1e6 * ours)
    };
    let [least, mean] = ours;
    let fitted = |row: Row| {
        if cell == Cell::Withheld {
            row
        } else {
            row.fitted()
        }
    };
    match cell {
        Cell::One(time) => vec![fitted(row("time", Some(time), least))],
        Cell::Both(min, avg) => vec![
            fitted(row("smallest time", Some(min), least)),
            row("mean time", Some(avg), mean),
        ],
        _ if table.algorithm == DOPL.algorithm => vec![row("time", None, least)],
        _ => vec![
            row("smallest time", None, least),
            row("mean time", None, mean),
        ],
    }
}

/// The size with the smallest time, per message size: of what is visible, and ours.
fn best(table: &Table, entries: &[Entry]) -> Vec<Row> {
    let published_time = |cell| match cell {
        Cell::Both(time, _) | Cell::One(time) => Some(time),
        Cell::None | Cell::Withheld => None,
    };
    let row = |&bytes: &u64| {
        let of_size = || entries.iter().filter(move |entry| entry.1 == bytes);
        let visible = of_size().filter_map(|&(cut, _, cell, _)| Some((published_time(cell)?, cut)));
        let published = visible.min_by(|a, b| a.0.total_cmp(&b.0));
        let ours = of_size().min_by(|a, b| a.3[0].total_cmp(&b.3[0]));
        let quantity = format!("best {} size", what_is_cut(table));
        let conditions = format!("{}, {bytes} B", table.algorithm);
        let row = Row::new(NAME, table.section, conditions, quantity, "B");
        let row = match published {
            Some((_, cut)) => row.published(cut as f64),
            None => row,
        };
        row.ours(ours.map_or(f64::NAN, |entry| entry.0 as f64))
    };
    SIZES.iter().map(row).collect()
}

/// Smallest time over 48 cores, or as many as given.
fn time(table: &Table, ranks: u32, bytes: u64, cut: u64) -> Result<f64, PaperError> {
    seconds(&table.chip(&[]), table.algorithm, ranks, bytes, cut).map(|[least, _]| least)
}

/// What the text of chapter 7 says.
fn claims() -> Result<Vec<Row>, PaperError> {
    let [part, pipe] = CHOSEN;
    let cube = |bytes, part| time(&CUBE, RANKS, bytes, part);
    let dopl = |bytes| time(&DOPL, RANKS, bytes, pipe);
    let rcce = |bytes| time(&RCCE, RANKS, bytes, 0);
    let ratio = |item, conditions: String, quantity: &str, published: f64, ours: f64| {
        let row = Row::new(NAME, item, conditions, quantity, "ratio");
        row.published(published).ours(ours)
    };
    let chosen = |bytes: u64| format!("{bytes} B, parts of {part} B, pipe size {pipe} B");
    let mut rows = vec![
        ratio(
            "7.1",
            chosen(8001),
            "RCCE_bcast over Cube",
            10.0,
            rcce(8001)? / cube(8001, part)?,
        ),
        ratio(
            "7.1",
            chosen(8001),
            "RCCE_bcast over DOPL",
            10.0,
            rcce(8001)? / dopl(8001)?,
        ),
        ratio(
            "7.1",
            chosen(8001),
            "Cube over DOPL",
            1.2,
            cube(8001, part)? / dopl(8001)?,
        ),
        Row::claim(
            NAME,
            "7.1",
            format!("4001 and 4101 B, parts of {part} B"),
            "Cube's time jumps, by more than a tenth, where it begins to use two parts",
            (cube(4101, part)? / cube(4001, part)? - 1.0).abs() > 0.1,
        ),
        ratio(
            "7.2",
            chosen(100_000),
            "RCCE_bcast over Cube",
            10.0,
            rcce(100_000)? / cube(100_000, part)?,
        ),
        ratio(
            "7.2",
            chosen(100_000),
            "RCCE_bcast over DOPL",
            10.0,
            rcce(100_000)? / dopl(100_000)?,
        ),
    ];
    // The thesis settles on parts of 4 KB, but these ratios follow from its tables with 8 KB.
    for (item, bytes, published) in [("7.2", 190_000, 5.5), ("7.3", 1_900_000, 10.0)] {
        for part in [part, 8192] {
            let conditions = format!("{bytes} B, parts of {part} B, pipe size {pipe} B");
            let ours = cube(bytes, part)? / dopl(bytes)?;
            rows.push(ratio(item, conditions, "Cube over DOPL", published, ours));
        }
    }
    for (item, bytes) in [("7.1", 8001), ("7.2", 190_000), ("7.3", 1_900_000)] {
        for (table, cut) in [(&CUBE, part), (&DOPL, pipe)] {
            let grows = time(table, 48, bytes, cut)? / time(table, 24, bytes, cut)?;
            let conditions = format!("{}, {bytes} B", table.algorithm);
            let claim = "48 cores take less than twice as long as 24";
            rows.push(Row::claim(NAME, item, conditions, claim, grows < 2.0));
        }
    }
    Ok(rows)
}

/// By how much a time grows if a fitted number grows by a tenth.
fn sensitivity() -> Result<Vec<Row>, PaperError> {
    let entries = [
        (&CUBE, 50_000, 1024),
        (&CUBE, 1_900_000, 1024),
        (&DOPL, 50_000, 2048),
        (&DOPL, 190_000, 2048),
    ];
    let mut cases = Vec::new();
    for key in FITTED {
        cases.extend(entries.map(|(table, bytes, cut)| (key, table, bytes, cut)));
    }
    let row = |(key, table, bytes, cut): (&'static str, &Table, u64, u64)| {
        let chip = table.chip(&[]);
        let value = chip.parameters().find(|parameter| parameter.key == key);
        let more = 1.1 * value.expect("a key of the chip").value;
        let changed = table.chip(&[(key.to_owned(), format!("{more:.0}"))]);
        let [before, _] = seconds(&chip, table.algorithm, RANKS, bytes, cut)?;
        let [after, _] = seconds(&changed, table.algorithm, RANKS, bytes, cut)?;
        let conditions = format!(
            "{}, {bytes} B, {} size {cut} B",
            table.algorithm,
            what_is_cut(table)
        );
        let quantity = format!("growth for 10 % more {key}");
        let row = Row::new(NAME, "sensitivity", conditions, quantity, "percent");
        Ok(row.ours(100.0 * (after / before - 1.0)))
    };
    cases.into_par_iter().map(row).collect()
}
