// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cube: every round all ranks exchange parts along one dimension of a hypercube, so that the
//! number of rounds is the least possible for any number of ranks and parts.
//!
//! ```text
//! p = 4, k = 3, root 0     round  0       1       2       3
//! from->to:part                   0->1:0  0->2:1  0->1:2  0->2:2
//!                                         1->3:0  2->3:1  1->3:2
//!                                                 3->2:0  3->1:1
//! ```
//!
//! | rounds (p > 1) | messages |
//! |---|---|
//! | k + ceil(log2 p) - 1, which no schedule beats | (p - 1) k |
//!
//! With `q = floor(log2 p)` there are `2^q` *units* of one or two ranks: rank `r` and rank
//! `r + 2^q - 1`, for `r` from 1 to `p - 2^q` (ranks counted from the root). In round `j` a unit
//! meets the one whose number differs in bit `j mod q`.
//!
//! ```text
//! bit is 0 in r    sends part j - q + distance to r's next 1 bit     receives part j - q
//! bit is 1 in r    sends part j - q                                  receives the other
//! ```
//!
//! (parts below 0 are not sent, those above the last are the last; the next bit is sought upwards
//! and around, and is `q` away in unit 0.) So a unit receives part `i` in round `i + q` if its bit
//! is 0 there, and otherwise in its last earlier round with a 1 bit: every part once.
//!
//! Of the two ranks of a unit one sends and one receives; they change places after every round in
//! which the unit's bit is 1. The receiving one passes on part `j - 1 - q` in round `j`, and after
//! the last round both give each other the part that is missing.
//!
//! `cube-published` is the form of the thesis, for calls that block: the root is sent `k - 1` parts
//! that it has, and nothing goes at once. Of a unit of two, the one that sends does so before it
//! receives, and the other receives before it sends; of two units of one rank, or of one rank and
//! of two, the rank of the lower unit sends first.
//! Source: Jia 2009, Process cooperation in multiple message broadcast, Parallel Computing 35(12);
//! the thesis on broadcasts on the Intel SCC, chapter 5; the lower bound: Bar-Noy and Kipnis 1994.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, ChunkList, Order, Schedule, ScheduleBuilder};
use crate::spec::Spec;

use super::pipelined::parts_behind;

/// The algorithm, and its published form.
pub(crate) struct Cube {
    /// Whether the root is sent parts as well.
    is_published: bool,
}

pub(crate) const CUBE: Cube = Cube {
    is_published: false,
};
pub(crate) const PUBLISHED: Cube = Cube { is_published: true };

impl Algorithm for Cube {
    fn name(&self) -> &'static str {
        if self.is_published {
            "cube-published"
        } else {
            "cube"
        }
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        if self.is_published {
            "cube as published: the root receives what it has sent"
        } else {
            "parts exchanged along a hypercube's dimensions: fewest rounds for any number of ranks"
        }
    }

    fn source(&self) -> &'static str {
        "Jia 2009, Parallel Computing 35(12); thesis on broadcasts on the Intel SCC, chapter 5"
    }

    fn cost(&self, request: &Request) -> Cost {
        let (p, parts) = (request.ranks, u64::from(spec(request).parts()));
        if p == 1 {
            return Cost {
                rounds: 0,
                messages: 0,
            };
        }
        // With two ranks the root's only partner never has a bit that is 0.
        let useless = if self.is_published { parts - 1 } else { 0 };
        Cost {
            rounds: parts + u64::from(p.next_power_of_two().ilog2()) - 1,
            messages: u64::from(p - 1) * parts + useless,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), spec(request));
        let p = request.ranks;
        if p == 1 {
            return builder.finish();
        }
        let parts: Vec<ChunkList> = (0..builder.spec().parts())
            .map(|part| builder.list(&[builder.spec().chunk(0, part)]))
            .collect();
        let cube = Units::new(p);
        let rank = |member: u32| self::rank(request, member);
        let last = parts.len() as i64 - 1;
        let part = |index: i64| usize::try_from(index.min(last)).ok().map(|i| parts[i]);
        let rounds = last + i64::from(cube.bits);
        let mut members: Vec<[u32; 2]> =
            (0..1 << cube.bits).map(|unit| cube.members(unit)).collect();
        for round in 0..rounds {
            let bit = round as u32 % cube.bits;
            let old = round - i64::from(cube.bits);
            let mut messages = Vec::new();
            for unit in 0..1_u32 << cube.bits {
                let [sender, receiver] = members[unit as usize];
                let [_, other] = members[(unit ^ 1 << bit) as usize];
                let is_one = unit >> bit & 1 == 1;
                let sent = if is_one {
                    old
                } else {
                    old + i64::from(cube.distance(unit, bit))
                };
                let is_useless = other == 0 && !self.is_published;
                if let Some(chunk) = part(sent).filter(|_| !is_useless) {
                    messages.push((rank(sender), rank(other), chunk));
                }
                // The part that the sender of the unit has missed.
                if let Some(chunk) = part(old - 1).filter(|_| sender != receiver) {
                    messages.push((rank(receiver), rank(sender), chunk));
                }
            }
            let order = |rank: Rank| {
                if !self.is_published {
                    return Order::Together;
                }
                let member =
                    (u64::from(p) + u64::from(rank.0) - u64::from(request.root.0)) % u64::from(p);
                let unit = cube.unit_of(member as u32);
                let [sender, receiver] = members[unit as usize];
                let is_first = match sender == receiver {
                    true => unit < unit ^ 1 << bit,
                    false => u64::from(sender) == member,
                };
                if is_first {
                    Order::SendFirst
                } else {
                    Order::RecvFirst
                }
            };
            builder.ordered_round(round as u32, Arrival::Store, messages, order);
            for (unit, pair) in (0_u32..).zip(&mut members) {
                if unit >> bit & 1 == 1 {
                    pair.swap(0, 1);
                }
            }
        }
        let pairs = members
            .iter()
            .filter(|[sender, receiver]| sender != receiver);
        let missing = pairs.flat_map(|&[sender, receiver]| {
            let old = part(last - 1).map(|chunk| (rank(receiver), rank(sender), chunk));
            let newest = part(last).map(|chunk| (rank(sender), rank(receiver), chunk));
            [old, newest].into_iter().flatten()
        });
        let missing: Vec<_> = missing.collect();
        if !missing.is_empty() {
            let is_sender = |rank: Rank| {
                let mut pairs = members
                    .iter()
                    .map(|&[sender, _]| self::rank(request, sender));
                pairs.any(|sender| sender == rank)
            };
            let order = |of: Rank| match (self.is_published, is_sender(of)) {
                (false, _) => Order::Together,
                (true, true) => Order::SendFirst,
                (true, false) => Order::RecvFirst,
            };
            builder.ordered_round(rounds as u32, Arrival::Store, missing, order);
        }
        builder.finish()
    }
}

