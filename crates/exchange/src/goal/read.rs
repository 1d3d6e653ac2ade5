// SPDX-License-Identifier: MIT OR Apache-2.0
//! A graph as a schedule: the exchange of its messages.
//!
//! Every send or receive becomes a step; those of one peer, tag and direction are a stream, in the
//! order of the file, which is that in which they match. What an operation requires becomes a wait, and
//! a computation between the two falls away; to begin no earlier than another operation begins is to
//! wait for all that the other one waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use corecast_core::{
    Arrival, ChunkId, Collective, Op, Rank, Request, ScheduleBuilder, Spec, Split, StepRef, verify,
};

use super::graph::{Graph, Operation, OperationKind};
use crate::divisor::{gcd, lcm};
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::{self, Deliveries};

/// Up to this size LogGOPSim sends without asking, by default.
const EAGER_BYTES_MAX: u64 = 65_535;

/// Most parts of what one rank has for another.
const PARTS_MAX: u64 = 4096;

/// Most waits that computations between operations may lead to.
const WAITS_MAX: usize = 1 << 22;

/// The schedule of a graph, which a format of this name has said.
pub(crate) fn schedule(graph: &Graph, format: &str) -> Result<Imported, Fault> {
    let volumes = Volumes::new(graph);
    let spec = volumes.spec(graph)?;
    limits::check_places(&spec, 0, true, None)?;
    let mut builder = ScheduleBuilder::new(format, spec.clone());
    if volumes.largest <= EAGER_BYTES_MAX {
        builder.set_slots(volumes.most_messages);
    }
    let mut steps = Steps {
        builder,
        spec: &spec,
        volumes: &volumes,
        deliveries: Deliveries::default(),
    };
    let mut waits = 0;
    for (rank, operations) in (0..).map(Rank).zip(&graph.ranks) {
        let of_rank = steps.add(rank, operations)?;
        for (step, after) in of_rank.iter().zip(awaited(rank, operations, &mut waits)?) {
            for on in after {
                if let (Some(step), Some(on)) = (*step, of_rank[on as usize]) {
                    steps.builder.wait(step, on);
                }
            }
        }
    }
    let builder = steps.builder;
    Ok(Imported {
        schedule: verify::with_rounds(builder.finish()),
        notes: notes(graph, format),
    })
}

/// What a file says and a schedule does not.
fn notes(graph: &Graph, format: &str) -> Vec<String> {
    let mut notes = vec![format!(
        "{format} names no data: read as an alltoallv in which every rank has what it sends"
    )];
    let calcs = graph
        .ranks
        .iter()
        .flatten()
        .filter_map(|operation| match operation.kind {
            OperationKind::Calc { ns } => Some(ns),
            _ => None,
        });
    let (count, ns) = calcs.fold((0, 0_u64), |(count, sum), ns| {
        (count + 1, sum.saturating_add(ns))
    });
    if count > 0 {
        notes.push(format!(
            "{count} computations of {ns} ns in all are left out"
        ));
    }
    let place = if format == "goal" {
        "line"
    } else {
        "operation"
    };
    notes.extend(graph.units.note(place));
    notes
}

/// What goes from whom to whom.
struct Volumes {
    /// Sizes of the messages of every sender, receiver and tag, as their senders have them.
    sizes: BTreeMap<(u32, u32, u32), Vec<u64>>,
    /// Where each of them begins in what its sender has for its receiver.
    starts: BTreeMap<(u32, u32, u32), Vec<u64>>,
    largest: u64,
    /// Most messages of one sender, receiver and tag.
    most_messages: u32,
}

impl Volumes {
    fn new(graph: &Graph) -> Self {
        let mut sizes: BTreeMap<(u32, u32, u32), Vec<u64>> = BTreeMap::new();
        for (rank, operations) in (0..).zip(&graph.ranks) {
            for operation in operations {
                if let OperationKind::Send { bytes, to, tag } = operation.kind {
                    sizes.entry((rank, to, tag)).or_default().push(bytes);
                }
            }
        }
        let mut starts = BTreeMap::new();
        let (mut pair, mut next) = (None, 0_u64);
        for (&(from, to, tag), sizes) in &sizes {
            if pair.replace((from, to)) != Some((from, to)) {
                next = 0;
            }
            let of_tag = sizes.iter().map(|&bytes| {
                let start = next;
                next = next.saturating_add(bytes);
                start
            });
            let of_tag: Vec<u64> = of_tag.collect();
            starts.insert((from, to, tag), of_tag);
        }
        let most = sizes.values().map(Vec::len).max().unwrap_or(0);
        Self {
            largest: sizes.values().flatten().copied().max().unwrap_or(0),
            most_messages: most as u32,
            sizes,
            starts,
        }
    }

