// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receives or messages in the order in which they came, of which the earliest that matches is taken.
//!
//! A rank has few of them as a rule, and looks at one after the other. Where it has many, say because it
//! begins all receives of a program at once, they stand in a queue per sender and tag besides.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::Rank;

use crate::ascending::Ascending;
use crate::endpoint::{Envelope, Source, Tag, TagFilter};

/// Up to so many are looked at one after the other.
const FEW: usize = 64;

/// Which messages a receive takes: of this sender and with this tag, or any.
type Filter = (Option<Rank>, Option<Tag>);

/// What stands in a line.
pub(crate) trait Matches {
    /// What it is found by, and finds others by.
    type Filters: IntoIterator<Item = Filter>;

    /// One for a receive, and for a message those of all receives that take it: a receive and a message
    /// match if they have one in common.
    fn filters(&self) -> Self::Filters;
}

impl Matches for (Source, TagFilter) {
    type Filters = [Filter; 1];

    fn filters(&self) -> [Filter; 1] {
        let from = match self.0 {
            Source::Any => None,
            Source::From(rank) => Some(rank),
        };
        let tag = match self.1 {
            TagFilter::Any => None,
            TagFilter::Is(tag) => Some(tag),
        };
        [(from, tag)]
    }
}

impl Matches for Envelope {
    type Filters = [Filter; 4];

    fn filters(&self) -> [Filter; 4] {
        let (from, tag) = (Some(self.from), Some(self.tag));
        [(from, tag), (from, None), (None, tag), (None, None)]
    }
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Line<M, T> {
    row: Ascending<u64, (M, T)>,
    next: u64,
    /// The same by what they are found by, while there are many. The front of a queue is in the row;
    /// what was taken out of a queue's middle stands there until it is the front.
    many: Option<BTreeMap<Filter, VecDeque<u64>>>,
}

impl<M, T> Default for Line<M, T> {
    fn default() -> Self {
        Self {
            row: Ascending::default(),
            next: 0,
            many: None,
        }
    }
}

impl<M: Matches, T> Line<M, T> {
    /// Puts one at the end.
    pub(crate) fn push(&mut self, matches: M, value: T) {
        if let Some(many) = &mut self.many {
            enter(many, &matches, self.next);
        }
        self.row.insert(self.next, (matches, value));
        self.next += 1;
        if self.many.is_none() && self.row.len() > FEW {
            let mut many = BTreeMap::new();
            for (&number, (matches, _)) in self.row.iter() {
                enter(&mut many, matches, number);
            }
            self.many = Some(many);
        }
    }

    /// The number of the earliest one that `other` matches; `is_match` says the same of one of them.
    fn find(&self, other: &impl Matches, is_match: impl Fn(&M) -> bool) -> Option<u64> {
        let Some(many) = &self.many else {
            let mut row = self.row.iter();
            let found = row.find(|(_, (matches, _))| is_match(matches));
            return found.map(|(&number, _)| number);
        };
        let filters = other.filters().into_iter();
        let first = |filter| many.get(&filter)?.front().copied();
        filters.filter_map(first).min()
    }

    fn remove(&mut self, number: u64) -> Option<(M, T)> {
        let (matches, value) = self.row.remove(&number)?;
        if self.row.is_empty() {
            self.many = None;
        }
        if let Some(many) = &mut self.many {
            for filter in matches.filters() {
                let Some(queue) = many.get_mut(&filter) else {
                    continue;
                };
                while queue
                    .front()
                    .is_some_and(|front| self.row.get(front).is_none())
                {
                    queue.pop_front();
                }
                if queue.is_empty() {
                    many.remove(&filter);
                }
            }
        }
        Some((matches, value))
    }

