// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores with a message passing buffer (MPB) each, and the RCCE library on them.
//!
//! ```text
//! [endpoint]
//! kind = "rcce"
//! library = "ircce"     # or "rcce" or "one-sided"
//! bypass = "off"        # "on": a core reaches its own buffer without the router
//! clock, mpb, mpb_read, mpb_write, own_read, own_write, bypass_read, bypass_write, mpb_port,
//! combine, rcce, ircce, one_sided
//! ```

mod bound;

use corecast_core::{LinkCost, Request, SharedBuffer};

use super::kind::{CYCLES, CYCLES_PER_WORD, Kind, Source};
use crate::clock::Clock;
use crate::error::ChipError;
use crate::facts::{Derived, Places, Senders, Unused};
use crate::memory::{self, Memory};
use crate::mesh::Mesh;
use crate::provenance::Ledger;
use crate::read::{Choices, Count, Section};

const LINES: &str = "endpoints of kind rcce move whole lines, whose time is hops and ports; only \
                     `traffic` sends flits through these routers";
const BYPASSED: &str = "with bypass = \"on\" a core reaches its own buffer without the router";
const OF_PROGRAMS: &str = "messages of programs are of one kind, whose receivers need not know what \
                           comes";
const BLOCK: &str = "with library = \"rcce\" schedules call what blocks";
const DO_NOT_BLOCK: &str = "with library = \"ircce\" schedules call what does not block, and its copy \
                            loop reads a line before it writes to it";
const ONE_SIDED: &str = "with library = \"one-sided\" schedules call neither `rcce` nor `ircce`";
/// What only calls that block take: their software, and stores to lines that they have not read.
const BLOCKING: &[&str] = &["memory.l2_store", "memory.store", "endpoint.rcce"];
const NO_BYPASS: &str = "with bypass = \"off\" a core reaches its own buffer through the router";

/// Its name in chip files.
pub(super) const NAME: &str = "rcce";

/// The cores, their memory and their mesh.
pub(super) struct OnMesh<'a> {
    pub mesh: &'a Mesh,
    pub memory: &'a Memory,
    pub rcce: &'a Rcce,
}

impl Kind for OnMesh<'_> {
    /// Software and flags over one hop.
    fn link_cost(&self, reference: &Clock) -> LinkCost {
        let Self { mesh, memory, rcce } = self;
        let software = match rcce.library {
            Library::Rcce => rcce.rcce_cycles,
            Library::Ircce => rcce.ircce_cycles,
            Library::OneSided => rcce.one_sided_cycles,
        };
        // Two flags set, cleared and polled, over one hop and back.
        let (own_read, own_write) = rcce.own_cycles();
        let flags = 2 * (rcce.mpb_write_cycles + 3 * own_write + own_read);
        let hops = mesh.clock.to_ps(4 * mesh.hop_cycles());
        let per_line = own_write + rcce.mpb_read_cycles;
        let per_line = reference.cycles_f64(rcce.clock.to_ps(per_line));
        let sync = rcce.clock.to_ps(2 * software + flags) + hops;
        LinkCost {
            sync_cycles: reference.cycles_f64(sync.max(1)),
            cycles_per_byte: per_line / memory.line_bytes as f64,
        }
    }

    fn shared_buffer(&self, reference: &Clock, cores: u32) -> Option<SharedBuffer> {
        let Self { mesh, memory, rcce } = self;
        let (own_read, own_write) = rcce.own_cycles();
        // Told and taken: two flags set, one polled.
        let flags = 2 * (rcce.mpb_write_cycles + own_write) + own_read;
        let sync = rcce.clock.to_ps(2 * rcce.one_sided_cycles + flags);
        let hops = mesh.clock.to_ps(4 * mesh.hop_cycles());
        let line = rcce.mpb_read_cycles + memory.l2_read_cycles;
        let line_cycles = reference.cycles_f64(rcce.clock.to_ps(line));
        Some(SharedBuffer {
            bytes: rcce.payload_bytes(cores, memory.line_bytes),
            line_bytes: memory.line_bytes,
            cost: LinkCost {
                sync_cycles: reference.cycles_f64(sync + hops),
                cycles_per_byte: line_cycles / memory.line_bytes as f64,
            },
        })
    }

    fn bound_ps(&self, request: &Request) -> u64 {
        bound::ps(self.mesh, self.memory, self.rcce, request)
    }

    fn defaults(&self) -> Vec<(&'static str, String)> {
        self.mesh.defaults()
    }

    fn derived(&self, cores: u32) -> Vec<Derived> {
        vec![Derived {
            key: "endpoint.payload",
            value: self.rcce.payload_bytes(cores, self.memory.line_bytes) as f64,
            unit: "bytes",
            how: "of a buffer that messages may use: mpb without its flags",
        }]
    }

    fn unused(&self, of: Senders) -> Vec<Unused> {
        let lines = [
            "network.vcs",
            "network.buffer",
            "network.turn",
            "network.credit",
            "network.injection",
            "network.ejection",
        ];
        let mut unused = Unused::because(LINES, &lines);
        unused.extend(match self.rcce.has_bypass {
            true => Unused::because(BYPASSED, &["endpoint.own_read", "endpoint.own_write"]),
            false => Unused::because(
                NO_BYPASS,
                &["endpoint.bypass_read", "endpoint.bypass_write"],
            ),
        });
        unused.extend(match (of, self.rcce.library) {
            (Senders::Programs, _) => [
                Unused::because(OF_PROGRAMS, &["endpoint.library"]),
                Unused::because(OF_PROGRAMS, BLOCKING),
            ]
            .concat(),
            (_, Library::Rcce) => Unused::because(BLOCK, &["endpoint.ircce"]),
            (_, Library::Ircce) => Unused::because(DO_NOT_BLOCK, BLOCKING),
            (_, Library::OneSided) => [
                Unused::because(ONE_SIDED, BLOCKING),
                Unused::because(ONE_SIDED, &["endpoint.ircce"]),
            ]
            .concat(),
        });
        unused
    }

    fn places(&self) -> Vec<Places> {
        vec![Places {
            key: "memory.controllers",
            what: "the memory controllers stay",
            at: self.memory.controllers.clone(),
        }]
    }
}

