// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose time went where because another message used a link.
//!
//! The mesh tells which head flit waited where, when and for whom. A core that waits for the first
//! word of a packet has lost the time in which its head waited. A core that writes a packet has
//! lost what the writing took longer than alone, and that is put where the head waited first.

use corecast_core::Rank;
use corecast_machine::{Cause, LinkHold, Time};
use corecast_sim::network::mesh::{LinkWait, Packet};

use super::net::{NOBODY, Net};

impl Net {
    /// Accounts for the time that packet `tag` was held up while `rank`, its reader, waited for
    /// `peer`.
    pub(super) fn account_arrival(&self, rank: Rank, peer: Rank, tag: u64) {
        self.hear_waits();
        let before = Cause::WaitPeer(peer);
        // They stay until the packet has been read: it may still be written.
        for wait in self.waits.borrow().get(&tag).into_iter().flatten() {
            let times = [self.time(wait.from), self.time(wait.until)];
            self.account(rank, times, before, wait);
        }
    }

    /// Accounts for the time that packet `tag` was held up while `rank` wrote it, which would have
    /// ended at `alone`.
    pub(super) fn account_injection(&self, rank: Rank, tag: u64, alone: Time) {
        let now = self.kernel.now();
        let mut lost = now.saturating_sub(alone);
        if lost == Time::ZERO {
            return;
        }
        self.hear_waits();
        for wait in self.waits.borrow().get(&tag).into_iter().flatten() {
            let from = self.time(wait.from);
            let until = self.time(wait.until).min(from + lost).min(now);
            if from < until {
                lost = lost.saturating_sub(until - from);
                self.account(rank, [from, until], Cause::Transfer, wait);
            }
        }
    }

    /// Sorts what the mesh tells by packet, each in order of time.
    fn hear_waits(&self) {
        let mut waits = self.waits.borrow_mut();
        for wait in self.mesh.borrow_mut().take_waits() {
            if wait.packet.tag != NOBODY {
                let of_packet = waits.entry(wait.packet.tag).or_default();
                let at = of_packet.partition_point(|before| before.from <= wait.from);
                of_packet.insert(at, wait);
            }
        }
    }

    fn account(&self, rank: Rank, times: [Time; 2], before: Cause, wait: &LinkWait) {
        let ends = |packet: &Packet| Some((self.rank_at(packet.src)?, self.rank_at(packet.dst)?));
        let Some(message) = ends(&wait.packet) else {
            return;
        };
        let grid = &self.grid_of_mesh;
        let from = grid.position(wait.router);
        let next = wait.side.and_then(|side| grid.neighbour(wait.router, side));
        let hold = LinkHold {
            from,
            to: next.map_or(from, |router| grid.position(router)),
            message,
            holder: ends(&wait.holder).filter(|_| wait.holder.tag != NOBODY),
        };
        self.books.fill_hold(rank, times, before, hold);
    }
}
