// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores that write words into a mesh and read them from hardware queues themselves, with a message
//! layer in software.
//!
//! ```text
//! [endpoint]
//! kind = "udn"
//! protocol = "ready"    # or "synchronous"
//! clock, call, call_per_rank, send, recv, recv_per_rank, payload, inject, extract, combine, route,
//! header, packet, queues, queue
//! ```

mod bound;

use corecast_core::{LinkCost, Queue, Request};

use super::kind::{CYCLES, CYCLES_PER_WORD, Kind, PACKET, Source};
use crate::clock::Clock;
use crate::error::ChipError;
use crate::facts::{NoBackground, Senders, Unused};
use crate::mesh::Mesh;
use crate::placement::Placement;
use crate::provenance::Ledger;
use crate::read::{Choices, Count};

/// Why the static network is not used where ranks are elsewhere.
const NO_TREES: &str = "the trees of the static network are those of ranks in order";
const NO_STATIC: &str = "without static_hop there is no network whose routes are configured";

/// Its name in chip files.
pub(super) const NAME: &str = "udn";

/// The cores and their mesh.
pub(super) struct OnMesh<'a> {
    pub mesh: &'a Mesh,
    pub udn: &'a Udn,
}

impl Kind for OnMesh<'_> {
    /// Software, header and one hop.
    fn link_cost(&self, reference: &Clock) -> LinkCost {
        let Self { mesh, udn } = self;
        let word_ps = udn.word_ps(mesh);
        let software = udn.clock.to_ps(udn.send_cycles + udn.recv_cycles);
        let header = word_ps * udn.header_words;
        let hop = mesh.clock.to_ps(mesh.hop_cycles());
        LinkCost {
            sync_cycles: reference.cycles_f64((software + header + hop).max(1)),
            cycles_per_byte: reference.cycles_f64(word_ps) / mesh.flit_bytes as f64,
        }
    }

    fn queue(&self) -> Option<Queue> {
        self.udn.queue(self.mesh)
    }

    fn bound_ps(&self, request: &Request) -> u64 {
        bound::ps(self.mesh, self.udn, request)
    }

    fn takes_background(&self) -> Result<(), NoBackground> {
        match self.udn.queues {
            ..3 => Err(NoBackground::TwoQueues),
            _ => Ok(()),
        }
    }

    fn defaults(&self) -> Vec<(&'static str, String)> {
        self.mesh.defaults()
    }

    fn unused(&self, _of: Senders) -> Vec<Unused> {
        match (self.mesh.static_hop_cycles, &self.mesh.placement) {
            (Some(_), _) => Vec::new(),
            (None, Placement::Chosen(_)) => {
                Unused::because(NO_TREES, &["network.static_hop", "endpoint.route"])
            }
            (None, _) => Unused::because(NO_STATIC, &["endpoint.route"]),
        }
    }
}

/// What a sender waits for, with flow control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// The receiver's ready, packet by packet.
    Ready,
    /// The receiver's ready before the software of the send, and its word that it has received
    /// after it; messages without payload wait for neither.
    Synchronous,
}

/// The user dynamic network of Tilera's chips with a message layer in software.
///
/// A message is cut into packets of at most `packet_words` words of payload, each preceded by
/// `header_words`. The core writes and reads them word by word. With flow control, the receiver
/// sends a packet without payload when it is ready, and the sender waits for it.
///
/// # Source
/// Wentzlaff et al. 2007 (the network); Yagna and Mueller 2013 (the message layer).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Udn {
    /// The clock of the cores.
    pub clock: Clock,
    /// On entering a collective, once per rank.
    pub call_cycles: u64,
    /// On entering a collective, for every rank that takes part.
    pub call_cycles_per_rank: u64,
    /// For every message sent.
    pub send_cycles: u64,
    /// For every message received, after its last word.
    pub recv_cycles: u64,
    /// For every message received, for every rank that takes part: the software looks for its
    /// sender among all.
    pub recv_cycles_per_rank: u64,
    /// For every message with payload over the dynamic network in addition, at each end: its data
    /// are copied from and to memory.
    pub payload_cycles: u64,
    /// What senders wait for.
    pub protocol: Protocol,
    /// To write a word into the network.
    pub inject_cycles_per_word: u64,
    /// To read a word from a queue.
    pub extract_cycles_per_word: u64,
    /// To combine a received word with the core's own, in reductions.
    pub combine_cycles_per_word: u64,
    /// To configure a core's part of a static route.
    pub route_cycles: u64,
    /// Words before the payload of every packet.
    pub header_words: u64,
    /// Most words of payload in a packet.
    pub packet_words: u64,
    /// Hardware queues per core: the first for data, the second for flow control.
    pub queues: u32,
    /// Words that each of them holds.
    pub queue_words: u32,
}

