// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a paper is: its numbers, its figures, and who wins on its chip.

use corecast_machine::Watch;

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
    /// How long its parts are beside those of other papers, for who waits for them.
    pub work: Work,
    pub(crate) experiment: fn(&Watch) -> Result<Vec<Row>, PaperError>,
    pub(crate) figures: fn(&Watch) -> Result<Vec<Figure>, PaperError>,
}

/// How long the parts of a paper are, as `cargo run --release -p corecast-papers --example work`
/// measures and prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Its rows.
    pub rows: Part,
    /// Who wins where on its chip.
    pub winners: Part,
    /// Its figures, without those of who wins.
    pub figures: Part,
}

impl Work {
    /// Milliseconds of its rows and who wins, and perhaps of its figures.
    #[must_use]
    pub const fn ms(&self, has_figures: bool) -> u64 {
        let figures = if has_figures { self.figures.ms } else { 0 };
        self.rows.ms + self.winners.ms + figures
    }
}

/// A part of the work for a paper.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Part {
    /// Milliseconds of all processors together that it has taken on some machine. Only proportions
    /// are used: what remains is estimated from what has passed.
    pub ms: u64,
    /// Messages that its runs had delivered after each quarter of that time; some runs take longer
    /// for a message than others. The last number is the same on every machine.
    pub messages: [u64; 4],
}

impl Part {
    /// How much of its milliseconds is done once so many messages have arrived.
    ///
    /// ```
    /// let part = corecast_papers::Part { ms: 2000, messages: [10, 20, 60, 100] };
    /// let done = [0, 1, 10, 15, 40, 60, 100, 101].map(|messages| part.done(messages));
    /// assert_eq!(done, [0, 50, 500, 750, 1250, 1500, 2000, 2000]);
    /// ```
    #[must_use]
    pub fn done(&self, messages: u64) -> u64 {
        let (mut quarters, mut from) = (0.0, 0);
        for to in self.messages {
            if messages < to {
                quarters += (messages - from) as f64 / (to - from) as f64;
                break;
            }
            (quarters, from) = (quarters + 1.0, to);
        }
        (self.ms as f64 * quarters / 4.0) as u64
    }
}

impl Paper {
    /// Its published numbers beside ours; `watch` counts the messages of all runs.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn rows(&self, watch: &Watch) -> Result<Vec<Row>, PaperError> {
        (self.experiment)(watch)
    }

    /// The paper's figures, redrawn from our runs, whose messages `watch` counts, and maps of
    /// `winners`, those of its contest.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn figures(&self, winners: &[Winner], watch: &Watch) -> Result<Vec<Figure>, PaperError> {
        let mut figures = (self.figures)(watch)?;
        figures.extend(winner_maps(winners));
        Ok(figures)
    }
}
