// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain models of the standard, and calls that any bytes choose: what property tests draw and what the
//! fuzz targets (`fuzz/fuzz_targets`) search for is the same.
#![allow(dead_code, reason = "every test and target takes what it needs")]

pub mod datatypes;
pub mod files;
pub mod matching;
pub mod rma;
pub mod world;

/// Numbers out of any bytes: zeros when there are no more.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn are_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    /// A number of a range of at most 256.
    pub fn within(&mut self, range: std::ops::Range<isize>) -> isize {
        range.start + isize::from(self.byte()) % (range.end - range.start)
    }

    /// A number below one that is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub fn is_true(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Up to `most` of something.
    pub fn several<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| one(self)).collect()
    }

    /// Any number, often one of those at which things change.
    pub fn wild(&mut self) -> isize {
        match self.below(4) {
            0 => self.within(-4..12),
            1 => isize::from(self.byte()) << self.below(56),
            2 => isize::MAX - self.within(0..3),
            _ => isize::MIN + self.within(0..3),
        }
    }
}

/// A byte that tells its place.
pub fn marked(index: usize) -> u8 {
    (index * 131 + index / 251) as u8
}
