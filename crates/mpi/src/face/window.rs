// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows: making and freeing them, and what they are.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::arguments::Caller;
use super::collective::wait;
use super::comm_new::{complete, make};
use super::facts::Facts;
use super::{
    Address, Comm, Count, Entered, Errhandler, Group, In, Info, Out, Owner, Win, attribute, call,
    errors, group, handlers, info,
};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, WinId};
use crate::rma::{Flavor, Piece, Room};

fn bytes_of(size: isize) -> Result<u64> {
    u64::try_from(size).map_err(|_| {
        let what = format!("the size of the window is {size}; sizes are not negative");
        Error::new(Class::Size, what)
    })
}

fn unit_of<N: Count>(unit: N) -> Result<u32> {
    let found = u32::try_from(unit.wide()).ok().filter(|&unit| unit > 0);
    found.ok_or_else(|| {
        let what = format!(
            "the displacement unit is {}; units are 1 to {}",
            unit.wide(),
            u32::MAX
        );
        Error::new(Class::Disp, what)
    })
}

/// A communicator for a new window, and the parts of all its ranks.
fn gathered(
    mpi: &mut Entered,
    comm: CommId,
    own: Piece,
    name: &'static str,
) -> Result<(CommId, Vec<Piece>)> {
    let known = mpi.process.comm(comm)?;
    if known.remote.is_some() {
        let what = "the communicator has two groups; windows are of one";
        return Err(Error::new(Class::Comm, what));
    }
    let group = known.group.clone();
    let comm = make(mpi, comm, (group, None), name)?;
    let mut gives = [0; 24];
    gives[..8].copy_from_slice(&own.bytes.to_ne_bytes());
    gives[8..16].copy_from_slice(&u64::from(own.unit).to_ne_bytes());
    gives[16..].copy_from_slice(&own.address.to_ne_bytes());
    let gathering = mpi.process.gather_all(comm, &gives, name)?;
    let all = complete(mpi, gathering)?;
    let (words, _) = all.result().as_chunks::<8>();
    let (rows, _) = words.as_chunks::<3>();
    let pieces = rows.iter().map(|[bytes, unit, address]| Piece {
        bytes: u64::from_ne_bytes(*bytes),
        unit: u64::from_ne_bytes(*unit) as u32,
        address: u64::from_ne_bytes(*address),
    });
    Ok((comm, pieces.collect()))
}

/// Gives the program a window.
fn give<A: Abi>(mpi: &mut Entered, new: WinId, hints: Info<A>, win: Out<Win<A>>) -> Result<()> {
    let window = mpi.process.win_mut(new)?;
    window.hints = info::pairs(hints.id())?;
    let own = window.members[window.rank as usize];
    let facts = Facts {
        size: Box::new(own.bytes as isize),
        unit: Box::new(own.unit as c_int),
        flavor: Box::new(match window.flavor {
            Flavor::Create => A::WIN_FLAVOR_CREATE,
            Flavor::Allocate => A::WIN_FLAVOR_ALLOCATE,
            Flavor::Dynamic => A::WIN_FLAVOR_DYNAMIC,
            Flavor::Shared => A::WIN_FLAVOR_SHARED,
        }),
        model: Box::new(A::WIN_UNIFIED),
    };
    mpi.facts.insert(new, Box::new(facts));
    win.set(Win::of(new))
}

pub fn win_create<A: Abi, N: Count>(
    base: Address,
    size: isize,
    unit: N,
    hints: Info<A>,
    comm: Comm<A>,
    win: Out<Win<A>>,
) -> c_int {
    const NAME: &str = "MPI_Win_create";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        let (bytes, unit) = (bytes_of(size)?, unit_of(unit)?);
        info::check(hints.id())?;
        if base.is_nowhere() && bytes > 0 {
            return Err(base.nowhere());
        }
        let own = Piece {
            address: base.number() as u64,
            ..Piece::new(bytes, unit)
        };
        let (comm, pieces) = gathered(mpi, comm, own, NAME)?;
        let base = base.pointer();
        let new = mpi
            .process
            .add_window(comm, Flavor::Create, &pieces, base)?;
        give(mpi, new, hints, win)
    })
}

pub fn win_create_dynamic<A: Abi>(hints: Info<A>, comm: Comm<A>, win: Out<Win<A>>) -> c_int {
    const NAME: &str = "MPI_Win_create_dynamic";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        info::check(hints.id())?;
        let own = Piece::new(0, 1);
        let (comm, pieces) = gathered(mpi, comm, own, NAME)?;
        let nowhere = std::ptr::null_mut();
        let new = mpi
            .process
            .add_window(comm, Flavor::Dynamic, &pieces, nowhere)?;
        give(mpi, new, hints, win)
    })
}