    /// The earliest one.
    pub(crate) fn first(&self) -> Option<&M> {
        let (_, (matches, _)) = self.row.first()?;
        Some(matches)
    }
}

impl<T> Line<(Source, TagFilter), T> {
    /// Takes the earliest receive for a message.
    pub(crate) fn take_for(&mut self, envelope: &Envelope) -> Option<T> {
        let found = self.find(envelope, |&(from, tag)| envelope.matches(from, tag));
        let (_, value) = self.remove(found?)?;
        Some(value)
    }
}

impl<T> Line<Envelope, T> {
    fn earliest(&self, from: Source, tag: TagFilter) -> Option<u64> {
        self.find(&(from, tag), |envelope| envelope.matches(from, tag))
    }

    /// The earliest message for a receive.
    pub(crate) fn probe(&self, from: Source, tag: TagFilter) -> Option<Envelope> {
        let (envelope, _) = self.row.get(&self.earliest(from, tag)?)?;
        Some(*envelope)
    }

    /// Takes the earliest message for a receive.
    pub(crate) fn take_by(&mut self, from: Source, tag: TagFilter) -> Option<(Envelope, T)> {
        self.remove(self.earliest(from, tag)?)
    }
}

fn enter(many: &mut BTreeMap<Filter, VecDeque<u64>>, matches: &impl Matches, number: u64) {
    for filter in matches.filters() {
        many.entry(filter).or_default().push_back(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::random::SplitMix64;

    fn receive(mut below: impl FnMut(u64) -> u64) -> (Source, TagFilter) {
        let from = match below(8) {
            7 => Source::Any,
            _ => Source::From(Rank(below(5) as u32)),
        };
        let tag = match below(8) {
            7 => TagFilter::Any,
            _ => TagFilter::Is(below(40) as Tag),
        };
        (from, tag)
    }

    fn message(mut below: impl FnMut(u64) -> u64) -> Envelope {
        Envelope {
            from: Rank(below(5) as u32),
            tag: below(40) as Tag,
            bytes: below(9),
        }
    }

    /// The earliest that is one, of a plain list.
    fn taken<M: Copy>(list: &mut Vec<(M, u64)>, is_one: impl Fn(&M) -> bool) -> Option<(M, u64)> {
        let index = list.iter().position(|(one, _)| is_one(one))?;
        Some(list.remove(index))
    }

    #[test]
    fn the_earliest_that_matches_is_taken_of_few_and_of_many() {
        let mut most = 0;
        for seed in 0..20 {
            let mut mix = SplitMix64::new(seed);
            let mut below = |end: u64| mix.next() % end;
            let (mut receives, mut messages) = (Line::default(), Line::default());
            let (mut plain_receives, mut plain_messages) = (Vec::new(), Vec::new());
            for number in 0..1500 {
                // First more come than go, and then the other way round.
                let comes = if number < 700 { 3 } else { 1 };
                if below(4) < comes {
                    let (matches, envelope) = (receive(&mut below), message(&mut below));
                    receives.push(matches, number);
                    plain_receives.push((matches, number));
                    messages.push(envelope, number);
                    plain_messages.push((envelope, number));
                } else {
                    let envelope = message(&mut below);
                    let expected = taken(&mut plain_receives, |&(from, tag)| {
                        envelope.matches(from, tag)
                    });
                    let expected = expected.map(|(_, number)| number);
                    assert_eq!(receives.take_for(&envelope), expected, "seed {seed}");
                    let (from, tag) = receive(&mut below);
                    let probed = messages.probe(from, tag);
                    let expected =
                        taken(&mut plain_messages, |one: &Envelope| one.matches(from, tag));
                    assert_eq!(
                        probed,
                        expected.map(|(envelope, _)| envelope),
                        "seed {seed}"
                    );
                    assert_eq!(messages.take_by(from, tag), expected, "seed {seed}");
                }
                let first = plain_messages.first().map(|(envelope, _)| envelope);
                assert_eq!(messages.first(), first, "seed {seed}");
                most = most.max(messages.row.len());
            }
        }
        assert!(most > FEW, "{most}");
    }
}
