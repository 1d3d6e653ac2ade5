// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading and writing files: at places, at positions of this rank, at the shared one.
//!
//! Nothing is put off: an access is done when its call returns, be it collective, non-blocking or split,
//! and its request is complete. Non-blocking accesses wait for nobody, collective or not; other
//! collective ones are in `file_together`, but for the `ordered` ones, where ranks have to know what
//! those before them access, and no more.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::comm_new::complete;
use super::exchange::Given;
use super::file::{meet, writable};
use super::file_together::{may_meet, together};
use super::opened::{OpenFile, id_of};
use super::{Address, Count, Datatype, Entered, File, Out, Request, call};
use crate::abi::Abi;
use crate::buffer::Buffer;
use crate::datatype::{Type, external, memory};
use crate::error::{Class, Error, Result};
use crate::file::Representation;
use crate::handle::{CommId, FileId, OpId, TypeId, WinId};
use crate::request;
use crate::rma::{LockKind, Remote};
use crate::status::Status;

/// Where an access is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Where {
    /// So many elements from the beginning of the view.
    At(i64),
    /// At this rank's position, which goes on.
    Own,
    /// At the shared position, which goes on.
    Shared,
    /// The same, by ranks in their order.
    Ordered,
}

/// What it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Read,
    Write,
}

/// Has the lock of a file's window while `body` runs.
fn guarded<T>(
    mpi: &mut Entered,
    guard: WinId,
    kind: LockKind,
    body: impl FnOnce(&mut Entered) -> Result<T>,
) -> Result<T> {
    // Threads of a process have it one after the other.
    mpi.wait_awake(|process| Ok(process.is_free(guard, 0)?.then_some(())))?;
    mpi.process.ask_lock(guard, Some(0), kind, true)?;
    mpi.wait_awake(|process| Ok(process.has_lock(guard, Some(0))?.then_some(())))?;
    let outcome = body(mpi);
    let targets = mpi.process.locked(guard, Some(0))?;
    mpi.process.begin_flush(guard, targets.clone(), true)?;
    let flushed = mpi.wait(|process| Ok(process.is_flushed(guard, &targets)?.then_some(())));
    mpi.process.unlock(guard, targets)?;
    flushed.and(outcome)
}

/// Changes the shared position of a file; what it was.
fn change_shared(mpi: &mut Entered, guard: WinId, op: OpId, by: i64) -> Result<i64> {
    // In memory of its own: a reply that comes after an error has somewhere to go.
    let cells: *mut [i64; 2] = Box::into_raw(Box::new([by, 0]));
    let [operand, result] = [0, 1].map(|index| Buffer {
        address: cells.cast::<i64>().wrapping_add(index).cast(),
        count: 1,
        datatype: TypeId::INT64_T,
    });
    let counter = Remote {
        rank: 0,
        displacement: 0,
        count: 1,
        datatype: TypeId::INT64_T,
    };
    guarded(mpi, guard, LockKind::Shared, |mpi| {
        let buffers = (&operand, &result);
        let process = &mut mpi.process;
        process.get_accumulate(guard, buffers, &counter, op)?;
        Ok(())
    })?;
    fence(Ordering::SeqCst);
    // SAFETY: made above, and all that used it has ended.
    let cells = unsafe { Box::from_raw(cells) };
    Ok(cells[1])
}

/// The shared position of the file with this window.
pub(super) fn shared(mpi: &mut Entered, guard: WinId) -> Result<i64> {
    change_shared(mpi, guard, OpId::NO_OP, 0)
}

/// Sets the shared position of a file, by its first rank; all ranks call.
pub(super) fn set_shared<A: Abi>(mpi: &mut Entered, id: FileId, to: i64) -> Result<()> {
    let file = mpi.files.get(id)?;
    let (comm, guard) = (file.comm, file.guard);
    if mpi.process.comm(comm)?.rank == 0 {
        change_shared(mpi, guard, OpId::REPLACE, to)?;
    }
    meet::<A>(mpi, comm, "MPI_File_seek_shared")
}

