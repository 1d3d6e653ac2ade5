// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same program on a chip with other numbers: which runs there are, and what they have shown.

use std::collections::BTreeSet;

use corecast_chip::ChipError;
use corecast_core::Help;
use corecast_machine::Cause;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::CallRun;
use crate::chips::ChipChoice;

/// Most runs of one sweep.
pub const VARIED_MAX: usize = 1000;

/// A number or word of the chip, and the values that it takes in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Varying {
    /// Its key in the chip file.
    pub key: String,
    /// The values, at least one.
    pub values: Vec<String>,
}

/// What is changed in a run, as keys and values.
pub type Changes = Vec<(String, String)>;

/// Changes as `KEY=VALUE`, one after the other.
#[must_use]
pub fn change_words(changes: &[(String, String)]) -> String {
    let words = changes.iter().map(|(key, value)| format!("{key}={value}"));
    words.collect::<Vec<_>>().join(" ")
}

/// All combinations; the last key varies fastest.
///
/// ```
/// use corecast_study::{Varying, change_words, combinations};
/// let varying = |key: &str, values: [&str; 2]| Varying {
///     key: key.to_owned(),
///     values: values.map(str::to_owned).to_vec(),
/// };
/// let runs = combinations(&[varying("a", ["1", "2"]), varying("b", ["x", "y"])]);
/// let told = runs.iter().map(|run| change_words(run));
/// assert_eq!(told.collect::<Vec<_>>(), ["a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"]);
/// ```
#[must_use]
pub fn combinations(varying: &[Varying]) -> Vec<Changes> {
    let mut runs = vec![Changes::new()];
    for Varying { key, values } in varying {
        let longer = |run: &Changes| -> Vec<Changes> {
            let with = |value: &String| [&run[..], &[(key.clone(), value.clone())]].concat();
            values.iter().map(with).collect()
        };
        runs = runs.iter().flat_map(longer).collect();
    }
    runs
}

/// Why a chip cannot be varied as asked.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum VaryError {
    /// Nothing varies, or a key has no values.
    #[error("{}there is no value", key.as_ref().map_or(String::new(), |key| format!("{key}: ")))]
    NoValue {
        /// The key, if there is one.
        key: Option<String>,
    },
    /// A value is an empty text.
    #[error("{key}: a value is empty")]
    EmptyValue {
        /// Its key.
        key: String,
    },
    /// A key has a value twice.
    #[error("{key}: the value `{value}` is there twice")]
    ValueTwice {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A key is there twice.
    #[error("{key}: it is there twice")]
    KeyTwice {
        /// The key.
        key: String,
    },
    /// The chip was changed there before.
    #[error("{key}: the chip is changed there already")]
    Changed {
        /// The key.
        key: String,
    },
    /// There would be too many runs.
    #[error("{runs} runs, one per combination")]
    TooMany {
        /// Runs asked for.
        runs: usize,
    },
    /// The chip's file is a pipe.
    #[error("`{name}` can be read only once, and every run changes it")]
    ReadOnce {
        /// How the file is called.
        name: String,
    },
    /// The chip cannot be changed so.
    #[error("{}: {error}", change_words(changes))]
    Chip {
        /// What was changed.
        changes: Changes,
        /// What is wrong.
        error: ChipError,
    },
}

impl Help for VaryError {
    fn help(&self) -> String {
        match self {
            Self::Chip { error, .. } => error.help(),
            Self::TooMany { .. } => {
                format!("use values with at most {VARIED_MAX} combinations")
            }
            Self::ReadOnce { .. } => "give the chip file by the path of a file".to_owned(),
            Self::NoValue { .. } | Self::EmptyValue { .. } => {
                "give every key at least one value, and no empty one".to_owned()
            }
            Self::ValueTwice { .. } => "name every value once".to_owned(),
            Self::KeyTwice { .. } => "name every key once, with all of its values".to_owned(),
            Self::Changed { .. } => "change it in one place only".to_owned(),
        }
    }
}

