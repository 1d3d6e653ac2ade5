// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact counts of latencies in cycles.

use std::collections::BTreeMap;

/// Latencies below this are counted in an array, the others in a map.
const DENSE: u64 = 1 << 14;

/// How often each value occurred; nothing is rounded.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Histogram {
    dense: Vec<u64>,
    sparse: BTreeMap<u64, u64>,
    count: u64,
    sum: u64,
}

impl Histogram {
    /// Counts a value.
    pub fn enter(&mut self, value: u64) {
        self.count += 1;
        self.sum += value;
        if value < DENSE {
            let index = value as usize;
            if self.dense.len() <= index {
                self.dense.resize(index + 1, 0);
            }
            self.dense[index] += 1;
        } else {
            *self.sparse.entry(value).or_default() += 1;
        }
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    fn ascending(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        let dense = self
            .dense
            .iter()
            .enumerate()
            .map(|(value, &count)| (value as u64, count));
        let sparse = self.sparse.iter().map(|(&value, &count)| (value, count));
        dense.chain(sparse).filter(|&(_, count)| count > 0)
    }

    /// The largest value; 0 if there is none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.ascending().next_back().map_or(0, |(value, _)| value)
    }

    /// The smallest value that at least `share` (0 to 1) of all values do not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (value, count) in self.ascending() {
            seen += count;
            if seen >= wanted {
                return value;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let mut histogram = Histogram::default();
        for value in 1..=100 {
            histogram.enter(value * 1000);
        }
        assert_eq!(histogram.quantile(0.5), 50_000);
        assert_eq!(histogram.quantile(0.99), 99_000);
        assert_eq!(
            (histogram.quantile(0.0), histogram.quantile(1.0)),
            (1000, 100_000)
        );
        assert_eq!((histogram.max(), histogram.sum()), (100_000, 5_050_000));
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }
}
