// SPDX-License-Identifier: MIT OR Apache-2.0
//! Published numbers on the hardware: what the replay of lockstep vectors measured
//! (`make -C rtl lockstep`).

use std::collections::BTreeMap;

use corecast_core::{Collective, algorithm};
use corecast_vectors::{Case, Launching, Vector};

use crate::bench::PaperError;
use crate::row::Row;

/// Name of a replayed program, and the clock in which its last engine was done.
pub type Ends = BTreeMap<String, u32>;

/// What of the hardware's runs a row is about.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Measured {
    /// Duration of a program in nanoseconds.
    Ns(Run),
    /// Ratio of two durations.
    Ratio(Run, Run),
    /// Difference of two durations in cycles.
    Cycles(Run, Run),
}

/// A broadcast beside transfers that are under way.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Run {
    pub algorithm: &'static str,
    pub ranks: u32,
    pub bytes: u64,
    /// Bytes that ranks 1, 2, ... are busy with.
    pub busy: Vec<u64>,
}

impl Run {
    /// As the published launch unit does it.
    fn case(&self) -> Case {
        let algorithm = algorithm::find(Collective::Bcast, self.algorithm);
        Case {
            algorithm: algorithm.expect("registered"),
            ranks: self.ranks,
            bytes: self.bytes,
            busy: self.busy.clone(),
            // AP gives the engines their places; there is nothing to launch.
            launching: match self.algorithm {
                "ap" => Launching::ReadyAhead,
                _ if self.busy.is_empty() => Launching::ReadyAhead,
                _ => Launching::Held,
            },
        }
    }

    fn cycles(&self, ends: &Ends) -> Option<f64> {
        let case = self.case();
        let last_done = ends.get(&case.name())?;
        Some(case.makespan_cycles(u64::from(*last_done)) as f64)
    }
}

impl Measured {
    fn runs(&self) -> Vec<&Run> {
        match self {
            Self::Ns(run) => vec![run],
            Self::Ratio(a, b) | Self::Cycles(a, b) => vec![a, b],
        }
    }

    fn value(&self, ends: &Ends, cycle_ns: f64) -> Option<f64> {
        Some(match self {
            Self::Ns(run) => run.cycles(ends)? * cycle_ns,
            Self::Ratio(a, b) => a.cycles(ends)? / b.cycles(ends)?,
            Self::Cycles(a, b) => a.cycles(ends)? - b.cycles(ends)?,
        })
    }
}

/// Gives every row that the hardware has run its value there; returns how many do.
pub fn add_rtl(rows: &mut [Row], ends: &Ends) -> usize {
    let chip = corecast_chip::find(corecast_vectors::CHIP).expect("a built-in chip");
    let cycle_ns = chip.reference_clock().period_ps as f64 / 1e3;
    for row in &mut *rows {
        let measured = row.measured.as_ref();
        row.rtl = measured.and_then(|measured| measured.value(ends, cycle_ns));
    }
    rows.iter().filter(|row| row.rtl.is_some()).count()
}

/// Lockstep vectors of everything in `rows` that the hardware can run: it has at most 32 engines.
///
/// # Errors
/// Whatever ended a run.
pub fn rtl_vectors(rows: &[Row]) -> Result<Vec<Vector>, PaperError> {
    let measured = rows.iter().filter_map(|row| row.measured.as_ref());
    let mut vectors = Vec::new();
    for run in measured.flat_map(Measured::runs) {
        if run.ranks as usize + run.busy.len() <= 32 {
            vectors.extend(run.case().vector()?);
        }
    }
    vectors.sort_by(|a, b| (a.hardware, &a.name).cmp(&(b.hardware, &b.name)));
    vectors.dedup_by(|a, b| a.name == b.name);
    Ok(vectors)
}
