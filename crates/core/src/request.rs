// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of an algorithm: a collective, its ranks, its size, and what is known about the
//! machine's state.
//!
//! A schedule is a value, so everything that may change it is here: also the status of ranks that
//! are still busy with an earlier transfer ([`Request::busy_bytes`]) and the machine's costs in
//! the two numbers that closed forms use ([`Platform`]).
//!
//! ```
//! use corecast_core::{Collective, Request};
//! let request = Request::new(Collective::Bcast, 8, 64);
//! assert!(request.check().is_ok());
//! assert!(Request::new(Collective::Bcast, 0, 64).check().is_err());
//! ```

use crate::Help;
use std::sync::Arc;

use thiserror::Error;

use crate::collective::{Collective, Split};
use crate::grid::Grid;
use crate::ids::Rank;
use crate::platform::{Platform, SharedBuffer};
use crate::tuning::{STATUS_BITS_MAX, Tuning};

/// Most ranks a request may have. Tables with one entry per rank stay small.
pub const RANKS_MAX: u32 = 1 << 20;

/// Most chunks a schedule may name; bounds memory before anything is built.
pub const CHUNKS_MAX: u64 = 1 << 24;

/// Most segments of a block in algorithms of many small messages; more would gain little.
const SEGMENTS_MAX: u32 = 64;

/// One collective operation to be scheduled.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The operation.
    pub collective: Collective,
    /// Number of participating ranks, 1..=[`RANKS_MAX`].
    pub ranks: u32,
    /// The root of a rooted collective; ignored by the others.
    pub root: Rank,
    /// Size in bytes; of what, [`Collective`] says per variant. Barriers ignore it.
    pub bytes: u64,
    /// Block sizes in bytes for alltoallv: `ranks * ranks` entries, `from * ranks + to`.
    pub counts: Option<Arc<[u64]>>,
    /// Chunk borders fall on multiples of this many bytes (the size of an element), at least 1.
    pub element_bytes: u32,
    /// Bytes still to be moved by a transfer that rank `r` is busy with when the collective
    /// starts; 0 = free. Empty = all ranks are free. Otherwise one entry per rank.
    pub busy_bytes: Vec<u64>,
    /// What is chosen: parameters an algorithm may use.
    pub tuning: Tuning,
    /// Where: what the machine is like.
    pub platform: Platform,
}

/// Why a request cannot be scheduled by any algorithm.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The rank count is 0 or too large.
    #[error("{ranks} ranks is out of range")]
    RankCount {
        /// The count asked for.
        ranks: u32,
    },
    /// The root is not one of the ranks.
    #[error("root {root} is out of range")]
    Root {
        /// The root asked for.
        root: Rank,
        /// Number of ranks.
        ranks: u32,
    },
    /// The number of blocks times parts is beyond [`CHUNKS_MAX`].
    #[error("{collective} over {ranks} ranks would need {chunks} chunks, more than {CHUNKS_MAX}")]
    TooManyChunks {
        /// The collective asked for.
        collective: Collective,
        /// Number of ranks.
        ranks: u32,
        /// Number of chunks needed.
        chunks: u64,
    },
    /// The total payload overflows 63 bits.
    #[error("{bytes} bytes over {ranks} ranks overflows the total size")]
    TooManyBytes {
        /// The size asked for.
        bytes: u64,
        /// Number of ranks.
        ranks: u32,
    },
    /// A reduction's size is not a whole number of elements.
    #[error("{bytes} bytes is not a whole number of {element_bytes}-byte elements")]
    PartialElement {
        /// The size asked for.
        bytes: u64,
        /// Size of one element.
        element_bytes: u32,
    },
    /// `counts` is missing, present without need, or has the wrong length.
    #[error("{collective} needs {needed} block sizes, {given} were given")]
    Counts {
        /// The collective asked for.
        collective: Collective,
        /// Entries needed.
        needed: usize,
        /// Entries given.
        given: usize,
    },
    /// `busy_bytes` has neither 0 nor `ranks` entries.
    #[error("the status names {given} ranks, the communicator has {ranks}")]
    Status {
        /// Entries given.
        given: usize,
        /// Number of ranks.
        ranks: u32,
    },
    /// The grid has no node, or fewer places than there are ranks.
    #[error(
        "{ranks} ranks do not fit on {} x {} nodes with {} ranks each",
        grid.width, grid.height, grid.per_node
    )]
    Grid {
        /// Number of ranks.
        ranks: u32,
        /// The grid given.
        grid: Grid,
    },
    /// A tuning parameter is out of range.
    #[error("{name} = {value} is out of range")]
    Tuning {
        /// Name of the parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The accepted range in words.
        accepted: &'static str,
    },
}

