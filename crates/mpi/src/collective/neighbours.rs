// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank does in a call to neighbours, which programs make again and again: the program of the time
//! before is kept.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::call::Call;
use super::program::{Program, Region, Span};
use super::programs;
use super::side::{Cut, Ready, Side};
use super::state::Met;
use crate::error::Result;
use crate::process::Process;

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
