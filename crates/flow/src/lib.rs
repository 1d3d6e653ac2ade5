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
mod cost;
mod error;
mod file;
pub mod functional;
mod graph;
pub mod kernel;
pub mod place;
mod ports;
mod program;
mod rates;
mod read;
mod result;
mod room;
mod synthetic;
mod tile;

pub use books::{Call, CallRecord, TaskBooks};
pub use corecast_text::EntryError;
pub use cost::{CYCLES_MAX, Cost};
pub use error::FileError;
pub use file::{Changes, FLOWS_MAX, FlowFile, ITERATIONS_MAX, Input, PLACEMENTS, Placement};
pub use graph::{Edge, End, Graph, GraphError, Job, MEMORY, TASKS_MAX, Task};
pub use ports::Ports;
pub use program::{FlowProgram, MEMORY_BYTES_MAX, ProgramError, Region};
pub use result::{Check, EdgeResult, FlowResult, Split, TaskResult};
pub use room::Buffers;
pub use tile::{Arrival, BufferUse, Place, TaskProgram, TaskRun, Tile, TileUse};
