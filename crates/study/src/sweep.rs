// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes and rank counts: who wins where.
//!
//! ```
//! use corecast_core::Collective;
//! use corecast_study::{ChipChoice, Plan, Study, most_wins};
//! let chip = ChipChoice::find("park2019-bus", &[]).expect("built in");
//! let study = Study::new(Plan {
//!     sizes: vec![64, 256],
//!     ..Plan::new(chip, Collective::Bcast)
//! })?;
//! let sweep = study.sweep(&())?;
//! let wins = most_wins(sweep.winners()[0].iter().copied()).expect("a leader");
//! assert_eq!((wins.algorithm, wins.wins, wins.cases), ("ap", 2, 2));
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Refused, StudyError};
use crate::kept::{Kept, Shard};
use crate::progress::Progress;
use crate::rank::{Ranking, Run, RunRecord};
use crate::study::Study;

/// One algorithm's runs in one case. Where their time went is not kept: there may be many.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweptRun {
    /// What is said about it.
    pub record: RunRecord,
    /// Its makespan as runs are compared by it ([`Study::typical_ns`]), in [`Study::unit`].
    pub time: f64,
    /// Its mean makespan in cycles of the chip's reference clock; none on a wall clock.
    pub mean_cycles: Option<f64>,
    /// The cycles that no schedule beats; none where no bound is known.
    pub bound_cycles: Option<u64>,
    /// What it should have shown and did not, in words.
    pub faults: Vec<String>,
}

/// All runs of one rank count and size, the fastest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepCase {
    /// Number of ranks.
    pub ranks: u32,
    /// The size.
    pub bytes: u64,
    /// At least one.
    pub runs: Vec<SweptRun>,
    /// Who could not take part and why, in words.
    pub refused: Vec<String>,
    /// Whose runs met a limit or a deadlock, in words.
    pub unended: Vec<String>,
}

impl SweepCase {
    /// The fastest.
    fn winner(&self) -> &str {
        &self.runs[0].record.algorithm
    }
}

/// All cases, by rank count and then by size, in the order asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// A row of cases per rank count.
    pub rows: Vec<Vec<SweepCase>>,
}

impl Sweep {
    /// Every case.
    pub fn cases(&self) -> impl Iterator<Item = &SweepCase> {
        self.rows.iter().flatten()
    }

    /// The fastest algorithms, one row per rank count.
    #[must_use]
    pub fn winners(&self) -> Vec<Vec<&str>> {
        let rows = self.rows.iter();
        rows.map(|row| row.iter().map(SweepCase::winner).collect())
            .collect()
    }

    /// For every algorithm, size and makespan over bound, or makespan where that is asked for or no
    /// bound is known; the algorithms in the order of the geometric means of these values.
    #[must_use]
    pub fn lines(&self, is_absolute: bool) -> Vec<(&str, Vec<(u64, f64)>)> {
        let runs = self.cases().flat_map(|case| {
            let runs = case.runs.iter();
            runs.map(|run| SweptTime {
                algorithm: &run.record.algorithm,
                bytes: case.bytes,
                time: run.time,
                bound_cycles: run.bound_cycles,
            })
        });
        lines(runs, is_absolute)
    }
}

/// How long an algorithm took in one case.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SweptTime<'a> {
    /// The algorithm.
    pub algorithm: &'a str,
    /// The size.
    pub bytes: u64,
    /// Its makespan, in cycles of the chip's reference clock or in nanoseconds of a wall clock.
    pub time: f64,
    /// The cycles that no schedule beats; none where no bound is known.
    pub bound_cycles: Option<u64>,
}

