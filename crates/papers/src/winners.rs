//! Who wins where: every algorithm of a collective on one chip.

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::Ongoing;
use corecast_render::WinnerMap;
use rayon::prelude::*;
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
    pub winner: &'static str,
    /// Its makespan in nanoseconds.
    pub winner_ns: f64,
    /// The next best.
    pub runner_up: &'static str,
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
    /// The fastest algorithm of every case.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn winners(&self) -> Result<Vec<Winner>, PaperError> {
        let bench = Bench::new(self.chip);
        let cases = self.cases();
        let winner = |&case: &Case| winner(&bench, self.chip, case);
        cases.par_iter().map(winner).collect()
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for &collective in self.collectives {
            let sizes: &[u64] = match collective {
                Collective::Barrier => &[0],
                _ => self.sizes,
            };
            for &ranks in self.ranks {
                for &ongoing_bytes in self.ongoing_bytes {
                    cases.extend(sizes.iter().map(|&bytes| Case {
                        collective,
                        ranks,
                        bytes,
                        ongoing_bytes,
                    }));
                }
            }
        }
        cases
    }
}

#[derive(Clone, Copy)]
struct Case {
    collective: Collective,
    ranks: u32,
    bytes: u64,
    ongoing_bytes: u64,
}

fn winner(bench: &Bench, chip: &'static str, case: Case) -> Result<Winner, PaperError> {
    let busy: Vec<Ongoing> = (case.ongoing_bytes > 0)
        .then(|| ongoing(1, None, case.ongoing_bytes))
        .into_iter()
        .collect();
    let request = Request::new(case.collective, case.ranks, case.bytes);
    let mut times = Vec::new();
    for algorithm in algorithm::of(case.collective) {
        if let Some(ns) = bench.ns(algorithm, &request, &busy)? {
            times.push((ns, algorithm.name()));
        }
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0)); // stable: list order among equals
    Ok(Winner {
        chip,
        collective: case.collective.name(),
        ranks: case.ranks,
        bytes: case.bytes,
        ongoing_bytes: case.ongoing_bytes,
        winner: times[0].1,
        winner_ns: times[0].0,
        runner_up: times[1].1,
        lead_ratio: times[1].0 / times[0].0,
    })
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
            let names = row.iter().map(|winner| winner.winner.to_owned());
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
        (
            format!("{chip}-{collective}-winners-{file}.svg"),
            picture.svg(),
        )
    };
    states.into_iter().map(map).collect()
}
