// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a collective access goes by two phases, and who then has which part of the file.
//!
//! In one phase ranks exchange bytes, in the other some of them, the aggregators, read or write large
//! parts of the file (Thakur, Gropp and Lusk 1999, "Data sieving and collective I/O in ROMIO", section 4,
//! <https://doi.org/10.1109/FMPC.1999.750599>). Unlike there, a part with holes is never read to be
//! written again, which would want locks: what is written is runs of bytes that ranks have given.
//!
//! ```
//! use corecast_mpi::file::{Asked, Buffering, Plan};
//! let asked = |first| Asked {
//!     places: first..first + (1 << 20) - 64,
//!     bytes: 1 << 19,
//!     pieces: 1 << 13,
//!     vote: 1,
//!     buffering: Buffering::of(&[]),
//! };
//! // Two ranks whose pieces of 64 bytes take turns.
//! let plan = Plan::of(&[asked(0), asked(64)], true).unwrap();
//! assert_eq!((plan.aggregators(), plan.rounds()), (2, 2));
//! assert_eq!(plan.domain(0), 0..1 << 19);
//! ```
#![forbid(unsafe_code)]

use std::ops::Range;

use super::sieve::CALL_BYTES;

/// Bytes of a page, at whose multiples domains begin: no two aggregators write one.
const PAGE: u64 = 4096;

/// What a program says of collective buffering (MPI 5.0, 14.2.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffering {
    /// `collective_buffering`; without it, what pays.
    pub wanted: Option<bool>,
    /// `cb_buffer_size`: most bytes of the file that an aggregator has at a time.
    pub bytes: u64,
    /// `cb_nodes`: most aggregators.
    pub nodes: u64,
}

impl Buffering {
    /// What hints say; those that say nothing that makes sense are passed over.
    #[must_use]
    pub fn of(hints: &[(String, String)]) -> Self {
        let value = |name| hints.iter().find(|(key, _)| key == name);
        let number = |name| {
            value(name)?
                .1
                .parse::<u64>()
                .ok()
                .filter(|&number| number > 0)
        };
        Self {
            wanted: value("collective_buffering").and_then(|(_, text)| text.parse().ok()),
            bytes: number("cb_buffer_size").map_or(BUFFER_BYTES, |bytes| bytes.min(BUFFER_BYTES)),
            nodes: number("cb_nodes").unwrap_or(u64::MAX),
        }
    }

    /// The hints that are followed, for a program that asks.
    #[must_use]
    pub fn hints(self, ranks: usize) -> Vec<(String, String)> {
        let nodes = self.nodes.min(ranks as u64).to_string();
        let mut hints = vec![
            ("cb_buffer_size".to_owned(), self.bytes.to_string()),
            ("cb_nodes".to_owned(), nodes),
        ];
        if let Some(wanted) = self.wanted {
            hints.push(("collective_buffering".to_owned(), wanted.to_string()));
        }
        hints
    }
}

/// Most bytes of the file that an aggregator has at a time, and `cb_buffer_size` of a program that says
/// nothing: what a core's own cache holds. With 1 MiB it took two to five times as long.
const BUFFER_BYTES: u64 = 256 << 10;

/// Least bytes of the file for which there is one more aggregator.
const DOMAIN_BYTES: u64 = 256 << 10;

/// What one rank asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// From its first byte of the file to behind its last; without any bytes it ends before it begins.
    pub places: Range<u64>,
    /// Its bytes.
    pub bytes: u64,
    /// Its pieces.
    pub pieces: u64,
    /// 0 where each rank has to do its own, 1 where that which pays is wanted, 2 where it is two phases.
    pub vote: u64,
    /// What its program says.
    pub buffering: Buffering,
}

/// Bytes of what a rank tells the others.
pub const ASKED_BYTES: usize = 7 * 8;

