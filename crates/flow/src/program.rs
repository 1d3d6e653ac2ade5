// SPDX-License-Identifier: MIT OR Apache-2.0
//! A graph as a program that tiles run: which task is whom, and where its data lie.
//!
//! ```
//! use corecast_flow::{Buffers, FlowFile, FlowProgram, InputBuffer, Sharing, functional};
//! let file = FlowFile::parse(r#"
//! name = "pair"
//! iterations = 10
//! tasks = { a = { cycles = 100 }, b = { cycles = 200 } }
//! edges = [
//!     { from = "memory", to = "a", bytes = 64 },
//!     { from = "a", to = "b", bytes = 64 },
//!     { from = "b", to = "memory", bytes = 32 },
//! ]
//! "#, "pair.toml").unwrap();
//! let input = InputBuffer { bytes: 512, word_bytes: 4, messages: 32 };
//! let buffers = Buffers { output_bytes: 256, input, sharing: Sharing::Windows };
//! let program = FlowProgram::new(&file, file.flows, None, buffers).unwrap();
//! let run = functional::run(&program, program.tasks(), program.memory()).unwrap();
//! assert_eq!(run.memory.len(), 10 * (64 + 32));
//! ```

mod buffers;
mod error;
mod room;
mod setup;

use std::ops::Range;

use corecast_core::Rank;
use corecast_core::random::drawn;

use room::{NoRoom, Room};

use crate::file::{FlowFile, ITERATIONS_MAX, Input};
use crate::graph::{End, Graph};

pub use buffers::{Buffers, InputBuffer, Sharing};
pub use error::{MEMORY_BYTES_MAX, ProgramError, RUN_FIRINGS_MAX};
pub(crate) use room::WORD;
pub use setup::Setup;

/// A part of the memory buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Where it begins.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

/// See the module's documentation. Task `t` of flow `f` is task `f * n + t` of the machine, with n
/// tasks in the graph.
#[derive(Clone, Debug)]
pub struct FlowProgram {
    graph: Graph,
    flows: u32,
    iterations: u64,
    room: Room,
    /// Of the first flow; none for edges between tasks.
    regions: Vec<Option<Region>>,
    flow_bytes: u64,
    input: Vec<u8>,
    seed: u64,
    setup: Setup,
}

impl FlowProgram {
    /// The program of `flows` instances of a file's graph. `input` is the contents of its input
    /// file, if it has one; blocks larger than a message go in several.
    ///
    /// # Errors
    /// See [`ProgramError`].
    ///
    /// # Panics
    /// If messages have no bytes.
    pub fn new(
        file: &FlowFile,
        flows: u32,
        input: Option<&[u8]>,
        buffers: Buffers,
    ) -> Result<Self, ProgramError> {
        assert!(
            buffers.message_bytes() > 0,
            "a message has room for something"
        );
        let graph = file.graph.clone();
        let seed = match file.input {
            Input::Random(seed) => seed,
            Input::File(_) => 0,
        };
        let setup = Setup::new(&graph, input)?;
        let iterations = match (setup.iterations(), file.iterations) {
            (Some(of_input), Some(iterations)) if of_input != iterations => {
                return Err(ProgramError::OtherIterations {
                    of_input,
                    iterations,
                });
            }
            (of_input, of_file) => of_input.or(of_file).ok_or(ProgramError::NoIterations)?,
        };
        let per_iteration: u64 = graph.firings().iter().sum();
        let firings = per_iteration
            .saturating_mul(iterations)
            .saturating_mul(u64::from(flows));
        if firings > RUN_FIRINGS_MAX || iterations > ITERATIONS_MAX {
            return Err(ProgramError::TooManyFirings { firings });
        }
        let mut regions = Vec::new();
        let mut address = 0_u64;
        for (index, edge) in graph.edges().iter().enumerate() {
            let is_memory = edge.from == End::Memory || edge.to == End::Memory;
            regions.push(is_memory.then(|| {
                let blocks = graph.blocks(index).saturating_mul(iterations);
                let plain = blocks.saturating_mul(u64::from(edge.bytes));
                let bytes = setup.region_bytes(&graph, index, input).unwrap_or(plain);
                let region = Region { address, bytes };
                address = address.saturating_add(bytes);
                region
            }));
        }
        let bytes = address.saturating_mul(u64::from(flows));
        if bytes > MEMORY_BYTES_MAX {
            return Err(ProgramError::TooMuchMemory { bytes });
        }
        let room = Room::plan(&graph, iterations, buffers).map_err(|NoRoom(task)| {
            let InputBuffer {
                bytes, messages, ..
            } = buffers.input;
            ProgramError::NoRoom {
                task: graph.tasks()[task].name.clone(),
                bytes,
                messages,
                enough: Room::enough(&graph, iterations, buffers),
            }
        })?;
        Ok(Self {
            graph,
            flows,
            iterations,
            room,
            regions,
            flow_bytes: address,
            input: input.unwrap_or_default().to_vec(),
            seed,
            setup,
        })
    }

