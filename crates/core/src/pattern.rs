//! Shapes that several algorithms share.
//!
//! ```
//! use corecast_core::{Rank, pattern::Rotation};
//! let around = Rotation { root: Rank(2), ranks: 4 };
//! assert_eq!(around.rank(0), Rank(2));
//! assert_eq!(around.rank(3), Rank(1));
//! assert_eq!(around.position(Rank(1)), 3);
//! ```

mod fold;
mod halving;
mod ring;
mod tree;

pub use fold::Fold;
pub use halving::{halve, join};
pub use ring::ring_pass;
pub use tree::{TreeEdge, binomial_edges};

use crate::ids::Rank;
use crate::request::Request;

/// Numbers the ranks from the root onwards: position 0 is the root, position `i` is rank
/// `(root + i) mod ranks`.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The rank at position 0.
    pub root: Rank,
    /// Number of ranks, at least 1.
    pub ranks: u32,
}

impl Rotation {
    /// The rotation of a rooted request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self {
            root: request.root,
            ranks: request.ranks,
        }
    }

    /// The rank at `position`, taken modulo the number of ranks.
    #[must_use]
    pub fn rank(self, position: u32) -> Rank {
        let sum = u64::from(self.root.0) + u64::from(position);
        Rank((sum % u64::from(self.ranks)) as u32)
    }

    /// The position of `rank`.
    #[must_use]
    pub fn position(self, rank: Rank) -> u32 {
        (rank.0 + self.ranks - self.root.0) % self.ranks
    }
}
