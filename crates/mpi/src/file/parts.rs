// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pieces of an access in the order of their places, as ranks tell each other of them.
//!
//! What a rank reads or writes of a part of the file is then one part of its packed bytes, so that such
//! parts are exchanged as they are.
//!
//! ```
//! use corecast_mpi::file::Parts;
//! let own = Parts::new(vec![(100, 8), (200, 8)]);
//! assert_eq!((own.before(100), own.before(204)), (0, 12));
//! let told = own.told(&(0..204));
//! let theirs = Parts::heard(&told);
//! assert_eq!(theirs.within(&(104..300)).collect::<Vec<_>>(), [(104, 4), (200, 4)]);
//! ```
#![forbid(unsafe_code)]

use std::ops::Range;

/// Whether places only go up, and no byte is there twice.
#[must_use]
pub fn is_rising(pieces: &[(u64, usize)]) -> bool {
    pieces.is_sorted_by(|&(at, bytes), &(next, _)| at + bytes as u64 <= next)
}

/// Pieces whose places only go up.
#[derive(Clone, Default, Debug)]
pub struct Parts {
    pieces: Vec<(u64, usize)>,
    /// The packed bytes before each piece.
    before: Vec<usize>,
}

/// Pieces of one length at equal distances, which those of a view mostly are: where the first is, its
/// bytes, the distance, how many there are.
type Row = [u64; 4];

impl Parts {
    /// Those of an access, which [`is_rising`].
    #[must_use]
    pub fn new(pieces: Vec<(u64, usize)>) -> Self {
        let before = pieces.iter().scan(0, |bytes, &(_, many)| {
            *bytes += many;
            Some(*bytes - many)
        });
        let before = before.collect();
        Self { pieces, before }
    }

    /// Packed bytes that lie before a place of the file.
    #[must_use]
    pub fn before(&self, place: u64) -> usize {
        let next = self.pieces.partition_point(|&(at, _)| at < place);
        let Some(last) = next.checked_sub(1) else {
            return 0;
        };
        let (at, many) = self.pieces[last];
        let within = usize::try_from(place - at).unwrap_or(usize::MAX);
        self.before[last] + within.min(many)
    }

    /// Which of the packed bytes lie in a part of the file.
    #[must_use]
    pub fn packed(&self, part: &Range<u64>) -> Range<usize> {
        self.before(part.start)..self.before(part.end)
    }

    /// The pieces in a part of the file, cut at its ends.
    pub fn within(&self, part: &Range<u64>) -> impl Iterator<Item = (u64, usize)> {
        let (start, end) = (part.start, part.end);
        let reaches = |&(at, many): &(u64, usize)| at + many as u64 <= start;
        let first = self.pieces.partition_point(reaches);
        let pieces = self.pieces[first..].iter();
        let pieces = pieces.take_while(move |&&(at, _)| at < end);
        pieces.map(move |&(at, many)| {
            let (from, to) = (at.max(start), (at + many as u64).min(end));
            (from, (to - from) as usize)
        })
    }

    /// From the first to behind the last byte that is in a part of the file.
    #[must_use]
    pub fn ends(&self, part: &Range<u64>) -> Option<Range<u64>> {
        let first = self.within(part).next()?.0;
        let behind = self.pieces.partition_point(|&(at, _)| at < part.end);
        let (at, many) = *self.pieces.get(behind.checked_sub(1)?)?;
        Some(first..(at + many as u64).min(part.end))
    }

    /// The pieces in a part of the file, as bytes for another rank.
    #[must_use]
    pub fn told(&self, part: &Range<u64>) -> Vec<u8> {
        let mut rows: Vec<Row> = Vec::new();
        for (at, many) in self.within(part) {
            let bytes = many as u64;
            match rows.last_mut() {
                Some(row) if row[1] == bytes && row[3] == 1 => {
                    row[2] = at - row[0];
                    row[3] = 2;
                }
                Some(row) if row[1] == bytes && row[0] + row[2] * row[3] == at => row[3] += 1,
                _ => rows.push([at, bytes, 0, 1]),
            }
        }
        let words = rows.as_flattened().iter();
        words.flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// What another rank has told.
    #[must_use]
    pub fn heard(told: &[u8]) -> Self {
        let (words, _) = told.as_chunks::<8>();
        let (rows, _) = words.as_chunks::<4>();
        let pieces = rows.iter().flat_map(|row| {
            let [at, bytes, step, count] = row.map(u64::from_ne_bytes);
            (0..count).map(move |index| (at + index * step, bytes as usize))
        });
        Self::new(pieces.collect())
    }
}

/// Parts of the file that hold these pieces of several ranks and nothing else, or gaps of up to `gap` bytes.
#[must_use]
pub fn runs(pieces: impl Iterator<Item = (u64, usize)>, gap: u64) -> Vec<Range<u64>> {
    let mut pieces: Vec<(u64, usize)> = pieces.collect();
    // Those of a rank are sorted already, which a stable sort makes use of.
    pieces.sort();
    let mut runs: Vec<Range<u64>> = Vec::new();
    for (at, many) in pieces {
        let end = at + many as u64;
        match runs.last_mut() {
            Some(run) if at <= run.end.saturating_add(gap) => run.end = run.end.max(end),
            _ => runs.push(at..end),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard() {
        let lists: [&[(u64, usize)]; 5] = [
            &[],
            &[(7, 3)],
            &[(0, 4), (8, 4), (16, 4), (24, 4)],
            &[(0, 4), (8, 4), (17, 4), (26, 4), (30, 5), (40, 4)],
            &[(5, 1), (6, 1), (7, 1), (9, 1)],
        ];
        for pieces in lists {
            let parts = Parts::new(pieces.to_vec());
            for part in [0..100, 1..25, 9..18, 26..27, 50..60] {
                let inside: Vec<_> = parts.within(&part).collect();
                let bytes: usize = inside.iter().map(|&(_, many)| many).sum();
                assert_eq!(parts.packed(&part).len(), bytes, "{pieces:?} {part:?}");
                let ends = inside.first().zip(inside.last());
                let ends = ends.map(|(&(first, _), &(at, many))| first..at + many as u64);
                assert_eq!(parts.ends(&part), ends, "{pieces:?} {part:?}");
                let heard = Parts::heard(&parts.told(&part));
                assert_eq!(heard.pieces, inside, "{pieces:?} {part:?}");
            }
        }
        // A view of a vector takes one row.
        let vector = (0..1000).map(|index| (64 * index, 8)).collect();
        assert_eq!(Parts::new(vector).told(&(0..u64::MAX)).len(), 32);
    }

    #[test]
    fn places_rise_or_do_not() {
        assert!(is_rising(&[]) && is_rising(&[(0, 4), (4, 4), (9, 1)]));
        assert!(!is_rising(&[(0, 4), (3, 4)]) && !is_rising(&[(9, 1), (0, 1)]));
    }

    #[test]
    fn runs_join_what_touches() {
        let pieces = [(0, 4), (8, 4), (4, 2), (10, 9), (30, 1)];
        assert_eq!(runs(pieces.into_iter(), 0), [0..6, 8..19, 30..31]);
        assert_eq!(runs(pieces.into_iter(), 2), [0..19, 30..31]);
        assert_eq!(runs([].into_iter(), 2), []);
    }
}
