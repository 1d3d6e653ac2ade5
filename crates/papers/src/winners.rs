// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who wins where: rankings of every algorithm of a collective on one chip.

use std::borrow::Cow;
use std::sync::Arc;

use corecast_core::Collective;
use corecast_machine::Watch;
use corecast_render::WinnerMap;
use corecast_study::{Run, Study};
use serde::Serialize;

use crate::bench::{Bench, PaperError, ongoing};
use crate::figures::Figure;

/// The fastest algorithm of one case.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Winner {
    /// Name of the chip.
    pub chip: &'static str,
    /// Name of the collective.
    pub collective: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes rank 1 is busy with at the start; 0 = nobody is busy.
    pub ongoing_bytes: u64,
    /// The fastest algorithm; the first in the list of several.
    pub winner: Cow<'static, str>,
    /// Its makespan in nanoseconds.
    pub winner_ns: f64,
    /// The next best.
    pub runner_up: Cow<'static, str>,
    /// Makespan of the next best over that of the winner.
    pub lead_ratio: f64,
}

/// What algorithms compete in.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// Name of the chip.
    pub chip: &'static str,
    /// The collectives.
    pub collectives: &'static [Collective],
    /// Rank counts.
    pub ranks: &'static [u32],
    /// Sizes in bytes; a barrier has none.
    pub sizes: &'static [u64],
    /// Bytes that rank 1 is busy with at the start; 0 = nobody is busy.
    pub ongoing_bytes: &'static [u64],
}

impl Contest {
    /// The fastest algorithm of every case, each proved correct; `watch` counts the messages of
    /// all runs.
    ///
    /// # Errors
    /// Whatever ended a run, or was wrong with one.
    pub fn winners(&self, watch: &Watch) -> Result<Vec<Winner>, PaperError> {
        let bench = Bench::new(self.chip, watch);
        let mut cases = Vec::new();
        for &collective in self.collectives {
            let sizes: &[u64] = match collective {
                Collective::Barrier => &[0],
                _ => self.sizes,
            };
            let studies = self.ongoing_bytes.iter().map(|&bytes| {
                let busy = (bytes > 0).then(|| ongoing(1, None, bytes));
                let mut plan = bench.plan(collective, busy.as_slice());
                plan.ranks = self.ranks.iter().map(|&ranks| u64::from(ranks)).collect();
                plan.sizes = sizes.to_vec();
                Ok((bytes, Arc::new(Study::new(plan)?)))
            });
            let studies: Vec<_> = studies.collect::<Result<_, PaperError>>()?;
            for &ranks in self.ranks {
                for (ongoing_bytes, study) in &studies {
                    cases.extend(sizes.iter().map(|&bytes| Case {
                        study: Arc::clone(study),
                        ranks,
                        bytes,
                        ongoing_bytes: *ongoing_bytes,
                    }));
                }
            }
        }
        crate::cases::all(&cases, |case| case.winner(self.chip))
    }
}

struct Case {
    study: Arc<Study>,
    ranks: u32,
    bytes: u64,
    ongoing_bytes: u64,
}

impl Case {
    fn winner(&self, chip: &'static str) -> Result<Winner, PaperError> {
        let ranking = self.study.rank(self.ranks, self.bytes, &())?;
        if let Some(fault) = ranking.runs.iter().flat_map(Run::faults).next() {
            return Err(PaperError::Wrong(fault));
        }
        let ns = |run: &Run| run.report.makespan.ns();
        let (first, second) = (&ranking.runs[0], &ranking.runs[1]);
        Ok(Winner {
            chip,
            collective: self.study.collective().name(),
            ranks: self.ranks,
            bytes: self.bytes,
            ongoing_bytes: self.ongoing_bytes,
            winner: first.algorithm.clone(),
            winner_ns: ns(first),
            runner_up: second.algorithm.clone(),
            lead_ratio: ns(second) / ns(first),
        })
    }
}

/// One map per collective and state of rank 1, idle and busy; barriers, which have no size, have
/// none.
#[must_use]
pub fn winner_maps(winners: &[Winner]) -> Vec<Figure> {
    let of_collective = winners.chunk_by(|a, b| a.collective == b.collective);
    let with_sizes = of_collective.filter(|winners| winners.iter().any(|winner| winner.bytes > 0));
    with_sizes.flat_map(maps).collect()
}

fn maps(winners: &[Winner]) -> Vec<Figure> {
    let mut states: Vec<u64> = winners.iter().map(|winner| winner.ongoing_bytes).collect();
    states.sort_unstable();
    states.dedup();
    let map = |ongoing_bytes: u64| {
        let of_state: Vec<&Winner> = winners
            .iter()
            .filter(|winner| winner.ongoing_bytes == ongoing_bytes)
            .collect();
        let (chip, collective) = (of_state[0].chip, of_state[0].collective);
        let rows: Vec<&[&Winner]> = of_state.chunk_by(|a, b| a.ranks == b.ranks).collect();
        let (state, file) = match ongoing_bytes {
            0 => ("nobody is busy".to_owned(), "idle"),
            bytes => (format!("rank 1 is busy for {bytes} B"), "busy"),
        };
        let columns = rows[0].iter().map(|winner| winner.bytes.to_string());
        let cells = rows.iter().map(|row| {
            let names = row.iter().map(|winner| winner.winner.clone().into_owned());
            names.collect()
        });
        let picture = WinnerMap {
            title: format!("Which {collective} is fastest on {chip} when {state}"),
            row_label: "ranks".to_owned(),
            column_label: "size (bytes)".to_owned(),
            rows: rows.iter().map(|row| row[0].ranks.to_string()).collect(),
            columns: columns.collect(),
            cells: cells.collect(),
        };
        (format!("{chip}-{collective}-winners-{file}"), picture.svg())
    };
    states.into_iter().map(map).collect()
}
