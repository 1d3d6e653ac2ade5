// SPDX-License-Identifier: MIT OR Apache-2.0
//! What operations are called, and which of them are not read.

use corecast_text::{did_you_mean, quoted};

use crate::error::Fault;
use crate::json::Json;

/// How a channel reaches its peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ChannelKind {
    /// Loads and stores of the threads themselves.
    Memory,
    /// Requests to a proxy, carried out in order while the threads go on.
    Port,
}

impl ChannelKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Port => "port",
        }
    }
}

/// Names of kinds; a switch is none that is read.
pub(super) const KINDS: [(&str, Option<ChannelKind>); 4] = [
    ("memory", Some(ChannelKind::Memory)),
    ("port", Some(ChannelKind::Port)),
    ("switch", None),
    ("none", None),
];

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Nop,
    Copy,
    /// From plain data to packets, in the rank's own memory.
    CopyPackets,
    UnpackPackets,
    /// Sources into the first target, which may go on to remote ones.
    Reduce {
        sends: bool,
    },
    /// Packets and the first source into the first target, which may go on as packets.
    ReducePackets {
        sends: bool,
    },
    /// The same with a copy as packets in the rank's own memory.
    ReduceCopyPackets {
        sends: bool,
    },
    /// As `Reduce` with sources of which all but the first are remote.
    ReadReduce {
        sends: bool,
    },
    Get,
    Put,
    PutSignal,
    PutSignalFlush,
    PutPackets,
    ReadPutPackets,
    Signal {
        is_relaxed: bool,
    },
    Wait,
    Flush,
    Barrier,
    Acquire,
    Release,
}

/// The operations that are read.
const KNOWN: [(&str, Name); 26] = [
    ("nop", Name::Nop),
    ("copy", Name::Copy),
    ("cpkt", Name::CopyPackets),
    ("upkt", Name::UnpackPackets),
    ("re", Name::Reduce { sends: false }),
    ("res", Name::Reduce { sends: true }),
    ("repkt", Name::ReducePackets { sends: false }),
    ("respkt", Name::ReducePackets { sends: true }),
    ("recpkt", Name::ReduceCopyPackets { sends: false }),
    ("recspkt", Name::ReduceCopyPackets { sends: true }),
    ("rre", Name::ReadReduce { sends: false }),
    ("rres", Name::ReadReduce { sends: true }),
    ("get", Name::Get),
    ("put", Name::Put),
    ("pws", Name::PutSignal),
    ("pwsf", Name::PutSignalFlush),
    ("ppkt", Name::PutPackets),
    ("rppkt", Name::ReadPutPackets),
    ("signal", Name::Signal { is_relaxed: false }),
    ("rlxsignal", Name::Signal { is_relaxed: true }),
    ("wait", Name::Wait),
    ("rlxwait", Name::Wait),
    ("flush", Name::Flush),
    ("barrier", Name::Barrier),
    ("sem_acquire", Name::Acquire),
    ("sem_release", Name::Release),
];

/// Those that are not, and what they do.
const OTHERS: [(&str, &str); 5] = [
    (
        "pipeline",
        "repeats operations as often as the size of a message needs",
    ),
    ("glre", "reduces in a switch"),
    ("glres", "reduces in a switch"),
    ("gstore", "multicasts by a switch"),
    ("gstorepkt", "multicasts by a switch"),
];

pub(super) fn find(at: Json<'_>) -> Result<Name, Fault> {
    let word = at.text("the name of an operation is a text")?;
    if let Some(&(_, name)) = KNOWN.iter().find(|(known, _)| *known == word) {
        return Ok(name);
    }
    if let Some((name, does)) = OTHERS.iter().find(|(known, _)| *known == word) {
        let right = "operations on channels of type memory and port are read";
        return Err(at.fault(format!("`{name}` {does}, which no schedule says"), right));
    }
    let known = KNOWN.map(|(name, _)| name);
    let right = format!(
        "operations are {}{}",
        known.join(", "),
        did_you_mean(&word, &known)
    );
    Err(at.fault(format!("`{}` is no operation", quoted(&word)), right))
}
