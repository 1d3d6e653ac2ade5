// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be typed behind `corecast replay`.

use clap::Args;
use corecast_machine_sim::Fidelity;

use super::shared::{ChipArg, LimitArgs, fidelities};
use crate::program;

/// What to run, on what, and in which surroundings.
#[derive(Args)]
pub struct Replay {
    /// The program: calls of our own, GOAL, time-independent traces of SimGrid, Chakra execution traces
    /// or records of liballprof (docs/replay.md); `-` is standard input
    pub file: String,
    /// On what to run.
    #[command(flatten)]
    pub chip: ChipArg,
    /// How exactly a mesh is simulated: flit or packet [default: flit]
    #[arg(
        long,
        value_name = "FIDELITY",
        hide_possible_values = true,
        value_parser = fidelities()
    )]
    pub fidelity: Option<Fidelity>,
    /// How many ranks share each core and take turns on it; those that follow each other
    #[arg(long, value_name = "RANKS", default_value_t = 1)]
    pub ranks_per_core: u32,
    /// Operations per second of a core, such as 1G or 533M: what a trace counts computing in
    #[arg(long, value_name = "RATE", value_parser = program::rate)]
    pub flops: Option<f64>,
    /// Take the collectives' algorithms from a decision table of `tune --machine mpi`, from a folder of
    /// them, or from those of a built-in chip by its name; none: those that are best on hosts [default:
    /// those of the chip, if it has some]
    #[arg(long, value_name = "PATH")]
    pub table: Option<String>,
    /// Say what made the program as long as it was: time by call and cause, the critical path, ranks that
    /// others wait for
    #[arg(long)]
    pub explain: bool,
    /// With --explain: every row of its tables
    #[arg(long, requires = "explain")]
    pub full: bool,
    /// Who comes late (repeatable): RANK=CYCLES, uniform:CYCLES, random:CYCLES, file:FILE or none
    #[arg(long, value_name = "PATTERN", help_heading = "Surroundings")]
    pub skew: Vec<String>,
    /// Random traffic between all cores of the mesh, in flits per core and cycle, and flits per packet
    #[arg(long, value_name = "RATE[:FLITS]", help_heading = "Surroundings")]
    pub background: Option<String>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0, help_heading = "Surroundings")]
    pub seed: u64,
    /// When the run ends at the latest.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// What to write.
    #[command(flatten)]
    pub files: Outputs,
}

/// Files about the run.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Outputs {
    /// Write where the time of every rank and every kind of call went as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Draw the timeline of the run
    #[arg(long, value_name = "FILE.svg|pdf|png")]
    pub svg: Option<String>,
    /// Write the run as a Chrome/Perfetto trace
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Draw who sent how many bytes to whom, or write it as CSV if FILE ends in .csv, with the
    /// numbers of messages
    #[arg(long, value_name = "FILE.svg|pdf|png")]
    pub matrix: Option<String>,
}
