// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores with message passing buffers on a mesh, and the RCCE libraries on them.
//!
//! What a core does, it does line by line and waits for each: its time is the sum over the lines it
//! touches, of private memory through its caches, of buffers over the mesh. What many share (links,
//! ports of buffers, memory controllers) limits the throughput of all together
//! ([`corecast_sim::memory::Server`]). Flags are polled, at the pace of the polling loop.
//!
//! Not modelled: that lines of buffers pass through the first-level cache and drive out private
//! ones.

#[cfg(test)]
mod bench;
mod copy;
mod core;
mod one_sided;
mod order;
mod others;
mod pieces;
mod plan;
mod program;
mod shared;
mod steps;
mod tile;

use std::rc::Rc;

use corecast_chip::{Memory, Mesh, Rcce};
use corecast_machine::{ProgramRun, RunError, RunOptions, Time};
use corecast_rcce::{MpbCourier, slot_bytes};
use corecast_sim::Executor;

use crate::ranks::{OnChip, SimCourier, execute};
use core::SimCore;
use steps::RcceSteps;
use tile::Tiles;

/// Bytes of a message of a program that its sender's buffer holds at once, beside slots for so many cores.
#[must_use]
pub fn part_bytes(memory: &Memory, rcce: &Rcce, cores: u32) -> u64 {
    let payload = rcce.payload_bytes(cores, memory.line_bytes);
    let slot = slot_bytes(usize::try_from(payload).unwrap_or(usize::MAX), cores);
    payload.saturating_sub(u64::from(cores) * slot as u64)
}

impl SimCourier for MpbCourier<SimCore> {
    async fn begin(&mut self, late: Time) -> Result<(), RunError> {
        let core = self.core();
        core.compute_until(late).await;
        core.await_own_port().await;
        self.check()
    }
}

/// Runs what `on` says on cores with message passing buffers.
pub(crate) fn run<'a, T: OnChip + 'a>(
    chip: (&str, &Mesh, &Memory, &Rcce),
    executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    let tiles = Rc::new(Tiles::new(chip, executor.kernel(), ranks, options));
    let steps = |rank| RcceSteps::new(Rc::clone(&tiles), rank);
    let courier = |rank| MpbCourier::new(SimCore::new(Rc::clone(&tiles), rank));
    let rank = (steps, courier);
    let mut run = execute(executor, on, rank, ranks, options, &tiles.books)?;
    run.links = tiles.link_uses();
    run.holds = tiles.books.take_holds();
    run.background = tiles.background_used();
    Ok(run)
}
