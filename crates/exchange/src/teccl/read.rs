// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file as a schedule.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{Arrival, ChunkId, Op, Rank, Request, ScheduleBuilder, Spec, Split, StepRef};

use super::demands::Purpose;
use super::document::{self, Demand, File, Flow, Hop};
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::{self, Deliveries};
use crate::lines::StepLines;

/// Bytes of the smallest part, of which a file says nothing: a whole number of elements of any type.
const PART_BYTES: u64 = 8;

/// Most parts that a chunk is cut into.
const PARTS_MAX: u32 = 1000;

/// How far a fraction may be from a whole number of parts: solvers write 0.7 as 0.6999999999.
const TOLERANCE: f64 = 1e-6;

/// A message: some parts of one chunk over one link in one epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Message {
    epoch: u32,
    source: u32,
    chunk: u32,
    from: u32,
    to: u32,
    first: u32,
    end: u32,
    line: u32,
}

pub(super) fn parse(text: &str) -> Result<Imported, Fault> {
    let file = document::parse(text)?;
    let purpose = Purpose::new(&file)?;
    let parts = parts(&file)?;
    let mut notes = Vec::new();
    let messages = match file.has_volumes {
        false => of_flows(&file),
        true => of_paths(&file, parts, &mut notes)?,
    };
    check_paths(&file)?;
    let request = Request::new(
        purpose.collective,
        purpose.nodes.len() as u32,
        u64::from(purpose.chunks) * u64::from(parts) * PART_BYTES,
    );
    let split = Split::Even(purpose.chunks.saturating_mul(parts));
    let line = file.demands.first().map_or(1, |demand| demand.line);
    let spec = limits::spec(&request.with_root(purpose.root), split, line)?;
    limits::check_places(&spec, 0, true, None)?;
    let mut steps = Steps {
        builder: ScheduleBuilder::new("teccl", spec.clone()),
        spec,
        parts,
        streams: BTreeMap::new(),
        lives: BTreeMap::new(),
        repeated: 0,
        deliveries: Deliveries::default(),
        lines: StepLines::default(),
    };
    let mut rounds = 0;
    for of_epoch in messages.chunk_by(|a, b| a.epoch == b.epoch) {
        steps.add(&purpose, of_epoch, rounds)?;
        rounds += 1;
    }
    let last = messages.last().map_or(0, |last| u64::from(last.epoch) + 1);
    notes.splice(
        0..0,
        self::notes(&file, &purpose, [u64::from(rounds), last]),
    );
    if steps.repeated > 0 {
        let repeated = steps.repeated;
        notes.push(format!("{repeated} messages carry what is there already"));
    }
    if parts > 1 {
        notes.push(format!(
            "chunks are cut into {parts} parts, of which flows carry some"
        ));
    }
    Ok(Imported {
        schedule: steps.builder.finish(),
        notes,
        lines: steps.lines,
    })
}

/// What the file says and the schedule does not.
fn notes(file: &File, purpose: &Purpose, [rounds, last]: [u64; 2]) -> Vec<String> {
    let mut epochs = format!("an epoch is a round: {rounds} of {last} send something");
    if let Some(seconds) = file.epoch_seconds {
        epochs += &format!(", and take {seconds} s each there");
    }
    let mut notes = vec![epochs];
    let (nodes, ranks) = (&purpose.nodes, purpose.nodes.len());
    if nodes.last().is_some_and(|&last| last as usize + 1 != ranks) {
        let nodes = stretches(nodes);
        let last = ranks - 1;
        notes.push(format!(
            "nodes {nodes} are ranks 0 to {last}, in order; the others want nothing"
        ));
    }
    let switched = file
        .flows
        .iter()
        .filter(|flow| flow.hop.is_switched)
        .count();
    if switched > 0 {
        notes.push(format!(
            "{switched} flows pass switches, which are no ranks"
        ));
    }
    notes
}

/// Ascending numbers in words: `1-3, 5`.
fn stretches(numbers: &[u32]) -> String {
    let mut all: Vec<[u32; 2]> = Vec::new();
    for &number in numbers {
        match all.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => all.push([number; 2]),
        }
    }
    let words = all.into_iter().map(|[first, last]| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    words.collect::<Vec<String>>().join(", ")
}

