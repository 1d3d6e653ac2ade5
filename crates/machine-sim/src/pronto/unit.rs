// SPDX-License-Identifier: MIT OR Apache-2.0
//! The message passing interface of one tile: its buffers, tables and queues.

use std::collections::VecDeque;

use corecast_chip::{Mesh, Pronto};
use corecast_core::Rank;
use corecast_flow::Peer;
use corecast_machine::{Time, Unrest};

use super::ring::Ring;

/// Number of a transfer; transfers are numbered in the order in which programs ask for them.
pub(crate) type TransferId = u64;

/// What a transfer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// A message to another task.
    Message(Rank),
    /// Data for the external memory buffer, from this address on.
    Write(u64),
    /// Data from there.
    Read(u64),
}

/// A block of data on its way.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub purpose: Purpose,
    /// Whose call it is, and the node of its tile.
    pub task: Rank,
    pub node: u32,
    /// Node of the other end, as the translation table said when the first packet was sent.
    pub to: u32,
    pub bytes: usize,
    pub words: u32,
    /// Bytes that its call moves, if it is the last block of them.
    pub call_bytes: Option<u64>,
    /// Where it lies in the output buffer of its tile, and in the input buffer of the other.
    pub out_offset: u32,
    pub in_offset: u32,
    /// Words handed to the network, and words that have arrived.
    pub sent: u32,
    pub arrived: u32,
    /// Bytes that have come to the memory, or from it.
    pub data: Vec<u8>,
    /// When the call began, when the first word left, when the receiver's tile was asked for room,
    /// and when the last word had arrived.
    pub posted: Time,
    pub start: Time,
    pub asked: Time,
    pub end: Time,
}

impl Transfer {
    /// Both ends.
    pub(crate) fn ends(&self) -> (Peer, Peer) {
        let task = Peer::Task(self.task);
        match self.purpose {
            Purpose::Message(to) => (task, Peer::Task(to)),
            Purpose::Write(_) => (task, Peer::Memory),
            Purpose::Read(_) => (Peer::Memory, task),
        }
    }
}

/// A request of this tile that is not done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub id: TransferId,
    pub purpose: Purpose,
    /// Node that it was sent to; none = an earlier one to the same node is under way.
    pub asked: Option<u32>,
}

/// The last packet of a block in the output buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub id: TransferId,
    pub out_offset: u32,
    pub is_message: bool,
}

/// A packet that waits for the network.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub to: u32,
    pub flits: u32,
    pub content: Content,
}

/// What a packet carries.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A message asks for room.
    Envelope(TransferId),
    /// Room is reserved.
    Acknowledgement(TransferId),
    /// Words from number `word` on.
    Data {
        id: TransferId,
        word: u32,
        bytes: Vec<u8>,
    },
    /// The memory is to be read, or to be written with the data that follow.
    Request(TransferId),
    /// The memory has been written.
    Written(TransferId),
    /// Traffic that passes by: of this node's others, or of an injector, which waits for itself.
    Foreign(Option<u32>),
}

/// A tuple of the status table: a message that has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Source task, by the reverse translation of the node that it came from.
    pub from: Rank,
    pub id: TransferId,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Unit {
    pub output: Ring,
    pub input: Ring,
    /// The translation table: node of every task.
    pub nodes: Vec<u32>,
    /// Requests in the order of the program's calls.
    pub outgoing: Vec<Outgoing>,
    /// The status table, the oldest message first.
    pub table: VecDeque<Entry>,
    /// Tuples that are in use or promised.
    pub tuples: u32,
    /// Envelopes without room so far, first come first served.
    pub held: VecDeque<TransferId>,
    /// Messages for which room is reserved and which have not arrived as a whole.
    pub expected: u32,
    /// Short packets, in order; the answers of the memory.
    pub control: VecDeque<Parcel>,
    /// Messages that may be sent, in turns of a packet.
    pub streams: VecDeque<TransferId>,
    /// What is being injected, if anything: the last packet of a block, or another one.
    pub injecting: Option<Option<Last>>,
    /// Whether the engine moves words between a buffer or the network and local memory.
    pub is_copying: bool,
}

impl Unit {
    pub(crate) fn new(mesh: &Mesh, pronto: &Pronto, nodes: &[u32]) -> Self {
        Self {
            output: Ring::new(pronto.output_bytes, mesh.flit_bytes),
            input: Ring::new(pronto.input_bytes, mesh.flit_bytes),
            nodes: nodes.to_vec(),
            outgoing: Vec::new(),
            table: VecDeque::new(),
            tuples: 0,
            held: VecDeque::new(),
            expected: 0,
            control: VecDeque::new(),
            streams: VecDeque::new(),
            injecting: None,
            is_copying: false,
        }
    }

    /// The task at a node, by this tile's table.
    pub(crate) fn task_at(&self, node: u32) -> Option<Rank> {
        let task = self.nodes.iter().position(|&of| of == node)?;
        Some(Rank(task as u32))
    }

    /// What is on its way from this tile, to it, or in it.
    pub(crate) fn unrest(&self) -> Option<Unrest> {
        if !self.outgoing.is_empty() || !self.output.is_empty() {
            Some(Unrest::Asking)
        } else if !self.held.is_empty() || self.expected > 0 {
            Some(Unrest::Expected)
        } else if !self.table.is_empty() || self.tuples > 0 {
            Some(Unrest::Unreceived)
        } else if self.is_copying {
            Some(Unrest::Copying)
        } else {
            None
        }
    }
}
