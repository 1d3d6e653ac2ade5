// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was measured: decision tables of `corecast tune --machine host`, of `--machine mpi` for programs
//! on simulated chips, or of what `corecast coll --tune` builds, below another MPI.
//!
//! A call asks every time whether it goes over messages at all, so that this is worked out when the tables
//! are read: for every rank count in a table the sizes from which on another answer holds.
#![forbid(unsafe_code)]

use corecast_core::{Collective, Request, algorithm};
use corecast_tune::{BOARDS, Cell, LIBRARY, Table, Tables};

use super::choose::Choice;

/// How a call is carried out, as a table has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// By a schedule over messages.
    Messages,
    /// Through boards ([`BOARDS`]).
    Boards,
    /// By the library below ([`LIBRARY`]).
    Library,
}

impl Means {
    fn of(cell: &Cell) -> Self {
        match cell.algorithm {
            BOARDS => Self::Boards,
            LIBRARY => Self::Library,
            _ => Self::Messages,
        }
    }
}

/// Tables, and what they say of means.
#[derive(Clone, Debug)]
pub struct Measured {
    tables: Tables,
    /// By collective in the order of [`Collective::ALL`].
    means: [Vec<Row>; Collective::ALL.len()],
}

/// What a table says of one rank count.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    ranks: u32,
    /// Largest sizes for which an answer holds, and the answer; the last holds for all.
    answers: Vec<(u64, Means)>,
}

impl Measured {
    /// By these tables.
    #[must_use]
    pub fn new(tables: Tables) -> Self {
        let mut means = [const { Vec::new() }; Collective::ALL.len()];
        // Those that come with corecast are for chips, which have no boards, and are read when they are
        // asked.
        for table in tables.read() {
            means[table.setting().collective as usize] = rows(table);
        }
        Self { means, tables }
    }

    /// The tables.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// How a call is carried out, if a table says anything of it.
    #[inline]
    #[must_use]
    pub fn means(&self, collective: Collective, ranks: usize, bytes: usize) -> Option<Means> {
        let rows = &self.means[collective as usize];
        let ranks = ranks as u64;
        // Rows are few, and in order: the first that is nearer than the one behind it.
        let nearest = rows.windows(2).find(|pair| {
            let [one, next] = [&pair[0], &pair[1]].map(|row| u64::from(row.ranks));
            ranks * ranks <= one * next
        });
        let row = nearest.map(|pair| &pair[0]).or(rows.last())?;
        let answer = row.answers.iter().find(|(most, _)| bytes as u64 <= *most);
        answer.map(|&(_, means)| means)
    }

    /// Why it is so: the file, and its cell that is the nearest.
    #[must_use]
    pub fn why(&self, collective: Collective, ranks: u32, bytes: u64) -> Option<String> {
        let (file, table) = self.tables.of(collective)?;
        let cell = *table.nearest(ranks, bytes).first()?;
        Some(why(file, table, cell))
    }

    /// What a table says of a request that goes over messages, if it says anything; why not, if there
    /// is a table that cannot serve it.
    ///
    /// # Errors
    /// The reason.
    pub fn choose(&self, request: &Request) -> Result<Option<Choice>, String> {
        let Some((file, table)) = self.tables.of(request.collective) else {
            return Ok(None);
        };
        let nearest = table.nearest(request.ranks, request.bytes);
        match nearest.first().map(|cell| Means::of(cell)) {
            Some(Means::Boards) => {
                return Err(format!(
                    "{file}: boards are the fastest, but not possible here"
                ));
            }
            Some(Means::Library) => {
                return Err(format!(
                    "{file}: the library below is the fastest, but there is none here"
                ));
            }
            Some(Means::Messages) | None => {}
        }
        let setting = table.setting();
        let mut asked = request.clone();
        asked.tuning.arity = setting.arity;
        asked.tuning.status_bits = setting.status_bits;
        asked.tuning.flow_control = setting.flow_control;
        let decision = table
            .decide(&asked)
            .map_err(|why| format!("{file}: {why}"))?;
        let found = algorithm::find(request.collective, decision.cell.algorithm);
        Ok(found.map(|algorithm| Choice {
            algorithm,
            why: why(file, table, decision.cell),
            tuning: decision.request.tuning,
        }))
    }

    /// The file of a collective's table.
    #[must_use]
    pub fn file(&self, collective: Collective) -> Option<&str> {
        self.tables.of(collective).map(|(file, _)| file)
    }
}

/// Why a cell's algorithm is taken.
fn why(file: &str, table: &Table, cell: &Cell) -> String {
    let Cell { ranks, bytes, .. } = cell;
    let chip = &table.setting().chip;
    format!("{file}: the fastest at {ranks} ranks and {bytes} bytes on {chip}")
}

/// The rows of a table, in order of ranks.
fn rows(table: &Table) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut cells = table.cells().peekable();
    while let Some(cell) = cells.next() {
        let next = cells.peek().filter(|next| next.ranks == cell.ranks);
        let most = next.map_or(u64::MAX, |next| between(cell.bytes, next.bytes));
        let answer = (most, Means::of(cell));
        match rows.last_mut().filter(|row| row.ranks == cell.ranks) {
            Some(row) => row.answers.push(answer),
            None => rows.push(Row {
                ranks: cell.ranks,
                answers: vec![answer],
            }),
        }
    }
    rows
}

/// The largest size that is as near to `one` as to the larger `other`, or nearer, on a logarithmic
/// scale; as [`Table::nearest`] has it.
fn between(one: u64, other: u64) -> u64 {
    let product = u128::from(one.max(1)) * u128::from(other.max(1));
    let middle = product.isqrt() as u64;
    // Zero and one are as far from all others; to themselves they are the nearest.
    match (one, other) {
        (0, 1) => 0,
        _ => middle.min(other - 1).max(one),
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "format = 1\ncorecast = \"0.1.0\"\nchip = \"test\"\n\
        fingerprint = \"0123456789abcdef\"\ncollective = \"barrier\"\nflow_control = \"auto\"\n\
        status_bits = 2\narity = 3\nalgorithms = [\"boards\", \"library\", \"linear\"]\n";

    fn table(cells: &[(u32, u64, usize)]) -> Table {
        let mut text = HEAD.to_owned();
        for (ranks, bytes, means) in cells {
            let name = [BOARDS, LIBRARY, "linear"][*means];
            text += &format!(
                "[[cell]]\nranks = {ranks}\nbytes = {bytes}\nalgorithm = \"{name}\"\nns = 1\n"
            );
        }
        Table::parse(&text, "t.toml").expect("a table")
    }

    proptest! {
        /// What is worked out beforehand is what the table says when it is asked.
        #[test]
        fn a_call_has_the_means_of_the_nearest_cell(
            cells in prop::collection::btree_map((1_u32..40, 0_u64..5000), 0..3_usize, 1..12),
            ranks in 1_u32..50,
            bytes in 0_u64..6000,
        ) {
            let cells: Vec<_> = cells.into_iter().map(|((r, b), is)| (r, b, is)).collect();
            let table = table(&cells);
            let expected = Means::of(table.nearest(ranks, bytes)[0]);
            let measured = Measured::new(Tables::one("t.toml", table));
            let found = measured.means(Collective::Barrier, ranks as usize, bytes as usize);
            prop_assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn a_table_without_cells_says_nothing() {
        assert!(rows(&table(&[])).is_empty());
    }
}
