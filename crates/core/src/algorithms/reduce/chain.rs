// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pipelined chain: partial results of one part after the other pass all ranks on their way to the
//! root, through shared buffers.
//!
//! ```text
//! p = 4, root 0, parts 0, 1
//! round  0       1               2               3
//!        1->2:0  1->2:1  2->3:0  2->3:1  3->0:0  3->0:1
//! ```
//!
//! | rounds (k parts) | messages | every port |
//! |---|---|---|
//! | p - 2 + k | (p - 1) k | n bytes |
//!
//! The way goes from the rank after the root upwards, so that on most chips every message goes to
//! a neighbour. A rank touches every byte of its own once: while it combines it, it is in the
//! first cache.
//! The number of parts is that of [`Request::split_shared`]. Source: Barnett, Payne, van de Geijn,
//! Watts 1996 (the pipelined chain, there for broadcasts); through shared buffers it is ours.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder, Transport};
use crate::spec::Spec;

pub(crate) struct Chain;

impl Algorithm for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "pipelined chain: partial results of one part after the other pass all ranks"
    }

    fn source(&self) -> &'static str {
        "Barnett, Payne, van de Geijn, Watts 1996; corecast"
    }

    fn cost(&self, request: &Request) -> Cost {
        let (p, parts) = (u64::from(request.ranks), u64::from(spec(request).parts()));
        Cost {
            rounds: if p == 1 { 0 } else { p - 2 + parts },
            messages: (p - 1) * parts,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), spec(request));
        builder.set_transport(Transport::SharedBuffers);
        let p = request.ranks;
        let parts = builder.spec().parts();
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        let rank = |position: u32| {
            let sum = u64::from(request.root.0) + 1 + u64::from(position);
            Rank((sum % u64::from(p)) as u32)
        };
        // A rank passes a part on before it takes the next one.
        for round in 0..(p + parts).saturating_sub(2) {
            for position in (0..p - 1).rev() {
                let Some(part) = round.checked_sub(position).filter(|&part| part < parts) else {
                    continue;
                };
                let (from, to) = (rank(position), rank(position + 1));
                builder.deliver(round, from, to, chunks.slice(part, 1), Arrival::Reduce);
            }
        }
        builder.finish()
    }
}

fn spec(request: &Request) -> Spec {
    Spec::new(
        request,
        request.split_shared(f64::from(request.ranks) - 2.0),
    )
}
