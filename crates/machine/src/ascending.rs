// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map for numbers that are given out in turn: what is under way of all that was ever begun.
//!
//! Nearly every key is greater than those before, and most are gone soon after. A tree makes and drops a
//! node for each; here they stand in one row, in which those that are gone leave gaps until there are
//! more gaps than keys.
//!
//! ```
//! use corecast_machine::Ascending;
//! let mut open = Ascending::default();
//! open.insert(3, "send");
//! open.insert(5, "receive");
//! assert_eq!(open.remove(&3), Some("send"));
//! assert_eq!(open.first(), Some((&5, &"receive")));
//! ```

use std::cmp::Ordering;
use std::collections::VecDeque;

/// Gaps that are left alone however few keys there are.
const GAPS_MIN: usize = 32;

/// Places that are looked at one by one.
const NEAR: usize = 4;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Ascending<K, T> {
    /// In order of the keys; those that are gone have no value, and are neither first nor last.
    row: VecDeque<(K, Option<T>)>,
    len: usize,
}

impl<K, T> Default for Ascending<K, T> {
    fn default() -> Self {
        Self {
            row: VecDeque::new(),
            len: 0,
        }
    }
}

impl<K: Ord, T> Ascending<K, T> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where a key stands, or would: the oldest or among the latest as a rule, which are found without a
    /// look at all that lies between them.
    fn find(&self, key: &K) -> Result<usize, usize> {
        match self.row.front() {
            None => return Err(0),
            Some((first, _)) if key <= first => {
                return if key == first { Ok(0) } else { Err(0) };
            }
            _ => {}
        }
        let (mut high, mut step) = (self.row.len(), 1);
        while high > step && self.row[high - step].0 > *key {
            high -= step;
            step *= 2;
        }
        let mut low = high.saturating_sub(step);
        while low < high {
            let middle = low.midpoint(high);
            match self.row[middle].0.cmp(key) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Adds a key, which takes long only if there are greater ones.
    ///
    /// # Panics
    /// If it is there already.
    pub fn insert(&mut self, key: K, value: T) {
        self.len += 1;
        if self.row.back().is_none_or(|(last, _)| *last < key) {
            return self.row.push_back((key, Some(value)));
        }
        match self.find(&key) {
            Ok(index) => {
                let before = self.row[index].1.replace(value);
                assert!(before.is_none(), "a number is given out once");
            }
            Err(index) => self.row.insert(index, (key, Some(value))),
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&T> {
        self.row[self.find(key).ok()?].1.as_ref()
    }

    /// Where a key stands that is likely to stand at `near` or soon behind it: so does the next one for who
    /// goes through many in their order.
    #[must_use]
    pub fn place(&self, key: &K, near: usize) -> Option<usize> {
        let some = near..self.row.len().min(near + NEAR);
        let index = match some.is_empty() {
            true => None,
            false => self.row.range(some).position(|(at, _)| at == key),
        };
        let index = match index {
            Some(behind) => near + behind,
            None => self.find(key).ok()?,
        };
        self.row[index].1.is_some().then_some(index)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut T> {
        let index = self.find(key).ok()?;
        self.row[index].1.as_mut()
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &K) -> Option<T> {
        let index = self.find(key).ok()?;
        let value = self.row[index].1.take()?;
        self.len -= 1;
        while self.row.front().is_some_and(|(_, value)| value.is_none()) {
            self.row.pop_front();
        }
        while self.row.back().is_some_and(|(_, value)| value.is_none()) {
            self.row.pop_back();
        }
        if self.row.len() > 2 * self.len + GAPS_MIN {
            self.row.retain(|(_, value)| value.is_some());
        }
        Some(value)
    }

    /// The least key and its value.
    #[must_use]
    pub fn first(&self) -> Option<(&K, &T)> {
        self.iter().next()
    }

    /// All, in order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &T)> {
        let row = self.row.iter();
        row.filter_map(|(key, value)| Some((key, value.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::random::SplitMix64;
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    #[test]
    fn it_is_a_map() {
        for seed in 0..50 {
            let mut mix = SplitMix64::new(seed);
            let mut below = |end: u64| mix.next() % end;
            let (mut row, mut map) = (Ascending::default(), BTreeMap::new());
            for number in 0..400_u64 {
                // Some keys come late, and in some runs more are taken than in others.
                let key = 3 * number - below(3) * below(number + 1);
                if let Entry::Vacant(place) = map.entry(key) {
                    place.insert(number);
                    row.insert(key, number);
                }
                for _ in 0..below(seed % 3 + 2) {
                    let any = below(3 * number + 3);
                    let known = map.range(any..).next().map_or(any, |(&key, _)| key);
                    assert_eq!(row.get(&known), map.get(&known), "seed {seed}");
                    for near in [0, below(row.row.len() as u64 + 2) as usize] {
                        let place = row.place(&any, near);
                        let value = place.and_then(|place| row.row[place].1.as_ref());
                        assert_eq!(value, map.get(&any), "seed {seed}");
                    }
                    assert_eq!(row.get_mut(&any), map.get_mut(&any), "seed {seed}");
                    assert_eq!(row.remove(&known), map.remove(&known), "seed {seed}");
                    assert_eq!(row.remove(&known), None, "seed {seed}");
                }
                assert!(row.iter().eq(&map), "seed {seed}");
                assert_eq!(row.first(), map.first_key_value(), "seed {seed}");
                assert_eq!((row.len(), row.is_empty()), (map.len(), map.is_empty()));
                assert!(row.row.len() <= 2 * row.len() + GAPS_MIN, "seed {seed}");
            }
        }
    }
}
