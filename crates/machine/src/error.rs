// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a run ended without a report.

use std::fmt;

use corecast_core::{ChunkId, Help, Rank, RequestError, Time, Violation};
use thiserror::Error;

use crate::endpoint::{Envelope, Tag};
use crate::tasks::TaskError;

/// What a blocked rank waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Await {
    /// That the peer takes its message.
    Send,
    /// A message of the peer.
    Recv,
    /// That the peer reaches the collective's launch.
    Launch,
    /// A message of the peer with this tag.
    Tag(Tag),
    /// A message of anybody, with this tag or with any. The peer is the rank itself.
    Any(Option<Tag>),
}

/// A call of a library by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibraryCall {
    /// By a rank, such as `RCCE_recv`.
    OfRank(&'static str),
    /// By a task of a dataflow program: the calls of Kumar 2012, Table I.
    OfTask(&'static str),
}

/// A rank that cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Who waits.
    pub rank: Rank,
    /// For whom.
    pub peer: Rank,
    /// For what.
    pub awaits: Await,
    /// Index of the step, or of the call, in its program.
    pub step: usize,
    /// Since when.
    pub since: Time,
    /// The library call that waits; none in schedules.
    pub call: Option<LibraryCall>,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rank,
            peer,
            step,
            since,
            ..
        } = self;
        if let Some(call) = self.call {
            let (who, call) = match call {
                LibraryCall::OfRank(name) => ("rank", name),
                LibraryCall::OfTask(name) => ("task", name),
            };
            write!(f, "{who} {rank} waits in {call} for ")?;
            // A flag that anybody may set has no peer.
            match peer == rank {
                true => write!(f, "a flag")?,
                false => write!(f, "{who} {peer}")?,
            }
            return write!(f, " (call {step}, since {since})");
        }
        match self.awaits {
            Await::Send => write!(f, "rank {rank} waits for rank {peer} to receive")?,
            Await::Recv => write!(f, "rank {rank} waits for a message from rank {peer}")?,
            Await::Launch => write!(f, "rank {rank} waits for rank {peer} to join the launch")?,
            Await::Tag(tag) => write!(
                f,
                "rank {rank} waits for a message from rank {peer} with tag {tag}"
            )?,
            Await::Any(None) => write!(f, "rank {rank} waits for a message from any rank")?,
            Await::Any(Some(tag)) => write!(
                f,
                "rank {rank} waits for a message from any rank with tag {tag}"
            )?,
        }
        write!(f, " (step {step}, since {since})")
    }
}

