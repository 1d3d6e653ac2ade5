// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was measured: decision tables of `corecast tune --machine host`, or of `--machine mpi` for programs
//! on simulated chips.
//!
//! A call asks whether it goes through boards every time, so that this is worked out when the tables
//! are read: for every rank count in a table the sizes from which on another answer holds.
#![forbid(unsafe_code)]

use corecast_core::{Collective, Request};
use corecast_tune::{BOARDS, Cell, Table, Tables};

use super::choose::Choice;

/// Tables, and what they say of boards.
#[derive(Clone, Debug)]
pub struct Measured {
    tables: Tables,
    /// By collective in the order of [`Collective::ALL`].
    boards: [Vec<Row>; Collective::ALL.len()],
}

/// What a table says of one rank count.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    ranks: u32,
    /// Largest sizes for which an answer holds, and whether it is boards; the last holds for all.
    answers: Vec<(u64, bool)>,
}

impl Measured {
    /// By these tables.
    #[must_use]
    pub fn new(tables: Tables) -> Self {
        let mut boards = [const { Vec::new() }; Collective::ALL.len()];
        // Those that come with corecast are for chips, which have no boards, and are read when they are
        // asked.
        for table in tables.read() {
            boards[table.setting().collective as usize] = rows(table);
        }
        Self { boards, tables }
    }

    /// Whether a call goes through boards, if a table says anything of it.
    #[inline]
    #[must_use]
    pub fn goes_through_boards(
        &self,
        collective: Collective,
        ranks: usize,
        bytes: usize,
    ) -> Option<bool> {
        let rows = &self.boards[collective as usize];
        let ranks = ranks as u64;
        // Rows are few, and in order: the first that is nearer than the one behind it.
        let nearest = rows.windows(2).find(|pair| {
            let [one, next] = [&pair[0], &pair[1]].map(|row| u64::from(row.ranks));
            ranks * ranks <= one * next
        });
        let row = nearest.map(|pair| &pair[0]).or(rows.last())?;
        let answer = row.answers.iter().find(|(most, _)| bytes as u64 <= *most);
        answer.map(|&(_, is_boards)| is_boards)
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
        if nearest.first().is_some_and(|cell| cell.algorithm == BOARDS) {
            return Err(format!(
                "{file}: boards are the fastest, but not possible here"
            ));
        }
        let setting = table.setting();
        let mut asked = request.clone();
        asked.tuning.arity = setting.arity;
        asked.tuning.status_bits = setting.status_bits;
        asked.tuning.flow_control = setting.flow_control;
        let decision = table
            .decide(&asked)
            .map_err(|why| format!("{file}: {why}"))?;
        let Cell {
            algorithm,
            ranks,
            bytes,
            ..
        } = *decision.cell;
        let chip = &setting.chip;
        let found = corecast_core::algorithm::find(request.collective, algorithm);
        Ok(found.map(|algorithm| Choice {
            algorithm,
            tuning: decision.request.tuning,
            why: format!("{file}: the fastest at {ranks} ranks and {bytes} bytes on {chip}"),
        }))
    }

    /// The file of a collective's table.
    #[must_use]
    pub fn file(&self, collective: Collective) -> Option<&str> {
        self.tables.of(collective).map(|(file, _)| file)
    }
}

/// The rows of a table, in order of ranks.
fn rows(table: &Table) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut cells = table.cells().peekable();
    while let Some(cell) = cells.next() {
        let next = cells.peek().filter(|next| next.ranks == cell.ranks);
        let most = next.map_or(u64::MAX, |next| between(cell.bytes, next.bytes));
        let answer = (most, cell.algorithm == BOARDS);
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "format = 1\ncorecast = \"0.1.0\"\nchip = \"test\"\n\
        fingerprint = \"0123456789abcdef\"\ncollective = \"barrier\"\nflow_control = \"auto\"\n\
        status_bits = 2\narity = 3\nalgorithms = [\"boards\", \"linear\"]\n";

    fn table(cells: &[(u32, u64, bool)]) -> Table {
        let mut text = HEAD.to_owned();
        for (ranks, bytes, is_boards) in cells {
            let name = if *is_boards { BOARDS } else { "linear" };
            text += &format!(
                "[[cell]]\nranks = {ranks}\nbytes = {bytes}\nalgorithm = \"{name}\"\nns = 1\n"
            );
        }
        Table::parse(&text, "t.toml").expect("a table")
    }

    proptest! {
        /// What is worked out beforehand is what the table says when it is asked.
        #[test]
        fn boards_are_asked_for_where_the_nearest_cell_has_them(
            cells in prop::collection::btree_map((1_u32..40, 0_u64..5000), any::<bool>(), 1..12),
            ranks in 1_u32..50,
            bytes in 0_u64..6000,
        ) {
            let cells: Vec<_> = cells.into_iter().map(|((r, b), is)| (r, b, is)).collect();
            let table = table(&cells);
            let expected = table.nearest(ranks, bytes)[0].algorithm == BOARDS;
            let mut boards = Collective::ALL.map(|_| Vec::new());
            boards[Collective::Barrier as usize] = rows(&table);
            let measured = Measured { tables: Tables::default(), boards };
            let found =
                measured.goes_through_boards(Collective::Barrier, ranks as usize, bytes as usize);
            prop_assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn a_table_without_cells_says_nothing() {
        assert!(rows(&table(&[])).is_empty());
    }
}
