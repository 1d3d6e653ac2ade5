//! Direct: every rank reduces one chunk out of the shared buffers of all others, and the root reads
//! the results.
//!
//! ```text
//! p = 4, root 0   round  0     1     2   |  3     4     5
//! 0 sends                1     2     3   |
//! 1 sends                2     3     0   |  1
//! 2 sends                3     0     1   |        2
//! 3 sends                0     1     2   |              3      the chunk
//!                         reducing       |   to the root
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | 2 (p - 1) | (p + 1) (p - 1) | 2 (p - 1) / p n bytes |
//!
//! Chunk c is combined in the order c, c - 1, c - 2, ... (modulo p).
//! Source: Thakur, Rabenseifner, Gropp 2005, sections 4.4 and 4.5 (reduce_scatter, then gather), with
//! the pairwise exchange for the first half.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Spec, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder, Transport};

pub(crate) struct Direct;

impl Algorithm for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "every rank reduces a chunk out of all shared buffers, then the root reads the results"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, sections 4.4 and 4.5"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: 2 * (p - 1),
            messages: (p + 1) * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let (p, root) = (request.ranks, request.root.0);
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(p)));
        builder.set_transport(Transport::SharedBuffers);
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        for distance in 1..p {
            let messages = (0..p).map(|rank| {
                let to = (rank + distance) % p;
                (Rank(rank), Rank(to), chunks.slice(to, 1))
            });
            builder.exchange_round(distance - 1, Arrival::Reduce, messages);
        }
        for distance in 1..p {
            let from = (root + distance) % p;
            let round = p - 1 + distance - 1;
            let chunk = chunks.slice(from, 1);
            builder.deliver(round, Rank(from), Rank(root), chunk, Arrival::Store);
        }
        builder.finish()
    }
}
