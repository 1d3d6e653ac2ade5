// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be typed.

mod coll;
mod replay;
mod reproduce;
mod shared;

use clap::{Arg, ArgAction, Args, Parser, Subcommand, ValueEnum};
use corecast_core::{Collective, ElementType};
use corecast_exchange::{FORMATS, Format};
use corecast_flow::{PLACEMENTS, Placement};
use corecast_machine_sim::Fidelity;
use corecast_papers::{PAPERS, Paper};
use corecast_study::{Claim, MachineKind, Reader, Shard};

use crate::mpirun::Mpirun;
use crate::one_of::{Claims, OneOf, one, one_of};
use crate::program;

pub use coll::Coll;
pub use replay::Replay;
pub use reproduce::Reproduce;
pub use shared::{ChipArg, Choices, Keeping, LimitArgs, MachineArgs, Pictures, Repeat, Scene};
use shared::{collectives, fidelities, machines};

const BEGIN_WITH: &str = "\
Begin with:
  corecast run bcast                       every broadcast algorithm, the fastest first
  corecast explain bcast --algorithm mst   where the time of one of them goes
  corecast compare bcast --ranks 4,8,16    who wins at which rank count
  corecast list algorithms                 what else there is

Exit codes: 0 done and correct, 1 a check failed, 2 wrong usage or bad input, 3 a limit or a deadlock";

/// Collective communication on many-core chips: schedules that are verified, run and explained.
#[derive(Parser)]
#[command(name = "corecast", version, after_help = BEGIN_WITH)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Where the answer goes.
    #[command(flatten)]
    pub sink: Sink,
}

/// `--json` of a verb that refuses it, which its help does not list.
fn unlisted_json() -> Arg {
    let json = Arg::new("json").long("json").hide(true);
    json.action(ArgAction::SetTrue)
}

/// The same for `-o`.
fn unlisted_output() -> Arg {
    let output = Arg::new("output").short('o').long("output").hide(true);
    output.value_name("FILE")
}

/// Where the answer goes.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Sink {
    /// Print one JSON document instead of text; docs/cli.md lists its fields
    #[arg(long, global = true)]
    pub json: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, global = true, value_name = "FILE")]
    pub output: Option<String>,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// What there is: chips, algorithms, machines, papers, formats
    List {
        /// Of what
        what: Listed,
    },
    /// One thing in full: a chip, an algorithm or a schedule
    #[command(subcommand)]
    Show(Show),
    /// Run a collective by one, several or all algorithms, the fastest first
    #[command(after_help = "Examples:
  corecast run bcast --ranks 16 --bytes 4,64,1K
  corecast run allreduce --algorithm ring,rabenseifner --dtype f32
  corecast run bcast --algorithm auto --ongoing 1=32 --svg timeline.svg
  corecast run reduce --chip tilepro64 --skew random:5000 --repeat 100
  corecast run bcast --machine host
  corecast run bcast --chip tilepro64 --set network.width=256 --set network.height=256 --ranks 64K \
    --algorithm mst --fidelity packet")]
    Run {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// How often.
        #[command(flatten)]
        repeat: Repeat,
        /// What to draw.
        #[command(flatten)]
        pictures: Pictures,
    },
    /// Prove what holds for schedules, without running them
    #[command(after_help = "Examples:
  corecast verify alltoall --ranks 16
  corecast verify mine.sched
  corecast verify schedules/ theirs.xml
  corecast verify bcast --algorithm binomial --require contention-free,round-optimal")]
    Verify {
        /// What to verify.
        #[command(flatten)]
        scene: Box<Scene>,
        /// More schedule files, and folders of them: a table of what holds for each on any chip
        #[arg(value_name = "FILE")]
        more: Vec<String>,
        /// Write the schedule file with what can be repaired in it: attributes and marks that its
        /// readers insist on, and waits without which streams race; then verify that
        #[arg(long, value_name = "OUT", help_heading = "Output")]
        repair: Option<String>,
        /// Exit with 1 unless these claims, separated by commas, hold; correct is always required.
        /// deadlock-free:K counts on K slots per connection, as runtimes of MSCCL give them
        #[arg(
            long,
            value_name = "CLAIMS",
            help_heading = "Checks",
            value_delimiter = ',',
            value_parser = Claims
        )]
        require: Vec<Claim>,
    },
    /// What to do about a run's time, where it went, its critical path, its gap to the lower bound
    #[command(after_help = "Examples:
  corecast explain bcast --algorithm apoc --ongoing 1=32 --bytes 4
  corecast explain reduce --ranks 16 --svg timeline.svg")]
    Explain {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// Show long tables (ranks, critical path, waits for links) in full
        #[arg(long, help_heading = "Output")]
        full: bool,
        /// What to draw.
        #[command(flatten)]
        pictures: Pictures,
    },
    /// Sweep sizes and rank counts: who wins where
    #[command(after_help = "Examples:
  corecast compare bcast --ranks 4,8,16,32 --bytes 4..2K:x2 --plot winners.svg
  corecast compare allgather --ranks 16 --bytes 4..2K:x2 --plot lines.svg --csv runs.csv")]
    Compare {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// How often.
        #[command(flatten)]
        repeat: Repeat,
        /// Which cases, and where they are kept.
        #[command(flatten)]
        keeping: Keeping,
        /// Write every run to a CSV file
        #[arg(long, value_name = "FILE", help_heading = "Output")]
        csv: Option<String>,
        /// Draw makespan over bound against size; with several rank counts, who wins where
        #[arg(
            long,
            value_name = "FILE.svg|pdf|png",
            help_heading = "Output",
            conflicts_with = "shard"
        )]
        plot: Option<String>,
        /// With --plot and one rank count: draw at most so many lines, the fastest
        #[arg(
            long,
            value_name = "N",
            help_heading = "Output",
            requires = "plot",
            value_parser = clap::value_parser!(u32).range(1..)
        )]
        top: Option<u32>,
        /// With --plot and one rank count: draw times themselves, not over the lower bound
        #[arg(long, help_heading = "Output", requires = "plot")]
        absolute: bool,
        /// Write who wins where as a page for a browser (FILE.html), or as a document for `corecast
        /// view` (any other name)
        #[arg(
            long,
            value_name = "FILE",
            help_heading = "Output",
            conflicts_with = "shard"
        )]
        view: Option<String>,
    },
    /// Make one page for a browser of files: timelines, meshes, schedules, who wins where
    #[command(after_help = "Examples:
  corecast run bcast --algorithm mst --ranks 48 --view mst.html
  corecast run bcast --algorithm mst,binomial --view runs.json
  corecast compare bcast --ranks 4..32:x2 --bytes 4..4K:x4 --json -o sweep.json
  corecast view runs.json sweep.json mine.sched -o all.html
