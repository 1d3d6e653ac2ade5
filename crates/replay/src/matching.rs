// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matching by the rank itself, where it listens for every message: by the rules of the machine's own, and
//! by groups.

use std::collections::VecDeque;

use corecast_core::Rank;
use corecast_machine::{Source, Tag};

/// What a message is for: a call, or one of a collective's messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Owner {
    /// Index of the call.
    pub call: u32,
    /// Number of the message in the collective.
    pub post: u32,
}

/// Which tags a receive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// This one.
    Is(Tag),
    /// Those of a group.
    OfGroup(u32),
}

/// A message that has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ended {
    pub owner: Owner,
    /// Its length, if it was received.
    pub bytes: Option<u64>,
}

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Come {
    pub from: Rank,
    pub tag: Tag,
    pub bytes: u64,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Matching<'a> {
    /// Group of every tag of the program's own messages.
    groups: &'a [u32],
    /// Receives that nothing has come for, and what nobody has asked for.
    wanted: VecDeque<(Source, Wish, Owner)>,
    unexpected: VecDeque<Come>,
}

impl<'a> Matching<'a> {
    /// Nothing has come, and nothing is asked for.
    pub(crate) fn new(groups: &'a [u32]) -> Self {
        Self {
            groups,
            wanted: VecDeque::new(),
            unexpected: VecDeque::new(),
        }
    }

    /// Asks for a message: the end of the receive, if it has come.
    pub(crate) fn want(&mut self, (from, wish): (Source, Wish), owner: Owner) -> Option<Ended> {
        let groups = self.groups;
        let mut unexpected = self.unexpected.iter();
        let found = unexpected.position(|come| takes(groups, (from, wish), come));
        let Some(come) = found.and_then(|index| self.unexpected.remove(index)) else {
            self.wanted.push_back((from, wish, owner));
            return None;
        };
        let bytes = Some(come.bytes);
        Some(Ended { owner, bytes })
    }

    /// The earliest receive takes a message that has come: its end.
    pub(crate) fn take(&mut self, come: Come) -> Option<Ended> {
        let groups = self.groups;
        let mut wanted = self.wanted.iter();
        let found = wanted.position(|&(from, wish, _)| takes(groups, (from, wish), &come));
        let Some((.., owner)) = found.and_then(|index| self.wanted.remove(index)) else {
            self.unexpected.push_back(come);
            return None;
        };
        let bytes = Some(come.bytes);
        Some(Ended { owner, bytes })
    }

    /// The earliest receive that nothing has come for.
    pub(crate) fn first(&self) -> Option<(Source, Wish, Owner)> {
        self.wanted.front().copied()
    }

    /// How many of them there are.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted.len()
    }
}

/// Whether a receive takes a message.
fn takes(groups: &[u32], (from, wish): (Source, Wish), come: &Come) -> bool {
    let is_from = match from {
        Source::Any => true,
        Source::From(rank) => rank == come.from,
    };
    is_from
        && match wish {
            Wish::Is(tag) => tag == come.tag,
            Wish::OfGroup(group) => groups.get(come.tag as usize) == Some(&group),
        }
}
