// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program does, as data: the calls of every rank and what each of them waits for.
//!
//! It is separate from every file format, which all read and write this one value.
//!
//! ```
//! use corecast_replay::{CallGraph, What};
//! let mut graph = CallGraph::new("two", 2);
//! let what = What::Send { to: 1, tag: 0, bytes: 8 };
//! assert_eq!(graph.push(0, what), 0);
//! assert_eq!(graph.calls_total(), 1);
//! ```

use std::fmt;

use corecast_core::Time;
use corecast_exchange::Few;

/// Most bytes of a message, or of a block of a collective: a run carries real bytes.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// Most ranks of a program.
pub const RANKS_MAX: u32 = 1 << 20;

/// Most that all computing of a rank may take together.
pub const COMPUTE_MAX: Time = Time::from_ps(1_000_000_000_000_000_000);

/// The group of all ranks.
pub const WORLD: u32 = 0;

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallGraph {
    /// The file that it was read from, which may name others.
    pub name: String,
    /// Names of the files that [`Origin`] speaks of.
    pub files: Vec<String>,
    /// Groups of ranks that messages and collectives belong to; the first one is all ranks.
    pub groups: Vec<Group>,
    /// The calls of every rank.
    pub ranks: Vec<Vec<Call>>,
}

/// Ranks with numbers of their own: a communicator. Messages of one group meet no receives of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its members, by their numbers in the group.
    pub ranks: Vec<u32>,
}

/// One thing that a rank does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What it does.
    pub what: What,
    /// The group in which peers and roots are counted.
    pub group: u32,
    /// What must have happened at this rank before it begins.
    pub after: Few<Event>,
    /// Where it was read.
    pub at: Origin,
}

/// A moment of another call of the same rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// The call with this index has begun: its message is on its way, or awaited.
    Start(u32),
    /// It has ended.
    End(u32),
}

/// What a call does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// Computes for so long.
    Compute(Time),
    /// Nothing: it is there for what it waits for.
    Wait,
    /// Sends a message. It ends when the message is out of the rank's hands.
    Send {
        /// The receiver.
        to: u32,
        /// The message's tag.
        tag: u32,
        /// Its length.
        bytes: u64,
    },
    /// Receives a message.
    Recv {
        /// The sender; none = anybody.
        from: Option<u32>,
        /// Its tag; none = any.
        tag: Option<u32>,
        /// The longest message that it takes.
        bytes: u64,
    },
    /// Takes part in a collective of the group.
    Collective(Box<Collective>),
}

impl What {
    /// The most bytes of one message, or of a block of a collective, that it names; 0 if it names none.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        match self {
            What::Compute(_) | What::Wait => 0,
            What::Send { bytes, .. } | What::Recv { bytes, .. } => *bytes,
            What::Collective(collective) => match &collective.size {
                Size::Bytes(bytes) => *bytes,
                Size::Counts(counts) => counts.iter().copied().max().unwrap_or(0),
                Size::Pairs { to, from } => to.iter().chain(from).copied().max().unwrap_or(0),
            },
        }
    }
}

/// A collective as one rank calls it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// How much.
    pub size: Size,
    /// The root, where there is one; else 0.
    pub root: u32,
    /// Bytes of an element of a reduction: parts are whole elements.
    pub element_bytes: u32,
}

/// Which collective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CollectiveKind {
    /// One with algorithms.
    Known(corecast_core::Collective),
    /// Prefixes with a rank's own contribution.
    Scan,
    /// Prefixes without it.
    Exscan,
}

/// How many bytes a collective moves.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Size {
    /// The message, the vector or one block: [`corecast_core::Collective`] says which.
    Bytes(u64),
    /// The block of every rank of the group.
    Counts(Vec<u64>),
    /// An alltoallv: what this rank has for every rank of the group, and what it gets from each.
    Pairs {
        /// For whom how much.
        to: Vec<u64>,
        /// From whom how much.
        from: Vec<u64>,
    },
}

