// SPDX-License-Identifier: MIT OR Apache-2.0
//! What several verbs take: a chip and a machine, a collective with its sizes, limits, pictures.

use std::sync::OnceLock;

use clap::Args;
use corecast_core::{Collective, ElementType, FlowControl, ReduceOp};
use corecast_machine_sim::Fidelity;
use corecast_study::{ChipChoice, MACHINES, MachineKind, Shard};

use crate::one_of::{OneOf, one, one_of};
use crate::subject::{Subject, Subjects};

/// Which cases of a sweep are run, and where they are kept.
#[derive(Args)]
pub struct Keeping {
    /// Keep every case in FILE, and run no case that it has: to go on where a sweep was interrupted
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub keep: Option<String>,
    /// Only every N-th case, beginning with the I-th: for several machines, each with a file of its
    /// own, that `corecast merge` puts together
    #[arg(long, value_name = "I/N", requires = "keep")]
    pub shard: Option<Shard>,
}

pub fn collectives() -> OneOf<Collective> {
    one(Collective::ALL, Collective::name)
}

pub fn fidelities() -> OneOf<Fidelity> {
    one(Fidelity::ALL, Fidelity::name)
}

pub fn machines() -> OneOf<&'static dyn MachineKind> {
    one(MACHINES, |machine| machine.name())
}

/// The chip unless another one is named.
const DEFAULT_CHIP: &str = "scc";

impl ChipArg {
    /// Whether another chip than the usual one was named.
    pub fn is_given(&self) -> bool {
        self.name != DEFAULT_CHIP
    }
}

/// Which chip.
#[derive(Args, Clone)]
pub struct ChipArg {
    /// The name of a built-in chip, or a path to a chip file
    #[arg(id = "chip", long = "chip", default_value = DEFAULT_CHIP)]
    pub name: String,
    /// Change a value of the chip file, such as endpoint.ready=2 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Which core every rank gets: square, rows, columns, snake, random:SEED, a list such as 0,47, or a
    /// file with a core per line [default: as the chip file says, mostly in order]
    #[arg(long, value_name = "PLACEMENT")]
    pub ranks_to_cores: Option<String>,
    /// The chip, once it has been found.
    #[arg(skip)]
    pub found: OnceLock<Box<ChipChoice>>,
}

/// What algorithms have to choose, beside the sizes that `tune` searches.
#[derive(Args, Clone)]
#[command(next_help_heading = "Tuning")]
pub struct Choices {
    /// Bits per rank of the status register that apoc reads
    #[arg(long, value_name = "BITS")]
    pub status_bits: Option<u32>,
    /// Most children per rank in k-ary trees
    #[arg(long, value_name = "K")]
    pub arity: Option<u32>,
    /// Whether senders wait until their receivers are ready: auto (unless it is proved that no
    /// queue can overflow without), on or off
    #[arg(
        long,
        value_name = "CHOICE",
        default_value = "auto",
        hide_possible_values = true,
        value_parser = one_of(FlowControl::ALL)
    )]
    pub flow_control: FlowControl,
}

/// When a run ends at the latest; in `tune` such a run cannot win.
#[derive(Args, Clone)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// End a run after this many simulated events
    #[arg(id = "limit_events", long = "limit-events", value_name = "EVENTS")]
    pub events: Option<u64>,
    /// End a run after this many simulated (on the host: real) nanoseconds
    #[arg(id = "limit_ns", long = "limit-ns", value_name = "NS")]
    pub ns: Option<u64>,
}

/// On what to run.
#[derive(Args, Clone)]
pub struct MachineArgs {
    /// Which chip.
    #[command(flatten)]
    pub chip: ChipArg,
    /// sim, the chip in virtual time; mpi, the same as MPI programs have it; host, this computer's cores;
    /// or threads, the same cores behind one lock, as a reference
    #[arg(long, default_value = "sim", hide_possible_values = true, value_parser = machines())]
    pub machine: &'static dyn MachineKind,
}

/// Repetitions.
#[derive(Args)]
#[command(next_help_heading = "Surroundings")]
pub struct Repeat {
    /// Run every case RUNS times, with seeds one after the other, and show mean (on real cores median),
    /// standard deviation, p99 and maximum [default: 1; on real cores 9]
    #[arg(
        long = "repeat",
        value_name = "RUNS",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub runs: Option<u32>,
}