impl Udn {
    /// Packets of a message of `words` words; at least one.
    #[must_use]
    pub fn packets(&self, words: u64) -> u64 {
        words.div_ceil(self.packet_words).max(1)
    }

    /// Words of a message with its headers.
    #[must_use]
    pub fn message_words(&self, words: u64) -> u64 {
        words + self.header_words * self.packets(words)
    }

    /// The time that each further word of a long message takes: that of the slowest of the core that
    /// writes it, the links and the core that reads it.
    fn word_ps(&self, mesh: &Mesh) -> u64 {
        let core_cycles = self
            .inject_cycles_per_word
            .max(self.extract_cycles_per_word);
        self.clock.to_ps(core_cycles).max(mesh.flit_ps())
    }

    /// The queue for data of a core of this mesh; none where senders always wait, so that there
    /// is nothing to prove.
    #[must_use]
    pub fn queue(&self, mesh: &Mesh) -> Option<Queue> {
        (self.protocol == Protocol::Ready).then(|| Queue {
            words: u64::from(self.queue_words),
            word_bytes: mesh.flit_bytes,
            header_words: self.header_words,
            packet_words: self.packet_words,
        })
    }
}

const PROTOCOLS: Choices<Protocol> = &[
    ("ready", Protocol::Ready),
    ("synchronous", Protocol::Synchronous),
];

/// Words before a packet's payload; the first is the head flit.
const HEADER: Count = Count {
    unit: "words",
    min: 1,
    max: 64,
};

/// One for data and one for flow control, at least.
const QUEUES: Count = Count {
    unit: "queues",
    min: 2,
    max: 16,
};

const QUEUE: Count = Count {
    unit: "words",
    min: 1,
    max: 4096,
};

/// A core writes at most one word per cycle and at least one in 64.
const INJECT: Count = Count {
    unit: "cycles/word",
    min: 1,
    max: 64,
};

const CYCLES_PER_RANK: Count = Count {
    unit: "cycles/rank",
    min: 0,
    max: 1_000_000,
};

/// Reads `[endpoint]`, for this mesh.
pub(super) fn read(
    mesh: &Mesh,
    source: &Source<'_>,
    ledger: &mut Ledger,
) -> Result<Udn, ChipError> {
    let section = source.endpoint;
    section.accept(&[
        "kind",
        "clock",
        "call",
        "call_per_rank",
        "send",
        "recv",
        "recv_per_rank",
        "payload",
        "protocol",
        "inject",
        "extract",
        "combine",
        "route",
        "header",
        "packet",
        "queues",
        "queue",
    ])?;
    let clock = section.clock("clock", source.clocks)?;
    let mut count = |key, rule| section.count(key, rule, ledger);
    let udn = Udn {
        clock,
        call_cycles: count("call", &CYCLES)?,
        call_cycles_per_rank: count("call_per_rank", &CYCLES_PER_RANK)?,
        send_cycles: count("send", &CYCLES)?,
        recv_cycles: count("recv", &CYCLES)?,
        recv_cycles_per_rank: count("recv_per_rank", &CYCLES_PER_RANK)?,
        payload_cycles: count("payload", &CYCLES)?,
        protocol: section.choice("protocol", PROTOCOLS)?,
        inject_cycles_per_word: count("inject", &INJECT)?,
        extract_cycles_per_word: count("extract", &CYCLES_PER_WORD)?,
        combine_cycles_per_word: count("combine", &CYCLES_PER_WORD)?,
        route_cycles: count("route", &CYCLES)?,
        header_words: count("header", &HEADER)?,
        packet_words: count("packet", &PACKET)?,
        queues: count("queues", &QUEUES)? as u32, // at most 16
        queue_words: count("queue", &QUEUE)? as u32, // at most 4096
    };
    if u64::from(udn.queue_words) <= udn.header_words {
        // A packet that a receiver has asked for would stay in the mesh in part, and stop it.
        let accepted = "more words than `header`, so that a packet with a word fits into it";
        return Err(section.refuse("queue", accepted));
    }
    source.fill(mesh)?;
    Ok(udn)
}
