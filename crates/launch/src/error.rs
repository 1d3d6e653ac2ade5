// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a job could not be started.

use std::ffi::OsString;
use std::io;

use corecast_core::Help;

/// Why a job could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Neither a file nor a name that PATH knows.
    #[error("there is no program {program:?} in the folders of PATH")]
    NoProgram {
        /// As typed.
        program: OsString,
        /// Whether there is one of the name in the current folder.
        is_here: bool,
    },
    /// What stands where the program should is meant as an option.
    #[error("there is no option {option:?}")]
    NoOption {
        /// As typed.
        option: OsString,
    },
    /// The file is there and cannot be executed.
    #[error("{program:?} cannot be executed: it is {what}")]
    NotExecutable {
        /// As typed.
        program: OsString,
        /// What it is instead.
        what: &'static str,
    },
    /// Nothing to start.
    #[error("{} `:` there is no program", if *is_first { "before" } else { "after" })]
    EmptyPart {
        /// Whether it is the first part.
        is_first: bool,
    },
    /// An option of a part that is none.
    #[error("{option:?} after `:` is no option of one program")]
    PartOption {
        /// As typed.
        option: OsString,
    },
    /// A number of ranks that is none.
    #[error("-n {value:?}: there cannot be so many ranks")]
    Ranks {
        /// As typed.
        value: OsString,
        /// Most ranks.
        max: u32,
    },
    /// No segment.
    #[error(transparent)]
    Segment(#[from] corecast_shm::ShmError),
    /// The system would not start a rank.
    #[error("rank {rank} ({program:?}) does not start: {error}")]
    Start {
        /// Which.
        rank: u32,
        /// Its program.
        program: OsString,
        /// Why.
        error: io::Error,
    },
    /// No guard.
    #[error("`sh`, which would end the ranks if the launcher died, does not start: {0}")]
    Guard(io::Error),
    /// No pipe.
    #[error("the ranks get no way to ask the launcher: {0}")]
    Questions(io::Error),
    /// No signals.
    #[error("the launcher cannot listen to signals: {0}")]
    Signals(io::Error),
}

impl Help for LaunchError {
    fn help(&self) -> String {
        match self {
            Self::NoProgram {
                program,
                is_here: true,
            } => format!("did you mean `./{}`?", program.display()),
            Self::NoProgram { .. } | Self::NotExecutable { .. } => {
                "give the path of a program, or the name of one in a folder of PATH".to_owned()
            }
            Self::NoOption { .. } => {
                "`corecast mpirun --help` lists the options; the program comes behind them"
                    .to_owned()
            }
            Self::EmptyPart { is_first: true } => "write `./program : -n 2 ./another`".to_owned(),
            Self::EmptyPart { is_first: false } => "write `: -n 2 ./program`".to_owned(),
            Self::PartOption { .. } => {
                "only -n may stand there; the other options come first, and are for all programs"
                    .to_owned()
            }
            Self::Ranks { max, .. } => format!("use 1 to {max} ranks, of all programs together"),
            Self::Segment(_)
            | Self::Start { .. }
            | Self::Guard(_)
            | Self::Questions(_)
            | Self::Signals(_) => String::new(),
        }
    }
}
