//! Who wins where: every broadcast algorithm on one chip.

use corecast_core::{Algorithm, Collective, algorithm};
use corecast_machine::Ongoing;
use corecast_render::WinnerMap;
use serde::Serialize;

use crate::bench::{Bench, PaperError, ongoing, powers_of_two};
use crate::figures::Figure;

/// The fastest algorithm of one case.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Winner {
    /// Name of the chip.
    pub chip: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// Size of the broadcast in bytes.
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

/// 4 to 32 ranks (as far as the chip goes), 4 B to 2 KB, without and with rank 1 busy.
///
/// # Errors
/// Whatever ended a run.
pub fn who_wins(chip: &'static str) -> Result<Vec<Winner>, PaperError> {
    let bench = Bench::new(chip);
    let mut winners = Vec::new();
    for ranks in [4, 8, 16, 32]
        .into_iter()
        .filter(|&ranks| ranks <= bench.cores_max())
    {
        for ongoing_bytes in [0, 512] {
            let busy: Vec<Ongoing> = (ongoing_bytes > 0)
                .then(|| ongoing(1, None, ongoing_bytes))
                .into_iter()
                .collect();
            for bytes in powers_of_two(4, 2048) {
                let mut times = Vec::new();
                for name in algorithm::of(Collective::Bcast).map(Algorithm::name) {
                    times.push((bench.bcast_ns(name, ranks, bytes, &busy, 2)?, name));
                }
                times.sort_by(|a, b| a.0.total_cmp(&b.0)); // stable: list order among equals
                winners.push(Winner {
                    chip,
                    ranks,
                    bytes,
                    ongoing_bytes,
                    winner: times[0].1,
                    winner_ns: times[0].0,
                    runner_up: times[1].1,
                    lead_ratio: times[1].0 / times[0].0,
                });
            }
        }
    }
    Ok(winners)
}

/// One map per state of rank 1, idle and busy, from the table of [`who_wins`].
#[must_use]
pub fn winner_maps(winners: &[Winner]) -> Vec<Figure> {
    let mut states: Vec<u64> = winners.iter().map(|winner| winner.ongoing_bytes).collect();
    states.sort_unstable();
    states.dedup();
    let map = |ongoing_bytes: u64| {
        let of_state: Vec<&Winner> = winners
            .iter()
            .filter(|winner| winner.ongoing_bytes == ongoing_bytes)
            .collect();
        let chip = of_state[0].chip;
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
            title: format!("Which broadcast is fastest on {chip} when {state}"),
            row_label: "ranks".to_owned(),
            column_label: "broadcast size (bytes)".to_owned(),
            rows: rows.iter().map(|row| row[0].ranks.to_string()).collect(),
            columns: columns.collect(),
            cells: cells.collect(),
        };
        (format!("{chip}-winners-{file}.svg"), picture.svg())
    };
    states.into_iter().map(map).collect()
}
