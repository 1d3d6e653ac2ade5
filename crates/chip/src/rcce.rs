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

use crate::clock::Clock;
use crate::error::ChipError;
use crate::memory::Memory;
use crate::provenance::Ledger;
use crate::read::{Choices, Count, Section};

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

const PER_WORD: Count = Count {
    unit: "cycles/word",
    min: 0,
    max: 1_000_000,
};

const CYCLES: Count = Count {
    unit: "cycles",
    min: 0,
    max: 1_000_000,
};

/// Reads `[endpoint]` of kind rcce.
pub(crate) fn read(
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
        combine_cycles_per_word: count("combine", &PER_WORD)?,
        rcce_cycles: count("rcce", &CYCLES)?,
        ircce_cycles: count("ircce", &CYCLES)?,
        one_sided_cycles: count("one_sided", &CYCLES)?,
    })
}

/// Refuses buffers without room for a line of payload beside the flags of `cores` cores.
pub(crate) fn check(
    section: &Section<'_>,
    rcce: &Rcce,
    memory: &Memory,
    cores: u32,
) -> Result<(), ChipError> {
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
