// SPDX-License-Identifier: MIT OR Apache-2.0
//! Direct: every rank reduces one chunk out of the shared buffers of all others, and then all read
//! each other's results.
//!
//! ```text
//! p = 4        round  0     1     2   |  3     4     5
//! 0 sends             1     2     3   |  0     0     0
//! 1 sends             2     3     0   |  1     1     1      the chunk, to the rank so far away
//! 2 sends             3     0     1   |  2     2     2
//! 3 sends             0     1     2   |  3     3     3
//!                      reducing       |   storing
//! ```
//!
//! | rounds (s segments) | messages | every port |
//! |---|---|---|
//! | 2 s (p - 1) | 2 s p (p - 1) | 2 (p - 1) / p n bytes, the least possible |
//!
//! Nothing is passed on, so nobody waits for a sum of others, and a result lies in its owner's buffer
//! once for all. Long vectors go in segments, one after the other, so that what a rank has read
//! for its first half is still in its cache in the second.
//! Chunk c of a segment is combined in the order c, c - 1, c - 2, ... (modulo p).
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.4 (pairwise exchange), for the first half;
//! that all read the results of one buffer, and the segments, are ours.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder, Transport};
use crate::spec::Spec;

pub(crate) struct Direct;

impl Algorithm for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "every rank reduces a chunk out of all shared buffers, then all read the results"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.4; corecast"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        let segments = u64::from(request.segments_shared(request.ranks));
        Cost {
            rounds: 2 * segments * (p - 1),
            messages: 2 * segments * p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let p = request.ranks;
        let segments = request.segments_shared(p);
        let split = Split::Even(segments * p);
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, split));
        builder.set_transport(Transport::SharedBuffers);
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        let halves = (0..segments).flat_map(|s| [(s, Arrival::Reduce), (s, Arrival::Store)]);
        for ((segment, arrival), half) in halves.zip(0..) {
            for distance in 1..p {
                let messages = (0..p).map(|rank| {
                    let to = (rank + distance) % p;
                    let reduces = arrival == Arrival::Reduce;
                    let owner = if reduces { to } else { rank };
                    let chunk = chunks.slice(segment * p + owner, 1);
                    (Rank(rank), Rank(to), chunk)
                });
                let round = half * (p - 1) + distance - 1;
                builder.exchange_round(round, arrival, messages);
            }
        }
        builder.finish()
    }
}
