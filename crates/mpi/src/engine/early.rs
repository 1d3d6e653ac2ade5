// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that have come before their receives, for who goes on with a collective elsewhere.
#![forbid(unsafe_code)]

use super::packet::Packet;
use super::queues::{Arrived, Body};
use super::{Engine, Flight};
use crate::collective::carried::Done;

impl Engine {
    /// How many messages of a context and a tag have come that no receive has taken, and their bytes; `None`
    /// if one of them is too long to have come along, or somebody waits for its receipt.
    #[must_use]
    pub fn early(&self, context: u32, tag: i32) -> Option<(usize, usize)> {
        let mut all = self.matter.queues.of(context, tag);
        all.try_fold((0, 0), |(messages, bytes), arrived| match &arrived.body {
            Body::Bytes(body) => Some((messages + 1, bytes + body.len())),
            Body::Sync(..) | Body::Announced { .. } => None,
        })
    }

    /// Takes them out: senders and bytes, those of a sender in their order.
    pub fn take_early(&mut self, context: u32, tag: i32) -> Vec<(u32, Box<[u8]>)> {
        let mut taken = Vec::new();
        while let Some(arrived) = self.matter.queues.take(context, None, Some(tag)) {
            match arrived.body {
                Body::Bytes(body) => taken.push((arrived.from, body)),
                Body::Sync(..) | Body::Announced { .. } => unreachable!("`early` was asked"),
            }
        }
        taken
    }

    /// The inverse of [`Engine::take_early`]: no receive waits for any of them.
    pub fn keep_early(&mut self, context: u32, tag: i32, early: Vec<(u32, Box<[u8]>)>) {
        let packet = Packet::eager(context, tag);
        for (from, body) in early {
            let arrived = Arrived::new(from, packet, Body::Bytes(body));
            self.matter.queues.keep(arrived);
        }
    }

    /// Whether no message has come for a receive.
    #[must_use]
    pub fn is_open(&self, flight: &Flight) -> bool {
        self.matter.flights.is_posted(flight.0)
    }

    /// Counts messages that somebody else has sent and received for this rank.
    pub fn count_carried(&mut self, done: Done) {
        let counters = &mut self.matter.counters;
        counters.sent += u64::from(done.sent);
        counters.sent_bytes += u64::from(done.sent_bytes);
        counters.arrived += u64::from(done.arrived);
        counters.unexpected += u64::from(done.unexpected);
    }
}
