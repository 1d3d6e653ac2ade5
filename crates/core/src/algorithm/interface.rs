// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an algorithm is: a function from a [`Request`] to a [`Schedule`] with a name, a source, a
//! precondition and a closed-form cost.

use crate::Help;
use thiserror::Error;

use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;

/// Why an algorithm cannot serve a request; the text is meant for users.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The algorithm exists for powers of two only.
    #[error("{algorithm} needs a power of two ranks, not {ranks}")]
    NotPowerOfTwo {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of ranks asked for.
        ranks: u32,
        /// An algorithm that takes any number.
        instead: &'static str,
    },
    /// The algorithm would take too long to plan.
    #[error("{algorithm} takes at most {max} ranks, not {ranks}")]
    TooManyRanks {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of ranks asked for.
        ranks: u32,
        /// Most ranks it takes.
        max: u32,
        /// An algorithm that takes any number.
        instead: &'static str,
    },
    /// A schedule is given, and it is for something else.
    #[error("{schedule} is for {is_for}, not for {asked}")]
    Given {
        /// Name of the schedule.
        schedule: String,
        /// What it is for.
        is_for: String,
        /// What was asked for.
        asked: String,
    },
}

/// Closed form of what a schedule does, as functions of the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Number of rounds.
    pub rounds: u64,
    /// Messages sent by all ranks together.
    pub messages: u64,
}

/// A way to perform one collective.
///
/// `cost` is the published closed form; a shared test compares it with the schedule for all rank
/// counts.
pub trait Algorithm: Sync {
    /// Name, unique within the collective: lower case, words joined by `-`.
    fn name(&self) -> &'static str;

    /// The collective it performs.
    fn collective(&self) -> Collective;

    /// One line for lists: what it does.
    fn summary(&self) -> &'static str;

    /// Author, year, section.
    fn source(&self) -> &'static str;

    /// Preconditions in one line for lists; the empty string if there are none.
    fn requires(&self) -> &'static str {
        ""
    }

    /// What this algorithm is on machines whose ranks have no buffers that others can read: another
    /// one, step by step the same. None for those that are themselves everywhere.
    fn without_shared_buffers(&self) -> Option<&'static dyn Algorithm> {
        None
    }

    /// Whether the algorithm can serve this request.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn supports(&self, _request: &Request) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Closed-form cost for a supported request.
    fn cost(&self, request: &Request) -> Cost;

    /// The schedule for a checked and supported request; [`super::build`] checks first.
    fn schedule(&self, request: &Request) -> Schedule;
}

impl std::fmt::Debug for dyn Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.collective(), self.name())
    }
}

impl Help for Unsupported {
    fn help(&self) -> String {
        match self {
            Self::NotPowerOfTwo { instead, .. } => format!("try {instead}"),
            Self::TooManyRanks { instead, .. } => format!("try {instead}"),
            Self::Given { .. } => {
                "ask for that, or change the file: docs/schedules.md says how it scales".to_owned()
            }
        }
    }
}
