// SPDX-License-Identifier: MIT OR Apache-2.0
//! Positions of files: this rank's own and the shared one, set and asked for.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::file::all_or_none;
use super::file_access::{placed, set_shared, shared};
use super::opened::{OpenFile, id_of};
use super::{File, Out, call};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};

/// A position that `whence` and an offset name.
fn sought<A: Abi>(file: &OpenFile, current: i64, offset: i64, whence: c_int) -> Result<i64> {
    placed(file)?;
    let base = match whence {
        _ if whence == A::SEEK_SET => 0,
        _ if whence == A::SEEK_CUR => current,
        _ if whence == A::SEEK_END => {
            let seen = file.view.seen(file.disk.bytes()?);
            seen.div_ceil(file.view.element_bytes()) as i64
        }
        _ => {
            let what = format!("{whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END");
            return Err(Error::new(Class::Arg, what));
        }
    };
    let found = base.checked_add(offset).filter(|&found| found >= 0);
    found.ok_or_else(|| {
        let what = format!("{offset} elements from {base} on there is no position");
        Error::new(Class::Arg, what)
    })
}

pub fn file_seek<A: Abi>(file: File, offset: i64, whence: c_int) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_seek", id, |mpi| {
        let found = mpi.files.get(id)?;
        let position = sought::<A>(found, found.position, offset, whence)?;
        mpi.files.get_mut(id)?.position = position;
        Ok(())
    })
}

pub fn file_seek_shared<A: Abi>(file: File, offset: i64, whence: c_int) -> c_int {
    const NAME: &str = "MPI_File_seek_shared";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        let (comm, guard) = (mpi.files.get(id)?.comm, mpi.files.get(id)?.guard);
        let current = shared(mpi, guard)?;
        let position = sought::<A>(mpi.files.get(id)?, current, offset, whence);
        // Nobody moves it before all know where it was.
        let same = [offset, whence.into()];
        let position = all_or_none(mpi, (comm, NAME), position, same)?;
        set_shared::<A>(mpi, id, position)
    })
}

pub fn file_get_position<A: Abi>(file: File, position: Out<i64>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_position", id, |mpi| {
        let found = mpi.files.get(id)?;
        placed(found)?;
        position.set(found.position)
    })
}

pub fn file_get_position_shared<A: Abi>(file: File, position: Out<i64>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_position_shared", id, |mpi| {
        let found = mpi.files.get(id)?;
        placed(found)?;
        let guard = found.guard;
        position.set(shared(mpi, guard)?)
    })
}

pub fn file_get_byte_offset<A: Abi>(file: File, offset: i64, place: Out<i64>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_byte_offset", id, |mpi| {
        let view = &mpi.files.get(id)?.view;
        let skip = u64::try_from(offset).ok();
        let skip = skip.and_then(|skip| skip.checked_mul(view.element_bytes()));
        let skip = skip.ok_or_else(|| Error::new(Class::Arg, "no file has such an offset"))?;
        let pieces = view.pieces(skip, 1)?;
        place.set(pieces.first().map_or(0, |&(at, _)| at as i64))
    })
}
