//! Published numbers as data, and the experiments that reproduce them.
//!
//! A [`Row`] holds one published value, ours, and the error, however large. Nothing here is tuned:
//! chips come from their files, and values the fits have used are marked. Where the published
//! value is withheld from us, the row is a prediction.
//!
//! ```
//! let rows = corecast_papers::reproduce("park2019").unwrap();
//! let ap = rows.iter().find(|row| row.conditions.starts_with("4 nodes") && row.unit == "ns");
//! assert_eq!(ap.unwrap().error_percent, Some(0.0));
//! ```

mod bench;
mod chung2011;
mod figures;
mod gates;
mod kumar2012;
mod lockstep;
mod park2019;
mod row;
pub mod scc_thesis;
mod winners;
pub mod yagna2013;

pub use bench::PaperError;
pub use figures::Figure;
pub use lockstep::{Ends, add_rtl, rtl_vectors};
pub use row::Row;
pub use winners::{Contest, Winner, winner_maps};

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
    /// How long its numbers, its contest and its figures take, in seconds on two cores of an Intel
    /// Xeon: only how they compare matters, for who waits.
    pub seconds: [f64; 3],
    /// Published numbers that are not reproduced or not explained, and why.
    pub open: &'static str,
    experiment: fn() -> Result<Vec<Row>, PaperError>,
    figures: fn() -> Result<Vec<Figure>, PaperError>,
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

/// Every paper, in order of publication.
pub const PAPERS: &[Paper] = &[
    chung2011::PAPER,
    scc_thesis::PAPER,
    kumar2012::PAPER,
    yagna2013::PAPER,
    park2019::PAPER,
];

/// Runs the experiments of the paper called `name`.
///
/// # Errors
/// [`PaperError::Unknown`], or whatever ended a run.
pub fn reproduce(name: &str) -> Result<Vec<Row>, PaperError> {
    let paper = PAPERS.iter().find(|paper| paper.name == name);
    let paper = paper.ok_or_else(|| PaperError::Unknown {
        name: name.to_owned(),
    })?;
    (paper.experiment)()
}
