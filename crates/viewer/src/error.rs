// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why something cannot be shown.

use corecast_core::Help;
use thiserror::Error;

/// Why something cannot be shown.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A file that cannot be read.
    #[error("`{file}`: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// A file that is nothing the viewer knows.
    #[error("`{file}` is nothing that can be shown: {found}")]
    Unknown {
        /// The file.
        file: String,
        /// What it is instead.
        found: String,
    },
    /// A file with something of another kind at a place.
    #[error("`{file}`: {path}: {reason}")]
    Invalid {
        /// The file.
        file: String,
        /// Where in it, such as `documents[0].makespan_ps`.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// A document of another version.
    #[error("`{file}` is a document of version {version}, this program reads version {known}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u64,
        /// The version that is known.
        known: u32,
    },
    /// More than a browser can be given.
    #[error("the page would be {mib} MiB, more than {mib_max} MiB")]
    TooLarge {
        /// How large.
        mib: usize,
        /// How large it may be.
        mib_max: usize,
    },
}

impl Help for ViewError {
    fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "give files that exist and can be read, or `-`",
            Self::Unknown { .. } => {
                "give documents (`--view FILE.json`), records (`run`, `explain` or `compare --json`), \
                 traces (`--trace`), tables (`tune --json`) or schedule files"
            }
            Self::Invalid { .. } => "write the file again with the command that it is from",
            Self::Version { .. } => "write the file again with this version of corecast",
            Self::TooLarge { .. } => {
                "show fewer runs, or runs with fewer ranks, smaller sizes or larger parts"
            }
        }
        .to_owned()
    }
}
