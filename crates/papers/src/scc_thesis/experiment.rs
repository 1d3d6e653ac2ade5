// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every number that the thesis prints, beside ours.

use corecast_machine::Watch;

use super::tables::{CUBE, Cell, Cut, DOPL, RCCE, SIZES, Table};
use super::{RANKS, chosen, seconds};
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

/// What a fitted number of 0 cycles grows to.
const MORE_THAN_NONE: f64 = 10.0;

/// A broadcast to be timed.
#[derive(Clone, Copy, Debug)]
struct Case {
    table: &'static Table,
    ranks: u32,
    bytes: u64,
    cut: u64,
    /// A number of the chip file that is a tenth larger than it says, or [`MORE_THAN_NONE`] if that
    /// is none.
    more: Option<&'static str>,
}

impl Case {
    const fn new(table: &'static Table, bytes: u64, cut: u64) -> Self {
        Self {
            table,
            ranks: RANKS,
            bytes,
            cut,
            more: None,
        }
    }

    /// With the part or pipe size that the thesis settles on.
    const fn chosen(table: &'static Table, bytes: u64) -> Self {
        Self::new(table, bytes, chosen(table))
    }

    const fn over(self, ranks: u32) -> Self {
        Self { ranks, ..self }
    }

    const fn more(self, key: &'static str) -> Self {
        Self {
            more: Some(key),
            ..self
        }
    }

    /// What tells cases apart.
    const fn key(&self) -> (&str, u32, u64, u64, Option<&str>) {
        (
            self.table.algorithm,
            self.ranks,
            self.bytes,
            self.cut,
            self.more,
        )
    }

    /// Smallest and mean time in seconds.
    fn seconds(&self, watch: &Watch) -> Result<[f64; 2], PaperError> {
        let mut chip = self.table.chip(&[]);
        if let Some(key) = self.more {
            let value = chip.parameters().find(|parameter| parameter.key == key);
            let value = value.expect("a key of the chip").value;
            let more = if value > 0.0 {
                1.1 * value
            } else {
                MORE_THAN_NONE
            };
            chip = self.table.chip(&[(key.to_owned(), format!("{more:.0}"))]);
        }
        seconds(&chip, self.table, self.ranks, self.bytes, self.cut, watch)
    }

    fn conditions(&self) -> String {
        let (algorithm, bytes) = (self.table.algorithm, self.bytes);
        match self.table.cut {
            Cut::Whole => format!("{algorithm}, {bytes} B"),
            cut => format!("{algorithm}, {bytes} B, {} size {} B", cut.name(), self.cut),
        }
    }
}

/// The smallest and the mean time of cases, in seconds.
struct Times(Vec<(Case, [f64; 2])>);

impl Times {
    /// Runs every case once, on all cores of the host.
    fn of(cases: impl IntoIterator<Item = Case>, watch: &Watch) -> Result<Self, PaperError> {
        let mut cases: Vec<Case> = cases.into_iter().collect();
        cases.sort_by(|a, b| a.key().cmp(&b.key()));
        cases.dedup_by(|a, b| a.key() == b.key());
        let times = crate::cases::all(&cases, |case| Ok((*case, case.seconds(watch)?)));
        Ok(Self(times?))
    }

    fn both(&self, case: &Case) -> [f64; 2] {
        let place = self
            .0
            .binary_search_by(|(own, _)| own.key().cmp(&case.key()));
        self.0[place.expect("a case that was run")].1
    }

    fn least(&self, case: &Case) -> f64 {
        self.both(case)[0]
    }
}

pub(super) fn rows(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let (claims, growths) = (claims(), growths());
    let entries = [&CUBE, &DOPL].into_iter().flat_map(entries);
    let ratios = claims.iter().map(|claim| claim.ratio);
    let ratios = ratios.chain(growths.iter().map(|&(_, ratio)| ratio));
    let cases = entries.map(|(case, _)| case).chain(ratios.flatten());
    let times = Times::of(cases, watch)?;

    let mut rows = Vec::new();
    for table in [&CUBE, &DOPL] {
        rows.extend(entries_rows(table, &times));
        rows.extend(best(table, &times));
    }
    rows.extend(claims.into_iter().map(|claim| claim.row(&times)));
    let growth = |(key, ratio)| growth_row(key, &ratio, &times);
    rows.extend(growths.into_iter().map(growth));
    Ok(rows)
}

