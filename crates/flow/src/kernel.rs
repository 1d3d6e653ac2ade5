//! The built-in kernels, in one list: what a task can compute besides costing time.
//!
//! Each is a program over a task's [`Ports`]; the computations themselves are in
//! `corecast-kernels`. What a task has to know about the input before it starts (size of the
//! picture, tables, taps) is part of its program, which the host loads into its tile; only the
//! Huffman decoder reads the head of the file itself, since it reads the file.
//!
//! ```
//! assert!(corecast_flow::kernel::ALL.iter().any(|kernel| kernel.name == "jpeg-idct"));
//! ```

mod jpeg;
mod setup;
mod stream;

use corecast_machine::RunError;

use crate::graph::{End, Graph, GraphError, Job};
use crate::ports::Ports;
use crate::tile::Tile;

pub use setup::{Expected, Setup};

/// A kernel that tasks can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name in flow files.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its numbers.
    pub parameters: &'static [Parameter],
    /// Whether stages share one work, so that a single one does all of it.
    pub is_shared: bool,
    pub(crate) kind: Kind,
}

/// A number of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its key in flow files.
    pub name: &'static str,
    /// The lowest value.
    pub min: u64,
    /// The highest value.
    pub max: u64,
    /// The value if the key is not there.
    pub default: u64,
}

/// Which program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Huffman,
    Idct,
    Colour,
    Fir,
    Custom,
}

/// Every kernel.
pub const ALL: [&Kernel; 5] = [
    &Kernel {
        name: "jpeg-huffman",
        summary: "Huffman decoding of a JPEG file; blocks go to the outputs in turn",
        parameters: &[],
        is_shared: false,
        kind: Kind::Huffman,
    },
    &Kernel {
        name: "jpeg-idct",
        summary: "inverse cosine transform of blocks of coefficients; looks for zeros only if told to",
        // A core with fast multiplication and slow branches is better off without, as the IJG code
        // says of its NO_ZERO_ROW_TEST.
        parameters: &[Parameter {
            name: "short_cuts",
            min: 0,
            max: 1,
            default: 0,
        }],
        is_shared: false,
        kind: Kind::Idct,
    },
    &Kernel {
        name: "jpeg-colour",
        summary: "colour conversion; blocks come from the inputs in turn, the picture goes to memory",
        parameters: &[],
        is_shared: false,
        kind: Kind::Colour,
    },
    &Kernel {
        name: "fir",
        summary: "moving average of samples of 32 bits; its stages share the taps",
        parameters: &[Parameter {
            name: "taps",
            min: 1,
            max: 256,
            default: 16,
        }],
        is_shared: true,
        kind: Kind::Fir,
    },
    &Kernel {
        name: "custom",
        summary: "so many rounds of a random number generator on every word of 32 bits",
        parameters: &[Parameter {
            name: "rounds",
            min: 1,
            max: 1_000_000,
            default: 16,
        }],
        is_shared: false,
        kind: Kind::Custom,
    },
];

/// A kernel with its numbers, as one task runs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelJob {
    /// Which kernel.
    pub kernel: &'static Kernel,
    /// The values of its parameters, in their order.
    pub values: Vec<u64>,
    /// Which stage of how many this task is, the first being 0.
    pub stage: (u32, u32),
}

impl KernelJob {
    /// Whether the task is the last of its stages.
    pub(crate) fn is_last(&self) -> bool {
        self.stage.0 + 1 == self.stage.1
    }

    /// Checks the edges of `task`, which has this job.
    pub(crate) fn check(&self, graph: &Graph, task: usize) -> Result<(), GraphError> {
        let outputs_max = if self.kernel.kind == Kind::Huffman {
            OUTPUTS_MAX
        } else {
            1
        };
        let inputs_max = if self.kernel.kind == Kind::Colour {
            OUTPUTS_MAX
        } else {
            1
        };
        let (inputs, outputs) = (graph.inputs(task).count(), graph.outputs(task).count());
        let is_right = (1..=inputs_max).contains(&inputs) && (1..=outputs_max).contains(&outputs);
        if !is_right {
            let words = |count: usize, what: &str| match count {
                1 => format!("1 {what}"),
                OUTPUTS_MAX => format!("1 to {OUTPUTS_MAX} {what}s"),
                _ => format!("{count} {what}s"),
            };
            return Err(GraphError::Ports {
                task: graph.tasks()[task].name.clone(),
                kernel: self.kernel.name,
                accepted: words(inputs_max, "input") + " and " + &words(outputs_max, "output"),
                found: format!("{inputs} and {outputs}"),
            });
        }
        match self.kernel.kind {
            Kind::Huffman | Kind::Idct | Kind::Colour => jpeg::check(graph, task, self.kernel.kind),
            Kind::Fir | Kind::Custom => stream::check(graph, task, self),
        }
    }

    pub(crate) async fn run<T: Tile>(&self, ports: &mut Ports<'_, T>) -> Result<(), RunError> {
        match self.kernel.kind {
            Kind::Huffman => jpeg::huffman(ports).await,
            Kind::Idct => jpeg::idct(ports, self.values[0] == 1).await,
            Kind::Colour => jpeg::colour(ports).await,
            Kind::Fir => stream::fir(ports, self).await,
            Kind::Custom => stream::custom(ports, self).await,
        }
    }
}

/// Most tasks that share the transform of a picture.
const OUTPUTS_MAX: usize = 16;

/// The kind of the kernel of an edge's end, if it has one.
fn kind_of(graph: &Graph, end: End) -> Option<Kind> {
    match &graph.tasks()[end.task()?].job {
        Job::Kernel(job) => Some(job.kernel.kind),
        Job::Cost(_) => None,
    }
}

/// An edge of a kernel that is not as it must be.
fn refused(graph: &Graph, index: usize, why: impl Into<String>) -> GraphError {
    let (edge, why) = (graph.edge_name(index), why.into());
    GraphError::KernelEdge { edge, index, why }
}
