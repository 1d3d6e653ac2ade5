// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intercommunicators: two groups that speak to each other.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::comm_new::{add, complete, group_of, make, making, tag_of};
use super::{Comm, Entered, Errhandler, Group, In, Info, Out, Owner, handlers, info};
use crate::abi::Abi;
use crate::engine::{Memory, Mode};
use crate::error::{Class, Error, Result};
use crate::greeting::{HEAD, agreed_on, decoded, encoded, misunderstood};
use crate::group;
use crate::handle::{CommId, ErrhandlerId};

/// Most processes that a leader can be told of.
const MEMBERS_MAX: usize = 4096;

/// Sends bytes to a leader and receives its own, of at most `room` bytes.
fn exchange(
    mpi: &mut Entered,
    (context, peer, tag): (u32, u32, i32),
    bytes: &mut Vec<u8>,
    room: usize,
) -> Result<Vec<u8>> {
    let mut theirs = vec![0; room];
    // SAFETY of the memory: both vectors outlive the waits below, or are never given back.
    let into = Memory::of(&mut theirs);
    let from = Memory::of(bytes);
    let engine = &mut mpi.process.engine;
    let receive = engine.recv(context, Some(peer), Some(tag), into)?;
    let send = engine.send(context, peer, tag, from, Mode::Standard)?;
    let done = mpi.wait(|process| {
        let is_sent = send
            .as_ref()
            .is_none_or(|send| process.engine.landed(send).is_some());
        let landed = process.engine.landed(&receive);
        Ok(landed.filter(|_| is_sent))
    });
    let landed = match done {
        Ok(landed) => landed,
        Err(error) => {
            std::mem::forget((theirs, std::mem::take(bytes)));
            return Err(error);
        }
    };
    if let Some(send) = send {
        mpi.process.engine.release(send);
    }
    mpi.process.engine.release(receive);
    theirs.truncate(landed.bytes);
    Ok(theirs)
}

fn bad_leader(rank: c_int, ranks: usize, whose: &str) -> Error {
    let what = format!(
        "the {whose} leader is {rank}; ranks are 0 to {}",
        ranks as i64 - 1
    );
    Error::new(Class::Rank, what)
}

pub fn intercomm_create<A: Abi>(
    local_comm: Comm<A>,
    local_leader: c_int,
    peer_comm: Comm<A>,
    remote_leader: c_int,
    tag: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    const NAME: &str = "MPI_Intercomm_create";
    let (local, peer) = (local_comm.id(), peer_comm.id());
    making(NAME, local, made, |mpi| {
        let known = mpi.process.comm(local)?;
        if known.remote.is_some() {
            let what = "the local communicator has two groups; it has to be of one";
            return Err(Error::new(Class::Comm, what));
        }
        let (group, rank) = (known.group.clone(), known.rank);
        let leader = u32::try_from(local_leader).ok();
        let leader = leader.filter(|&leader| (leader as usize) < group.size());
        let leader = leader.ok_or_else(|| bad_leader(local_leader, group.size(), "local"))?;
        if tag < 0 {
            let what = format!("the tag is {tag}; tags are not negative");
            return Err(Error::new(Class::Tag, what));
        }
        // The leaders tell each other; what is wrong for one of them ends the call for all of its group.
        let mut told = Vec::new();
        let mut failure = None;
        if rank == leader {
            match ask_leader(mpi, &group, (peer, remote_leader, tag)) {
                Ok(found) => told = found,
                Err(error) => failure = Some(error),
            }
        }
        let told = tell_all(mpi, local, (leader, told), NAME)?;
        if let Some(error) = failure {
            return Err(error);
        }
        if told.is_empty() {
            let what = "the leader of this group could not reach the other one";
            return Err(Error::new(Class::Rank, what));
        }
        let (context, remote) = decoded(&told).ok_or_else(misunderstood)?;
        let shares_one = |&world: &u32| group.rank_of(world).is_some();
        if remote.world_ranks().iter().any(shares_one) {
            let what = "the two groups have a process in common";
            return Err(Error::new(Class::Group, what));
        }
        add(mpi, local, (group, Some(remote)), agreed_on(context))
    })
}

/// What the leader has to tell, at all ranks of its communicator.
pub(super) fn tell_all(
    mpi: &mut Entered,
    comm: CommId,
    (leader, mut told): (u32, Vec<u8>),
    name: &'static str,
) -> Result<Vec<u8>> {
    let size = (told.len() as u64).to_ne_bytes().into();
    let giving = mpi.process.give_all(comm, (leader, size), name)?;
    let size = complete(mpi, giving)?;
    let (size, _) = size.result().as_chunks::<8>();
    told.resize(u64::from_ne_bytes(size[0]) as usize, 0);
    if told.is_empty() {
        return Ok(told);
    }
    let giving = mpi.process.give_all(comm, (leader, told.into()), name)?;
    Ok(complete(mpi, giving)?.result().to_vec())
}

