//! Contention-free: slots in which no link of the mesh carries two messages.
//!
//! ```text
//! 2 x 2 mesh, ranks    2 3     slot  0          1          2
//!                      0 1           0-1 2-3    0-2 1-3    0-3 1-2 (by x, then by y)
//! ```
//!
//! | slots | messages | every port |
//! |---|---|---|
//! | see [`crate::pattern::contention_free_slots`]; at least the load of the busiest link | p (p - 1) | (p - 1) n bytes |
//!
//! A rank sends at most one message and receives at most one per slot, both together. As no link
//! is shared, a message is never held up by another one of its slot, and its time is known: that
//! makes the exchange predictable.
//!
//! Where the request has no grid, the most square one is assumed; the slots are then free of
//! contention on any network that has none where a mesh has none.
//! Source: Yagna and Mueller 2013, section 3.1 (direct, left and right rounds); the pairing is ours.

use super::by_slots;
use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::Collective;
use crate::pattern::{SLOT_RANKS_MAX, contention_free_slots};
use crate::request::Request;
use crate::schedule::Schedule;

/// For alltoall and alltoallv, which differ in block sizes alone.
pub(crate) struct ContentionFree(pub Collective);

impl Algorithm for ContentionFree {
    fn name(&self) -> &'static str {
        "contention-free"
    }

    fn collective(&self) -> Collective {
        self.0
    }

    fn summary(&self) -> &'static str {
        "slots in which no link of the mesh carries two messages"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013, section 3.1; pairing by partial colouring (Bloechliger and Zufferey 2008)"
    }

    fn requires(&self) -> &'static str {
        "at most 512 ranks"
    }

    fn supports(&self, request: &Request) -> Result<(), Unsupported> {
        if request.ranks > SLOT_RANKS_MAX {
            return Err(Unsupported::TooManyRanks {
                algorithm: self.name(),
                ranks: request.ranks,
                max: SLOT_RANKS_MAX,
                instead: "pairwise",
            });
        }
        Ok(())
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        let slots = match self.supports(request) {
            Ok(()) => contention_free_slots(&request.grid_or_square(), request.ranks)
                .slots
                .len(),
            Err(_) => 0,
        };
        Cost {
            rounds: slots as u64,
            messages: p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let found = contention_free_slots(&request.grid_or_square(), request.ranks);
        by_slots(self.name(), request, &found)
    }
}
