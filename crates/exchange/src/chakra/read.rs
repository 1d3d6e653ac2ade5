// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trace as a schedule.

use std::collections::BTreeMap;

use corecast_core::{
    Collective, FullCrossbar, Help as _, Rank, Request, Schedule, Split, Violation, algorithm,
    verify,
};
use corecast_text::quoted;

use super::trace::{self, COLL, COMP, Node, OfRank, RECV, SEND, fault};
use crate::error::Fault;
use crate::few::Few;
use crate::format::Imported;
use crate::goal::graph::{Graph, Operation, OperationKind, Units};
use crate::limits::{self, BYTES_MAX};
use crate::lines::StepLines;
use crate::{goal, msccl};

/// Most ranks of a trace.
const RANKS_MAX: usize = 1 << 16;

/// In ASTRA-sim a send ends without its receive, however long its message is.
const SOURCE: goal::Source = goal::Source {
    name: "chakra",
    place: "operation",
    eager_bytes_max: u64::MAX,
};

/// Which of our algorithms serves a collective of which a trace says no more; the first that can.
const PREFERRED: [&str; 5] = ["ring", "binomial", "pairwise", "dissemination", "linear"];

pub(super) fn parse(contents: &[u8]) -> Result<Imported, Fault> {
    let ranks = trace::parse(contents)?;
    if ranks.is_empty() || ranks.len() > RANKS_MAX {
        let right = format!("a trace has 1 to {RANKS_MAX} ranks, each with a file NAME.RANK.et");
        return Err(Fault::whole(
            format!("a trace of {} ranks", ranks.len()),
            right,
        ));
    }
    if let Some(imported) = collective(&ranks)? {
        return Ok(imported);
    }
    let graph = graph(&ranks)?;
    // Lines of the graph are messages of the files.
    let read = goal::schedule(&graph, SOURCE).map(Imported::without_lines);
    let mut read = read.map_err(|fault| match fault.line {
        Some(message) => trace::fault(message, &fault.wrong, &fault.right),
        None => fault,
    })?;
    let Some(input) = ranks.first().and_then(|rank| rank.input.as_deref()) else {
        return Ok(read);
    };
    match of_input(input, &graph, &read.schedule) {
        Ok(imported) => Ok(imported),
        Err(why) => {
            let note = "the metadata have a file that the trace was made from, which is not read: ";
            read.notes.push(format!("{note}{why}"));
            Ok(read)
        }
    }
}

/// The file in the metadata from which the trace was made, if the trace is sound by itself and has its
/// messages.
///
/// # Errors
/// Why it is not read.
fn of_input(input: &str, graph: &Graph, read: &Schedule) -> Result<Imported, String> {
    let certificate = verify(read, &FullCrossbar);
    // Where a trace is from, a send waits for no receive.
    let is_wrong = |found: &&Violation| !matches!(found, Violation::NeedsSlots { .. });
    if let Some(first) = certificate.violations.iter().find(is_wrong) {
        return Err(format!("the trace by itself is not correct: {first}"));
    }
    let imported = msccl::read::parse(input).map_err(|fault| fault.wrong)?;
    let mut imported = imported.without_lines();
    let other = || "its messages are others than those of the trace".to_owned();
    imported.schedule = of_size(&imported.schedule, certificate.payload_bytes).ok_or_else(other)?;
    let schedule = &imported.schedule;
    let sends = schedule.sends();
    let ours =
        sends.map(|(from, _, half)| (from.0, half.to.0, schedule.message_bytes(half.chunks)));
    if sorted(ours) != sorted(sent(graph)) {
        return Err(other());
    }
    let note = "the metadata have the MSCCL file that the trace was made from, whose messages have the \
                ends and sizes of those of the trace: its steps, their order and its data are verified, \
                and what the trace says of dependences, tags and computations is left out";
    imported.notes.insert(0, note.to_owned());
    Ok(imported)
}

/// A schedule with the size with which its messages have so many bytes in all; none if there is none.
fn of_size(schedule: &Schedule, payload: u64) -> Option<Schedule> {
    let spec = schedule.spec();
    let sends = schedule.sends();
    let all: u64 = sends
        .map(|(.., half)| schedule.message_bytes(half.chunks))
        .sum();
    let bytes = u128::from(spec.bytes()) * u128::from(payload);
    let bytes = bytes.checked_div(u128::from(all))?;
    let bytes = u64::try_from(bytes)
        .ok()
        .filter(|&bytes| bytes <= BYTES_MAX)?;
    let mut request = Request::new(spec.collective(), spec.ranks(), bytes);
    request.root = spec.root();
    request.check().ok()?;
    schedule.serving(schedule.algorithm(), &request).ok()
}

