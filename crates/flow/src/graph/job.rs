// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a task does when it fires: it costs time, or runs a kernel of the list [`KERNELS`].
//!
//! Here is what a flow file can say about kernels. Which edges each accepts is in
//! `graph/kernel_edges.rs`,
//! its program over a task's ports in `run.rs`; the computations themselves are in
//! `corecast-kernels`.
//!
//! ```
//! assert!(corecast_flow::KERNELS.iter().any(|kernel| kernel.name == "jpeg-idct"));
//! ```

use crate::graph::cost::Cost;

/// What a task does when it fires.
#[derive(Clone, PartialEq, Debug)]
pub enum Firing {
    /// It computes for so long; what it sends depends on all that it has received, so that every
    /// lost, doubled or exchanged block shows in the results.
    Cost(Cost),
    /// A real computation.
    Kernel(KernelJob),
}

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
    pub(crate) routine: Routine,
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
pub(crate) enum Routine {
    Huffman,
    Idct,
    Colour,
    Fir,
    Custom,
}

/// Every kernel.
pub const KERNELS: [&Kernel; 5] = [
    &Kernel {
        name: "jpeg-huffman",
        summary: "Huffman decoding of a JPEG file; blocks go to the outputs in turn",
        parameters: &[],
        is_shared: false,
        routine: Routine::Huffman,
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
        routine: Routine::Idct,
    },
    &Kernel {
        name: "jpeg-colour",
        summary: "colour conversion; blocks come from the inputs in turn, the picture goes to memory",
        parameters: &[],
        is_shared: false,
        routine: Routine::Colour,
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
        routine: Routine::Fir,
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
        routine: Routine::Custom,
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
}
