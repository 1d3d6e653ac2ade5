//! Dataflow programs: tasks that exchange messages by task id.
//!
//! A task is a rank: which core it runs on is a placement, which the machine knows and the program
//! does not. A program is written once, over [`Tile`]: what a core with hardware message passing
//! offers a task. The simulated NagaM array implements it with timing, threads of the host implement
//! it with bounded queues.

mod tile;

pub use tile::{Arrival, BufferUse, Place, TaskProgram, TaskRun, Tile, TileUse};