/// A window over memory of the library: shared where that can be had.
pub(super) fn allocate(
    mpi: &mut Entered,
    (comm, flavor): (CommId, Flavor),
    own: Piece,
    is_apart: bool,
    name: &'static str,
) -> Result<WinId> {
    let (comm, pieces) = gathered(mpi, comm, own, name)?;
    let room = Room::new(&pieces, flavor == Flavor::Shared && !is_apart)?;
    let rank = mpi.process.comm(comm)?.rank;
    let taken = match rank {
        0 => mpi.process.take_shared(room.bytes),
        _ => None,
    };
    let mut told = [0; 16];
    told[..8].copy_from_slice(&u64::from(taken.is_some()).to_ne_bytes());
    told[8..].copy_from_slice(&taken.unwrap_or(0).to_ne_bytes());
    let giving = mpi.process.give_all(comm, (0, told.into()), name)?;
    let told = complete(mpi, giving)?;
    let (words, _) = told.result().as_chunks::<8>();
    let shared = u64::from_ne_bytes(words[1]);
    let mut mapped = None;
    if u64::from_ne_bytes(words[0]) != 0 {
        mapped = mpi.process.map_shared(shared, room.bytes);
        let gathering = mpi
            .process
            .gather_all(comm, &[u8::from(mapped.is_some())], name)?;
        let all = complete(mpi, gathering)?;
        if all.result().contains(&0) {
            mpi.process
                .leave_shared(shared, mapped.take(), room.bytes, rank == 0);
        }
    }
    match mapped {
        Some(address) => {
            let parts = (&*pieces, &room);
            mpi.process
                .add_shared_window(comm, flavor, parts, (shared, address))
        }
        None if flavor == Flavor::Shared && pieces.len() > 1 => {
            mpi.process.remove_comm(comm)?;
            let what = "these ranks have no memory that all of them see";
            Err(Error::new(Class::RmaShared, what))
        }
        None => mpi.process.add_own_window(comm, flavor, &pieces),
    }
}

/// As [`allocate`], for the program.
fn allocate_for<A: Abi>(
    mpi: &mut Entered,
    what: (CommId, Flavor),
    own: Piece,
    hints: Info<A>,
    (base, win): (Address, Out<Win<A>>),
    name: &'static str,
) -> Result<()> {
    let is_apart = info::pairs(hints.id())?
        .iter()
        .any(|(key, value)| key == "alloc_shared_noncontig" && value == "true");
    let new = allocate(mpi, what, own, is_apart, name)?;
    let window = mpi.process.win(new)?;
    let address = window.members[window.rank as usize].address();
    base.set_pointer(address.unwrap_or(std::ptr::null_mut()).cast())?;
    give(mpi, new, hints, win)
}

pub fn win_allocate<A: Abi, N: Count>(
    size: isize,
    unit: N,
    hints: Info<A>,
    comm: Comm<A>,
    base: Address,
    win: Out<Win<A>>,
) -> c_int {
    const NAME: &str = "MPI_Win_allocate";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        let (bytes, unit) = (bytes_of(size)?, unit_of(unit)?);
        let own = Piece::new(bytes, unit);
        allocate_for(mpi, (comm, Flavor::Allocate), own, hints, (base, win), NAME)
    })
}

pub fn win_allocate_shared<A: Abi, N: Count>(
    size: isize,
    unit: N,
    hints: Info<A>,
    comm: Comm<A>,
    base: Address,
    win: Out<Win<A>>,
) -> c_int {
    const NAME: &str = "MPI_Win_allocate_shared";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        let (bytes, unit) = (bytes_of(size)?, unit_of(unit)?);
        let own = Piece::new(bytes, unit);
        allocate_for(mpi, (comm, Flavor::Shared), own, hints, (base, win), NAME)
    })
}

pub fn win_shared_query<A: Abi, N: Count>(
    win: Win<A>,
    rank: c_int,
    size: Out<isize>,
    unit: Out<N>,
    base: Address,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_shared_query", win, |mpi| {
        let window = mpi.process.win(win)?;
        // Memory of others that does not lie here has no bytes for this rank.
        let nothing = (0, 1, None);
        let found = match A::peer(rank) {
            // The first rank with some memory.
            crate::handle::PROC_NULL => window.members.iter().find(|member| member.bytes > 0),
            rank => {
                let member = usize::try_from(rank).ok();
                let member = member.and_then(|rank| window.members.get(rank));
                let none = || Error::new(Class::Rank, format!("there is no rank {rank}"));
                Some(member.ok_or_else(none)?)
            }
        };
        let (bytes, each, address) = found.map_or(nothing, |member| match member.address() {
            Some(address) if member.bytes > 0 => (member.bytes, member.unit, Some(address)),
            // A rank without memory has no place either.
            Some(_) => (0, member.unit, None),
            None => nothing,
        });
        size.set(bytes as isize)?;
        let narrow = N::narrow(i64::from(each));
        unit.set(narrow.ok_or_else(|| Error::new(Class::ValueTooLarge, "the displacement unit"))?)?;
        base.set_pointer(address.unwrap_or(std::ptr::null_mut()).cast())
    })
}

