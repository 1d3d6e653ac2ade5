// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communicators that are made out of others.

use std::ffi::c_int;

use corecast_core::hash::fnv_1a;

use super::arguments::Caller;
use super::collective::wait;
use super::{
    Comm, Entered, Group, In, Info, Out, Owner, Request, call, comm, comm_between, handlers, info,
};
use crate::abi::Abi;
use crate::collective::{Proposal, Small};
use crate::engine::Operation;
use crate::error::{Class, Error, Result};
use crate::group;
use crate::handle::{CommId, GroupId, InfoId};

/// A call whose result is a communicator, which is `MPI_COMM_NULL` until there is one. Whether there is a
/// place for it is seen before other ranks are asked.
pub(super) fn making<A: Abi>(
    name: &'static str,
    owner: impl Into<Owner>,
    made: Out<Comm<A>>,
    body: impl FnOnce(&mut Entered) -> Result<CommId>,
) -> c_int {
    call::<A>(name, owner, |mpi| {
        made.set(Comm::of(CommId::NULL))?;
        let new = body(mpi)?;
        made.set(Comm::of(new))
    })
}

/// Waits for a collective on memory of its own.
pub(super) fn complete(mpi: &mut Entered, mut small: Small) -> Result<Small> {
    mpi.wait(|process| Ok(small.advance(&mut process.engine)?.then_some(())))?;
    Ok(small)
}

/// Takes in a communicator that was agreed on; it has the error handler of `parent`.
pub(super) fn add(
    mpi: &mut Entered,
    parent: CommId,
    groups: Groups,
    agreed: Proposal,
) -> Result<CommId> {
    let errhandler = mpi.process.comm(parent)?.errhandler;
    let added = mpi.process.add_comm(parent, groups, agreed)?;
    handlers::keep(errhandler)?;
    Ok(added)
}

/// A group, and the other one of an intercommunicator.
pub(super) type Groups = (group::Group, Option<group::Group>);

/// A communicator of all ranks of `comm` that are in a group, with the ranks of that group; none where
/// this rank is not. All ranks of `comm` call.
pub(super) fn make(
    mpi: &mut Entered,
    comm: CommId,
    groups: Groups,
    name: &'static str,
) -> Result<CommId> {
    let agreement = mpi.process.agree(comm, name)?;
    let agreed = complete(mpi, agreement)?.agreed();
    let world = mpi.process.engine.transport().rank();
    if groups.0.rank_of(world).is_none() {
        mpi.process.leave_out(agreed);
        return Ok(CommId::NULL);
    }
    add(mpi, comm, groups, agreed)
}

/// All ranks of `comm` once more.
fn twin<A: Abi>(mpi: &mut Entered, model: CommId, name: &'static str) -> Result<CommId> {
    let known = mpi.process.comm(model)?;
    let groups = (known.group.clone(), known.remote.clone());
    let made = make(mpi, model, groups, name)?;
    comm::inherit::<A>(mpi, model, made)?;
    Ok(made)
}

pub fn comm_dup<A: Abi>(comm: Comm<A>, made: Out<Comm<A>>) -> c_int {
    let comm = comm.id();
    making("MPI_Comm_dup", comm, made, |mpi| {
        twin::<A>(mpi, comm, "MPI_Comm_dup")
    })
}

/// There are no hints that this library follows.
pub fn comm_dup_with_info<A: Abi>(comm: Comm<A>, _info: Info<A>, made: Out<Comm<A>>) -> c_int {
    let comm = comm.id();
    making("MPI_Comm_dup_with_info", comm, made, |mpi| {
        twin::<A>(mpi, comm, "MPI_Comm_dup_with_info")
    })
}

fn begin_twin<A: Abi>(
    mpi: &mut Entered,
    model: CommId,
    (made, request): (Out<Comm<A>>, Out<Request<A>>),
    name: &'static str,
) -> Result<()> {
    let (twin, begun) = mpi.process.begin_dup(model, name)?;
    handlers::keep(mpi.process.comm(model)?.errhandler)?;
    comm::inherit::<A>(mpi, model, twin)?;
    made.set(Comm::of(twin))?;
    request.set(Request::of(begun))
}

