//! Alltoall: every rank receives from every rank the block held for it.

use crate::algorithm::Algorithm;
use crate::collective::Collective;
use crate::ids::Rank;
use crate::schedule::{ChunkList, ScheduleBuilder};

pub(super) mod bruck;
pub(super) mod contention_free;
pub(super) mod linear;
pub(super) mod pairwise;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear(Collective::Alltoall),
    &pairwise::Pairwise(Collective::Alltoall),
    &bruck::Bruck(Collective::Alltoall),
    &contention_free::ContentionFree(Collective::Alltoall),
];

/// The block that goes from one rank to another, as a message.
fn pair_list(builder: &mut ScheduleBuilder, from: Rank, to: Rank) -> ChunkList {
    let spec = builder.spec();
    let block = spec.chunk(spec.pair_block(from, to), 0);
    builder.list(&[block])
}