/// Pictures of one run.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Pictures {
    /// Draw the timeline of the run; needs one algorithm (or `auto`) and one size
    #[arg(long, value_name = "FILE.svg|pdf|png")]
    pub svg: Option<String>,
    /// Draw what every link of the chip's mesh carries; needs one algorithm (or `auto`) and one
    /// size
    #[arg(long, value_name = "FILE.svg|pdf|png")]
    pub heat_map: Option<String>,
    /// Write the run as a Chrome/Perfetto trace; needs one algorithm (or `auto`) and one size
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Write what there is to see of all runs as a page for a browser (FILE.html), or as a document
    /// for `corecast view` (any other name)
    #[arg(long, value_name = "FILE")]
    pub view: Option<String>,
}

/// What to run, on what, and in which surroundings.
#[derive(Args)]
pub struct Scene {
    /// The collective, or a schedule file: a path that contains `/` or `.`, or `-`
    #[arg(value_name = "COLLECTIVE|FILE", value_parser = Subjects(collectives()))]
    pub what: Subject,
    /// On what to run.
    #[command(flatten)]
    pub place: MachineArgs,
    /// How exactly a mesh is simulated: flit, every flit in every buffer, or packet, whole packets
    /// on links that are taken, for very large meshes [default: flit]
    #[arg(
        long,
        value_name = "FIDELITY",
        hide_possible_values = true,
        value_parser = fidelities()
    )]
    pub fidelity: Option<Fidelity>,
    /// Number of ranks; `compare` takes a list [default: 8, or all cores if fewer; of a schedule file
    /// its own]
    #[arg(long)]
    pub ranks: Option<String>,
    /// The rank that sends in bcast and scatter, or receives in gather and reduce [default: 0; of a
    /// schedule file its own]
    #[arg(long)]
    pub root: Option<u32>,
    /// Bytes per block (bcast, reduce, allreduce: in all), such as 64, 8K, 4,64 or 1..1M:x2
    /// [default: 64; of a schedule file its own]
    #[arg(long, value_name = "SIZES")]
    pub bytes: Option<String>,
    /// Names and schedule files separated by commas, `all`, or `auto` for the fastest [default: all;
    /// explain: auto; beside a schedule file none]
    #[arg(long, value_name = "NAMES")]
    pub algorithm: Option<String>,
    /// With `--algorithm auto`: do what this decision table (`corecast tune`) says, instead of trying
    /// every algorithm
    #[arg(long, value_name = "FILE")]
    pub table: Option<String>,
    /// Element type of reductions
    #[arg(long, default_value = "u8", value_parser = one(ElementType::ALL, ElementType::name))]
    pub dtype: ElementType,
    /// Operator of reductions
    #[arg(long, default_value = "sum", value_parser = one(ReduceOp::ALL, ReduceOp::name))]
    pub op: ReduceOp,
    /// Size of the parts of pipelined algorithms
    #[arg(long, value_name = "SIZE", help_heading = "Tuning")]
    pub part_bytes: Option<String>,
    /// Size of the pieces in which data are forwarded
    #[arg(long, value_name = "SIZE", help_heading = "Tuning")]
    pub piece_bytes: Option<String>,
    /// What algorithms have to choose.
    #[command(flatten)]
    pub choices: Choices,
    /// A transfer under way at the start, such as 1=32 or 1:2=512 (repeatable)
    #[arg(long, value_name = "SRC[:DST]=BYTES", help_heading = "Surroundings")]
    pub ongoing: Vec<String>,
    /// Who comes late (repeatable): RANK=CYCLES, uniform:CYCLES (evenly spread in the order of the
    /// ranks), random:CYCLES (at most so many, drawn for every rank), file:FILE or none
    #[arg(long, value_name = "PATTERN", help_heading = "Surroundings")]
    pub skew: Vec<String>,
    /// Random traffic between all cores of the mesh during the run, in flits per core and cycle,
    /// and flits per packet
    #[arg(long, value_name = "RATE[:FLITS]", help_heading = "Surroundings")]
    pub background: Option<String>,
    /// Caches are empty at the start; otherwise every rank has just read its data
    #[arg(long, help_heading = "Surroundings")]
    pub cold: bool,
    /// Seed of the data and of everything random
    #[arg(long, default_value_t = 0, help_heading = "Surroundings")]
    pub seed: u64,
    /// When a run ends at the latest.
    #[command(flatten)]
    pub limits: LimitArgs,
}
