// SPDX-License-Identifier: MIT OR Apache-2.0
//! A graph as a schedule: the exchange of its messages.
//!
//! Every send or receive becomes a step; those of one peer, tag and direction are a stream, in an order
//! in which they can begin, which is that in which they match. What an operation requires becomes a
//! wait, and a computation between the two falls away; to begin no earlier than another operation begins
//! is to wait for all that the other one waits for. What a rank sends to itself is a copy.

use std::collections::BTreeMap;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, ScheduleBuilder, Spec, StepRef, verify,
};

use super::graph::{Graph, Operation, OperationKind};
use super::messages::{Ends, Messages};
use super::order::{awaited, sorted};
use super::progress::Progress;
use crate::error::Fault;
use crate::format::Imported;
use crate::lines::StepLines;

/// What a graph was read from.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    /// The format's name.
    pub name: &'static str,
    /// What a line is called there.
    pub place: &'static str,
    /// Messages of more bytes wait for their receivers where it is at home, others do not.
    pub eager_bytes_max: u64,
}

/// The schedule of a graph; its lines are those of operations.
pub(crate) fn schedule(graph: &Graph, source: Source) -> Result<Imported, Fault> {
    let ranks = || (0..).map(Rank).zip(&graph.ranks);
    let orders = ranks().map(|(rank, operations)| sorted(rank, operations));
    let orders = orders.collect::<Result<Vec<_>, _>>()?;
    let messages = Messages::new(graph, &orders);
    let spec = messages.spec(graph.ranks.len() as u32)?;
    let mut steps = Steps {
        builder: ScheduleBuilder::new(source.name, spec.clone()),
        eager_bytes_max: source.eager_bytes_max,
        spec: &spec,
        messages: &messages,
        progress: Progress::default(),
        ends: BTreeMap::new(),
        lines: StepLines::default(),
    };
    let mut waits = 0;
    for ((rank, operations), order) in ranks().zip(&orders) {
        let of_rank = steps.add(rank, operations, order)?;
        let awaited = awaited(operations, order, &mut waits)?;
        for (added, after) in of_rank.iter().zip(awaited) {
            for on in after {
                if let (Some(added), Some(on)) = (added, &of_rank[on as usize]) {
                    steps.wait(added, on);
                }
            }
        }
        steps.copy_own(rank, operations, &of_rank)?;
    }
    let mut notes = notes(graph, source, &messages);
    let lines = std::mem::take(&mut steps.lines);
    let schedule = steps.finish(&mut notes);
    Ok(Imported {
        schedule,
        notes,
        lines,
    })
}

/// What a file says and a schedule does not.
fn notes(graph: &Graph, source: Source, messages: &Messages) -> Vec<String> {
    let name = source.name;
    let mut notes = vec![format!(
        "{name} names no data: read as an alltoallv in which every rank has what it sends"
    )];
    if messages.counts().next().is_none() {
        notes.push("it has no messages, so that there is nothing to be wrong or to run".to_owned());
    }
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
    notes.extend(graph.units.note(source.place));
    notes
}

/// An operation as a step.
struct Added {
    step: StepRef,
    /// Its number in [`Progress`].
    number: u32,
    /// Its message, and the how many-th of its tag that is.
    ends: Ends,
    index: usize,
}

/// One end of a message, if it is there, and its line.
type Half<'a> = Option<(&'a Added, u32)>;

struct Steps<'a> {
    builder: ScheduleBuilder,
    eager_bytes_max: u64,
    spec: &'a Spec,
    messages: &'a Messages,
    progress: Progress,
    /// Per sender, receiver and tag the numbers of the sends and of the receives.
    ends: BTreeMap<Ends, [Vec<u32>; 2]>,
    lines: StepLines,
}

