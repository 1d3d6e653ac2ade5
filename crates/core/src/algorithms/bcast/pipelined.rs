// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pipelined chain: the message is cut into k parts that follow each other along a chain.
//!
//! ```text
//! p = 4, k = 3, root 0     round  0  1  2  3  4
//!                        0 -> 1   0  1  2            the number is the part
//!                        1 -> 2      0  1  2
//!                        2 -> 3         0  1  2
//! ```
//!
//! | rounds (p > 1) | messages | time | root's port |
//! |---|---|---|---|
//! | p - 2 + k | (p - 1) k | (p - 2 + k) (alpha + beta n/k) | n bytes |
//!
//! Every part is synchronised anew on every hop; `ap` is the same chain with one synchronisation.
//! The order is numeric with the root in front. A part size given by the user overrides k.
//! Source: Park 2019, section 2.2, Figures 4 and 5; k from Eq. (1), citing Barnett, Payne, van de
//! Geijn and Watts 1996. Eq. (1) counts n in bytes, as printed, and so allows parts of one byte
//! although the bus moves whole words; we keep it.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::pattern::pass_on;
use crate::request::{CHUNKS_MAX, Request};
use crate::schedule::{ChunkList, Schedule, ScheduleBuilder};
use crate::spec::Spec;
use crate::status;

pub(crate) struct Pipelined;

impl Algorithm for Pipelined {
    fn name(&self) -> &'static str {
        "pipelined"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "pipelined chain: parts follow each other, each synchronised on each hop"
    }

    fn source(&self) -> &'static str {
        "Park 2019, section 2.2, Eq. (1); Barnett, Payne, van de Geijn, Watts 1996"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        let parts = u64::from(spec(request).parts());
        Cost {
            rounds: if p == 1 { 0 } else { p - 2 + parts },
            messages: (p - 1) * parts,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), spec(request));
        let order = status::numeric_order(request);
        let parts: Vec<ChunkList> = (0..builder.spec().parts())
            .map(|part| builder.list(&[builder.spec().chunk(0, part)]))
            .collect();
        for (position, &rank) in order.iter().enumerate() {
            let from = position.checked_sub(1).map(|before| order[before]);
            let to = order.get(position + 1).copied();
            // Part i reaches this position in round i + position - 1 and leaves it one later.
            for turn in 0..=parts.len() {
                let send = to.zip(turn.checked_sub(1).map(|part| parts[part]));
                let recv = from.zip(parts.get(turn).copied());
                if let Some(op) = pass_on(send, recv) {
                    builder.push((position + turn - 1) as u32, rank, op);
                }
            }
        }
        builder.finish()
    }
}

fn spec(request: &Request) -> Spec {
    Spec::new(request, request.split_or(optimal_parts(request)))
}

/// Number of parts by Park 2019, Eq. (1), made whole.
///
/// alpha and beta are [`crate::Platform::link_cost`], n is [`Request::bytes`]. Of the two whole
/// numbers around the real optimum, the one with the smaller
/// `(p - 2 + k) (alpha + beta n / k)`; the lower of two equal ones. At least 1 and at most one part
/// per element (Eq. (1): n, for single bytes), and never more than the part sizes that
/// [`Request::check`] accepts.
#[must_use]
pub fn optimal_parts(request: &Request) -> u32 {
    parts_behind(request, f64::from(request.ranks) - 2.0)
}

/// The same for any algorithm that takes `behind` rounds more than there are parts.
pub(crate) fn parts_behind(request: &Request, behind: f64) -> u32 {
    let cost = request.platform.link_cost;
    let (alpha, beta) = (cost.sync_cycles, cost.cycles_per_byte);
    let bytes = request.bytes as f64;
    let elements = request.bytes / u64::from(request.element_bytes);
    let parts_max = elements.clamp(1, CHUNKS_MAX / u64::from(request.ranks)) as u32;
    let real = (behind.max(0.0) * bytes * beta / alpha).sqrt();
    let cycles = |k: f64| (behind + k) * (alpha + beta * bytes / k);
    // `as` saturates, so a real optimum beyond 32 bits ends at the maximum.
    let floor = (real as u32).clamp(1, parts_max);
    let ceil = (real.ceil() as u32).clamp(1, parts_max);
    if cycles(ceil.into()) < cycles(floor.into()) {
        ceil
    } else {
        floor
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_four_ranks_and_three_parts() {
        let mut request = Request::new(Collective::Bcast, 4, 24);
        request.tuning.part_bytes = Some(8);
        assert_eq!(
            drawing(&Pipelined.schedule(&request)),
            [
                "0->1:0",
                "0->1:1 1->2:0",
                "0->1:2 1->2:1 2->3:0",
                "1->2:2 2->3:1",
                "2->3:2"
            ]
        );
    }

    #[test]
    fn part_counts_by_hand() {
        let parts = |ranks, bytes, alpha| {
            let mut request = Request::new(Collective::Bcast, ranks, bytes);
            request.platform.link_cost.sync_cycles = alpha;
            request.platform.link_cost.cycles_per_byte = 1.0;
            optimal_parts(&request)
        };
        assert_eq!(parts(6, 64, 4.0), 8); // sqrt(4 * 64 / 4)
        assert_eq!(parts(4, 3, 1.0), 2); // sqrt(6) = 2.45: T(2) = 10, T(3) = 10
        assert_eq!(parts(4, 6, 1.0), 3); // sqrt(12) = 3.46: T(3) = 15, T(4) = 15
        assert_eq!(parts(5, 7, 1.0), 5); // sqrt(21) = 4.58: T(4) = 19.25, T(5) = 19.2
        assert_eq!(parts(10, 4, 1.0), 4); // sqrt(32) = 5.7 > n
        for (ranks, bytes, alpha) in [(1, 64, 1.0), (2, 64, 1.0), (9, 0, 1.0), (4, 8, 100.0)] {
            assert_eq!(parts(ranks, bytes, alpha), 1);
        }
        let mut request = Request::new(Collective::Bcast, 64, 16);
        request.element_bytes = 8;
        assert_eq!(optimal_parts(&request), 2); // no part is smaller than an element
    }
}