The page has everything inside: it needs no server and no network.")]
    View {
        /// Documents (`--view`), records (`run`, `explain`, `compare` or `tune --json`), traces
        /// (`--trace`) and schedule files; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Put the parts of a sweep (`compare --keep`, `mpirun --vary --keep`) or of a decision table (`tune`)
    /// together
    #[command(after_help = "Examples:
  corecast compare bcast --bytes 4..64K:x2 --shard 1/2 --keep 1.jsonl
  corecast compare bcast --bytes 4..64K:x2 --shard 2/2 --keep 2.jsonl
  corecast merge 1.jsonl 2.jsonl -o all.jsonl
  corecast compare bcast --bytes 4..64K:x2 --keep all.jsonl --plot lines.svg
  corecast merge part-*.toml -o bcast.toml")]
    Merge {
        /// The parts, all of one kind
        #[arg(required = true, value_name = "FILE")]
        parts: Vec<String>,
    },
    /// Find the fastest algorithm and its sizes for every rank count and size, as a decision table
    #[command(after_help = "Examples:
  corecast tune bcast -o bcast.toml
  corecast tune bcast --ranks 4..32:x2 --bytes 4..64K:x4 -o bcast.toml --plot winners.svg
  corecast run bcast --bytes 3000 --algorithm auto --table bcast.toml
Cells that the table already has are kept; docs/cli.md says what is searched and what is not.")]
    Tune(Box<Tune>),
    /// How long a message takes between two ranks: latency, bandwidth and what they imply
    #[command(after_help = "Examples:
  corecast pingpong --chip tilepro64 --to 1,7,63 --bytes 4..8K:x2 --plot pingpong.svg
  corecast pingpong --machine host --to 1")]
    Pingpong(Pingpong),
    /// Every published number of the papers beside ours
    #[command(after_help = "Examples:
  corecast reproduce park2019
  corecast reproduce park2019 --plot figures --form pdf")]
    Reproduce(Reproduce),
    /// Latency and throughput of a mesh under synthetic traffic
    #[command(after_help = "Examples:
  corecast traffic
  corecast traffic --chip tilepro64 --pattern transpose --rate 0.01..0.2:+0.01 --plot curve.svg
  corecast traffic --set network.vcs=4 --pattern hotspot:0=0.2 --csv points.csv
  corecast traffic --trace-file packets.txt")]
    Traffic(Box<Traffic>),
    /// Run a dataflow program: tasks that exchange blocks, on the tiles of a chip or on threads
    #[command(after_help = "Examples:
  corecast flow examples/jpeg-3.toml
  corecast flow examples/jpeg-4.toml --flows 1,2,3,4 --plot split.svg
  corecast flow examples/fir.toml --stages 1..8:+1
  corecast flow examples/jpeg-4.toml --placement near,row,column,random
  corecast flow examples/jpeg-3.toml --machine host --picture decoded.ppm
docs/cli.md describes flow files and what the results mean.")]
    Flow(Box<Flow>),
    /// Programs for the engine in hardware, with every control message and word that the simulator
    /// expects
    #[command(after_help = "Examples:
  corecast rtl-vectors vectors.json --nodes 4
  corecast rtl-vectors many.json --nodes 2,3,4,5,8,16,32 --random 50 --seed 7
  corecast rtl-vectors published.json --paper park2019
`make -C rtl lockstep VECTORS=../vectors.json` replays them (a path seen from rtl); rtl/README.md.")]
    RtlVectors(RtlVectors),
    /// Start an MPI program: one process per rank over shared memory, or on a simulated chip
    #[command(arg = unlisted_json(), arg = unlisted_output(), after_help = "Examples:
  corecast mpirun -n 4 ./program
  corecast mpirun -n 2 --bind-to core --tag-output ./program --its options
  corecast mpirun -n 1 ./master : -n 3 ./worker
  corecast mpirun -n 48 --chip scc --explain --matrix matrix.svg ./program
  corecast mpirun -n 48 --chip scc --vary network.link=1,2,4 --plot link.svg ./program
The exit code is 0 if all ranks end with 0, else that of the first that does not; 128 and the signal's
number if a signal killed it; 124 when the time is over; on a chip 3 for a limit or a deadlock.
docs/mpi.md says what works, docs/virtual.md what --chip does.")]
    Mpirun(Box<Mpirun>),
    /// Run a program from a file, a graph or a trace of its calls, on a simulated chip
    #[command(after_help = "Examples:
  corecast replay halo.calls --chip tilepro64 --report report.json --svg timeline.svg
  corecast replay app.goal --chip nagam --skew random:5000
  corecast replay trace.ti --chip scc --flops 533M
docs/replay.md has the formats; `corecast convert` writes one as another.")]
    Replay(Box<Replay>),
    /// Write a schedule file, or a program, in another format
    #[command(after_help = "Examples:
  corecast convert theirs.xml ours.sched
  corecast convert ours.sched ours.goal
  corecast convert theirs.xml --to corecast
  corecast convert trace.ti ours.calls --flops 1G
docs/schedules.md and docs/replay.md say what each format can say; what one cannot is refused, or
named in a note.")]
    Convert(Convert),
    /// Write decision tables as the rules that an MPI library reads, or as schedules for MSCCL
    #[command(after_help = "Examples:
  corecast rules bcast.toml rules.conf --to openmpi
  corecast rules tables/ selection.json --to mpich
  corecast rules allreduce.toml algorithms --to msccl --chip mine.toml
docs/rules.md says which algorithms each library has, too, and how it is told of the file.")]
    Rules(Rules),
    /// Build the library that puts corecast's collectives into programs of another MPI
    #[command(after_help = "Examples:
  corecast coll libcorecast_coll.so --mpicc mpicc
  mpirun -n 4 -x LD_PRELOAD=$PWD/libcorecast_coll.so -x CORECAST_EXPLAIN=1 ./program
docs/coll.md says which calls it serves, and how it is told what to do.")]
    Coll(Coll),
    /// Measure how fast corecast itself is
    Bench {
        /// What of it
        what: Measured,
    },
    /// What is found on this computer and in this build, and what is missing
    Doctor,
    /// Completions for a shell, or manual pages
    #[command(after_help = "Examples:
  corecast generate bash > ~/.local/share/bash-completion/completions/corecast
  corecast generate zsh > corecast.zsh
  corecast generate man > corecast.1
  corecast generate man traffic > corecast-traffic.1")]
    Generate {
        /// What
        what: Generated,
        /// The verb whose manual page it is to be, instead of the page of all
        verb: Option<String>,
    },
}

