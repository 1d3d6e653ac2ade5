// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which algorithm, with which sizes of parts and pieces, is the fastest for which request: the
//! search for it, and the decision table that keeps what was found.
//!
//! A [`Table`] is a value: it is parsed from TOML and written as TOML, merged, and asked. It knows
//! its chip by name and fingerprint only, and a time as a number; what a chip is, and how long a
//! schedule takes on it, is up to the caller of [`search::cell`].
//!
//! ```
//! use corecast_core::{Collective, Request};
//! let text = r#"
//!     format = 1
//!     corecast = "0.1.0"
//!     chip = "park2019-bus"
//!     fingerprint = "0123456789abcdef"
//!     collective = "bcast"
//!     root = 0
//!     flow_control = "auto"
//!     status_bits = 2
//!     arity = 3
//!     algorithms = ["binomial", "pipelined"]
//!     [[cell]]
//!     ranks = 8
//!     bytes = 4096
//!     algorithm = "pipelined"
//!     part_bytes = 64
//!     cycles = 1500
//!     ns = 15000
//! "#;
//! let table = corecast_tune::Table::parse(text, "bcast.toml")?;
//! let decision = table.decide(&Request::new(Collective::Bcast, 7, 3000)).unwrap();
//! assert_eq!((decision.cell.ranks, decision.cell.bytes), (8, 4096));
//! assert_eq!(decision.request.tuning.part_bytes, Some(64));
//! # Ok::<(), corecast_tune::TableError>(())
//! ```

mod decide;
mod error;
mod read;
mod rules;
pub mod search;
mod shipped;
mod table;
mod tables;

pub use corecast_text::{EntryError, Location};
pub use decide::{Decision, Undecided};
pub use error::TableError;
pub use read::{FILE_BYTES_MAX, NUMBER_MAX};
pub use rules::{Library, NoRules, Rules};
pub use table::{
    BOARDS, Cell, Difference, FORMAT, LIBRARY, MPI, Mismatch, PMPI, PMPI_BYTES_MAX, PMPI_DTYPE,
    SIM, Setting, Table,
};
pub use tables::{NONE, Tables, TablesError};