/// The ranks of a list, a few lines at most.
struct Shown<'a>(&'a [Blocked]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        for blocked in self.0.iter().take(SHOWN) {
            write!(f, "\n  {blocked}")?;
        }
        if self.0.len() > SHOWN {
            write!(f, "\n  and {} more", self.0.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// Why a run ended without a report.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Nothing can happen any more.
    #[error("deadlock at {at}: no rank can go on{}", Shown(blocked))]
    Deadlock {
        /// When.
        at: Time,
        /// A wait-for cycle first, then the others.
        blocked: Vec<Blocked>,
    },
    /// The time limit was reached.
    #[error("the run did not end within {limit}{}", Shown(blocked))]
    TimeLimit {
        /// The limit.
        limit: Time,
        /// Who was waiting then.
        blocked: Vec<Blocked>,
    },
    /// The event limit was reached.
    #[error("the run did not end within {limit} events{}", Shown(blocked))]
    EventLimit {
        /// The limit.
        limit: u64,
        /// Who was waiting then.
        blocked: Vec<Blocked>,
    },
    /// Somebody has stopped it ([`crate::Watch::stop`]).
    #[error("the run was stopped")]
    Stopped,
    /// The machine has fewer cores than there are ranks.
    #[error("{machine} has {max} cores")]
    TooManyRanks {
        /// The machine or chip.
        machine: String,
        /// Its number of cores.
        max: u32,
        /// Ranks asked for.
        ranks: u32,
    },
    /// The machine cannot do what an option asks for.
    #[error("{machine} does not have {what}")]
    Unsupported {
        /// The machine.
        machine: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// A buffer of a core is too small for the head of a message.
    #[error("the buffers hold {bytes} bytes of a message, less than the words of an envelope")]
    SmallBuffers {
        /// What one holds of a message.
        bytes: u64,
        /// Bytes of an envelope.
        envelope_bytes: u64,
        /// What makes them larger.
        keys: &'static str,
    },
    /// A rank's data do not fit into its memory.
    #[error(
        "{bytes} bytes do not fit into the {max} bytes of private memory that a core of {machine} has"
    )]
    OutOfMemory {
        /// The machine or chip.
        machine: String,
        /// Bytes of a core's private memory.
        max: u64,
        /// Bytes needed.
        bytes: u64,
    },
    /// A rank of an option does not exist.
    #[error("{option} names rank {rank}")]
    UnknownRank {
        /// The option.
        option: &'static str,
        /// The rank named.
        rank: Rank,
        /// Number of ranks.
        ranks: u32,
    },
    /// A schedule sends what its rank does not hold.
    #[error("rank {rank}, step {step}: chunk {chunk} is not held")]
    NotHeld {
        /// Where.
        rank: Rank,
        /// Index of the step.
        step: usize,
        /// The chunk.
        chunk: ChunkId,
    },
    /// Streams of a schedule cannot be brought into an order.
    #[error("the schedule cannot be run: {0}")]
    NotRunnable(Box<Violation>),
    /// A message has another shape than its receiver expects.
    #[error("rank {rank}: the message from rank {from} does not have the expected {expected}")]
    Shape {
        /// The receiver.
        rank: Rank,
        /// The sender.
        from: Rank,
        /// What was expected, in words.
        expected: String,
    },
    /// A message that nobody has received when its receiver ends.
    #[error(
        "rank {to} ends without receiving the {} bytes with tag {} from rank {}",
        envelope.bytes, envelope.tag, envelope.from
    )]
    Unreceived {
        /// Its receiver.
        to: Rank,
        /// What is known of it.
        envelope: Envelope,
    },
    /// Receives that a rank has asked for and never waited for.
    #[error("rank {rank} ends with {receives} receives that it has not waited for")]
    NotWaitedFor {
        /// The rank.
        rank: Rank,
        /// How many.
        receives: usize,
    },
    /// A send or receive whose end was told already.
    #[error("rank {rank}, call {call}: what is asked about has ended")]
    NotPending {
        /// Who asks.
        rank: Rank,
        /// Number of the call.
        call: usize,
    },
    /// A rank's program ended with an error or a panic.
    #[error("rank {rank} failed: {reason}")]
    RankFailed {
        /// The rank.
        rank: Rank,
        /// What it said.
        reason: String,
        /// What would be right, one thing per line; empty where nothing is known.
        help: String,
    },
    /// Tasks of a dataflow program cannot be run, or not on.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The schedule's request cannot be run.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl RunError {
    /// Whether the error is a limit or a deadlock (exit code 3) rather than bad input.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        match self {
            Self::Deadlock { .. } | Self::TimeLimit { .. } | Self::EventLimit { .. } => true,
            Self::NotRunnable(violation) => matches!(**violation, Violation::Deadlock { .. }),
            _ => false,
        }
    }
}

/// Puts a wait-for cycle to the front of a list of blocked ranks.
#[must_use]
pub fn cycle_first(mut blocked: Vec<Blocked>) -> Vec<Blocked> {
    let of = |list: &[Blocked], rank: Rank| list.iter().position(|b| b.rank == rank);
    let mut path: Vec<usize> = Vec::new();
    let mut next = (!blocked.is_empty()).then_some(0);
    while let Some(index) = next {
        if let Some(start) = path.iter().position(|&seen| seen == index) {
            let cycle: Vec<Blocked> = path[start..].iter().map(|&i| blocked[i]).collect();
            blocked.retain(|b| !cycle.contains(b));
            blocked.splice(0..0, cycle);
            break;
        }
        path.push(index);
        // Who waits for anybody waits for nobody in particular.
        let waiting = blocked[index];
        next = match waiting.awaits {
            Await::Any(_) => None,
            _ => of(&blocked, waiting.peer),
        };
    }
    blocked
}

impl Help for RunError {
    fn help(&self) -> String {
        match self {
            Self::TooManyRanks { ranks, .. } => format!("{ranks} ranks do not fit"),
            Self::Unsupported { .. } => "use a simulated chip".to_owned(),
            Self::SmallBuffers {
                envelope_bytes,
                keys,
                ..
            } => format!("make {keys} {envelope_bytes} bytes at least"),
            Self::UnknownRank { ranks, .. } => {
                format!("with {ranks} ranks it must be 0 to {}", ranks - 1)
            }
            Self::RankFailed { help, .. } => help.clone(),
            Self::NotHeld { .. } => "verify the schedule".to_owned(),
            Self::NotPending { .. } => "that was told before".to_owned(),
            Self::Task(error) => error.help(),
            Self::Request(error) => error.help(),
            _ => String::new(),
        }
    }
}