/// The fewest parts of a chunk of which every fraction is a whole number.
fn parts(file: &File) -> Result<u32, Fault> {
    if !file.has_volumes {
        return Ok(1);
    }
    let of_paths = |demand: &Demand| {
        let hops = demand.paths.iter().flatten().map(|hop| hop.volume);
        (hops.collect::<Vec<_>>(), demand.line)
    };
    let all: Vec<(Vec<f64>, u32)> = file.demands.iter().map(of_paths).collect();
    let is_whole = |volume: f64, parts: u32| {
        let scaled = volume * f64::from(parts);
        (scaled - scaled.round()).abs() <= TOLERANCE * f64::from(parts)
    };
    let mut distinct: Vec<f64> = all
        .iter()
        .flat_map(|(volumes, _)| volumes)
        .copied()
        .collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let fits = |parts: &u32| distinct.iter().all(|&volume| is_whole(volume, *parts));
    (1..=PARTS_MAX).find(fits).ok_or_else(|| {
        let line = all.first().map_or(1, |&(_, line)| line);
        Fault::at(
            line,
            format!("the fractions of chunks are no multiples of 1/{PARTS_MAX} or more"),
            format!("volumes are multiples of 1/N, N at most {PARTS_MAX}"),
        )
    })
}

/// Every flow is a message of a whole chunk.
fn of_flows(file: &File) -> Vec<Message> {
    let message = |flow: &Flow| Message {
        epoch: flow.hop.epoch,
        source: flow.source,
        chunk: flow.chunk,
        from: flow.hop.from,
        to: flow.hop.to,
        first: 0,
        end: 1,
        line: flow.line,
    };
    let mut messages: Vec<Message> = file.flows.iter().map(message).collect();
    messages.sort();
    messages
}

/// Every hop of a path is a message of the parts that take this path.
fn of_paths(file: &File, parts: u32, notes: &mut Vec<String>) -> Result<Vec<Message>, Fault> {
    let mut messages = Vec::new();
    for demand in &file.demands {
        let mut first = 0;
        for path in &demand.paths {
            let Some(volume) = path.first().map(|hop| hop.volume) else {
                continue;
            };
            if path
                .iter()
                .any(|hop| (hop.volume - volume).abs() > TOLERANCE)
            {
                let wrong = "the hops of a path carry different volumes";
                return Err(Fault::at(demand.line, wrong, "what goes in comes out"));
            }
            let end = u32::saturating_add(first, (volume * f64::from(parts)).round() as u32);
            if end == first {
                continue;
            }
            messages.extend(path.iter().map(|hop| Message {
                epoch: hop.epoch,
                source: demand.source,
                chunk: demand.chunk,
                from: hop.from,
                to: hop.to,
                first,
                end,
                line: demand.line,
            }));
            first = end;
        }
        if first != parts {
            let wrong = format!(
                "the paths to node {} carry {} of chunk {} from node {}",
                demand.at,
                f64::from(first) / f64::from(parts),
                demand.chunk,
                demand.source
            );
            return Err(Fault::at(demand.line, wrong, "their volumes sum to 1"));
        }
    }
    messages.sort();
    let surplus = surplus(file);
    if surplus > 0 {
        notes.push(format!(
            "{surplus} flows carry more than any path, and are left out as far"
        ));
    }
    Ok(messages)
}

/// A file says twice what goes where, in flows and in paths: what a path takes, a flow must carry.
fn check_paths(file: &File) -> Result<(), Fault> {
    let mut carried: BTreeMap<[u32; 5], f64> = BTreeMap::new();
    for flow in &file.flows {
        let key = key(flow.chunk, flow.source, &flow.hop);
        *carried.entry(key).or_default() += flow.hop.volume;
    }
    for demand in &file.demands {
        for hop in demand.paths.iter().flatten() {
            let volume = carried.get(&key(demand.chunk, demand.source, hop));
            if volume.is_none_or(|&volume| volume < hop.volume - TOLERANCE) {
                let Hop {
                    from, to, epoch, ..
                } = *hop;
                let (chunk, source) = (demand.chunk, demand.source);
                let wrong = format!(
                    "a path of this demand takes {from}->{to} in epoch {epoch}, where no flow has \
                     that much of chunk {chunk} from {source}"
                );
                let right = "what a path takes is among the flows, with the same epoch";
                return Err(Fault::at(demand.line, wrong, right));
            }
        }
    }
    Ok(())
}

/// What is sent, over which link and when.
fn key(chunk: u32, source: u32, hop: &Hop) -> [u32; 5] {
    [chunk, source, hop.from, hop.to, hop.epoch]
}

