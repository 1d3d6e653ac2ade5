// SPDX-License-Identifier: MIT OR Apache-2.0
//! A type map as the standard has it: a list of every basic element and of every marker.

/// A basic element of a type map: displacement, bytes, alignment.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub at: isize,
    pub bytes: usize,
    pub alignment: usize,
}

/// A type map.
#[derive(Clone, Default, Debug)]
pub struct Model {
    pub entries: Vec<Entry>,
    /// Upper bounds of what it was made of, markers left aside: beyond the standard.
    pub parts: Vec<isize>,
    pub lower: Vec<isize>,
    pub upper: Vec<isize>,
}

impl Model {
    pub fn named(elements: &[(isize, usize, usize)]) -> Self {
        let entry = |&(at, bytes, alignment)| Entry {
            at,
            bytes,
            alignment,
        };
        Self {
            entries: elements.iter().map(entry).collect(),
            ..Self::default()
        }
    }

    pub fn size(&self) -> usize {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    pub fn true_bounds(&self) -> (isize, isize) {
        let low = self.entries.iter().map(|entry| entry.at).min();
        let ends = self.entries.iter().map(|e| e.at + e.bytes as isize);
        (low.unwrap_or(0), ends.max().unwrap_or(0))
    }

    /// Lower bound and extent (MPI 5.0, 5.1.6 and 5.1.7).
    pub fn bounds(&self) -> (isize, isize) {
        let lower = self.lower.iter().min().copied();
        let lower = lower.unwrap_or(self.true_bounds().0);
        match self.upper.iter().max() {
            Some(upper) => (lower, upper - lower),
            None => (lower, self.rounded(lower)),
        }
    }

    /// What its elements take from there on, rounded up.
    fn rounded(&self, lower: isize) -> isize {
        if self.entries.is_empty() {
            return 0;
        }
        let high = self.parts.iter().max().copied();
        let high = high.unwrap_or(self.true_bounds().1);
        let alignment = self.entries.iter().map(|e| e.alignment).max();
        let mut extent = high - lower;
        while extent.rem_euclid(alignment.unwrap_or(1) as isize) != 0 {
            extent += 1;
        }
        extent
    }

    /// Displacements of all bytes in the order of packing.
    pub fn bytes(&self, count: usize) -> Vec<isize> {
        let extent = self.bounds().1;
        let mut bytes = Vec::new();
        for k in 0..count as isize {
            for entry in &self.entries {
                let at = entry.at + k * extent;
                bytes.extend((0..entry.bytes as isize).map(|byte| at + byte));
            }
        }
        bytes
    }

    pub fn add(&mut self, at: isize, part: &Self) {
        let moved = |&entry: &Entry| Entry {
            at: entry.at + at,
            ..entry
        };
        self.entries.extend(part.entries.iter().map(moved));
        if !part.entries.is_empty() {
            let low = part.true_bounds().0;
            self.parts.push(at + low + part.rounded(low));
        }
        self.lower.extend(part.lower.iter().map(|low| low + at));
        self.upper.extend(part.upper.iter().map(|high| high + at));
    }

    /// Copies at these displacements in bytes.
    pub fn at(&self, all: impl IntoIterator<Item = isize>) -> Self {
        let mut whole = Self::default();
        all.into_iter().for_each(|at| whole.add(at, self));
        whole
    }

    pub fn block(&self, length: isize) -> Self {
        let extent = self.bounds().1;
        self.at((0..length).map(|k| k * extent))
    }

    pub fn resized(mut self, lower: isize, extent: isize) -> Self {
        (self.lower, self.upper) = (vec![lower], vec![lower + extent]);
        self
    }
}