/// As [`Sweep::lines`], of times wherever they are from.
pub fn lines<'a>(
    times: impl IntoIterator<Item = SweptTime<'a>>,
    is_absolute: bool,
) -> Vec<(&'a str, Vec<(u64, f64)>)> {
    let mut lines: BTreeMap<&str, Vec<(u64, f64)>> = BTreeMap::new();
    for time in times {
        let bound = time.bound_cycles.filter(|_| !is_absolute);
        let bound = bound.map_or(1.0, |bound| bound as f64);
        if time.bytes > 0 && bound > 0.0 {
            let line = lines.entry(time.algorithm).or_default();
            line.push((time.bytes, time.time / bound));
        }
    }
    let mean = |points: &[(u64, f64)]| {
        points.iter().map(|point| point.1.ln()).sum::<f64>() / points.len() as f64
    };
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    lines
}

/// Who wins most often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wins<'a> {
    /// The algorithm.
    pub algorithm: &'a str,
    /// How often it wins.
    pub wins: usize,
    /// Cases that have a winner.
    pub cases: usize,
}

/// Who wins most often, if one does; a case without a winner has an empty name.
pub fn most_wins<'a>(winners: impl Iterator<Item = &'a str>) -> Option<Wins<'a>> {
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for name in winners.filter(|name| !name.is_empty()) {
        *wins.entry(name).or_default() += 1;
    }
    let cases = wins.values().sum();
    let most = wins.values().copied().max()?;
    let mut leaders = wins.into_iter().filter(|&(_, count)| count == most);
    match (leaders.next(), leaders.next()) {
        (Some((algorithm, wins)), None) => Some(Wins {
            algorithm,
            wins,
            cases,
        }),
        _ => None,
    }
}

impl Study {
    /// Ranks the algorithms for every rank count and size.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn sweep(&self, progress: &dyn Progress) -> Result<Sweep, StudyError> {
        self.sweep_kept(None, &mut self.keeps(), &mut |_| Ok(()), progress)
    }

    /// The same for one part of the cases, if one is named. Cases that `kept` has are not run; all
    /// others are added to it, and `keep` is told after each.
    ///
    /// # Errors
    /// Whatever ended a run, and what `keep` returns.
    pub fn sweep_kept<E: From<StudyError>>(
        &self,
        shard: Option<Shard>,
        kept: &mut Kept,
        keep: &mut dyn FnMut(&Kept) -> Result<(), E>,
        progress: &dyn Progress,
    ) -> Result<Sweep, E> {
        let mut rows = Vec::new();
        let mut numbers = 0..;
        for &ranks in &self.ranks {
            let mut row = Vec::new();
            for (&bytes, number) in self.plan.sizes.iter().zip(&mut numbers) {
                if shard.is_some_and(|shard| !shard.takes(number)) {
                    continue;
                }
                if kept.case(&(ranks, bytes)).is_none() {
                    kept.add(self.case(ranks, bytes, progress)?);
                    keep(kept)?;
                }
                row.extend(kept.case(&(ranks, bytes)).cloned());
            }
            rows.push(row);
        }
        Ok(Sweep { rows })
    }

    fn case(
        &self,
        ranks: u32,
        bytes: u64,
        progress: &dyn Progress,
    ) -> Result<SweepCase, StudyError> {
        let ranking = self.rank(ranks, bytes, progress)?;
        Ok(self.swept_case((ranks, bytes), ranking))
    }

    /// What a sweep keeps of the runs of one case.
    #[must_use]
    pub fn swept_case(&self, (ranks, bytes): (u32, u64), ranking: Ranking) -> SweepCase {
        let runs = ranking.runs.into_iter();
        let (unended, refused): (Vec<_>, Vec<_>) =
            ranking.refused.iter().partition(|of| of.is_unended());
        let told = |of: Vec<&Refused>| of.into_iter().map(ToString::to_string).collect();
        SweepCase {
            ranks,
            bytes,
            runs: runs.map(|run| self.swept(run)).collect(),
            refused: told(refused),
            unended: told(unended),
        }
    }

    /// What a sweep keeps of a run.
    fn swept(&self, run: Run) -> SweptRun {
        let record = self.record(&run);
        SweptRun {
            mean_cycles: self.mean_cycles(&run),
            time: self.typical(&run),
            bound_cycles: record.bound_cycles,
            faults: run.faults().iter().map(ToString::to_string).collect(),
            record,
        }
    }
}
