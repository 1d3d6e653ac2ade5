//! Alltoall: every rank receives from every rank the block held for it.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, Spec, Split};
use crate::ids::Rank;
use crate::pattern::Slots;
use crate::request::Request;
use crate::schedule::{Arrival, ChunkList, Schedule, ScheduleBuilder};

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
    &contention_free::ContentionFree(Collective::Alltoall),
    &hop_rounds::HopRounds(Collective::Alltoall),
];

/// The block that goes from one rank to another, as a message.
fn pair_list(builder: &mut ScheduleBuilder, from: Rank, to: Rank) -> ChunkList {
    let spec = builder.spec();
    let block = spec.chunk(spec.pair_block(from, to), 0);
    builder.list(&[block])
}

/// A round per slot, in which a rank that sends and receives does both at once.
fn by_slots(name: &str, request: &Request, found: &Slots) -> Schedule {
    let mut builder = ScheduleBuilder::new(name, Spec::new(request, Split::Even(1)));
    for (slot, pairs) in (0..).zip(&found.slots) {
        let messages: Vec<_> = pairs
            .iter()
            .map(|&(from, to)| (from, to, pair_list(&mut builder, from, to)))
            .collect();
        builder.exchange_round(slot, Arrival::Store, messages);
    }
    builder.finish()
}