/// What can be generated.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Generated {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

/// What there are lists of.
#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    Chips,
    Algorithms,
    Machines,
    Papers,
    Formats,
    /// Keys of chip files
    Keys,
}

/// What of corecast is measured.
#[derive(Clone, Copy, ValueEnum)]
pub enum Measured {
    Simulator,
}

fn papers() -> OneOf<&'static Paper> {
    one(PAPERS, |paper| paper.name)
}

fn readers() -> OneOf<Reader> {
    one(Reader::all(), Reader::name)
}

/// Of schedules, those that can be shown.
fn texts() -> OneOf<&'static dyn Format> {
    let texts = FORMATS.into_iter().filter(|format| format.is_text());
    one(texts, |format| format.name())
}

/// Of schedules and of programs.
fn all_formats() -> OneOf<&'static str> {
    one(program::names(), |name| name)
}

/// From which file to which.
#[derive(Args)]
pub struct Convert {
    /// The file of a schedule or a program; `-` is standard input
    pub from_file: String,
    /// Where to write [default: standard output, in the format of --to]
    pub to_file: Option<String>,
    /// Format of the first [default: what its contents show]
    #[arg(long, value_name = "FORMAT", value_parser = all_formats())]
    pub from: Option<&'static str>,
    /// Format of the second [default: how its name ends]
    #[arg(long, value_name = "FORMAT", value_parser = all_formats())]
    pub to: Option<&'static str>,
    /// Operations per second of a core, for traces that count computing in them
    #[arg(long, value_name = "RATE", value_parser = program::rate)]
    pub flops: Option<f64>,
    /// Bytes per block (bcast, reduce, allreduce: in all) [default: as the file says]
    #[arg(long, value_name = "SIZE")]
    pub bytes: Option<String>,
}

