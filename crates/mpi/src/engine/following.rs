// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short messages that are handed over as they come, out of their packets.
#![forbid(unsafe_code)]

use super::packet::{Packet, PacketKind};
use super::{Engine, Flight, Matter, Memory};
use crate::error::Result;

/// Where messages are asked for that follow one that is just handed over.
pub struct Following<'a>(&'a mut Matter);

impl Following<'_> {
    /// As [`Engine::recv`].
    pub fn recv(&mut self, context: u32, from: u32, tag: i32, memory: Memory) -> Flight {
        self.0.recv(context, Some(from), Some(tag), memory).0
    }
}

/// Takes a message of a sender and a context, or does not.
pub type TakeShort<'a> = dyn FnMut(&mut Following<'_>, u32, u32, &[u8]) -> bool + 'a;

impl Engine {
    /// As [`Engine::progress`], but short messages of a tag are handed over as they come, and taken if
    /// that says so; not those behind others that were kept for a receive. No receive waits for such a
    /// message.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn progress_taking(&mut self, tag: i32, take: &mut TakeShort<'_>) -> Result<bool> {
        let matter = &mut self.matter;
        let mut take = |from, head, body: &[u8]| {
            let packet = Packet::of(head);
            let is_taken = packet.kind == PacketKind::Eager
                && packet.tag == tag
                && !matter.queues.keeps(packet.context, from, tag)
                && take(&mut Following(matter), from, packet.context, body);
            match is_taken {
                true => matter.counters.arrived += 1,
                false => matter.arrive(from, head, body),
            }
        };
        let mut has_moved = self.transport.receive(None, &mut take);
        if !self.is_quiet() {
            has_moved |= self.follow_up();
        }
        Ok(has_moved)
    }
}
