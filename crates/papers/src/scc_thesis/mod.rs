// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thesis on broadcasts on the Intel SCC: Cube over RCCE, DOPL over iRCCE, and RCCE's own.
//!
//! Cube runs on blocking calls, DOPL on requests, each in its published form. A time is the makespan
//! of a broadcast whose ranks enter together with warm caches: every rank has just read all its
//! data, as the benchmark does when it checks them.
//!
//! The thesis prints the smallest time of many repetitions, and for Cube also the mean. What varies
//! here is where the pages lie: a rank of whose pages five have one colour of a cache of four ways
//! holds up everybody. Ours are the smallest and the mean over [`LAYOUTS`] layouts; messages larger
//! than the second-level cache miss it in any layout, so one is enough for them.

mod experiment;
mod figures;
mod tables;

use corecast_chip::Chip;
use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions, Watch};
use corecast_machine_sim::SimMachine;

use crate::bench::PaperError;
use crate::paper::{Paper, Part, Work};
use crate::winners::Contest;

pub use tables::{CUBE, Cell, Cut, DOPL, Line, RCCE, SIZES, Table};

pub(crate) const PAPER: Paper = Paper {
    name: "scc-thesis",
    citation: "the thesis on broadcasts on the Intel SCC: Cube over RCCE and DOPL over iRCCE",
    chips: &["scc", "scc-800"],
    contest: Contest {
        chip: "scc",
        collectives: &[Collective::Bcast, Collective::Reduce, Collective::Allreduce],
        ranks: &[12, 24, 48],
        sizes: &[32, 1024, 8192, 65_536, 262_144],
        ongoing_bytes: &[0],
    },
    open: "why DOPL was faster than Cube at 8 kB, which it is not here (its pieces make 12 hops, one \
           after the other; Cube takes 7 rounds); why parts of 1 kB were 0.2 % faster than 2 kB in \
           Cube at 1.9 MB, by the smallest times (by the mean times 2 kB were), here 0.1 % slower; RCCE_bcast cannot have taken ten times as long as both at medium \
           sizes, where one was 5.5 times as fast as the other; the published lines of Figures 5 and \
           9 to 20 are pictures, so ours are drawn without them",
    work: Work {
        rows: Part {
            ms: 15_274,
            messages: [841_504, 1_615_387, 2_055_072, 2_216_078],
        },
        winners: Part {
            ms: 2397,
            messages: [52_290, 99_474, 150_026, 219_973],
        },
        figures: Part {
            ms: 31_869,
            messages: [809_815, 1_894_826, 2_429_215, 3_305_507],
        },
    },
    experiment: experiment::rows,
    figures: figures::all,
};

/// Part or pipe size that the thesis settles on, in bytes.
const fn chosen(table: &Table) -> u64 {
    match table.cut {
        Cut::Whole => 0,
        Cut::Parts => 4096,
        Cut::Pipe { .. } => 2048,
    }
}

const RANKS: u32 = 48;

/// Layouts of memory behind every time.
pub const LAYOUTS: u64 = 8;

/// Messages of more bytes have one layout.
const CACHED_BYTES: u64 = 256 << 10;

/// The smallest and the mean time of a broadcast of `table`'s algorithm on `chip`, whose library
/// must be the table's, in seconds. `cut` is the size in bytes of what the table varies.
/// `watch` counts the messages of all layouts.
///
/// # Errors
/// Whatever ended a run.
pub fn seconds(
    chip: &Chip,
    table: &Table,
    ranks: u32,
    bytes: u64,
    cut: u64,
    watch: &Watch,
) -> Result<[f64; 2], PaperError> {
    let machine = SimMachine::new(chip);
    let options = RunOptions::default();
    let request = Request::new(Collective::Bcast, ranks, bytes);
    let mut request = machine.request(request, &options);
    match table.cut {
        Cut::Whole => {}
        Cut::Parts => request.tuning.part_bytes = Some(cut),
        Cut::Pipe { part } => {
            request.tuning.part_bytes = Some(part);
            request.tuning.piece_bytes = Some(cut);
        }
    }
    let algorithm = algorithm::find(Collective::Bcast, table.algorithm).expect("registered");
    let schedule = algorithm::build(algorithm, &request).expect("serves every rank count");
    let layouts = if bytes > CACHED_BYTES { 1 } else { LAYOUTS };
    let (mut least, mut sum) = (f64::INFINITY, 0.0);
    for seed in 0..layouts {
        let options = RunOptions {
            seed,
            watch: watch.clone(),
            ..RunOptions::default()
        };
        let report = machine.run(&Job {
            options,
            ..Job::new(&schedule)
        })?;
        if !report.delivered() {
            return Err(PaperError::NotDelivered(table.algorithm.to_owned()));
        }
        let seconds = report.makespan.ns() / 1e9;
        least = least.min(seconds);
        sum += seconds;
    }
    Ok([least, sum / layouts as f64])
}
