// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communicators and collectives.

use corecast_core::{ElementType, Rank, ReduceOp};
use corecast_machine::Await;

use crate::core::{Core, Flag, Until, Wait};
use crate::error::{Misuse, RcceError};
use crate::memory::Buffer;
use crate::program::Rcce;

/// A group of ranks (`RCCE_COMM`). Its members are numbered in order of their ranks among all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comm {
    members: Vec<Rank>,
    /// The member that holds it.
    me: Rank,
    /// Flags of its barrier: that a member has come, and that it may go.
    gather: u32,
    release: u32,
}

/// The barrier's flags of the group of all ranks.
pub(crate) const WORLD_FLAGS: [u32; 2] = [0, 1];

impl Comm {
    /// Number of its members (`RCCE_comm_size`).
    #[must_use]
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// Number of this rank among its members (`RCCE_comm_rank`).
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.me
    }

    /// Ranks of its members among all.
    #[must_use]
    pub fn members(&self) -> &[Rank] {
        &self.members
    }

    /// Its members but number `but`, in order.
    fn others(&self, but: Rank) -> impl Iterator<Item = Rank> {
        let others = self.members.clone().into_iter().enumerate();
        others.filter_map(move |(index, rank)| (index != but.index()).then_some(rank))
    }
}

impl<C: Core> Rcce<C> {
    /// The group of all ranks (`RCCE_COMM_WORLD`).
    pub fn world(&self) -> Comm {
        let [gather, release] = WORLD_FLAGS;
        Comm {
            members: (0..self.num_ues()).map(Rank).collect(),
            me: self.ue(),
            gather,
            release,
        }
    }

    /// The group of the ranks that have this rank's colour (`RCCE_comm_split`). All ranks must call
    /// it, with the same colours; nothing is communicated.
    ///
    /// # Errors
    /// [`Misuse::OutOfFlags`]: a communicator needs two.
    pub fn comm_split<K: PartialEq>(
        &mut self,
        colour: impl Fn(Rank) -> K,
    ) -> Result<Comm, RcceError> {
        self.enter("RCCE_comm_split");
        let mine = colour(self.ue());
        let ranks = (0..self.num_ues()).map(Rank);
        let members: Vec<Rank> = ranks.filter(|&rank| colour(rank) == mine).collect();
        let me = members.iter().position(|&rank| rank == self.ue());
        Ok(Comm {
            me: Rank(me.expect("a rank has its own colour") as u32),
            members,
            gather: self.take_flag()?,
            release: self.take_flag()?,
        })
    }

    /// Waits until all members have come (`RCCE_barrier`): member 0 reads the flags of all until
    /// they are set, then releases one after the other. Pending requests are pushed meanwhile.
    ///
    /// # Errors
    /// [`Misuse::ForeignComm`], and those of [`Rcce::push`].
    ///
    /// # Source
    /// RCCE 2.0, `RCCE_barrier`.
    pub async fn barrier(&mut self, comm: &Comm) -> Result<(), RcceError> {
        self.enter("RCCE_barrier");
        self.check_comm(comm)?;
        let (cores, me, head) = (self.num_ues(), self.ue(), comm.members[0]);
        let (gather, release) = (
            Flag::other(cores, comm.gather),
            Flag::other(cores, comm.release),
        );
        let wanted = 1 - self.core.flag(me, gather).await;
        self.core.set_flag(me, gather, wanted).await;
        let wait = |flag, peer| Wait {
            flag,
            until: Until::Is(wanted),
            peer,
            awaits: Await::Launch,
        };
        if me != head {
            return self.push_until_flag(wait(release, head)).await;
        }
        let all: Vec<(Rank, Wait)> = comm.others(Rank(0)).map(|r| (r, wait(gather, r))).collect();
        while !all.is_empty() {
            let waits = self.queues.waits();
            match self.core.watch(&all, &waits).await? {
                None => break,
                Some(index) => self.advance(waits[index]).await?,
            }
        }
        for rank in comm.others(Rank(0)) {
            self.core.set_flag(rank, release, wanted).await;
        }
        Ok(())
    }

    /// Gives all members the bytes that member `root` has in its buffer (`RCCE_bcast`): it sends
    /// them to one after the other.
    ///
    /// # Errors
    /// [`Misuse::ForeignComm`], and those of [`Rcce::send`] and [`Rcce::recv`].
    ///
    /// # Source
    /// RCCE 2.0, `RCCE_bcast`.
    pub async fn bcast(
        &mut self,
        buffer: Buffer,
        root: Rank,
        comm: &Comm,
    ) -> Result<(), RcceError> {
        self.enter("RCCE_bcast");
        self.check_member(root, comm)?;
        self.bcast_now(buffer, root, comm).await
    }

