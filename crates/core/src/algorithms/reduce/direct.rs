// SPDX-License-Identifier: MIT OR Apache-2.0
//! Direct: every rank but the root reduces one chunk of a segment out of the shared buffers of all
//! others, and the root reads the results.
//!
//! ```text
//! p = 4, root 0, combiners 1, 2, 3, segment s     the chunk's combiner; *: into the root
//! round  0        1              2        3              4
//!        0 -> 1   1->2 2->3 3->1  0 -> 2   1->3 2->1 3->2  0 -> 3    segment s
//!        1 -> 0*                 2 -> 0*                 3 -> 0*   segment s - 1
//! ```
//!
//! | rounds (s segments, q = p - 1 combiners) | messages | root's port |
//! |---|---|---|
//! | s (2 q - 1) + q if q > 1, else s | s q (q + 1) if q > 1, else s | n bytes |
//!
//! What the root would have to combine it gets from others instead, since it has to read all
//! results. It trades: a chunk of its own for a result of the segment before. The combiners come to
//! it one after the other, so nobody waits.
//! Combiner c, counted from the rank after the root, takes the chunks of c - 1, c - 2, ... and,
//! after c of them, the root's.
//! Source: Thakur, Rabenseifner, Gropp 2005, sections 4.4 and 4.5 (reduce_scatter, then gather), with
//! the pairwise exchange for the first half; the segments and the root's part are ours.

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
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "every rank but the root reduces chunks out of all shared buffers; the root reads the results"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, sections 4.4 and 4.5; corecast"
    }

    fn cost(&self, request: &Request) -> Cost {
        let q = request.ranks - 1;
        let segments = u64::from(request.segments_shared(q));
        let q = u64::from(q);
        match q {
            0 => Cost {
                rounds: 0,
                messages: 0,
            },
            1 => Cost {
                rounds: segments,
                messages: segments,
            },
            _ => Cost {
                rounds: segments * (2 * q - 1) + q,
                messages: segments * q * (q + 1),
            },
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let (p, root) = (request.ranks, request.root);
        let q = p - 1;
        let segments = request.segments_shared(q);
        let split = Split::Even(segments * q.max(1));
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, split));
        builder.set_transport(Transport::SharedBuffers);
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        let rank = |combiner: u32| Rank((root.0 + 1 + combiner) % p);
        let chunk = |segment: u32, combiner: u32| chunks.slice(segment * q + combiner, 1);
        if q == 1 {
            for segment in 0..segments {
                let chunk = chunk(segment, 0);
                builder.deliver(segment, rank(0), root, chunk, Arrival::Reduce);
            }
        }
        if q <= 1 {
            return builder.finish();
        }
        for segment in 0..segments {
            let first = segment * (2 * q - 1);
            for slot in 0..q {
                if slot > 0 {
                    let messages = (0..q).map(|combiner| {
                        let to = (combiner + slot) % q;
                        (rank(combiner), rank(to), chunk(segment, to))
                    });
                    let round = first + 2 * slot - 1;
                    builder.exchange_round(round, Arrival::Reduce, messages);
                }
                let round = first + 2 * slot;
                if let Some(before) = segment.checked_sub(1) {
                    let result = chunk(before, slot);
                    builder.deliver(round, rank(slot), root, result, Arrival::Store);
                }
                let own = chunk(segment, slot);
                builder.deliver(round, root, rank(slot), own, Arrival::Reduce);
            }
        }
        for slot in 0..q {
            let round = segments * (2 * q - 1) + slot;
            let result = chunk(segments - 1, slot);
            builder.deliver(round, rank(slot), root, result, Arrival::Store);
        }
        builder.finish()
    }
}
