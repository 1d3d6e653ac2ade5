// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the software of a mesh's cores costs, and how it cuts messages into packets.
//!
//! The simulated cores spend these times, and the bound on a schedule's time adds the same ones up:
//! they are written once, so that neither can drift away from the other.
//!
//! ```text
//! message of 10 words, packets of 4      header 4 words | header 4 words | header 2 words
//! ```

use corecast_chip::{Mesh, Protocol, Udn};
use corecast_core::Schedule;
use corecast_machine::Time;

/// Costs of the software as times. A time that 64 bits do not hold is the longest one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// A call of a collective, before anything is sent.
    pub call: Time,
    send: Time,
    recv: Time,
    /// In addition, for every message with payload, at each end.
    payload: Time,
    /// Reading a word.
    pub extract: Time,
    /// Writing a word; the mesh takes at most one per cycle.
    pub inject: Time,
    /// Configuring a core's part of the static network.
    pub route: Time,
    /// Combining two words.
    pub combine: Time,
    pub is_synchronous: bool,
    flit_bytes: u64,
    pub header_words: u64,
    /// Most words of payload in a packet with flow control: all of it fits into a queue.
    pub packet_words: u64,
    /// Most words of payload in any packet.
    packet_words_max: u64,
}

/// One packet's share of a message.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// Words of payload.
    pub words: u64,
    pub is_first: bool,
    pub is_last: bool,
}

impl Costs {
    /// Costs of a call with `ranks` ranks.
    pub(crate) fn new(mesh: &Mesh, udn: &Udn, ranks: u32) -> Self {
        let core = |cycles| Time::from_ps(udn.clock.to_ps(cycles));
        // At most a million cycles per call and rank: no sum of cycles overflows.
        let with_ranks = |cycles, per_rank| core(cycles + per_rank * u64::from(ranks));
        let room = u64::from(udn.queue_words).saturating_sub(udn.header_words);
        Self {
            call: with_ranks(udn.call_cycles, udn.call_cycles_per_rank),
            send: core(udn.send_cycles),
            recv: with_ranks(udn.recv_cycles, udn.recv_cycles_per_rank),
            payload: core(udn.payload_cycles),
            extract: core(udn.extract_cycles_per_word),
            inject: core(udn.inject_cycles_per_word).max(Time::from_ps(mesh.clock.to_ps(1))),
            route: core(udn.route_cycles),
            combine: core(udn.combine_cycles_per_word),
            is_synchronous: udn.protocol == Protocol::Synchronous,
            flit_bytes: mesh.flit_bytes,
            header_words: udn.header_words,
            packet_words: udn.packet_words.min(room).max(1),
            packet_words_max: udn.packet_words,
        }
    }

    /// The software of a send of `bytes` bytes.
    pub(crate) fn send(&self, bytes: u64) -> Time {
        self.with_payload(self.send, bytes)
    }

    /// The software of a receive of `bytes` bytes.
    pub(crate) fn recv(&self, bytes: u64) -> Time {
        self.with_payload(self.recv, bytes)
    }

    fn with_payload(&self, time: Time, bytes: u64) -> Time {
        let payload = if bytes > 0 { self.payload } else { Time::ZERO };
        Time::from_ps(time.ps().saturating_add(payload.ps()))
    }

    /// Words of `bytes` bytes, without headers.
    pub(crate) fn words(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes)
    }

    /// Most words of payload in a packet of `schedule`.
    pub(crate) fn packet_words_of(&self, schedule: &Schedule) -> u64 {
        let most = if schedule.has_flow_control() {
            self.packet_words
        } else {
            // Packets need not fit into a queue: nobody promises to drain one at a time.
            self.packet_words_max
        };
        // Packets are the pieces in which data are forwarded.
        let piece = schedule.piece_bytes().map(|bytes| self.words(bytes).max(1));
        piece.map_or(most, |words| words.min(most))
    }

    /// The packets of a message, with at most `most` words of payload each; a message without
    /// payload is one packet.
    pub(crate) fn packets(&self, bytes: u64, most: u64) -> impl Iterator<Item = Cut> + use<> {
        let words = self.words(bytes);
        let packets = words.div_ceil(most).max(1);
        (0..packets).map(move |index| Cut {
            words: (words - index * most).min(most),
            is_first: index == 0,
            is_last: index + 1 == packets,
        })
    }
}
