//! What can be wrong with a schedule, with the place.

use std::fmt;

use crate::ids::{ChunkId, Rank, RoundIdx};

/// One thing wrong with a schedule.
///
/// In every variant `rank` is where it was found, `step` counts from 0 in that rank's program,
/// `round` is the label of that step, `chunk` the data concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields' common meaning is stated once, above"
)]
pub enum Violation {
    /// A step names a rank outside the communicator.
    UnknownPeer {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        peer: Rank,
    },
    /// A rank sends to or receives from itself.
    SelfMessage {
        rank: Rank,
        step: usize,
        round: RoundIdx,
    },
    /// A step names a chunk outside the specification.
    UnknownChunk {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        chunk: ChunkId,
    },
    /// A message that its receiver never receives: it stays in flight.
    UnmatchedSend {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        to: Rank,
    },
    /// A receive whose sender never sends.
    UnmatchedRecv {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        from: Rank,
    },
    /// Sender and receiver name different chunks.
    ChunkMismatch {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        to: Rank,
        chunk: Option<ChunkId>,
    },
    /// Sender and receiver give the message different round labels.
    RoundMismatch {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        to: Rank,
        receives_in: RoundIdx,
    },
    /// A step is labelled with an earlier round than a step before it in the program of its rank.
    RoundFalls {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        before: RoundIdx,
    },
    /// A rank sends a chunk in the round in which it arrives, or in an earlier one.
    SendsTooEarly {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        chunk: ChunkId,
        arrives_in: RoundIdx,
    },
    /// A rank sends a chunk it does not hold.
    SendsUnheld {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        chunk: ChunkId,
    },
    /// A reduction is applied to data that is not a contribution.
    ReducesUnreducible {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        chunk: ChunkId,
    },
    /// A contribution enters a reduction a second time.
    ReducedTwice {
        rank: Rank,
        step: usize,
        round: RoundIdx,
        chunk: ChunkId,
        contribution: Rank,
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
    /// The schedule completes only with buffers: under rendezvous these ranks wait in a cycle.
    NeedsBuffering {
        messages_per_pair: u32,
        cycle: Vec<Waiting>,
    },
}

/// One member of a wait-for cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Who waits.
    pub rank: Rank,
    /// In which step of its program.
    pub step: usize,
    /// Label of that step.
    pub round: RoundIdx,
    /// For whom.
    pub peer: Rank,
    /// Whether it waits to send (otherwise to receive).
    pub sends: bool,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.sends {
            "send to"
        } else {
            "receive from"
        };
        let Self {
            rank,
            step,
            round,
            peer,
            ..
        } = self;
        write!(
            f,
            "rank {rank} waits to {verb} rank {peer} (step {step}, round {round})"
        )
    }
}

struct Cycle<'a>(&'a [Waiting]);

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        for (index, waiting) in self.0.iter().take(SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{waiting}")?;
        }
        if self.0.len() > SHOWN {
            write!(f, "; and {} more", self.0.len() - SHOWN)?;
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |f: &mut fmt::Formatter<'_>, rank: &Rank, step: &usize, round: &RoundIdx| {
            write!(f, "rank {rank}, step {step}, round {round}: ")
        };
        match self {
            Self::UnknownPeer {
                rank,
                step,
                round,
                peer,
            } => {
                place(f, rank, step, round)?;
                write!(f, "rank {peer} is not in the communicator")
            }
            Self::SelfMessage { rank, step, round } => {
                place(f, rank, step, round)?;
                f.write_str("a rank cannot exchange a message with itself")
            }
            Self::UnknownChunk {
                rank,
                step,
                round,
                chunk,
            } => {
                place(f, rank, step, round)?;
                write!(f, "chunk {chunk} does not exist")
            }
            Self::UnmatchedSend {
                rank,
                step,
                round,
                to,
            } => {
                place(f, rank, step, round)?;
                write!(f, "the message to rank {to} is never received")
            }
            Self::UnmatchedRecv {
                rank,
                step,
                round,
                from,
            } => {
                place(f, rank, step, round)?;
                write!(f, "the message expected from rank {from} is never sent")
            }
            Self::ChunkMismatch {
                rank,
                step,
                round,
                to,
                chunk,
            } => {
                place(f, rank, step, round)?;
                write!(f, "rank {to} expects other chunks than are sent")?;
                chunk.map_or(Ok(()), |chunk| {
                    write!(f, " (first sent but not expected: {chunk})")
                })
            }
            Self::RoundMismatch {
                rank,
                step,
                round,
                to,
                receives_in,
            } => {
                place(f, rank, step, round)?;
                write!(f, "rank {to} receives this message in round {receives_in}")
            }
            Self::RoundFalls {
                rank,
                step,
                round,
                before,
            } => {
                place(f, rank, step, round)?;
                write!(f, "the program has been in round {before} before")
            }
            Self::SendsTooEarly {
                rank,
                step,
                round,
                chunk,
                arrives_in,
            } => {
                place(f, rank, step, round)?;
                let later = arrives_in.0.saturating_add(1);
                write!(
                    f,
                    "sends chunk {chunk}, which arrives in round {arrives_in}: round {later} is the \
                     earliest"
                )
            }
            Self::SendsUnheld {
                rank,
                step,
                round,
                chunk,
            } => {
                place(f, rank, step, round)?;
                write!(f, "sends chunk {chunk}, which it does not hold")
            }
            Self::ReducesUnreducible {
                rank,
                step,
                round,
                chunk,
            } => {
                place(f, rank, step, round)?;
                write!(
                    f,
                    "reduces chunk {chunk}, but this collective only moves data"
                )
            }
            Self::ReducedTwice {
                rank,
                step,
                round,
                chunk,
                contribution,
            } => {
                place(f, rank, step, round)?;
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
            Self::Deadlock { cycle } => write!(f, "deadlock: {}", Cycle(cycle)),
            Self::NeedsBuffering {
                messages_per_pair,
                cycle,
            } => {
                let buffers = format!("{messages_per_pair} buffered messages per pair");
                write!(f, "deadlock without {buffers}: {}", Cycle(cycle))
            }
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

    pub(super) fn into_list(self) -> Vec<Violation> {
        self.0
    }
}
