// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rotating tree: every part goes through shared buffers to a few relays and from each of them to a
//! few leaves; other ranks are relays for every part, so that all have the same work.
//!
//! ```text
//! p = 7, r = 2 relays, lag 1, root 0
//! step 0    0 -> 1, 4: part 0
//! step 1    0 -> 2, 5: part 1     1 -> 2, 3: part 0    4 -> 5, 6: part 0
//! step 2    0 -> 3, 6: part 2     2 -> 3, 4: part 1    5 -> 6, 1: part 1
//! ```
//!
//! | rounds (p > 1, k parts, m = p - 1, r relays, l = ceil(m / r) - 1 leaves at most) | messages |
//! |---|---|
//! | k r if l = 0, else (k + lag) (r + l) | (p - 1) k |
//!
//! Taking a part out of a buffer and putting it into the own one is most of a relay's work, and a
//! leaf does only the first half. In a fixed tree the relays set the pace; here everyone is a relay
//! once in m / r parts. Between the time in which a rank takes a part as a relay and that in which
//! it tells its leaves, it is a leaf of `lag` earlier parts: what it is late as a relay, it has time
//! to catch up. Neighbours in rank order are leaves of one relay: on a mesh they are near.
//!
//! There are about sqrt(m) relays, or fewer if there are many parts.
//! Step s consists of r rounds in which the root serves the relays of part s and l rounds in which
//! those of part s - lag serve their leaves.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder, Transport};
use crate::spec::Spec;

pub(crate) struct RotatingTree;

impl Algorithm for RotatingTree {
    fn name(&self) -> &'static str {
        "rotating-tree"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "two levels through shared buffers; other ranks relay every part, all equally often"
    }

    fn source(&self) -> &'static str {
        "corecast"
    }

    fn cost(&self, request: &Request) -> Cost {
        let parts = u64::from(spec(request).parts());
        if request.ranks == 1 {
            return Cost {
                rounds: 0,
                messages: 0,
            };
        }
        let shape = Shape::new(request.ranks, spec(request).parts());
        let (r, l) = (u64::from(shape.relays), u64::from(shape.leaves_max()));
        let steps = if l == 0 {
            0
        } else {
            u64::from(shape.lag(parts as u32))
        };
        Cost {
            rounds: (parts + steps) * (r + l),
            messages: u64::from(shape.others) * parts,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), spec(request));
        builder.set_transport(Transport::SharedBuffers);
        if request.ranks == 1 {
            return builder.finish();
        }
        let shape = Shape::new(request.ranks, builder.spec().parts());
        let (r, l) = (shape.relays, shape.leaves_max());
        // Places are those of the other ranks, counted from the root on.
        let rank = |place: u32| {
            let sum = u64::from(request.root.0) + 1 + u64::from(place);
            Rank((sum % u64::from(request.ranks)) as u32)
        };
        let parts = builder.spec().parts();
        let chunks: Vec<_> = (0..parts)
            .map(|part| builder.spec().chunk(0, part))
            .collect();
        let lists: Vec<_> = chunks.iter().map(|&chunk| builder.list(&[chunk])).collect();
        let lag = shape.lag(parts);
        for step in 0..parts + lag {
            let first = step * (r + l);
            if let Some(&list) = lists.get(step as usize) {
                for relay in 0..r {
                    let to = rank(shape.relay(step, relay));
                    builder.deliver(first + relay, request.root, to, list, Arrival::Store);
                }
            }
            let Some(part) = step.checked_sub(lag) else {
                continue;
            };
            for relay in 0..r {
                let from = shape.relay(part, relay);
                let leaves = shape.leaves(relay);
                for (index, leaf) in (0_u32..).zip(leaves) {
                    let to = rank((from + leaf) % shape.others);
                    let (round, list) = (first + r + index, lists[part as usize]);
                    builder.deliver(round, rank(from), to, list, Arrival::Store);
                }
            }
        }
        builder.finish()
    }
}

fn spec(request: &Request) -> Spec {
    Spec::new(request, request.split_shared(1.0))
}

/// From so many parts on the pace counts more than the way of the first part.
const LONG: u32 = 32;

/// Ranks per relay at which a rank takes one part as a relay while it is a leaf of eleven: what it
/// takes as a relay comes between at most once in as many.
const APART: f64 = 12.0;

/// Relays and their leaves.
struct Shape {
    /// Ranks but the root.
    others: u32,
    relays: u32,
}

impl Shape {
    fn new(ranks: u32, parts: u32) -> Self {
        let others = ranks - 1;
        let side = f64::from(others).sqrt();
        let per_relay = if parts < LONG { side } else { side.max(APART) };
        let relays = (f64::from(others) / per_relay).round();
        Self {
            others,
            relays: (relays as u32).max(1),
        }
    }

    /// Place of a relay of part 0; the last one is where the first of the next round would be.
    fn start(&self, relay: u32) -> u32 {
        (u64::from(relay) * u64::from(self.others) / u64::from(self.relays)) as u32
    }

    /// Place of a relay of a part.
    fn relay(&self, part: u32, relay: u32) -> u32 {
        (part % self.others + self.start(relay)) % self.others
    }

    /// Places of its leaves, counted from its own.
    fn leaves(&self, relay: u32) -> std::ops::Range<u32> {
        1..self.start(relay + 1) - self.start(relay)
    }

    /// Steps between what a relay takes and what it tells: just not until it is a relay again, which
    /// would come between. A short message is not worth the wait.
    fn lag(&self, parts: u32) -> u32 {
        let again = self.others / self.relays;
        (parts / 8).clamp(1, again.max(2) - 1)
    }

    fn leaves_max(&self) -> u32 {
        self.others.div_ceil(self.relays) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_seven_ranks_and_two_parts() {
        let mut request = Request::new(Collective::Bcast, 7, 16);
        request.tuning.part_bytes = Some(8);
        assert_eq!(
            drawing(&RotatingTree.schedule(&request)),
            [
                "0->1:0",
                "0->4:0",
                "",
                "",
                "0->2:1",
                "0->5:1",
                "1->2:0 4->5:0",
                "1->3:0 4->6:0",
                "",
                "",
                "2->3:1 5->6:1",
                "2->4:1 5->1:1",
            ]
        );
    }

    /// Over as many parts as there are other ranks, each of them is a relay equally often.
    #[test]
    fn all_relay_equally_often() {
        for ranks in 2..=64 {
            let shape = Shape::new(ranks, 1);
            let mut count = vec![0; shape.others as usize];
            for part in 0..shape.others {
                for relay in 0..shape.relays {
                    count[shape.relay(part, relay) as usize] += 1;
                }
            }
            assert!(count.iter().all(|&times| times == shape.relays), "{ranks}");
        }
    }
}
