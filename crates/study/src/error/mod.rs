// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a study cannot be made, or has no result: values with fields. What a user could type instead
//! is up to the face that speaks to the user.

mod advice;
pub(crate) mod flow;
mod listed;
mod machine;
mod traffic;

use std::borrow::Cow;
use std::fmt;

use corecast_chip::ChipError;
use corecast_core::{BuildError, Collective, ElementType, Help, RequestError};
use corecast_exchange::{FileError, Unsayable};
use corecast_machine::RunError;
use thiserror::Error;

pub use advice::{AdviceError, Asked};
pub use flow::FlowStudyError;
pub use listed::ListedError;
pub use machine::MachineError;
pub use traffic::TrafficStudyError;

use crate::surroundings::SurroundingsError;

/// An algorithm that has no part in an answer. Shown as one line.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// Its name.
    pub algorithm: Cow<'static, str>,
    /// Ranks and bytes of the cell that names it, if it is the answer of a table.
    pub cell: Option<(u32, u64)>,
    /// Why not.
    pub why: Why,
}

/// Why an algorithm has no part in an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// It has no schedule.
    Build(BuildError),
    /// Its run met a limit or a deadlock; those of others ended.
    Run(RunError),
}

impl Refused {
    /// Whether it has a schedule and its run met a limit or a deadlock.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self.why, Why::Run(_))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((ranks, bytes)) = self.cell {
            write!(f, "(nearer: {ranks} ranks and {bytes} bytes) ")?;
        }
        let algorithm = &self.algorithm;
        match &self.why {
            Why::Build(why) => {
                write!(f, "{why}")?;
                let help = why.help();
                help.lines().try_for_each(|line| write!(f, "; {line}"))
            }
            Why::Run(RunError::TimeLimit { limit, .. }) => {
                write!(f, "{algorithm} did not end within {limit}")
            }
            Why::Run(RunError::EventLimit { limit, .. }) => {
                write!(f, "{algorithm} did not end within {limit} events")
            }
            Why::Run(RunError::Deadlock { at, blocked }) => {
                write!(f, "{algorithm}: deadlock at {at}")?;
                let mut first = blocked.iter().take(1);
                first.try_for_each(|first| write!(f, ": {first}"))
            }
            Why::Run(other) => write!(f, "{algorithm}: {other}"),
        }
    }
}

/// What only some collectives have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoChoice {
    /// A rank that is not like the others.
    Root,
    /// The type of what is combined.
    Element,
    /// How it is combined.
    Operator,
}

impl fmt::Display for NoChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "has no root",
            Self::Element | Self::Operator => "combines nothing",
        })
    }
}

