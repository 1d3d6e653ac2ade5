// SPDX-License-Identifier: MIT OR Apache-2.0
//! New communicators, as far as one rank can go without waiting.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};

use super::lane::{Lane, Offer, RANKS_MAX};
use super::{Cache, Channel, Proposal, Settings, Small};
use crate::comm::Communicator;
use crate::engine::{Engine, Operation};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{CommId, RequestId};
use crate::process::Process;

impl Process {
    /// The messages of the next collective of a communicator.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle.
    pub fn next_collective(&mut self, comm: CommId, name: &'static str) -> Result<Channel> {
        let communicator = self.comm_mut(comm)?;
        Ok(Channel {
            peers: communicator.everybody().clone(),
            context: communicator.collective_context(),
            tag: communicator.collectives.next_tag(),
            name,
        })
    }

    /// A communicator, to be changed.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle.
    pub fn comm_mut(&mut self, comm: CommId) -> Result<&mut Communicator> {
        self.comm(comm)?;
        Ok(self.comms.get_mut(comm).expect("as just seen"))
    }

    /// A context that nobody else proposes.
    ///
    /// # Errors
    /// [`Class::Other`] if there is none left.
    pub fn propose(&mut self) -> Result<u32> {
        self.contexts.propose(self.engine.transport())
    }

    /// What this rank proposes.
    fn proposal(&mut self) -> Result<Proposal> {
        let context = u64::from(self.propose()?);
        let offer = self.lanes.offer();
        Ok(Proposal { context, offer })
    }

    /// Begins to agree with all ranks of a communicator on the context of another.
    ///
    /// # Errors
    /// As [`Process::next_collective`].
    pub fn agree(&mut self, comm: CommId, name: &'static str) -> Result<Small> {
        let channel = self.next_collective(comm, name)?;
        let proposal = self.proposal()?;
        let communicator = self.comm_mut(comm)?;
        let ranks = communicator.place();
        let state = &mut communicator.collectives;
        let plans = (&mut state.cache, &*state.settings);
        Small::agreement(plans, ranks, channel, proposal)
    }

    /// Begins to agree with a group alone, whose messages have the context of `comm` and a tag below
    /// those of collectives.
    ///
    /// # Errors
    /// [`Class::Group`] if this rank is not in the group.
    pub fn agree_in(
        &mut self,
        (comm, group): (CommId, &Group),
        tag: i32,
        name: &'static str,
    ) -> Result<Small> {
        let context = self.comm(comm)?.collective_context();
        let world = self.engine.transport().rank();
        let Some(rank) = group.rank_of(world) else {
            return Err(Error::new(Class::Group, "this rank is not in the group"));
        };
        let channel = Channel {
            peers: group.clone(),
            context,
            tag: -1 - tag,
            name,
        };
        let proposal = self.proposal()?;
        let plans = (&mut Cache::default(), &Settings::default());
        Small::agreement(plans, (rank, group.size() as u32), channel, proposal)
    }

    /// Begins to gather what all ranks give at all ranks.
    ///
    /// # Errors
    /// As [`Process::next_collective`].
    pub fn gather_all(&mut self, comm: CommId, gives: &[u8], name: &'static str) -> Result<Small> {
        let channel = self.next_collective(comm, name)?;
        self.gather_on(comm, gives, channel)
    }

    /// The same by messages of this channel.
    ///
    /// # Errors
    /// As [`Process::next_collective`].
    pub fn gather_on(&mut self, comm: CommId, gives: &[u8], channel: Channel) -> Result<Small> {
        let communicator = self.comm_mut(comm)?;
        let ranks = communicator.place();
        let state = &mut communicator.collectives;
        let plans = (&mut state.cache, &*state.settings);
        Small::allgather(plans, ranks, channel, gives)
    }

    /// Begins to give all ranks of a communicator what `root` has; the others give as many bytes of room.
    ///
    /// # Errors
    /// As [`Process::next_collective`].
    pub fn give_all(
        &mut self,
        comm: CommId,
        (root, contents): (u32, Box<[u8]>),
        name: &'static str,
    ) -> Result<Small> {
        let channel = self.next_collective(comm, name)?;
        let communicator = self.comm_mut(comm)?;
        let ranks = communicator.place();
        let state = &mut communicator.collectives;
        let plans = (&mut state.cache, &*state.settings);
        Small::bcast(plans, ranks, channel, (root, contents))
    }

