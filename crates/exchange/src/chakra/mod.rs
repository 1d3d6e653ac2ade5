// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chakra execution traces: what every rank sends, receives and computes, as one file of protobuf
//! messages per rank (`NAME.RANK.et`).
//!
//! A trace names no data, so it is read as GOAL is: as the exchange of its messages. Some converters
//! put the MSCCL XML that a trace was made from into its metadata (`input_file`); where it has the
//! messages of the trace it is read instead, and data are verified. A trace of one collective per rank
//! is a request, which an algorithm of ours serves.
//!
//! Files are read one behind the other: metadata begin the next rank.
//!
//! Source: mlcommons/chakra, `schema/protobuf/et_def.proto`; names of attributes, and what sizes are
//! of, as astra-sim/astra-sim reads them. Does not model when nodes start, because times are the
//! machine's.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm, verify, FullCrossbar};
//! let bcast = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = bcast.schedule(&Request::new(Collective::Bcast, 4, 64));
//! let chakra = corecast_exchange::find_format("chakra").unwrap();
//! let files = chakra.write(&schedule).unwrap().files;
//! assert_eq!(files.len(), 4, "one per rank");
//! let back = corecast_exchange::read("bcast.0.et", files.concat(), None).unwrap().schedule;
//! assert_eq!(verify(&back, &FullCrossbar).messages, 3);
//! ```

mod read;
pub mod trace;
mod wire;
mod write;

pub use read::{dependences, kind, request};

use corecast_core::Schedule;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported};

/// Chakra execution traces.
#[derive(Debug)]
pub(crate) struct Chakra;

impl Format for Chakra {
    fn name(&self) -> &'static str {
        "chakra"
    }

    fn extension(&self) -> &'static str {
        "et"
    }

    fn summary(&self) -> &'static str {
        "Chakra execution traces of ASTRA-sim: sends, receives, computations, a file per rank"
    }

    fn source(&self) -> &'static str {
        "mlcommons/chakra"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn has_file_per_rank(&self) -> bool {
        true
    }

    fn is(&self, contents: &[u8]) -> bool {
        trace::begins(contents)
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        read::parse(contents).map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        write::files(schedule)
    }
}