/// The sender, the receiver and the length of every message.
fn sent(graph: &Graph) -> impl Iterator<Item = (u32, u32, u64)> {
    let of_rank = |(from, operations): (u32, &'_ Vec<Operation>)| {
        let of_one = operations
            .iter()
            .filter_map(move |operation| match operation.kind {
                OperationKind::Send { to, bytes, .. } => Some((from, to, bytes)),
                _ => None,
            });
        of_one.collect::<Vec<_>>()
    };
    (0..).zip(&graph.ranks).flat_map(of_rank)
}

fn sorted<T: Ord>(of: impl Iterator<Item = T>) -> Vec<T> {
    let mut sorted: Vec<T> = of.collect();
    sorted.sort_unstable();
    sorted
}

/// The operations of all ranks.
fn graph(ranks: &[OfRank]) -> Result<Graph, Fault> {
    let mut graph = Graph {
        ranks: Vec::with_capacity(ranks.len()),
        units: Units::default(),
    };
    for rank in ranks {
        let mut operations = Vec::with_capacity(rank.nodes.len());
        for (node, after) in rank.nodes.iter().zip(dependences(rank)?) {
            operations.push(Operation {
                kind: kind(node, ranks.len())?,
                after: after.into(),
                with: Few::default(),
                line: node.message,
            });
        }
        graph.ranks.push(operations);
    }
    Ok(graph)
}

/// For every node of a rank the places of those that must have ended.
///
/// # Errors
/// A number that two nodes have, or none.
pub fn dependences(rank: &OfRank) -> Result<Vec<Vec<u32>>, Fault> {
    let mut places: BTreeMap<u64, u32> = BTreeMap::new();
    for (place, node) in (0..).zip(&rank.nodes) {
        if places.insert(node.id, place).is_some() {
            let wrong = format!("node {} is there a second time", node.id);
            let right = "every node of a rank has its own id";
            return Err(fault(node.message, &wrong, right));
        }
    }
    let of_node = |node: &Node| {
        let of = |on: &u64| {
            places.get(on).copied().ok_or_else(|| {
                let wrong = format!("it depends on node {on}, which its rank does not have");
                let right = "dependences name ids of the same rank";
                fault(node.message, &wrong, right)
            })
        };
        node.after.iter().map(of).collect()
    };
    rank.nodes.iter().map(of_node).collect()
}

/// What a node does that is no collective.
///
/// # Errors
/// An attribute that is missing or out of range, or a type that there is not.
pub fn kind(node: &Node, ranks: usize) -> Result<OperationKind, Fault> {
    let number = |name: &str, most: u64, default: Option<u64>| {
        let found = node.number(name).or(default);
        found.filter(|&number| number <= most).ok_or_else(|| {
            let wrong = format!("its `{name}` is missing or out of range");
            fault(
                node.message,
                &wrong,
                &format!("{name} is a number from 0 to {most}"),
            )
        })
    };
    let peer = |name: &str| match node.number(name) {
        Some(rank) if rank >= ranks as u64 && rank <= RANKS_MAX as u64 => {
            let wrong = format!("its `{name}` is rank {rank}, of which there is no file");
            let right = format!("the files are of the ranks 0 to {}", ranks - 1);
            Err(fault(node.message, &wrong, &right))
        }
        _ => Ok(number(name, ranks as u64 - 1, None)? as u32),
    };
    let tag = || Ok(number("comm_tag", u64::from(u32::MAX), Some(0))? as u32);
    match node.kind {
        SEND => Ok(OperationKind::Send {
            bytes: number("comm_size", BYTES_MAX, None)?,
            to: peer("comm_dst")?,
            tag: tag()?,
        }),
        RECV => Ok(OperationKind::Recv {
            bytes: number("comm_size", BYTES_MAX, None)?,
            from: Some(peer("comm_src")?),
            tag: Some(tag()?),
        }),
        COLL => Err(fault(
            node.message,
            "a collective among sends, receives or other collectives",
            "a schedule is one collective: a trace of one COMM_COLL node per rank, or of sends and \
             receives\n`corecast replay` runs such traces as programs",
        )),
        1..=COMP => Ok(OperationKind::Calc {
            ns: node.micros.saturating_mul(1000),
        }),
        kind => Err(fault(
            node.message,
            &format!("no node is of type {kind}"),
            "types are 1 (metadata) to 7 (collective)",
        )),
    }
}

