//! Why a job could not be started.

use std::ffi::OsString;
use std::io;

/// Why a job could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Neither a file nor a name that PATH knows.
    #[error("there is no program {program:?} in the folders of PATH{hint}", hint = .hint)]
    NoProgram {
        /// As typed.
        program: OsString,
        /// What may have been meant, as the rest of the sentence.
        hint: String,
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
    #[error("after `:` there is no program; write `: -n 2 ./program`")]
    EmptyPart,
    /// An option of a part that is none.
    #[error("{option:?} after `:` is no option of one program; only -n is")]
    PartOption {
        /// As typed.
        option: OsString,
    },
    /// A number of ranks that is none.
    #[error("-n takes the number of ranks, from 1 to {max}, not {value:?}")]
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
