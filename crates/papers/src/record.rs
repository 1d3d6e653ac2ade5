// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said about papers, and what their rows depend on, as records.

use serde::Serialize;

use crate::PAPERS;
use crate::paper::Paper;
use crate::row::Row;

/// A paper in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PaperRecord {
    /// The name.
    pub name: &'static str,
    /// Its chip.
    pub chip: &'static str,
    /// Author, year, title.
    pub citation: &'static str,
}

/// The papers.
pub fn list_papers() -> impl Iterator<Item = PaperRecord> {
    PAPERS.iter().map(|paper| PaperRecord {
        name: paper.name,
        chip: paper.contest.chip,
        citation: paper.citation,
    })
}

/// What the rows of a paper depend on; what differs between them (message layer, algorithm, sizes)
/// is in their conditions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PaperSettings {
    /// Of corecast.
    pub version: &'static str,
    /// The chips that rows of the paper come from.
    pub chips: Vec<ChipOfRows>,
}

/// A chip that rows of a paper come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChipOfRows {
    /// Its name.
    pub chip: &'static str,
    /// What tells it from others of the name.
    pub fingerprint: String,
}

/// A row with what it depends on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RowRecord<'a> {
    /// The row.
    #[serde(flatten)]
    pub row: &'a Row,
    /// What it depends on.
    #[serde(flatten)]
    pub settings: &'a PaperSettings,
}

impl PaperSettings {
    /// Those of a paper.
    ///
    /// # Panics
    /// Never: papers name built-in chips.
    #[must_use]
    pub fn of(paper: &Paper) -> Self {
        let chips = paper.chips.iter().map(|&chip| {
            let found = corecast_chip::find(chip).expect("papers name built-in chips");
            ChipOfRows {
                chip,
                fingerprint: found.fingerprint(),
            }
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            chips: chips.collect(),
        }
    }

    /// A row with these as further fields.
    #[must_use]
    pub fn on<'a>(&'a self, row: &'a Row) -> RowRecord<'a> {
        RowRecord {
            row,
            settings: self,
        }
    }

    /// For the foot of a figure.
    #[must_use]
    pub fn line(&self) -> String {
        let chips = self
            .chips
            .iter()
            .map(|of| format!("{} {}", of.chip, of.fingerprint));
        let chips: Vec<String> = chips.collect();
        format!("corecast {}, chips {}", self.version, chips.join(", "))
    }
}