/// Refuses what only files with places have.
pub(super) fn placed(file: &OpenFile) -> Result<()> {
    match file.mode.is_sequential {
        false => Ok(()),
        true => {
            let what =
                "a file of MPI_MODE_SEQUENTIAL has no places, and its only position is shared";
            Err(Error::new(Class::UnsupportedOperation, what))
        }
    }
}

/// Where an access of so many elements begins.
fn begin(mpi: &mut Entered, id: FileId, place: Where, elements: i64) -> Result<i64> {
    let file = mpi.files.get_mut(id)?;
    let (comm, guard) = (file.comm, file.guard);
    if matches!(place, Where::At(_) | Where::Own) {
        placed(file)?;
    }
    match place {
        Where::At(at) if at < 0 => {
            let what = format!("the offset is {at}; offsets are not negative");
            Err(Error::new(Class::Arg, what))
        }
        Where::At(at) => Ok(at),
        Where::Own => {
            let at = file.position;
            file.position = at.saturating_add(elements);
            Ok(at)
        }
        Where::Shared => change_shared(mpi, guard, OpId::SUM, elements),
        Where::Ordered => {
            const NAME: &str = "an ordered access to a file";
            let gathering = mpi
                .process
                .gather_all(comm, &elements.to_ne_bytes(), NAME)?;
            let all = complete(mpi, gathering)?;
            let (counts, _) = all.result().as_chunks::<8>();
            let counts: Vec<i64> = counts.iter().map(|it| i64::from_ne_bytes(*it)).collect();
            let rank = mpi.process.comm(comm)?.rank as usize;
            let mut first = 0;
            if rank == 0 {
                first = change_shared(mpi, guard, OpId::SUM, counts.iter().sum())?;
            }
            let told = first.to_ne_bytes().into();
            let giving = mpi.process.give_all(comm, (0, told), NAME)?;
            let told = complete(mpi, giving)?;
            let first = told
                .result()
                .first_chunk()
                .map_or(0, |it| i64::from_ne_bytes(*it));
            Ok(first + counts[..rank].iter().sum::<i64>())
        }
    }
}

/// An access that can be carried out.
pub(super) struct Ready {
    buffer: Buffer,
    ty: Arc<Type>,
    /// Its bytes in memory and in the file.
    bytes: usize,
    there: usize,
    /// Bytes of an element of the view.
    each: usize,
    /// What is written, where the file has other bytes than memory.
    converted: Option<Vec<u8>>,
    is_converted: bool,
}

impl Ready {
    /// What is written, as the file has it.
    pub(super) fn given(&mut self) -> Given {
        if let Some(converted) = self.converted.take() {
            return Given::Own(converted);
        }
        match self.in_one_piece() {
            Some(first) => Given::Program(first),
            None => Given::Own(self.packed()),
        }
    }

    /// Where its elements begin, if they lie in one piece.
    fn in_one_piece(&self) -> Option<*mut u8> {
        let bytes = self.ty.contiguous_bytes(self.buffer.count);
        bytes.filter(|&bytes| bytes > 0)?;
        let first = self.buffer.address.wrapping_offset(self.ty.true_lower());
        Some(first)
    }

    fn packed(&self) -> Vec<u8> {
        let mut packed = vec![0; self.bytes];
        let (address, count) = (self.buffer.address, self.buffer.count);
        // SAFETY: the program's promise for the buffer: its elements may be read.
        let _ = unsafe { memory::pack(&self.ty, address, count, 0, &mut packed) };
        packed
    }

    /// Bytes of what is read or written, in the file.
    pub(super) fn there(&self) -> usize {
        self.there
    }

    /// Takes what was read, as the file has it, into the buffer; how many bytes it is there.
    pub(super) fn take(&self, found: &[u8]) -> usize {
        let decoded = self.is_converted.then(|| external::decode(&self.ty, found));
        let packed = decoded.as_deref().unwrap_or(found);
        let (address, count) = (self.buffer.address, self.buffer.count);
        // SAFETY: the program's promise for the buffer: what is read may be written.
        unsafe { memory::unpack(&self.ty, address, count, 0, packed) };
        packed.len()
    }

