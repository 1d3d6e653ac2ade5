// SPDX-License-Identifier: MIT OR Apache-2.0
//! A task's view of its edges.
//!
//! The hardware knows tasks and messages; programs of tasks speak of their input and output edges in
//! the order of the graph. A port turns one into the other, cuts blocks that are larger than a
//! message, finds the place in the memory buffer, and notes when what happened.

use corecast_core::{Help, Rank};
use corecast_kernels::Work;
use corecast_machine::{RunError, Time};

use crate::books::{CallRecord, TaskBooks, TileCall};
use crate::graph::{Edge, End};
use crate::program::{FlowProgram, WORD};
use crate::tile::Tile;

/// See the module's documentation.
pub struct Ports<'a, T> {
    tile: &'a mut T,
    program: &'a FlowProgram,
    flow: u32,
    task: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Bytes already read or written of each edge at the memory buffer, by index of the edge.
    used: Vec<u64>,
    /// Messages of each output edge that are not acknowledged, by index of the edge.
    open: Vec<u32>,
    books: TaskBooks,
}

impl<'a, T: Tile> Ports<'a, T> {
    pub(crate) fn new(tile: &'a mut T, program: &'a FlowProgram) -> Self {
        let graph = program.graph();
        let tasks = graph.tasks().len() as u32;
        let (flow, task) = (tile.task().0 / tasks, (tile.task().0 % tasks) as usize);
        Self {
            inputs: graph.inputs(task).collect(),
            outputs: graph.outputs(task).collect(),
            used: vec![0; graph.edges().len()],
            open: vec![0; graph.edges().len()],
            tile,
            program,
            flow,
            task,
            books: TaskBooks::default(),
        }
    }

