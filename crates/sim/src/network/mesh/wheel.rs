// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel: who has to act in which of the next cycles.

/// Bits of a word.
const BITS: u64 = 64;

/// Buckets of one cycle each; a delay is less than their number.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    buckets: Vec<Vec<u32>>,
    /// A bit for every bucket with somebody in it.
    occupied: Vec<u64>,
    mask: u64,
    /// The first cycle in which somebody acts; `u64::MAX` if nobody does. It is asked for more often than it
    /// changes.
    first: u64,
}

impl Wheel {
    /// A wheel for delays of at most `delay_max` cycles.
    pub(super) fn new(delay_max: u32) -> Self {
        let words = (u64::from(delay_max) + 1)
            .div_ceil(BITS)
            .next_power_of_two();
        Self {
            buckets: vec![Vec::new(); (words * BITS) as usize],
            occupied: vec![0; words as usize],
            mask: words * BITS - 1,
            first: u64::MAX,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, cycle: u64, agent: u32) {
        self.first = self.first.min(cycle);
        let bucket = cycle & self.mask;
        self.buckets[bucket as usize].push(agent);
        self.occupied[(bucket / BITS) as usize] |= 1 << (bucket % BITS);
    }

    /// Takes the agents of `cycle`, before which nobody acts, leaving an empty list whose memory is `spare`'s.
    pub(super) fn take(&mut self, cycle: u64, spare: Vec<u32>) -> Vec<u32> {
        debug_assert!(spare.is_empty());
        let bucket = cycle & self.mask;
        let (bits, bit) = (
            &mut self.occupied[(bucket / BITS) as usize],
            1 << (bucket % BITS),
        );
        if *bits & bit == 0 {
            return spare;
        }
        *bits &= !bit;
        self.first = self.find(cycle + 1).unwrap_or(u64::MAX);
        std::mem::replace(&mut self.buckets[bucket as usize], spare)
    }

    /// The first cycle in which somebody acts.
    #[inline]
    pub(super) fn next(&self) -> Option<u64> {
        (self.first < u64::MAX).then_some(self.first)
    }

    /// The same, of those from `from` on.
    fn find(&self, from: u64) -> Option<u64> {
        let bucket = from & self.mask;
        let (word, bit) = (bucket / BITS, bucket % BITS);
        let first = self.occupied[word as usize] >> bit;
        if first != 0 {
            return Some(from + u64::from(first.trailing_zeros()));
        }
        // Around to the word in which the search began: of that the bits before `bit` are the last.
        let words = self.occupied.len() as u64; // a power of two
        let mut ahead = BITS - bit;
        for further in 1..=words {
            let bits = self.occupied[((word + further) & (words - 1)) as usize];
            if bits != 0 {
                return Some(from + ahead + u64::from(bits.trailing_zeros()));
            }
            ahead += BITS;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_cycle_is_found_wherever_the_wheel_stands() {
        for delay_max in [1, 7, 63, 64, 200] {
            for from in 0..300 {
                let mut wheel = Wheel::new(delay_max);
                let (soon, last) = (from + u64::from(delay_max) / 2, from + u64::from(delay_max));
                assert_eq!(wheel.next(), None);
                wheel.push(last, 1);
                assert_eq!(wheel.next(), Some(last));
                wheel.push(soon, 2);
                wheel.push(soon, 3);
                assert_eq!(wheel.next(), Some(soon));
                assert_eq!(wheel.take(soon, Vec::new()), [2, 3]);
                assert_eq!(wheel.next(), Some(last));
                assert_eq!(wheel.take(last, Vec::new()), [1]);
                assert_eq!(wheel.next(), None);
            }
        }
    }
}