/// The message layer that schedules run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// `RCCE_send` and `RCCE_recv`, which block, and a copy loop that stores words without having
    /// read the line.
    Rcce,
    /// `iRCCE_isend` and `iRCCE_irecv`, which do not, and a copy loop that reads the line first.
    Ircce,
    /// None: a sender leaves its message in its own buffer for all its receivers, who are told by a
    /// flag (Petrovic et al. 2012).
    OneSided,
}

/// A core's message passing buffer, and the software that uses it.
///
/// # Source
/// Mattson et al. 2010 (the chip), RCCE 2.0 and iRCCE (the protocol), Barrelfish TN-005 (measured
/// times).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rcce {
    /// The clock of the cores.
    pub clock: Clock,
    /// The message layer that schedules run on.
    pub library: Library,
    /// Whether a core reaches its own buffer without the router.
    pub has_bypass: bool,
    /// A core's buffer in bytes, flags included.
    pub mpb_bytes: u64,
    /// To read a line of another core's buffer; hops come on top.
    pub mpb_read_cycles: u64,
    /// To write a line of another core's buffer through the write-combining buffer; hops come on
    /// top.
    pub mpb_write_cycles: u64,
    /// To read a line of the core's own buffer through the router.
    pub own_read_cycles: u64,
    /// To write a line of the core's own buffer through the router.
    pub own_write_cycles: u64,
    /// To read a line of the core's own buffer by the bypass.
    pub bypass_read_cycles: u64,
    /// To write a line of the core's own buffer by the bypass.
    pub bypass_write_cycles: u64,
    /// Cycles of the routers' clock for which a buffer is busy with a line.
    pub mpb_port_cycles: u64,
    /// To combine a received word with the core's own, in reductions.
    pub combine_cycles_per_word: u64,
    /// Software of the blocking calls, per message and end.
    pub rcce_cycles: u64,
    /// Software of the non-blocking calls, per message and end.
    pub ircce_cycles: u64,
    /// Software of a one-sided transfer, per message and end.
    pub one_sided_cycles: u64,
}

