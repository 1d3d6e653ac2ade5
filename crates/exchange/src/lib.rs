// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules as files: our own text, and the formats that others use.
//!
//! A format is one file (or folder) here and one line in [`FORMATS`]. Reading gives a
//! [`corecast_core::Schedule`], which the verifier, the machines and the pictures take like any other;
//! what a format cannot say of a schedule is refused or noted by name, and never dropped silently.
//!
//! This crate knows no machine and no chip, and reads and writes no files itself.
//!
//! ```
//! let text = "corecast schedule 1\ncollective bcast\nranks 2\nbytes 8\n\
//!             rank 0\nsend 1 [0]\nrank 1\nrecv 0 [0]\n";
//! let schedule = corecast_exchange::read("two.sched", text, None)?.schedule;
//! assert!(corecast_core::verify(&schedule, &corecast_core::FullCrossbar).is_correct());
//! # Ok::<(), corecast_exchange::FileError>(())
//! ```

pub mod chakra;
mod cursor;
mod divisor;
mod error;
mod few;
mod format;
mod formats;
pub mod goal;
mod json;
mod limits;
mod lines;
mod msccl;
mod mscclpp;
mod own;
mod places;
mod repair;
mod teccl;

pub use cursor::{Cursor, quoted_word};
pub use error::{Fault, FileError, Unsayable};
pub use few::Few;
pub use format::{Exported, Format, Imported, begins_with, text_of};
pub use formats::{FORMATS, find_format, format_of, format_of_name, read};
pub use limits::{BYTES_MAX, FILE_BYTES_MAX};
pub use lines::StepLines;
pub use msccl::listed;
pub use repair::{Repaired, repair};
