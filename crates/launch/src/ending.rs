// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a job ended, in one sentence and an exit code.

use std::fmt;
use std::time::Duration;

/// How a job ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// What went wrong first; none if all ranks ended with 0.
    pub cause: Option<Cause>,
    /// Whether ranks that were still running had to be ended.
    pub others_ended: bool,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// A signal killed a rank.
    Signal {
        /// Which.
        rank: u32,
        /// The signal's number.
        signal: i32,
    },
    /// A rank ended with another exit code than 0.
    Exit {
        /// Which.
        rank: u32,
        /// Its exit code.
        code: i32,
        /// Whether it was between `MPI_Init` and `MPI_Finalize`.
        is_inside: bool,
    },
    /// A rank ended with 0 between `MPI_Init` and `MPI_Finalize`.
    Unfinished {
        /// Which.
        rank: u32,
    },
    /// A rank ended with 0 and without `MPI_Init`, while others had called it.
    Absent {
        /// Which.
        rank: u32,
    },
    /// A rank called `MPI_Abort`.
    Abort {
        /// Which.
        rank: u32,
        /// What it wants as exit code.
        code: i32,
    },
    /// Somebody sent the launcher this signal.
    Interrupted {
        /// The signal's number.
        signal: i32,
    },
    /// The time given is over.
    Timeout {
        /// That time.
        limit: Duration,
    },
}

/// The exit code of a job whose time was over; that of `timeout(1)`.
pub const TIMEOUT_CODE: u8 = 124;

impl Ending {
    /// 0, the first failing rank's code, or 128 and the signal's number.
    #[must_use]
    pub fn code(&self) -> u8 {
        // What is no success must not look like one.
        let failing = |code: i32| u8::try_from(code & 0xff).map_or(1, |code| code.max(1));
        match self.cause {
            None => 0,
            Some(Cause::Signal { signal, .. } | Cause::Interrupted { signal }) => {
                failing(128 + signal)
            }
            Some(Cause::Exit { code, .. } | Cause::Abort { code, .. }) => failing(code),
            Some(Cause::Unfinished { .. } | Cause::Absent { .. }) => 1,
            Some(Cause::Timeout { .. }) => TIMEOUT_CODE,
        }
    }
}

/// One sentence without a full stop; nothing if nothing went wrong.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(cause) = &self.cause else {
            return Ok(());
        };
        write!(f, "{cause}")?;
        match cause {
            Cause::Interrupted { .. } | Cause::Timeout { .. } => {
                write!(f, "; the ranks were ended")
            }
            _ if self.others_ended => write!(f, "; the others were ended"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Interrupted { signal } => write!(f, "mpirun got {}", name(signal)),
            Self::Timeout { limit } => {
                write!(f, "the time of {} s is over", limit.as_secs_f64())
            }
            Self::Signal { rank, .. }
            | Self::Exit { rank, .. }
            | Self::Unfinished { rank }
            | Self::Absent { rank }
            | Self::Abort { rank, .. } => write!(f, "rank {rank} {}", self.what()),
        }
    }
}

impl Cause {
    /// What a rank did, without its number.
    pub(crate) fn what(&self) -> String {
        match *self {
            Self::Signal { signal, .. } => {
                format!("was killed by signal {signal} ({})", name(signal))
            }
            Self::Exit {
                code, is_inside, ..
            } => {
                let before = if is_inside {
                    " before MPI_Finalize"
                } else {
                    ""
                };
                format!("ended with exit code {code}{before}")
            }
            Self::Unfinished { .. } => "ended before MPI_Finalize".to_owned(),
            Self::Absent { .. } => "ended without MPI_Init, and the others wait for it".to_owned(),
            Self::Abort { code, .. } => format!("called MPI_Abort with code {code}"),
            Self::Interrupted { .. } | Self::Timeout { .. } => self.to_string(),
        }
    }
}

/// The name of a signal (signal(7), x86 and ARM).
fn name(signal: i32) -> &'static str {
    const NAMES: [&str; 32] = [
        "0",
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    let index = usize::try_from(signal).ok();
    index
        .and_then(|index| NAMES.get(index))
        .copied()
        .unwrap_or("a real-time signal")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cause: Cause, others_ended: bool) -> (u8, String) {
        let ending = Ending {
            cause: Some(cause),
            others_ended,
        };
        (ending.code(), ending.to_string())
    }

    #[test]
    fn each_end_has_its_sentence_and_its_code() {
        let killed = Cause::Signal { rank: 2, signal: 9 };
        let sentence = "rank 2 was killed by signal 9 (SIGKILL); the others were ended";
        assert_eq!(of(killed, true), (137, sentence.to_owned()));
        let exit = |code, is_inside| Cause::Exit {
            rank: 0,
            code,
            is_inside,
        };
        let sentence = "rank 0 ended with exit code 3";
        assert_eq!(of(exit(3, false), false), (3, sentence.to_owned()));
        let sentence = "rank 0 ended with exit code 4 before MPI_Finalize; the others were ended";
        assert_eq!(of(exit(4, true), true), (4, sentence.to_owned()));
        let sentence = "rank 1 ended before MPI_Finalize";
        assert_eq!(
            of(Cause::Unfinished { rank: 1 }, false),
            (1, sentence.to_owned())
        );
        // 256 has an exit code of 0, which an abort must not have.
        let abort = Cause::Abort { rank: 3, code: 256 };
        let sentence = "rank 3 called MPI_Abort with code 256; the others were ended";
        assert_eq!(of(abort, true), (1, sentence.to_owned()));
        let interrupted = Cause::Interrupted { signal: 2 };
        let sentence = "mpirun got SIGINT; the ranks were ended";
        assert_eq!(of(interrupted, true), (130, sentence.to_owned()));
        let limit = Duration::from_millis(1500);
        let sentence = "the time of 1.5 s is over; the ranks were ended";
        assert_eq!(
            of(Cause::Timeout { limit }, true),
            (124, sentence.to_owned())
        );
        let fine = Ending {
            cause: None,
            others_ended: false,
        };
        assert_eq!((fine.code(), fine.to_string()), (0, String::new()));
    }
}