impl Steps<'_> {
    /// The steps of a rank, one for every operation that is no computation.
    fn add(
        &mut self,
        rank: Rank,
        operations: &[Operation],
        order: &[u32],
    ) -> Result<Vec<Option<Added>>, Fault> {
        let mut streams: BTreeMap<(bool, u32, u32), (u32, Option<u32>)> = BTreeMap::new();
        let mut steps: Vec<Option<Added>> = Vec::new();
        steps.resize_with(operations.len(), || None);
        for &at in order {
            let operation = &operations[at as usize];
            let (is_send, peer, tag, bytes) = match operation.kind {
                OperationKind::Calc { .. } => continue,
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
            let ends = match is_send {
                true => (rank.0, peer, tag),
                false => (peer, rank.0, tag),
            };
            let asks = is_send && bytes > self.eager_bytes_max && peer != rank.0;
            let number = self.progress.add(is_send, asks);
            let of_ends = &mut self.ends.entry(ends).or_default()[usize::from(!is_send)];
            let index = of_ends.len();
            of_ends.push(number);
            let next = streams.len();
            let (stream, last) = streams.entry((is_send, peer, tag)).or_insert_with(|| {
                if next > 0 {
                    return (self.builder.add_stream(rank, tag), None);
                }
                self.builder.set_first_channel(rank, tag);
                (0, None)
            });
            let stream = *stream;
            if let Some(last) = last.replace(number) {
                self.progress.wait(number, last);
            }
            let chunk = self.message(ends, index, bytes, operation.line)?;
            let op = self.op((is_send, peer == rank.0), Rank(peer), chunk);
            let step = self.builder.push_on(0, (rank, stream), op);
            self.lines.push(step, operation.line);
            steps[at as usize] = Some(Added {
                step,
                number,
                ends,
                index,
            });
        }
        Ok(steps)
    }

    /// What a step does with a message, if there is one; one of a rank to itself is copied by its
    /// receiver.
    fn op(&mut self, (is_send, is_own): (bool, bool), peer: Rank, chunk: Option<ChunkId>) -> Op {
        let chunks = self.builder.list(chunk.as_slice());
        match (is_send, is_own) {
            (true, false) => Op::Send { to: peer, chunks },
            (false, false) => Op::Recv {
                from: peer,
                chunks,
                arrival: Arrival::Store,
            },
            (true, true) => Op::Local {
                source: ChunkList::EMPTY,
                target: ChunkList::EMPTY,
                arrival: Arrival::Store,
            },
            (false, true) => {
                let place = chunk.map(|chunk| self.builder.add_result(chunk));
                Op::Local {
                    source: chunks,
                    target: self.builder.list(place.as_slice()),
                    arrival: Arrival::Store,
                }
            }
        }
    }

    /// The chunk of a message with bytes, of which one end says that it has so many.
    fn message(
        &self,
        ends: Ends,
        index: usize,
        bytes: u64,
        line: u32,
    ) -> Result<Option<ChunkId>, Fault> {
        // A receive of what nobody sends is for the verifier to find.
        let Some(message) = self.messages.get(ends, index) else {
            return Ok(None);
        };
        if message.bytes != bytes {
            let (from, to, tag) = ends;
            let wrong = format!(
                "message {index} from rank {from} to rank {to} with tag {tag} has {bytes} bytes \
                 here, and {} where it is sent",
                message.bytes
            );
            return Err(Fault::at(line, wrong, "give both ends the same size"));
        }
        Ok(Messages::chunk(self.spec, ends, message))
    }

    fn wait(&mut self, step: &Added, on: &Added) {
        self.builder.wait(step.step, on.step);
        self.progress.wait(step.number, on.number);
    }

    /// Lets a rank receive what it sends itself when it has sent it.
    fn copy_own(
        &mut self,
        rank: Rank,
        operations: &[Operation],
        steps: &[Option<Added>],
    ) -> Result<(), Fault> {
        let mut halves: BTreeMap<(u32, usize), [Half<'_>; 2]> = BTreeMap::new();
        for (operation, step) in operations.iter().zip(steps) {
            let Some(step) = step.as_ref().filter(|step| step.ends.0 == step.ends.1) else {
                continue;
            };
            let is_send = matches!(operation.kind, OperationKind::Send { .. });
            let of_message = halves.entry((step.ends.2, step.index)).or_default();
            of_message[usize::from(!is_send)] = Some((step, operation.line));
        }
        for ((tag, _), of_message) in halves {
            let (line, does, misses) = match of_message {
                [Some((send, _)), Some((recv, _))] => {
                    self.builder.wait(recv.step, send.step);
                    continue;
                }
                [Some((_, line)), _] => (line, "sends itself", "receives"),
                [None, recv] => (
                    recv.map_or(0, |(_, line)| line),
                    "receives from itself",
                    "sends",
                ),
            };
            let wrong =
                format!("rank {rank} {does} a message with tag {tag} that it never {misses}");
            let right = "a message of a rank to itself has both its ends there";
            return Err(Fault::at(line, wrong, right));
        }
        Ok(())
    }

    /// The schedule, and what is to be said about messages that ask.
    fn finish(mut self, notes: &mut Vec<String>) -> corecast_core::Schedule {
        let eager_bytes_max = self.eager_bytes_max;
        let asks = |bytes| bytes > eager_bytes_max;
        let is_even = self
            .ends
            .values()
            .all(|[sends, recvs]| sends.len() == recvs.len());
        for [sends, recvs] in self.ends.values() {
            for (&send, &recv) in sends.iter().zip(recvs) {
                self.progress.meet(send, recv);
            }
        }
        let has_small = self.messages.any(|bytes| !asks(bytes));
        let is_mixed = has_small && self.messages.any(asks);
        let completes = self.progress.completes();
        if is_mixed && is_even {
            let so = if completes {
                "so it completes"
            } else {
                "so it never completes"
            };
            notes.push(format!(
                "messages of more than {eager_bytes_max} bytes wait for their receivers, others do not: {so}"
            ));
        }
        // Where it completes so, it completes with a slot for every message.
        if completes && has_small {
            let most = self.messages.counts().max().unwrap_or(0);
            self.builder.set_slots(most as u32);
        }
        verify::with_rounds(self.builder.finish())
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
