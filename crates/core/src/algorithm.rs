//! The interface of an algorithm and the registry of all of them.
//!
//! An algorithm is a function from a [`Request`] to a [`Schedule`] with a name, a source, a
//! precondition and a closed-form cost. Everything that lists, draws, verifies, runs or compares
//! algorithms iterates [`all`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = binomial.schedule(&Request::new(Collective::Bcast, 8, 64));
//! assert_eq!(schedule.rounds(), 3);
//! ```

use thiserror::Error;

use crate::algorithms;
use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;

/// Why an algorithm cannot serve a request; the text is meant for users.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The algorithm exists for powers of two only.
    #[error("{algorithm} needs a power of two ranks, not {ranks}; try {instead}")]
    NotPowerOfTwo {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of ranks asked for.
        ranks: u32,
        /// An algorithm that takes any number.
        instead: &'static str,
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

    /// Whether the algorithm can serve this request.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn supports(&self, _request: &Request) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Closed-form cost for a supported request.
    fn cost(&self, request: &Request) -> Cost;

    /// The schedule for a checked and supported request.
    fn schedule(&self, request: &Request) -> Schedule;
}

/// Every registered algorithm, grouped by collective in the order of [`Collective::ALL`].
pub fn all() -> impl Iterator<Item = &'static dyn Algorithm> {
    Collective::ALL.into_iter().flat_map(of)
}

/// The algorithms of one collective, in the order in which they are listed to users.
pub fn of(collective: Collective) -> impl Iterator<Item = &'static dyn Algorithm> {
    algorithms::family(collective).iter().copied()
}

/// The algorithm called `name`, if the collective has it.
#[must_use]
pub fn find(collective: Collective, name: &str) -> Option<&'static dyn Algorithm> {
    of(collective).find(|algorithm| algorithm.name() == name)
}
