// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic from a file: every packet with its cycle, sender, receiver and length, and the packets that
//! it waits for.
//!
//! A packet leaves when its cycle has come and all that it waits for have arrived (a closed loop), so
//! that a slower network delays the program that the trace was taken of, as it would.
//!
//! ```
//! use corecast_sim::traffic::Trace;
//! let text = "0 0 3 4  # four flits\n2 3 0 1 after 0\n";
//! let trace = Trace::read(text.as_bytes(), 4, 16).unwrap();
//! assert_eq!((trace.packets().len(), trace.waits().len()), (2, 1));
//! let error = Trace::read(b"0 0 9 4\n", 4, 16).unwrap_err();
//! assert_eq!(error.to_string(), "line 1: core 9 does not exist; cores are 0 to 3");
//! ```

mod netrace;
mod run;
mod text;

use std::fmt;

use crate::network::mesh::Packet;

pub use run::{TraceRun, run_trace};

/// Most packets of a trace.
const PACKETS_MAX: usize = 1 << 22;
/// Most waits of all packets.
const WAITS_MAX: usize = 1 << 24;
/// Latest cycle of a packet.
const CYCLE_MAX: u64 = 1 << 36;
/// Most flits of a packet.
const FLITS_MAX: u64 = 1 << 20;
/// Most flits of all packets: so a run ends before the clock does.
const ALL_FLITS_MAX: u64 = 1 << 31;

/// A way to write traffic down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceFormat {
    /// What people call it.
    pub name: &'static str,
    /// How names of such files mostly end, without the dot.
    pub extension: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// What [`Trace::read`] reads.
pub const TRACE_FORMATS: [TraceFormat; 2] = [
    TraceFormat {
        name: "packets",
        extension: "txt",
        summary: "our own text: a packet per line with its cycle, sender, receiver and flits, and what it waits for",
        source: "docs/cli.md",
    },
    TraceFormat {
        name: "netrace",
        extension: "bz2",
        summary: "packets between the caches and memory controllers of PARSEC programs, which wait for each other",
        source: "Hestness, Grot and Keckler 2010",
    },
];

/// What is wrong with a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{at}: {what}")]
pub struct TraceError {
    /// Where.
    pub at: TracePlace,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// A place in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracePlace {
    /// A line, counted from 1.
    Line(usize),
    /// A byte of the unpacked file, counted from 0.
    Byte(usize),
}

impl fmt::Display for TracePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Packets in the order of their cycles.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    packets: Vec<(u64, Packet)>,
    waits: Vec<(u32, u32)>,
    flits: u64,
}

impl Trace {
    /// Reads a trace for a mesh with so many cores, whose flits carry so many bytes: netrace's if it
    /// begins as one, else text.
    ///
    /// # Errors
    /// The first thing that is wrong, and where.
    pub fn read(contents: &[u8], cores: u32, flit_bytes: u64) -> Result<Self, TraceError> {
        let (trace, at) = match netrace::is(contents) {
            true => (
                netrace::parse(contents, cores, flit_bytes)?,
                TracePlace::Byte(0),
            ),
            false => (Self::of_text(contents, cores)?, TracePlace::Line(1)),
        };
        match trace.packets.is_empty() {
            true => Err(TraceError {
                at,
                what: "there is no packet in it".to_owned(),
            }),
            false => Ok(trace),
        }
    }

    fn of_text(contents: &[u8], cores: u32) -> Result<Self, TraceError> {
        let text = std::str::from_utf8(contents).map_err(|error| {
            let before = &contents[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            TraceError {
                at: TracePlace::Line(line),
                what: "neither text nor a trace of netrace".to_owned(),
            }
        })?;
        text::parse(text, cores)
    }

    /// Every packet with the cycle before which it does not leave.
    #[must_use]
    pub fn packets(&self) -> &[(u64, Packet)] {
        &self.packets
    }

    /// Pairs of packets, by their numbers: the second one waits for the first, which comes before it.
    #[must_use]
    pub fn waits(&self) -> &[(u32, u32)] {
        &self.waits
    }

    /// The same packets, which wait for nothing but their cycles.
    #[must_use]
    pub fn without_waits(mut self) -> Self {
        self.waits.clear();
        self
    }

    /// Adds a packet; what is wrong with it otherwise.
    fn push(&mut self, cycle: u64, packet: Packet, cores: u32) -> Result<(), String> {
        if let Some(core) = [packet.src, packet.dst]
            .into_iter()
            .find(|&core| core >= cores)
        {
            let last = cores - 1;
            return Err(format!("core {core} does not exist; cores are 0 to {last}"));
        }
        if cycle > CYCLE_MAX {
            return Err(format!("cycle {cycle} is beyond the last, {CYCLE_MAX}"));
        }
        if self.packets.last().is_some_and(|&(last, _)| last > cycle) {
            return Err(format!(
                "cycle {cycle} comes after a later one; sort the packets"
            ));
        }
        if self.packets.len() >= PACKETS_MAX {
            return Err(format!("a trace has at most {PACKETS_MAX} packets"));
        }
        self.flits += u64::from(packet.flits);
        if self.flits > ALL_FLITS_MAX {
            return Err(format!("a trace has at most {ALL_FLITS_MAX} flits in all"));
        }
        self.packets.push((cycle, packet));
        Ok(())
    }

    /// Lets a packet wait for one before it.
    fn wait(&mut self, before: u32, packet: u32) -> Result<(), String> {
        if self.waits.len() >= WAITS_MAX {
            return Err(format!("packets of a trace have at most {WAITS_MAX} waits"));
        }
        self.waits.push((before, packet));
        Ok(())
    }
}
