// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a paper is: its numbers, its figures, and who wins on its chip.

use crate::bench::PaperError;
use crate::figures::Figure;
use crate::row::Row;
use crate::winners::{Contest, Winner, winner_maps};

/// A paper whose numbers are reproduced.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// Author, year, title.
    pub citation: &'static str,
    /// The built-in chips on which its experiments and figures run, its own first.
    pub chips: &'static [&'static str],
    /// Which algorithms win where on its chip.
    pub contest: Contest,
    /// Published numbers that are not reproduced or not explained, and why.
    pub open: &'static str,
    /// How its parts compare with those of other papers, for who waits for them.
    pub work: Work,
    pub(crate) experiment: fn() -> Result<Vec<Row>, PaperError>,
    pub(crate) figures: fn() -> Result<Vec<Figure>, PaperError>,
}

/// How long the parts of a paper take, as measured by `cargo run --release -p corecast-papers
/// --example work`. Only proportions are used: what remains is estimated from what has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Its rows, in milliseconds.
    pub rows: u64,
    /// Who wins where on its chip.
    pub winners: u64,
    /// Its figures, without those of who wins.
    pub figures: u64,
}

impl Paper {
    /// The paper's figures, redrawn from our runs, and maps of `winners`, those of its contest.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn figures(&self, winners: &[Winner]) -> Result<Vec<Figure>, PaperError> {
        let mut figures = (self.figures)()?;
        figures.extend(winner_maps(winners));
        Ok(figures)
    }
}
