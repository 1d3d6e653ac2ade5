// SPDX-License-Identifier: MIT OR Apache-2.0
//! The places of all buffers, eight to a line of the processor's cache, and what is in them.

use std::ops::{Index, IndexMut};

/// Low bits of a place: the flit's packet, or [`FREE`].
const PACKET_BITS: u32 = 24;
pub(super) const FREE: u64 = (1 << PACKET_BITS) - 1;
pub(super) const TAIL: u64 = 1 << PACKET_BITS;
pub(super) const TIME_SHIFT: u32 = PACKET_BITS + 1;

/// Head and tail of a packet; between them flits are alike.
pub(super) const fn place_of(packet: u32, is_tail: bool, time: u64) -> u64 {
    (time << TIME_SHIFT) | if is_tail { TAIL } else { 0 } | packet as u64
}

/// A flit as before that can act from `time` on.
pub(super) const fn retimed(flit: u64, time: u64) -> u64 {
    (time << TIME_SHIFT) | (flit & (TAIL | FREE))
}

/// A place in a ring of `capacity` places, less than a round too far.
pub(super) const fn wrapped(place: u32, capacity: u32) -> u32 {
    if place >= capacity {
        place - capacity
    } else {
        place
    }
}

/// A place without a flit, to be taken from `time` on.
pub(super) const fn free_from(time: u64) -> u64 {
    (time << TIME_SHIFT) | FREE
}

/// A vector of words whose every eighth begins a line of the cache, so that a buffer of eight
/// flits or fewer lies in one line.
#[derive(Clone, Debug)]
pub(super) struct Places {
    words: Vec<u64>,
    /// Words before the first that begins a line.
    offset: usize,
}

/// Words in a line of the cache.
const LINE: usize = 8;

impl Places {
    pub(super) fn new(len: usize, value: u64) -> Self {
        let words = vec![value; len + LINE];
        // A clone may begin elsewhere: then it is only slower.
        let offset = words.as_ptr().align_offset(LINE * size_of::<u64>());
        Self {
            words,
            offset: offset.min(LINE),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &u64> {
        self.words.iter()
    }

    /// Writes `value` into `count` places from place `first` on of the ring that begins at `base`,
    /// into every further one with a time one cycle later.
    #[inline]
    pub(super) fn fill(&mut self, base: u32, capacity: u32, first: u32, count: u32, value: u64) {
        let base = base as usize + self.offset;
        let ring = &mut self.words[base..base + capacity as usize];
        let mut at = first as usize;
        let mut value = value;
        for _ in 0..count {
            ring[at] = value;
            value += 1 << TIME_SHIFT;
            at = if at + 1 == ring.len() { 0 } else { at + 1 };
        }
    }
}

impl Index<usize> for Places {
    type Output = u64;

    #[inline]
    fn index(&self, place: usize) -> &u64 {
        &self.words[place + self.offset]
    }
}

impl IndexMut<usize> for Places {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut u64 {
        &mut self.words[place + self.offset]
    }
}
