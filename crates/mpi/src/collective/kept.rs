// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was made last, by what it was made for: programs make the same calls again, and making a plan takes
//! longer than a short call.
#![forbid(unsafe_code)]

use std::ops::Index;

/// At most `MOST` values.
#[derive(Debug)]
pub struct Kept<K, V, const MOST: usize> {
    entries: Vec<(K, V)>,
    oldest: usize,
}

impl<K, V, const MOST: usize> Default for Kept<K, V, MOST> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            oldest: 0,
        }
    }
}

impl<K, V, const MOST: usize> Kept<K, V, MOST> {
    /// Where the value of a key is, if it is kept.
    pub fn position(&self, is_meant: impl Fn(&K) -> bool) -> Option<usize> {
        self.entries.iter().position(|(key, _)| is_meant(key))
    }

    /// Keeps one, and says where; beyond the limit the oldest goes.
    pub fn keep(&mut self, key: K, value: V) -> usize {
        if self.entries.len() < MOST {
            self.entries.push((key, value));
            return self.entries.len() - 1;
        }
        let index = self.oldest;
        self.oldest = (index + 1) % MOST;
        self.entries[index] = (key, value);
        index
    }
}

impl<K, V, const MOST: usize> Index<usize> for Kept<K, V, MOST> {
    type Output = V;

    fn index(&self, position: usize) -> &V {
        &self.entries[position].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let mut kept = Kept::<_, _, 3>::default();
        for key in 0..=3 {
            let at = kept.keep(key, 10 * key);
            assert_eq!(kept[at], 10 * key);
        }
        let found = |key: i32| kept.position(|other| *other == key).map(|at| kept[at]);
        assert_eq!(
            [0, 1, 2, 3].map(found),
            [None, Some(10), Some(20), Some(30)]
        );
    }
}
