// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `corecast mpirun` about the chip on which a program runs in virtual time.

use clap::Args;
use corecast_machine_sim::Fidelity;
use corecast_shm::Compute;
use corecast_study::Shard;

use crate::one_of::one;

/// Options that take a value and come before the program.
pub const OPTIONS: &[&str] = &[
    "--chip",
    "--set",
    "--ranks-to-cores",
    "--ranks-per-core",
    "--fidelity",
    "--compute",
    "--skew",
    "--background",
    "--seed",
    "--limit-events",
    "--limit-ns",
    "--report",
    "--svg",
    "--trace",
    "--matrix",
    "--vary",
    "--plot",
    "--csv",
    "--keep",
    "--shard",
    "--capture",
];

/// In virtual time on a chip.
#[derive(Args)]
#[command(next_help_heading = "On a simulated chip")]
pub struct OnChip {
    /// Run on this chip in virtual time: the name of a built-in one, or a path to a chip file
    #[arg(id = "mpirun_chip", long = "chip", value_name = "CHIP")]
    pub chip: Option<String>,
    /// Change a value of the chip file, such as endpoint.library=rcce (repeatable)
    #[arg(long, value_name = "KEY=VALUE", requires = "mpirun_chip")]
    pub set: Vec<String>,
    /// Which core every rank gets: square, rows, columns, snake, random:SEED, a list such as 0,47, or a
    /// file with a core per line [default: as the chip file says, mostly in order]
    #[arg(long, value_name = "PLACEMENT", requires = "mpirun_chip")]
    pub ranks_to_cores: Option<String>,
    /// How many ranks share each core and take turns on it; those that follow each other [default: 1]
    #[arg(long, value_name = "RANKS", requires = "mpirun_chip")]
    pub ranks_per_core: Option<u32>,
    /// How exactly a mesh is simulated: flit or packet [default: flit]
    #[arg(
        long,
        value_name = "FIDELITY",
        hide_possible_values = true,
        requires = "mpirun_chip",
        value_parser = one(Fidelity::ALL, Fidelity::name)
    )]
    pub fidelity: Option<Fidelity>,
    /// What the program's computing between calls counts as: stated, what it says by MPI_Pcontrol
    /// (nothing if it says nothing), or measured:FACTOR, its processor time on this computer times that
    /// [default: stated]
    #[arg(long, value_name = "HOW", requires = "mpirun_chip", value_parser = compute)]
    pub compute: Option<Compute>,
    /// Who comes late (repeatable): RANK=CYCLES, uniform:CYCLES, random:CYCLES, file:FILE or none
    #[arg(long, value_name = "PATTERN", requires = "mpirun_chip")]
    pub skew: Vec<String>,
    /// Random traffic between all cores of the mesh, in flits per core and cycle, and flits per packet
    #[arg(long, value_name = "RATE[:FLITS]", requires = "mpirun_chip")]
    pub background: Option<String>,
    /// Seed of everything random [default: 0]
    #[arg(long, requires = "mpirun_chip")]
    pub seed: Option<u64>,
    /// End the run after this many simulated events
    #[arg(long, value_name = "EVENTS", requires = "mpirun_chip")]
    pub limit_events: Option<u64>,
    /// End the run after this many simulated nanoseconds
    #[arg(long, value_name = "NS", requires = "mpirun_chip")]
    pub limit_ns: Option<u64>,
    /// Write where the time of every rank and every call went as JSON; docs/cli.md lists its fields
    #[arg(long, value_name = "FILE", requires = "mpirun_chip")]
    pub report: Option<String>,
    /// Draw the timeline of the run
    #[arg(long, value_name = "FILE.svg|pdf|png", requires = "mpirun_chip")]
    pub svg: Option<String>,
    /// Write the run as a Chrome/Perfetto trace
    #[arg(long, value_name = "FILE", requires = "mpirun_chip")]
    pub trace: Option<String>,
    /// Draw who sent how many bytes to whom, or write it as CSV if FILE ends in .csv, with the
    /// numbers of messages
    #[arg(long, value_name = "FILE.svg|pdf|png", requires = "mpirun_chip")]
    pub matrix: Option<String>,
    /// Say on standard error what made the program as long as it was: time by call and cause, the
    /// critical path, ranks that others wait for
    #[arg(long, requires = "mpirun_chip")]
    pub explain: bool,
    /// With --explain: every row of its tables
    #[arg(long, requires = "explain")]
    pub full: bool,
    /// Say nothing on standard error about the run but what went wrong, for programs that are judged by
    /// what is said there
    #[arg(long, requires = "mpirun_chip", conflicts_with_all = ["explain", "vary"])]
    pub quiet: bool,
    /// Run the program once with each of these values of a number or word of the chip (repeatable: with
    /// all combinations), and say on standard error how long it took with which
    #[arg(long, value_name = "KEY=VALUE,...", requires = "mpirun_chip")]
    pub vary: Vec<String>,
    /// With --vary: draw how long the program took with which values
    #[arg(long, value_name = "FILE.svg|pdf|png", requires = "vary")]
    pub plot: Option<String>,
    /// With --vary: write a line per run as CSV
    #[arg(long, value_name = "FILE", requires = "vary")]
    pub csv: Option<String>,
    /// With --vary: keep every run in FILE, and make no run that it has, but those that failed: to go on
    /// where a sweep was interrupted
    #[arg(long, value_name = "FILE", requires = "vary")]
    pub keep: Option<String>,
    /// With --keep: only every N-th run, beginning with the I-th: for several machines, each with a file
    /// of its own, that `corecast merge` puts together
    #[arg(long, value_name = "I/N", requires = "keep")]
    pub shard: Option<Shard>,
    /// Write the packets of all ranks, and what they waited for, as a program for `corecast replay`
    #[arg(long, value_name = "FILE", requires = "mpirun_chip")]
    pub capture: Option<String>,
}

/// What computing counts as.
fn compute(text: &str) -> Result<Compute, String> {
    if text == "stated" {
        return Ok(Compute::Stated);
    }
    let factor = text.strip_prefix("measured:");
    let factor = factor.and_then(|factor| factor.parse().ok());
    let factor = factor.filter(|factor: &f64| (1e-6..=1e6).contains(factor));
    factor.map(Compute::Measured).ok_or_else(|| {
        "write stated, or measured:FACTOR with a factor from 0.000001 to 1000000".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_computing_counts_as_is_read() {
        assert_eq!(compute("stated"), Ok(Compute::Stated));
        assert_eq!(compute("measured:4.2"), Ok(Compute::Measured(4.2)));
        for text in [
            "",
            "measured",
            "measured:",
            "measured:0",
            "measured:-1",
            "measured:nan",
            "4.2",
        ] {
            assert!(compute(text).is_err(), "{text}");
        }
    }
}