fn entries(table: &'static Table) -> impl Iterator<Item = (Case, Cell)> {
    let entries = table.entries();
    entries.map(move |(cut, bytes, cell)| (Case::new(table, bytes, cut), cell))
}

/// The smallest time of every entry and, for Cube, the mean.
fn entries_rows(table: &'static Table, times: &Times) -> Vec<Row> {
    let rows = |(case, cell): (Case, Cell)| {
        let [least, mean] = times.both(&case);
        let row = |quantity: &str, published: Option<f64>, ours: f64| {
            let row = Row::new(NAME, table.section, case.conditions(), quantity, "us");
            let row = match published {
                Some(seconds) => row.published(1e6 * seconds),
                None => row,
            };
            row.ours(1e6 * ours)
        };
        match (cell, table.cut) {
            (Cell::One(time), _) => vec![row("time", Some(time), least).fitted()],
            (Cell::Both(min, avg), _) => vec![
                row("smallest time", Some(min), least).fitted(),
                row("mean time", Some(avg), mean),
            ],
            (_, Cut::Pipe { .. }) => vec![row("time", None, least)],
            _ => vec![
                row("smallest time", None, least),
                row("mean time", None, mean),
            ],
        }
    };
    entries(table).flat_map(rows).collect()
}

/// The best size, per message size: of what is visible, and ours. By the smallest times, and where
/// there are some by the mean times, which may say something else.
fn best(table: &'static Table, times: &Times) -> Vec<Row> {
    let [mut smallest, mut means] = [Vec::new(), Vec::new()];
    for bytes in SIZES {
        let of_size = || entries(table).filter(move |(case, _)| case.bytes == bytes);
        let row = |by: &str, which: usize| {
            let published = |(case, cell): (Case, Cell)| match (cell, which) {
                (Cell::Both(time, _) | Cell::One(time), 0) => Some((time, case.cut)),
                (Cell::Both(_, time), 1) => Some((time, case.cut)),
                _ => None,
            };
            let ours = of_size().map(|(case, _)| (times.both(&case)[which], case.cut));
            let conditions = format!("{}, {bytes} B", table.algorithm);
            let quantity = format!("best {} size{by}", table.cut.name());
            let row = Row::new(NAME, table.section, conditions, quantity, "B");
            let row = match cut_of_least(of_size().filter_map(published)) {
                Some(cut) => row.published(cut),
                None => row,
            };
            row.ours(cut_of_least(ours).unwrap_or(f64::NAN))
        };
        smallest.push(row("", 0));
        if table.cut == Cut::Parts {
            means.push(row(" by mean time", 1));
        }
    }
    smallest.append(&mut means);
    smallest
}

/// The second of a pair whose first is the least.
fn cut_of_least(pairs: impl Iterator<Item = (f64, u64)>) -> Option<f64> {
    let least = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map(|(_, cut)| cut as f64)
}

/// A sentence of chapter 7 about the ratio of two times.
struct Claim {
    section: &'static str,
    conditions: String,
    ratio: [Case; 2],
    says: Says,
}

