// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fastest algorithm with its sizes for every rank count and size, as cells of a decision table.

mod race;

pub(crate) use race::Race;

use std::collections::BTreeSet;

use corecast_chip::Chip;
use corecast_core::{Collective, ElementType, Platform, Request, algorithm};
use corecast_machine::Time;
use corecast_tune::search::{self, Candidate, Found, Rejected};
use corecast_tune::{Cell, Table};
use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::algorithms::Selection;
use crate::claim::Fault;
use crate::error::StudyError;
use crate::number::Cycles;
use crate::progress::Progress;
use crate::rank;
use crate::settings::Settings;
use crate::study::Study;

/// Most rank counts searched unless asked for more.
const RANKS_DEFAULT_MAX: u32 = 64;

/// Why a candidate cannot win.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Mistrial {
    /// It has no result.
    #[error(transparent)]
    Run(#[from] StudyError),
    /// Its result is wrong.
    #[error("{0}")]
    Wrong(Fault),
}

impl Mistrial {
    /// Whether it met a limit or a deadlock, which is no mistake of its own.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Run(error) if error.left_out().is_some())
    }
}

/// What the search for one cell has led to.
#[derive(Clone, PartialEq, Debug)]
pub struct CellSearch {
    /// Number of ranks.
    pub ranks: u32,
    /// The size.
    pub bytes: u64,
    /// Runs made.
    pub measured: usize,
    /// Algorithms left out because they met a limit or a deadlock, though another won.
    pub left_out: Vec<&'static str>,
    /// Results that were wrong, or were none.
    pub mistrials: Vec<Mistrial>,
    /// Why the cell has no winner, if it has none.
    pub winnerless: Option<StudyError>,
}

/// Powers of two from 2, and all cores: the rank counts that are searched by default.
///
/// ```
/// assert_eq!(corecast_study::tuned_ranks(48), [2, 4, 8, 16, 32, 48]);
/// assert_eq!(corecast_study::tuned_ranks(1 << 20), [2, 4, 8, 16, 32, 64]);
/// assert_eq!(corecast_study::tuned_ranks(1), [1]);
/// ```
#[must_use]
pub fn tuned_ranks(cores_max: u32) -> Vec<u64> {
    let most = u64::from(cores_max.min(RANKS_DEFAULT_MAX));
    let powers = (1..u32::BITS - 1).map(|exponent| 1 << exponent);
    let mut counts: Vec<u64> = powers.take_while(|&ranks| ranks < most).collect();
    counts.push(most);
    counts
}

/// The rank counts and the sizes that are searched by default. `cores` are those of a machine that has
/// a limit of its own, whose ranks share memory: there two ranks may have one core, and large blocks
/// are as usual as small ones.
///
/// ```
/// use corecast_chip::Chip;
/// use corecast_core::{Collective, ElementType};
/// let scc = Chip::builtin("scc").unwrap();
/// let of = (Collective::Bcast, ElementType::U8);
/// let (ranks, sizes) = corecast_study::tuned_cells(&scc, None, of);
/// assert_eq!(ranks, corecast_study::tuned_ranks(48));
/// assert_eq!(sizes, [4, 16, 64, 256, 1024, 4096]);
/// let (ranks, sizes) = corecast_study::tuned_cells(&scc, Some(2), of);
/// assert_eq!((ranks, sizes[6]), (vec![2, 4], 2 << 20));
/// ```
#[must_use]
pub fn tuned_cells(
    chip: &Chip,
    cores: Option<usize>,
    (collective, element): (Collective, ElementType),
) -> (Vec<u64>, Vec<u64>) {
    let ranks_max = chip.ranks_max();
    let ranks_max = cores.map_or(ranks_max, |cores| ranks_max.min(2 * cores as u32));
    let (first, step, count) = match cores {
        Some(_) => (8, 8, 7),
        // Of a reduction at least one element.
        None if element.bytes() > 4 => (8, 4, 6),
        None => (4, 4, 6),
    };
    let sizes = match collective {
        Collective::Barrier => vec![0],
        _ => (0..count)
            .map(|power| first * u64::pow(step, power))
            .collect(),
    };
    (tuned_ranks(ranks_max), sizes)
}

