//! Hop rounds: straight messages, then left turns, then right turns, each by growing hop count, in
//! slots in which no link of the mesh carries two messages.
//!
//! ```text
//! 2 x 2 mesh, ranks    2 3     slot  0          1          2     3
//!                      0 1           0-1 2-3    0-2 1-3    0-3   1-2
//!                                    direct x   direct y   left  right
//! ```
//!
//! | slots | messages | every port |
//! |---|---|---|
//! | see [`crate::pattern::hop_round_slots`]; at least the load of the busiest link | p (p - 1) | (p - 1) n bytes |
//!
//! The paper's own order; `contention-free` mixes shapes and needs fewer slots (on 8 x 8 ranks 129
//! instead of 323).
//! Source: Yagna and Mueller 2013, section 3.1, Figures 2 and 3.

use super::by_slots;
use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::Collective;
use crate::pattern::{SLOT_RANKS_MAX, hop_round_slots};
use crate::request::Request;
use crate::schedule::Schedule;

/// For alltoall and alltoallv, which differ in block sizes alone.
pub(crate) struct HopRounds(pub Collective);

impl Algorithm for HopRounds {
    fn name(&self) -> &'static str {
        "hop-rounds"
    }

    fn collective(&self) -> Collective {
        self.0
    }

    fn summary(&self) -> &'static str {
        "direct, left and right rounds of growing hop count, without a shared link"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013, section 3.1"
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
            Ok(()) => hop_round_slots(&request.grid_or_square(), request.ranks)
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
        let found = hop_round_slots(&request.grid_or_square(), request.ranks);
        by_slots(self.name(), request, &found)
    }
}
