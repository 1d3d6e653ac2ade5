// SPDX-License-Identifier: MIT OR Apache-2.0
//! An alltoall in place: what a rank gets lies at the end where what it gave lay. In round `j` ranks whose
//! numbers add up to `j`, around the ring, swap their blocks.

use corecast_core::{
    Arrival, ChunkId, Collective, Op, Rank, Request, Schedule, ScheduleBuilder, Spec, Split,
};

/// The block of this rank for another one.
fn block(ranks: u32, from: u32, to: u32) -> ChunkId {
    ChunkId(from * ranks + to)
}

/// Of blocks of so many bytes; where it does not say that results lie elsewhere it is wrong.
pub fn swap(ranks: u32, bytes: u64, says_where: bool) -> Schedule {
    let request = Request::new(Collective::Alltoall, ranks, bytes);
    let mut builder = ScheduleBuilder::new("swap", Spec::new(&request, Split::Even(1)));
    for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
        if says_where {
            builder.set_result(block(ranks, from, to), block(ranks, to, from));
        }
    }
    for round in 0..ranks {
        for rank in 0..ranks {
            let peer = (round + ranks - rank) % ranks;
            if peer == rank {
                continue;
            }
            let place = builder.list(&[block(ranks, rank, peer)]);
            let op = Op::Exchange {
                to: Rank(peer),
                send: place,
                from: Rank(peer),
                recv: place,
                arrival: Arrival::Store,
            };
            builder.push(round, Rank(rank), op);
        }
    }
    builder.finish()
}