/// The chips of all combinations, with what is changed in each.
///
/// # Errors
/// [`VaryError`]; so whatever is wrong with a key or a value is known before anything runs.
pub fn varied_chips(
    base: &ChipChoice,
    varying: &[Varying],
) -> Result<Vec<(Changes, ChipChoice)>, VaryError> {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for Varying { key, values } in varying {
        let is_changed = |change: &String| change.split_once('=').is_some_and(|(of, _)| of == key);
        if base.changes().iter().any(is_changed) {
            return Err(VaryError::Changed { key: key.clone() });
        }
        if !known.insert(key) {
            return Err(VaryError::KeyTwice { key: key.clone() });
        }
        let mut distinct: BTreeSet<&str> = BTreeSet::new();
        for value in values {
            let key = || key.clone();
            if value.is_empty() {
                return Err(VaryError::EmptyValue { key: key() });
            }
            if !distinct.insert(value) {
                let value = value.clone();
                return Err(VaryError::ValueTwice { key: key(), value });
            }
        }
        if values.is_empty() {
            let key = Some(key.clone());
            return Err(VaryError::NoValue { key });
        }
    }
    if varying.is_empty() {
        return Err(VaryError::NoValue { key: None });
    }
    let counts = varying.iter().map(|one| one.values.len());
    let runs = counts.fold(1_usize, usize::saturating_mul);
    if runs > VARIED_MAX {
        return Err(VaryError::TooMany { runs });
    }
    if !base.can_be_read_again() {
        let name = base.name().to_owned();
        return Err(VaryError::ReadOnce { name });
    }
    let runs = combinations(varying).into_iter();
    let chip = |changes: Changes| match base.changed(&changes) {
        Ok(chip) => Ok((changes, chip)),
        Err(error) => Err(VaryError::Chip { changes, error }),
    };
    runs.map(chip).collect()
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VariedRun {
    /// What was changed.
    pub changes: Changes,
    /// What it has shown; none if it failed.
    pub shown: Option<Shown>,
}

/// What a run of a sweep has shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// First rank's start to last rank's finish.
    pub makespan_ns: f64,
    /// The same in cycles of the chip's reference clock.
    pub makespan_cycles: f64,
    /// Time of all ranks by cause ([`Cause::KINDS`]); they sum to the makespan times the ranks.
    pub causes_ps: [u64; Cause::KINDS.len()],
    /// Messages that the chip carried.
    pub messages: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Shown {
    /// What a run has shown that took so many cycles.
    #[must_use]
    pub fn of(run: &CallRun, cycles: f64) -> Self {
        Self {
            makespan_ns: run.report.makespan.ns(),
            makespan_cycles: cycles,
            causes_ps: run.report.causes().map(|(_, time)| time.ps()),
            messages: run.report.messages.len(),
            bytes: run.bytes(),
        }
    }

    /// The share of a kind of cause ([`Cause::KINDS`]) in percent.
    #[must_use]
    pub fn percent(&self, kind: usize) -> f64 {
        let whole: u64 = self.causes_ps.iter().sum();
        100.0 * self.causes_ps[kind] as f64 / whole.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varying(key: &str, values: &[&str]) -> Varying {
        Varying {
            key: key.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }
    }

    #[test]
    fn chips_are_those_of_all_combinations() {
        let base = ChipChoice::find("scc", &[]).expect("built in");
        let two = [
            varying("network.link", &["1", "2"]),
            varying("endpoint.library", &["rcce", "ircce"]),
        ];
        let chips = varied_chips(&base, &two).expect("right");
        let told: Vec<String> = chips
            .iter()
            .map(|(_, chip)| chip.changes().join(" "))
            .collect();
        let words: Vec<String> = chips
            .iter()
            .map(|(changes, _)| change_words(changes))
            .collect();
        assert_eq!(told, words);
        assert_eq!(told[1], "network.link=1 endpoint.library=ircce");
        assert_eq!(told.len(), 4);
    }

    #[test]
    fn what_cannot_vary_is_said() {
        let change = ("network.turn".to_owned(), "1".to_owned());
        let base = ChipChoice::find("scc", &[change]).expect("built in");
        let many: Vec<String> = (0..=VARIED_MAX).map(|value| value.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let link = |values: &[&str]| varying("network.link", values);
        for (wrong, all) in [
            ("there is no value", vec![]),
            ("network.link: there is no value", vec![link(&[])]),
            ("network.link: a value is empty", vec![link(&["1", ""])]),
            (
                "network.link: the value `1` is there twice",
                vec![link(&["1", "1"])],
            ),
            (
                "network.link: it is there twice",
                vec![link(&["1"]), link(&["2"])],
            ),
            (
                "network.turn: the chip is changed there already",
                vec![varying("network.turn", &["2"])],
            ),
            ("1001 runs, one per combination", vec![link(&many)]),
        ] {
            let error = varied_chips(&base, &all).expect_err(wrong);
            assert_eq!(error.to_string(), wrong);
            assert!(!error.help().is_empty(), "{wrong}");
        }
        let error = varied_chips(&base, &[link(&["1", "few"])]).expect_err("no number");
        let told = error.to_string();
        assert!(
            told.starts_with("network.link=few: chips/scc.toml"),
            "{told}"
        );
    }
}