impl Rcce {
    /// Lines in front of a buffer's payload: one that flushes the write-combining buffer, and the
    /// flags, a byte each: two of the barrier, and for every core one for sent and one for ready.
    #[must_use]
    pub fn flag_lines(&self, cores: u32, line_bytes: u64) -> u64 {
        1 + (2 + 2 * u64::from(cores)).div_ceil(line_bytes)
    }

    /// To read and to write a line of the core's own buffer.
    #[must_use]
    pub fn own_cycles(&self) -> (u64, u64) {
        match self.has_bypass {
            true => (self.bypass_read_cycles, self.bypass_write_cycles),
            false => (self.own_read_cycles, self.own_write_cycles),
        }
    }

    /// Bytes of a buffer that messages may use.
    #[must_use]
    pub fn payload_bytes(&self, cores: u32, line_bytes: u64) -> u64 {
        self.mpb_bytes - self.flag_lines(cores, line_bytes) * line_bytes
    }
}

const LIBRARIES: Choices<Library> = &[
    ("rcce", Library::Rcce),
    ("ircce", Library::Ircce),
    ("one-sided", Library::OneSided),
];

const BYPASSES: Choices<bool> = &[("off", false), ("on", true)];

const MPB: Count = Count {
    unit: "bytes",
    min: 64,
    max: 1 << 24,
};

const PER_LINE: Count = Count {
    unit: "cycles/line",
    min: 1,
    max: 1_000_000,
};

/// Reads `[endpoint]` and `[memory]`, for this mesh.
pub(super) fn read(
    mesh: &Mesh,
    source: &Source<'_>,
    ledger: &mut Ledger,
) -> Result<(Rcce, Memory), ChipError> {
    let rcce = read_endpoint(source.endpoint, source.clocks, ledger)?;
    source.fill(mesh)?;
    let memory = memory::read(&source.root.table("memory")?, mesh, source.clocks, ledger)?;
    check(source.endpoint, &rcce, &memory, source.cores)?;
    if source.network.has("static_hop") {
        let accepted = "no static network: endpoints of kind rcce have no use for one";
        return Err(source.network.refuse("static_hop", accepted));
    }
    Ok((rcce, memory))
}

/// Reads `[endpoint]`.
fn read_endpoint(
    section: &Section<'_>,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<Rcce, ChipError> {
    section.accept(&[
        "kind",
        "library",
        "bypass",
        "clock",
        "mpb",
        "mpb_read",
        "mpb_write",
        "own_read",
        "own_write",
        "bypass_read",
        "bypass_write",
        "mpb_port",
        "combine",
        "rcce",
        "ircce",
        "one_sided",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let mut count = |key, rule| section.count(key, rule, ledger);
    Ok(Rcce {
        clock,
        library: section.choice("library", LIBRARIES)?,
        has_bypass: section.choice("bypass", BYPASSES)?,
        mpb_bytes: count("mpb", &MPB)?,
        mpb_read_cycles: count("mpb_read", &PER_LINE)?,
        mpb_write_cycles: count("mpb_write", &PER_LINE)?,
        own_read_cycles: count("own_read", &PER_LINE)?,
        own_write_cycles: count("own_write", &PER_LINE)?,
        bypass_read_cycles: count("bypass_read", &PER_LINE)?,
        bypass_write_cycles: count("bypass_write", &PER_LINE)?,
        mpb_port_cycles: count("mpb_port", &PER_LINE)?,
        combine_cycles_per_word: count("combine", &CYCLES_PER_WORD)?,
        rcce_cycles: count("rcce", &CYCLES)?,
        ircce_cycles: count("ircce", &CYCLES)?,
        one_sided_cycles: count("one_sided", &CYCLES)?,
    })
}

/// Refuses buffers without room for a line of payload beside the flags of `cores` cores.
fn check(section: &Section<'_>, rcce: &Rcce, memory: &Memory, cores: u32) -> Result<(), ChipError> {
    let line = memory.line_bytes;
    let flags = rcce.flag_lines(cores, line) * line;
    let least = flags + 2 * line;
    if rcce.mpb_bytes < least || !rcce.mpb_bytes.is_multiple_of(line) {
        let accepted = format!(
            "whole lines of {line} bytes, at least {least}: the flags of {cores} cores take {flags}"
        );
        return Err(section.refuse("mpb", accepted));
    }
    Ok(())
}
