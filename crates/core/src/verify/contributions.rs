// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which ranks' contributions a partial result holds.

use std::rc::Rc;

/// A set of ranks as sorted, disjoint, non-adjacent half-open runs `[start, end)`.
///
/// Trees and rings combine neighbours, so a partial result is nearly always one or two runs, even
/// with a million ranks; and most are one, which takes no memory of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Contributions {
    One(Interval),
    Several(Rc<[Interval]>),
}

type Interval = (u32, u32);

impl Contributions {
    /// The set of one rank.
    pub(super) fn of(rank: u32) -> Self {
        Self::One((rank, rank + 1))
    }

    fn runs(&self) -> &[Interval] {
        match self {
            Self::One(run) => std::slice::from_ref(run),
            Self::Several(runs) => runs,
        }
    }

    /// The union, and the first rank that both sets contain.
    pub(super) fn union(&self, other: &Self) -> (Self, Option<u32>) {
        if let (&Self::One(a), &Self::One(b)) = (self, other)
            && (a.1 == b.0 || b.1 == a.0)
        {
            return (Self::One((a.0.min(b.0), a.1.max(b.1))), None);
        }
        let (mut a, mut b) = (self.runs(), other.runs());
        let mut runs: Vec<Interval> = Vec::with_capacity(a.len() + b.len());
        let mut shared: Option<u32> = None;
        loop {
            let take = if b.is_empty() || (!a.is_empty() && a[0].0 <= b[0].0) {
                &mut a
            } else {
                &mut b
            };
            let Some((&(start, end), rest)) = take.split_first() else {
                break;
            };
            *take = rest;
            match runs.last_mut() {
                Some(last) if start <= last.1 => {
                    if start < last.1 {
                        shared = Some(shared.map_or(start, |s| s.min(start)));
                    }
                    last.1 = last.1.max(end);
                }
                _ => runs.push((start, end)),
            }
        }
        let union = match runs[..] {
            [run] => Self::One(run),
            _ => Self::Several(runs.into()),
        };
        (union, shared)
    }

    /// The first rank below `ranks` that is not in the set.
    pub(super) fn first_missing(&self, ranks: u32) -> Option<u32> {
        match self.runs().first() {
            Some(&(0, end)) => (end < ranks).then_some(end),
            _ => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranks: &[u32]) -> Contributions {
        let sets = ranks.iter().map(|&rank| Contributions::of(rank));
        sets.reduce(|a, b| a.union(&b).0)
            .expect("at least one rank")
    }

    #[test]
    fn runs_join_when_they_touch() {
        assert_eq!(set(&[3, 1, 2]), set(&[1, 2, 3]));
        assert_eq!(set(&[0, 1, 2]).runs().len(), 1);
        assert_eq!(set(&[0, 2]).runs().len(), 2);
    }

    #[test]
    fn shared_members_are_named() {
        assert_eq!(set(&[0, 1, 5]).union(&set(&[2, 5, 6])).1, Some(5));
        assert_eq!(set(&[0, 1]).union(&set(&[2, 3])).1, None);
        assert_eq!(set(&[1, 2, 3, 4]).union(&set(&[3])).1, Some(3));
    }

    #[test]
    fn the_first_gap_is_named() {
        assert_eq!(set(&[0, 1, 3]).first_missing(4), Some(2));
        assert_eq!(set(&[0, 1, 2, 3]).first_missing(4), None);
        assert_eq!(set(&[1]).first_missing(2), Some(0));
        assert_eq!(set(&[0]).first_missing(2), Some(1));
    }
}