impl Asked {
    /// As the others get it.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; ASKED_BYTES] {
        let Range { start, end } = self.places;
        let Buffering { bytes, nodes, .. } = self.buffering;
        let words = [start, end, self.bytes, self.pieces, self.vote, bytes, nodes];
        let mut told = [0; ASKED_BYTES];
        told.copy_from_slice(words.map(u64::to_ne_bytes).as_flattened());
        told
    }

    /// As another has told it.
    #[must_use]
    pub fn from_bytes(told: &[u8; ASKED_BYTES]) -> Self {
        let (words, _) = told.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        Self {
            places: word(0)..word(1),
            bytes: word(2),
            pieces: word(3),
            vote: word(4),
            buffering: Buffering {
                wanted: None,
                bytes: word(5),
                nodes: word(6),
            },
        }
    }

    /// What its rank would read by itself, where a call of the system counts as so many bytes as are copied
    /// in its time.
    fn read_alone(&self) -> u64 {
        let span = self.places.end.saturating_sub(self.places.start);
        let calls = self.pieces.saturating_mul(CALL_BYTES);
        span.min(calls.saturating_add(self.bytes))
    }
}

/// Mean bytes of pieces up to which two phases pay, for reading and for writing, where ranks share cores,
/// too. A call that writes a small piece takes twice as long as one that reads it.
const PIECE_BYTES: [u64; 2] = [1024, 2048];

/// Pieces of a rank, in the mean, from which on they pay: an exchange takes as long as some calls of the
/// system.
const PIECES: u64 = 32;

/// Ranks read by themselves, with what is between their pieces ([`super::sieve`]), up to so many times what
/// they ask for. With as many ranks, on two cores, that took a fourth of the time of two phases, with 2 ranks
/// half (2026-11-28, Intel Xeon; 256 KiB a rank in turns of 64 bytes: 4.9 ms and 21, 72 us and 123).
const SIEVED: u64 = 16;

/// Who has which part of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    all: Range<u64>,
    /// Bytes of the file from one aggregator's to the next's.
    domain: u64,
    /// Bytes of the file that one has at a time.
    window: u64,
    aggregators: usize,
}

impl Plan {
    /// The plan for what all ranks ask for, in their order, which is the same at all of them; none if each
    /// does its own.
    #[must_use]
    pub fn of(asked: &[Asked], is_written: bool) -> Option<Self> {
        let least = |of: fn(&Asked) -> u64| asked.iter().map(of).min();
        let sum = |of: fn(&Asked) -> u64| asked.iter().map(of).fold(0, u64::saturating_add);
        let vote = least(|one| one.vote).filter(|&vote| vote > 0)?;
        let first = least(|one| one.places.start)?;
        let end = asked.iter().map(|one| one.places.end).max()?;
        let (bytes, pieces) = (sum(|one| one.bytes), sum(|one| one.pieces));
        if bytes == 0 {
            return None;
        }
        let span = end - first;
        // With much of nothing between pieces there are as many runs as pieces, or rounds without any.
        if bytes.saturating_mul(4) < span {
            return None;
        }
        if vote == 1 {
            let are_small = bytes <= pieces.saturating_mul(PIECE_BYTES[usize::from(is_written)]);
            let are_many = pieces >= PIECES * asked.len() as u64;
            // Holes cut what is written, and what is read only if they are large.
            let is_dense = !is_written || bytes.saturating_mul(4) >= span.saturating_mul(3);
            let alone = sum(Asked::read_alone);
            let are_sieved = !is_written && alone <= bytes.saturating_mul(SIEVED);
            if !(are_small && are_many && is_dense) || are_sieved {
                return None;
            }
        }
        let start = first - first % PAGE;
        let nodes = least(|one| one.buffering.nodes)?.min(asked.len() as u64);
        let aggregators = (span / DOMAIN_BYTES).clamp(1, nodes);
        let domain = (end - start).div_ceil(aggregators).next_multiple_of(PAGE);
        // Where ranks read the same bytes, an aggregator has them once for each.
        let share = u128::from(span) * u128::from(least(|one| one.buffering.bytes)?);
        let window = (share / u128::from(bytes.max(span))) as u64;
        Some(Self {
            all: start..end,
            domain,
            window: window.clamp(1, domain).next_multiple_of(PAGE),
            aggregators: aggregators as usize,
        })
    }

    /// Number of aggregators, which are the first ranks.
    #[must_use]
    pub fn aggregators(&self) -> usize {
        self.aggregators
    }

