//! What the host knows about the input before the start: how long the run is, where results go,
//! what they must be.

use std::sync::Arc;

use corecast_kernels::jpeg::{self, Header};
use corecast_kernels::picture::Picture;
use corecast_kernels::{fir, words};

use super::{Kind, kind_of, stream};
use crate::graph::{End, Graph};
use crate::program::{FlowProgram, ProgramError};

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Of the picture that is decoded.
    jpeg: Option<Arc<(Header, Picture)>>,
    iterations: Option<u64>,
}

/// What must be in a part of the memory buffer at the end, worked out without the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// What it is compared with, in words.
    pub what: &'static str,
    /// Index of the edge that it comes from.
    pub edge: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Setup {
    pub(crate) fn new(graph: &Graph, input: Option<&[u8]>) -> Result<Self, ProgramError> {
        let mut setup = Self::default();
        for (task, Named { name, kind }) in named(graph) {
            if kind != Some(Kind::Huffman) {
                continue;
            }
            let file = input.ok_or_else(|| ProgramError::NoInput {
                task: name.to_owned(),
            })?;
            let refuse = |error: jpeg::JpegError| ProgramError::Input {
                task: name.to_owned(),
                why: error.to_string(),
            };
            // Decoded here as a whole, which finds all that is wrong with it before anything runs.
            let (header, _) = Header::parse(file).map_err(refuse)?;
            let (picture, _) = jpeg::decode(file).map_err(refuse)?;
            let per_firing: u64 = graph
                .outputs(task)
                .map(|edge| u64::from(graph.edges()[edge].produce))
                .sum();
            let per_iteration = per_firing * graph.firings()[task];
            let iterations = u64::from(header.blocks()).div_ceil(per_iteration);
            let before = setup.iterations.replace(iterations);
            if before.is_some_and(|before| before != iterations) {
                let why =
                    "two decoders of one graph must need as many iterations; give them equal edges";
                return Err(ProgramError::Kernel {
                    task: name.to_owned(),
                    why: why.to_owned(),
                });
            }
            setup.jpeg = Some(Arc::new((header, picture)));
        }
        Ok(setup)
    }

    /// How many iterations the input has, if it says.
    #[must_use]
    pub fn iterations(&self) -> Option<u64> {
        self.iterations
    }

    /// The picture that the file holds, if there is one, as the direct decoder has it.
    #[must_use]
    pub fn picture(&self) -> Option<&Picture> {
        self.jpeg.as_ref().map(|jpeg| &jpeg.1)
    }

    /// The head of the picture's file.
    pub(super) fn header(&self) -> &Header {
        let jpeg = self.jpeg.as_ref();
        &jpeg.expect("a graph with a decoder has a picture").0
    }

    /// Bytes that an edge has in the memory buffer, if a kernel knows better than its rates.
    pub(crate) fn region_bytes(
        &self,
        graph: &Graph,
        edge: usize,
        input: Option<&[u8]>,
    ) -> Option<u64> {
        let edge = &graph.edges()[edge];
        if kind_of(graph, edge.to) == Some(Kind::Huffman) {
            return input.map(|input| input.len() as u64);
        }
        let picture = self
            .picture()
            .filter(|_| kind_of(graph, edge.from) == Some(Kind::Colour))?;
        Some(picture.rgb.len() as u64)
    }

    /// What a kernel likes to have as random input of `bytes` bytes, if it is particular.
    pub(crate) fn random(graph: &Graph, edge: usize, bytes: usize, seed: u64) -> Option<Vec<u8>> {
        let is_signal = kind_of(graph, graph.edges()[edge].to) == Some(Kind::Fir);
        is_signal.then(|| words::to_bytes(&fir::signal(bytes / 4, seed)))
    }

    /// What must be in the memory buffer at the end, as far as it can be told without the graph.
    #[must_use]
    pub fn expected(program: &FlowProgram, flow: u32, memory: &[u8]) -> Vec<Expected> {
        let graph = program.graph();
        let mut all = Vec::new();
        for (index, edge) in graph.edges().iter().enumerate() {
            if edge.to == End::Memory && kind_of(graph, edge.from) == Some(Kind::Colour) {
                all.extend(program.setup().picture().map(|picture| Expected {
                    what: "the picture of the direct decoder",
                    edge: index,
                    bytes: picture.rgb.clone(),
                }));
            }
            if edge.from == End::Memory {
                let input = &memory[program.range(flow, index)];
                let direct = stream::direct(graph, index, input);
                all.extend(direct.map(|(edge, bytes)| Expected {
                    what: "the direct computation",
                    edge,
                    bytes,
                }));
            }
        }
        all
    }
}

struct Named<'a> {
    name: &'a str,
    kind: Option<Kind>,
}

fn named(graph: &Graph) -> impl Iterator<Item = (usize, Named<'_>)> {
    let tasks = graph.tasks().iter().enumerate();
    tasks.map(|(index, task)| {
        let kind = kind_of(graph, End::Task(index));
        (
            index,
            Named {
                name: &task.name,
                kind,
            },
        )
    })
}
