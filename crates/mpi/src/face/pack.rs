// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packing and unpacking by the program.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use super::datatype::narrow;
use super::{Address, Comm, Count, Datatype, Entered, In, Out, Owner, call};
use crate::abi::Abi;
use crate::datatype::external::{decode, encode};
use crate::datatype::{Type, memory};
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;

/// A place in a buffer of packed bytes: `bytes` from `position` on in `size` bytes.
#[derive(Clone, Copy)]
struct Room {
    start: Address,
    position: usize,
    bytes: usize,
}

impl Room {
    fn of<N: Count>(start: Address, size: N, position: Out<N>, bytes: usize) -> Result<Self> {
        let (size, at) = (size.wide(), position.get()?.wide());
        let position = usize::try_from(at).ok();
        let end = position.and_then(|position| position.checked_add(bytes));
        let fits = end.is_some_and(|end| end as i64 <= size);
        match position {
            Some(position) if fits && (bytes == 0 || !start.is_nowhere()) => Ok(Self {
                start,
                position,
                bytes,
            }),
            _ => {
                let what = format!(
                    "{bytes} packed bytes from position {at} on do not fit into a buffer of {size}"
                );
                Err(Error::new(Class::Arg, what))
            }
        }
    }

    fn end<A: Abi, N: Count>(self) -> N {
        narrow::<A, N>((self.position + self.bytes) as i64)
    }

    fn pointer(self) -> *mut u8 {
        match self.bytes {
            0 => std::ptr::NonNull::dangling().as_ptr(),
            _ => self.start.pointer().wrapping_add(self.position),
        }
    }

    /// The bytes; `'a` must not be longer than the call.
    fn read<'a>(self) -> &'a [u8] {
        // SAFETY: the program has a buffer of the size that it said, and the place is in it; an
        // empty place is no memory.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.bytes) }
    }

    /// As [`Room::read`], to write.
    fn write<'a>(self) -> &'a mut [u8] {
        // SAFETY: as above; nobody else uses the buffer while the call runs.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.bytes) }
    }
}

/// Elements of a program.
struct Elements {
    ty: Arc<Type>,
    address: *mut u8,
    count: usize,
    bytes: usize,
}

impl Elements {
    fn of<N: Count>(mpi: &Entered, address: Address, count: N, datatype: TypeId) -> Result<Self> {
        let ty = Arc::clone(mpi.process.committed(datatype)?);
        let count = count.count()?;
        let bytes = ty.packed_bytes(count).ok_or_else(|| {
            let what = format!("{count} elements of {} bytes are too many", ty.size());
            Error::new(Class::Count, what)
        })?;
        address.check(count, &ty)?;
        Ok(Self {
            ty,
            address: address.pointer(),
            count,
            bytes,
        })
    }

    fn pack(&self, out: &mut [u8]) {
        // SAFETY: the program has so many elements there, as it says by calling.
        let _ = unsafe { memory::pack(&self.ty, self.address, self.count, 0, out) };
    }

    fn unpack(&self, packed: &[u8]) {
        // SAFETY: as above; what is received may be written.
        unsafe { memory::unpack(&self.ty, self.address, self.count, 0, packed) };
    }

    /// Number of bytes in external form.
    fn external_bytes(&self) -> Result<usize> {
        let each = self.ty.signature().external_bytes();
        each.checked_mul(self.count).ok_or_else(|| {
            let what = format!("{} elements are too many", self.count);
            Error::new(Class::Count, what)
        })
    }
}

pub fn pack<A: Abi, N: Count>(
    inbuf: Address,
    incount: N,
    datatype: Datatype<A>,
    outbuf: Address,
    outsize: N,
    position: Out<N>,
    comm: Comm<A>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Pack", comm, |mpi| {
        mpi.process.comm(comm)?;
        let elements = Elements::of(mpi, inbuf, incount, datatype.id())?;
        let room = Room::of(outbuf, outsize, position, elements.bytes)?;
        elements.pack(room.write());
        position.set(room.end::<A, N>())
    })
}

pub fn unpack<A: Abi, N: Count>(
    inbuf: Address,
    insize: N,
    position: Out<N>,
    outbuf: Address,
    outcount: N,
    datatype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Unpack", comm, |mpi| {
        mpi.process.comm(comm)?;
        let elements = Elements::of(mpi, outbuf, outcount, datatype.id())?;
        let room = Room::of(inbuf, insize, position, elements.bytes)?;
        elements.unpack(room.read());
        position.set(room.end::<A, N>())
    })
}

pub fn pack_size<A: Abi, N: Count>(
    incount: N,
    datatype: Datatype<A>,
    comm: Comm<A>,
    size: Out<N>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Pack_size", comm, |mpi| {
        mpi.process.comm(comm)?;
        let bytes = mpi
            .process
            .committed(datatype.id())?
            .packed_bytes(incount.count()?);
        size.set(narrow::<A, N>(bytes.map_or(i64::MAX, |bytes| bytes as i64)))
    })
}

pub fn pack_external<A: Abi, N: Count, S: Count>(
    datarep: In<c_char>,
    inbuf: Address,
    incount: N,
    datatype: Datatype<A>,
    outbuf: Address,
    outsize: S,
    position: Out<S>,
) -> c_int {
    call::<A>("MPI_Pack_external", Owner::Nobody, |mpi| {
        is_external32(datarep)?;
        let elements = Elements::of(mpi, inbuf, incount, datatype.id())?;
        let room = Room::of(outbuf, outsize, position, elements.external_bytes()?)?;
        let mut packed = vec![0; elements.bytes];
        elements.pack(&mut packed);
        room.write()
            .copy_from_slice(&encode(&elements.ty, &packed)?);
        position.set(room.end::<A, S>())
    })
}

pub fn unpack_external<A: Abi, N: Count, S: Count>(
    datarep: In<c_char>,
    inbuf: Address,
    insize: S,
    position: Out<S>,
    outbuf: Address,
    outcount: N,
    datatype: Datatype<A>,
) -> c_int {
    call::<A>("MPI_Unpack_external", Owner::Nobody, |mpi| {
        is_external32(datarep)?;
        let elements = Elements::of(mpi, outbuf, outcount, datatype.id())?;
        let room = Room::of(inbuf, insize, position, elements.external_bytes()?)?;
        elements.unpack(&decode(&elements.ty, room.read()));
        position.set(room.end::<A, S>())
    })
}

pub fn pack_external_size<A: Abi, N: Count, S: Count>(
    datarep: In<c_char>,
    incount: N,
    datatype: Datatype<A>,
    size: Out<S>,
) -> c_int {
    call::<A>("MPI_Pack_external_size", Owner::Nobody, |mpi| {
        is_external32(datarep)?;
        let each = mpi
            .process
            .committed(datatype.id())?
            .signature()
            .external_bytes();
        let bytes = each.checked_mul(incount.count()?);
        size.set(narrow::<A, S>(bytes.map_or(i64::MAX, |bytes| bytes as i64)))
    })
}

fn is_external32(datarep: In<c_char>) -> Result<()> {
    match datarep.string()?.as_str() {
        "external32" => Ok(()),
        name => {
            let what = format!("there is no data representation {name}; there is external32");
            Err(Error::new(Class::Arg, what))
        }
    }
}
