// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our own file: everything that a [`CallGraph`] says, as text that a person can write and change.
//!
//! `docs/replay.md` has the grammar. What is written comes back exactly.
//!
//! ```
//! let text = "corecast calls 1\nranks 2\n\nrank 0\n  compute 5us\n  send 1 64 tag 7\n\n\
//!             rank 1\n  recv any 64 tag 7\n";
//! let program = corecast_replay::read("two.calls", text.as_bytes(), &Default::default())?;
//! let written = corecast_replay::find_format("calls").unwrap().write(&program.graph).unwrap();
//! assert_eq!(written.text(), Some(text));
//! # Ok::<(), corecast_exchange::FileError>(())
//! ```

mod collective;
mod read;
mod time;
mod write;

use corecast_exchange::{Exported, FileError, Unsayable, begins_with, text_of};

use crate::format::{Format, Options, Read};
use crate::graph::CallGraph;

/// The first words of a file, before the version of the format.
const MAGIC: &str = "corecast calls";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// Our own format.
#[derive(Debug)]
pub(crate) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn extension(&self) -> &'static str {
        "calls"
    }

    fn summary(&self) -> &'static str {
        "our own text: everything that a program of messages can say, one line per call"
    }

    fn source(&self) -> &'static str {
        "docs/replay.md"
    }

    fn is(&self, contents: &[u8]) -> bool {
        begins_with(contents, MAGIC)
    }

    fn read(&self, file: &str, contents: &[u8], _: &Options<'_>) -> Result<Read, FileError> {
        let parsed = text_of(contents).and_then(|text| read::parse(file, text));
        let graph = parsed.map_err(|fault| fault.in_file(file))?;
        Ok(Read {
            graph,
            notes: Vec::new(),
        })
    }

    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable> {
        Ok(Exported::of_text(write::text(graph), Vec::new()))
    }
}