    /// The status of an access of so many bytes in memory.
    pub(super) fn status(bytes: usize) -> Status {
        Status {
            bytes: bytes as u64,
            ..Status::EMPTY
        }
    }

    /// That of one that has written.
    pub(super) fn written(&self) -> Status {
        Self::status(self.bytes)
    }
}

/// Checks the arguments of an access, and converts what it writes.
fn prepare<A: Abi, N: Count>(
    mpi: &Entered,
    id: FileId,
    what: What,
    (address, count, datatype): (Address, N, Datatype<A>),
) -> Result<Ready> {
    let file = mpi.files.get(id)?;
    match what {
        What::Write => writable(file)?,
        What::Read if !file.mode.reads => {
            let what = "the file was opened with MPI_MODE_WRONLY";
            return Err(Error::new(Class::Access, what));
        }
        What::Read => {}
    }
    let buffer = address.buffer(count, datatype.id())?;
    // Another thread may free the datatype while this one waits for other ranks.
    let ty = Arc::clone(mpi.process.committed(buffer.datatype)?);
    address.check(buffer.count, &ty)?;
    let too_many = || Error::new(Class::Count, "more bytes than an address space");
    let representation = file.view.representation;
    let bytes = ty.packed_bytes(buffer.count).ok_or_else(too_many)?;
    let there = representation.packed_bytes(&ty).checked_mul(buffer.count);
    let there = there.filter(|&bytes| isize::try_from(bytes).is_ok());
    let there = there.ok_or_else(too_many)?;
    let each = file.view.element_bytes() as usize;
    if there % each != 0 {
        let what = format!("{there} bytes are no number of elements of the view, of {each} each");
        return Err(Error::new(Class::Type, what));
    }
    let mut ready = Ready {
        buffer,
        ty,
        bytes,
        there,
        each,
        converted: None,
        is_converted: representation == Representation::External32,
    };
    // What cannot be converted moves no position.
    if ready.is_converted && what == What::Write {
        ready.converted = Some(external::encode(&ready.ty, &ready.packed())?);
    }
    Ok(ready)
}

/// An access, and the pieces of the file that it reaches.
pub(super) type Located = (Ready, Vec<(u64, usize)>);

/// Finds where an access is; the position goes on.
pub(super) fn locate<A: Abi, N: Count>(
    mpi: &mut Entered,
    id: FileId,
    (what, place): (What, Where),
    buffer: (Address, N, Datatype<A>),
) -> Result<Located> {
    mpi.files.get(id)?;
    let ready = prepare(mpi, id, what, buffer);
    if ready.is_err() && place == Where::Ordered {
        // The others wait for what each has to say.
        begin(mpi, id, place, 0)?;
    }
    let ready = ready?;
    let at = begin(mpi, id, place, (ready.there / ready.each) as i64)?;
    let skip = (at as u64).checked_mul(ready.each as u64);
    let skip = skip.ok_or_else(|| Error::new(Class::Arg, "no file reaches that far"))?;
    let pieces = mpi.files.get(id)?.view.pieces(skip, ready.there)?;
    Ok((ready, pieces))
}

/// Carries an access out without other ranks.
pub(super) fn alone(
    mpi: &mut Entered,
    id: FileId,
    what: What,
    (ready, pieces): Located,
) -> Result<Status> {
    let file = mpi.files.get(id)?;
    let (guard, is_atomic) = (file.guard, file.is_atomic);
    let move_bytes = |mpi: &mut Entered| {
        let file = mpi.files.get_mut(id)?;
        move_pieces(file, what, &pieces, ready)
    };
    let done = match is_atomic {
        true => guarded(mpi, guard, LockKind::Alone, move_bytes)?,
        false => move_bytes(mpi)?,
    };
    Ok(Ready::status(done))
}

