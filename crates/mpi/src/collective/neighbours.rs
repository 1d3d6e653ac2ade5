// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank does in a call to neighbours, which programs make again and again: the program of the time
//! before is kept.

use std::sync::Arc;

use super::again::plain_bytes;
use super::call::{Call, RunningCall};
use super::program::{Program, Region, Span};
use super::programs;
use super::run::{Buffers, Run};
use super::side::{Cut, Ready, Side};
use super::state::{KnownMeeting, Meeting, Met};
use crate::buffer::{is_nowhere, meet};
use crate::error::Result;
use crate::handle::CommId;
use crate::process::Process;

impl Meeting {
    /// The call that the communicator made the last time, if it is this one, and its buffers are in order:
    /// arguments and neighbours were looked at then.
    ///
    /// # Safety
    /// The promise of [`crate::Buffer`] holds for the buffers.
    pub unsafe fn again(
        &self,
        process: &mut Process,
        comm: CommId,
        buffers: Buffers,
    ) -> Option<Run> {
        let met = process.comms.get(comm)?.collectives.neighbours.as_ref()?;
        let known = met.known.filter(|known| known.meeting == *self)?;
        let (send, recv) = (buffers.send.addr(), buffers.recv.addr());
        let is_somewhere = !is_nowhere(buffers.send) && !is_nowhere(buffers.recv);
        if !is_somewhere || meet(send..send + known.bytes.0, recv..recv + known.bytes.1) {
            return None;
        }
        let program = Arc::clone(&met.program);
        let channel = process.next_collective(comm, self.name).ok()?;
        // SAFETY: the caller's promise, for the same bytes as of the call that the program was made for.
        Some(unsafe { Run::new(program, channel, buffers, None) })
    }

    /// The call, made by its arguments; what can be kept of it is kept.
    ///
    /// # Errors
    /// What is wrong with its arguments.
    pub fn begin(&self, process: &mut Process, call: &Call) -> Result<RunningCall> {
        let job = call.job_now(process)?;
        // The handle of a datatype that is derived may be that of another some time.
        let is_lasting = self.send.1.is_predefined() && self.recv.1.is_predefined();
        let bytes = call.send.as_ref().and_then(plain_bytes);
        let bytes = bytes.zip(call.recv.as_ref().and_then(plain_bytes));
        let state = &mut process.comm_mut(call.comm)?.collectives;
        if let Some(met) = &mut state.neighbours {
            let bytes = bytes.filter(|_| is_lasting && !state.settings.checks);
            met.known = bytes.map(|bytes| KnownMeeting {
                meeting: *self,
                bytes,
            });
        }
        Ok(job)
    }
}

impl Call {
    /// The program of a call to neighbours.
    pub(super) fn meet(
        &self,
        process: &mut Process,
        sources: &[Option<u32>],
        destinations: &[Option<u32>],
        is_grid: bool,
        (send, recv): (&Ready, &Ready),
    ) -> Result<Arc<Program>> {
        let comm = process.comm(self.comm)?;
        let blocks = blocks(&self.send)?.zip(blocks(&self.recv)?);
        let blocks = blocks.map(|(send, recv)| [send, recv]);
        if let Some(met) = &comm.collectives.neighbours
            && Some(met.blocks) == blocks
            && met.is_grid == is_grid
            && met.sources == sources
            && met.destinations == destinations
        {
            return Ok(Arc::clone(&met.program));
        }
        // Nobody of another group is this rank.
        let own = comm.remote.is_none().then_some(comm.rank);
        let mut sends = blocks_of(Region::Send, send, &self.send, destinations)?;
        if is_grid {
            sends.sort_by_key(|&(index, _, _)| index ^ 1);
        }
        let recvs = blocks_of(Region::Recv, recv, &self.recv, sources)?;
        let (sends, recvs) = (without_index(sends), without_index(recvs));
        let program = Arc::new(programs::neighbours(&sends, &recvs, own));
        if let Some(blocks) = blocks {
            process.comm_mut(self.comm)?.collectives.neighbours = Some(Met {
                sources: sources.to_vec(),
                destinations: destinations.to_vec(),
                is_grid,
                blocks,
                program: Arc::clone(&program),
                known: None,
            });
        }
        Ok(program)
    }
}

/// Bytes of the blocks of a side, if they have one length, and whether there is but one.
fn blocks(side: &Option<Side>) -> Result<Option<(usize, bool)>> {
    match side {
        Some(side) => match side.cut {
            Cut::Even { blocks, .. } => Ok(Some((side.bytes()?, blocks == 1))),
            Cut::Table(_) => Ok(None),
        },
        None => Ok(None),
    }
}

/// The blocks that go to or come from neighbours.
fn blocks_of(
    region: Region,
    ready: &Ready,
    side: &Option<Side>,
    peers: &[Option<u32>],
) -> Result<Vec<(usize, u32, Span)>> {
    let Some(side) = side else {
        return Ok(Vec::new());
    };
    let even = side.bytes()?;
    let is_one = matches!(side.cut, Cut::Even { blocks: 1, .. });
    let span = |index: usize| match &ready.table {
        Some(table) => Span::new(region, table[index].0, table[index].1),
        None if is_one => Span::new(region, 0, even),
        None => Span::new(region, index * even, even),
    };
    let all = peers.iter().enumerate();
    Ok(all
        .filter_map(|(index, peer)| Some((index, (*peer)?, span(index))))
        .collect())
}

fn without_index(blocks: Vec<(usize, u32, Span)>) -> Vec<(u32, Span)> {
    let blocks = blocks.into_iter();
    blocks.map(|(_, peer, span)| (peer, span)).collect()
}
