// SPDX-License-Identifier: MIT OR Apache-2.0
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
mod cases;
mod chung2011;
mod figures;
mod gates;
mod kumar2012;
mod lockstep;
mod paper;
mod park2019;
mod record;
mod row;
pub mod scc_thesis;
mod winners;
pub mod yagna2013;

use corecast_machine::Watch;

pub use bench::PaperError;
pub use figures::Figure;
pub use lockstep::{Ends, add_rtl, rtl_vectors};
pub use paper::{Paper, Part, Work};
pub use record::{ChipOfRows, PaperRecord, PaperSettings, RowRecord, list_papers};
pub use row::Row;
pub use winners::{Contest, Winner, winner_maps};

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
        known: PAPERS.iter().map(|paper| paper.name).collect(),
    })?;
    paper.rows(&Watch::default())
}
