// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a chip's numbers come from.
//!
//! Every number of a chip file becomes one [`Parameter`], in file order. Reports count the fitted
//! and assumed ones, so that nobody mistakes a guess for a measurement.
//!
//! ```
//! use corecast_chip::{Chip, Provenance};
//! let chip = Chip::builtin("park2019-bus").unwrap();
//! let order = chip.parameters().find(|p| p.key == "endpoint.order").unwrap();
//! assert_eq!((order.value, order.unit, order.kind), (1.0, "cycles", Provenance::Fitted));
//! assert!(order.fitted_to.is_some());
//! ```

use std::fmt;

use crate::read::{Choices, Quantity};

/// How a number was obtained.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Provenance {
    /// Stated in a publication; the source says where.
    Published,
    /// Measured by someone on the real chip; the source says how.
    Measured,
    /// Follows from published numbers by the calculation given in the source.
    Derived,
    /// Chosen so that the model meets published results, which `fitted_to` names; these results
    /// are no evidence for the model.
    Fitted,
    /// Neither known nor fitted; the source says why this value is reasonable.
    Assumed,
}

/// Every provenance by name.
pub(crate) const KINDS: Choices<Provenance> = &[
    ("published", Provenance::Published),
    ("measured", Provenance::Measured),
    ("derived", Provenance::Derived),
    ("fitted", Provenance::Fitted),
    ("assumed", Provenance::Assumed),
];

impl Provenance {
    /// Every provenance, the strongest first.
    pub const ALL: [Self; 5] = [
        Self::Published,
        Self::Measured,
        Self::Derived,
        Self::Fitted,
        Self::Assumed,
    ];

    /// The name used in chip files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Measured => "measured",
            Self::Derived => "derived",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One number of a chip file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter<'a> {
    /// Path of its key, such as `endpoint.order`.
    pub key: &'a str,
    /// The value as written, in [`Parameter::unit`].
    pub value: f64,
    /// Its unit, such as `cycles`.
    pub unit: &'a str,
    /// How it was obtained.
    pub kind: Provenance,
    /// Where it is stated, or why it is reasonable.
    pub source: &'a str,
    /// The published points it was fitted to; present exactly for [`Provenance::Fitted`].
    pub fitted_to: Option<&'a str>,
}

/// A [`Parameter`] that owns its text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    key: String,
    value: f64,
    unit: &'static str,
    kind: Provenance,
    source: String,
    fitted_to: Option<String>,
}

impl Entry {
    /// What users see of it.
    pub(crate) fn parameter(&self) -> Parameter<'_> {
        Parameter {
            key: &self.key,
            value: self.value,
            unit: self.unit,
            kind: self.kind,
            source: &self.source,
            fitted_to: self.fitted_to.as_deref(),
        }
    }
}

/// The numbers of a chip file as they are read, each with its byte offset.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: Vec<(usize, Entry)>,
}

impl Ledger {
    /// Enters a number that was read and found good.
    pub(crate) fn enter(&mut self, quantity: &Quantity<'_>) {
        let entry = Entry {
            key: quantity.path.clone(),
            value: quantity.value.as_f64(),
            unit: quantity.unit,
            kind: quantity.kind,
            source: quantity.source.clone(),
            fitted_to: quantity.fitted_to.clone(),
        };
        self.entries.push((quantity.offset, entry));
    }

    /// The numbers in file order.
    pub(crate) fn into_file_order(mut self) -> Vec<Entry> {
        self.entries.sort_by_key(|&(offset, _)| offset);
        self.entries.into_iter().map(|(_, entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_list_agree() {
        let listed: Vec<_> = KINDS.iter().map(|&(_, kind)| kind).collect();
        assert_eq!(listed, Provenance::ALL);
        for &(name, kind) in KINDS {
            assert_eq!(kind.name(), name);
        }
    }
}