/// The rank so far from the root.
fn rank(request: &Request, member: u32) -> Rank {
    let sum = u64::from(request.root.0) + u64::from(member);
    Rank((sum % u64::from(request.ranks)) as u32)
}

fn spec(request: &Request) -> Spec {
    let rounds = f64::from(request.ranks).log2().ceil();
    let parts = parts_behind(request, rounds - 1.0);
    Spec::new(request, request.split_or(parts))
}

/// The units of `p` ranks, at least 2, counted from the root.
struct Units {
    p: u32,
    /// q: a unit's number has so many bits.
    bits: u32,
}

impl Units {
    fn new(p: u32) -> Self {
        Self { p, bits: p.ilog2() }
    }

    /// The rank that sends first, and the one that receives first; the same if it is alone.
    fn members(&self, unit: u32) -> [u32; 2] {
        let units = 1 << self.bits;
        let is_pair = unit >= 1 && unit <= self.p - units;
        let other = if is_pair { unit + units - 1 } else { unit };
        [other, unit]
    }

    /// The unit of a rank.
    fn unit_of(&self, member: u32) -> u32 {
        let units = 1 << self.bits;
        if member < units {
            member
        } else {
            member + 1 - units
        }
    }

    /// Bits from `bit` up, and around, to the next one that is 1; the number of bits in unit 0.
    fn distance(&self, unit: u32, bit: u32) -> u32 {
        let is_one = |distance: &u32| unit >> ((bit + distance) % self.bits) & 1 == 1;
        (1..=self.bits).find(is_one).unwrap_or(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;
    use crate::routes::FullCrossbar;
    use crate::verify::verify;

    fn request(ranks: u32, parts: u32) -> Request {
        let mut request = Request::new(Collective::Bcast, ranks, u64::from(parts) * 8);
        request.tuning.part_bytes = Some(8);
        request
    }

    #[test]
    fn drawn_for_four_ranks_and_three_parts() {
        assert_eq!(
            drawing(&CUBE.schedule(&request(4, 3))),
            [
                "0->1:0",
                "0->2:1 1->3:0",
                "0->1:2 2->3:1 3->2:0",
                "0->2:2 1->3:2 3->1:1",
            ]
        );
    }

    /// The distances of the thesis' example, rank 406 of 512, from bit 0 up.
    #[test]
    fn distances_are_those_of_the_thesis() {
        let cube = Units::new(512);
        let distances: Vec<u32> = (0..9).map(|bit| cube.distance(406, bit)).collect();
        assert_eq!(distances, [1, 1, 2, 1, 3, 2, 1, 1, 2]);
    }

    #[test]
    fn the_fewest_rounds_for_any_number_of_ranks_and_parts() {
        for ranks in (2..=70).chain([96, 127, 128, 129, 1000, 1024]) {
            for parts in [1, 2, 3, 7, 20] {
                let request = request(ranks, parts);
                let certificate = verify(&CUBE.schedule(&request), &FullCrossbar);
                assert!(certificate.is_correct(), "{ranks}, {parts}");
                assert!(certificate.is_deadlock_free(), "{ranks}, {parts}");
                let least = parts - 1 + ranks.next_power_of_two().ilog2();
                assert_eq!(certificate.rounds, least, "{ranks}, {parts}");
                assert_eq!(certificate.redundant_bytes, 0, "{ranks}, {parts}");
                let published = verify(&PUBLISHED.schedule(&request), &FullCrossbar);
                assert!(published.is_correct(), "{ranks}, {parts}");
                let useless = u64::from(parts - 1) * 8;
                assert_eq!(published.redundant_bytes, useless, "{ranks}, {parts}");
            }
        }
    }
}