impl Study {
    /// The cells asked for, each once, in the order of a table.
    #[must_use]
    pub fn cells(&self) -> BTreeSet<(u32, u64)> {
        let sizes = &self.plan.sizes;
        let of_ranks = |&ranks: &u32| sizes.iter().map(move |&bytes| (ranks, bytes));
        self.ranks.iter().flat_map(of_ranks).collect()
    }

    /// The same study with its algorithms in the order in which they are listed, each once, whatever
    /// the order asked for: it decides ties.
    #[must_use]
    pub fn in_listed_order(mut self) -> Self {
        let asked: BTreeSet<&str> = self.algorithms.iter().map(|a| a.name()).collect();
        self.algorithms = algorithm::of(self.plan.collective)
            .filter(|algorithm| asked.contains(algorithm.name()))
            .collect();
        self
    }

    /// Searches these cells; each is handed to `keep` when it is found. Where sizes are raced
    /// ([`crate::StudyMachine::races_sizes`]) a few of them are tried, all of them; in virtual time every
    /// candidate is run once.
    ///
    /// # Errors
    /// What is wrong with a request, and what `keep` returns.
    pub fn tune<E: From<StudyError> + Send>(
        &self,
        cells: &[(u32, u64)],
        keep: &(dyn Fn(Cell) -> Result<(), E> + Sync),
        progress: &dyn Progress,
    ) -> Result<Vec<CellSearch>, E> {
        let search = |&(ranks, bytes): &(u32, u64)| {
            let request = self.request(ranks, bytes)?;
            let measure = |candidate: &Candidate<'_>| self.measure(candidate);
            let done = || progress.done();
            let found = match self.machine.races_sizes() {
                false => search::cell(&self.algorithms, &request, &measure, &done),
                true => {
                    // A library knows its ranks and no chip: where ranks sit plays no part.
                    let platform = Platform::default();
                    let request = Request {
                        platform,
                        ..request
                    };
                    let is_open = !matches!(self.plan.selection, Selection::Named(_));
                    let found = self.race(&self.algorithms, &request, is_open).found;
                    self.algorithms.iter().for_each(|_| done());
                    found
                }
            };
            if let Some(best) = found.best {
                keep(Cell {
                    ranks,
                    bytes,
                    algorithm: best.algorithm,
                    part_bytes: best.sizes.part_bytes,
                    piece_bytes: best.sizes.piece_bytes,
                    cycles: self.cycles(best.time),
                    ns: best.time.ns(),
                })?;
            }
            Ok(self.cell_search(ranks, bytes, found))
        };
        match self.machine.runs_side_by_side() {
            true => cells.par_iter().map(search).collect(),
            false => cells.iter().map(search).collect(),
        }
    }

    /// How long a candidate takes, or why it cannot win.
    fn measure(&self, candidate: &Candidate<'_>) -> Result<Time, Mistrial> {
        let (algorithm, request) = (candidate.algorithm, candidate.request);
        let run = self.run_of(algorithm.into(), request, candidate.schedule, &())?;
        match run.faults().into_iter().next() {
            Some(fault) => Err(Mistrial::Wrong(fault)),
            None => Ok(run.report.makespan),
        }
    }

