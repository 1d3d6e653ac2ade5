// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same program on a chip with other numbers: which runs there are, and what they have shown.

use corecast_machine::{Cause, Time};

use super::CallRun;

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

/// All combinations; the last key varies fastest.
///
/// ```
/// use corecast_study::{Varying, combinations};
/// let varying = |key: &str, values: [&str; 2]| Varying {
///     key: key.to_owned(),
///     values: values.map(str::to_owned).to_vec(),
/// };
/// let runs = combinations(&[varying("a", ["1", "2"]), varying("b", ["x", "y"])]);
/// let told = runs.iter().map(|run| format!("{} {}", run[0].1, run[1].1));
/// assert_eq!(told.collect::<Vec<_>>(), ["1 x", "1 y", "2 x", "2 y"]);
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

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct VariedRun {
    /// What was changed.
    pub changes: Changes,
    /// What it has shown; none if it failed.
    pub shown: Option<Shown>,
}

/// What a run of a sweep has shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// First rank's start to last rank's finish.
    pub makespan: Time,
    /// The same in cycles of the chip's reference clock.
    pub cycles: f64,
    /// Time of all ranks by cause ([`Cause::KINDS`]); they sum to the makespan times the ranks.
    pub causes: [Time; Cause::KINDS.len()],
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
            makespan: run.report.makespan,
            cycles,
            causes: run.report.causes().map(|(_, time)| time),
            messages: run.report.messages.len(),
            bytes: run.bytes(),
        }
    }

    /// The share of a kind of cause ([`Cause::KINDS`]) in percent.
    #[must_use]
    pub fn percent(&self, kind: usize) -> f64 {
        let whole: u64 = self.causes.iter().map(|time| time.ps()).sum();
        100.0 * self.causes[kind].ps() as f64 / whole.max(1) as f64
    }
}