    /// The program that the task belongs to.
    #[must_use]
    pub fn program(&self) -> &'a FlowProgram {
        self.program
    }

    /// Index of the flow.
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Index of the task in the graph.
    #[must_use]
    pub fn task(&self) -> usize {
        self.task
    }

    /// Edges into the task.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Edges out of the task.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The input edge number `input`.
    #[must_use]
    pub fn input(&self, input: usize) -> &'a Edge {
        &self.program.graph().edges()[self.inputs[input]]
    }

    /// The output edge number `output`.
    #[must_use]
    pub fn output(&self, output: usize) -> &'a Edge {
        &self.program.graph().edges()[self.outputs[output]]
    }

    pub(crate) fn into_books(self) -> TaskBooks {
        self.books
    }

    /// Notes that a firing begins.
    pub fn fire(&mut self) {
        self.books.firings.push(self.tile.now());
    }

    /// Notes that the firing is over.
    pub fn done(&mut self) {
        self.books.ends.push(self.tile.now());
    }

    /// The next block of an input.
    ///
    /// # Errors
    /// Those of the tile.
    pub async fn receive(&mut self, input: usize) -> Result<Vec<u8>, RunError> {
        let index = self.inputs[input];
        let edge = self.input(input);
        match edge.from {
            End::Memory => self.read(input, u64::from(edge.bytes)).await,
            End::Task(from) => {
                let from = self.program.rank(self.flow, from);
                let mut block = Vec::with_capacity(edge.bytes as usize);
                while block.len() < edge.bytes as usize {
                    let left = edge.bytes as usize - block.len();
                    let bytes = left.min(self.program.message_bytes(index));
                    let start = self.tile.now();
                    block.extend(self.tile.receive(from, bytes).await?);
                    if self.program.window(index).is_some() {
                        self.tile.send(from, &[0; WORD]).await?;
                    }
                    self.note(TileCall::Receive, index, bytes, bytes == left, start);
                }
                Ok(block)
            }
        }
    }

    /// Sends the next block of an output, which must have the size of its edge, or writes it behind
    /// the earlier ones.
    ///
    /// # Errors
    /// Those of the tile.
    ///
    /// # Panics
    /// If a message has another size than its edge.
    pub async fn send(&mut self, output: usize, block: &[u8]) -> Result<(), RunError> {
        let index = self.outputs[output];
        let edge = self.output(output);
        match edge.to {
            End::Memory => {
                let offset = self.used[index];
                self.write(output, offset, block).await
            }
            End::Task(to) => {
                assert_eq!(block.len(), edge.bytes as usize, "the block of its edge");
                let to = self.program.rank(self.flow, to);
                let mut left = block.len();
                for message in block.chunks(self.program.message_bytes(index)) {
                    left -= message.len();
                    let start = self.tile.now();
                    if self.program.window(index) == Some(self.open[index]) {
                        self.tile.receive(to, WORD).await?;
                        self.open[index] -= 1;
                    }
                    self.tile.send(to, message).await?;
                    self.open[index] += u32::from(self.program.window(index).is_some());
                    self.note(TileCall::Send, index, message.len(), left == 0, start);
                }
                Ok(())
            }
        }
    }

    /// Takes the acknowledgements that are still to come.
    pub(crate) async fn close(&mut self) -> Result<(), RunError> {
        for index in self.outputs.clone() {
            let Some(to) = self.program.graph().edges()[index].to.task() else {
                continue;
            };
            for _ in 0..std::mem::take(&mut self.open[index]) {
                self.tile
                    .receive(self.program.rank(self.flow, to), WORD)
                    .await?;
            }
        }
        Ok(())
    }

    /// Reads up to `bytes` of what is left of an input from the memory buffer; nothing at its end.
    ///
    /// # Errors
    /// Those of the tile.
    pub async fn read(&mut self, input: usize, bytes: u64) -> Result<Vec<u8>, RunError> {
        let index = self.inputs[input];
        let region = self.program.region(self.flow, index);
        let bytes = bytes.min(region.bytes - self.used[index]) as usize;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let start = self.tile.now();
        let data = self
            .tile
            .read(region.address + self.used[index], bytes)
            .await?;
        self.used[index] += bytes as u64;
        self.note(TileCall::Read, index, bytes, true, start);
        Ok(data)
    }

    /// Writes to an output at the memory buffer, `offset` bytes from its begin.
    ///
    /// # Errors
    /// Those of the tile; a write beyond the output's part of the buffer.
    pub async fn write(&mut self, output: usize, offset: u64, data: &[u8]) -> Result<(), RunError> {
        let index = self.outputs[output];
        let region = self.program.region(self.flow, index);
        let end = offset + data.len() as u64;
        if end > region.bytes {
            let why = format!("it writes {end} bytes of {}", region.bytes);
            return Err(self.failed(why));
        }
        let start = self.tile.now();
        self.tile.write(region.address + offset, data).await?;
        self.used[index] = self.used[index].max(end);
        self.note(TileCall::Write, index, data.len(), true, start);
        Ok(())
    }

    /// Spends the time of a computation.
    pub async fn work(&mut self, work: &Work) {
        self.tile.work(work).await;
    }

    /// Computes for `cycles` cycles.
    pub async fn compute(&mut self, cycles: u64) {
        self.tile.compute(cycles).await;
    }

    /// The failure of this task, for an error that knows what would be right.
    #[must_use]
    pub fn refused(&self, error: impl Help) -> RunError {
        self.failed_with(&error, error.help())
    }

    /// The failure of this task, for `reason`.
    #[must_use]
    pub fn failed(&self, reason: impl std::fmt::Display) -> RunError {
        self.failed_with(reason, String::new())
    }

    fn failed_with(&self, reason: impl std::fmt::Display, help: String) -> RunError {
        let name = &self.program.graph().tasks()[self.task].name;
        RunError::RankFailed {
            rank: self.rank(),
            reason: format!("task `{name}`: {reason}"),
            help,
        }
    }

    fn rank(&self) -> Rank {
        self.program.rank(self.flow, self.task)
    }

    fn note(&mut self, call: TileCall, edge: usize, bytes: usize, is_last: bool, start: Time) {
        self.books.calls.push(CallRecord {
            call,
            edge: edge as u32,
            bytes: bytes as u32, // a block has at most `BLOCK_BYTES_MAX`
            is_last,
            start,
            end: self.tile.now(),
        });
    }
}
