// SPDX-License-Identifier: MIT OR Apache-2.0
//! What operations and channels are called.

use corecast_text::{did_you_mean, quoted};

use crate::error::Fault;
use crate::json::Json;

/// How a channel reaches one peer.
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

/// What a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Channel {
    To(ChannelKind),
    /// To the memory of all gpus of a group at once.
    Switch,
    None,
}

/// Names of channels.
pub(super) const CHANNELS: [(&str, Channel); 4] = [
    ("memory", Channel::To(ChannelKind::Memory)),
    ("port", Channel::To(ChannelKind::Port)),
    ("switch", Channel::Switch),
    ("none", Channel::None),
];

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Nop,
    Copy,
    /// From plain data to packets, in the rank's own memory.
    CopyPackets,
    /// From packets to packets there: a part of what a switch stores.
    CopyOfPackets,
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
    /// All that the gpus of a switch have, combined, into the memory of all of them.
    SwitchReduce,
    /// Into the memory of all of them.
    SwitchStore,
    SwitchStorePackets,
    /// Operations that are repeated, of which each time takes its part.
    Pipeline,
}

impl Name {
    /// Whether it takes a part of its pieces in each turn of a pipeline, or all of them if nothing lies
    /// in them; packets are written whole every time.
    pub(super) fn can_take_turns(self) -> bool {
        !matches!(
            self,
            Self::CopyPackets
                | Self::CopyOfPackets
                | Self::UnpackPackets
                | Self::ReducePackets { .. }
                | Self::ReduceCopyPackets { .. }
                | Self::PutPackets
                | Self::ReadPutPackets
                | Self::SwitchStorePackets
                | Self::Pipeline
        )
    }
}

/// The operations that are read.
const KNOWN: [(&str, Name); 30] = [
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
    ("glres", Name::SwitchReduce),
    ("gstore", Name::SwitchStore),
    ("gstorepkt", Name::SwitchStorePackets),
    ("pipeline", Name::Pipeline),
];

pub(super) fn find(at: Json<'_>) -> Result<Name, Fault> {
    let word = at.text("the name of an operation is a text")?;
    if let Some(&(_, name)) = KNOWN.iter().find(|(known, _)| *known == word) {
        return Ok(name);
    }
    let known = KNOWN.map(|(name, _)| name);
    let right = format!(
        "operations are {}{}",
        known.join(", "),
        did_you_mean(&word, &known)
    );
    Err(at.fault(format!("`{}` is no operation", quoted(&word)), right))
}
