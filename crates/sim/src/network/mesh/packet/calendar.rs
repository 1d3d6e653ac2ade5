// SPDX-License-Identifier: MIT OR Apache-2.0
//! A calendar of packets: which of them act in which cycle, however far ahead.
//!
//! The next cycles have a page each; cycles beyond them wait in a tree. A packet that waits for a
//! busy link may be far ahead, which is why the wheel of the flit mesh does not serve here.

use std::collections::BTreeMap;

/// Pages, one per cycle; a power of two.
const PAGES: u64 = 1024;
/// Longest page whose memory is kept for the next cycle that uses it.
const KEPT_LEN: usize = 1024;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    pages: Vec<Vec<u32>>,
    /// A bit per page that is not empty.
    used: Vec<u64>,
    beyond: BTreeMap<u64, Vec<u32>>,
    /// The first cycle in which a packet acts; `u64::MAX` if none does.
    first: u64,
}

impl Calendar {
    pub(super) fn new() -> Self {
        Self {
            pages: vec![Vec::new(); PAGES as usize],
            used: vec![0; (PAGES / 64) as usize],
            beyond: BTreeMap::new(),
            first: u64::MAX,
        }
    }

    /// Enters a packet for `cycle`, which is `now` or later.
    #[inline]
    pub(super) fn push(&mut self, now: u64, cycle: u64, packet: u32) {
        self.first = self.first.min(cycle);
        if cycle - now >= PAGES {
            self.beyond.entry(cycle).or_default().push(packet);
            return;
        }
        let page = cycle % PAGES;
        self.used[(page / 64) as usize] |= 1 << (page % 64);
        self.pages[page as usize].push(packet);
    }

    /// Takes the packets of `cycle`, before which nobody acts, in the order in which they were
    /// entered: those that were entered from far away came first.
    pub(super) fn take(&mut self, cycle: u64) -> Vec<u32> {
        let page = cycle % PAGES;
        self.used[(page / 64) as usize] &= !(1 << (page % 64));
        let mut packets = std::mem::take(&mut self.pages[page as usize]);
        if let Some(mut early) = self.beyond.remove(&cycle) {
            early.append(&mut packets);
            packets = early;
        }
        self.first = self.find_first(cycle);
        packets
    }

    /// Gives back the memory of the packets of `cycle`, which have acted.
    pub(super) fn give_back(&mut self, cycle: u64, mut packets: Vec<u32>) {
        let page = &mut self.pages[(cycle % PAGES) as usize];
        if page.is_empty() && packets.capacity() <= KEPT_LEN {
            packets.clear();
            *page = packets;
        }
    }

    /// The first cycle in which a packet acts.
    #[inline]
    pub(super) fn next(&self) -> Option<u64> {
        (self.first < u64::MAX).then_some(self.first)
    }

    fn find_first(&self, now: u64) -> u64 {
        let beyond = self.beyond.keys().next().copied();
        let near = self.next_page(now);
        near.into_iter().chain(beyond).min().unwrap_or(u64::MAX)
    }

    /// The first cycle of the next [`PAGES`] that has a page in use.
    fn next_page(&self, now: u64) -> Option<u64> {
        let words = self.used.len() as u64;
        let first = now % PAGES;
        let base = now - first;
        // The word of `now` is looked at twice: its upper bits are next, its lower ones last.
        for turn in 0..=words {
            let index = (first / 64 + turn) % words;
            let mask = match turn {
                0 => u64::MAX << (first % 64),
                _ => u64::MAX,
            };
            let bits = self.used[index as usize] & mask;
            if bits != 0 {
                let page = index * 64 + u64::from(bits.trailing_zeros());
                let lap = if page < first { PAGES } else { 0 };
                return Some(base + page + lap);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::random::SplitMix64;

    use super::*;

    #[test]
    fn cycles_come_in_order_and_packets_as_entered() {
        let mut calendar = Calendar::new();
        let cycles = [5, 5000, 5, 1023, 1024, 2047, 5000, 70, 2_000_000];
        for (packet, &cycle) in (0..).zip(&cycles) {
            calendar.push(3, cycle, packet);
        }
        let mut taken = Vec::new();
        while let Some(cycle) = calendar.next() {
            if cycle == 2047 {
                calendar.push(cycle, 5000, 100);
            }
            let packets = calendar.take(cycle);
            taken.push((cycle, packets.clone()));
            calendar.give_back(cycle, packets);
        }
        let expected = [
            (5, vec![0, 2]),
            (70, vec![7]),
            (1023, vec![3]),
            (1024, vec![4]),
            (2047, vec![5]),
            (5000, vec![1, 6, 100]),
            (2_000_000, vec![8]),
        ];
        assert_eq!(taken, expected);
    }

    #[test]
    fn a_cycle_may_be_entered_from_far_and_from_near() {
        let mut calendar = Calendar::new();
        calendar.push(0, 2000, 1);
        assert_eq!(calendar.next(), Some(2000));
        calendar.push(1500, 2000, 2);
        calendar.push(1500, 1500, 3);
        assert_eq!(calendar.next(), Some(1500));
        assert_eq!(calendar.take(1500), [3]);
        assert_eq!(calendar.take(2000), [1, 2]);
        assert_eq!(calendar.next(), None);
        // Both are near: the page keeps the order, whatever the cycle of entering.
        calendar.push(100, 600, 4);
        calendar.push(500, 600, 5);
        assert_eq!(calendar.take(600), [4, 5]);
    }

    /// Packets put in at random while time goes on come out as of a map.
    #[test]
    fn a_calendar_is_a_map() {
        let (mut calendar, mut map) = (Calendar::new(), BTreeMap::<u64, Vec<u32>>::new());
        let (mut now, mut random) = (0, SplitMix64::new(1));
        for packet in 0..20_000 {
            let scale = [3, 100, PAGES - 1, 3 * PAGES][random.below(4) as usize];
            let cycle = now + 1 + random.below(scale);
            calendar.push(now, cycle, packet);
            map.entry(cycle).or_default().push(packet);
            if packet % 3 == 0 {
                assert_eq!(calendar.next(), map.keys().next().copied());
                now = calendar.next().expect("one is in it");
                let mut packets = calendar.take(now);
                calendar.give_back(now, packets.clone());
                packets.sort_unstable();
                assert_eq!(Some(packets), map.remove(&now));
            }
        }
    }
}
