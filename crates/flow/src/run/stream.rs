// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that take and make one block of words per firing: the filter and the custom workload.

use corecast_kernels::fir::{self, FirBlock};
use corecast_kernels::{custom, words};
use corecast_machine::RunError;

use crate::graph::KernelJob;
use crate::ports::Ports;
use crate::tile::Tile;

pub(super) async fn fir<T: Tile>(
    ports: &mut Ports<'_, T>,
    job: &KernelJob,
) -> Result<(), RunError> {
    let taps = job.values[0] as u32; // at most 256
    let mut stages = fir::split(taps, job.stage.1).map_err(|error| ports.refused(error))?;
    let mut stage = stages.swap_remove(job.stage.0 as usize);
    for _ in 0..firings(ports) {
        ports.fire();
        let received = ports.receive(0).await?;
        let block = match job.stage.0 {
            0 => FirBlock::new(&samples(ports, &received)?),
            _ => FirBlock::from_bytes(&received).map_err(|error| ports.refused(error))?,
        };
        let (bytes, work) = if job.is_last() {
            let (sums, work) = stage.finish(&block);
            (words::to_bytes(&sums), work)
        } else {
            let (block, work) = stage.pass(&block);
            (block.to_bytes(), work)
        };
        ports.work(&work).await;
        ports.send(0, &bytes).await?;
        ports.done();
    }
    Ok(())
}

pub(super) async fn custom<T: Tile>(
    ports: &mut Ports<'_, T>,
    job: &KernelJob,
) -> Result<(), RunError> {
    let kernel = custom::Kernel::new(job.values[0] as u32); // at most a million
    for _ in 0..firings(ports) {
        ports.fire();
        let received = ports.receive(0).await?;
        let (block, work) = kernel.block(&samples(ports, &received)?);
        ports.work(&work).await;
        ports.send(0, &words::to_bytes(&block)).await?;
        ports.done();
    }
    Ok(())
}

fn firings<T: Tile>(ports: &Ports<'_, T>) -> u64 {
    let program = ports.program();
    program.graph().firings()[ports.task()] * program.iterations()
}

fn samples<T: Tile>(ports: &Ports<'_, T>, bytes: &[u8]) -> Result<Vec<i32>, RunError> {
    words::from_bytes(bytes).map_err(|error| ports.failed(error))
}
