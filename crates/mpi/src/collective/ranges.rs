// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of bytes, as ranges.
#![forbid(unsafe_code)]

use std::ops::Range;

/// Bytes in ascending ranges, no two of which touch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Adds the bytes of a range.
    pub fn insert(&mut self, new: Range<usize>) {
        if new.is_empty() {
            return;
        }
        let first = self.0.partition_point(|range| range.end < new.start);
        let end = self.0.partition_point(|range| range.start <= new.end);
        let touched = &self.0[first..end];
        let merged = match (touched.first(), touched.last()) {
            (Some(low), Some(high)) => low.start.min(new.start)..high.end.max(new.end),
            _ => new,
        };
        self.0.splice(first..end, [merged]);
    }

    /// Whether all bytes of a range are there.
    #[must_use]
    pub fn covers(&self, range: &Range<usize>) -> bool {
        let at = self.0.partition_point(|found| found.end < range.end);
        let found = self.0.get(at);
        range.is_empty() || found.is_some_and(|found| found.start <= range.start)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_the_bytes_that_were_added(
            added in prop::collection::vec((0..40_usize, 0..9_usize), 0..12),
            (start, bytes) in (0..40_usize, 0..9_usize),
        ) {
            let (mut ranges, mut all) = (Ranges::default(), [false; 64]);
            for (start, bytes) in added {
                ranges.insert(start..start + bytes);
                all[start..start + bytes].fill(true);
            }
            let mut found = [false; 64];
            for range in ranges.iter() {
                prop_assert!(!range.is_empty());
                prop_assert!(range.start == 0 || !all[range.start - 1]);
                prop_assert!(!all[range.end]);
                found[range].fill(true);
            }
            prop_assert_eq!(found, all);
            let wanted = start..start + bytes;
            let is_there = all[wanted.clone()].iter().all(|&it| it);
            prop_assert_eq!(ranges.covers(&wanted), is_there);
        }
    }
}
