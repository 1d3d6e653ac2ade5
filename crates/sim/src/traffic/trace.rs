//! Traffic from a file: every packet with its cycle, sender, receiver and length.
//!
//! One packet per line, `cycle src dst flits`, in order of the cycles; `#` begins a comment.
//!
//! ```
//! let text = "0 0 3 4  # four flits\n2 1 2 1\n";
//! let packets = corecast_sim::traffic::parse_trace(text, 4).unwrap();
//! assert_eq!(packets.len(), 2);
//! let error = corecast_sim::traffic::parse_trace("0 0 9 4\n", 4).unwrap_err();
//! assert_eq!(error.to_string(), "line 1: core 9 does not exist; cores are 0 to 3");
//! ```

use crate::network::mesh::{Delivery, FlitMesh, MeshSpec, Packet};

use super::{Histogram, TrafficError};

/// Most lines of a trace.
const LINES_MAX: usize = 1 << 22;
/// Latest cycle of a packet.
const CYCLE_MAX: u64 = 1 << 36;

/// What is wrong with a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TraceError {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// The packets of a trace with the cycle in which each is sent.
///
/// # Errors
/// The first line that is wrong.
pub fn parse_trace(text: &str, cores: u32) -> Result<Vec<(u64, Packet)>, TraceError> {
    let mut packets: Vec<(u64, Packet)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let refuse = |what: String| TraceError {
            line: index + 1,
            what,
        };
        let content = line.split('#').next().unwrap_or_default();
        let fields: Vec<&str> = content.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        let [cycle, src, dst, flits] = fields[..] else {
            let count = fields.len();
            return Err(refuse(format!(
                "{count} fields; write `cycle src dst flits`"
            )));
        };
        let number = |name: &str, text: &str, max: u64| {
            let value = text.parse::<u64>().ok().filter(|&value| value <= max);
            value.ok_or_else(|| {
                let text: String = text.chars().take(40).collect();
                refuse(format!("{name} `{text}` is no whole number up to {max}"))
            })
        };
        let cycle = number("cycle", cycle, CYCLE_MAX)?;
        let (src, dst) = (
            number("source", src, u64::from(u32::MAX))? as u32,
            number("destination", dst, u64::from(u32::MAX))? as u32,
        );
        let flits = number("flits", flits, 1 << 20)? as u32;
        if let Some(core) = [src, dst].into_iter().find(|&core| core >= cores) {
            let last = cores - 1;
            let what = format!("core {core} does not exist; cores are 0 to {last}");
            return Err(refuse(what));
        }
        if flits == 0 {
            return Err(refuse("a packet has at least 1 flit".to_owned()));
        }
        if packets.last().is_some_and(|&(before, _)| before > cycle) {
            return Err(refuse(format!(
                "cycle {cycle} comes after a later one; sort the lines"
            )));
        }
        if packets.len() >= LINES_MAX {
            return Err(refuse(format!("a trace has at most {LINES_MAX} packets")));
        }
        packets.push((cycle, Packet::new(src, dst, flits)));
    }
    Ok(packets)
}

/// What a trace has shown.
#[derive(Clone, Debug)]
pub struct TraceRun {
    /// Every delivery, in order of ejection.
    pub deliveries: Vec<Delivery>,
    /// Cycle after the last ejection.
    pub cycles: u64,
    /// Link crossings of flits.
    pub flit_hops: u64,
    /// Latencies from sending to ejection of the tail.
    pub latency: Histogram,
    /// The mesh at the end, for its link counts.
    pub mesh: FlitMesh,
}

/// Sends the packets of a trace and waits until all have arrived.
///
/// # Errors
/// A mesh that cannot be built.
///
/// # Panics
/// If flits are lost: the simulator is wrong.
pub fn run_trace(spec: &MeshSpec, packets: &[(u64, Packet)]) -> Result<TraceRun, TrafficError> {
    let mut mesh = FlitMesh::new(spec)?;
    for &(cycle, packet) in packets {
        mesh.run_until(cycle);
        mesh.send(packet);
    }
    while let Some(cycle) = mesh.next_event() {
        mesh.run_until(cycle + 1);
    }
    let flits = mesh.conservation();
    assert!(flits.is_ok(), "{flits:?}");
    let mut deliveries = mesh.take_deliveries();
    deliveries.sort_by_key(|delivery| delivery.ejected);
    let mut latency = Histogram::default();
    for delivery in &deliveries {
        latency.enter(delivery.ejected - delivery.sent);
    }
    Ok(TraceRun {
        cycles: deliveries.last().map_or(0, |delivery| delivery.ejected),
        flit_hops: mesh.flit_hops(),
        deliveries,
        latency,
        mesh,
    })
}