/// Reads pieces into a buffer, or writes them out of it; how many bytes.
fn move_pieces(
    file: &mut OpenFile,
    what: What,
    pieces: &[(u64, usize)],
    mut ready: Ready,
) -> Result<usize> {
    if what == What::Write {
        let given = ready.given();
        let from = match &given {
            // SAFETY: the elements lie in one piece from there on, and may be read.
            Given::Program(first) => unsafe { std::slice::from_raw_parts(*first, ready.bytes) },
            Given::Own(bytes) => bytes,
        };
        return file.disk.write(pieces, from).map(|()| ready.bytes);
    }
    if let (Some(first), false) = (ready.in_one_piece(), ready.is_converted) {
        // SAFETY: the elements lie in one piece from there on, and may be written.
        let into = unsafe { std::slice::from_raw_parts_mut(first, ready.bytes) };
        return file.disk.read(pieces, into);
    }
    let mut room = vec![0; ready.there];
    let found = file.disk.read(pieces, &mut room)?;
    Ok(ready.take(&room[..found]))
}

/// Carries an access out without other ranks.
fn access<A: Abi, N: Count>(
    mpi: &mut Entered,
    id: FileId,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
) -> Result<Status> {
    let located = locate::<A, N>(mpi, id, how, buffer)?;
    alone(mpi, id, how.0, located)
}

/// Carries one of all ranks out, where the others' have their part in how.
fn access_all<A: Abi, N: Count>(
    name: &'static str,
    mpi: &mut Entered,
    id: FileId,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
) -> Result<Status> {
    match how.1 != Where::Ordered && may_meet(mpi, id)? {
        true => together::<A, N>(name, mpi, id, how, buffer),
        false => access::<A, N>(mpi, id, how, buffer),
    }
}

/// An access whose status the program gets.
pub(super) fn now<A: Abi, N: Count>(
    name: &'static str,
    file: File,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
    status: Out<A::Status>,
) -> c_int {
    let id = id_of(file);
    call::<A>(name, id, |mpi| {
        status.set_status::<A>(&access::<A, N>(mpi, id, how, buffer)?);
        Ok(())
    })
}

/// The same of all ranks.
pub(super) fn now_all<A: Abi, N: Count>(
    name: &'static str,
    file: File,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
    status: Out<A::Status>,
) -> c_int {
    let id = id_of(file);
    call::<A>(name, id, |mpi| {
        status.set_status::<A>(&access_all::<A, N>(name, mpi, id, how, buffer)?);
        Ok(())
    })
}

/// An access with a request.
pub(super) fn with_request<A: Abi, N: Count>(
    name: &'static str,
    file: File,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
    request: Out<Request<A>>,
) -> c_int {
    let id = id_of(file);
    call::<A>(name, id, |mpi| {
        // It may not wait for other ranks, which may begin theirs of several files in any order.
        let done = access::<A, N>(mpi, id, how, buffer)?;
        let done = request::Request::done(CommId::SELF, done);
        request.set(Request::of(mpi.process.keep(done)?))
    })
}

/// The first half of a split access.
pub(super) fn split<A: Abi, N: Count>(
    name: &'static str,
    file: File,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
) -> c_int {
    let id = id_of(file);
    call::<A>(name, id, |mpi| {
        if let Some((other, _)) = mpi.files.get(id)?.split {
            let what = format!("{other} has begun an access that is not ended");
            return Err(Error::new(Class::Other, what));
        }
        let done = access_all::<A, N>(name, mpi, id, how, buffer)?;
        mpi.files.get_mut(id)?.split = Some((name, done));
        Ok(())
    })
}

/// The second half of the access that `begun` has begun.
pub(super) fn end<A: Abi>(
    name: &'static str,
    begun: &'static str,
    file: File,
    status: Out<A::Status>,
) -> c_int {
    let id = id_of(file);
    call::<A>(name, id, |mpi| {
        let file = mpi.files.get_mut(id)?;
        let found = file.split.take_if(|(other, _)| *other == begun);
        let Some((_, done)) = found else {
            let what = format!("{begun} was not called before");
            return Err(Error::new(Class::Other, what));
        };
        status.set_status::<A>(&done);
        Ok(())
    })
}
