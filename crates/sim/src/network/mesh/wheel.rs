// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel: who has to act in which of the next cycles.

/// Buckets of one cycle each; a delay is less than their number.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    buckets: Vec<Vec<u32>>,
    mask: u64,
    pending: u64,
}

impl Wheel {
    /// A wheel for delays of at most `delay_max` cycles.
    pub(super) fn new(delay_max: u32) -> Self {
        let len = u64::from(delay_max + 1).next_power_of_two();
        Self {
            buckets: vec![Vec::new(); len as usize],
            mask: len - 1,
            pending: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, cycle: u64, agent: u32) {
        self.buckets[(cycle & self.mask) as usize].push(agent);
        self.pending += 1;
    }

    /// Takes the agents of `cycle`, leaving an empty list whose memory is `spare`'s.
    pub(super) fn take(&mut self, cycle: u64, spare: Vec<u32>) -> Vec<u32> {
        debug_assert!(spare.is_empty());
        let agents = std::mem::replace(&mut self.buckets[(cycle & self.mask) as usize], spare);
        self.pending -= agents.len() as u64;
        agents
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The first cycle from `from` on in which somebody acts.
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        (from..=from + self.mask)
            .find(|cycle| !self.buckets[(cycle & self.mask) as usize].is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_cycle_is_found_wherever_the_wheel_stands() {
        for from in [0, 1, 2, 7, 8, 100] {
            let mut wheel = Wheel::new(7);
            assert_eq!(wheel.next(from), None);
            wheel.push(from + 7, 1);
            wheel.push(from + 3, 2);
            wheel.push(from + 3, 3);
            assert_eq!(wheel.next(from), Some(from + 3));
            assert_eq!(wheel.take(from + 3, Vec::new()), [2, 3]);
            assert_eq!(wheel.next(from + 4), Some(from + 7));
            assert_eq!(wheel.take(from + 7, Vec::new()), [1]);
            assert!(wheel.is_empty());
        }
    }
}
