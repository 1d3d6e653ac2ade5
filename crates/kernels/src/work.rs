// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counted operations.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Operations that a computation has executed on words of 32 bits.
///
/// Only operations of the algorithm count, as a compiler for a scalar machine would emit them with
/// all scalars in registers; what they cost is the core's business.
/// The address of an array's element is part of its load or store, and a loop costs two additions
/// and a branch per iteration unless it is said to be unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Multiplications.
    pub multiplications: u64,
    /// Additions, subtractions, shifts, comparisons and logic.
    pub additions: u64,
    /// Words read from local memory; a byte that is read alone counts as a word.
    pub loads: u64,
    /// Words written to local memory; a byte that is written alone counts as a word.
    pub stores: u64,
    /// Branches, taken or not.
    pub branches: u64,
}

impl Work {
    /// No operation.
    pub const NONE: Self = Self {
        multiplications: 0,
        additions: 0,
        loads: 0,
        stores: 0,
        branches: 0,
    };

    /// Counting and testing of `iterations` iterations of a loop.
    pub const fn loops(iterations: u64) -> Self {
        Self {
            additions: 2 * iterations,
            branches: iterations,
            ..Self::NONE
        }
    }

    /// This work, `count` times.
    pub const fn times(self, count: u64) -> Self {
        Self {
            multiplications: self.multiplications * count,
            additions: self.additions * count,
            loads: self.loads * count,
            stores: self.stores * count,
            branches: self.branches * count,
        }
    }

    /// Operations of any kind.
    pub const fn operations(self) -> u64 {
        self.multiplications + self.additions + self.loads + self.stores + self.branches
    }
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

impl Add for Work {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(works: I) -> Self {
        works.fold(Self::NONE, Add::add)
    }
}
