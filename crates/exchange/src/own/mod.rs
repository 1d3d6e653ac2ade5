// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our own file: everything that a schedule can say, as text that a person can write and change.
//!
//! It is separate from the rendering that golden tests compare ([`corecast_core::Schedule`]'s
//! `Display`), which is made for looking at and leaves out what a reader of it knows. What a step does
//! is written in the same notation. `docs/schedules.md` has the grammar.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_exchange::{find_format, read};
//! let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = binomial.schedule(&Request::new(Collective::Bcast, 3, 64));
//! let exported = find_format("corecast").unwrap().write(&schedule).unwrap();
//! let text = exported.text().unwrap();
//! assert_eq!(
//!     text,
//!     "corecast schedule 1\n\
//!      collective bcast\nalgorithm binomial\nranks 3\nroot 0\nbytes 64\n\n\
//!      rank 0\n  r0 send 1 [0]\n  r1 send 2 [0]\n\n\
//!      rank 1\n  r0 recv 0 [0]\n\n\
//!      rank 2\n  r1 recv 0 [0]\n"
//! );
//! assert_eq!(read("binomial.sched", &text, None).unwrap().schedule, schedule);
//! ```

mod header;
mod read;
mod write;

use corecast_core::Schedule;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported, begins_with, text_of};

/// The first words of a file, before the version of the format.
const MAGIC: &str = "corecast schedule";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// Our own format.
#[derive(Debug)]
pub(crate) struct Own;

impl Format for Own {
    fn name(&self) -> &'static str {
        "corecast"
    }

    fn extension(&self) -> &'static str {
        "sched"
    }

    fn summary(&self) -> &'static str {
        "our own text: everything that a schedule can say, one line per step"
    }

    fn source(&self) -> &'static str {
        "docs/schedules.md"
    }

    fn is(&self, contents: &[u8]) -> bool {
        begins_with(contents, MAGIC)
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = text_of(contents).and_then(read::parse);
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        Ok(Exported::of_text(write::text(schedule), Vec::new()))
    }
}
