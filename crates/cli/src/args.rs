//! The arguments, as clap reads them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Message passing and collective communication for many-core chips.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// List what there is, one line each
    List {
        /// What to list.
        what: Listed,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one chip, algorithm or schedule in full
    Show {
        /// What to show.
        #[command(subcommand)]
        what: Shown,
    },
    /// Run one collective and rank the algorithms
    Run {
        #[command(flatten)]
        collective: CollectiveArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print the certificate of each algorithm's schedule
    Verify {
        #[command(flatten)]
        collective: CollectiveArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say where the time went: causes per rank, critical path, gap to the bound
    Explain {
        #[command(flatten)]
        collective: CollectiveArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Compare published numbers with ours
    Reproduce {
        /// chung2011 or park2019; default: all
        paper: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// The fastest broadcast for every rank count and size on a built-in chip
    Winners {
        /// Name of the chip
        #[arg(long, default_value = "park2019-bus")]
        chip: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Measure the speed of the tool itself
    Bench {
        /// What to measure.
        what: Benchmark,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Lists.
#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Built-in chips.
    Chips,
    /// Algorithms of every collective.
    Algorithms,
    /// Machines.
    Machines,
}

/// Benchmarks.
#[derive(Clone, Copy, ValueEnum)]
pub enum Benchmark {
    /// Broadcasts on the 32-core bus chip.
    Simulator,
}

/// Things to show.
#[derive(Subcommand)]
pub enum Shown {
    /// Every parameter of a chip with unit, kind and source
    Chip {
        /// Name of a built-in chip, or path of a chip file.
        chip: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// What an algorithm does, costs and requires
    Algorithm {
        /// Name of the algorithm.
        name: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// The steps of every rank
    Schedule {
        #[command(flatten)]
        collective: CollectiveArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Where results go.
#[derive(Args)]
pub struct OutputArgs {
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write the result to a file
    #[arg(short = 'o', value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Reduction operators.
#[derive(Clone, Copy, ValueEnum)]
pub enum OpName {
    /// Sum.
    Sum,
    /// Product.
    Prod,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

/// Element types.
#[derive(Clone, Copy, ValueEnum)]
pub enum ElementName {
    /// Unsigned byte.
    U8,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
}

/// One collective on one chip.
#[derive(Args)]
pub struct CollectiveArgs {
    /// The collective, such as bcast or allreduce
    pub collective: String,
    /// Name of a built-in chip, or path of a chip file
    #[arg(long, default_value = "park2019-bus")]
    pub chip: String,
    /// Number of ranks; default 8, or all cores of a smaller chip
    #[arg(long)]
    pub ranks: Option<u32>,
    /// The root rank of a rooted collective
    #[arg(long, default_value_t = 0)]
    pub root: u32,
    /// Sizes in bytes: 64, 8K, 4,64,1K, 1..1M:x2, 0..64:+16
    #[arg(long, default_value = "64", value_name = "SIZES")]
    pub bytes: String,
    /// Algorithms, separated by commas; all; or auto for the fastest
    #[arg(long)]
    pub algorithm: Option<String>,
    /// Part size of pipelined algorithms
    #[arg(long, value_name = "SIZE")]
    pub part_bytes: Option<String>,
    /// Size of the pieces in which a Forward passes data on
    #[arg(long, value_name = "SIZE")]
    pub piece_bytes: Option<String>,
    /// Bits per rank of the status register
    #[arg(long, default_value_t = 2)]
    pub status_bits: u32,
    /// Arity of k-ary trees
    #[arg(long, default_value_t = 3)]
    pub arity: u32,
    /// A transfer already under way at the start: SRC[:DST]=BYTES; repeatable
    #[arg(long, value_name = "SRC[:DST]=BYTES")]
    pub ongoing: Vec<String>,
    /// Late arrival: RANK=CYCLES (repeatable), or uniform:CYCLES drawn with --seed
    #[arg(long, value_name = "RANK=CYCLES")]
    pub skew: Vec<String>,
    /// Seed of input data and random skew
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Element type of reductions
    #[arg(long, value_enum, default_value = "u8")]
    pub dtype: ElementName,
    /// Operator of reductions
    #[arg(long, value_enum, default_value = "sum")]
    pub op: OpName,
}
