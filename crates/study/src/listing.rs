// SPDX-License-Identifier: MIT OR Apache-2.0
//! What there is, as records: chips, their keys, algorithms, machines, formats; and a chip in full.
//!
//! ```
//! assert!(corecast_study::list_chips().any(|chip| chip.name == "scc"));
//! ```

use corecast_chip::{Chip, Unused, Word};
use corecast_core::{Algorithm, algorithm};
use corecast_sim::traffic::TRACE_FORMATS;
use serde::Serialize;

use crate::machines::MACHINES;

/// A chip in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChipLine {
    /// The name.
    pub name: String,
    /// Its cores.
    pub cores_max: u32,
    /// One line about it.
    pub summary: String,
    /// Where it is from.
    pub source: String,
}

/// The built-in chips.
pub fn list_chips() -> impl Iterator<Item = ChipLine> {
    let chips = corecast_chip::builtin_names().filter_map(Chip::builtin);
    chips.map(|chip| ChipLine {
        cores_max: chip.cores_max(),
        name: chip.name,
        summary: chip.summary,
        source: chip.source,
    })
}

/// An algorithm in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AlgorithmRecord {
    /// Its collective.
    pub collective: &'static str,
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Author, year, section.
    pub source: &'static str,
    /// What it needs; empty if nothing.
    pub requires: &'static str,
    /// The algorithm that this one is on most machines.
    pub without_shared_buffers: Option<&'static str>,
}

/// Every algorithm, by collective.
pub fn list_algorithms() -> impl Iterator<Item = AlgorithmRecord> {
    algorithm::all().map(|algorithm| AlgorithmRecord {
        collective: algorithm.collective().name(),
        name: algorithm.name(),
        summary: algorithm.summary(),
        source: algorithm.source(),
        requires: algorithm.requires(),
        without_shared_buffers: algorithm.without_shared_buffers().map(Algorithm::name),
    })
}

/// A machine in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MachineRecord {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
}

/// The machines.
pub fn list_machines() -> impl Iterator<Item = MachineRecord> {
    MACHINES.iter().map(|machine| MachineRecord {
        name: machine.name(),
        summary: machine.summary(),
    })
}

/// A format of files in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FormatRecord {
    /// The name.
    pub name: &'static str,
    /// What its files hold: `schedules`, `programs` or `traffic`.
    pub of: &'static str,
    /// How names of its files end.
    pub extension: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it is described.
    pub source: &'static str,
}

/// The formats of schedule files, of programs as data, and of traffic.
pub fn list_formats() -> impl Iterator<Item = FormatRecord> {
    let schedules = corecast_exchange::FORMATS
        .iter()
        .map(|format| FormatRecord {
            name: format.name(),
            of: "schedules",
            extension: format.extension(),
            summary: format.summary(),
            source: format.source(),
        });
    let programs = corecast_replay::FORMATS.iter().map(|format| FormatRecord {
        name: format.name(),
        of: "programs",
        extension: format.extension(),
        summary: format.summary(),
        source: format.source(),
    });
    let traffic = TRACE_FORMATS.iter().map(|format| FormatRecord {
        name: format.name,
        of: "traffic",
        extension: format.extension,
        summary: format.summary,
        source: format.source,
    });
    schedules.chain(programs).chain(traffic)
}

/// A key of chip files in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeyRecord {
    /// Its path; `NAME` stands for a name of the file's own.
    pub key: String,
    /// Of chips with a network or an endpoint of these kinds; empty for all.
    pub of: &'static str,
    /// The unit of a number, or those that it may have.
    pub unit: String,
    /// What is accepted.
    pub accepted: String,
    /// What holds if it is not there; null if it has to be.
    pub default: Option<&'static str>,
    /// What it means.
    pub means: &'static str,
}

/// The keys of chip files.
pub fn list_keys() -> impl Iterator<Item = KeyRecord> {
    corecast_chip::keys().into_iter().map(|key| KeyRecord {
        unit: key.form.unit(),
        accepted: key.form.to_string(),
        key: key.path,
        of: key.of,
        default: key.default,
        means: key.means,
    })
}

/// Everything about a chip, with the version that says so.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChipRecord<'a> {
    /// The name.
    pub name: &'a str,
    /// One line about it.
    pub summary: &'a str,
    /// Where it is from.
    pub source: &'a str,
    /// Its cores.
    pub cores_max: u32,
    /// The clock in whose cycles times are told.
    pub reference_clock: &'a str,
    /// Its period.
    pub cycle_ps: u64,
    /// What tells it from others of the name.
    pub fingerprint: String,
    /// Of corecast.
    pub version: &'static str,
    /// The chip that its file is based on.
    pub base: Option<&'a str>,
    /// Changes, as `KEY=VALUE`.
    pub set: &'a [String],
    /// What is not wrong and may surprise.
    pub notes: Vec<String>,
    /// Its numbers.
    pub parameters: Vec<NumberRecord<'a>>,
    /// Its other values.
    pub words: Vec<WordRecord>,
    /// What follows from the numbers.
    pub derived: Vec<DerivedRecord>,
    /// Keys that messages do not depend on.
    pub unused: Vec<UnusedRecord>,
}

/// A number of the chip.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NumberRecord<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'a str,
    /// Published, measured, derived, fitted or assumed.
    pub kind: &'static str,
    /// Where it is from.
    pub source: &'a str,
    /// The points that it was fitted to.
    pub fitted_to: Option<&'a str>,
    /// Who said it: the file, its base, a change or a default.
    pub origin: &'static str,
}

/// A value that is no number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WordRecord {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Who said it: the file, its base, a change or a default.
    pub origin: &'static str,
}

/// A number that follows from others.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DerivedRecord {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// How it follows.
    pub how: &'static str,
}

/// A key that messages do not depend on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UnusedRecord {
    /// Its key.
    pub key: &'static str,
    /// Why not.
    pub why: &'static str,
}

impl<'a> ChipRecord<'a> {
    /// Of a chip, as it was changed.
    #[must_use]
    pub fn new(chip: &'a Chip, changes: &'a [String]) -> Self {
        let clock = chip.reference_clock();
        let parameters = chip.parameters().map(|number| NumberRecord {
            key: number.key,
            value: number.value,
            unit: number.unit,
            kind: number.kind.name(),
            source: number.source,
            fitted_to: number.fitted_to,
            origin: chip.origin(number.key).name(),
        });
        let words = chip.words().map(|Word { key, value, origin }| WordRecord {
            key,
            value,
            origin: origin.name(),
        });
        let derived = chip.derived().into_iter().map(|number| DerivedRecord {
            key: number.key,
            value: number.value,
            unit: number.unit,
            how: number.how,
        });
        let unused = chip.unused().into_iter();
        let unused = unused.map(|Unused { key, why }| UnusedRecord { key, why });
        Self {
            name: &chip.name,
            summary: &chip.summary,
            source: &chip.source,
            cores_max: chip.cores_max(),
            reference_clock: &clock.name,
            cycle_ps: clock.period_ps,
            fingerprint: chip.fingerprint(),
            version: env!("CARGO_PKG_VERSION"),
            base: chip.base(),
            set: changes,
            notes: chip.notes(),
            parameters: parameters.collect(),
            words: words.collect(),
            derived: derived.collect(),
            unused: unused.collect(),
        }
    }
}
