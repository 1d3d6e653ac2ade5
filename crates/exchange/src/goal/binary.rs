// SPDX-License-Identifier: MIT OR Apache-2.0
//! The binary form of a graph: what LogGOPSim's `txt2bin` makes of the text, byte by byte.
//!
//! Little endian and packed: u64 4223; from here on offsets count: u32 ranks, u8 cores, u8 network
//! interfaces, and of every rank u64 begin, u64 end. A rank is u32 nodes, u32 roots, the numbers of the
//! roots, nodes of 39 bytes, and a list of followers that the nodes point into: those that wait for a
//! node's end, then those that wait for its start.
//!
//! Source: spcl/LogGOPSim, `src/LogGOPSim/Parser.hpp`. LogGOPSim2 has another layout under the same
//! number, whose nodes do not come out as whole ones here.

use super::graph::{Graph, Operation, OperationKind, Units};
use crate::error::Fault;
use crate::few::Few;
use crate::limits::BYTES_MAX;

const MAGIC: u64 = 4223;
/// What is there instead once LogGOPSim has run the file, which it spoils.
const SPENT: u64 = 2342;
const NODE: usize = 39;
const SEND: u8 = 1;
const RECV: u8 = 2;
const CALC: u8 = 3;
/// Any rank or tag.
const ANY: u32 = u32::MAX;
/// Most ranks of a file.
const RANKS_MAX: usize = 1 << 20;

const RIGHT: &str = "write the file again with LogGOPSim's txt2bin";

/// Whether contents begin like the binary form.
pub(super) fn is(contents: &[u8]) -> bool {
    let magic = contents
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes));
    matches!(magic, Some(MAGIC | SPENT))
}

fn fault(byte: usize, wrong: impl AsRef<str>) -> Fault {
    Fault::whole(format!("byte {byte}: {}", wrong.as_ref()), RIGHT)
}