/// From which tables to which rules.
#[derive(Args)]
pub struct Rules {
    /// A decision table, or a folder of them (`corecast tune COLLECTIVE -o FILE.toml` writes one)
    pub tables: String,
    /// The file to write [default: standard output], or for msccl the folder [default: none, only its
    /// list is shown]
    pub to_file: Option<String>,
    /// The library that is to read them
    #[arg(long, value_name = "LIBRARY", value_parser = readers())]
    pub to: Reader,
    /// For msccl: the chip for which the tables were made, by name or path [default: the built-in chip
    /// that they name]
    #[arg(long, value_name = "CHIP")]
    pub chip: Option<String>,
    /// Change a value of the chip file, as the tables were made with (repeatable)
    #[arg(long, value_name = "KEY=VALUE", requires = "chip")]
    pub set: Vec<String>,
    /// Which core every rank gets, as the tables were made with
    #[arg(long, value_name = "PLACEMENT", requires = "chip")]
    pub ranks_to_cores: Option<String>,
}

/// What to search.
#[derive(Args)]
pub struct Tune {
    /// The collective
    #[arg(value_parser = collectives())]
    pub collective: Collective,
    /// On what to run.
    #[command(flatten)]
    pub place: MachineArgs,
    /// How exactly a mesh is simulated [default: flit]
    #[arg(long, value_name = "FIDELITY", value_parser = fidelities())]
    pub fidelity: Option<Fidelity>,
    /// Numbers of ranks, such as 4,8,16 or 2..64:x2 [default: powers of two up to all cores or 64;
    /// on this computer's cores up to twice as many as there are]
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<String>,
    /// The rank that sends in bcast and scatter, or receives in gather and reduce
    #[arg(long, default_value_t = 0)]
    pub root: u32,
    /// Bytes per block (bcast, reduce, allreduce: in all), such as 64, 8K or 1..1M:x2
    /// [default: 4..4K:x4; a barrier has none; elements of 8 bytes: 8..8K:x4; on this computer's
    /// cores 8..2M:x8]
    #[arg(long, value_name = "SIZES")]
    pub bytes: Option<String>,
    /// Who competes: names separated by commas, or `all`
    #[arg(long, value_name = "NAMES", default_value = "all")]
    pub algorithm: String,
    /// Element type of reductions
    #[arg(long, default_value = "u8", value_parser = one(ElementType::ALL, ElementType::name))]
    pub dtype: ElementType,
    /// What algorithms have to choose.
    #[command(flatten)]
    pub choices: Choices,
    /// When a run ends at the latest.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Write the table to FILE; cells that it already has are kept
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<String>,
    /// Draw who wins at which rank count and size
    #[arg(
        long,
        value_name = "FILE.svg|pdf|png",
        help_heading = "Output",
        conflicts_with = "shard"
    )]
    pub plot: Option<String>,
    /// Only every N-th cell, beginning with the I-th: for several machines, each with a table of its
    /// own, that `corecast merge` puts together
    #[arg(long, value_name = "I/N", requires = "output")]
    pub shard: Option<Shard>,
}

