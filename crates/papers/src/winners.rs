//! Who wins where: every broadcast algorithm on one chip.

use corecast_core::{Algorithm, Collective, algorithm};
use corecast_machine::Ongoing;
use serde::Serialize;

use crate::bench::{Bench, PaperError, ongoing, powers_of_two};

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