impl Request {
    /// A request with root 0, byte elements, free ranks and default tuning. An alltoallv gets
    /// equal counts.
    #[must_use]
    pub fn new(collective: Collective, ranks: u32, bytes: u64) -> Self {
        let counts = (collective == Collective::Alltoallv)
            .then(|| vec![bytes; ranks as usize * ranks as usize].into());
        Self {
            counts,
            ..Self::without_counts(collective, ranks, bytes)
        }
    }

    /// The same without equal counts, for an alltoallv that gets others: so many could be too large.
    #[must_use]
    pub fn without_counts(collective: Collective, ranks: u32, bytes: u64) -> Self {
        Self {
            collective,
            ranks,
            root: Rank(0),
            bytes,
            counts: None,
            element_bytes: 1,
            busy_bytes: Vec::new(),
            tuning: Tuning::default(),
            platform: Platform::default(),
        }
    }

    /// The same request with another root.
    #[must_use]
    pub fn with_root(mut self, root: Rank) -> Self {
        self.root = root;
        self
    }

    /// Whether `rank` is busy with an earlier transfer, and with how many bytes.
    #[must_use]
    pub fn busy_bytes_of(&self, rank: Rank) -> u64 {
        self.busy_bytes.get(rank.index()).copied().unwrap_or(0)
    }

    /// Where the ranks sit: the grid given, or the most square one.
    #[must_use]
    pub fn grid_or_square(&self) -> Grid {
        self.platform.grid_or_square(self.ranks)
    }

    /// How a pipelined algorithm splits a block: by [`Tuning::part_bytes`], or else into
    /// `parts` even parts.
    #[must_use]
    pub fn split_or(&self, parts: u32) -> Split {
        self.tuning
            .part_bytes
            .map_or(Split::Even(parts), Split::Fixed)
    }

    /// As [`Request::split_or`], for an algorithm through shared buffers that takes `behind` rounds
    /// more than there are parts: the number of parts that Eq. (1) of Park 2019 gives for the costs
    /// of the buffers, in whole lines and so that two parts fit into one.
    #[must_use]
    pub fn split_shared(&self, behind: f64) -> Split {
        let buffer = self.platform.shared_buffer.unwrap_or(SharedBuffer {
            bytes: u64::MAX,
            line_bytes: 1,
            cost: self.platform.link_cost,
        });
        let cost = buffer.cost;
        let bytes = self.bytes as f64;
        let best = (behind * bytes * cost.cycles_per_byte / cost.sync_cycles).sqrt();
        let least = self
            .bytes
            .div_ceil(CHUNKS_MAX / u64::from(self.ranks))
            .max(1);
        let part = self.bytes.div_ceil((best as u64).max(1)).max(least);
        let element = u64::from(self.element_bytes);
        let unit = buffer.line_bytes.max(element);
        let most = (buffer.bytes / 2 / unit * unit).max(unit);
        let part = part.div_ceil(unit).saturating_mul(unit).min(most);
        Split::Fixed(self.tuning.part_bytes.unwrap_or(part).max(1))
    }

    /// Segments of a block of which `owners` ranks have a chunk each, for an algorithm through shared
    /// buffers: so many that a chunk has at most `tuning.part_bytes`, or a quarter of a buffer, as
    /// long as there are not more than 64.
    #[must_use]
    pub fn segments_shared(&self, owners: u32) -> u32 {
        let buffer = self.platform.shared_buffer;
        let quarter = buffer.map_or(u64::MAX, |buffer| buffer.bytes / 4);
        let part = self.tuning.part_bytes.unwrap_or(quarter).max(1);
        let owners = u64::from(owners).max(1);
        let segment = part.saturating_mul(owners);
        let most = u64::from(SEGMENTS_MAX).min(CHUNKS_MAX / owners);
        self.bytes.div_ceil(segment).clamp(1, most.max(1)) as u32
    }

    /// Refuses a request that no algorithm could schedule.
    ///
    /// # Errors
    /// The first thing wrong with it, as a [`RequestError`].
    pub fn check(&self) -> Result<(), RequestError> {
        let ranks = self.ranks;
        if ranks == 0 || ranks > RANKS_MAX {
            return Err(RequestError::RankCount { ranks });
        }
        if self.root.0 >= ranks {
            return Err(RequestError::Root {
                root: self.root,
                ranks,
            });
        }
        if let Some(grid) = self.platform.grid {
            let sides = [grid.width, grid.height, grid.per_node].map(u64::from);
            let places: u64 = sides
                .iter()
                .fold(1, |places, &side| places.saturating_mul(side));
            if places < u64::from(ranks) || places > 2 * u64::from(RANKS_MAX) {
                return Err(RequestError::Grid { ranks, grid });
            }
        }
        self.check_tuning()?;
        self.check_sizes()?;
        if !self.busy_bytes.is_empty() && self.busy_bytes.len() != ranks as usize {
            return Err(RequestError::Status {
                given: self.busy_bytes.len(),
                ranks,
            });
        }
        Ok(())
    }

