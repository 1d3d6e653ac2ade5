// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pipelines: operations that a thread block repeats, each time on the next piece of its chunks.
//!
//! How often depends on the size of a chunk, and a schedule has its steps whatever the size. So chunks have
//! the size at which every pipeline takes two turns or more, because what is wrong between one turn and the
//! next would not show in a single one; the schedule is for that size alone.
//!
//! Source: microsoft/mscclpp, `handlePipeline` in `src/core/include/execution_kernel.hpp`: turn `i` takes
//! the bytes from `i * unit_size` on, and there are as many turns as `num_chunks` chunks have units.

use std::cell::Cell;

use super::document::Operation;
use crate::error::Fault;

/// Turns of the pipeline with the longest unit.
const TURNS: u64 = 2;

/// Most turns of a pipeline.
const TURNS_MAX: u64 = 1 << 8;

/// Most pieces of operations that a plan makes out of others: by turns, and by gpus of a switch.
const MADE_MAX: u64 = 1 << 22;

/// Counts those.
#[derive(Default, Debug)]
pub(super) struct Made(Cell<u64>);

impl Made {
    pub(super) fn add(&self, pieces: usize, line: u32) -> Result<(), Fault> {
        let all = self.0.get().saturating_add(pieces as u64);
        self.0.set(all);
        if all > MADE_MAX {
            let wrong =
                format!("turns and gpus of switches make more than {MADE_MAX} pieces up to here");
            return Err(Fault::at(line, wrong, "use fewer turns or smaller groups"));
        }
        Ok(())
    }
}

/// Operations as a plan has them.
#[derive(Debug)]
pub(super) enum Written {
    Once(Operation),
    Pipeline(Pipeline),
}

/// Operations that are repeated.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Bytes that each of its operations takes in a turn.
    pub unit_bytes: u32,
    /// Chunks that it works through.
    pub chunks: u32,
    pub operations: Vec<Operation>,
    pub line: u32,
}

/// Bytes of a chunk at which every pipeline takes whole turns; none if there is no pipeline.
pub(super) fn chunk_bytes<'a>(
    written: impl Iterator<Item = &'a Written>,
) -> Result<Option<u64>, Fault> {
    let mut most = None;
    for written in written {
        let Written::Pipeline(pipeline) = written else {
            continue;
        };
        let (unit, chunks) = (u64::from(pipeline.unit_bytes), u64::from(pipeline.chunks));
        if unit == 0 || chunks == 0 || !(unit * TURNS).is_multiple_of(chunks) {
            let wrong = format!("{chunks} chunks are not worked through in units of {unit} bytes");
            let right = "`unit_size` is a multiple of `num_chunks`, and both are 1 at least";
            return Err(Fault::at(pipeline.line, wrong, right));
        }
        most = most.max(Some(unit * TURNS / chunks));
    }
    Ok(most)
}

/// What is done one after the other, with chunks of so many bytes.
pub(super) fn unrolled(
    written: Vec<Written>,
    chunk_bytes: Option<u64>,
    made: &Made,
) -> Result<Vec<Operation>, Fault> {
    let mut all = Vec::new();
    for written in written {
        match written {
            Written::Once(operation) => all.push(operation),
            Written::Pipeline(pipeline) => {
                let turns = pipeline.turns(chunk_bytes.unwrap_or(0))?;
                for turn in 0..turns {
                    made.add(pipeline.pieces(), pipeline.line)?;
                    let repeated = pipeline.operations.iter().cloned();
                    all.extend(repeated.map(|operation| Operation {
                        share: (turn, turns),
                        ..operation
                    }));
                }
            }
        }
    }
    Ok(all)
}

impl Pipeline {
    /// Its operations and their pieces.
    fn pieces(&self) -> usize {
        let pieces = self.operations.iter();
        let pieces = pieces.map(|operation| 1 + operation.source.len() + operation.target.len());
        pieces.sum()
    }

    /// How often it does what it does.
    fn turns(&self, chunk_bytes: u64) -> Result<u32, Fault> {
        for operation in &self.operations {
            let mut pieces = operation.source.iter().chain(&operation.target);
            if let Some(piece) = pieces.find(|piece| piece.size != self.chunks) {
                let wrong = format!(
                    "a piece of {} chunks in a pipeline that works through {}",
                    piece.size, self.chunks
                );
                let right = "pieces of a pipeline have `num_chunks` chunks";
                return Err(Fault::at(piece.line, wrong, right));
            }
        }
        let (bytes, unit) = (
            chunk_bytes * u64::from(self.chunks),
            u64::from(self.unit_bytes),
        );
        let turns = bytes / unit;
        if !bytes.is_multiple_of(unit) || turns > TURNS_MAX {
            let wrong = format!(
                "this pipeline works through {bytes} bytes in units of {unit}, while another takes \
                 {TURNS} turns"
            );
            let right = format!(
                "units of pipelines divide those of the longest, and a pipeline takes at most \
                 {TURNS_MAX} turns then"
            );
            return Err(Fault::at(self.line, wrong, right));
        }
        Ok(turns as u32)
    }
}
