// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with a schedule, with the place.

use std::fmt;

use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::schedule::{Position, StepRef};

/// A step, as violations name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Whose it is.
    pub rank: Rank,
    /// Where in the program of its rank, counted from 0.
    pub step: Position,
    /// Its label.
    pub round: RoundIdx,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, step, round } = self;
        write!(f, "rank {rank}, {step}, round {round}")
    }
}

/// One thing wrong with a schedule.
///
/// In every variant `at` is where it was found, `chunk` the data or the place concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields' common meaning is stated once, above"
)]
pub enum Violation {
    /// A step names a rank outside the communicator.
    UnknownPeer { at: At, peer: Rank },
    /// A rank sends to or receives from itself.
    SelfMessage { at: At },
    /// A step names a chunk outside the specification.
    UnknownChunk { at: At, chunk: ChunkId },
    /// A receive that combines, keeps nothing and has nothing to send on.
    PassesNothing { at: At },
    /// A local step whose places do not come in pairs.
    UnequalLists { at: At, read: usize, written: usize },
    /// Something is put into a place of another size.
    WrongSize {
        at: At,
        chunk: ChunkId,
        bytes: u64,
        target: ChunkId,
        target_bytes: u64,
    },
    /// A step names a multicast that the schedule does not have.
    UnknownMulticast { at: At, number: u32 },
    /// The routes of a multicast do not lead from its root to every rank on them.
    BrokenTree { number: u32, rank: Rank },
    /// A step sends a multicast that is another rank's, or receives it from another rank.
    MulticastRoot { at: At, number: u32, root: Rank },
    /// A multicast is sent a second time.
    MulticastTwice { at: At, number: u32 },
    /// One end of a message takes part in a multicast and the other does not, or in another one.
    MulticastMismatch {
        at: At,
        to: Rank,
        sent: Option<u32>,
        received: Option<u32>,
    },
    /// Two streams of a rank send to one rank, or receive from it, over one channel: nothing says
    /// whose message is the next.
    SharedConnection {
        at: At,
        peer: Rank,
        channel: u32,
        other: Position,
        sends: bool,
    },
    /// Two streams of a rank touch the same place, at least one of them writes, and nothing decides
    /// which comes first.
    Race {
        at: At,
        chunk: ChunkId,
        writes: bool,
        other: Position,
        other_writes: bool,
    },
    /// A message that its receiver never receives: it stays in flight.
    UnmatchedSend { at: At, to: Rank },
    /// A receive whose sender never sends.
    UnmatchedRecv { at: At, from: Rank },
    /// Sender and receiver name different chunks: not as many, not of the same sizes, or something does not
    /// lie where it should in the end.
    ChunkMismatch {
        at: At,
        to: Rank,
        chunk: Option<ChunkId>,
    },
    /// Sender and receiver give the message different round labels.
    RoundMismatch {
        at: At,
        to: Rank,
        receives_in: RoundIdx,
    },
    /// A step is labelled with an earlier round than a step before it in the program of its rank.
    RoundFalls { at: At, before: RoundIdx },
    /// A rank sends a chunk in the round in which it arrives, or in an earlier one.
    SendsTooEarly {
        at: At,
        chunk: ChunkId,
        arrives_in: RoundIdx,
    },
    /// A rank sends a chunk it does not hold.
    SendsUnheld { at: At, chunk: ChunkId },
    /// A local step copies or combines what its rank does not hold.
    ReadsUnheld { at: At, chunk: ChunkId },
    /// A reduction is applied to data that is not a contribution.
    ReducesUnreducible { at: At, chunk: ChunkId },
    /// A contribution enters a reduction a second time.
    ReducedTwice {
        at: At,
        chunk: ChunkId,
        contribution: Rank,
    },
    /// Something is combined with what a place holds, which is nothing.
    ReducesUnheld { at: At, chunk: ChunkId },
    /// Contributions to one chunk are combined with those to another.
    ReducesOther {
        at: At,
        chunk: ChunkId,
        holds: ChunkId,
        arrives: ChunkId,
    },
    /// At the end another chunk lies where a rank was promised one.
    WrongChunk {
        rank: Rank,
        chunk: ChunkId,
        holds: ChunkId,
    },
    /// At the end a rank lacks a chunk it was promised.
    MissingChunk { rank: Rank, chunk: ChunkId },
    /// At the end a reduction lacks a contribution.
    MissingContribution {
        rank: Rank,
        chunk: ChunkId,
        contribution: Rank,
    },
    /// Ranks wait for each other in a cycle, with or without buffers.
    Deadlock { cycle: Vec<Waiting> },
    /// The schedule completes only if a connection holds more messages than the schedule counts on:
    /// with as many as that these ranks wait in a cycle.
    NeedsSlots {
        needed: u32,
        given: u32,
        cycle: Vec<Waiting>,
    },
}

/// One member of a wait-for cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Who waits.
    pub rank: Rank,
    /// In which step of its program.
    pub step: Position,
    /// Label of that step.
    pub round: RoundIdx,
    /// For whom; the rank itself if one of its streams waits for another.
    pub peer: Rank,
    /// For what.
    pub awaits: Awaits,
}

