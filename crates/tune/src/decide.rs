// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a table says about a request, also where it has no cell for it.
//!
//! The rule: of the rank counts in the table the nearest decides, and of its cells the nearest in
//! size. Near is measured on a logarithmic scale, so 12 is as near to 6 as to 24; of two that are
//! as near the smaller decides. If the algorithm of that cell cannot serve the request, for example
//! because it needs a power of two ranks, or if it names no algorithm ([`crate::BOARDS`],
//! [`crate::LIBRARY`]), the next nearest cell is asked.

use std::cmp::Ordering;

use corecast_core::{BuildError, Help, Request, Schedule, algorithm};
use thiserror::Error;

use crate::table::{Cell, Table};

/// What a table says about one request.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// The cell that decided.
    pub cell: &'a Cell,
    /// The request with the cell's sizes of parts and pieces.
    pub request: Request,
    /// Its schedule by the cell's algorithm.
    pub schedule: Schedule,
    /// Nearer cells whose algorithms could not serve the request, with the reason.
    pub passed: Vec<(&'a Cell, BuildError)>,
}

/// No cell of the table can serve the request.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Undecided {
    /// There is no cell at all.
    #[error("the table has no cells")]
    Empty,
    /// None of the algorithms in it can serve the request.
    #[error("no algorithm in the table can serve this request: {nearest}")]
    Unserved {
        /// Why that of the nearest cell cannot.
        nearest: BuildError,
    },
}

impl Help for Undecided {
    fn help(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Unserved { nearest } => nearest.help(),
        }
    }
}

impl Table {
    /// The algorithm for `request` and its schedule, by the nearest cell that can serve it.
    ///
    /// # Errors
    /// [`Undecided`] if no cell can.
    pub fn decide(&self, request: &Request) -> Result<Decision<'_>, Undecided> {
        let mut passed = Vec::new();
        for cell in self.nearest(request.ranks, request.bytes) {
            let mut tuned = request.clone();
            tuned.tuning.part_bytes = cell.part_bytes;
            tuned.tuning.piece_bytes = cell.piece_bytes;
            let found = algorithm::find(self.setting().collective, cell.algorithm);
            let Some(algorithm) = found else {
                continue; // no schedule: `crate::BOARDS`, `crate::LIBRARY`
            };
            match algorithm::build(algorithm, &tuned) {
                Ok(schedule) => {
                    return Ok(Decision {
                        cell,
                        request: tuned,
                        schedule,
                        passed,
                    });
                }
                Err(error) => passed.push((cell, error)),
            }
        }
        Err(match passed.into_iter().next() {
            Some((_, nearest)) => Undecided::Unserved { nearest },
            None => Undecided::Empty,
        })
    }

    /// All cells, the nearest to this rank count and size first.
    #[must_use]
    pub fn nearest(&self, ranks: u32, bytes: u64) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = self.cells().collect();
        // Stable: of two that are as near the smaller, which comes first in the table.
        cells.sort_by(|a, b| {
            let by_ranks = nearer(u64::from(ranks), u64::from(a.ranks), u64::from(b.ranks));
            by_ranks
                .then(a.ranks.cmp(&b.ranks))
                .then_with(|| nearer(bytes, a.bytes, b.bytes))
        });
        cells
    }
}

/// Which of `a` and `b` is nearer to `to` on a logarithmic scale. 0 is as far as 1 from all but itself,
/// and comes behind it.
pub(crate) fn nearer(to: u64, a: u64, b: u64) -> Ordering {
    // The distance is a quotient, compared without rounding.
    let distance = |x: u64| {
        let (x, to) = (x.max(1), to.max(1));
        (u128::from(x.max(to)), u128::from(x.min(to)))
    };
    let ((a_over, a_under), (b_over, b_under)) = (distance(a), distance(b));
    let by_log = (a_over * b_under).cmp(&(b_over * a_under));
    let by_log = by_log.then((a != to).cmp(&(b != to)));
    by_log.then(((a, b) == (0, 1)).cmp(&((a, b) == (1, 0))))
}

#[cfg(test)]
mod tests {
    use super::nearer;

    fn nearest(to: u64, of: &[u64]) -> u64 {
        let mut of = of.to_vec();
        of.sort_by(|&a, &b| nearer(to, a, b).then(a.cmp(&b)));
        of[0]
    }

    #[test]
    fn near_is_logarithmic() {
        assert_eq!(nearest(12, &[6, 24]), 6, "as near: the smaller");
        assert_eq!(nearest(13, &[6, 24]), 24);
        assert_eq!(nearest(11, &[6, 24]), 6);
        assert_eq!(nearest(u64::MAX, &[0, 1, u64::MAX - 1]), u64::MAX - 1);
        assert_eq!([0, 1, 2].map(|to| nearest(to, &[0, 1])), [0, 1, 1]);
    }

    #[test]
    fn zero_is_near_to_one() {
        assert_eq!(nearest(0, &[0, 1, 2]), 0);
        assert_eq!(nearest(1, &[0, 1, 2]), 1);
        assert_eq!(nearest(1, &[0, 2]), 0);
        assert_eq!(nearest(0, &[1, 2]), 1);
    }
}