/// Why a study cannot be made, or has no result.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A name that nothing has.
    #[error("there is no {kind} called `{name}`")]
    Unknown {
        /// Of what.
        kind: String,
        /// The word for several of them.
        plural: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The chip cannot be had.
    #[error(transparent)]
    Chip(#[from] ChipError),
    /// The machine lacks what was asked for.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// There are fewer cores than ranks.
    #[error("{ranks} ranks do not fit on {chip}")]
    RankCount {
        /// Ranks asked for.
        ranks: u64,
        /// The chip.
        chip: String,
        /// Its number of cores.
        max: u32,
    },
    /// A machine that is no chip takes fewer ranks.
    #[error("{machine} does not take {ranks} ranks")]
    MachineRanks {
        /// Ranks asked for.
        ranks: u64,
        /// The machine.
        machine: &'static str,
        /// Most of them.
        max: u32,
    },
    /// The chip has enough cores, but a list says which have ranks, and it is too short.
    #[error("{needed} cores are needed, and the placement lists {listed}")]
    Placement {
        /// Cores that are to have ranks.
        needed: u64,
        /// Cores of the list.
        listed: u32,
    },
    /// So many ranks cannot share a core.
    #[error("{per_core} ranks cannot share a core")]
    RanksPerCore {
        /// How many were asked for.
        per_core: u32,
        /// Most of them.
        max: u32,
    },
    /// The root is no rank.
    #[error("rank {root} does not exist")]
    Root {
        /// The root asked for.
        root: u32,
        /// Number of ranks.
        ranks: u32,
    },
    /// A choice that a collective does not have.
    #[error("{collective} {choice}")]
    NoChoice {
        /// The collective.
        collective: Collective,
        /// What was chosen.
        choice: NoChoice,
    },
    /// All blocks together are longer than [`crate::TOTAL_BYTES_MAX`].
    #[error("{bytes} bytes over {ranks} ranks exceed 1 GiB in all")]
    TooManyBytes {
        /// Bytes per block.
        bytes: u64,
        /// Number of ranks.
        ranks: u32,
        /// Most bytes per block.
        max: u64,
    },
    /// A size is not a whole number of elements.
    #[error("{bytes} bytes are no whole number of {}", element.name())]
    PartialElement {
        /// The size.
        bytes: u64,
        /// The type of the elements.
        element: ElementType,
    },
    /// A file cannot be read.
    #[error("cannot read `{file}`: {reason}")]
    Unreadable {
        /// Its name.
        file: String,
        /// Why not.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write `{file}`: {reason}")]
    Unwritable {
        /// Its name.
        file: String,
        /// Why not.
        reason: String,
    },
    /// A file of a rank that what is written does not have would belong to it.
    #[error("`{file}` is there, and would belong to what is written, which has {ranks} ranks")]
    FurtherRank {
        /// Its name.
        file: String,
        /// Ranks of what is written.
        ranks: usize,
    },
    /// A file is no schedule.
    #[error(transparent)]
    File(#[from] FileError),
    /// A format cannot say what a schedule says.
    #[error(transparent)]
    Unsayable(#[from] Unsayable),
    /// The data are not as long as those that the ranks hold at the start.
    #[error("{given} bytes of data were given, the ranks hold {needed} at the start")]
    Input {
        /// Bytes given.
        given: u64,
        /// Bytes of the blocks of all ranks.
        needed: u64,
    },
    /// A schedule is not what it was taken for.
    #[error("the schedule is not correct: {first}")]
    Incorrect {
        /// The algorithm.
        algorithm: String,
        /// What speaks against it first.
        first: String,
        /// How many things do.
        count: usize,
    },
    /// Who asked does not want to know any more.
    #[error("stopped")]
    Stopped,
    /// No algorithm could serve the request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The algorithm cannot serve the request.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// None of the algorithms can.
    #[error("no algorithm can serve this {collective}")]
    Unserved {
        /// The collective.
        collective: Collective,
        /// The reasons.
        refused: Vec<Refused>,
    },
    /// What goes on around a run cannot be.
    #[error(transparent)]
    Surroundings(#[from] SurroundingsError),
    /// The decision table cannot be asked.
    #[error(transparent)]
    Advice(#[from] Box<AdviceError>),
    /// A run ended without a report.
    #[error("{algorithm}: {error}")]
    Run {
        /// The algorithm.
        algorithm: String,
        /// Whether its senders waited for their receivers.
        has_flow_control: bool,
        /// What ended it.
        error: RunError,
    },
    /// There is no such rank to play with.
    #[error("there is no rank `{rank}`")]
    Rank {
        /// Which end it should be.
        end: &'static str,
        /// The rank.
        rank: u32,
        /// Number of ranks.
        ranks: u32,
    },
    /// A message needs two ranks.
    #[error("rank {rank} plays with itself")]
    PlaysWithItself {
        /// The rank.
        rank: u32,
    },
    /// There are no two cores.
    #[error("it has one core only")]
    OneCore,
    /// A message is longer than [`crate::TOTAL_BYTES_MAX`].
    #[error("{bytes} bytes exceed 1 GiB")]
    MessageBytes {
        /// Its size.
        bytes: u64,
    },
    /// A message did not come back.
    #[error(transparent)]
    RoundTrip(RunError),
    /// Traffic cannot be put on a mesh.
    #[error(transparent)]
    Traffic(#[from] TrafficStudyError),
    /// A flow cannot be studied, or has no result.
    #[error(transparent)]
    Flow(#[from] Box<FlowStudyError>),
}

impl StudyError {
    /// The algorithm whose run met a limit or a deadlock, if that is what happened: an answer about
    /// several algorithms can leave it out.
    #[must_use]
    pub fn left_out(&self) -> Option<Refused> {
        let Self::Run {
            algorithm, error, ..
        } = self
        else {
            return None;
        };
        error.is_limit().then(|| Refused {
            algorithm: algorithm.clone().into(),
            cell: None,
            why: Why::Run(error.clone()),
        })
    }
}

impl From<FlowStudyError> for StudyError {
    fn from(error: FlowStudyError) -> Self {
        Self::Flow(Box::new(error))
    }
}

impl From<AdviceError> for StudyError {
    fn from(error: AdviceError) -> Self {
        Self::Advice(Box::new(error))
    }
}

impl Help for StudyError {
    fn help(&self) -> String {
        match self {
            Self::Chip(error) => error.help(),
            Self::TooManyBytes { max: 0, .. } => {
                "use fewer ranks: one byte per block is more than that already".to_owned()
            }
            Self::TooManyBytes { max, .. } => format!("use at most {max} bytes"),
            Self::Unreadable { .. } => {
                "give the path of a schedule file, or `-` for standard input".to_owned()
            }
            Self::Unwritable { .. } => {
                "give the path of a file in a folder that exists and can be written".to_owned()
            }
            Self::FurtherRank { .. } => {
                "remove the files of further ranks, or take another name".to_owned()
            }
            Self::File(error) => error.help(),
            Self::Unsayable(error) => error.help(),
            Self::Request(error) => error.help(),
            Self::Build(error) => error.help(),
            Self::Advice(error) => error.help(),
            Self::Run { error, .. } | Self::RoundTrip(error) => error.help(),
            Self::Traffic(error) => error.help(),
            Self::Flow(error) => error.help(),
            _ => String::new(),
        }
    }
}