/// Which messages between which ranks.
#[derive(Args)]
pub struct Pingpong {
    /// On what to run.
    #[command(flatten)]
    pub place: MachineArgs,
    /// The rank that begins
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    pub from: u32,
    /// The ranks that answer, separated by commas [default: five from near to far]
    #[arg(long, value_name = "RANKS")]
    pub to: Option<String>,
    /// Sizes, such as 64, 8K, 4,64 or 1..1M:x2
    #[arg(long, value_name = "SIZES", default_value = "4..8K:x2")]
    pub bytes: String,
    /// When a round trip ends at the latest.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Draw half a round trip against the size, a line per rank
    #[arg(long, value_name = "FILE.svg|pdf|png", help_heading = "Output")]
    pub plot: Option<String>,
}

/// Which vectors.
#[derive(Args)]
pub struct RtlVectors {
    /// Where to write them
    pub file: String,
    /// Engines of the hardware, such as 4 or 2,3,8
    #[arg(
        long,
        value_name = "LIST",
        default_value = "2,3,4,5,8",
        conflicts_with = "paper"
    )]
    pub nodes: String,
    /// What the hardware can run of a paper's numbers instead
    #[arg(long, conflicts_with_all = ["random", "seed"], value_parser = papers())]
    pub paper: Option<&'static Paper>,
    /// Random programs per set of the hardware's parameters
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub random: u32,
    /// Seed of the random programs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u32,
}

/// Which traffic on which mesh.
#[derive(Args)]
pub struct Traffic {
    /// The name of a built-in chip with a mesh, or a path to a chip file
    #[arg(long, default_value = "booksim-mesh")]
    pub chip: String,
    /// Change a value of the chip file, such as network.vcs=4 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// uniform, transpose, bit-complement, bit-reverse, tornado, neighbour, or
    /// hotspot:CORE[+CORE...]=SHARE
    #[arg(long, default_value = "uniform")]
    pub pattern: String,
    /// Flits per core and cycle, such as 0.1, 0.05,0.1 or 0.02..0.3:+0.02
    /// [default: from 0.02 in steps of 0.02 until the mesh is saturated]
    #[arg(long, value_name = "RATES")]
    pub rate: Option<String>,
    /// Flits per packet
    #[arg(long, value_name = "FLITS", default_value_t = 4)]
    pub packet: u32,
    /// Cycles before the measurement
    #[arg(long, value_name = "CYCLES", default_value_t = 3000)]
    pub warmup: u64,
    /// Cycles of the measurement
    #[arg(long, value_name = "CYCLES", default_value_t = 10_000)]
    pub measure: u64,
    /// Most cycles after the measurement until its packets have arrived
    #[arg(long, value_name = "CYCLES", default_value_t = 30_000)]
    pub drain: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Send the packets of a file instead of a pattern: lines `cycle src dst flits [after N,...]`,
    /// or a trace of netrace
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pattern", "rate", "packet", "warmup", "measure", "drain", "seed", "plot"])]
    pub trace_file: Option<String>,
    /// Let packets of the file leave in their cycles, whatever they wait for
    #[arg(long, requires = "trace_file")]
    pub open_loop: bool,
    /// Write every point to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<String>,
    /// Draw latency against offered load, with the saturation point
    #[arg(long, value_name = "FILE.svg|pdf|png", help_heading = "Output")]
    pub plot: Option<String>,
    /// Draw what every link carries at the highest load below saturation (or by the trace file)
    #[arg(long, value_name = "FILE.svg|pdf|png", help_heading = "Output")]
    pub heat_map: Option<String>,
}

