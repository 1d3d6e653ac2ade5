// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes of the library's own that all ranks of a communicator exchange, in the midst of a call.
//!
//! Memory goes in and comes back: if a call ends early, others may still reach it, and it is never given
//! back to anybody.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;

use corecast_core::Collective;

use super::Entered;
use super::collective::wait;
use crate::collective::side::{Cut, Part, Side};
use crate::collective::{Call, Wanted};
use crate::error::Result;
use crate::handle::{CommId, TypeId};

/// Where: the communicator, and the function, for error messages.
pub(super) type At = (CommId, &'static str);

/// Bytes that a rank gives.
pub(super) enum Given {
    /// Those of a buffer of the program, which may be read from there on until the call returns.
    Program(*const u8),
    /// The library's own.
    Own(Vec<u8>),
}

impl Given {
    fn address(&self) -> *const u8 {
        match self {
            Self::Program(address) => *address,
            Self::Own(bytes) => bytes.as_ptr(),
        }
    }
}

/// Carries out a call that reaches this memory, which comes back.
fn carry_out<T>(mpi: &mut Entered, call: &Call, memory: T) -> Result<T> {
    match wait(mpi, call) {
        Ok(()) => Ok(memory),
        Err(error) => {
            std::mem::forget(memory);
            Err(error)
        }
    }
}

fn call(at: At, collective: Collective, (send, recv): (Side, Side)) -> Call {
    Call {
        name: at.1,
        comm: at.0,
        wanted: Wanted::Known(collective, 0),
        send: Some(send),
        recv: Some(recv),
        in_place: false,
        op: None,
        is_irregular: collective == Collective::Alltoallv,
    }
}

fn even(mpi: &Entered, address: *mut u8, (count, blocks): (usize, usize)) -> Result<Side> {
    let datatype = Arc::clone(mpi.process.datatype(TypeId::BYTE)?);
    Ok(Side {
        address,
        cut: Cut::Even {
            count,
            datatype,
            blocks,
        },
    })
}

fn table(mpi: &Entered, address: *mut u8, blocks: &[Range<usize>]) -> Result<Side> {
    let datatype = mpi.process.datatype(TypeId::BYTE)?;
    let part = |block: &Range<usize>| Part {
        displacement: block.start as isize,
        count: block.len(),
        datatype: Arc::clone(datatype),
    };
    Ok(Side {
        address,
        cut: Cut::Table(blocks.iter().map(part).collect()),
    })
}

/// What all ranks give, in their order; each gives as many bytes.
pub(super) fn gather(mpi: &mut Entered, at: At, own: Vec<u8>) -> Result<Vec<u8>> {
    let ranks = mpi.process.comm(at.0)?.group.size();
    let mut all = vec![0; own.len() * ranks];
    let sides = (
        even(mpi, own.as_ptr().cast_mut(), (own.len(), 1))?,
        even(mpi, all.as_mut_ptr(), (own.len(), ranks))?,
    );
    let call = call(at, Collective::Allgather, sides);
    carry_out(mpi, &call, (own, all)).map(|(_, all)| all)
}

/// Gives each rank one of `given`; what each gives to this one.
pub(super) fn deal(mpi: &mut Entered, at: At, given: &[u64]) -> Result<Vec<u64>> {
    let (given, mut got) = (given.to_vec(), vec![0_u64; given.len()]);
    let sides = (
        even(mpi, given.as_ptr().cast_mut().cast(), (8, given.len()))?,
        even(mpi, got.as_mut_ptr().cast(), (8, given.len()))?,
    );
    let call = call(at, Collective::Alltoall, sides);
    carry_out(mpi, &call, (given, got)).map(|(_, got)| got)
}

/// Gives each rank one part of what this one has, and takes what each gives into one part of a room.
pub(super) fn swap(
    mpi: &mut Entered,
    at: At,
    (given, parts): (Given, &[Range<usize>]),
    (mut room, places): (Vec<u8>, &[Range<usize>]),
) -> Result<(Given, Vec<u8>)> {
    assert!(places.iter().all(|place| place.end <= room.len()));
    let sides = (
        table(mpi, given.address().cast_mut(), parts)?,
        table(mpi, room.as_mut_ptr(), places)?,
    );
    let call = call(at, Collective::Alltoallv, sides);
    carry_out(mpi, &call, (given, room))
}

/// Parts of these lengths, one after the other; and the end of the last.
pub(super) fn in_a_row(lengths: impl Iterator<Item = usize>) -> (Vec<Range<usize>>, usize) {
    let mut end = 0;
    let parts = lengths.map(|length| {
        end += length;
        end - length..end
    });
    (parts.collect(), end)
}
