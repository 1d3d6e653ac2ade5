// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces of netrace (Hestness, Grot and Keckler 2010): packets between caches and memory controllers,
//! each with the packets that wait for it.
//!
//! Little endian and packed: a header of 72 bytes (magic, version, name, nodes, cycles, packets, length
//! of notes, regions), notes, regions of 24 bytes, then packets of 21 bytes with the numbers of those
//! that wait for them. How long a packet is its type says: with a line of 64 bytes 72 bytes, else 8. A
//! node is the core of its number. Regions are read one after the other.
//!
//! Source: booksim/netrace, `netrace.h` and `netrace.c`.

use std::collections::BTreeMap;

use super::{Trace, TraceError, TracePlace};
use crate::network::mesh::Packet;

const MAGIC: u32 = 0x484A_5455;
const VERSION: f32 = 1.0;
/// Bytes of a region's header.
const REGION: usize = 24;
/// Types of packets that carry a line, and of those that do not.
const LONG: [u8; 6] = [2, 3, 4, 6, 16, 30];
const SHORT: [u8; 9] = [1, 5, 13, 14, 15, 25, 27, 28, 29];

/// Whether unpacked contents begin like a trace.
pub(super) fn is(contents: &[u8]) -> bool {
    contents.starts_with(&MAGIC.to_le_bytes())
}

/// What is left of a file.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn fault(&self, what: impl Into<String>) -> TraceError {
        TraceError {
            at: TracePlace::Byte(self.at),
            what: what.into(),
        }
    }

    fn take(&mut self, count: usize, of: &str) -> Result<&'a [u8], TraceError> {
        let rest = &self.all[self.at..];
        let Some(taken) = rest.get(..count) else {
            return Err(self.fault(format!("the file ends inside {of}")));
        };
        self.at += count;
        Ok(taken)
    }
}

fn u32_of(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_le_bytes(bytes.expect("four bytes"))
}

fn u64_of(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_of(bytes, at)) | u64::from(u32_of(bytes, at + 4)) << 32
}

pub(super) fn parse(contents: &[u8], cores: u32, flit_bytes: u64) -> Result<Trace, TraceError> {
    let mut bytes = Bytes {
        all: contents,
        at: 0,
    };
    let (nodes, packets) = header(&mut bytes)?;
    if u32::from(nodes) > cores {
        let what = format!("the trace is of {nodes} nodes, and the mesh has {cores} cores");
        return Err(bytes.fault(what));
    }
    let mut trace = Trace::default();
    // Packets that wait, by their own numbers, for those that have come.
    let mut awaited: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    while bytes.at < contents.len() {
        let begin = bytes.at;
        let place = |what: String| TraceError {
            at: TracePlace::Byte(begin),
            what,
        };
        let head = bytes.take(21, "a packet")?;
        let (cycle, id, kind) = (u64_of(head, 0), u32_of(head, 8), head[16]);
        let (src, dst) = (u32::from(head[17]), u32::from(head[18]));
        let size = match kind {
            kind if LONG.contains(&kind) => 72_u64,
            kind if SHORT.contains(&kind) => 8,
            kind => return Err(place(format!("no packet is of type {kind}"))),
        };
        if let Some(node) = [src, dst]
            .into_iter()
            .find(|&node| node >= u32::from(nodes))
        {
            return Err(place(format!("node {node} of {nodes} nodes")));
        }
        let own = trace.packets.len() as u32;
        let flits = size.div_ceil(flit_bytes.max(1)) as u32;
        let packet = Packet::new(src, dst, flits);
        trace.push(cycle, packet, cores).map_err(place)?;
        if seen.insert(id, own).is_some() {
            return Err(place(format!("packet {id} is there a second time")));
        }
        for before in awaited.remove(&id).unwrap_or_default() {
            trace.wait(before, own).map_err(place)?;
        }
        let followers = bytes.take(4 * usize::from(head[20]), "the packets that wait for one")?;
        for follower in followers.chunks_exact(4).map(|id| u32_of(id, 0)) {
            if seen.contains_key(&follower) {
                let what = format!("packet {follower} waits for packet {id}, which comes after it");
                return Err(place(what));
            }
            awaited.entry(follower).or_default().push(own);
        }
    }
    if let Some((id, _)) = awaited.first_key_value() {
        let what = format!("packet {id} is waited with, and is not in the file");
        return Err(bytes.fault(what));
    }
    if trace.packets.len() as u64 != packets {
        let found = trace.packets.len();
        let what = format!("the header has {packets} packets, and the file {found}");
        return Err(bytes.fault(what));
    }
    Ok(trace)
}

/// Nodes and packets.
fn header(bytes: &mut Bytes<'_>) -> Result<(u8, u64), TraceError> {
    let head = bytes.take(72, "the header")?;
    let version = f32::from_bits(u32_of(head, 4));
    if version != VERSION {
        let what = format!("version {version}; {VERSION:.1} is the one that is known");
        return Err(TraceError {
            at: TracePlace::Byte(4),
            what,
        });
    }
    let (nodes, packets) = (head[38], u64_of(head, 48));
    let (notes, regions) = (u32_of(head, 56) as usize, u32_of(head, 60) as usize);
    bytes.take(notes, "the notes")?;
    bytes.take(regions.saturating_mul(REGION), "the regions")?;
    Ok((nodes, packets))
}
