// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with a chip file, said so that it can be put right.
//!
//! Every variant carries where it is (file, line, key) and what would have been accepted; the
//! rendering is a first line for lists of errors and one or two indented lines of help. The
//! renderings are golden-tested, one file per case, in `tests/errors`.
//!
//! ```
//! use corecast_core::Help as _;
//! let error = corecast_chip::find("park2019-buz").unwrap_err();
//! assert_eq!(error.to_string(), "no chip is called `park2019-buz`");
//! assert!(error.help().ends_with("did you mean `park2019-bus`?"));
//! ```

use corecast_core::Help;
use corecast_text::{EntryError, Location, did_you_mean, quoted};
use thiserror::Error;

use crate::provenance::Provenance;

/// Why a chip could not be read.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum ChipError {
    /// No built-in chip has this name.
    #[error("no chip is called `{}`", quoted(name))]
    UnknownChip {
        /// The name given.
        name: String,
        /// The names of the built-in chips.
        known: Vec<&'static str>,
    },
    /// The file does not exist.
    #[error("{file}: no such file")]
    NotFound {
        /// The path given.
        file: String,
    },
    /// The file exists but cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The path given.
        file: String,
        /// The operating system's reason.
        reason: String,
    },
    /// The file is larger than any chip file.
    #[error("{file}: too large")]
    TooLarge {
        /// The path given.
        file: String,
        /// Most bytes accepted.
        bytes_max: usize,
    },
    /// The file is not UTF-8.
    #[error("{at}: not UTF-8 text")]
    NotUtf8 {
        /// Where the first wrong byte is.
        at: Box<Location>,
    },
    /// An entry that cannot be read.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A number alone, or without `kind` or `source`.
    #[error("{at}: `{}` is a number without provenance{missing}", at.key)]
    NoProvenance {
        /// Where.
        at: Box<Location>,
        /// What is missing, as a clause; empty for a bare number.
        missing: &'static str,
        /// What to write.
        form: String,
    },
    /// A number without unit.
    #[error("{at}: `{}` has no unit", at.key)]
    NoUnit {
        /// Where.
        at: Box<Location>,
        /// The units accepted.
        accepted: &'static [&'static str],
    },
    /// A number in a unit that cannot be used here.
    #[error("{at}: `{}` cannot be in `{}`", at.key, quoted(found))]
    WrongUnit {
        /// Where.
        at: Box<Location>,
        /// The unit found.
        found: String,
        /// The units accepted.
        accepted: &'static [&'static str],
    },
    /// A fitted number that does not say what it was fitted to.
    #[error("{at}: `{}` is fitted, but does not say to what", at.key)]
    NotFittedTo {
        /// Where.
        at: Box<Location>,
    },
    /// A number that was not fitted and yet says to what.
    #[error("{at}: `{}` is {kind}, not fitted", at.key)]
    StrayFittedTo {
        /// Where.
        at: Box<Location>,
        /// The provenance it claims.
        kind: Provenance,
    },
    /// A fraction where something is counted.
    #[error("{at}: `{}` = {} is not a whole number", at.key, quoted(found))]
    NotWhole {
        /// Where.
        at: Box<Location>,
        /// The value as written.
        found: String,
        /// The accepted range in words.
        accepted: String,
    },
    /// A clock that the file does not define.
    #[error("{at}: `{}` names the clock `{}`, which does not exist", at.key, quoted(found))]
    UnknownClock {
        /// Where.
        at: Box<Location>,
        /// The name found.
        found: String,
        /// The clocks that exist.
        clocks: Vec<String>,
    },
    /// No clock is defined.
    #[error("{at}: the chip has no clock")]
    NoClock {
        /// Where.
        at: Box<Location>,
    },
    /// Packets could wait for each other in a circle.
    #[error("{at}: routing can deadlock: packets wait in the circle {}", cycle.join(", "))]
    RoutingDeadlock {
        /// Where the number of virtual channels is.
        at: Box<Location>,
        /// Links of the circle in order.
        cycle: Vec<String>,
    },
    /// A key to be changed is not in the file.
    #[error("{file}: no key `{}` with a value to change", quoted(key))]
    NoSuchKey {
        /// The chip file.
        file: String,
        /// The key given.
        key: String,
        /// The keys of the file.
        known: Vec<String>,
    },
    /// The endpoint does not go with the network.
    #[error("{at}: `{}` = \"{endpoint}\" does not work on a network of kind \"{network}\"", at.key)]
    Mismatch {
        /// Where the endpoint's kind is.
        at: Box<Location>,
        /// The endpoint's kind.
        endpoint: String,
        /// The network's kind.
        network: &'static str,
        /// Endpoint kinds that work on it.
        accepted: Vec<&'static str>,
    },
    /// A period that would have to be rounded.
    #[error("{at}: `{}` is {picoseconds:.6} ps, not a whole number of picoseconds", at.key)]
    PartialPicosecond {
        /// Where.
        at: Box<Location>,
        /// The period in picoseconds.
        picoseconds: f64,
        /// Path of the clock's table.
        table: String,
    },
    /// A text that says nothing.
    #[error("{at}: `{}` is empty", at.key)]
    Empty {
        /// Where.
        at: Box<Location>,
        /// What to write.
        form: String,
    },
    /// A name that could not be typed on a command line.
    #[error("{at}: `{}` is no name", quoted(found))]
    BadName {
        /// Where.
        at: Box<Location>,
        /// The name found.
        found: String,
    },
}

