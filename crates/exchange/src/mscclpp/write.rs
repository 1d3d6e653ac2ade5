// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as a plan.
//!
//! A plan puts data into the memory of another rank, which must have room for them. So every connection
//! has a slot in the scratch memory of its receiver, as in the runtimes of MSCCL:
//!
//! ```text
//! sender                              receiver
//! wait      (but before the first)    wait
//! put       into the slot             copy from the slot, or reduce with it
//! signal                              signal: the slot is free
//! wait      (behind the last)
//! ```
//!
//! A message without chunks is only its signal. With the last wait the next run finds the slot free, too. Thread blocks are those that MSCCL has, with
//! one peer each way; what one waits for in another is a semaphore of the two. Between what moves data
//! and what waits or tells is a `nop`, at which the threads of a thread block meet.
//!
//! A schedule that needs more than one slot per connection would deadlock, and is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use corecast_core::{FullCrossbar, Op, Schedule, verify};
use serde_json::{Value, json};

use super::layout::name_of;
use crate::format::Exported;
use crate::msccl::{Block, Entry, blocks_of, lost};
use crate::places::Buffer;

/// Messages that a connection can hold.
const SLOTS: u32 = 1;

/// What the executor has room for: operations of a thread block, and semaphores of an operation
/// (`MAX_OPERATION`, `MAX_DEVICE_SEMAPHORES` in `src/core/include/execution_common.hpp`).
const OPERATIONS_MAX: usize = 64;
const SEMAPHORES_MAX: usize = 16;

/// Steps of a thread block that receive, and those that send.
const RECEIVES: [&str; 5] = ["r", "rrc", "rcs", "rrcs", "rrs"];
const SENDS: [&str; 4] = ["s", "rcs", "rrcs", "rrs"];

/// A sender, a receiver and a channel of theirs.
type Connection = (u32, u32, u32);

/// What a connection has at its two ends.
#[derive(Default)]
struct Ends {
    sent: Vec<u32>,
    received: Vec<u32>,
    /// Numbers of its memory channel at the sender and the receiver.
    channels: [u32; 2],
    /// Where its slot begins in the receiver's scratch memory.
    slot: u32,
}

/// The plan, or what of the schedule it cannot say.
pub(super) fn plan(schedule: &Schedule) -> Result<Exported, String> {
    let spec = schedule.spec();
    let collective = spec.collective();
    let Some(name) = name_of(collective) else {
        return Err(format!("a collective like {collective}"));
    };
    let slots = verify(schedule, &FullCrossbar).slots_needed;
    if let Some(slots) = slots.filter(|&slots| slots > SLOTS) {
        return Err(format!(
            "a connection that holds {slots} messages: one that is written holds {SLOTS}"
        ));
    }
    let (names, all) = blocks_of(schedule, true)?;
    let mut connections = connections(&all)?;
    let peers = channels(&mut connections, all.len());
    let mut scratch: Vec<u32> = schedule
        .all_ranks()
        .map(|rank| names.sizes(rank)[2])
        .collect();
    for (&(_, to, _), ends) in &mut connections {
        let end = &mut scratch[to as usize];
        ends.slot = *end;
        *end += ends.received.iter().copied().max().unwrap_or(0);
    }
    let (whole, share) = (names.layout.chunks, names.layout.chunks / spec.ranks());
    let [input, output] = match name {
        "allgather" => [share, whole],
        "reducescatter" => [whole, share],
        _ => [whole, whole],
    };
    let mut gpus = Vec::new();
    let mut limits = BTreeSet::new();
    for (rank, blocks) in (0..).zip(&all) {
        let of_rank = OfRank {
            rank,
            blocks,
            connections: &connections,
            semaphores: Semaphores::new(blocks),
        };
        let blocks = of_rank.blocks(&mut limits);
        let remotes = of_rank.remotes();
        let remotes = remotes
            .iter()
            .map(|peer| json!({"rank": peer, "type": "s", "access_channel_types": ["memory"]}));
        let head = json!({
            "input_chunks": input,
            "output_chunks": output,
            "scratch_chunks": scratch[rank as usize],
            "channels": [{"channel_type": "memory", "connected_to": peers[rank as usize]}],
            "remote_buffers": remotes.collect::<Vec<Value>>(),
            "semaphores": vec![json!({"init_value": 0}); of_rank.semaphores.count],
        });
        gpus.push(gpu(rank, &head, &blocks));
    }
    let text = format!(
        "{{\n  \"name\": {},\n  \"collective\": \"{name}\",\n  \"protocol\": \"Simple\",\n  \
         \"inplace\": {},\n  \"reuse_resources\": false,\n  \"gpus\": [\n{}\n  ],\n  \
         \"num_threads_per_block\": 1024,\n  \"use_double_scratch_buffer\": false,\n  \
         \"buffer_alignment\": 16,\n  \"min_message_size\": 0,\n  \"max_message_size\": {}\n}}\n",
        json!(schedule.algorithm()),
        names.layout.is_in_place,
        gpus.join(",\n"),
        u64::MAX,
    );
    Ok(Exported::of_text(text, notes(schedule, limits)))
}

