// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the host knows about the input before the start: how long the run is, where results go.

use std::sync::Arc;

use corecast_kernels::jpeg::{self, Header};
use corecast_kernels::picture::Picture;
use corecast_kernels::{fir, words};

use crate::graph::{End, Graph, Routine, Task};
use crate::program::error::ProgramError;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Of the picture that is decoded.
    jpeg: Option<Arc<(Header, Picture)>>,
    iterations: Option<u64>,
}

impl Setup {
    pub(crate) fn new(graph: &Graph, input: Option<&[u8]>) -> Result<Self, ProgramError> {
        let mut setup = Self::default();
        for (task, Task { name, .. }) in graph.tasks().iter().enumerate() {
            if graph.routine(End::Task(task)) != Some(Routine::Huffman) {
                continue;
            }
            let file = input.ok_or_else(|| ProgramError::NoInput { task: name.clone() })?;
            let refuse = |error| ProgramError::Input {
                task: name.clone(),
                error,
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
                return Err(ProgramError::OtherDecoder { task: name.clone() });
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
    pub(crate) fn header(&self) -> &Header {
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
        if graph.routine(edge.to) == Some(Routine::Huffman) {
            return input.map(|input| input.len() as u64);
        }
        let picture = self
            .picture()
            .filter(|_| graph.routine(edge.from) == Some(Routine::Colour))?;
        Some(picture.rgb.len() as u64)
    }

    /// What a kernel likes to have as random input of `bytes` bytes, if it is particular.
    pub(crate) fn random(graph: &Graph, edge: usize, bytes: usize, seed: u64) -> Option<Vec<u8>> {
        let is_signal = graph.routine(graph.edges()[edge].to) == Some(Routine::Fir);
        is_signal.then(|| words::to_bytes(&fir::signal(bytes / 4, seed)))
    }
}