pub fn comm_idup<A: Abi>(comm: Comm<A>, made: Out<Comm<A>>, request: Out<Request<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_idup", comm, |mpi| {
        begin_twin(mpi, comm, (made, request), "MPI_Comm_idup")
    })
}

/// There are no hints that this library follows.
pub fn comm_idup_with_info<A: Abi>(
    comm: Comm<A>,
    _info: Info<A>,
    made: Out<Comm<A>>,
    request: Out<Request<A>>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_idup_with_info", comm, |mpi| {
        begin_twin(mpi, comm, (made, request), "MPI_Comm_idup_with_info")
    })
}

/// The members of `comm` that give the same color as this rank, by key and then by rank.
fn split(
    mpi: &mut Entered,
    comm: CommId,
    (color, key): (Option<u32>, i32),
    name: &'static str,
) -> Result<CommId> {
    let mut gives = [0; 12];
    let color_word = color.map_or(u64::MAX, u64::from);
    gives[..8].copy_from_slice(&color_word.to_ne_bytes());
    gives[8..].copy_from_slice(&key.to_ne_bytes());
    let gathering = mpi.process.gather_all(comm, &gives, name)?;
    let all = complete(mpi, gathering)?;
    let parent = mpi.process.comm(comm)?;
    let (rows, _) = all.result().as_chunks::<12>();
    let mut members: Vec<(i32, u32)> = Vec::new();
    for (row, &world) in rows.iter().zip(parent.everybody().world_ranks()) {
        if row[..8] == gives[..8] {
            let key = row.last_chunk().expect("a row has twelve bytes");
            members.push((i32::from_ne_bytes(*key), world));
        }
    }
    // Stable: ranks with the same key keep their order.
    members.sort_by_key(|&(key, _)| key);
    let of = |group: &group::Group| {
        let members = members.iter().map(|&(_, world)| world);
        group::Group::new(
            members
                .filter(|&world| group.rank_of(world).is_some())
                .collect(),
        )
    };
    let (group, remote) = (of(&parent.group), parent.remote.as_ref().map(of));
    // A color that only one of two groups gives makes no communicator.
    let is_one_sided = remote.as_ref().is_some_and(|remote| remote.size() == 0);
    let groups = match color {
        Some(_) if !is_one_sided => (group, remote),
        _ => (group::Group::new(Vec::new()), None),
    };
    make(mpi, comm, groups, name)
}

pub fn comm_split<A: Abi>(comm: Comm<A>, color: c_int, key: c_int, made: Out<Comm<A>>) -> c_int {
    let comm = comm.id();
    making("MPI_Comm_split", comm, made, |mpi| {
        let color = match u32::try_from(color) {
            Ok(color) => Some(color),
            Err(_) if color == A::UNDEFINED => None,
            Err(_) => return Err(no_color(color)),
        };
        split(mpi, comm, (color, key), "MPI_Comm_split")
    })
}

/// Whether hints ask for ranks that share memory.
fn names_memory(hints: InfoId) -> Result<bool> {
    let pairs = info::pairs(hints)?;
    let mut all = pairs.iter();
    Ok(all.any(|(key, value)| key == "mpi_hw_resource_type" && value == "mpi_shared_memory"))
}

/// The color of ranks that can have a window of shared memory together: all of a host; on a chip, where
/// nobody sees the memory of another core, each rank is alone.
fn with_whom_shared(mpi: &mut Entered) -> Option<u32> {
    let transport = mpi.process.engine.transport();
    Some(match transport.shared_memory() {
        Some(_) => 0,
        None => transport.rank(),
    })
}