fn notes(schedule: &Schedule, limits: BTreeSet<String>) -> Vec<String> {
    let mut notes = vec![format!(
        "mscclpp does not say {}",
        lost(schedule).join(", ")
    )];
    let mut steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    if steps.any(|step| matches!(step.op, Op::Forward { .. })) {
        notes.push("what forwards is written as a receive and then a send".to_owned());
    }
    if schedule.spec().collective().is_reduction() {
        notes.push("reductions are written as sums".to_owned());
    }
    if !limits.is_empty() {
        let all: Vec<String> = limits.into_iter().collect();
        notes.push(format!(
            "the executor of MSCCL++ refuses {}",
            all.join(", ")
        ));
    }
    notes
}

/// All connections with the sizes of their messages.
fn connections(all: &[Vec<Block>]) -> Result<BTreeMap<Connection, Ends>, String> {
    let mut connections: BTreeMap<Connection, Ends> = BTreeMap::new();
    for (rank, blocks) in (0..).zip(all) {
        for block in blocks {
            for node in &block.nodes {
                if let Some(to) = block.send.filter(|_| SENDS.contains(&node.kind)) {
                    let ends = connections.entry((rank, to.0, block.channel)).or_default();
                    ends.sent.push(node.count);
                }
                if let Some(from) = block.recv.filter(|_| RECEIVES.contains(&node.kind)) {
                    let ends = connections
                        .entry((from.0, rank, block.channel))
                        .or_default();
                    ends.received.push(node.count);
                }
            }
        }
    }
    match connections.values().all(|ends| ends.sent == ends.received) {
        true => Ok(connections),
        false => Err("messages that are received otherwise than they are sent".to_owned()),
    }
}

/// Numbers the memory channels of every rank; gives the peer of each.
fn channels(connections: &mut BTreeMap<Connection, Ends>, ranks: usize) -> Vec<Vec<u32>> {
    let mut peers = vec![Vec::new(); ranks];
    for (&(from, to, _), ends) in connections {
        // The n-th of one rank to another is the n-th back: both ends are numbered in one order.
        ends.channels = [(from, to), (to, from)].map(|(own, other)| {
            let own: &mut Vec<u32> = &mut peers[own as usize];
            own.push(other);
            own.len() as u32 - 1
        });
    }
    peers
}

/// A step of a thread block.
type StepAt = (usize, usize);

/// What the semaphores of a rank are for. Each is of two thread blocks, of which one waits.
#[derive(Default)]
struct Semaphores {
    count: usize,
    /// Which are acquired before a step, and which are released behind it.
    acquired: BTreeMap<StepAt, Vec<usize>>,
    released: BTreeMap<StepAt, Vec<usize>>,
}

