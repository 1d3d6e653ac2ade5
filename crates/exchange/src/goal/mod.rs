// SPDX-License-Identifier: MIT OR Apache-2.0
//! GOAL: the operation graphs of LogGOPSim, as text and in their binary form.
//!
//! Such a file names no data: only sends, receives and computations of every rank, and which of them
//! requires which. A schedule is written as the graph of its messages. A file is read as the exchange
//! of its messages, an alltoallv in which every rank has for every other what it sends it: so matching,
//! deadlocks, slots and bytes are those of the file, and every message must arrive once at its place.
//! Which data it passes on, no reader can know.
//!
//! Source: spcl/LogGOPSim, `src/LogGOPSim/txt2bin.re` and `src/LogGOPSim/Parser.hpp`.
//!
//! ```
//! let text = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 3\nb: send 4b to 1\nb requires a\n}\n\
//!             rank 1 {\na: send 8b to 0 tag 3\nrecv 4b from 0\n}\n";
//! let schedule = corecast_exchange::read("two.goal", text, None).unwrap().schedule;
//! let certificate = corecast_core::verify(&schedule, &corecast_core::FullCrossbar);
//! assert!(certificate.is_correct());
//! assert_eq!((certificate.messages, certificate.payload_bytes), (2, 12));
//! ```

pub mod binary;
pub mod graph;
mod messages;
mod order;
mod progress;
mod read;
mod words;
mod write;

pub(crate) use read::{Source, schedule};

use corecast_core::Schedule;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported, text_of};

/// Text, and that LogGOPSim sends up to this size without asking, by default.
const TEXT: Source = Source {
    name: "goal",
    place: "line",
    eager_bytes_max: 65_535,
};

/// Bytes, of the same graphs.
const BINARY: Source = Source {
    place: "operation",
    ..TEXT
};

/// GOAL text.
#[derive(Debug)]
pub(crate) struct Goal;

impl Format for Goal {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn extension(&self) -> &'static str {
        "goal"
    }

    fn summary(&self) -> &'static str {
        "operation graphs of LogGOPSim: sends, receives and what requires what, without data"
    }

    fn source(&self) -> &'static str {
        "spcl/LogGOPSim"
    }

    fn is(&self, contents: &[u8]) -> bool {
        text_of(contents).is_ok_and(|text| words::behind_comments(text).starts_with("num_ranks"))
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = text_of(contents).and_then(graph::parse);
        let parsed = parsed.and_then(|graph| schedule(&graph, TEXT));
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        check_channels(self.name(), schedule)?;
        Ok(write::text(schedule))
    }
}

/// Binary GOAL.
#[derive(Debug)]
pub(crate) struct GoalBinary;

impl Format for GoalBinary {
    fn name(&self) -> &'static str {
        "goal-binary"
    }

    fn extension(&self) -> &'static str {
        "bin"
    }

    fn summary(&self) -> &'static str {
        "the same as LogGOPSim runs it, in bytes"
    }

    fn source(&self) -> &'static str {
        "spcl/LogGOPSim"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn is(&self, contents: &[u8]) -> bool {
        binary::is(contents)
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = binary::parse(contents).and_then(|graph| schedule(&graph, BINARY));
        let parsed = parsed.map(Imported::without_lines);
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        Ok(Exported {
            files: vec![binary::file(&written(self.name(), schedule)?)],
            notes: write::notes(schedule),
        })
    }
}

/// Refuses a channel that as a tag would mean any.
fn check_channels(format: &'static str, schedule: &Schedule) -> Result<(), Unsayable> {
    let mut streams = schedule.all_ranks().flat_map(|rank| schedule.streams(rank));
    match streams.any(|(_, channel)| channel == u32::MAX) {
        false => Ok(()),
        true => Err(Unsayable {
            format,
            what: format!("channel {}, which as a tag would mean any", u32::MAX),
            instead: "give the stream another channel".to_owned(),
        }),
    }
}

/// The graph of a schedule's messages.
///
/// # Errors
/// As [`check_channels`].
pub(crate) fn written(
    format: &'static str,
    schedule: &Schedule,
) -> Result<graph::Graph, Unsayable> {
    check_channels(format, schedule)?;
    let graph = graph::parse(&write::graph_text(schedule));
    Ok(graph.expect("what is written as GOAL can be read"))
}
