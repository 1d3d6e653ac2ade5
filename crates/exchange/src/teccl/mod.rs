// SPDX-License-Identifier: MIT OR Apache-2.0
//! TE-CCL: which chunk a solver sends over which link in which epoch, as JSON.
//!
//! What is promised follows from the demands: an allgather if every node wants every chunk of every
//! other one, an alltoall if every chunk is wanted at one place, and so on. A node that wants something
//! or sends something is a rank; a node that flows only pass (`via switches`) is none. An epoch in which
//! something is sent is a round. Every node has a stream per neighbour and direction, and sends a chunk
//! on when it has arrived, so that the schedule cannot deadlock if its epochs can be kept.
//!
//! Where flows carry fractions of chunks, every chunk is cut into equal parts, and which of them goes
//! which way follows from the paths of the demands.
//!
//! Source: microsoft/TE-CCL, `teccl/examples/schedules`. Does not model the durations of epochs,
//! because times are the machine's.
//!
//! ```
//! let text = r#"{"1-Epoch_Duration": 1.0,
//!     "7-Flows": ["Chunk 0 from 0 traveled over 0->1 in epoch 0", "Chunk 0 from 1 traveled over 1->0 in epoch 0"],
//!     "8-Chunk paths": {"Demand at 1 for chunk 0 from 0 met by epoch 0": ["0->1 in epoch 0"],
//!                       "Demand at 0 for chunk 0 from 1 met by epoch 0": ["1->0 in epoch 0"]}}"#;
//! let schedule = corecast_exchange::read("two.json", text, None).unwrap().schedule;
//! let certificate = corecast_core::verify(&schedule, &corecast_core::FullCrossbar);
//! assert!(certificate.is_correct());
//! assert_eq!((schedule.spec().collective().name(), certificate.rounds), ("allgather", 1));
//! ```

mod demands;
mod document;
mod read;
mod write;

use corecast_core::Schedule;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported, text_of};

/// TE-CCL JSON.
#[derive(Debug)]
pub(crate) struct Teccl;

impl Format for Teccl {
    fn name(&self) -> &'static str {
        "teccl"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "JSON of TE-CCL's solver: which chunk goes over which link in which epoch"
    }

    fn source(&self) -> &'static str {
        "microsoft/TE-CCL"
    }

    fn is(&self, contents: &[u8]) -> bool {
        let Ok(text) = text_of(contents) else {
            return false;
        };
        let is_object = text.trim_start().starts_with('{');
        is_object && (text.contains("-Epoch_Duration\"") || text.contains("traveled over"))
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = text_of(contents).and_then(read::parse);
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        write::text(schedule).map_err(|what| Unsayable {
            format: self.name(),
            what,
            instead: "`--to corecast` can say everything; `corecast list formats` lists the others"
                .to_owned(),
        })
    }
}