enum Says {
    /// What the ratio is called, and its value.
    Value(&'static str, f64),
    /// Something that the ratio fulfils.
    That(&'static str, fn(f64) -> bool),
}

impl Claim {
    fn row(self, times: &Times) -> Row {
        let ratio = self.ratio.map(|case| times.least(&case));
        let ratio = ratio[0] / ratio[1];
        match self.says {
            Says::Value(quantity, published) => {
                let row = Row::new(NAME, self.section, self.conditions, quantity, "ratio");
                row.published(published).ours(ratio)
            }
            Says::That(claim, holds) => {
                Row::claim(NAME, self.section, self.conditions, claim, holds(ratio))
            }
        }
    }
}

/// What the text of chapter 7 says.
fn claims() -> Vec<Claim> {
    let with_sizes = |bytes: u64, part: u64| {
        let pipe = chosen(&DOPL);
        format!("{bytes} B, parts of {part} B, pipe size {pipe} B")
    };
    let against =
        |section, quantity, bytes, above: &'static Table, below: &'static Table, published| Claim {
            section,
            conditions: with_sizes(bytes, chosen(&CUBE)),
            ratio: [above, below].map(|table| Case::chosen(table, bytes)),
            says: Says::Value(quantity, published),
        };
    let mut claims = vec![
        against("7.1", "RCCE_bcast over Cube", 8001, &RCCE, &CUBE, 10.0),
        against("7.1", "RCCE_bcast over DOPL", 8001, &RCCE, &DOPL, 10.0),
        against("7.1", "Cube over DOPL", 8001, &CUBE, &DOPL, 1.2),
        Claim {
            section: "7.1",
            conditions: format!("4001 and 4101 B, parts of {} B", chosen(&CUBE)),
            ratio: [4101, 4001].map(|bytes| Case::chosen(&CUBE, bytes)),
            says: Says::That(
                "Cube's time jumps, by more than a tenth, where it begins to use two parts",
                |ratio| (ratio - 1.0).abs() > 0.1,
            ),
        },
        against("7.2", "RCCE_bcast over Cube", 100_000, &RCCE, &CUBE, 10.0),
        against("7.2", "RCCE_bcast over DOPL", 100_000, &RCCE, &DOPL, 10.0),
    ];
    // The thesis settles on parts of 4 KB, but these ratios follow from its tables with 8 KB.
    for (section, bytes, published) in [("7.2", 190_000, 5.5), ("7.3", 1_900_000, 10.0)] {
        claims.extend([chosen(&CUBE), 8192].map(|part| Claim {
            section,
            conditions: with_sizes(bytes, part),
            ratio: [Case::new(&CUBE, bytes, part), Case::chosen(&DOPL, bytes)],
            says: Says::Value("Cube over DOPL", published),
        }));
    }
    for (section, bytes) in [("7.1", 8001), ("7.2", 190_000), ("7.3", 1_900_000)] {
        claims.extend([&CUBE, &DOPL].map(|table| Claim {
            section,
            conditions: format!("{}, {bytes} B", table.algorithm),
            ratio: [48, 24].map(|ranks| Case::chosen(table, bytes).over(ranks)),
            says: Says::That("48 cores take less than twice as long as 24", |ratio| {
                ratio < 2.0
            }),
        }));
    }
    claims
}

/// Per fitted number and case the times with a tenth more of it, and as the chip file says.
fn growths() -> Vec<(&'static str, [Case; 2])> {
    let cases = [
        Case::new(&CUBE, 50_000, 1024),
        Case::new(&CUBE, 1_900_000, 1024),
        Case::new(&DOPL, 50_000, 2048),
        Case::new(&DOPL, 190_000, 2048),
    ];
    let of_key = |key| cases.map(|case| (key, [case.more(key), case]));
    FITTED.into_iter().flat_map(of_key).collect()
}

/// By how much a time grows if a fitted number grows by a tenth, or from nothing.
fn growth_row(key: &str, ratio: &[Case; 2], times: &Times) -> Row {
    let [more, base] = ratio.map(|case| times.least(&case));
    let chip = ratio[1].table.chip(&[]);
    let is_none = chip
        .parameters()
        .any(|own| own.key == key && own.value == 0.0);
    let quantity = match is_none {
        true => format!("growth for {MORE_THAN_NONE} cycles of {key}"),
        false => format!("growth for 10 % more {key}"),
    };
    let conditions = ratio[1].conditions();
    let row = Row::new(NAME, "sensitivity", conditions, quantity, "percent");
    row.ours(100.0 * (more / base - 1.0))
}
