// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a task sees of its core.

use corecast_core::Rank;
use corecast_kernels::Work;
use corecast_machine::{ProgramRun, RunError, Time};

/// A core that runs one task. Calls take effect in program order.
///
/// The four calls that move data are those of Kumar 2012, Table I, with values in place of
/// addresses of local memory.
#[allow(
    async_fn_in_trait,
    reason = "tiles are used generically, never as trait objects"
)]
pub trait Tile {
    /// The task on this core.
    fn task(&self) -> Rank;

    /// Number of tasks.
    fn tasks(&self) -> u32;

    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// Spends the time that `work` takes on this core; on real cores none, since the work has been
    /// done.
    async fn work(&mut self, work: &Work);

    /// Computes for `cycles` cycles of the core's clock; real cores spend as much wall-clock time
    /// as the machine's options say.
    async fn compute(&mut self, cycles: u64);

    /// `MP_send`: hands a message to the hardware. Returns when it is out of local memory, which
    /// takes as long as the output buffer has no room.
    ///
    /// # Errors
    /// The task does not exist, the message can never fit, or the run's limits.
    async fn send(&mut self, to: Rank, message: &[u8]) -> Result<(), RunError>;

    /// `MP_receive`: the oldest message of `from`, which must have `bytes` bytes.
    ///
    /// # Errors
    /// The task does not exist, the message has another size, or the run's limits.
    async fn receive(&mut self, from: Rank, bytes: usize) -> Result<Vec<u8>, RunError>;

    /// `MP_mread`: reads the external memory buffer.
    ///
    /// # Errors
    /// The bytes lie beyond the buffer, or the run's limits.
    async fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError>;

    /// `MP_mwrite`: writes the external memory buffer.
    ///
    /// # Errors
    /// The bytes lie beyond the buffer, or the run's limits.
    async fn write(&mut self, address: u64, data: &[u8]) -> Result<(), RunError>;
}

/// A program of all tasks; each runs it on its own tile.
#[allow(
    async_fn_in_trait,
    reason = "programs are used generically, never as trait objects"
)]
pub trait TaskProgram: Sync {
    /// What a task returns.
    type Output: Send;

    /// Runs one task. The machine waits afterwards until all it has sent is out of its hands.
    ///
    /// # Errors
    /// Those of its calls; the first of any task ends the run.
    async fn run<T: Tile>(&self, tile: &mut T) -> Result<Self::Output, RunError>;
}

/// Where data come from and go to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Peer {
    /// A task.
    Task(Rank),
    /// The external memory buffer.
    Memory,
}

/// Data that have arrived: a message, or what one call has read from or written to the external
/// memory buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataArrival {
    /// Where they come from.
    pub from: Peer,
    /// Where they have gone.
    pub to: Peer,
    /// How many bytes.
    pub bytes: u64,
    /// When the call that moves them began: that of the sender, or of the task that reads or writes.
    pub posted: Time,
    /// When the last word arrived: in the buffer of the receiver, in the memory, or in the local
    /// memory of the task that reads.
    pub time: Time,
}

/// How much of one message passing buffer was in use, from the start to the end of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BufferUse {
    /// Its capacity in words.
    pub words: u64,
    /// Words in use or reserved on average over time.
    pub mean_words: f64,
    /// Most words in use or reserved at once.
    pub max_words: u64,
}

/// The buffers of one core's tile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileUse {
    /// The core.
    pub core: u32,
    /// For messages that arrive.
    pub input: BufferUse,
    /// For messages that leave.
    pub output: BufferUse,
}

/// What running the tasks gave.
#[derive(Clone, Debug)]
pub struct TaskRun<T> {
    /// Outputs, times, causes, messages and links, a rank being a task. Causes fill the time of every
    /// task up to the end of the last one.
    pub run: ProgramRun<T>,
    /// The external memory buffer at the end, up to the last byte that was given or written.
    pub memory: Vec<u8>,
    /// Everything that has arrived, in order of time.
    pub arrivals: Vec<DataArrival>,
    /// The buffers of every core that can run a task; empty on machines without such.
    pub buffers: Vec<TileUse>,
}