impl Semaphores {
    fn new(blocks: &[Block]) -> Self {
        let mut all = Self::default();
        // Its number, and behind which step it was waited for last.
        let mut known: BTreeMap<(usize, usize), (usize, Option<usize>)> = BTreeMap::new();
        for (id, block) in blocks.iter().enumerate() {
            for (index, node) in block.nodes.iter().enumerate() {
                for (on, behind) in node.waits.sorted() {
                    let next = known.len();
                    let (number, last) = known.entry((on, id)).or_insert((next, None));
                    // Who has waited for a later step has waited for this one.
                    if last.is_none_or(|last| last < behind) {
                        *last = Some(behind);
                        all.acquired.entry((id, index)).or_default().push(*number);
                        all.released.entry((on, behind)).or_default().push(*number);
                    }
                }
            }
        }
        all.count = known.len();
        all
    }
}

/// A thread block's operations, with whether each moves data.
#[derive(Default)]
struct Operations(Vec<(bool, Value)>);

impl Operations {
    /// Adds what moves data.
    fn moves(&mut self, operation: Value) {
        self.push(true, operation);
    }

    /// Adds what waits or tells.
    fn meets(&mut self, operation: Value) {
        self.push(false, operation);
    }

    fn push(&mut self, moves: bool, operation: Value) {
        if let Some(&(before, _)) = self.0.last()
            && (moves || before)
        {
            self.0.push((false, json!({"name": "nop"})));
        }
        self.0.push((moves, operation));
    }
}

/// A piece of a rank's own memory.
fn own((buffer, at): Entry, count: u32) -> Value {
    let found = Buffer::ALL.iter().find(|(_, known)| *known == buffer);
    let name = found.map_or("", |(name, _)| name);
    json!({"type": name, "index": at, "size": count})
}

struct OfRank<'a> {
    rank: u32,
    blocks: &'a [Block],
    connections: &'a BTreeMap<Connection, Ends>,
    semaphores: Semaphores,
}