pub fn comm_split_type<A: Abi>(
    comm: Comm<A>,
    split_type: c_int,
    key: c_int,
    hints: Info<A>,
    made: Out<Comm<A>>,
) -> c_int {
    let comm = comm.id();
    making("MPI_Comm_split_type", comm, made, |mpi| {
        let color = match split_type {
            _ if split_type == A::COMM_TYPE_SHARED => with_whom_shared(mpi),
            _ if (split_type == A::COMM_TYPE_HW_GUIDED
                || split_type == A::COMM_TYPE_RESOURCE_GUIDED)
                && names_memory(hints.id())? =>
            {
                with_whom_shared(mpi)
            }
            // Nothing that this library knows divides the ranks of a host any further.
            _ if split_type == A::UNDEFINED
                || split_type == A::COMM_TYPE_HW_GUIDED
                || split_type == A::COMM_TYPE_HW_UNGUIDED
                || split_type == A::COMM_TYPE_RESOURCE_GUIDED =>
            {
                None
            }
            _ => {
                let what = format!("{split_type} is no MPI_COMM_TYPE_... constant");
                return Err(Error::new(Class::Arg, what));
            }
        };
        split(mpi, comm, (color, key), "MPI_Comm_split_type")
    })
}

pub(super) fn group_of(mpi: &Entered, group: GroupId) -> Result<group::Group> {
    let found = mpi.process.groups.get(group).cloned();
    found.ok_or_else(|| {
        let what = format!("there is no group of handle {:#x}, or no longer", group.0);
        Error::new(Class::Group, what)
    })
}

/// Refuses a group that is not within another.
fn check_within(group: &group::Group, parent: &group::Group) -> Result<()> {
    let is_within = |&world: &u32| parent.rank_of(world).is_some();
    if group.world_ranks().iter().all(is_within) {
        return Ok(());
    }
    let what = "the group has a process that is not in the communicator";
    Err(Error::new(Class::Group, what))
}

pub fn comm_create<A: Abi>(comm: Comm<A>, group: Group<A>, made: Out<Comm<A>>) -> c_int {
    let (comm, group) = (comm.id(), group.id());
    making("MPI_Comm_create", comm, made, |mpi| {
        let group = group_of(mpi, group)?;
        check_within(&group, &mpi.process.comm(comm)?.group)?;
        let groups = match mpi.process.comm(comm)?.remote.is_some() {
            // Groups that differ from rank to rank share no rank: one context serves all of them.
            false => (group, None),
            true => within_both(mpi, comm, group, "MPI_Comm_create")?,
        };
        make(mpi, comm, groups, "MPI_Comm_create")
    })
}

/// Of an intercommunicator: what this group's ranks give, and what the others' do.
fn within_both(
    mpi: &mut Entered,
    comm: CommId,
    group: group::Group,
    name: &'static str,
) -> Result<Groups> {
    let world = mpi.process.engine.transport().rank();
    let place = group.rank_of(world).map_or(u32::MAX, |rank| rank);
    let gathering = mpi.process.gather_all(comm, &place.to_ne_bytes(), name)?;
    let all = complete(mpi, gathering)?;
    let parent = mpi.process.comm(comm)?;
    let (places, _) = all.result().as_chunks::<4>();
    let mut others: Vec<(u32, u32)> = Vec::new();
    for (place, &world) in places.iter().zip(parent.everybody().world_ranks()) {
        let place = u32::from_ne_bytes(*place);
        if place != u32::MAX && parent.group.rank_of(world).is_none() {
            others.push((place, world));
        }
    }
    others.sort_unstable();
    let remote = group::Group::new(others.into_iter().map(|(_, world)| world).collect());
    Ok(match remote.size() {
        0 => (remote, None),
        _ => (group, Some(remote)),
    })
}