    /// How often each of them reads or writes.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.domain.div_ceil(self.window)
    }

    /// A rank's part of the file; that of one that is no aggregator is empty.
    #[must_use]
    pub fn domain(&self, rank: usize) -> Range<u64> {
        if rank >= self.aggregators {
            return 0..0;
        }
        let start = self.all.start + self.domain * rank as u64;
        start.min(self.all.end)..(start + self.domain).min(self.all.end)
    }

    /// What of it the rank has in a round.
    #[must_use]
    pub fn window(&self, rank: usize, round: u64) -> Range<u64> {
        let Range { start, end } = self.domain(rank);
        let from = start + self.window * round;
        from.min(end)..(from + self.window).min(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(places: Range<u64>, bytes: u64, pieces: u64, vote: u64) -> Asked {
        Asked {
            places,
            bytes,
            pieces,
            vote,
            buffering: Buffering::of(&[]),
        }
    }

    #[test]
    fn small_pieces_that_lie_close_go_by_two_phases() {
        let both = |one: &Asked| {
            let all = [one.clone(), one.clone()];
            [true, false].map(|is_written| Plan::of(&all, is_written).is_some())
        };
        let size = 1 << 20;
        // Half of the bytes at each of two ranks, who read those between along with them.
        assert_eq!(both(&asked(0..size, size / 2, 8192, 1)), [true, false]);
        // Two fifths of them in all.
        assert_eq!(both(&asked(0..size, size / 5, 8192, 1)), [false, false]);
        assert_eq!(both(&asked(0..size, size / 10, 8192, 2)), [false, false]);
        // Large ones, and few.
        assert_eq!(both(&asked(0..size, size / 2, 8, 1)), [false, false]);
        assert_eq!(both(&asked(0..size, size / 2, 8, 2)), [true, true]);
        assert_eq!(both(&asked(0..64, 32, 8, 1)), [false, false]);
        // One that may not; none that has anything.
        assert_eq!(both(&asked(0..size, size / 2, 8192, 0)), [false, false]);
        let none = Range {
            start: u64::MAX,
            end: 0,
        };
        assert_eq!(both(&asked(none, 0, 0, 2)), [false, false]);
    }

    #[test]
    fn many_ranks_read_by_two_phases() {
        let size = 1 << 20;
        let reads = |ranks: u64, bytes: u64, pieces: u64| {
            let one = asked(0..size, bytes, pieces, 1);
            Plan::of(&vec![one; ranks as usize], false).is_some()
        };
        // Pieces of 64 bytes that take turns.
        assert!(!reads(16, size / 16, 1024));
        assert!(reads(32, size / 32, 512));
        // One byte in five of the file is wanted.
        assert!(!reads(32, size / 160, 103));
    }

    #[test]
    fn domains_and_windows_are_all_of_the_file_once() {
        let hints = |bytes: u64, nodes: u64| Buffering {
            wanted: Some(true),
            bytes,
            nodes,
        };
        for (start, bytes) in [(0, 1), (5000, 3_000_000), (4095, 2), (1 << 40, 10_000_000)] {
            for (room, nodes) in [(1, 1), (10_000, 3), (1 << 20, 7), (1 << 30, u64::MAX)] {
                let mut one = asked(start..start + bytes, bytes, 10, 2);
                one.buffering = hints(room, nodes);
                let one = Asked::from_bytes(&one.to_bytes());
                let plan = Plan::of(&[one.clone(), one.clone(), one], true).unwrap();
                assert!(plan.aggregators() as u64 <= nodes.min(3));
                let mut at = start - start % PAGE;
                for rank in 0..plan.aggregators() {
                    for round in 0..plan.rounds() {
                        let window = plan.window(rank, round);
                        assert!(window.end - window.start <= room.next_multiple_of(PAGE));
                        if !window.is_empty() {
                            assert_eq!(window.start, at);
                            at = window.end;
                        }
                    }
                }
                assert_eq!(at, start + bytes);
                assert_eq!(plan.domain(3), 0..0);
            }
        }
    }

    #[test]
    fn hints_are_followed_if_they_make_sense() {
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let hints = [
            own("collective_buffering", "true"),
            own("cb_buffer_size", "65536"),
            own("cb_nodes", "-1"),
        ];
        let found = Buffering::of(&hints);
        assert_eq!(
            (found.wanted, found.bytes, found.nodes),
            (Some(true), 65536, u64::MAX)
        );
        assert_eq!(
            found.hints(4),
            [hints[1].clone(), own("cb_nodes", "4"), hints[0].clone()]
        );
    }
}