    async fn bcast_now(
        &mut self,
        buffer: Buffer,
        root: Rank,
        comm: &Comm,
    ) -> Result<(), RcceError> {
        if comm.me != root {
            return self.recv_now(comm.members[root.index()], buffer).await;
        }
        for rank in comm.others(root) {
            self.send_now(rank, buffer).await?;
        }
        Ok(())
    }

    /// Combines the operands of all members element by element into the buffer `to` of member
    /// `root` (`RCCE_reduce`). The two buffers have the same size and are one and the same or
    /// disjoint; those of other members for the result are not touched.
    ///
    /// The root begins with its own operands and receives the others' in order of their number, so
    /// the bits of a sum of floats are the same on every machine. That order, and that the root
    /// does all the work, is what is assumed of RCCE.
    ///
    /// # Errors
    /// [`Misuse::ForeignComm`], [`Misuse::SizesDiffer`], [`Misuse::NotWhole`],
    /// [`Misuse::Overlap`], and those of [`Rcce::send`] and [`Rcce::recv`].
    pub async fn reduce(
        &mut self,
        (from, to): (Buffer, Buffer),
        element: ElementType,
        op: ReduceOp,
        root: Rank,
        comm: &Comm,
    ) -> Result<(), RcceError> {
        self.enter("RCCE_reduce");
        self.check_member(root, comm)?;
        self.reduce_now((from, to), element, op, root, comm).await
    }

    /// As [`Rcce::reduce`] to member 0, which then gives the result to all (`RCCE_allreduce`).
    ///
    /// # Errors
    /// As [`Rcce::reduce`].
    pub async fn allreduce(
        &mut self,
        (from, to): (Buffer, Buffer),
        element: ElementType,
        op: ReduceOp,
        comm: &Comm,
    ) -> Result<(), RcceError> {
        self.enter("RCCE_allreduce");
        self.check_comm(comm)?;
        let root = Rank(0);
        self.reduce_now((from, to), element, op, root, comm).await?;
        self.bcast_now(to, root, comm).await
    }

    async fn reduce_now(
        &mut self,
        (from, to): (Buffer, Buffer),
        element: ElementType,
        op: ReduceOp,
        root: Rank,
        comm: &Comm,
    ) -> Result<(), RcceError> {
        self.check_operands(from, to, element)?;
        if comm.me != root {
            return self.send_now(comm.members[root.index()], from).await;
        }
        let used = self.arena.used();
        let arriving = self.alloc_now(from.len())?;
        let mut result = self.arena.get(from).expect("it is checked").to_vec();
        for rank in comm.others(root) {
            self.recv_now(rank, arriving).await?;
            self.core.combine(from.len() as u64).await;
            let arrived = self.arena.get(arriving).expect("it was allocated");
            op.apply(element, &mut result, arrived);
        }
        self.arena.free_to(used);
        self.arena.store(to.address(), &result);
        Ok(())
    }

    fn check_operands(
        &self,
        from: Buffer,
        to: Buffer,
        element: ElementType,
    ) -> Result<(), RcceError> {
        let checks = || {
            self.readable(from)?;
            self.writable(to)?;
            if from.len() != to.len() {
                return Err(Misuse::SizesDiffer {
                    from: from.len(),
                    to: to.len(),
                });
            }
            if from != to && from.overlaps(to) {
                return Err(Misuse::Overlap);
            }
            if !from.len().is_multiple_of(element.bytes() as usize) {
                let bytes = from.len();
                return Err(Misuse::NotWhole { bytes, element });
            }
            Ok(())
        };
        checks().map_err(|misuse| self.error(misuse))
    }

    fn check_comm(&self, comm: &Comm) -> Result<(), RcceError> {
        let is_mine = comm.members.get(comm.me.index()) == Some(&self.ue());
        let exist = comm.members.iter().all(|rank| rank.0 < self.num_ues());
        let flags = [comm.gather, comm.release];
        if !is_mine || !exist || !flags.iter().all(|flag| self.flags.contains(flag)) {
            return Err(self.error(Misuse::ForeignComm));
        }
        Ok(())
    }

    fn check_member(&self, rank: Rank, comm: &Comm) -> Result<(), RcceError> {
        self.check_comm(comm)?;
        let ranks = comm.size();
        if rank.0 >= ranks {
            return Err(self.error(Misuse::UnknownRank { rank, ranks }));
        }
        Ok(())
    }
}
