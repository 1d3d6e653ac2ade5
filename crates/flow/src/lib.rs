// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs: tasks that exchange messages by task id.
//!
//! A task is a rank: which core it runs on is a placement, which the machine knows and the program
//! does not. A program is written once, over [`Tile`]: what a core with hardware message passing
//! offers a task. The simulated NagaM array implements it with timing, threads of the host implement
//! it with bounded queues.
//!
//! ```text
//! flow file -> Graph (rates balance, no cycle waits) -> FlowProgram -> machine -> FlowResult
//!                                     place -> cores ----------------^
//! ```

mod books;
mod expected;
mod file;
pub mod functional;
mod graph;
pub mod place;
mod ports;
mod program;
mod result;
mod run;
mod tile;

pub use books::{CallRecord, TaskBooks, TileCall};
pub use corecast_text::EntryError;
pub use expected::{Expected, expected};
pub use file::{
    Changes, FLOWS_MAX, FileError, FlowFile, ITERATIONS_MAX, Input, PLACEMENTS, Placement,
};
pub use graph::{
    CYCLES_MAX, Cost, Culprit, Edge, End, Firing, Graph, GraphError, KERNELS, Kernel, KernelJob,
    KernelRule, MEMORY, NamedEdge, NamedTask, Parameter, TASKS_MAX, Task, Wiring,
};
pub use ports::Ports;
pub use program::{
    Buffers, FlowProgram, InputBuffer, MEMORY_BYTES_MAX, ProgramError, Region, Setup, Sharing,
};
pub use result::{Check, EdgeResult, FlowResult, Split, TaskResult};
pub use tile::{BufferUse, DataArrival, Peer, TaskProgram, TaskRun, Tile, TileUse};
