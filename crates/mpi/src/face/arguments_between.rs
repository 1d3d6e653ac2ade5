// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of collectives between the two groups of an intercommunicator (MPI 5.0, 6.2.3).
//!
//! What is no reduction is messages from each rank of a group to each of the other; a root sends or
//! receives all of them.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::arguments::Caller;
use super::{Address, Count, Datatype, In, Op};
use crate::abi::Abi;
use crate::collective::side::{Cut, Side};
use crate::collective::{Between, Call, Wanted};
use crate::error::{Class, Error, Result};
use crate::handle::{PROC_NULL, ROOT, TypeId};

/// What this rank is in a collective with a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// The root.
    Root,
    /// In the root's group.
    Bystander,
    /// In the other group; the root's rank.
    Other(u32),
}

impl Caller<'_> {
    fn all_others(&self) -> Vec<Option<u32>> {
        self.others.clone().unwrap_or_default()
    }

    fn others_count(&self) -> usize {
        self.others.as_ref().map_or(0, Vec::len)
    }

    /// Refuses a communicator of two groups.
    ///
    /// # Errors
    /// [`Class::Comm`].
    pub(super) fn within_one_group(&self) -> Result<()> {
        match self.others {
            None => Ok(()),
            Some(_) => {
                let what = "an intercommunicator has no order of all its ranks, and so no prefixes";
                Err(Error::new(Class::Comm, what))
            }
        }
    }

    fn role<A: Abi>(&self, root: c_int) -> Result<Role> {
        let others = self.others_count();
        match A::peer(root) {
            ROOT => Ok(Role::Root),
            PROC_NULL => Ok(Role::Bystander),
            rank => match u32::try_from(rank) {
                Ok(rank) if (rank as usize) < others => Ok(Role::Other(rank)),
                _ => {
                    let what = format!(
                        "the root is {root}; ranks of the other group are 0 to {}, and the root's own \
                         group gives MPI_ROOT or MPI_PROC_NULL",
                        others as i64 - 1
                    );
                    Err(Error::new(Class::Root, what))
                }
            },
        }
    }

    /// A call with messages from and to these.
    fn messages(&self, sources: Vec<Option<u32>>, destinations: Vec<Option<u32>>) -> Call {
        let mut call = self.call(Wanted::Neighbours {
            sources,
            destinations,
            is_grid: false,
        });
        call.is_irregular = true;
        call
    }

    /// The place of a rank of the other group.
    fn place(&self, rank: u32) -> Vec<Option<u32>> {
        let all = self.others.as_deref().unwrap_or_default();
        all.get(rank as usize).copied().into_iter().collect()
    }

    /// A call in which the root gives: its buffer, and that of the others.
    fn root_gives<A: Abi>(
        &self,
        root: c_int,
        given: impl FnOnce() -> Result<Side>,
        taken: impl FnOnce() -> Result<Side>,
    ) -> Result<Call> {
        Ok(match self.role::<A>(root)? {
            Role::Bystander => self.messages(Vec::new(), Vec::new()),
            Role::Root => {
                let mut call = self.messages(Vec::new(), self.all_others());
                call.send = Some(given()?);
                call
            }
            Role::Other(root) => {
                let mut call = self.messages(self.place(root), Vec::new());
                call.recv = Some(taken()?);
                call
            }
        })
    }

    /// A call in which the root takes.
    fn root_takes<A: Abi>(
        &self,
        root: c_int,
        given: impl FnOnce() -> Result<Side>,
        taken: impl FnOnce() -> Result<Side>,
    ) -> Result<Call> {
        Ok(match self.role::<A>(root)? {
            Role::Bystander => self.messages(Vec::new(), Vec::new()),
            Role::Root => {
                let mut call = self.messages(self.all_others(), Vec::new());
                call.recv = Some(taken()?);
                call
            }
            Role::Other(root) => {
                let mut call = self.messages(Vec::new(), self.place(root));
                call.send = Some(given()?);
                call
            }
        })
    }

    /// A call in which all give and take.
    fn all_exchange(&self, given: Side, taken: Side) -> Call {
        let mut call = self.messages(self.all_others(), self.all_others());
        call.send = Some(given);
        call.recv = Some(taken);
        call
    }

    pub(super) fn barrier_between(&self) -> Result<Call> {
        let nothing = Side {
            address: std::ptr::null_mut(),
            cut: Cut::Even {
                count: 0,
                datatype: self.datatype(TypeId::BYTE)?,
                blocks: 1,
            },
        };
        Ok(self.all_exchange(nothing.clone(), nothing))
    }

    pub(super) fn bcast_between<A: Abi, N: Count>(
        &self,
        buffer: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        self.root_gives::<A>(root, || self.even(buffer, 1), || self.even(buffer, 1))
    }

    pub(super) fn gather_between<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        let taken = || self.even(recv, self.others_count());
        self.root_takes::<A>(root, || self.even(send, 1), taken)
    }

    pub(super) fn gatherv_between<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
        root: c_int,
    ) -> Result<Call> {
        let taken = || self.table(recv, displacements, self.others_count());
        self.root_takes::<A>(root, || self.even(send, 1), taken)
    }

    pub(super) fn scatter_between<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        let given = || self.even(send, self.others_count());
        self.root_gives::<A>(root, given, || self.even(recv, 1))
    }

    pub(super) fn scatterv_between<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        let given = || self.table(send, displacements, self.others_count());
        self.root_gives::<A>(root, given, || self.even(recv, 1))
    }

    pub(super) fn allgather_between<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        let taken = self.even(recv, self.others_count())?;
        Ok(self.all_exchange(self.even(send, 1)?, taken))
    }

    pub(super) fn allgatherv_between<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
    ) -> Result<Call> {
        let taken = self.table(recv, displacements, self.others_count())?;
        Ok(self.all_exchange(self.even(send, 1)?, taken))
    }

    pub(super) fn alltoall_between<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        let others = self.others_count();
        Ok(self.all_exchange(self.even(send, others)?, self.even(recv, others)?))
    }

    pub(super) fn alltoallv_between<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, Datatype<A>),
        send_displacements: In<D>,
        recv: (Address, In<N>, Datatype<A>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        let others = self.others_count();
        let given = self.table(send, send_displacements, others)?;
        let taken = self.table(recv, recv_displacements, others)?;
        Ok(self.all_exchange(given, taken))
    }

    pub(super) fn alltoallw_between<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, In<Datatype<A>>),
        send_displacements: In<D>,
        recv: (Address, In<N>, In<Datatype<A>>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        let others = self.others_count();
        let given = self.mixed(send, send_displacements, others)?;
        let taken = self.mixed(recv, recv_displacements, others)?;
        Ok(self.all_exchange(given, taken))
    }

    pub(super) fn reduce_between<A: Abi, N: Count>(
        &self,
        (send, recv): (Address, Address),
        (count, datatype, op): (N, Datatype<A>, Op<A>),
        root: c_int,
    ) -> Result<Call> {
        let role = self.role::<A>(root)?;
        let mut call = self.call(Wanted::Between(match role {
            Role::Root => Between::Root,
            Role::Bystander => Between::Bystander,
            Role::Other(root) => Between::ToRoot(root),
        }));
        if role != Role::Bystander {
            self.op(&mut call, op, datatype)?;
        }
        match role {
            Role::Root => call.recv = Some(self.even((recv, count, datatype), 1)?),
            Role::Bystander => {}
            Role::Other(_) => call.send = Some(self.even((send, count, datatype), 1)?),
        }
        Ok(call)
    }

    pub(super) fn allreduce_between<A: Abi, N: Count>(
        &self,
        (send, recv): (Address, Address),
        (count, datatype, op): (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        let mut call = self.call(Wanted::Between(Between::ToAll));
        self.op(&mut call, op, datatype)?;
        call.send = Some(self.even((send, count, datatype), 1)?);
        call.recv = Some(self.even((recv, count, datatype), 1)?);
        Ok(call)
    }

    pub(super) fn reduce_scatter_block_between<A: Abi, N: Count>(
        &self,
        buffers: (Address, Address),
        (count, datatype, op): (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        let counts = vec![count.count()?; self.ranks];
        self.scattered_between(buffers, counts, (datatype, op))
    }

    pub(super) fn reduce_scatter_between<A: Abi, N: Count>(
        &self,
        buffers: (Address, Address),
        (counts, datatype, op): (In<N>, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        let counts: Result<Vec<usize>> = counts
            .slice(self.ranks)?
            .iter()
            .map(|count| count.count())
            .collect();
        self.scattered_between(buffers, counts?, (datatype, op))
    }

    fn scattered_between<A: Abi>(
        &self,
        (send, recv): (Address, Address),
        counts: Vec<usize>,
        (datatype, op): (Datatype<A>, Op<A>),
    ) -> Result<Call> {
        let wide = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let all = counts
            .iter()
            .fold(0_usize, |all, &count| all.saturating_add(count));
        let own = counts[self.rank];
        let mut call = self.call(Wanted::Between(Between::Scattered(counts)));
        self.op(&mut call, op, datatype)?;
        call.send = Some(self.even((send, wide(all), datatype), 1)?);
        call.recv = Some(self.even((recv, wide(own), datatype), 1)?);
        Ok(call)
    }
}
