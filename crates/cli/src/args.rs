//! What can be typed.

use clap::{Args, Parser, Subcommand};

/// Collective communication on many-core chips: schedules that are verified, run and explained.
#[derive(Parser)]
#[command(name = "corecast", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Where the answer goes.
    #[command(flatten)]
    pub sink: Sink,
}

/// Where the answer goes.
#[derive(Args)]
pub struct Sink {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, global = true, value_name = "FILE")]
    pub output: Option<String>,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// What there is: chips, algorithms, machines, papers
    List {
        /// chips, algorithms, machines or papers
        what: String,
    },
    /// One thing in full
    #[command(subcommand)]
    Show(Show),
    /// Run one collective and rank the algorithms
    Run {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// What to draw.
        #[command(flatten)]
        pictures: Pictures,
    },
    /// Print the certificates
    Verify {
        /// What to verify.
        #[command(flatten)]
        scene: Box<Scene>,
        /// Exit with 1 unless these claims hold: correct (always required), deadlock-free,
        /// contention-free, round-optimal
        #[arg(long, value_name = "CLAIMS")]
        require: Option<String>,
    },
    /// Where the time went, the critical path, the gap to the bound
    Explain {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// What to draw.
        #[command(flatten)]
        pictures: Pictures,
    },
    /// Sweep sizes and rank counts over all algorithms
    Compare {
        /// What to run.
        #[command(flatten)]
        scene: Box<Scene>,
        /// Write every run to a CSV file
        #[arg(long, value_name = "FILE")]
        csv: Option<String>,
        /// Draw an SVG: makespan over bound against size; with several rank counts, who wins where
        #[arg(long, value_name = "FILE")]
        plot: Option<String>,
    },
    /// Compare every published number of a paper with ours
    Reproduce {
        /// chung2011 or park2019 [default: all]
        paper: Option<String>,
        /// Redraw the paper's figures, and draw who wins where, as SVG files in this folder
        #[arg(long, value_name = "DIR")]
        plot: Option<String>,
    },
    /// Measure how fast corecast itself is
    Bench {
        /// simulator
        what: String,
    },
    /// What is found on this computer
    Doctor,
}

/// Pictures of one run.
#[derive(Args)]
pub struct Pictures {
    /// Draw the timeline of the run; needs one algorithm (or `auto`) and one size
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// Write the run as a Chrome/Perfetto trace; needs one algorithm (or `auto`) and one size
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
}

/// What `show` shows.
#[derive(Subcommand)]
pub enum Show {
    /// Every parameter of a chip with its source
    Chip {
        /// A built-in chip or a chip file
        chip: String,
    },
    /// An algorithm
    Algorithm {
        /// Its name
        name: String,
        /// Only this collective
        #[arg(long)]
        collective: Option<String>,
    },
    /// A schedule as text
    Schedule(Box<Scene>),
}

/// What to run, on what, and in which surroundings.
#[derive(Args)]
pub struct Scene {
    /// The collective, such as bcast
    pub collective: String,
    /// A built-in chip or a chip file
    #[arg(long, default_value = "park2019-bus")]
    pub chip: String,
    /// The machine
    #[arg(long, default_value = "sim")]
    pub machine: String,
    /// Number of ranks; `compare` takes a list [default: 8, or all cores if fewer]
    #[arg(long)]
    pub ranks: Option<String>,
    /// The root
    #[arg(long, default_value_t = 0)]
    pub root: u32,
    /// Sizes, such as 64, 8K, 4,64 or 1..1M:x2
    #[arg(long, default_value = "64")]
    pub bytes: String,
    /// Algorithms by name, `all`, or `auto` for the fastest [default: all; explain: auto]
    #[arg(long)]
    pub algorithm: Option<String>,
    /// Size of the parts of pipelined algorithms
    #[arg(long)]
    pub part_bytes: Option<String>,
    /// Size of the pieces in which data are forwarded
    #[arg(long)]
    pub piece_bytes: Option<String>,
    /// Bits per rank of the status register
    #[arg(long)]
    pub status_bits: Option<u32>,
    /// Arity of k-ary trees
    #[arg(long)]
    pub arity: Option<u32>,
    /// A transfer under way at the start (repeatable)
    #[arg(long, value_name = "SRC[:DST]=BYTES")]
    pub ongoing: Vec<String>,
    /// Late arrival in cycles (repeatable), or uniform:CYCLES
    #[arg(long, value_name = "RANK=CYCLES")]
    pub skew: Vec<String>,
    /// Seed of the data and of a uniform skew
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// End a run after this many simulated events
    #[arg(long, value_name = "EVENTS")]
    pub limit_events: Option<u64>,
    /// End a run after this many simulated (on the host: real) nanoseconds
    #[arg(long, value_name = "NS")]
    pub limit_ns: Option<u64>,
    /// Element type of reductions
    #[arg(long, default_value = "u8")]
    pub dtype: String,
    /// Operator of reductions
    #[arg(long, default_value = "sum")]
    pub op: String,
}
