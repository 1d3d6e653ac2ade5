// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registry of algorithms, and the checked way from a request to a schedule.
//!
//! Everything that lists, draws, verifies, runs or compares algorithms iterates [`all`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = algorithm::build(binomial, &Request::new(Collective::Bcast, 8, 64)).unwrap();
//! assert_eq!(schedule.rounds(), 3);
//! ```

mod interface;

pub use interface::{Algorithm, Cost, Unsupported};

use crate::Help;
use thiserror::Error;

use crate::algorithms;
use crate::collective::Collective;
use crate::request::{Request, RequestError};
use crate::schedule::Schedule;
use crate::tuning::FlowControl;
use crate::verify::worst_queue;

/// Most messages of a schedule that [`build`] makes. A message is one or two steps of some 40
/// bytes, so a schedule stays within a few gigabytes.
pub const MESSAGES_MAX: u64 = 1 << 24;

/// Most chunks in all messages of a schedule together: what a verifier or a machine has to keep
/// track of. Few messages of very many chunks (a Bruck allgather over 16,384 ranks delivers 2^28)
/// are refused by it.
pub const DELIVERIES_MAX: u64 = 1 << 27;

/// Why [`build`] made no schedule.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No algorithm could serve the request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// This algorithm cannot serve the request.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The algorithm performs another collective.
    #[error("{algorithm} performs {performs}, the request asks for {asked}")]
    WrongCollective {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// What it performs.
        performs: Collective,
        /// What the request asks for.
        asked: Collective,
    },
    /// The schedule would be larger than [`MESSAGES_MAX`].
    #[error("{algorithm} over {ranks} ranks needs {messages} messages, more than {MESSAGES_MAX}")]
    TooManyMessages {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of ranks.
        ranks: u32,
        /// Messages needed.
        messages: u64,
    },
    /// The messages would deliver more chunks than [`DELIVERIES_MAX`].
    #[error(
        "{algorithm} over {ranks} ranks delivers {deliveries} chunks, more than {DELIVERIES_MAX}"
    )]
    TooManyDeliveries {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of ranks.
        ranks: u32,
        /// Chunks in all messages together.
        deliveries: u64,
    },
}

/// The schedule of `algorithm` for `request`: the checked constructor, to be used wherever a
/// request comes from outside.
///
/// # Errors
/// [`BuildError::Request`] if [`Request::check`] refuses it, [`BuildError::WrongCollective`] if it
/// is for another collective, [`BuildError::Unsupported`] if [`Algorithm::supports`] refuses it,
/// [`BuildError::TooManyMessages`] if the schedule would be larger than [`MESSAGES_MAX`], all
/// before anything is built; [`BuildError::TooManyDeliveries`] if its messages together hold more
/// chunks than [`DELIVERIES_MAX`].
pub fn build(algorithm: &dyn Algorithm, request: &Request) -> Result<Schedule, BuildError> {
    request.check()?;
    let (name, ranks) = (algorithm.name(), request.ranks);
    if algorithm.collective() != request.collective {
        return Err(BuildError::WrongCollective {
            algorithm: name,
            performs: algorithm.collective(),
            asked: request.collective,
        });
    }
    algorithm.supports(request)?;
    let messages = algorithm.cost(request).messages;
    if messages > MESSAGES_MAX {
        return Err(BuildError::TooManyMessages {
            algorithm: name,
            ranks,
            messages,
        });
    }
    let schedule = algorithm.schedule(request);
    let delivered = schedule
        .sends()
        .map(|(_, _, half)| half.chunks.len() as u64);
    let deliveries = delivered.sum();
    if deliveries > DELIVERIES_MAX {
        return Err(BuildError::TooManyDeliveries {
            algorithm: name,
            ranks,
            deliveries,
        });
    }
    Ok(decide_flow_control(schedule, request))
}

/// Switches flow control off where asked to, or where it is proved that no queue can overflow.
fn decide_flow_control(schedule: Schedule, request: &Request) -> Schedule {
    let is_safe = || {
        let Some(mut queue) = request.platform.queue else {
            return false;
        };
        if let Some(bytes) = schedule.piece_bytes() {
            let words = bytes.div_ceil(queue.word_bytes).max(1);
            queue.packet_words = queue.packet_words.min(words);
        }
        let worst = worst_queue(&schedule, &|bytes| queue.message_words(bytes));
        worst.is_some_and(|words| words <= queue.words)
    };
    let is_off = match request.tuning.flow_control {
        FlowControl::On => false,
        FlowControl::Off => true,
        FlowControl::Auto => is_safe(),
    };
    if is_off {
        schedule.without_flow_control()
    } else {
        schedule
    }
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

impl Help for BuildError {
    fn help(&self) -> String {
        match self {
            Self::Request(error) => error.help(),
            Self::Unsupported(error) => error.help(),
            Self::TooManyMessages { .. } => {
                "use fewer ranks, larger parts or an algorithm with fewer messages".to_owned()
            }
            Self::TooManyDeliveries { .. } => {
                "use fewer ranks or an algorithm that cuts the data into fewer chunks".to_owned()
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(collective: Collective, name: &str, request: &Request) -> String {
        let algorithm = find(collective, name).expect("registered");
        let refused = build(algorithm, request).expect_err("must refuse");
        refused.with_help().to_string()
    }

    #[test]
    fn refusals_say_what_would_be_right() {
        use Collective as C;
        let check = |collective, name, request| refusal(collective, name, &request);
        assert_eq!(
            check(C::Bcast, "linear", Request::new(C::Bcast, 0, 64)),
            "0 ranks is out of range\n  a communicator has 1 to 1048576 ranks"
        );
        assert_eq!(
            check(C::Bcast, "linear", Request::new(C::Gather, 4, 64)),
            "linear performs bcast, the request asks for gather"
        );
        assert_eq!(
            check(
                C::Allgather,
                "recursive-doubling",
                Request::new(C::Allgather, 6, 64)
            ),
            "recursive-doubling needs a power of two ranks, not 6\n  try bruck"
        );
        assert_eq!(
            check(C::Allreduce, "ring", Request::new(C::Allreduce, 4096, 64)),
            "ring over 4096 ranks needs 33546240 messages, more than 16777216\n  use fewer ranks, \
             larger parts or an algorithm with fewer messages"
        );
        let few_but_long = Request::new(C::Allgather, 16384, 64);
        assert!(check(C::Allgather, "bruck", few_but_long).contains("delivers 268419072 chunks"));
    }

    #[test]
    fn suggested_algorithms_exist_and_take_what_was_refused() {
        let request = |collective| Request::new(collective, 6, 64);
        for algorithm in all() {
            let refused = algorithm.supports(&request(algorithm.collective()));
            if let Err(Unsupported::NotPowerOfTwo { instead, .. }) = refused {
                let instead = find(algorithm.collective(), instead).expect("registered");
                assert!(build(instead, &request(algorithm.collective())).is_ok());
            }
        }
    }
}
