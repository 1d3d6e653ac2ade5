// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::{Comm, Count, Entered, Group, In, Out, Owner, call};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::group::Group as Ranks;
use crate::handle::{GroupId, PROC_NULL};

/// The group of a handle.
pub(super) fn group_of(mpi: &Entered, group: GroupId) -> Result<&Ranks> {
    mpi.process.groups.get(group).ok_or_else(|| {
        let what = match group {
            GroupId::NULL => "the group is MPI_GROUP_NULL".to_owned(),
            GroupId(number) => format!("there is no group of handle {number:#x}, or no longer"),
        };
        Error::new(Class::Group, what)
    })
}

/// Gives the program a group.
pub(super) fn give<A: Abi>(mpi: &mut Entered, group: Ranks, place: Out<Group<A>>) -> Result<()> {
    if group.size() == 0 {
        return place.set(Group::of(GroupId::EMPTY));
    }
    let full = || Error::new(Class::NoMem, "there are too many groups");
    let id = mpi.process.groups.insert(group).ok_or_else(full)?;
    place.set(Group::of(id))
}

/// This process' rank in a group, or `MPI_UNDEFINED`.
fn rank_in<A: Abi>(mpi: &mut Entered, group: &Ranks) -> c_int {
    let world = mpi.process.engine.transport().rank();
    group
        .rank_of(world)
        .map_or(A::UNDEFINED, |rank| rank as c_int)
}

pub fn comm_group<A: Abi>(comm: Comm<A>, group: Out<Group<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_group", comm, |mpi| {
        let ranks = mpi.process.comm(comm)?.group.clone();
        give(mpi, ranks, group)
    })
}

pub fn comm_remote_group<A: Abi>(comm: Comm<A>, group: Out<Group<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_remote_group", comm, |mpi| {
        let remote = mpi.process.comm(comm)?.remote.clone();
        let not_one = || Error::new(Class::Comm, "the communicator has no remote group");
        give(mpi, remote.ok_or_else(not_one)?, group)
    })
}

pub fn group_free<A: Abi>(group: Out<Group<A>>) -> c_int {
    call::<A>("MPI_Group_free", Owner::Nobody, |mpi| {
        let id = group.get()?.id();
        group_of(mpi, id)?;
        mpi.process.groups.remove(id);
        group.set(Group::of(GroupId::NULL))
    })
}

pub fn group_size<A: Abi>(group: Group<A>, size: Out<c_int>) -> c_int {
    call::<A>("MPI_Group_size", Owner::Nobody, |mpi| {
        size.set(group_of(mpi, group.id())?.size() as c_int)
    })
}

pub fn group_rank<A: Abi>(group: Group<A>, rank: Out<c_int>) -> c_int {
    call::<A>("MPI_Group_rank", Owner::Nobody, |mpi| {
        let group = group_of(mpi, group.id())?.clone();
        rank.set(rank_in::<A>(mpi, &group))
    })
}

/// How two lists of ranks compare; the same handle is not looked at.
pub(super) fn compared<A: Abi>(one: &Ranks, other: &Ranks) -> c_int {
    let is_similar = || {
        let all = one.world_ranks().iter();
        one.size() == other.size() && { all }.all(|&rank| other.rank_of(rank).is_some())
    };
    if one == other {
        A::IDENT
    } else if is_similar() {
        A::SIMILAR
    } else {
        A::UNEQUAL
    }
}

pub fn group_compare<A: Abi>(one: Group<A>, other: Group<A>, result: Out<c_int>) -> c_int {
    call::<A>("MPI_Group_compare", Owner::Nobody, |mpi| {
        let (one, other) = (group_of(mpi, one.id())?, group_of(mpi, other.id())?);
        result.set(compared::<A>(one, other))
    })
}

pub fn group_translate_ranks<A: Abi>(
    group: Group<A>,
    count: c_int,
    ranks: In<c_int>,
    other: Group<A>,
    translated: Out<c_int>,
) -> c_int {
    call::<A>("MPI_Group_translate_ranks", Owner::Nobody, |mpi| {
        let (group, other) = (group_of(mpi, group.id())?, group_of(mpi, other.id())?);
        for (index, &rank) in ranks.slice(count.count()?)?.iter().enumerate() {
            let there = match A::peer(rank) {
                PROC_NULL => A::PROC_NULL,
                rank => {
                    let world = world_rank(group, rank)?;
                    other
                        .rank_of(world)
                        .map_or(A::UNDEFINED, |rank| rank as c_int)
                }
            };
            translated.at(index).set(there)?;
        }
        Ok(())
    })
}

/// The process of this rank.
fn world_rank(group: &Ranks, rank: i32) -> Result<u32> {
    let found = usize::try_from(rank)
        .ok()
        .and_then(|rank| group.world_ranks().get(rank));
    found.copied().ok_or_else(|| {
        let what = format!("there is no rank {rank} in a group of {}", group.size());
        Error::new(Class::Rank, what)
    })
}