/// What a member of a wait-for cycle waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaits {
    /// That the peer takes a message.
    Send,
    /// A message from the peer.
    Recv,
    /// A step of another stream of the same rank.
    Step(Position),
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rank,
            step,
            round,
            peer,
            ..
        } = self;
        write!(f, "rank {rank} waits ")?;
        match self.awaits {
            Awaits::Send => write!(f, "to send to rank {peer}")?,
            Awaits::Recv => write!(f, "to receive from rank {peer}")?,
            Awaits::Step(on) => write!(f, "for its {on}")?,
        }
        write!(f, " ({step}, round {round})")
    }
}

/// Most members of a wait-for cycle that are named.
const CYCLE_SHOWN: usize = 8;

struct Cycle<'a>(&'a [Waiting]);

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, waiting) in self.0.iter().take(CYCLE_SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{waiting}")?;
        }
        if self.0.len() > CYCLE_SHOWN {
            write!(f, "; and {} more", self.0.len() - CYCLE_SHOWN)?;
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPeer { at, peer } => {
                write!(f, "{at}: ")?;
                write!(f, "rank {peer} is not in the communicator")
            }
            Self::SelfMessage { at } => {
                write!(f, "{at}: ")?;
                f.write_str("a rank cannot exchange a message with itself")
            }
            Self::UnknownChunk { at, chunk } => {
                write!(f, "{at}: ")?;
                write!(f, "chunk {chunk} does not exist")
            }
            Self::PassesNothing { at } => {
                write!(f, "{at}: ")?;
                f.write_str("only a forward can combine without keeping the result")
            }
            Self::UnequalLists { at, read, written } => {
                write!(f, "{at}: ")?;
                write!(f, "a local step reads {read} places and writes {written}")
            }
            Self::WrongSize {
                at,
                chunk,
                bytes,
                target,
                target_bytes,
            } => {
                write!(f, "{at}: ")?;
                write!(
                    f,
                    "chunk {chunk} has {bytes} bytes, and chunk {target}, where it goes, \
                     {target_bytes}"
                )
            }
            Self::UnknownMulticast { at, number } => {
                write!(f, "{at}: ")?;
                write!(f, "multicast {number} does not exist")
            }
            Self::BrokenTree { number, rank } => {
                write!(
                    f,
                    "multicast {number}: no way leads from its root to rank {rank}"
                )
            }
            Self::MulticastRoot { at, number, root } => {
                write!(f, "{at}: ")?;
                write!(f, "the routes of multicast {number} begin at rank {root}")
            }
            Self::MulticastTwice { at, number } => {
                write!(f, "{at}: ")?;
                write!(f, "multicast {number} has been sent before")
            }
            Self::MulticastMismatch {
                at,
                to,
                sent,
                received,
            } => {
                write!(f, "{at}: ")?;
                let kind = |number: &Option<u32>| match number {
                    Some(number) => format!("multicast {number}"),
                    None => "a plain message".to_owned(),
                };
                let (sent, received) = (kind(sent), kind(received));
                write!(f, "sends {sent}, and rank {to} receives {received}")
            }
            Self::SharedConnection {
                at,
                peer,
                channel,
                other,
                sends,
            } => {
                write!(f, "{at}: ")?;
                let verb = if *sends { "sends to" } else { "receives from" };
                write!(
                    f,
                    "{verb} rank {peer} over channel {channel}, as does {other}"
                )
            }
            Self::Race {
                at,
                chunk,
                writes,
                other,
                other_writes,
            } => {
                write!(f, "{at}: ")?;
                let verb = |writes: &bool| if *writes { "writes" } else { "reads" };
                write!(
                    f,
                    "{} chunk {chunk}, which {other} {}, and nothing decides which comes first",
                    verb(writes),
                    verb(other_writes),
                )
            }
            Self::ReducesUnheld { at, chunk } => {
                write!(f, "{at}: ")?;
                write!(f, "reduces into chunk {chunk}, which it does not hold")
            }
            Self::ReducesOther {
                at,
                chunk,
                holds,
                arrives,
            } => {
                write!(f, "{at}: ")?;
                write!(
                    f,
                    "reduces contributions to chunk {arrives} into chunk {chunk}, where those to \
                     chunk {holds} are"
                )
            }
            Self::WrongChunk { rank, chunk, holds } => {
                write!(
                    f,
                    "rank {rank} ends with chunk {holds} in the place of chunk {chunk}"
                )
            }
            Self::UnmatchedSend { at, to } => {
                write!(f, "{at}: ")?;
                write!(f, "the message to rank {to} is never received")
            }
            Self::UnmatchedRecv { at, from } => {
                write!(f, "{at}: ")?;
                write!(f, "the message expected from rank {from} is never sent")
            }
            Self::ChunkMismatch { at, to, chunk } => {
                write!(f, "{at}: ")?;
                write!(f, "rank {to} expects other chunks than are sent")?;
                chunk.map_or(Ok(()), |chunk| {
                    write!(f, " (first sent but not expected: {chunk})")
                })
            }
            Self::RoundMismatch {
                at,
                to,
                receives_in,
            } => {
                write!(f, "{at}: ")?;
                write!(f, "rank {to} receives this message in round {receives_in}")
            }
            Self::RoundFalls { at, before } => {
                write!(f, "{at}: ")?;
                write!(f, "the program has been in round {before} before")
            }
            Self::SendsTooEarly {
                at,
                chunk,
                arrives_in,
            } => {
                write!(f, "{at}: ")?;
                let later = arrives_in.0.saturating_add(1);
                write!(
                    f,
                    "sends chunk {chunk}, which arrives in round {arrives_in}: round {later} is the \
                     earliest"
                )
            }
            Self::SendsUnheld { at, chunk } => {
                write!(f, "{at}: ")?;
                write!(f, "sends chunk {chunk}, which it does not hold")
            }
            Self::ReadsUnheld { at, chunk } => {
                write!(f, "{at}: ")?;
                write!(
                    f,
                    "copies or combines chunk {chunk}, which it does not hold"
                )
            }
            Self::ReducesUnreducible { at, chunk } => {
                write!(f, "{at}: ")?;
                write!(
                    f,
                    "reduces chunk {chunk}, but this collective only moves data"
                )
            }
            Self::ReducedTwice {
                at,
                chunk,
                contribution,
            } => {
                write!(f, "{at}: ")?;
                write!(
                    f,
                    "the contribution of rank {contribution} enters chunk {chunk} twice"
                )
            }
            Self::MissingChunk { rank, chunk } => {
                write!(f, "rank {rank} ends without chunk {chunk}")
            }
            Self::MissingContribution {
                rank,
                chunk,
                contribution,
            } => {
                write!(
                    f,
                    "rank {rank} ends with chunk {chunk} lacking rank {contribution}"
                )
            }
            Self::Deadlock { cycle } => {
                write!(
                    f,
                    "deadlock, however many slots a connection has: {}",
                    Cycle(cycle)
                )
            }
            Self::NeedsSlots {
                needed,
                given,
                cycle,
            } => {
                let slots = if *needed == 1 { "slot" } else { "slots" };
                write!(
                    f,
                    "deadlock with fewer than {needed} {slots} per connection"
                )?;
                if *given > 0 {
                    write!(f, ", and the schedule counts on {given}")?;
                }
                write!(f, ": {}", Cycle(cycle))
            }
        }
    }
}