/// Bytes that are taken one after the other; offsets are those of the file.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let rest = self.all.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.first_chunk() else {
            return Err(fault(self.all.len(), "the file ends too early"));
        };
        self.at += N;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, Fault> {
        self.take().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it, and at which byte.
pub fn parse(contents: &[u8]) -> Result<Graph, Fault> {
    let mut bytes = Bytes {
        all: contents,
        at: 0,
    };
    if bytes.u64()? == SPENT {
        return Err(fault(0, "LogGOPSim has run this file, and has used it up"));
    }
    let base = bytes.at;
    let ranks = bytes.u32()? as usize;
    let _needed = [bytes.u8()?, bytes.u8()?];
    if ranks == 0 || ranks > RANKS_MAX {
        let wrong = format!("{ranks} ranks; a file has 1 to {RANKS_MAX}");
        return Err(fault(base, wrong));
    }
    let mut graph = Graph {
        ranks: Vec::new(),
        units: Units::default(),
    };
    // Ranks that lie in each other would take more memory than the file.
    let mut left = contents.len();
    for rank in 0..ranks {
        let (at, begin) = (bytes.at, bytes.u64()?);
        let end = bytes.u64()?;
        let place = |offset: u64| usize::try_from(offset).ok()?.checked_add(base);
        let found = place(begin).zip(place(end));
        let Some((begin, end)) =
            found.filter(|&(begin, end)| begin <= end && end <= contents.len())
        else {
            return Err(fault(at, format!("rank {rank} is not inside the file")));
        };
        left = left
            .checked_sub(end - begin)
            .ok_or_else(|| fault(at, "its ranks lie in each other"))?;
        let mut own = Bytes {
            all: &contents[..end],
            at: begin,
        };
        let operations = of_rank(&mut own, ranks as u32, &mut graph.units)?;
        graph.ranks.push(operations);
    }
    Ok(graph)
}

/// How many followers of a node there are, and where they begin in the list.
type Span = (u32, u32);

fn of_rank(bytes: &mut Bytes<'_>, ranks: u32, units: &mut Units) -> Result<Vec<Operation>, Fault> {
    let at = bytes.at;
    let (nodes, roots) = (bytes.u32()? as usize, bytes.u32()? as usize);
    let left = bytes.all.len() - bytes.at;
    if nodes.saturating_mul(NODE).saturating_add(4 * roots) > left {
        let wrong = format!("{nodes} nodes and {roots} roots are more than there are bytes for");
        return Err(fault(at, wrong));
    }
    let mut is_root = vec![false; nodes];
    for _ in 0..roots {
        let (at, root) = (bytes.at, bytes.u32()? as usize);
        match is_root.get_mut(root) {
            Some(is_root) => *is_root = true,
            None => return Err(fault(at, format!("there is no node {root}"))),
        }
    }
    let mut operations: Vec<Operation> = Vec::with_capacity(nodes);
    let mut counts: Vec<u32> = Vec::with_capacity(nodes);
    let mut followers: Vec<[Span; 2]> = Vec::with_capacity(nodes);
    let begin = bytes.at;
    for number in 0..nodes {
        counts.push(bytes.u32()?);
        let kind = kind(bytes, ranks)?;
        units.see([bytes.u8()?, bytes.u8()?], number as u32);
        let ends = (bytes.u32()?, bytes.u32()?);
        followers.push([ends, (bytes.u32()?, bytes.u32()?)]);
        operations.push(Operation {
            kind,
            after: Few::default(),
            with: Few::default(),
            line: number as u32,
        });
    }
    let list = bytes.at;
    let named = followers
        .iter()
        .flatten()
        .map(|&(count, _)| u64::from(count));
    if named.sum::<u64>() > (bytes.all.len() - list) as u64 / 4 {
        return Err(fault(
            at,
            "its nodes name more followers than there are bytes for",
        ));
    }
    for (number, spans) in (0..).zip(&followers) {
        for (span, is_start) in spans.iter().zip([false, true]) {
            for index in 0..span.0 as usize {
                bytes.at = list.saturating_add(4 * (span.1 as usize + index));
                let (at, follower) = (bytes.at, bytes.u32()? as usize);
                let Some(operation) = operations.get_mut(follower) else {
                    return Err(fault(at, format!("there is no node {follower}")));
                };
                match is_start {
                    true => operation.with.push(number),
                    false => operation.after.push(number),
                }
            }
        }
    }
    for (number, operation) in operations.iter().enumerate() {
        let found = operation.after.len() + operation.with.len();
        let at = begin + number * NODE;
        if counts[number] as usize != found {
            let counted = counts[number];
            let wrong = format!("node {number} waits for {counted} others, and {found} name it");
            return Err(fault(at, wrong));
        }
        if is_root[number] != (found == 0) {
            let wrong = match found {
                0 => format!("node {number} waits for nothing, and is no root: it never begins"),
                _ => format!("node {number} is a root, and waits for others"),
            };
            return Err(fault(at, wrong));
        }
    }
    Ok(operations)
}

fn kind(bytes: &mut Bytes<'_>, ranks: u32) -> Result<OperationKind, Fault> {
    let at = bytes.at;
    let kind = bytes.u8()?;
    let (peer, size, tag) = (bytes.u32()?, bytes.u64()?, bytes.u32()?);
    let known = |peer: u32| match peer < ranks {
        true => Ok(peer),
        false => Err(fault(at, format!("there is no rank {peer}"))),
    };
    let sized = |size: u64| match size <= BYTES_MAX {
        true => Ok(size),
        false => {
            let wrong = format!("a message of {size} bytes; it has at most {BYTES_MAX}");
            Err(fault(at, wrong))
        }
    };
    let some = |number: u32| Some(number).filter(|&number| number != ANY);
    match kind {
        SEND if tag == ANY => Err(fault(at, "a message with any tag")),
        SEND => Ok(OperationKind::Send {
            bytes: sized(size)?,
            to: known(peer)?,
            tag,
        }),
        RECV => Ok(OperationKind::Recv {
            bytes: sized(size)?,
            from: some(peer).map(known).transpose()?,
            tag: some(tag),
        }),
        CALC => Ok(OperationKind::Calc { ns: size }),
        kind => Err(fault(at, format!("no node is of type {kind}"))),
    }
}

/// The file of a graph.
///
/// # Panics
/// If a rank has more than 2^32 operations or waits.
#[must_use]
pub fn file(graph: &Graph) -> Vec<u8> {
    let mut out = MAGIC.to_le_bytes().to_vec();
    out.extend((graph.ranks.len() as u32).to_le_bytes());
    // The highest numbers of cores and network interfaces.
    out.extend([0, 0]);
    let jumps = out.len();
    out.resize(jumps + 16 * graph.ranks.len(), 0);
    for (rank, operations) in graph.ranks.iter().enumerate() {
        let offset = |out: &[u8]| ((out.len() - 8) as u64).to_le_bytes();
        let begin = offset(&out);
        push_rank(&mut out, operations);
        let at = jumps + 16 * rank;
        let end = offset(&out);
        out[at..at + 8].copy_from_slice(&begin);
        out[at + 8..at + 16].copy_from_slice(&end);
    }
    out
}

fn push_rank(out: &mut Vec<u8>, operations: &[Operation]) {
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); operations.len()];
    let mut starts: Vec<Vec<u32>> = vec![Vec::new(); operations.len()];
    for (number, operation) in (0..).zip(operations) {
        operation
            .after
            .iter()
            .for_each(|&on| ends[on as usize].push(number));
        operation
            .with
            .iter()
            .for_each(|&on| starts[on as usize].push(number));
    }
    let u32 = |out: &mut Vec<u8>, number: usize| {
        let number = u32::try_from(number).expect("a file has 32 bits for it");
        out.extend(number.to_le_bytes());
    };
    let is_root = |operation: &Operation| operation.after.is_empty() && operation.with.is_empty();
    let roots = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| is_root(operation));
    let roots: Vec<usize> = roots.map(|(number, _)| number).collect();
    u32(out, operations.len());
    u32(out, roots.len());
    roots.into_iter().for_each(|root| u32(out, root));
    let mut listed = 0;
    for (operation, (ends, starts)) in operations.iter().zip(ends.iter().zip(&starts)) {
        u32(out, operation.after.len() + operation.with.len());
        let (kind, peer, size, tag) = match operation.kind {
            OperationKind::Send { bytes, to, tag } => (SEND, to, bytes, tag),
            OperationKind::Recv { bytes, from, tag } => {
                (RECV, from.unwrap_or(ANY), bytes, tag.unwrap_or(ANY))
            }
            OperationKind::Calc { ns } => (CALC, 0, ns, 0),
        };
        out.push(kind);
        out.extend(peer.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(tag.to_le_bytes());
        out.extend([0, 0]);
        for followers in [ends, starts] {
            u32(out, followers.len());
            u32(out, listed);
            listed += followers.len();
        }
    }
    for follower in ends
        .iter()
        .zip(&starts)
        .flat_map(|(ends, starts)| ends.iter().chain(starts))
    {
        u32(out, *follower as usize);
    }
}
