// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank does in a call to neighbours, which programs make again and again: the program of the time
//! before is kept.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::call::{Call, Wanted};
use super::program::{Program, Region, Span};
use super::programs;
use super::side::{Cut, Ready, Side};
use crate::error::Result;
use crate::process::Process;

/// A call to neighbours whose blocks have one length, and what was done.
#[derive(Debug)]
pub struct Met {
    wanted: Wanted,
    send: Blocks,
    recv: Blocks,
    program: Arc<Program>,
}

/// Bytes of a block, and whether there is but one, which goes to all.
type Blocks = (usize, bool);

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
        let blocks = (blocks(&self.send)?, blocks(&self.recv)?);
        if let ((Some(send), Some(recv)), Some(met)) = (blocks, &comm.collectives.neighbours)
            && (met.send, met.recv) == (send, recv)
            && met.wanted == self.wanted
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
        if let (Some(send), Some(recv)) = blocks {
            process.comm_mut(self.comm)?.collectives.neighbours = Some(Met {
                wanted: self.wanted.clone(),
                send,
                recv,
                program: Arc::clone(&program),
            });
        }
        Ok(program)
    }
}

/// The blocks of a side that have one length.
fn blocks(side: &Option<Side>) -> Result<Option<Blocks>> {
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
