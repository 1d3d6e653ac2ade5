// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes from whom to whom: the messages of a graph, each a chunk of its own size.
//!
//! Apart from the steps because the chunks come first: a schedule has as many for every pair of ranks,
//! which is how many messages the busiest pair has.

use std::collections::BTreeMap;

use corecast_core::request::CHUNKS_MAX;
use corecast_core::{ChunkId, Rank, Spec};

use super::graph::{Graph, OperationKind};
use crate::error::Fault;
use crate::limits;

/// A sender, a receiver and a tag.
pub(super) type Ends = (u32, u32, u32);

/// A message as its sender has it.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) bytes: u64,
    /// Which chunk it is of what its sender has for its receiver; none if it has no bytes, which
    /// nobody needs to send.
    part: Option<u32>,
}

/// The messages of a graph.
pub(super) struct Messages {
    /// Those of every sender, receiver and tag, in the order in which they are sent.
    all: BTreeMap<Ends, Vec<Message>>,
    /// Most messages with bytes that one rank has for another, at least 1.
    parts: u32,
}

impl Messages {
    /// The messages of a graph whose ranks begin their operations in these orders.
    pub(super) fn new(graph: &Graph, orders: &[Vec<u32>]) -> Self {
        let mut all: BTreeMap<Ends, Vec<Message>> = BTreeMap::new();
        for ((rank, operations), order) in (0..).zip(&graph.ranks).zip(orders) {
            for &at in order {
                if let OperationKind::Send { bytes, to, tag } = operations[at as usize].kind {
                    let part = None;
                    let of_tag = all.entry((rank, to, tag)).or_default();
                    of_tag.push(Message { bytes, part });
                }
            }
        }
        let (mut pair, mut next, mut parts) = (None, 0, 1);
        for (&(from, to, _), messages) in &mut all {
            if pair.replace((from, to)) != Some((from, to)) {
                next = 0;
            }
            for message in messages.iter_mut().filter(|message| message.bytes > 0) {
                message.part = Some(next);
                next += 1;
                parts = parts.max(next);
            }
        }
        Self { all, parts }
    }

    /// The `index`-th message of a tag; none if its sender sends fewer.
    pub(super) fn get(&self, ends: Ends, index: usize) -> Option<Message> {
        self.all.get(&ends)?.get(index).copied()
    }

    /// How many there are of each sender, receiver and tag.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.all.values().map(Vec::len)
    }

    /// Whether there is one that fulfils a condition.
    pub(super) fn any(&self, is_so: impl Fn(u64) -> bool) -> bool {
        let mut messages = self.all.values().flatten();
        messages.any(|message| is_so(message.bytes))
    }

    /// An alltoallv whose chunks are the messages.
    pub(super) fn spec(&self, ranks: u32) -> Result<Spec, Fault> {
        let pairs = u64::from(ranks) * u64::from(ranks);
        if pairs == 0 || pairs > CHUNKS_MAX {
            let right = "a schedule of such a file has a block per pair of ranks: 1 to 4096 ranks";
            return Err(Fault::whole(
                format!("{ranks} ranks are out of range"),
                right,
            ));
        }
        let to_itself = |&(&(from, to, _), _): &(&Ends, &Vec<Message>)| from == to;
        let copies = self.all.iter().filter(to_itself);
        let copies: usize = copies.map(|(_, messages)| messages.len()).sum();
        let places = pairs * u64::from(self.parts) + copies as u64;
        if places > CHUNKS_MAX {
            return Err(Fault::whole(
                format!(
                    "a rank has {} messages for another, which are too many among {ranks} ranks",
                    self.parts
                ),
                format!(
                    "a schedule has a chunk per pair of ranks and message of the busiest pair: at most \
                     {} messages here\n`corecast replay` runs such files as programs",
                    CHUNKS_MAX / pairs
                ),
            ));
        }
        let mut sizes = vec![0; pairs as usize * self.parts as usize];
        for (&(from, to, _), messages) in &self.all {
            let block = from as usize * ranks as usize + to as usize;
            for message in messages {
                if let Some(part) = message.part {
                    sizes[block * self.parts as usize + part as usize] = message.bytes;
                }
            }
        }
        limits::spec_of_sizes(ranks, 0, &sizes, 1)
    }

    /// The chunk of a message, if it has bytes.
    pub(super) fn chunk(spec: &Spec, (from, to, _): Ends, message: Message) -> Option<ChunkId> {
        let block = spec.pair_block(Rank(from), Rank(to));
        message.part.map(|part| spec.chunk(block, part))
    }
}
