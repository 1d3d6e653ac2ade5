// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow program on tiles: what a task does with its ports.
//!
//! Apart from [`FlowProgram`], which is a value that machines, mappers and results read.

mod jpeg;
mod stream;
mod synthetic;

use corecast_machine::RunError;

use crate::books::TaskBooks;
use crate::graph::{Firing, KernelJob, Routine};
use crate::ports::Ports;
use crate::program::FlowProgram;
use crate::tile::{TaskProgram, Tile};

impl TaskProgram for FlowProgram {
    type Output = TaskBooks;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<TaskBooks, RunError> {
        let mut ports = Ports::new(tile, self);
        for output in 0..ports.outputs() {
            let edge = ports.output(output);
            for _ in 0..edge.initial {
                ports.send(output, &vec![0; edge.bytes as usize]).await?;
            }
        }
        match &self.graph().tasks()[ports.task()].job {
            Firing::Cost(cost) => synthetic::run(&mut ports, cost).await?,
            Firing::Kernel(job) => kernel(&mut ports, job).await?,
        }
        // What was there at the start is there again at the end; nobody else would take it.
        for input in 0..ports.inputs() {
            for _ in 0..ports.input(input).initial {
                ports.receive(input).await?;
            }
        }
        ports.close().await?;
        Ok(ports.into_books())
    }
}

async fn kernel<T: Tile>(ports: &mut Ports<'_, T>, job: &KernelJob) -> Result<(), RunError> {
    match job.kernel.routine {
        Routine::Huffman => jpeg::huffman(ports).await,
        Routine::Idct => jpeg::idct(ports, job.values[0] == 1).await,
        Routine::Colour => jpeg::colour(ports).await,
        Routine::Fir => stream::fir(ports, job).await,
        Routine::Custom => stream::custom(ports, job).await,
    }
}
