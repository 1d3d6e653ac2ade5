// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes on without a call: packets that waited for room, and bytes that others have asked for.

use super::packet::{self, Packet, PacketKind};
use super::{Engine, Load, Stream};

impl Engine {
    /// Moves what waits.
    pub(super) fn follow_up(&mut self) -> bool {
        let mut has_moved = self.pull();
        has_moved |= self.push();
        has_moved |= self.stream();
        self.look_at_timed();
        has_moved | self.flush()
    }

    /// Sends further packets of streams, as long as there is room.
    ///
    /// Where memory is in many small pieces, who sends from it often receives into it, too, as
    /// neighbours do with the edges of their fields. Then streams take turns, and what comes is taken
    /// between: pieces that are close are touched at about the same time.
    fn stream(&mut self) -> bool {
        let mut has_moved = false;
        while self.stream_once() {
            has_moved = true;
            let matter = &mut self.matter;
            if !matter.streams.iter().any(|stream| stream.memory.is_apart()) {
                break;
            }
            let mut take = |from, head, body: &[u8]| matter.arrive(from, head, body);
            self.transport.receive(None, &mut take);
        }
        has_moved
    }

    /// A turn of all streams: one packet of what lies apart, of all else as many as there is room for.
    fn stream_once(&mut self) -> bool {
        let mut has_moved = false;
        self.matter.streams.retain_mut(|stream| {
            let Stream { memory, offset, .. } = stream;
            if *offset == 0 && memory.bytes >= self.matter.read_min {
                self.transport.prepare(stream.to);
            }
            let length = if memory.is_apart() { 0 } else { memory.bytes };
            let packet_bytes = self.transport.stream_packet(length);
            while *offset < memory.bytes {
                let end = (*offset + packet_bytes).min(memory.bytes);
                let packet = Packet::control(PacketKind::Data, u64::from(stream.theirs));
                // SAFETY: who sends vouches for the memory.
                let body = unsafe { memory.part(*offset..end, &mut self.scratch) };
                if !self.transport.send(stream.to, packet.head(), body) {
                    return true;
                }
                has_moved = true;
                *offset = end;
                if memory.is_apart() && end < memory.bytes {
                    return true;
                }
            }
            self.matter.flights.complete(stream.flight);
            false
        });
        has_moved
    }

    /// Sends the packets that wait, as far as there is room.
    pub(super) fn flush(&mut self) -> bool {
        let matter = &mut self.matter;
        if matter.waiting == 0 {
            return false;
        }
        let before = matter.waiting;
        let scratch = &mut self.scratch;
        for (to, outbox) in (0..).zip(&mut matter.outboxes) {
            while let Some(next) = outbox.front() {
                let words;
                let body = match &next.body {
                    Load::None => &[][..],
                    Load::Words([a, b]) => {
                        words = packet::bytes_of([*a, *b]);
                        &words[..]
                    }
                    // SAFETY: who sends vouches for the memory.
                    Load::Memory(memory, _) => unsafe { memory.part(0..memory.bytes, scratch) },
                };
                if !self.transport.send(to, next.head, body) {
                    break;
                }
                if let Load::Memory(_, Some(flight)) = next.body {
                    matter.flights.complete(flight);
                }
                outbox.pop_front();
                matter.waiting -= 1;
            }
        }
        matter.waiting != before
    }
}
