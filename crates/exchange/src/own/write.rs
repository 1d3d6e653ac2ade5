// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as a file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use corecast_core::{ChunkId, Launch, Rank, Schedule, Split, Transport};

use super::{MAGIC, VERSION};
use crate::quoted_word;

/// The whole file.
pub(super) fn text(schedule: &Schedule) -> String {
    let mut out = format!("{MAGIC} {VERSION}\n");
    header(schedule, &mut out);
    for rank in schedule.all_ranks() {
        write_rank(schedule, rank, &mut out);
    }
    out
}

/// Appends a line.
macro_rules! line {
    ($out:expr, $($arguments:tt)*) => {
        // Writing to a `String` cannot fail.
        let _ = writeln!($out, $($arguments)*);
    };
}

fn header(schedule: &Schedule, out: &mut String) {
    let spec = schedule.spec();
    line!(out, "collective {}", spec.collective());
    line!(out, "algorithm {}", quoted_word(schedule.algorithm()));
    line!(out, "ranks {}", spec.ranks());
    if spec.collective().is_rooted() || spec.root().0 != 0 {
        line!(out, "root {}", spec.root());
    }
    line!(out, "bytes {}", spec.bytes());
    if spec.has_sizes() {
        let sizes = (0..spec.chunks()).map(|chunk| spec.chunk_bytes(ChunkId(chunk)).to_string());
        let sizes: Vec<String> = sizes.collect();
        line!(out, "sizes {}", sizes.join(" "));
    } else if let Some(counts) = spec.counts() {
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        line!(out, "counts {}", counts.join(" "));
    }
    if spec.element_bytes() != 1 {
        line!(out, "element {}", spec.element_bytes());
    }
    match spec.split() {
        Split::Even(1) => {}
        Split::Even(_) if spec.has_sizes() => {}
        Split::Even(parts) => {
            line!(out, "split even {parts}");
        }
        Split::Fixed(bytes) => {
            line!(out, "split fixed {bytes}");
        }
    }
    if let Some(bits) = schedule.status_bits() {
        line!(out, "status-bits {bits}");
    }
    if let Some(bytes) = schedule.piece_bytes() {
        line!(out, "piece-bytes {bytes}");
    }
    match schedule.launch() {
        Launch::Independent => {}
        Launch::AtomicWhenFree => {
            line!(out, "launch atomic-when-free");
        }
        Launch::AtomicOnArrival { hops } => {
            let hops: Vec<String> = hops.iter().map(ToString::to_string).collect();
            line!(out, "launch atomic-on-arrival {}", hops.join(" "));
        }
    }
    if schedule.transport() == Transport::SharedBuffers {
        line!(out, "transport shared-buffers");
    }
    if !schedule.has_flow_control() {
        line!(out, "flow-control off");
    }
    if schedule.slots() > 0 {
        line!(out, "slots {}", schedule.slots());
    }
    for (id, place) in (spec.chunks()..).zip(schedule.places()) {
        match place.result_of {
            Some(chunk) => {
                line!(out, "place {id} result {chunk}");
            }
            None => {
                line!(out, "place {id} bytes {}", place.bytes);
            }
        }
    }
    for (chunk, place) in schedule.moved() {
        line!(out, "result {chunk} in place {place}");
    }
    for (number, tree) in schedule.multicasts().iter().enumerate() {
        let text = format!("mcast {number} root {} {tree}", tree.root());
        line!(out, "{}", text.trim_end());
    }
}

fn write_rank(schedule: &Schedule, rank: Rank, out: &mut String) {
    let streams: Vec<_> = schedule.streams(rank).collect();
    let steps = schedule.steps(rank);
    if let ([(_, 0)], []) = (&streams[..], steps) {
        return; // it does nothing
    }
    let waits = |index| schedule.waits(rank, index);
    let awaited: BTreeSet<usize> = match schedule.has_streams() {
        true => (0..steps.len()).flat_map(waits).collect(),
        false => BTreeSet::new(),
    };
    let label = |index| {
        let at = schedule.step_ref(rank, index);
        format!("{}.{}", at.stream, at.step)
    };
    for (stream, (range, channel)) in streams.into_iter().enumerate() {
        let _ = write!(out, "\nrank {rank}");
        if stream > 0 {
            let _ = write!(out, " stream {stream}");
        }
        if channel > 0 {
            let _ = write!(out, " channel {channel}");
        }
        out.push('\n');
        for index in range {
            out.push_str("  ");
            if awaited.contains(&index) {
                let _ = write!(out, "{}: ", label(index));
            }
            out.push_str(&schedule.step_text(&steps[index]));
            if schedule.has_streams() {
                let on: Vec<String> = waits(index).map(label).collect();
                if !on.is_empty() {
                    let _ = write!(out, " after {}", on.join(", "));
                }
            }
            out.push('\n');
        }
    }
}