impl At {
    fn step(self) -> StepRef {
        self.step.of(self.rank)
    }
}

impl Violation {
    /// The steps that it names, first the one where it was found; none of what a rank ends with.
    #[must_use]
    pub fn steps(&self) -> Vec<StepRef> {
        match self {
            Self::UnknownPeer { at, .. }
            | Self::SelfMessage { at }
            | Self::UnknownChunk { at, .. }
            | Self::PassesNothing { at }
            | Self::UnequalLists { at, .. }
            | Self::WrongSize { at, .. }
            | Self::UnknownMulticast { at, .. }
            | Self::MulticastRoot { at, .. }
            | Self::MulticastTwice { at, .. }
            | Self::MulticastMismatch { at, .. }
            | Self::UnmatchedSend { at, .. }
            | Self::UnmatchedRecv { at, .. }
            | Self::ChunkMismatch { at, .. }
            | Self::RoundMismatch { at, .. }
            | Self::RoundFalls { at, .. }
            | Self::SendsTooEarly { at, .. }
            | Self::SendsUnheld { at, .. }
            | Self::ReadsUnheld { at, .. }
            | Self::ReducesUnreducible { at, .. }
            | Self::ReducedTwice { at, .. }
            | Self::ReducesUnheld { at, .. }
            | Self::ReducesOther { at, .. } => vec![at.step()],
            Self::SharedConnection { at, other, .. } | Self::Race { at, other, .. } => {
                vec![at.step(), other.of(at.rank)]
            }
            Self::Deadlock { cycle } | Self::NeedsSlots { cycle, .. } => {
                let shown = cycle.iter().take(CYCLE_SHOWN);
                shown.map(|waiting| waiting.step.of(waiting.rank)).collect()
            }
            Self::BrokenTree { .. }
            | Self::WrongChunk { .. }
            | Self::MissingChunk { .. }
            | Self::MissingContribution { .. } => Vec::new(),
        }
    }
}

/// Most violations a certificate lists; the first one usually explains the others.
pub const VIOLATIONS_MAX: usize = 16;

/// Collects violations up to [`VIOLATIONS_MAX`].
#[derive(Default)]
pub(super) struct Collector(Vec<Violation>);

impl Collector {
    pub(super) fn push(&mut self, violation: Violation) {
        if self.0.len() < VIOLATIONS_MAX {
            self.0.push(violation);
        }
    }

    /// Adds what another one has collected.
    pub(super) fn extend(&mut self, other: Self) {
        other
            .0
            .into_iter()
            .for_each(|violation| self.push(violation));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<Violation> {
        self.0
    }
}