/// Flows that carry more than all paths over the same link in the same epoch.
fn surplus(file: &File) -> usize {
    let mut left: BTreeMap<[u32; 5], f64> = BTreeMap::new();
    for flow in &file.flows {
        *left
            .entry(key(flow.chunk, flow.source, &flow.hop))
            .or_default() += flow.hop.volume;
    }
    for demand in &file.demands {
        for hop in demand.paths.iter().flatten() {
            *left
                .entry(key(demand.chunk, demand.source, hop))
                .or_default() -= hop.volume;
        }
    }
    left.into_values().filter(|&left| left > TOLERANCE).count()
}

/// What has happened to a chunk at a rank.
#[derive(Default)]
struct Life {
    /// Where it came last.
    arrival: Option<StepRef>,
    /// What has sent it since.
    sends: Vec<StepRef>,
}

struct Steps {
    builder: ScheduleBuilder,
    spec: Spec,
    parts: u32,
    /// The stream of every rank, direction and neighbour.
    streams: BTreeMap<(Rank, bool, Rank), u32>,
    lives: BTreeMap<(Rank, ChunkId), Life>,
    /// Messages that carry what is there already.
    repeated: u32,
    deliveries: Deliveries,
    lines: StepLines,
}

impl Steps {
    /// The messages of one epoch: what is sent has come in an earlier one, so sends are first.
    fn add(&mut self, purpose: &Purpose, messages: &[Message], round: u32) -> Result<(), Fault> {
        let mut carried = Vec::with_capacity(messages.len());
        for message in messages {
            let (from, to, chunks) = self.ends(purpose, message)?;
            let list = self.builder.list(&chunks);
            let stream = self.stream(from, true, to);
            let op = Op::Send { to, chunks: list };
            let sent = self.builder.push_on(round, (from, stream), op);
            self.lines.push(sent, message.line);
            let mut awaited = BTreeSet::new();
            for &chunk in &chunks {
                let life = self.lives.entry((from, chunk)).or_default();
                life.sends.push(sent);
                awaited.extend(life.arrival);
            }
            self.wait(sent, awaited);
            carried.push((from, to, chunks, list, message.line));
        }
        for (from, to, chunks, list, line) in carried {
            let stream = self.stream(to, false, from);
            let op = Op::Recv {
                from,
                chunks: list,
                arrival: Arrival::Store,
            };
            let received = self.builder.push_on(round, (to, stream), op);
            self.lines.push(received, line);
            // What comes once more overwrites what others may still be sending.
            let mut awaited = BTreeSet::new();
            for chunk in chunks {
                let life = self.lives.entry((to, chunk)).or_default();
                awaited.extend(life.sends.drain(..));
                awaited.extend(life.arrival.replace(received));
            }
            self.repeated += u32::from(!awaited.is_empty());
            self.wait(received, awaited);
        }
        Ok(())
    }

    fn wait(&mut self, step: StepRef, awaited: BTreeSet<StepRef>) {
        // A stream is in order without waits.
        for on in awaited.into_iter().filter(|on| on.stream != step.stream) {
            self.builder.wait(step, on);
        }
    }

    /// Sender and receiver of a message, and what it carries.
    fn ends(
        &mut self,
        purpose: &Purpose,
        message: &Message,
    ) -> Result<(Rank, Rank, Vec<ChunkId>), Fault> {
        let Message {
            source,
            chunk,
            line,
            ..
        } = *message;
        let Some(&(block, at)) = purpose.places.get(&(source, chunk)) else {
            let wrong = format!("nobody wants chunk {chunk} from node {source}");
            let right = "leave out the flow, or add its demand";
            return Err(Fault::at(line, wrong, right));
        };
        let (Some(from), Some(to)) = (purpose.rank(message.from), purpose.rank(message.to)) else {
            let wrong = format!("no node {} or {}", message.from, message.to);
            return Err(Fault::at(line, wrong, "name nodes that want something"));
        };
        let first = at * self.parts;
        let parts = first + message.first..first + message.end;
        let chunks: Vec<ChunkId> = parts.map(|part| self.spec.chunk(block, part)).collect();
        self.deliveries.add(chunks.len() as u64, 1, line)?;
        Ok((from, to, chunks))
    }

    /// The stream of a rank that sends to a neighbour or receives from it.
    fn stream(&mut self, rank: Rank, is_send: bool, peer: Rank) -> u32 {
        if let Some(&stream) = self.streams.get(&(rank, is_send, peer)) {
            return stream;
        }
        let all = (rank, false, Rank(0))..=(rank, true, Rank(u32::MAX));
        let stream = match self.streams.range(all).next() {
            None => 0,
            Some(_) => self.builder.add_stream(rank, 0),
        };
        self.streams.insert((rank, is_send, peer), stream);
        stream
    }
}