    fn cell_search(&self, ranks: u32, bytes: u64, found: Found<Time, Mistrial>) -> CellSearch {
        let (mut left_out, mut mistrials) = (Vec::new(), Vec::new());
        let mut first_limit = None;
        for Rejected {
            algorithm, error, ..
        } in found.rejected
        {
            match error {
                Mistrial::Run(error) if Mistrial::Run(error.clone()).is_limit() => {
                    if left_out.last() != Some(&algorithm) {
                        left_out.push(algorithm);
                    }
                    first_limit = first_limit.or(Some(error));
                }
                other => mistrials.push(other),
            }
        }
        let winnerless = found.best.is_none().then(|| {
            left_out.clear();
            let refused = found.refused.into_iter();
            let refused = refused.map(|(algorithm, why)| rank::refused(algorithm, why));
            first_limit.unwrap_or(StudyError::Unserved {
                collective: self.plan.collective,
                refused: refused.collect(),
            })
        });
        CellSearch {
            ranks,
            bytes,
            measured: found.measured,
            left_out,
            mistrials,
            winnerless,
        }
    }

    /// The names of a table's winners, one row per rank count asked for; empty where there is none.
    #[must_use]
    pub fn table_winners(&self, table: &Table) -> Vec<Vec<&'static str>> {
        let winner = |ranks, bytes| {
            let cell = table.cell(ranks, bytes);
            cell.map_or("", |cell| cell.algorithm)
        };
        let row = |&ranks: &u32| {
            let sizes = self.plan.sizes.iter();
            sizes.map(|&bytes| winner(ranks, bytes)).collect()
        };
        self.ranks.iter().map(row).collect()
    }

    /// The settings of a table of this study: what its cells or its own fields say is left out.
    #[must_use]
    pub fn table_settings(&self) -> Settings {
        Settings {
            collective: None,
            ..self.settings()
        }
    }
}

/// A decision table as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TableRecord {
    /// The form of its file.
    pub format: u64,
    /// Version of corecast that searched.
    pub corecast: String,
    /// The chip.
    pub chip: String,
    /// What tells it from others of the name.
    pub fingerprint: String,
    /// The collective.
    pub collective: &'static str,
    /// The root, where there is one.
    pub root: Option<u32>,
    /// Element type of a reduction.
    pub dtype: Option<&'static str>,
    /// How exactly a mesh was simulated.
    pub fidelity: Option<String>,
    /// Whether senders waited: auto, on or off.
    pub flow_control: &'static str,
    /// Bits per rank of the status register.
    pub status_bits: u32,
    /// Most children in trees.
    pub arity: u32,
    /// Who competed.
    pub algorithms: Vec<&'static str>,
    /// The cells, in order of ranks and bytes.
    pub cells: Vec<CellRecord>,
}

/// A cell as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CellRecord {
    /// Number of ranks.
    pub ranks: u32,
    /// The size.
    pub bytes: u64,
    /// The fastest algorithm, or the machine's own way ([`corecast_tune::BOARDS`]).
    pub algorithm: &'static str,
    /// Its size of parts, unless it chose it.
    pub part_bytes: Option<u64>,
    /// Its size of pieces, unless it chose it.
    pub piece_bytes: Option<u64>,
    /// Its makespan in cycles of the chip's reference clock; none for times of a wall clock.
    pub makespan_cycles: Option<Cycles>,
    /// The same in nanoseconds.
    pub makespan_ns: f64,
}

impl TableRecord {
    /// The whole table.
    #[must_use]
    pub fn of(table: &Table) -> Self {
        let setting = table.setting();
        let cells = table.cells().map(|cell| CellRecord {
            ranks: cell.ranks,
            bytes: cell.bytes,
            algorithm: cell.algorithm,
            part_bytes: cell.part_bytes,
            piece_bytes: cell.piece_bytes,
            makespan_cycles: cell.cycles.map(Cycles),
            makespan_ns: cell.ns,
        });
        Self {
            format: corecast_tune::FORMAT,
            corecast: setting.corecast.clone(),
            chip: setting.chip.clone(),
            fingerprint: setting.fingerprint.clone(),
            collective: setting.collective.name(),
            root: setting.root,
            dtype: setting.dtype.map(ElementType::name),
            fidelity: setting.fidelity.clone(),
            flow_control: setting.flow_control.name(),
            status_bits: setting.status_bits,
            arity: setting.arity,
            algorithms: setting.algorithms.clone(),
            cells: cells.collect(),
        }
    }
}