    fn check_tuning(&self) -> Result<(), RequestError> {
        let tuning = &self.tuning;
        let refuse = |name, value: String, accepted| {
            Err(RequestError::Tuning {
                name,
                value,
                accepted,
            })
        };
        if tuning.part_bytes == Some(0) {
            return refuse("part-bytes", "0".into(), "at least 1 byte");
        }
        if tuning.piece_bytes == Some(0) {
            return refuse("piece-bytes", "0".into(), "at least 1 byte");
        }
        if !(1..=STATUS_BITS_MAX).contains(&tuning.status_bits) {
            return refuse(
                "status-bits",
                tuning.status_bits.to_string(),
                "1 to 10 bits",
            );
        }
        if tuning.arity < 2 {
            return refuse("arity", tuning.arity.to_string(), "at least 2");
        }
        let cost = self.platform.link_cost;
        if !(cost.sync_cycles.is_finite() && cost.sync_cycles > 0.0) {
            return refuse(
                "sync-cycles",
                cost.sync_cycles.to_string(),
                "a positive number",
            );
        }
        if !(cost.cycles_per_byte.is_finite() && cost.cycles_per_byte > 0.0) {
            return refuse(
                "cycles-per-byte",
                cost.cycles_per_byte.to_string(),
                "positive",
            );
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), RequestError> {
        let (ranks, bytes) = (u64::from(self.ranks), self.bytes);
        let blocks = match self.collective {
            Collective::Alltoall | Collective::Alltoallv => ranks * ranks,
            _ => ranks,
        };
        let parts = match self.tuning.part_bytes {
            Some(part) if part > 0 => bytes.div_ceil(part).max(1),
            _ => 1,
        };
        let chunks = blocks.saturating_mul(parts);
        if chunks > CHUNKS_MAX {
            return Err(RequestError::TooManyChunks {
                collective: self.collective,
                ranks: self.ranks,
                chunks,
            });
        }
        let total = match &self.counts {
            Some(counts) => counts
                .iter()
                .try_fold(0_u64, |sum, &count| sum.checked_add(count)),
            None => bytes.checked_mul(blocks),
        };
        if total.is_none_or(|total| i64::try_from(total).is_err()) {
            return Err(RequestError::TooManyBytes {
                bytes,
                ranks: self.ranks,
            });
        }
        let element_bytes = self.element_bytes;
        if element_bytes == 0 || !bytes.is_multiple_of(u64::from(element_bytes)) {
            return Err(RequestError::PartialElement {
                bytes,
                element_bytes,
            });
        }
        let needed = match self.collective {
            Collective::Alltoallv => blocks as usize,
            _ => 0,
        };
        let given = self.counts.as_ref().map_or(0, |counts| counts.len());
        if given != needed {
            return Err(RequestError::Counts {
                collective: self.collective,
                needed,
                given,
            });
        }
        Ok(())
    }
}

impl Help for RequestError {
    fn help(&self) -> String {
        match self {
            Self::RankCount { .. } => format!("a communicator has 1 to {RANKS_MAX} ranks"),
            Self::Root { ranks, .. } => {
                format!("with {ranks} ranks the root is 0 to {}", ranks - 1)
            }
            Self::TooManyChunks { .. } => "use fewer ranks or larger parts".to_owned(),
            Self::TooManyBytes { .. } => "use a smaller size".to_owned(),
            Self::Tuning { accepted, .. } => format!("it must be {accepted}"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_would_be_right() {
        let check = |request: Request| {
            request
                .check()
                .expect_err("must refuse")
                .with_help()
                .to_string()
        };
        let base = Request::new(Collective::Bcast, 4, 64);
        assert_eq!(
            check(base.clone().with_root(Rank(4))),
            "root 4 is out of range\n  with 4 ranks the root is 0 to 3"
        );
        assert!(
            check(Request {
                ranks: 0,
                ..base.clone()
            })
            .contains("1 to 1048576")
        );
        assert!(
            check(Request {
                bytes: u64::MAX,
                ..base.clone()
            })
            .contains("smaller size")
        );
        assert!(
            check(Request {
                element_bytes: 7,
                ..base.clone()
            })
            .contains("7-byte elements")
        );
        assert!(
            check(Request {
                busy_bytes: vec![1],
                ..base
            })
            .contains("names 1 ranks")
        );
    }
}
