// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why decision tables cannot be asked.

use corecast_core::{Collective, Help};
use corecast_tune::Undecided;
use thiserror::Error;

/// Why a table cannot be asked.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum AdviceError {
    /// Algorithms are named.
    #[error("only \"auto\" leaves the algorithm to a table")]
    NothingToDecide,
    /// Times on this machine are those of no chip.
    #[error("a table holds for a simulated chip")]
    NoChip,
    /// A size that is the table's to say was chosen.
    #[error("the sizes are the table's to say")]
    SizeChosen {
        /// The field of the request's tuning.
        size: &'static str,
    },
    /// The table is for another machine.
    #[error("{file}: the table is of machine `{theirs}`, not of `{}`", asked.machine)]
    OtherMachine {
        /// Where the table is from.
        file: String,
        /// Its machine.
        theirs: String,
        /// What was asked for.
        asked: Asked,
    },
    /// The table is for another collective.
    #[error("{file}: the table is for {theirs}, not for {}", asked.collective)]
    OtherCollective {
        /// Where the table is from.
        file: String,
        /// Its collective.
        theirs: Collective,
        /// What was asked for.
        asked: Asked,
    },
    /// The table is for another chip.
    #[error(
        "{file}: the table is for another chip: {} with fingerprint {}, not {} with {}",
        theirs.0, theirs.1, ours.0, ours.1
    )]
    OtherChip {
        /// Where the table is from.
        file: String,
        /// Its chip's name and fingerprint.
        theirs: (String, String),
        /// Name and fingerprint of the chip that was asked about.
        ours: (String, String),
        /// What was asked for.
        asked: Asked,
    },
    /// No cell can serve the request.
    #[error("{file}: {why}")]
    Undecided {
        /// Where the table is from.
        file: String,
        /// Why not.
        why: Undecided,
    },
}

impl Help for AdviceError {
    fn help(&self) -> String {
        match self {
            Self::Undecided { why, .. } => why.help(),
            _ => String::new(),
        }
    }
}

/// What a table should have been for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The collective.
    pub collective: Collective,
    /// The chip as it was named.
    pub chip: String,
    /// Its changes, as `KEY=VALUE`.
    pub changes: Vec<String>,
    /// The machine.
    pub machine: &'static str,
}
