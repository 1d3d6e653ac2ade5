// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why decision tables cannot be a folder of schedules.

use corecast_core::{Collective, Help};
use thiserror::Error;

/// Why decision tables cannot be a folder of schedules.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ListedError {
    /// Schedules depend on the chip, and this is not the table's.
    #[error(
        "the table of {collective} is for another chip: {} with fingerprint {}{}",
        theirs.0, theirs.1, not(ours.as_ref())
    )]
    OtherChip {
        /// Of which collective the table is.
        collective: Collective,
        /// Its chip's name and fingerprint.
        theirs: (String, String),
        /// Those of the chip that was named, or of the built-in one of that name; none if there is none.
        ours: Option<(String, String)>,
    },
    /// No cell of the tables can be said.
    #[error("nothing in these tables can be a file of MSCCL")]
    Nothing {
        /// What cannot.
        lacks: Vec<String>,
    },
}

fn not(ours: Option<&(String, String)>) -> String {
    ours.map_or(String::new(), |(name, fingerprint)| {
        format!(", not {name} with {fingerprint}")
    })
}

impl Help for ListedError {
    fn help(&self) -> String {
        match self {
            Self::OtherChip { .. } => {
                "its schedules are made again: name its chip by --chip, with --set as it was tuned with"
                    .to_owned()
            }
            Self::Nothing { lacks } => lacks.join("\n"),
        }
    }
}