impl ChipError {
    /// Where it is, if it is at a place in a file.
    pub(crate) fn location_mut(&mut self) -> Option<&mut Location> {
        match self {
            Self::Entry(error) => Some(error.location_mut()),
            Self::NotUtf8 { at, .. }
            | Self::NoProvenance { at, .. }
            | Self::NoUnit { at, .. }
            | Self::WrongUnit { at, .. }
            | Self::NotFittedTo { at, .. }
            | Self::StrayFittedTo { at, .. }
            | Self::NotWhole { at, .. }
            | Self::UnknownClock { at, .. }
            | Self::NoClock { at, .. }
            | Self::RoutingDeadlock { at, .. }
            | Self::Mismatch { at, .. }
            | Self::PartialPicosecond { at, .. }
            | Self::Empty { at, .. }
            | Self::BadName { at, .. } => Some(at),
            _ => None,
        }
    }
}

impl Help for ChipError {
    fn help(&self) -> String {
        match self {
            Self::UnknownChip { known, name, .. } => format!(
                "built-in chips: {}\na file is given by its path, \
         such as `./{}.toml`{}",
                known.join(", "),
                quoted(name),
                did_you_mean(name, known)
            ),
            Self::NotFound { .. } => {
                "give the path of a chip file or the name of a built-in chip".to_owned()
            }
            Self::TooLarge { bytes_max, .. } => {
                format!("a chip file has at most {bytes_max} bytes")
            }
            Self::NotUtf8 { .. } => "a chip file is TOML, encoded in UTF-8".to_owned(),
            Self::Entry(error) => error.help(),
            Self::NoProvenance { form, .. } => format!(
                "write: {form}\n\
         accepted kinds: {}",
                Provenance::ALL.map(Provenance::name).join(", ")
            ),
            Self::NoUnit { accepted, .. } => format!("accepted units: {}", accepted.join(", ")),
            Self::WrongUnit {
                accepted, found, ..
            } => format!(
                "accepted units: {}{}",
                accepted.join(", "),
                did_you_mean(found, accepted)
            ),
            Self::NotFittedTo { .. } => "add: fitted_to = \"the published points used\"".to_owned(),
            Self::StrayFittedTo { .. } => {
                "remove `fitted_to`, or write kind = \"fitted\"".to_owned()
            }
            Self::NotWhole { accepted, .. } => {
                format!("accepted: {accepted}, without decimal point")
            }
            Self::UnknownClock { clocks, found, .. } => format!(
                "clocks of this chip: {}{}",
                quoted(&clocks.join(", ")),
                did_you_mean(found, clocks)
            ),
            Self::NoClock { .. } => "write: [clocks.bus], with a `period`".to_owned(),
            Self::RoutingDeadlock { .. } => "a torus needs at least 2 virtual channels".to_owned(),
            Self::NoSuchKey { key, known, .. } => {
                format!("{}\nkeys: {}", did_you_mean(key, known), known.join(", "))
            }
            Self::Mismatch { accepted, .. } => format!("endpoints for it: {}", accepted.join(", ")),
            Self::PartialPicosecond {
                picoseconds, table, ..
            } => format!(
                "to accept {:.0} ps, add to [{table}]: rounding = \"accept\"",
                picoseconds.round()
            ),
            Self::Empty { form, .. } => format!("write: {form}"),
            Self::BadName { .. } => {
                "accepted: 1 to 64 of the characters a-z, 0-9, `-` and `_`".to_owned()
            }
            _ => String::new(),
        }
    }
}
