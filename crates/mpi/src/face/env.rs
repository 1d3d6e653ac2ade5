// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beginning, end, versions and names.

use std::ffi::{c_char, c_int};

use super::library::{self, Level};
use super::{Address, Comm, Info, Out, attribute, call, call_always, errors, info};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::CommId;

impl Level {
    /// Of the number in an ABI; numbers between two levels are the next one.
    fn of<A: Abi>(number: c_int) -> Self {
        match number {
            _ if number <= A::THREAD_SINGLE => Self::Single,
            _ if number <= A::THREAD_FUNNELED => Self::Funneled,
            _ if number <= A::THREAD_SERIALIZED => Self::Serialized,
            _ => Self::Multiple,
        }
    }

    pub(super) fn number<A: Abi>(self) -> c_int {
        match self {
            Self::Single => A::THREAD_SINGLE,
            Self::Funneled => A::THREAD_FUNNELED,
            Self::Serialized => A::THREAD_SERIALIZED,
            Self::Multiple => A::THREAD_MULTIPLE,
        }
    }
}

/// Begins. A process without a transport is no rank, and after `MPI_Finalize` there is no object to ask:
/// the initial error handler ends it.
fn begin(name: &str, level: Level) -> Result<()> {
    match library::begin(level) {
        Err(error) => errors::cannot_begin(name, &error),
        Ok(true) => Ok(()),
        Ok(false) if library::stage().1 => {
            let what = "the library was initialised before, and has ended";
            errors::cannot_begin(name, &Error::new(Class::Other, what))
        }
        Ok(false) => Err(Error::new(
            Class::Other,
            "the library was initialised before; that is done once in a process",
        )),
    }
}

pub fn init<A: Abi>(_argc: Out<c_int>, _argv: Address) -> c_int {
    call_always::<A>("MPI_Init", || begin("MPI_Init", Level::Single))
}

pub fn init_thread<A: Abi>(
    _argc: Out<c_int>,
    _argv: Address,
    required: c_int,
    provided: Out<c_int>,
) -> c_int {
    call_always::<A>("MPI_Init_thread", || {
        let level = Level::of::<A>(required);
        begin("MPI_Init_thread", level)?;
        // With a session that began before, it is what that has asked for.
        provided.set(library::level().number::<A>())
    })
}

pub fn initialized<A: Abi>(flag: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Initialized", || flag.set(library::stage().0.into()))
}

pub fn finalized<A: Abi>(flag: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Finalized", || flag.set(library::stage().1.into()))
}

pub fn finalize<A: Abi>() -> c_int {
    call::<A>("MPI_Finalize", super::Owner::Nobody, |mpi| {
        attribute::delete_all::<A, _>(mpi, CommId::SELF)?;
        attribute::delete_all::<A, _>(mpi, CommId::WORLD)?;
        mpi.wait(|process| Ok(process.is_quiet().then_some(())))?;
        library::end_world();
        library::end_unused(mpi)
    })
}

pub fn query_thread<A: Abi>(provided: Out<c_int>) -> c_int {
    call::<A>("MPI_Query_thread", super::Owner::Nobody, |_| {
        provided.set(library::level().number::<A>())
    })
}

pub fn is_thread_main<A: Abi>(flag: Out<c_int>) -> c_int {
    call::<A>("MPI_Is_thread_main", super::Owner::Nobody, |mpi| {
        flag.set((mpi.main == std::thread::current().id()).into())
    })
}

pub fn abort<A: Abi>(comm: Comm<A>, code: c_int) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Abort", comm, |mpi| {
        mpi.process.comm(comm)?;
        let transport = mpi.process.engine.transport();
        let rank = transport.rank();
        super::errors::say(&format!("rank {rank}: MPI_Abort: the code is {code}"));
        transport.abort(code)
    })
}

pub fn get_version<A: Abi>(version: Out<c_int>, subversion: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Get_version", || {
        version.set(A::VERSION.0)?;
        subversion.set(A::VERSION.1)
    })
}

pub fn abi_get_version<A: Abi>(major: Out<c_int>, minor: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Abi_get_version", || {
        major.set(A::ABI_VERSION.0)?;
        minor.set(A::ABI_VERSION.1)
    })
}

/// Sizes of types, for programs that load the library at run time.
pub fn abi_get_info<A: Abi>(info: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Abi_get_info", || {
        let sizes = ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"];
        info.set(Info::of(info::make_of(&sizes.map(|size| (size, "8")))?))
    })
}

/// This library knows no hardware resources by name.
pub fn get_hw_resource_info<A: Abi>(info: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Get_hw_resource_info", || {
        info.set(Info::of(info::make_empty()?))
    })
}

pub fn get_library_version<A: Abi>(version: Out<c_char>, length: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Get_library_version", || {
        let room = A::MAX_LIBRARY_VERSION_STRING as usize;
        length.set(version.set_string(A::LIBRARY_VERSION, room)? as c_int)
    })
}

pub fn get_processor_name<A: Abi>(name: Out<c_char>, length: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Get_processor_name", || {
        let text = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let text = match text.trim() {
            "" => "localhost",
            text => text,
        };
        let room = A::MAX_PROCESSOR_NAME as usize;
        length.set(name.set_string(text, room)? as c_int)
    })
}

pub fn wtime<A: Abi>() -> f64 {
    match super::Entered::enter() {
        Some(mut mpi) => mpi.process.engine.transport().now(),
        None => {
            let since = std::time::UNIX_EPOCH.elapsed();
            since.map_or(0.0, |since| since.as_secs_f64())
        }
    }
}

/// Clocks of today count nanoseconds.
pub fn wtick<A: Abi>() -> f64 {
    1e-9
}

pub fn aint_add<A: Abi>(base: isize, displacement: isize) -> isize {
    base.wrapping_add(displacement)
}

pub fn aint_diff<A: Abi>(one: isize, other: isize) -> isize {
    one.wrapping_sub(other)
}

pub fn get_address<A: Abi>(location: Address, address: Out<isize>) -> c_int {
    call_always::<A>("MPI_Get_address", || {
        address.set(location.number().cast_signed())
    })
}

/// The standard leaves levels above 2 to the library: where time is virtual, the rank has computed for
/// so many nanoseconds.
pub fn pcontrol<A: Abi>(level: c_int) -> c_int {
    if level > 2 {
        super::watch::compute(level.unsigned_abs().into());
    }
    0
}