pub fn comm_create_group<A: Abi>(
    comm: Comm<A>,
    group: Group<A>,
    tag: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    let (comm, group) = (comm.id(), group.id());
    making("MPI_Comm_create_group", comm, made, |mpi| {
        let group = group_of(mpi, group)?;
        check_within(&group, &mpi.process.comm(comm)?.group)?;
        if tag < 0 {
            let what = format!("the tag is {tag}; tags are not negative");
            return Err(Error::new(Class::Tag, what));
        }
        let world = mpi.process.engine.transport().rank();
        if group.rank_of(world).is_none() {
            return Ok(CommId::NULL);
        }
        let parts = (comm, &group);
        let agreement = mpi.process.agree_in(parts, tag, "MPI_Comm_create_group")?;
        let agreed = complete(mpi, agreement)?.agreed();
        add(mpi, comm, (group, None), agreed)
    })
}

/// The tag that stands for a string.
pub(super) fn tag_of(text: &str) -> i32 {
    (fnv_1a(text.as_bytes()) >> 33) as i32 // its 31 upper bits
}

pub fn comm_create_from_group<A: Abi>(
    group: Group<A>,
    stringtag: In<std::ffi::c_char>,
    hints: Info<A>,
    errhandler: super::Errhandler<A>,
    made: Out<Comm<A>>,
) -> c_int {
    let group = group.id();
    const NAME: &str = "MPI_Comm_create_from_group";
    making(NAME, Owner::Handler(errhandler.id()), made, |mpi| {
        let group = group_of(mpi, group)?;
        info::check(hints.id())?;
        let tag = tag_of(&stringtag.string()?);
        if group.size() == 0 {
            return Ok(CommId::NULL);
        }
        let agreement = mpi.process.agree_in((CommId::WORLD, &group), tag, NAME)?;
        let agreed = complete(mpi, agreement)?.agreed();
        let new = add(mpi, CommId::WORLD, (group, None), agreed)?;
        comm_between::give_handler(mpi, new, errhandler.id())?;
        Ok(new)
    })
}

/// Frees a communicator: its messages and collectives that are under way go on, since they have all
/// they need.
fn free<A: Abi>(mpi: &mut Entered, comm: Out<Comm<A>>) -> Result<()> {
    let id = comm.get()?.id();
    if !id.is_predefined() {
        comm::disown::<A>(mpi, id)?;
    }
    let has_lane = mpi.process.comm(id)?.collectives.lane.is_some();
    if has_lane && !id.is_predefined() {
        // Another communicator may have its share of the boards once nobody reads there any more, but
        // nobody waits for that: a rank may free what others still use.
        let barrier = Caller::new(&mpi.process, "MPI_Comm_free", Comm::<A>::of(id))?.barrier()?;
        let barrier = barrier.job(&mut mpi.process)?;
        mpi.process.leave_comm(id, Box::new(barrier))?;
    } else {
        mpi.process.remove_comm(id)?;
    }
    if mpi.parent == id {
        mpi.parent = CommId::NULL;
    }
    comm.set(Comm::of(CommId::NULL))
}

pub fn comm_free<A: Abi>(comm: Out<Comm<A>>) -> c_int {
    let owner = comm.get().map_or(CommId::NULL, super::super::abi::Raw::id);
    call::<A>("MPI_Comm_free", owner, |mpi| free::<A>(mpi, comm))
}

pub fn comm_disconnect<A: Abi>(comm: Out<Comm<A>>) -> c_int {
    let owner = comm.get().map_or(CommId::NULL, super::super::abi::Raw::id);
    const NAME: &str = "MPI_Comm_disconnect";
    call::<A>(NAME, owner, |mpi| {
        // Whatever was sent has left this process when all are here; then they can go apart.
        let id = comm.get()?.id();
        let barrier = Caller::new(&mpi.process, NAME, Comm::<A>::of(id))?.barrier()?;
        wait(mpi, &barrier)?;
        mpi.wait(|process| Ok(process.is_quiet_on(id)?.then_some(())))?;
        free::<A>(mpi, comm)
    })
}

#[cold]
fn no_color(color: c_int) -> Error {
    let what = format!("the color is {color}; colors are not negative, or MPI_UNDEFINED");
    Error::new(Class::Arg, what)
}
