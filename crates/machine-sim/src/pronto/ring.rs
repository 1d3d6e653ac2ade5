// SPDX-License-Identifier: MIT OR Apache-2.0
//! One message passing buffer: which words are in use, and what they hold.
//!
//! A block is contiguous and never goes over the end of the buffer. The search for room begins
//! behind the block that was placed last and goes round once, so the buffer fills like a ring; the
//! first gap that holds the block is taken. Blocks leave in any order (a program receives by sender,
//! not by age), so there can be room enough in all and no gap large enough: then the block waits
//! until a neighbour of a gap leaves. An empty buffer holds every block up to its capacity.

use corecast_flow::BufferUse;
use corecast_machine::Time;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Ring {
    words: u32,
    word_bytes: usize,
    /// Offset and words of every block, by offset.
    blocks: Vec<(u32, u32)>,
    /// Where the search for room begins.
    next: u32,
    bytes: Vec<u8>,
    used: u32,
    most: u32,
    /// Words times picoseconds up to `since`.
    integral: u128,
    since: Time,
}

impl Ring {
    pub(crate) fn new(bytes: u64, word_bytes: u64) -> Self {
        Self {
            words: (bytes / word_bytes) as u32, // at most 2^20: the chip's check
            word_bytes: word_bytes as usize,
            blocks: Vec::new(),
            next: 0,
            bytes: vec![0; bytes as usize],
            used: 0,
            most: 0,
            integral: 0,
            since: Time::ZERO,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Free stretches `[start, end)`.
    fn gaps(&self) -> Vec<(u32, u32)> {
        let mut gaps = Vec::with_capacity(self.blocks.len() + 1);
        let mut start = 0;
        for &(offset, words) in &self.blocks {
            gaps.push((start, offset));
            start = offset + words;
        }
        gaps.push((start, self.words));
        gaps
    }

    /// Where a block of `words` words would be put.
    fn place(&self, words: u32) -> Option<u32> {
        let gaps = self.gaps();
        let behind = gaps.iter().map(|&(start, end)| (start.max(self.next), end));
        let before = gaps.iter().copied();
        let mut all = behind.chain(before);
        let found = all.find(|&(start, end)| end.checked_sub(start) >= Some(words));
        found.map(|(start, _)| start)
    }

    /// Reserves a block from `now` on; returns its offset.
    pub(crate) fn reserve(&mut self, words: u32, now: Time) -> Option<u32> {
        let offset = self.place(words)?;
        let at = self.blocks.partition_point(|&(other, _)| other < offset);
        self.blocks.insert(at, (offset, words));
        self.next = (offset + words) % self.words;
        self.count(now);
        self.used += words;
        self.most = self.most.max(self.used);
        Some(offset)
    }

    /// Frees the block at `offset`.
    pub(crate) fn free(&mut self, offset: u32, now: Time) {
        let at = self
            .blocks
            .binary_search_by_key(&offset, |&(other, _)| other);
        let (_, words) = self.blocks.remove(at.expect("a block in use"));
        self.count(now);
        self.used -= words;
    }

    fn count(&mut self, now: Time) {
        self.integral += u128::from(self.used) * u128::from((now - self.since).ps());
        self.since = now;
    }

    /// Puts `data` at word `word` of the block at `offset`.
    pub(crate) fn write(&mut self, offset: u32, word: u32, data: &[u8]) {
        let start = (offset + word) as usize * self.word_bytes;
        self.bytes[start..start + data.len()].copy_from_slice(data);
    }

    /// `len` bytes from word `word` of the block at `offset` on.
    pub(crate) fn read(&self, offset: u32, word: u32, len: usize) -> Vec<u8> {
        let start = (offset + word) as usize * self.word_bytes;
        self.bytes[start..start + len].to_vec()
    }

    /// How it was used until `end`.
    pub(crate) fn usage(&mut self, end: Time) -> BufferUse {
        self.count(end);
        let mean_words = match end.ps() {
            0 => 0.0,
            ps => self.integral as f64 / ps as f64,
        };
        BufferUse {
            words: u64::from(self.words),
            mean_words,
            max_words: u64::from(self.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> Ring {
        Ring::new(40, 4) // 10 words
    }

    #[test]
    fn blocks_go_round_and_never_over_the_end() {
        let mut ring = ring();
        let now = Time::ZERO;
        assert_eq!(ring.reserve(4, now), Some(0));
        assert_eq!(ring.reserve(4, now), Some(4));
        assert_eq!(ring.reserve(4, now), None, "2 words are left at the end");
        ring.free(0, now);
        assert_eq!(ring.reserve(3, now), Some(0), "round to the start");
        assert_eq!(ring.reserve(2, now), Some(8), "the gap at the end");
        assert_eq!(ring.reserve(1, now), Some(3));
        assert_eq!(ring.reserve(1, now), None);
    }

    /// The search begins behind the block that was placed last, and not at the buffer's start or at
    /// that block itself, whatever is free there by now.
    #[test]
    fn the_search_begins_behind_the_last_block() {
        let mut ring = ring();
        let now = Time::ZERO;
        assert_eq!(ring.reserve(2, now), Some(0));
        assert_eq!(ring.reserve(3, now), Some(2));
        ring.free(0, now);
        ring.free(2, now);
        assert_eq!(
            ring.reserve(2, now),
            Some(5),
            "behind both, which have left"
        );
        assert_eq!(ring.reserve(3, now), Some(7), "up to the end");
        assert_eq!(ring.reserve(2, now), Some(0), "and from there at the start");
        ring.free(0, now);
        assert_eq!(ring.reserve(1, now), Some(2));
        // Behind it there is no gap of four: the first one before it would be too short as well.
        assert_eq!(ring.reserve(4, now), None);
        assert_eq!(ring.reserve(2, now), Some(3));
        assert_eq!(ring.reserve(2, now), Some(0), "round to the first gap");
    }

    #[test]
    fn gaps_that_do_not_touch_do_not_add_up() {
        let mut ring = ring();
        let now = Time::ZERO;
        for offset in 0..10 {
            assert_eq!(ring.reserve(1, now), Some(offset));
        }
        ring.free(2, now);
        ring.free(5, now);
        assert_eq!(ring.reserve(2, now), None, "two words, but apart");
        ring.free(4, now);
        assert_eq!(ring.reserve(2, now), Some(4));
    }

    #[test]
    fn an_empty_buffer_holds_any_block() {
        let mut ring = ring();
        let now = Time::ZERO;
        assert_eq!(ring.reserve(7, now), Some(0));
        assert!(!ring.is_empty());
        ring.free(0, now);
        assert!(ring.is_empty());
        assert_eq!(
            ring.reserve(10, now),
            Some(0),
            "although the search begins at 7"
        );
        assert_eq!(ring.reserve(1, now), None);
    }

    proptest::proptest! {
        /// Blocks lie inside, apart from each other, and are refused only if no gap holds them.
        #[test]
        fn blocks_never_overlap(calls in proptest::collection::vec((0..3_u8, 1..=20_u32), 1..200)) {
            let mut ring = Ring::new(200, 4);
            let mut blocks: Vec<(u32, u32)> = Vec::new();
            for (kind, number) in calls {
                if kind == 0 && !blocks.is_empty() {
                    let (offset, _) = blocks.remove(number as usize % blocks.len());
                    ring.free(offset, Time::ZERO);
                    continue;
                }
                let is_free = |word: u32| blocks.iter().all(|&(at, len)| word < at || word >= at + len);
                let longest = (0..50).fold((0, 0), |(longest, run), word| {
                    let run = if is_free(word) { run + 1 } else { 0 };
                    (longest.max(run), run)
                });
                match ring.reserve(number, Time::ZERO) {
                    Some(offset) => {
                        proptest::prop_assert!(offset + number <= 50);
                        proptest::prop_assert!((offset..offset + number).all(is_free));
                        blocks.push((offset, number));
                    }
                    None => proptest::prop_assert!(longest.0 < number),
                }
            }
        }
    }

    #[test]
    fn use_is_weighted_with_time() {
        let mut ring = ring();
        let at = Time::from_ps;
        ring.reserve(4, at(10));
        ring.reserve(2, at(20));
        ring.free(0, at(30));
        let usage = ring.usage(at(60));
        assert_eq!(usage.max_words, 6);
        assert!((usage.mean_words - (4.0 * 20.0 + 2.0 * 40.0) / 60.0).abs() < 1e-12);
    }
}