    /// Tasks and edges.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Instances of the graph.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// How often each instance goes through the graph.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Most bytes of a message of an edge between tasks.
    #[must_use]
    pub fn message_bytes(&self, edge: usize) -> usize {
        self.room.message_bytes[edge]
    }

    /// How many messages of an edge may be on their way without acknowledgement; none = any number,
    /// and there are no acknowledgements.
    #[must_use]
    pub fn window(&self, edge: usize) -> Option<u32> {
        self.room.windows[edge]
    }

    /// What kernels know about the input.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Tasks of all flows.
    #[must_use]
    pub fn tasks(&self) -> u32 {
        self.flows * self.graph.tasks().len() as u32 // at most 2^20
    }

    /// The task of the machine that runs `task` of `flow`.
    #[must_use]
    pub fn rank(&self, flow: u32, task: usize) -> Rank {
        Rank(flow * self.graph.tasks().len() as u32 + task as u32)
    }

    /// The name of a task of the machine; with several flows their number, from 1, is part of it.
    #[must_use]
    pub fn task_name(&self, rank: Rank) -> String {
        let tasks = self.graph.tasks();
        let name = &tasks[rank.index() % tasks.len()].name;
        match self.flows {
            1 => name.clone(),
            _ => format!("{name}.{}", rank.index() / tasks.len() + 1),
        }
    }

    /// The part of the memory buffer of an edge that begins or ends there.
    ///
    /// # Panics
    /// If the edge does neither.
    #[must_use]
    pub fn region(&self, flow: u32, edge: usize) -> Region {
        let region = self.regions[edge].expect("an edge at the memory buffer");
        Region {
            address: region.address + u64::from(flow) * self.flow_bytes,
            ..region
        }
    }

    /// Bytes of the memory buffer.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        (self.flow_bytes * u64::from(self.flows)) as usize // at most `MEMORY_BYTES_MAX`
    }

    /// The memory buffer at the start.
    #[must_use]
    pub fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; self.memory_bytes()];
        for flow in 0..self.flows {
            for (index, edge) in self.graph.edges().iter().enumerate() {
                if edge.from != End::Memory {
                    continue;
                }
                let place = &mut memory[self.range(flow, index)];
                match self.input.is_empty() {
                    false => {
                        let bytes = place.len().min(self.input.len());
                        place[..bytes].copy_from_slice(&self.input[..bytes]);
                    }
                    true => self.fill(place, flow, index),
                }
            }
        }
        memory
    }

    /// Where the region of an edge is in the memory buffer.
    #[must_use]
    pub fn range(&self, flow: u32, edge: usize) -> Range<usize> {
        let region = self.region(flow, edge);
        region.address as usize..(region.address + region.bytes) as usize
    }

    /// Where the part of a flow is in the memory buffer.
    pub(crate) fn flow_range(&self, flow: u32) -> Range<usize> {
        let begin = u64::from(flow) * self.flow_bytes;
        begin as usize..(begin + self.flow_bytes) as usize
    }

    /// Random input.
    fn fill(&self, place: &mut [u8], flow: u32, edge: usize) {
        let stream = drawn(self.seed ^ drawn(u64::from(flow) << 32 | edge as u64));
        if let Some(bytes) = Setup::random(&self.graph, edge, place.len(), stream) {
            place.copy_from_slice(&bytes);
            return;
        }
        for (index, chunk) in place.chunks_mut(8).enumerate() {
            let bytes = drawn(stream.wrapping_add(index as u64)).to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}