pub fn win_attach<A: Abi>(win: Win<A>, base: Address, size: isize) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_attach", win, |mpi| {
        let bytes = bytes_of(size)? as usize;
        if base.is_nowhere() && bytes > 0 {
            return Err(base.nowhere());
        }
        mpi.process.attach(win, base.number(), bytes)
    })
}

pub fn win_detach<A: Abi>(win: Win<A>, base: Address) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_detach", win, |mpi| {
        mpi.process.detach(win, base.number())
    })
}

pub fn win_free<A: Abi>(place: Out<Win<A>>) -> c_int {
    const NAME: &str = "MPI_Win_free";
    let owner = place.get().map_or(WinId::NULL, crate::abi::Raw::id);
    call::<A>(NAME, owner, |mpi| {
        let win = place.get()?.id();
        mpi.process.may_free_win(win)?;
        attribute::delete_all::<A, _>(mpi, win)?;
        free::<A>(mpi, win, NAME)?;
        place.set(Win::of(WinId::NULL))
    })
}

/// Frees a window; all its ranks call.
pub(super) fn free<A: Abi>(mpi: &mut Entered, win: WinId, name: &'static str) -> Result<()> {
    let all = mpi.process.all_targets(win)?;
    mpi.process.begin_flush(win, all, true)?;
    mpi.wait(|process| Ok(process.win(win)?.is_quiet().then_some(())))?;
    let comm = mpi.process.win(win)?.comm;
    let barrier = Caller::new(&mpi.process, name, Comm::<A>::of(comm))?.barrier()?;
    wait(mpi, &barrier)?;
    handlers::leave(mpi.process.win(win)?.errhandler);
    let comm = mpi.process.remove_window(win)?;
    mpi.facts.remove(&win);
    handlers::leave(mpi.process.comm(comm)?.errhandler);
    mpi.process.remove_comm(comm)
}

pub fn win_get_group<A: Abi>(win: Win<A>, place: Out<Group<A>>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_get_group", win, |mpi| {
        let ranks = mpi.process.win(win)?.group.clone();
        group::give(mpi, ranks, place)
    })
}

pub fn win_set_name<A: Abi>(win: Win<A>, name: In<c_char>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_set_name", win, |mpi| {
        mpi.process.win_mut(win)?.name = name.string()?;
        Ok(())
    })
}

pub fn win_get_name<A: Abi>(win: Win<A>, name: Out<c_char>, length: Out<c_int>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_get_name", win, |mpi| {
        let room = A::MAX_OBJECT_NAME as usize;
        let text = match win {
            WinId::NULL => "MPI_WIN_NULL",
            _ => &mpi.process.win(win)?.name,
        };
        length.set(name.set_string(text, room)? as c_int)
    })
}

pub fn win_set_info<A: Abi>(win: Win<A>, hints: Info<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_set_info", win, |mpi| {
        let new = info::pairs(hints.id())?;
        info::keep(&mut mpi.process.win_mut(win)?.hints, new);
        Ok(())
    })
}

pub fn win_get_info<A: Abi>(win: Win<A>, place: Out<Info<A>>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_get_info", win, |mpi| {
        let hints = mpi.process.win(win)?.hints.clone();
        place.set(Info::of(info::make(hints)?))
    })
}

pub fn win_set_errhandler<A: Abi>(win: Win<A>, errhandler: Errhandler<A>) -> c_int {
    let (win, errhandler) = (win.id(), errhandler.id());
    call::<A>("MPI_Win_set_errhandler", win, |mpi| {
        mpi.process.win(win)?;
        handlers::keep(errhandler)?;
        let window = mpi.process.win_mut(win)?;
        handlers::leave(std::mem::replace(&mut window.errhandler, errhandler));
        Ok(())
    })
}

pub fn win_get_errhandler<A: Abi>(win: Win<A>, errhandler: Out<Errhandler<A>>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_get_errhandler", win, |mpi| {
        let id = mpi.process.win(win)?.errhandler;
        handlers::give(id);
        errhandler.set(Errhandler::of(id))
    })
}

pub fn win_call_errhandler<A: Abi>(win: Win<A>, code: c_int) -> c_int {
    let win = win.id();
    let name = "MPI_Win_call_errhandler";
    let checked = call::<A>(name, win, |mpi| mpi.process.win(win).map(|_| ()));
    if checked == 0 {
        errors::raise::<A>(name, Owner::Win(win), code, "called by the program");
    }
    checked
}