/// Where a call was read. It changes nothing about a program, so all are equal.
#[derive(Clone, Copy, Eq, Default, Debug)]
pub struct Origin {
    /// Index in [`CallGraph::files`].
    pub file: u32,
    /// Line, counted from 1.
    pub line: u32,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl CallGraph {
    /// A program of so many ranks that do nothing, read from a file of this name.
    #[must_use]
    pub fn new(file: &str, ranks: u32) -> Self {
        Self {
            name: file.to_owned(),
            files: vec![file.to_owned()],
            groups: vec![Group {
                name: "world".to_owned(),
                ranks: (0..ranks).collect(),
            }],
            ranks: vec![Vec::new(); ranks as usize],
        }
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Adds a call of the world that waits for nothing; returns its index.
    pub fn push(&mut self, rank: u32, what: What) -> u32 {
        let calls = &mut self.ranks[rank as usize];
        calls.push(Call {
            what,
            group: WORLD,
            after: Few::default(),
            at: Origin::default(),
        });
        calls.len() as u32 - 1
    }

    /// Calls of all ranks.
    #[must_use]
    pub fn calls_total(&self) -> usize {
        self.ranks.iter().map(Vec::len).sum()
    }

    /// The file and line of a call, as errors name it.
    #[must_use]
    pub fn place(&self, at: Origin) -> String {
        format!("{}:{}", self.files[at.file as usize], at.line)
    }
}

/// Kinds of calls, for tables of where the time went.
pub const KINDS: [&str; 16] = [
    "compute",
    "wait",
    "send",
    "recv",
    "scan",
    "exscan",
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "alltoall",
    "alltoallv",
    "barrier",
];

impl CollectiveKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known(collective) => collective.name(),
            Self::Scan => "scan",
            Self::Exscan => "exscan",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "scan" => Some(Self::Scan),
            "exscan" => Some(Self::Exscan),
            name => corecast_core::Collective::from_name(name).map(Self::Known),
        }
    }

    /// Whether it has a root.
    #[must_use]
    pub const fn is_rooted(self) -> bool {
        matches!(self, Self::Known(collective) if collective.is_rooted())
    }
}

impl What {
    /// The index of its kind in [`KINDS`].
    pub(crate) fn number(&self) -> u16 {
        match self {
            Self::Compute(_) => 0,
            Self::Wait => 1,
            Self::Send { .. } => 2,
            Self::Recv { .. } => 3,
            Self::Collective(_) => {
                let found = KINDS.iter().position(|known| *known == self.kind());
                found.expect("every kind is listed") as u16
            }
        }
    }

    /// The name of its kind: one of [`KINDS`].
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Compute(_) => "compute",
            Self::Wait => "wait",
            Self::Send { .. } => "send",
            Self::Recv { .. } => "recv",
            Self::Collective(collective) => collective.kind.name(),
        }
    }
}

/// What it does, in words for people.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compute(time) => write!(f, "compute for {time}"),
            Self::Wait => write!(f, "wait"),
            Self::Send { to, tag, bytes } => {
                write!(f, "send {bytes} bytes to rank {to} with tag {tag}")
            }
            Self::Recv { from, tag, bytes } => {
                write!(f, "recv up to {bytes} bytes from ")?;
                match from {
                    Some(from) => write!(f, "rank {from}")?,
                    None => write!(f, "any rank")?,
                }
                match tag {
                    Some(tag) => write!(f, " with tag {tag}"),
                    None => write!(f, " with any tag"),
                }
            }
            Self::Collective(collective) => {
                write!(f, "{}", collective.kind.name())?;
                if collective.kind.is_rooted() {
                    write!(f, " with root {}", collective.root)?;
                }
                match &collective.size {
                    Size::Bytes(0) => Ok(()),
                    Size::Bytes(bytes) => write!(f, " of {bytes} bytes"),
                    Size::Counts(_) | Size::Pairs { .. } => {
                        write!(f, " of blocks of several sizes")
                    }
                }
            }
        }
    }
}

impl Event {
    /// The call that it is a moment of.
    #[must_use]
    pub const fn call(self) -> u32 {
        match self {
            Self::Start(call) | Self::End(call) => call,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_kind_is_its_place_in_the_list() {
        let (tag, bytes) = (0, 0);
        let (to, from) = (0, None);
        let recv = What::Recv {
            from,
            tag: Some(tag),
            bytes,
        };
        let collective = Collective {
            kind: CollectiveKind::Exscan,
            size: Size::Bytes(0),
            root: 0,
            element_bytes: 1,
        };
        for what in [
            What::Compute(Time::ZERO),
            What::Wait,
            What::Send { to, tag, bytes },
            recv,
            What::Collective(Box::new(collective)),
        ] {
            assert_eq!(KINDS[usize::from(what.number())], what.kind());
        }
    }
}