/// The schedule of one collective per rank by an algorithm of ours; none if there are messages.
fn collective(ranks: &[OfRank]) -> Result<Option<Imported>, Fault> {
    let is_other = |node: &&Node| node.kind == SEND || node.kind == RECV;
    if ranks
        .iter()
        .any(|rank| rank.nodes.iter().any(|node| is_other(&node)))
    {
        return Ok(None);
    }
    let of_rank = |rank: &OfRank| {
        let colls = rank.nodes.iter().filter(|node| node.kind == COLL);
        let colls: Vec<Node> = colls.cloned().collect();
        <[Node; 1]>::try_from(colls).ok().map(|[node]| node)
    };
    let nodes: Option<Vec<Node>> = ranks.iter().map(of_rank).collect();
    let Some(nodes) = nodes else {
        return Ok(None);
    };
    let Some(first) = nodes.first() else {
        return Ok(None);
    };
    let asked = |node: &Node| ["comm_type", "comm_size", "root"].map(|name| node.number(name));
    if let Some(other) = nodes.iter().find(|node| asked(node) != asked(first)) {
        let wrong = "its rank asks for another collective than the first";
        return Err(fault(
            other.message,
            wrong,
            "all ranks name the same type, size and root",
        ));
    }
    if let Some(other) = nodes.iter().find(|node| node.group() != first.group()) {
        let wrong = format!(
            "its process group is `{}`, and that of the first rank's collective is `{}`",
            quoted(&other.group()),
            quoted(&first.group())
        );
        let right = "a schedule is one collective of all ranks, in one group\n\
                     `corecast replay` runs such traces as programs";
        return Err(fault(other.message, &wrong, right));
    }
    let request = request(first, ranks.len() as u32)?;
    let (name, schedule) = serve(&request).ok_or_else(|| {
        let right = "`corecast list algorithms` lists what there is";
        fault(first.message, "no algorithm serves this request", right)
    })?;
    let note = format!("the trace names no algorithm: {name} is taken");
    let mut notes = vec![note];
    notes.extend(trace::partial_note(ranks));
    Ok(Some(Imported {
        schedule,
        notes,
        lines: StepLines::default(),
    }))
}

/// What a collective asks for.
///
/// # Errors
/// A type that there is not, a size or root that is missing or out of range.
pub fn request(node: &Node, ranks: u32) -> Result<Request, Fault> {
    let kind = node.number("comm_type").unwrap_or(0);
    let known = trace::COLLECTIVES.iter().find(|(known, _)| *known == kind);
    let Some(&(_, collective)) = known else {
        let wrong = format!("no collective has comm_type {kind}");
        return Err(fault(
            node.message,
            &wrong,
            "comm_type is 0 (all_reduce) to 9 (barrier)",
        ));
    };
    let size = match collective {
        Collective::Barrier => 0,
        _ => node
            .number("comm_size")
            .filter(|&size| size <= BYTES_MAX)
            .ok_or_else(|| {
                let right = format!("comm_size is a number from 0 to {BYTES_MAX}");
                fault(
                    node.message,
                    "its `comm_size` is missing or out of range",
                    &right,
                )
            })?,
    };
    // What ASTRA-sim's sizes are of: these two are all blocks of a rank.
    let bytes = match collective {
        Collective::ReduceScatter | Collective::Alltoall => size.div_ceil(u64::from(ranks)),
        _ => size,
    };
    let mut request = Request::new(collective, ranks, bytes);
    if collective.is_rooted() {
        request.root = Rank(node.number("root").unwrap_or(0).min(u64::from(u32::MAX)) as u32);
    }
    let checked = request.check();
    checked.map_err(|error| fault(node.message, &error.to_string(), &error.help()))?;
    limits::spec(&request, Split::Even(1), 1)?;
    Ok(request)
}

fn serve(request: &Request) -> Option<(&'static str, Schedule)> {
    let mut known = PREFERRED.iter();
    known.find_map(|name| {
        let found = algorithm::find(request.collective, name)?;
        let schedule = algorithm::build(found, request).ok()?;
        Some((found.name(), schedule))
    })
}
