// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alltoall: every rank receives from every rank the block held for it.

use std::sync::Arc;

use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::{Collective, Split};
use crate::grid::Grid;
use crate::ids::Rank;
use crate::pattern::{SLOT_RANKS_MAX, Slots};
use crate::request::Request;
use crate::schedule::{Arrival, ChunkList, Schedule, ScheduleBuilder};
use crate::spec::Spec;

use super::shared::Shared;

pub(super) mod bruck;
pub(super) mod contention_free;
pub(super) mod hop_rounds;
pub(super) mod linear;
pub(super) mod pairwise;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear(Collective::Alltoall),
    &pairwise::Pairwise(Collective::Alltoall),
    &bruck::Bruck(Collective::Alltoall),
    &contention_free::CONTENTION_FREE,
    &hop_rounds::HOP_ROUNDS,
    &Shared {
        name: "shared-pairwise",
        summary: "pairwise through shared buffers",
        of: &pairwise::Pairwise(Collective::Alltoall),
    },
];

/// The block that goes from one rank to another, as a message.
fn pair_list(builder: &mut ScheduleBuilder, from: Rank, to: Rank) -> ChunkList {
    let spec = builder.spec();
    let block = spec.chunk(spec.pair_block(from, to), 0);
    builder.list(&[block])
}

/// An exchange in slots: a round per slot, in which a rank that sends and receives does both at
/// once. Its algorithms differ in how they find the slots.
pub(crate) struct BySlots {
    collective: Collective,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    find: fn(&Grid, u32) -> Arc<Slots>,
}

impl BySlots {
    /// The same for `collective`: alltoall and alltoallv differ in block sizes alone.
    pub(crate) const fn of(self, collective: Collective) -> Self {
        Self { collective, ..self }
    }

    fn slots(&self, request: &Request) -> Arc<Slots> {
        (self.find)(&request.grid_or_square(), request.ranks)
    }
}

impl Algorithm for BySlots {
    fn name(&self) -> &'static str {
        self.name
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn source(&self) -> &'static str {
        self.source
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
        let rounds = match self.supports(request) {
            Ok(()) => self.slots(request).slots.len() as u64,
            Err(_) => 0,
        };
        Cost {
            rounds,
            messages: p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let found = self.slots(request);
        let mut builder = ScheduleBuilder::new(self.name, Spec::new(request, Split::Even(1)));
        for (slot, pairs) in (0..).zip(&found.slots) {
            let messages: Vec<_> = pairs
                .iter()
                .map(|&(from, to)| (from, to, pair_list(&mut builder, from, to)))
                .collect();
            builder.exchange_round(slot, Arrival::Store, messages);
        }
        builder.finish()
    }
}