    /// Takes in the communicator that was agreed on, as a child of `parent`.
    ///
    /// # Errors
    /// [`Class::Group`] if this rank is not in the group.
    pub fn add_comm(
        &mut self,
        parent: CommId,
        (group, remote): (Group, Option<Group>),
        agreed: Proposal,
    ) -> Result<CommId> {
        let context = agreed.context as u32; // proposed as one
        self.contexts.note(context);
        let world = self.engine.transport().rank();
        let errhandler = self.comm(parent)?.errhandler;
        let Some(rank) = group.rank_of(world) else {
            return Err(Error::new(Class::Group, "this rank is not in the group"));
        };
        let others = remote.as_ref().map_or(&[][..], Group::world_ranks);
        self.engine.reach(group.world_ranks())?;
        self.engine.reach(others)?;
        let may_share = remote.is_none()
            && (2..=RANKS_MAX).contains(&group.size())
            && self.engine.is_of_one_world(group.world_ranks());
        let taken = self.lanes.settle(agreed.offer, may_share);
        let mut communicator = Communicator::new(context, group, rank, "").with_remote(remote);
        communicator.errhandler = errhandler;
        if let (Some(index), Some(boards)) = (taken, self.engine.transport().boards()) {
            let group = &communicator.group;
            let lane = Lane::new(boards, group, rank, (index, agreed.offer.start));
            communicator.collectives.lane = lane;
        }
        let added = self.comms.insert(communicator);
        added.ok_or_else(|| Error::new(Class::Other, "there are too many communicators"))
    }

    /// Begins to duplicate a communicator without waiting: the twin, which may be used once the request
    /// is complete, and the request.
    ///
    /// # Errors
    /// As [`Process::next_collective`].
    pub fn begin_dup(&mut self, comm: CommId, name: &'static str) -> Result<(CommId, RequestId)> {
        let agreement = self.agree(comm, name)?;
        let model = self.comm(comm)?;
        let groups = (model.group.clone(), model.remote.clone());
        let nothing = Proposal {
            context: 0,
            offer: Offer::NONE,
        };
        let twin = self.add_comm(comm, groups, nothing)?;
        let agreed = Arc::new(OnceLock::new());
        self.unsettled.push((twin, Arc::clone(&agreed)));
        let dup = Dup { agreement, agreed };
        let request = self.start_operation(comm, Box::new(dup))?;
        self.settle();
        Ok((twin, request))
    }

    /// Gives communicators the contexts that were agreed on since.
    pub(crate) fn settle(&mut self) {
        let (comms, contexts, lanes) = (&mut self.comms, &mut self.contexts, &mut self.lanes);
        self.unsettled.retain(|(twin, agreed)| {
            let Some(agreed) = agreed.get() else {
                return true;
            };
            let context = agreed.context as u32;
            contexts.note(context);
            lanes.settle(agreed.offer, false);
            if let Some(twin) = comms.get_mut(*twin) {
                twin.context = context;
            }
            false
        });
    }

    /// Takes note of an agreement on a communicator without this rank.
    pub fn leave_out(&mut self, agreed: Proposal) {
        self.contexts.note(agreed.context as u32);
        self.lanes.settle(agreed.offer, false);
    }

    /// Forgets a communicator. All its ranks have come to its end.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle, or it is predefined.
    pub fn remove_comm(&mut self, comm: CommId) -> Result<()> {
        if let Some(lane) = self.forget_comm(comm)? {
            self.lanes.give_back(&lane);
        }
        Ok(())
    }

    /// Forgets a communicator that others may still use: its share of the boards is free when a barrier
    /// of its ranks is complete.
    ///
    /// # Errors
    /// As [`Process::remove_comm`], and those of the barrier.
    pub fn leave_comm(&mut self, comm: CommId, barrier: Box<dyn Operation>) -> Result<()> {
        if let Some(lane) = self.forget_comm(comm)? {
            let request = self.start_operation(CommId::SELF, barrier)?;
            self.parting.push((request, lane));
            self.part();
        }
        Ok(())
    }

    fn forget_comm(&mut self, comm: CommId) -> Result<Option<Lane>> {
        self.comm(comm)?;
        if comm.is_predefined() {
            let what = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed";
            return Err(Error::new(Class::Comm, what));
        }
        let Some(mut removed) = self.comms.remove(comm) else {
            return Ok(None);
        };
        let lane = removed.collectives.lane.take();
        let kept_as = Arc::clone(&removed.kept_as);
        // Beside the communicator's own and this one there are those of persistent calls, which go on: for
        // them it stays, under a handle that the program does not know.
        if Arc::strong_count(&kept_as) > 2
            && let Some(kept) = self.comms.insert(removed)
        {
            // Nobody else has set it: a handle is freed once.
            let _ = kept_as.set(kept);
        }
        Ok(lane)
    }

    /// Takes back shares of the boards that nobody reads any more.
    pub(crate) fn part(&mut self) {
        for (request, lane) in std::mem::take(&mut self.parting) {
            match self.test(request) {
                Ok(None) => self.parting.push((request, lane)),
                Ok(Some(_)) => self.lanes.give_back(&lane),
                // Somebody has died, and nobody may have that share any more.
                Err(_) => {}
            }
        }
    }
}

/// A duplication under way.
struct Dup {
    agreement: Small,
    agreed: Arc<OnceLock<Proposal>>,
}

impl Operation for Dup {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        let is_complete = self.agreement.advance(engine)?;
        if is_complete {
            self.agreed.get_or_init(|| self.agreement.agreed());
        }
        Ok(is_complete)
    }
}