impl OfRank<'_> {
    /// Ranks into whose memory this one puts.
    fn remotes(&self) -> BTreeSet<u32> {
        let keys = self.connections.keys();
        let own = keys.filter(|(from, ..)| *from == self.rank);
        own.map(|&(_, to, _)| to).collect()
    }

    fn blocks(&self, limits: &mut BTreeSet<String>) -> Vec<Value> {
        let remotes = self.remotes();
        let blocks = self.blocks.iter().enumerate().map(|(id, block)| {
            let outgoing = self.outgoing(block);
            let incoming = self.incoming(block);
            let channels = [
                incoming.map(|ends| ends.channels[1]),
                outgoing.map(|ends| ends.channels[0]),
            ];
            let channels: Vec<u32> = channels.into_iter().flatten().collect();
            let operations = self.operations(id, block, (incoming, outgoing));
            let ids = operations
                .iter()
                .filter_map(|one| one["semaphore_ids"].as_array());
            if ids.map(Vec::len).max() > Some(SEMAPHORES_MAX) {
                limits.insert(format!(
                    "more than {SEMAPHORES_MAX} semaphores of an operation"
                ));
            }
            if operations.len() > OPERATIONS_MAX {
                limits.insert(format!(
                    "more than {OPERATIONS_MAX} operations of a thread block"
                ));
            }
            let refs = outgoing.and(block.send).into_iter().map(|to| {
                let number = remotes.iter().position(|&peer| peer == to.0);
                json!({"access_channel_type": "memory", "remote_buffer_ids": [number]})
            });
            json!({
                "ops": operations,
                "channels": match channels.is_empty() {
                    true => Vec::new(),
                    false => vec![json!({"channel_type": "memory", "channel_ids": channels})],
                },
                "remote_buffer_refs": refs.collect::<Vec<Value>>(),
            })
        });
        blocks.collect()
    }

    fn outgoing(&self, block: &Block) -> Option<&Ends> {
        let to = block.send?.0;
        self.connections.get(&(self.rank, to, block.channel))
    }

    fn incoming(&self, block: &Block) -> Option<&Ends> {
        let from = block.recv?.0;
        self.connections.get(&(from, self.rank, block.channel))
    }

    fn operations(
        &self,
        id: usize,
        block: &Block,
        (incoming, outgoing): (Option<&Ends>, Option<&Ends>),
    ) -> Vec<Value> {
        let mut operations = Operations::default();
        let over = |name: &str, number: u32| json!({"name": name, "channel_ids": [number], "channel_type": "memory"});
        // Of its own channels the one that comes in is first.
        let (from, to) = (0, u32::from(incoming.is_some()));
        let mut sent = 0;
        for (index, node) in block.nodes.iter().enumerate() {
            if let Some(acquired) = self.semaphores.acquired.get(&(id, index)) {
                operations.meets(json!({"name": "sem_acquire", "semaphore_ids": acquired}));
            }
            let count = node.count;
            let (source, target) = (own(node.source, count), own(node.target, count));
            let copy = |source: &Value, target: &Value| json!({"name": "copy", "src_buff": [source], "dst_buff": [target]});
            let reduce = |sources: [&Value; 2], target: &Value| json!({"name": "re", "src_buff": sources, "dst_buff": [target], "reduce_op": "sum"});
            let mut sends = (SENDS.contains(&node.kind)).then(|| source.clone());
            let mut is_kept = false;
            if let Some(ends) = incoming.filter(|_| RECEIVES.contains(&node.kind)) {
                operations.meets(over("wait", from));
                let slot = own((Buffer::Scratch, ends.slot), count);
                match node.kind {
                    _ if count == 0 => {}
                    "r" | "rcs" => operations.moves(copy(&slot, &target)),
                    "rrs" => operations.moves(reduce([&slot, &source], &slot)),
                    _ => operations.moves(reduce([&source, &slot], &target)),
                }
                is_kept = node.kind == "rrs";
                if !is_kept {
                    operations.meets(over("signal", from));
                }
                sends = sends.map(|_| if is_kept { slot } else { target.clone() });
            }
            if let Some((ends, source)) = outgoing.zip(sends) {
                if sent > 0 {
                    operations.meets(over("wait", to));
                }
                sent += 1;
                if count > 0 {
                    operations.moves(json!({
                        "name": "put",
                        "src_buff": [source],
                        "dst_buff": [{"buffer_id": 0, "index": ends.slot, "size": count}],
                        "channel_type": "memory",
                    }));
                }
                operations.meets(over("signal", to));
            }
            if is_kept {
                operations.meets(over("signal", from));
            }
            match node.kind {
                "cpy" => operations.moves(copy(&source, &target)),
                "re" => operations.moves(reduce([&target, &source], &target)),
                _ => {}
            }
            if let Some(released) = self.semaphores.released.get(&(id, index)) {
                operations.meets(json!({"name": "sem_release", "semaphore_ids": released}));
            }
        }
        if sent > 0 {
            operations.meets(over("wait", to));
        }
        operations
            .0
            .into_iter()
            .map(|(_, operation)| operation)
            .collect()
    }
}

/// A rank, one operation a line.
fn gpu(rank: u32, head: &Value, blocks: &[Value]) -> String {
    let mut text = format!("    {{\n      \"id\": {rank},\n");
    let keys = ["input_chunks", "output_chunks", "scratch_chunks"];
    for key in keys {
        let _ = writeln!(text, "      \"{key}\": {},", head[key]);
    }
    text.push_str("      \"threadblocks\": [");
    for (id, block) in blocks.iter().enumerate() {
        let between = if id > 0 { "," } else { "" };
        let _ = write!(text, "{between}\n        {{\"id\": {id}, \"ops\": [");
        let operations = block["ops"].as_array().into_iter().flatten();
        for (number, operation) in operations.enumerate() {
            let between = if number > 0 { "," } else { "" };
            let _ = write!(text, "{between}\n          {operation}");
        }
        let _ = write!(
            text,
            "],\n          \"channels\": {}, \"remote_buffer_refs\": {}}}",
            block["channels"], block["remote_buffer_refs"]
        );
    }
    text.push_str("],\n");
    let (channels, remotes, semaphores) = (
        &head["channels"],
        &head["remote_buffers"],
        &head["semaphores"],
    );
    let _ = write!(
        text,
        "      \"channels\": {channels},\n      \"remote_buffers\": {remotes},\n      \
         \"semaphores\": {semaphores}\n    }}"
    );
    text
}
