// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chips as data: a TOML file in, a validated immutable [`Chip`] out.
//!
//! A chip file is a table of numbers, each with a unit and a provenance; nothing in it is code.
//! Reading one either yields a [`Chip`] on which every later computation is safe (all numbers are
//! bounded, all names resolved) or a [`ChipError`] that names the line, the key and what would be
//! right. This crate describes chips and bounds what can be done on them; it does not simulate.
//!
//! ```
//! let chip = corecast_chip::find("park2019-bus")?;
//! assert_eq!(chip.reference_clock().period_ps, 10_000);
//! assert_eq!(chip.cores_max(), 32);
//! let fitted = chip.count(corecast_chip::Provenance::Fitted);
//! assert_eq!(fitted, 2);
//! # Ok::<(), corecast_chip::ChipError>(())
//! ```

mod builtin;
mod change;
mod chip;
mod clock;
mod contents;
mod error;
mod facts;
mod fingerprint;
mod form;
mod keys;
mod kinds;
mod memory;
mod mesh;
mod network;
mod notes;
mod parse;
mod placement;
mod platform;
mod provenance;
mod read;
mod variant;

pub use builtin::{BUILTIN, builtin_names, find, text};
pub use change::{find_changed, parse_changed};
pub use chip::{Chip, ChipRoutes};
pub use clock::Clock;
pub use contents::{Origin, Word};
pub use corecast_text::{EntryError, Location};
pub use error::ChipError;
pub use facts::{Derived, NoBackground, Unused};
pub use form::Form;
pub use keys::{Key, keys};
pub use kinds::{
    AtomicLaunch, CoreCosts, EndpointSpec, Library, Mpe, Pronto, Protocol, Rcce, System, Udn,
};
pub use memory::{CacheSize, Memory, WORD_BYTES};
pub use mesh::Mesh;
pub use network::{Crossbar, NetworkSpec};
pub use parse::FILE_BYTES_MAX;
pub use placement::{Chosen, Placement, PlacementError};
pub use provenance::{Parameter, Provenance};
