// SPDX-License-Identifier: MIT OR Apache-2.0
//! What has come from other ranks and is not consumed yet.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::Rank;
use corecast_machine::Message;

/// A packet that has been read: words of payload, and the message if it is the last one of it.
pub(super) type Packet = (u64, Option<Message>);

/// What has come from one rank.
#[derive(Default)]
pub(super) struct Inbox {
    /// Packets of all messages.
    packets: VecDeque<Packet>,
    /// Readies: packets that this core may send.
    pub readies: u32,
    /// Readies still to come for packets that did not wait for theirs.
    pub spare_readies: u32,
    /// Messages of this core that the rank has received, since this core last asked.
    pub dones: u32,
}

impl Inbox {
    fn is_empty(&self) -> bool {
        let controls = [self.readies, self.spare_readies, self.dones];
        controls == [0; 3] && self.packets.is_empty()
    }

    pub fn has_packet(&self) -> bool {
        !self.packets.is_empty()
    }

    pub fn put(&mut self, packet: Packet) {
        if self.packets.capacity() == 0 {
            self.packets.reserve_exact(1); // all that most of a million ranks need
        }
        self.packets.push_back(packet);
    }

    pub fn take(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }
}

/// What has come from every rank: from one, which is all there is nearly always, and from others.
pub(super) struct Inboxes {
    near: (Rank, Inbox),
    /// Those of which something is left; the near one is not among them.
    far: BTreeMap<Rank, Inbox>,
}

impl Inboxes {
    /// Empty ones, to begin with that of `rank`.
    pub fn new(rank: Rank) -> Self {
        Self {
            near: (rank, Inbox::default()),
            far: BTreeMap::new(),
        }
    }

    pub fn of(&self, peer: Rank) -> Option<&Inbox> {
        match self.near.0 == peer {
            true => Some(&self.near.1),
            false => self.far.get(&peer),
        }
    }

    pub fn of_mut(&mut self, peer: Rank) -> &mut Inbox {
        if self.near.0 != peer {
            if !self.near.1.is_empty() || self.far.contains_key(&peer) {
                return self.far.entry(peer).or_default();
            }
            self.near.0 = peer;
        }
        &mut self.near.1
    }

    /// Forgets a rank of which nothing is left: a root hears from many, one after the other.
    pub fn tidy(&mut self, peer: Rank) {
        if self.of(peer).is_some_and(Inbox::is_empty) {
            self.far.remove(&peer);
        }
    }

    /// A rank that has not sent all readies that nobody waits for.
    pub fn owing(&self) -> Option<Rank> {
        let near = std::iter::once((&self.near.0, &self.near.1));
        let mut all = near.chain(&self.far);
        let (peer, _) = all.find(|(_, inbox)| inbox.spare_readies > 0)?;
        Some(*peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Rank = Rank(0);

    /// Each of the four things that a rank can leave, put and taken again.
    type Change = fn(&mut Inbox);
    const PUT_AND_TAKE: [[Change; 2]; 4] = [
        [|inbox| inbox.readies += 1, |inbox| inbox.readies -= 1],
        [
            |inbox| inbox.spare_readies += 1,
            |inbox| inbox.spare_readies -= 1,
        ],
        [|inbox| inbox.dones += 1, |inbox| inbox.dones -= 1],
        [
            |inbox| inbox.put((3, None)),
            |inbox| {
                assert_eq!(inbox.take(), Some((3, None)));
            },
        ],
    ];

    /// Of ranks that are heard one after the other none takes memory of its own.
    #[test]
    fn one_rank_after_the_other_needs_one_place() {
        for [put, take] in PUT_AND_TAKE {
            let mut inboxes = Inboxes::new(ME);
            for peer in (1..9).map(Rank) {
                put(inboxes.of_mut(peer));
                assert!(inboxes.far.is_empty());
                take(inboxes.of_mut(peer));
                inboxes.tidy(peer);
            }
        }
    }

    /// What several have left is kept apart, and nothing of it stays when it is gone.
    #[test]
    fn several_ranks_are_kept_apart() {
        for [put, take] in PUT_AND_TAKE {
            let mut inboxes = Inboxes::new(ME);
            let peers = [5, 0, 7].map(Rank);
            for peer in peers {
                put(inboxes.of_mut(peer));
            }
            assert_eq!(inboxes.far.len(), 2);
            for peer in peers {
                assert!(inboxes.of(peer).is_some_and(|inbox| !inbox.is_empty()));
                inboxes.tidy(peer);
                assert!(inboxes.of(peer).is_some_and(|inbox| !inbox.is_empty()));
                take(inboxes.of_mut(peer));
                inboxes.tidy(peer);
            }
            assert!(inboxes.far.is_empty());
            assert!(inboxes.of(Rank(7)).is_none_or(Inbox::is_empty));
        }
    }

    #[test]
    fn whoever_owes_a_ready_is_found() {
        let mut inboxes = Inboxes::new(ME);
        assert_eq!(inboxes.owing(), None);
        inboxes.of_mut(Rank(3)).readies = 1;
        inboxes.of_mut(Rank(4)).spare_readies = 1;
        assert_eq!(inboxes.owing(), Some(Rank(4)));
        inboxes.of_mut(Rank(3)).spare_readies = 1;
        assert_eq!(inboxes.owing(), Some(Rank(3)));
    }
}
