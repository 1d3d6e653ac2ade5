// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trace as text, one packet per line: `cycle src dst flits [after NUMBER[,NUMBER...]]`.
//!
//! Packets are numbered from 0 in the order of the file; `#` begins a comment. Lines without `after`
//! are those that BookSim2 reads where it was extended by injection from files (`sim_type =
//! file_inject`: `fileinjecttrafficmanager.cpp` of sseyyeda/Booksim2_TraceFileInjection).

use super::{CYCLE_MAX, FLITS_MAX, Trace, TraceError, TracePlace};
use crate::network::mesh::Packet;

const RIGHT: &str = "write `cycle src dst flits`, and `after 0,3` to wait for packets before";

pub(super) fn parse(text: &str, cores: u32) -> Result<Trace, TraceError> {
    let mut trace = Trace::default();
    for (index, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let fields: Vec<&str> = content.split_whitespace().collect();
        let parsed = match &fields[..] {
            [] => Ok(()),
            [cycle, src, dst, flits] => packet(&mut trace, [cycle, src, dst, flits], cores),
            [cycle, src, dst, flits, "after", rest @ ..] if !rest.is_empty() => {
                packet(&mut trace, [cycle, src, dst, flits], cores)
                    .and_then(|()| after(&mut trace, &rest.concat()))
            }
            fields => Err(format!("{} fields; {RIGHT}", fields.len())),
        };
        parsed.map_err(|what| TraceError {
            at: TracePlace::Line(index + 1),
            what,
        })?;
    }
    Ok(trace)
}

fn packet(
    trace: &mut Trace,
    [cycle, src, dst, flits]: [&str; 4],
    cores: u32,
) -> Result<(), String> {
    let cycle = number("cycle", cycle, CYCLE_MAX)?;
    let src = number("source", src, u64::from(u32::MAX))? as u32;
    let dst = number("destination", dst, u64::from(u32::MAX))? as u32;
    let flits = number("flits", flits, FLITS_MAX)? as u32;
    if flits == 0 {
        return Err("a packet has at least 1 flit".to_owned());
    }
    trace.push(cycle, Packet::new(src, dst, flits), cores)
}

/// The last packet waits for those of a list.
fn after(trace: &mut Trace, list: &str) -> Result<(), String> {
    let own = trace.packets.len() as u32 - 1;
    for entry in list.split(',') {
        let before = number("packet", entry, u64::from(u32::MAX))?;
        if before >= u64::from(own) {
            return Err(format!(
                "packet {own} waits for packet {before}; it can wait for packets before it, which are \
                 counted from 0"
            ));
        }
        trace.wait(before as u32, own)?;
    }
    Ok(())
}

fn number(name: &str, text: &str, max: u64) -> Result<u64, String> {
    let value = text.parse::<u64>().ok().filter(|&value| value <= max);
    value.ok_or_else(|| {
        let text: String = text.chars().take(40).collect();
        format!("{name} `{text}` is no whole number up to {max}")
    })
}