    fn total(&self, from: u32, to: u32) -> u64 {
        let of_pair = self.sizes.range((from, to, 0)..=(from, to, u32::MAX));
        of_pair
            .flat_map(|(_, sizes)| sizes)
            .fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// An alltoallv in whose chunks every message can be said.
    fn spec(&self, graph: &Graph) -> Result<Spec, Fault> {
        let ranks = graph.ranks.len() as u32;
        if ranks == 0 || u64::from(ranks) * u64::from(ranks) > corecast_core::request::CHUNKS_MAX {
            let right = "a schedule of such a file has a block per pair of ranks: 1 to 4096 ranks";
            return Err(Fault::whole(
                format!("{ranks} ranks are out of range"),
                right,
            ));
        }
        let mut counts = vec![0; ranks as usize * ranks as usize];
        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (&(from, to, _), sizes) in &self.sizes {
            let unit = pairs.entry((from, to)).or_default();
            *unit = sizes.iter().fold(*unit, |unit, &bytes| gcd(unit, bytes));
        }
        let (mut parts, mut largest) = (1_u64, (0, (0, 0)));
        for (&(from, to), &unit) in &pairs {
            let total = self.total(from, to);
            counts[from as usize * ranks as usize + to as usize] = total;
            largest = largest.max((total, (from, to)));
            if total > 0 && parts <= PARTS_MAX {
                parts = lcm(parts, total / unit);
            }
        }
        let is_whole = |total: u64| total.is_multiple_of(parts) || total <= parts;
        if parts > PARTS_MAX || !counts.iter().all(|&total| is_whole(total)) {
            // With a part for every byte any message is whole parts.
            let (bytes, (from, to)) = largest;
            if bytes > PARTS_MAX {
                return Err(no_parts(from, to, None));
            }
            parts = bytes;
        }
        let mut request = Request::new(Collective::Barrier, ranks, 0);
        request.collective = Collective::Alltoallv;
        request.counts = Some(Arc::from(counts));
        limits::spec(&request, Split::Even(parts as u32), 1)
    }

    /// The chunks of the `index`-th message of a tag; none if its sender sends fewer. The messages of a
    /// pair lie one behind the other in what the one has for the other, in the order of their tags.
    fn chunks(&self, spec: &Spec, [from, to, tag]: [u32; 3], index: usize) -> Option<Vec<ChunkId>> {
        let sizes = self.sizes.get(&(from, to, tag))?;
        let (bytes, start) = (*sizes.get(index)?, self.starts[&(from, to, tag)][index]);
        let block = spec.pair_block(Rank(from), Rank(to));
        let part = |at: u64| -> Option<u32> {
            if at == spec.block_bytes(block) {
                return Some(spec.parts());
            }
            let first = block * spec.parts();
            let begin = |part: u32| spec.chunk_range(ChunkId(first + part)).0;
            let (mut low, mut high) = (0, spec.parts());
            while low < high {
                let middle = low + (high - low) / 2;
                if begin(middle) < at {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            (low < spec.parts() && begin(low) == at).then_some(low)
        };
        let (first, end) = (part(start)?, part(start + bytes)?);
        // What has no bytes is not promised, and nobody needs to send it.
        let is_empty = spec.block_bytes(block) == 0;
        let parts = first..if is_empty { first } else { end };
        Some(parts.map(|part| spec.chunk(block, part)).collect())
    }
}

struct Steps<'a> {
    builder: ScheduleBuilder,
    spec: &'a Spec,
    volumes: &'a Volumes,
    deliveries: Deliveries,
}

impl Steps<'_> {
    /// The steps of a rank, one for every operation that is no computation.
    fn add(&mut self, rank: Rank, operations: &[Operation]) -> Result<Vec<Option<StepRef>>, Fault> {
        let mut streams: BTreeMap<(bool, u32, u32), (u32, usize)> = BTreeMap::new();
        let mut steps = Vec::with_capacity(operations.len());
        for operation in operations {
            let (is_send, peer, tag, bytes) = match operation.kind {
                OperationKind::Calc { .. } => {
                    steps.push(None);
                    continue;
                }
                OperationKind::Send { bytes, to, tag } => (true, to, tag, bytes),
                OperationKind::Recv {
                    bytes,
                    from: Some(from),
                    tag: Some(tag),
                } => (false, from, tag, bytes),
                OperationKind::Recv { from, .. } => {
                    return Err(wildcard(operation.line, from.is_none()));
                }
            };
            let next = streams.len();
            let (stream, messages) = streams.entry((is_send, peer, tag)).or_insert_with(|| {
                if next > 0 {
                    return (self.builder.add_stream(rank, tag), 0);
                }
                self.builder.set_first_channel(rank, tag);
                (0, 0)
            });
            let index = std::mem::replace(messages, *messages + 1);
            let pair = match is_send {
                true => [rank.0, peer, tag],
                false => [peer, rank.0, tag],
            };
            let chunks = self.message(pair, index, bytes, operation.line)?;
            let chunks = self.builder.list(&chunks);
            let op = match is_send {
                true => Op::Send {
                    to: Rank(peer),
                    chunks,
                },
                false => Op::Recv {
                    from: Rank(peer),
                    chunks,
                    arrival: Arrival::Store,
                },
            };
            steps.push(Some(self.builder.push_on(0, (rank, *stream), op)));
        }
        Ok(steps)
    }

    /// The chunks of a message, of which one end says that it has so many bytes.
    fn message(
        &mut self,
        pair: [u32; 3],
        index: usize,
        bytes: u64,
        line: u32,
    ) -> Result<Vec<ChunkId>, Fault> {
        let [from, to, tag] = pair;
        let sizes = self.volumes.sizes.get(&(from, to, tag));
        // A receive of what nobody sends is for the verifier to find.
        let Some(&sent) = sizes.and_then(|sizes| sizes.get(index)) else {
            return Ok(Vec::new());
        };
        if sent != bytes {
            let wrong = format!(
                "message {index} from rank {from} to rank {to} with tag {tag} has {bytes} bytes \
                 here, and {sent} where it is sent"
            );
            return Err(Fault::at(line, wrong, "give both ends the same size"));
        }
        let chunks = self.volumes.chunks(self.spec, pair, index);
        let chunks = chunks.ok_or_else(|| no_parts(from, to, Some(line)))?;
        self.deliveries.add(chunks.len() as u64, 1, line)?;
        Ok(chunks)
    }
}

/// A receive that takes more than one message.
fn wildcard(line: u32, is_from_anybody: bool) -> Fault {
    let (wrong, right) = match is_from_anybody {
        true => (
            "a receive from anybody",
            "a schedule says from whom: write the rank whose message is meant",
        ),
        false => (
            "a receive with any tag",
            "a schedule says over which channel: write the tag whose message is meant",
        ),
    };
    Fault::at(
        line,
        wrong,
        format!("{right}\n`corecast replay` runs such files as programs"),
    )
}

/// Messages that are no whole parts.
fn no_parts(from: u32, to: u32, line: Option<u32>) -> Fault {
    Fault {
        line,
        wrong: format!(
            "what rank {from} sends to rank {to} cannot be cut so that its messages are whole parts"
        ),
        right: format!(
            "a schedule cuts what ranks have for each other into equally many equal parts, at most \
             {PARTS_MAX}"
        ),
    }
}

/// For every operation the sends and receives of its rank that must have ended before it begins.
fn awaited(
    rank: Rank,
    operations: &[Operation],
    total: &mut usize,
) -> Result<Vec<BTreeSet<u32>>, Fault> {
    let mut all: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); operations.len()];
    for at in sorted(rank, operations)? {
        let operation = &operations[at as usize];
        let mut own = BTreeSet::new();
        for &on in &operation.after {
            match operations[on as usize].kind {
                OperationKind::Calc { .. } => own.extend(&all[on as usize]),
                _ => {
                    own.insert(on);
                }
            }
        }
        for &on in &operation.with {
            own.extend(&all[on as usize]);
        }
        *total += own.len();
        if *total > WAITS_MAX {
            let wrong = format!("the operations up to here require more than {WAITS_MAX} others");
            return Err(Fault::at(
                operation.line,
                wrong,
                "let computations require fewer operations",
            ));
        }
        all[at as usize] = own;
    }
    Ok(all)
}

/// The operations of a rank, each behind those that it requires.
fn sorted(rank: Rank, operations: &[Operation]) -> Result<Vec<u32>, Fault> {
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); operations.len()];
    let mut missing = vec![0_u32; operations.len()];
    for (at, operation) in (0..).zip(operations) {
        for &on in operation.after.iter().chain(&operation.with) {
            followers[on as usize].push(at);
            missing[at as usize] += 1;
        }
    }
    let mut order: Vec<u32> = (0..operations.len() as u32)
        .filter(|&at| missing[at as usize] == 0)
        .collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &follower in &followers[at as usize] {
            missing[follower as usize] -= 1;
            if missing[follower as usize] == 0 {
                order.push(follower);
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        None => Ok(order),
        Some(at) => {
            let wrong = format!("operations of rank {rank} require each other in a circle");
            let right = "leave out one of the `requires`";
            Err(Fault::at(operations[at].line, wrong, right))
        }
    }
}
