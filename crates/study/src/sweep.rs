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

use corecast_tune::Cell;

use crate::claim::Fault;
use crate::error::{Refused, StudyError};
use crate::progress::Progress;
use crate::rank::{Run, RunRecord};
use crate::study::Study;

/// One algorithm's runs in one case. Where their time went is not kept: there may be many.
#[derive(Clone, PartialEq, Debug)]
pub struct SweptRun {
    /// What is said about it.
    pub record: RunRecord,
    /// Its makespan as runs are compared by it ([`Study::typical_ns`]), in [`Study::unit`].
    pub time: f64,
    /// Its mean makespan in cycles of the chip's reference clock; none on a wall clock.
    pub mean_cycles: Option<f64>,
    /// The cycles that no schedule beats; none where no bound is known.
    pub bound_cycles: Option<u64>,
    /// The cell of the table that chose it, if one did.
    pub cell: Option<Cell>,
    /// What it should have shown and did not.
    pub faults: Vec<Fault>,
}

/// All runs of one rank count and size, the fastest first.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepCase {
    /// Number of ranks.
    pub ranks: u32,
    /// The size.
    pub bytes: u64,
    /// At least one.
    pub runs: Vec<SweptRun>,
    /// Who could not take part.
    pub refused: Vec<Refused>,
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

    /// For every algorithm, size and makespan over bound, or makespan where no bound is known; the
    /// algorithms in the order of the geometric means of these values.
    #[must_use]
    pub fn lines(&self) -> Vec<(&str, Vec<(u64, f64)>)> {
        let runs = self.cases().flat_map(|case| {
            let runs = case.runs.iter();
            runs.map(|run| SweptTime {
                algorithm: &run.record.algorithm,
                bytes: case.bytes,
                time: run.time,
                bound_cycles: run.bound_cycles,
            })
        });
        lines(runs)
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
) -> Vec<(&'a str, Vec<(u64, f64)>)> {
    let mut lines: BTreeMap<&str, Vec<(u64, f64)>> = BTreeMap::new();
    for time in times {
        let bound = time.bound_cycles.map_or(1.0, |bound| bound as f64);
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
        let row = |&ranks: &u32| {
            let sizes = self.plan.sizes.iter();
            sizes
                .map(|&bytes| self.case(ranks, bytes, progress))
                .collect()
        };
        let rows = self.ranks.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Sweep { rows })
    }

    fn case(
        &self,
        ranks: u32,
        bytes: u64,
        progress: &dyn Progress,
    ) -> Result<SweepCase, StudyError> {
        let ranking = self.rank(ranks, bytes, progress)?;
        let runs = ranking.runs.into_iter();
        Ok(SweepCase {
            ranks,
            bytes,
            runs: runs.map(|run| self.swept(run)).collect(),
            refused: ranking.refused,
        })
    }

    /// What a sweep keeps of a run.
    #[must_use]
    pub fn swept(&self, run: Run) -> SweptRun {
        let record = self.record(&run);
        SweptRun {
            mean_cycles: self.mean_cycles(&run),
            time: self.typical(&run),
            bound_cycles: record.bound_cycles,
            faults: run.faults(),
            cell: run.cell,
            record,
        }
    }
}
