//! Counted operations.

use std::ops::AddAssign;

/// Operations that a computation has executed on words of 32 bits.
///
/// Only operations of the algorithm count, as a compiler for a scalar machine would emit them with
/// all scalars in registers; what they cost is the core's business.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Multiplications.
    pub multiplications: u64,
    /// Additions, subtractions, shifts, comparisons and logic.
    pub additions: u64,
    /// Words read from local memory.
    pub loads: u64,
    /// Words written to local memory.
    pub stores: u64,
    /// Branches, taken or not.
    pub branches: u64,
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.multiplications += other.multiplications;
        self.additions += other.additions;
        self.loads += other.loads;
        self.stores += other.stores;
        self.branches += other.branches;
    }
}