/// What the other leader tells of its group, with the context that both take: the larger proposal.
fn ask_leader(
    mpi: &mut Entered,
    group: &group::Group,
    (peer, remote_leader, tag): (CommId, c_int, i32),
) -> Result<Vec<u8>> {
    let own = u64::from(mpi.process.propose()?);
    let known = mpi.process.comm(peer)?;
    let peers = known.peers();
    let world = usize::try_from(remote_leader).ok();
    let world = world.and_then(|rank| peers.world_ranks().get(rank).copied());
    let world = world.ok_or_else(|| bad_leader(remote_leader, peers.size(), "remote"))?;
    if world == mpi.process.engine.transport().rank() {
        let what = "the remote leader is this process; the two groups have no process in common";
        return Err(Error::new(Class::Rank, what));
    }
    // Tags below those of collectives, as for communicators that a group makes alone.
    let channel = (
        mpi.process.comm(peer)?.collective_context(),
        world,
        -1 - tag,
    );
    let room = HEAD + 4 * MEMBERS_MAX;
    let mut told = encoded(own, group);
    let theirs = exchange(mpi, channel, &mut told, room)?;
    let (context, remote) = decoded(&theirs).ok_or_else(misunderstood)?;
    Ok(encoded(context.max(own), &remote))
}

pub fn intercomm_merge<A: Abi>(comm: Comm<A>, high: c_int, made: Out<Comm<A>>) -> c_int {
    const NAME: &str = "MPI_Intercomm_merge";
    let comm = comm.id();
    making(NAME, comm, made, |mpi| {
        let known = mpi.process.comm(comm)?;
        let (group, first) = (known.group.clone(), known.first_local());
        let Some(remote) = known.remote.clone() else {
            let what = "the communicator has one group; only two can be merged";
            return Err(Error::new(Class::Comm, what));
        };
        let other = known.first_remote() as usize;
        let high = u8::from(high != 0);
        let gathering = mpi.process.gather_all(comm, &[high], NAME)?;
        let all = complete(mpi, gathering)?;
        let theirs = all.result().get(other).copied().unwrap_or(0);
        // Where both say the same the order is that in which all know all.
        let is_first = match (high, theirs) {
            (0, 1) => true,
            (1, 0) => false,
            _ => first == 0,
        };
        let ranks = match is_first {
            true => [group.world_ranks(), remote.world_ranks()],
            false => [remote.world_ranks(), group.world_ranks()],
        };
        let merged = group::Group::new(ranks.concat());
        make(mpi, comm, (merged, None), NAME)
    })
}

pub fn intercomm_create_from_groups<A: Abi>(
    local_group: Group<A>,
    local_leader: c_int,
    remote_group: Group<A>,
    remote_leader: c_int,
    stringtag: In<c_char>,
    hints: Info<A>,
    errhandler: Errhandler<A>,
    made: Out<Comm<A>>,
) -> c_int {
    const NAME: &str = "MPI_Intercomm_create_from_groups";
    let (local, remote) = (local_group.id(), remote_group.id());
    making(NAME, Owner::Handler(errhandler.id()), made, |mpi| {
        let (group, remote) = (group_of(mpi, local)?, group_of(mpi, remote)?);
        info::check(hints.id())?;
        let tag = tag_of(&stringtag.string()?);
        for (leader, ranks, whose) in [
            (local_leader, group.size(), "local"),
            (remote_leader, remote.size(), "remote"),
        ] {
            if usize::try_from(leader).is_ok_and(|leader| leader < ranks) {
                continue;
            }
            return Err(bad_leader(leader, ranks, whose));
        }
        let shares_one = |&world: &u32| group.rank_of(world).is_some();
        if remote.world_ranks().iter().any(shares_one) {
            let what = "the two groups have a process in common";
            return Err(Error::new(Class::Group, what));
        }
        let all = crate::comm::everybody(&group, Some(&remote));
        let agreement = mpi.process.agree_in((CommId::WORLD, &all), tag, NAME)?;
        let agreed = complete(mpi, agreement)?.agreed();
        let new = add(mpi, CommId::WORLD, (group, Some(remote)), agreed)?;
        give_handler(mpi, new, errhandler.id())?;
        Ok(new)
    })
}

/// Gives a communicator the error handler that the program named, if it named one.
pub(super) fn give_handler(mpi: &mut Entered, comm: CommId, wanted: ErrhandlerId) -> Result<()> {
    if wanted != ErrhandlerId::NULL {
        handlers::keep(wanted)?;
        let known = mpi.process.comm_mut(comm)?;
        handlers::leave(std::mem::replace(&mut known.errhandler, wanted));
    }
    Ok(())
}