/// Which dataflow program, where.
#[derive(Args)]
pub struct Flow {
    /// A flow file, such as examples/jpeg-3.toml
    pub file: String,
    /// The name of a built-in chip whose tiles run tasks, or a path to a chip file
    #[arg(long, default_value = "nagam")]
    pub chip: String,
    /// Change a value of the chip file, such as endpoint.input=1024 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// sim, the chip in virtual time, or host or threads, this computer's cores with buffers of the
    /// chip's sizes
    #[arg(long, default_value = "sim", hide_possible_values = true, value_parser = machines())]
    pub machine: &'static dyn MachineKind,
    /// Instances of the graph at once, such as 1,2,3,4 [default: as the file says]
    #[arg(long, value_name = "LIST")]
    pub flows: Option<String>,
    /// Stages of the tasks that have `stages`, such as 1..8:+1 [default: as the file says]
    #[arg(long, value_name = "LIST")]
    pub stages: Option<String>,
    /// Where tasks are put, or several such rules, separated by commas [default: as the file says]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = one_of(PLACEMENTS))]
    pub placement: Option<Vec<Placement>>,
    /// Seed of placements and of other traffic
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Whether tasks with several senders acknowledge messages, so that no sender can fill their
    /// buffer [default: auto]
    #[arg(long, value_name = "CHOICE", value_parser = one_of([("auto", true), ("off", false)]))]
    pub flow_control: Option<bool>,
    /// Injectors at the edges of the mesh send so much of the time, straight across: 0.1,
    /// 0.1:north-south or 0.1:west-east. How far blocks arrive from when they do without is shown
    /// for every edge
    #[arg(long, value_name = "RATE[:DIRECTION]")]
    pub injectors: Option<String>,
    /// Most events of a run
    #[arg(long, value_name = "EVENTS", help_heading = "Limits")]
    pub limit_events: Option<u64>,
    /// Most nanoseconds of a run: simulated on a chip, wall-clock on the host
    #[arg(long, value_name = "NS", help_heading = "Limits")]
    pub limit_ns: Option<u64>,
    /// Write every task of every run to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<String>,
    /// Draw where the time of every task went, as stacked bars
    #[arg(long, value_name = "FILE.svg|pdf|png", help_heading = "Output")]
    pub plot: Option<String>,
    /// Draw tasks on the mesh, edges coloured by load; needs one run
    #[arg(long, value_name = "FILE.svg|pdf|png", help_heading = "Output")]
    pub layout: Option<String>,
    /// Write the decoded picture as PPM; needs one run of a JPEG decoder
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub picture: Option<String>,
}

/// What `show` shows.
#[derive(Subcommand)]
pub enum Show {
    /// Everything about a chip: numbers with their sources, words, defaults, what follows from them
    /// and what does nothing
    #[command(after_help = "Examples:
  corecast show chip tilepro64
  corecast show chip --chip scc --set network.width=12")]
    Chip {
        /// The name of a built-in chip, or a path to a chip file [default: scc]
        #[arg(conflicts_with = "chip")]
        name: Option<String>,
        /// The same as an option, and changes.
        #[command(flatten)]
        chip: ChipArg,
    },
    /// What an algorithm does, where it is from and what it requires
    Algorithm {
        /// Its name; `corecast list algorithms` lists them
        name: String,
        /// Only this collective
        #[arg(long, value_parser = collectives())]
        collective: Option<Collective>,
    },
    /// A schedule as text: what each rank does; needs one algorithm and one size
    #[command(after_help = "Examples:
  corecast show schedule bcast --algorithm mst
  corecast show schedule bcast --algorithm mst --format corecast > mine.sched
  corecast show schedule mine.sched")]
    Schedule {
        /// Which schedule.
        #[command(flatten)]
        scene: Box<Scene>,
        /// As a file of this format instead; `corecast convert` writes those that are no text
        #[arg(long, value_name = "FORMAT", value_parser = texts())]
        format: Option<&'static dyn Format>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn options_go_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn choices_that_helps_explain_are_all_named() {
        let mut cli = Cli::command();
        let run = cli.find_subcommand_mut("run").expect("a verb");
        for option in run
            .get_arguments()
            .filter(|option| option.is_hide_possible_values_set())
        {
            let help = option.get_help().expect("documented").to_string();
            let words: Vec<&str> = help.split([' ', ',']).collect();
            let values = option.get_value_parser().possible_values();
            for value in values.expect("hidden ones") {
                assert!(
                    words.contains(&value.get_name()),
                    "{value:?} is not in\n{help}"
                );
            }
        }
    }
}