/// A call that makes a group of one and ranks in it.
fn make<A: Abi>(
    name: &'static str,
    group: Group<A>,
    new: Out<Group<A>>,
    choose: impl FnOnce(&Ranks) -> Result<Vec<u32>>,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        let ranks = choose(group_of(mpi, group.id())?)?;
        give(mpi, Ranks::new(ranks), new)
    })
}

/// The processes of these ranks, which must differ.
fn picked(group: &Ranks, ranks: impl IntoIterator<Item = i32>) -> Result<Vec<u32>> {
    let mut is_picked = vec![false; group.size()];
    let mut picked = Vec::new();
    for rank in ranks {
        let world = world_rank(group, rank)?;
        if std::mem::replace(&mut is_picked[rank as usize], true) {
            let what = format!("rank {rank} is named twice");
            return Err(Error::new(Class::Rank, what));
        }
        picked.push(world);
    }
    Ok(picked)
}

/// All processes but these.
fn without(group: &Ranks, excluded: &[u32]) -> Vec<u32> {
    let all = group.world_ranks().iter().copied();
    all.filter(|rank| !excluded.contains(rank)).collect()
}

pub fn group_incl<A: Abi>(
    group: Group<A>,
    count: c_int,
    ranks: In<c_int>,
    new: Out<Group<A>>,
) -> c_int {
    make("MPI_Group_incl", group, new, |group| {
        picked(group, ranks.slice(count.count()?)?.iter().copied())
    })
}

pub fn group_excl<A: Abi>(
    group: Group<A>,
    count: c_int,
    ranks: In<c_int>,
    new: Out<Group<A>>,
) -> c_int {
    make("MPI_Group_excl", group, new, |group| {
        let excluded = picked(group, ranks.slice(count.count()?)?.iter().copied())?;
        Ok(without(group, &excluded))
    })
}

/// The ranks of triples of first, last and stride; not more than `limit` and one.
fn expanded(ranges: &[[c_int; 3]], limit: usize) -> Result<Vec<i32>> {
    let mut ranks = Vec::new();
    for &[first, last, stride] in ranges {
        if stride == 0 {
            return Err(Error::new(Class::Arg, "the stride of a range is 0"));
        }
        let mut rank = i64::from(first);
        let is_within = |rank: i64| match stride > 0 {
            true => rank <= i64::from(last),
            false => rank >= i64::from(last),
        };
        while is_within(rank) && ranks.len() <= limit {
            ranks.push(rank as i32);
            rank += i64::from(stride);
        }
    }
    Ok(ranks)
}

pub fn group_range_incl<A: Abi>(
    group: Group<A>,
    count: c_int,
    ranges: Out<[c_int; 3]>,
    new: Out<Group<A>>,
) -> c_int {
    make("MPI_Group_range_incl", group, new, |group| {
        let ranges = ranges.array().slice(count.count()?)?;
        picked(group, expanded(ranges, group.size())?)
    })
}

pub fn group_range_excl<A: Abi>(
    group: Group<A>,
    count: c_int,
    ranges: Out<[c_int; 3]>,
    new: Out<Group<A>>,
) -> c_int {
    make("MPI_Group_range_excl", group, new, |group| {
        let ranges = ranges.array().slice(count.count()?)?;
        let excluded = picked(group, expanded(ranges, group.size())?)?;
        Ok(without(group, &excluded))
    })
}

/// A call that makes a group of two.
fn combine<A: Abi>(
    name: &'static str,
    (one, other): (Group<A>, Group<A>),
    new: Out<Group<A>>,
    choose: impl FnOnce(&Ranks, &Ranks) -> Vec<u32>,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        let ranks = choose(group_of(mpi, one.id())?, group_of(mpi, other.id())?);
        give(mpi, Ranks::new(ranks), new)
    })
}

pub fn group_union<A: Abi>(one: Group<A>, other: Group<A>, new: Out<Group<A>>) -> c_int {
    combine("MPI_Group_union", (one, other), new, |one, other| {
        let more = without(other, one.world_ranks());
        [one.world_ranks(), &more].concat()
    })
}

pub fn group_intersection<A: Abi>(one: Group<A>, other: Group<A>, new: Out<Group<A>>) -> c_int {
    combine("MPI_Group_intersection", (one, other), new, |one, other| {
        let all = one.world_ranks().iter().copied();
        all.filter(|&rank| other.rank_of(rank).is_some()).collect()
    })
}

pub fn group_difference<A: Abi>(one: Group<A>, other: Group<A>, new: Out<Group<A>>) -> c_int {
    combine("MPI_Group_difference", (one, other), new, |one, other| {
        without(one, other.world_ranks())
    })
}
