// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of collectives: what the program gives, as one [`Call`], with what is wrong about it.
//!
//! Blocking, non-blocking and persistent forms of a collective have the same arguments.
#![forbid(unsafe_code)]

use std::ffi::c_int;
use std::sync::Arc;

use corecast_core::Collective;

use super::{Address, Comm, Count, Datatype, Entered, In, Op};
use crate::abi::Abi;
use crate::collective::side::{Cut, Part, Side};
use crate::collective::{Call, Wanted};
use crate::datatype::Type;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, OpId, TypeId};
use crate::process::Process;
use crate::topology::Topology;

/// Who calls what.
pub struct Caller<'a> {
    process: &'a Process,
    name: &'static str,
    comm: CommId,
    pub(super) rank: usize,
    pub(super) ranks: usize,
    /// The places of the other group's ranks, if there is one.
    pub(super) others: Option<Vec<Option<u32>>>,
    /// Of a communicator with a topology.
    neighbours: Option<Neighbours>,
}

/// Whom a rank hears from and speaks to.
struct Neighbours {
    sources: Vec<Option<u32>>,
    destinations: Vec<Option<u32>>,
    is_grid: bool,
}

impl<'a> Caller<'a> {
    /// The caller of a function on a communicator.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle.
    pub fn new<A: Abi>(process: &'a Process, name: &'static str, comm: Comm<A>) -> Result<Self> {
        let comm = comm.id();
        let communicator = process.comm(comm)?;
        Ok(Self {
            process,
            name,
            comm,
            rank: communicator.rank as usize,
            ranks: communicator.group.size(),
            others: communicator.remote.as_ref().map(|remote| {
                let first = communicator.first_remote();
                (first..first + remote.size() as u32).map(Some).collect()
            }),
            neighbours: None,
        })
    }

    /// The caller of a function on a communicator with a topology.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle, [`Class::Topology`] if it has none, or one with an
    /// edge along which nobody would answer.
    pub fn among_neighbours<A: Abi>(
        mpi: &'a Entered,
        name: &'static str,
        comm: Comm<A>,
    ) -> Result<Self> {
        let mut caller = Self::new(&mpi.process, name, comm)?;
        let Some(topology) = mpi.topologies.get(&comm.id()) else {
            let what = "the communicator has no topology";
            return Err(Error::new(Class::Topology, what));
        };
        topology.check_edges(caller.rank as u32)?;
        let (sources, destinations) = topology.neighbors(caller.rank as u32);
        caller.neighbours = Some(Neighbours {
            sources,
            destinations,
            is_grid: matches!(topology, Topology::Cart(_)),
        });
        Ok(caller)
    }

    /// A call to neighbours, and how many there are on either side.
    fn to_neighbours(&self) -> Result<(Call, usize, usize)> {
        let Some(neighbours) = &self.neighbours else {
            return Err(Error::new(Class::Intern, "the neighbours are not known"));
        };
        let wanted = Wanted::Neighbours {
            sources: neighbours.sources.clone(),
            destinations: neighbours.destinations.clone(),
            is_grid: neighbours.is_grid,
        };
        let (from, to) = (neighbours.sources.len(), neighbours.destinations.len());
        Ok((self.call(wanted), from, to))
    }

    pub(super) fn call(&self, wanted: Wanted) -> Call {
        Call {
            name: self.name,
            comm: self.comm,
            wanted,
            send: None,
            recv: None,
            in_place: false,
            op: None,
            is_irregular: false,
        }
    }

    fn known(&self, collective: Collective) -> Call {
        self.call(Wanted::Known(collective, 0))
    }

    fn rooted(&self, collective: Collective, root: c_int) -> Result<(Call, bool)> {
        let number = usize::try_from(root).ok();
        let Some(root) = number.filter(|&root| root < self.ranks) else {
            let what = format!("the root is {root}; ranks are 0 to {}", self.ranks - 1);
            return Err(Error::new(Class::Root, what));
        };
        let call = self.call(Wanted::Known(collective, root as u32));
        Ok((call, root == self.rank))
    }

    pub(super) fn datatype(&self, datatype: TypeId) -> Result<Arc<Type>> {
        self.process.committed(datatype).map(Arc::clone)
    }

    /// Blocks of one size, one after the other.
    pub(super) fn even<A: Abi, N: Count>(
        &self,
        (buffer, count, datatype): (Address, N, Datatype<A>),
        blocks: usize,
    ) -> Result<Side> {
        let count = count.count()?;
        let datatype = self.datatype(datatype.id())?;
        buffer.check(count * usize::from(blocks > 0), &datatype)?;
        Ok(Side {
            address: buffer.pointer(),
            cut: Cut::Even {
                count,
                datatype,
                blocks,
            },
        })
    }

    /// Blocks of one datatype, each at its displacement in extents.
    pub(super) fn table<A: Abi, N: Count, D: Count>(
        &self,
        (buffer, counts, datatype): (Address, In<N>, Datatype<A>),
        displacements: In<D>,
        blocks: usize,
    ) -> Result<Side> {
        let datatype = self.datatype(datatype.id())?;
        let counts = counts.slice(blocks)?;
        let displacements = displacements.slice(blocks)?;
        let mut parts = Vec::with_capacity(blocks);
        for (count, displacement) in counts.iter().zip(displacements) {
            let count = count.count()?;
            buffer.check(count, &datatype)?;
            let displacement = isize::try_from(displacement.wide()).unwrap_or(isize::MAX);
            parts.push(Part {
                displacement: displacement.wrapping_mul(datatype.extent()),
                count,
                datatype: Arc::clone(&datatype),
            });
        }
        let (address, cut) = (buffer.pointer(), Cut::Table(parts));
        Ok(Side { address, cut })
    }

    /// Blocks of datatypes of their own, each at its displacement in bytes.
    pub(super) fn mixed<A: Abi, N: Count, D: Count>(
        &self,
        (buffer, counts, datatypes): (Address, In<N>, In<Datatype<A>>),
        displacements: In<D>,
        blocks: usize,
    ) -> Result<Side> {
        let counts = counts.slice(blocks)?;
        let displacements = displacements.slice(blocks)?;
        let datatypes = datatypes.slice(blocks)?;
        let mut parts = Vec::with_capacity(blocks);
        for ((count, displacement), datatype) in counts.iter().zip(displacements).zip(datatypes) {
            let displacement = isize::try_from(displacement.wide()).unwrap_or(isize::MAX);
            let (count, datatype) = (count.count()?, self.datatype(datatype.id())?);
            buffer.offset(displacement).check(count, &datatype)?;
            parts.push(Part {
                displacement,
                count,
                datatype,
            });
        }
        let (address, cut) = (buffer.pointer(), Cut::Table(parts));
        Ok(Side { address, cut })
    }

    /// Blocks one after the other, each of its own number of elements.
    fn consecutive<A: Abi, N: Count>(
        &self,
        (buffer, counts, datatype): (Address, In<N>, Datatype<A>),
    ) -> Result<Side> {
        let datatype = self.datatype(datatype.id())?;
        let mut parts = Vec::with_capacity(self.ranks);
        let mut before = 0_isize;
        for count in counts.slice(self.ranks)? {
            let count = count.count()?;
            buffer.check(count, &datatype)?;
            parts.push(Part {
                displacement: before.wrapping_mul(datatype.extent()),
                count,
                datatype: Arc::clone(&datatype),
            });
            before += count as isize;
        }
        let (address, cut) = (buffer.pointer(), Cut::Table(parts));
        Ok(Side { address, cut })
    }

    pub(super) fn op<A: Abi>(
        &self,
        call: &mut Call,
        op: Op<A>,
        datatype: Datatype<A>,
    ) -> Result<()> {
        let found = self.process.op(op.id())?;
        if matches!(op.id(), OpId::REPLACE | OpId::NO_OP) {
            let what = "MPI_REPLACE and MPI_NO_OP are for windows only";
            return Err(Error::new(Class::Op, what));
        }
        found.check(self.process.committed(datatype.id())?)?;
        call.op = Some(op.id());
        Ok(())
    }

    pub(super) fn is_in_place<A: Abi>(&self, buffer: Address, is_allowed: bool) -> Result<bool> {
        match buffer.is_in_place::<A>() {
            false => Ok(false),
            true if is_allowed => Ok(true),
            true => {
                let what = "MPI_IN_PLACE is not allowed here";
                Err(Error::new(Class::Buffer, what))
            }
        }
    }

    pub fn barrier(&self) -> Result<Call> {
        if self.others.is_some() {
            return self.barrier_between();
        }
        Ok(self.known(Collective::Barrier))
    }

    pub fn bcast<A: Abi, N: Count>(
        &self,
        buffer: Address,
        count: N,
        datatype: Datatype<A>,
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.bcast_between((buffer, count, datatype), root);
        }
        self.is_in_place::<A>(buffer, false)?;
        let (mut call, _) = self.rooted(Collective::Bcast, root)?;
        call.recv = Some(self.even((buffer, count, datatype), 1)?);
        Ok(call)
    }

    pub fn gather<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.gather_between(send, recv, root);
        }
        let (mut call, is_root) = self.rooted(Collective::Gather, root)?;
        call.in_place = self.is_in_place::<A>(send.0, is_root)?;
        if !call.in_place {
            call.send = Some(self.even(send, 1)?);
        }
        if is_root {
            self.is_in_place::<A>(recv.0, false)?;
            call.recv = Some(self.even(recv, self.ranks)?);
        }
        Ok(call)
    }

    pub fn gatherv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.gatherv_between(send, recv, displacements, root);
        }
        let (mut call, is_root) = self.rooted(Collective::Gather, root)?;
        call.is_irregular = true;
        call.in_place = self.is_in_place::<A>(send.0, is_root)?;
        if !call.in_place {
            call.send = Some(self.even(send, 1)?);
        }
        if is_root {
            call.recv = Some(self.table(recv, displacements, self.ranks)?);
        }
        Ok(call)
    }

    pub fn scatter<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.scatter_between(send, recv, root);
        }
        let (mut call, is_root) = self.rooted(Collective::Scatter, root)?;
        call.in_place = self.is_in_place::<A>(recv.0, is_root)?;
        if !call.in_place {
            call.recv = Some(self.even(recv, 1)?);
        }
        if is_root {
            self.is_in_place::<A>(send.0, false)?;
            call.send = Some(self.even(send, self.ranks)?);
        }
        Ok(call)
    }

    pub fn scatterv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
        recv: (Address, N, Datatype<A>),
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.scatterv_between(send, displacements, recv, root);
        }
        let (mut call, is_root) = self.rooted(Collective::Scatter, root)?;
        call.is_irregular = true;
        call.in_place = self.is_in_place::<A>(recv.0, is_root)?;
        if !call.in_place {
            call.recv = Some(self.even(recv, 1)?);
        }
        if is_root {
            call.send = Some(self.table(send, displacements, self.ranks)?);
        }
        Ok(call)
    }

    pub fn allgather<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.allgather_between(send, recv);
        }
        let mut call = self.known(Collective::Allgather);
        call.in_place = self.is_in_place::<A>(send.0, true)?;
        if !call.in_place {
            call.send = Some(self.even(send, 1)?);
        }
        call.recv = Some(self.even(recv, self.ranks)?);
        Ok(call)
    }

    pub fn allgatherv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.allgatherv_between(send, recv, displacements);
        }
        let mut call = self.known(Collective::Allgather);
        call.is_irregular = true;
        call.in_place = self.is_in_place::<A>(send.0, true)?;
        if !call.in_place {
            call.send = Some(self.even(send, 1)?);
        }
        call.recv = Some(self.table(recv, displacements, self.ranks)?);
        Ok(call)
    }

    pub fn alltoall<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.alltoall_between(send, recv);
        }
        let mut call = self.known(Collective::Alltoall);
        call.in_place = self.is_in_place::<A>(send.0, true)?;
        if !call.in_place {
            call.send = Some(self.even(send, self.ranks)?);
        }
        call.recv = Some(self.even(recv, self.ranks)?);
        Ok(call)
    }

    pub fn alltoallv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, Datatype<A>),
        send_displacements: In<D>,
        recv: (Address, In<N>, Datatype<A>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.alltoallv_between(send, send_displacements, recv, recv_displacements);
        }
        let mut call = self.known(Collective::Alltoallv);
        call.is_irregular = true;
        call.in_place = self.is_in_place::<A>(send.0, true)?;
        if !call.in_place {
            call.send = Some(self.table(send, send_displacements, self.ranks)?);
        }
        call.recv = Some(self.table(recv, recv_displacements, self.ranks)?);
        Ok(call)
    }

    pub fn alltoallw<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, In<Datatype<A>>),
        send_displacements: In<D>,
        recv: (Address, In<N>, In<Datatype<A>>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.alltoallw_between(send, send_displacements, recv, recv_displacements);
        }
        let mut call = self.known(Collective::Alltoallv);
        call.is_irregular = true;
        call.in_place = self.is_in_place::<A>(send.0, true)?;
        if !call.in_place {
            call.send = Some(self.mixed(send, send_displacements, self.ranks)?);
        }
        call.recv = Some(self.mixed(recv, recv_displacements, self.ranks)?);
        Ok(call)
    }

    pub fn reduce<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        (count, datatype, op): (N, Datatype<A>, Op<A>),
        root: c_int,
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.reduce_between((send, recv), (count, datatype, op), root);
        }
        let (mut call, is_root) = self.rooted(Collective::Reduce, root)?;
        self.op(&mut call, op, datatype)?;
        call.in_place = self.is_in_place::<A>(send, is_root)?;
        if !call.in_place {
            call.send = Some(self.even((send, count, datatype), 1)?);
        }
        if is_root {
            self.is_in_place::<A>(recv, false)?;
            call.recv = Some(self.even((recv, count, datatype), 1)?);
        }
        Ok(call)
    }

    fn reduced_everywhere<A: Abi, N: Count>(
        &self,
        mut call: Call,
        (send, recv): (Address, Address),
        (count, datatype, op): (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        self.op(&mut call, op, datatype)?;
        call.in_place = self.is_in_place::<A>(send, true)?;
        self.is_in_place::<A>(recv, false)?;
        if !call.in_place {
            call.send = Some(self.even((send, count, datatype), 1)?);
        }
        call.recv = Some(self.even((recv, count, datatype), 1)?);
        Ok(call)
    }

    pub fn allreduce<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        what: (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.allreduce_between((send, recv), what);
        }
        let call = self.known(Collective::Allreduce);
        self.reduced_everywhere(call, (send, recv), what)
    }

    pub fn scan<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        what: (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        self.within_one_group()?;
        self.reduced_everywhere(self.call(Wanted::Prefix(true)), (send, recv), what)
    }

    pub fn exscan<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        what: (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        self.within_one_group()?;
        self.reduced_everywhere(self.call(Wanted::Prefix(false)), (send, recv), what)
    }

    pub fn reduce_scatter_block<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        (count, datatype, op): (N, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.reduce_scatter_block_between((send, recv), (count, datatype, op));
        }
        let mut call = self.known(Collective::ReduceScatter);
        self.op(&mut call, op, datatype)?;
        call.in_place = self.is_in_place::<A>(send, true)?;
        if !call.in_place {
            call.send = Some(self.even((send, count, datatype), self.ranks)?);
        }
        let blocks = if call.in_place { self.ranks } else { 1 };
        call.recv = Some(self.even((recv, count, datatype), blocks)?);
        Ok(call)
    }

    pub fn reduce_scatter<A: Abi, N: Count>(
        &self,
        send: Address,
        recv: Address,
        (counts, datatype, op): (In<N>, Datatype<A>, Op<A>),
    ) -> Result<Call> {
        if self.others.is_some() {
            return self.reduce_scatter_between((send, recv), (counts, datatype, op));
        }
        let mut call = self.known(Collective::ReduceScatter);
        call.is_irregular = true;
        self.op(&mut call, op, datatype)?;
        call.in_place = self.is_in_place::<A>(send, true)?;
        call.recv = Some(if call.in_place {
            self.consecutive((recv, counts, datatype))?
        } else {
            call.send = Some(self.consecutive((send, counts, datatype))?);
            let own = counts.slice(self.ranks)?[self.rank];
            self.even((recv, own, datatype), 1)?
        });
        Ok(call)
    }

    pub fn neighbor_allgather<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        let (mut call, from, _) = self.to_neighbours()?;
        self.is_in_place::<A>(send.0, false)?;
        call.send = Some(self.even(send, 1)?);
        call.recv = Some(self.even(recv, from)?);
        Ok(call)
    }

    pub fn neighbor_allgatherv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, In<N>, Datatype<A>),
        displacements: In<D>,
    ) -> Result<Call> {
        let (mut call, from, _) = self.to_neighbours()?;
        self.is_in_place::<A>(send.0, false)?;
        call.send = Some(self.even(send, 1)?);
        call.recv = Some(self.table(recv, displacements, from)?);
        Ok(call)
    }

    pub fn neighbor_alltoall<A: Abi, N: Count>(
        &self,
        send: (Address, N, Datatype<A>),
        recv: (Address, N, Datatype<A>),
    ) -> Result<Call> {
        let (mut call, from, to) = self.to_neighbours()?;
        self.is_in_place::<A>(send.0, false)?;
        call.send = Some(self.even(send, to)?);
        call.recv = Some(self.even(recv, from)?);
        Ok(call)
    }

    pub fn neighbor_alltoallv<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, Datatype<A>),
        send_displacements: In<D>,
        recv: (Address, In<N>, Datatype<A>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        let (mut call, from, to) = self.to_neighbours()?;
        self.is_in_place::<A>(send.0, false)?;
        call.send = Some(self.table(send, send_displacements, to)?);
        call.recv = Some(self.table(recv, recv_displacements, from)?);
        Ok(call)
    }

    pub fn neighbor_alltoallw<A: Abi, N: Count, D: Count>(
        &self,
        send: (Address, In<N>, In<Datatype<A>>),
        send_displacements: In<D>,
        recv: (Address, In<N>, In<Datatype<A>>),
        recv_displacements: In<D>,
    ) -> Result<Call> {
        let (mut call, from, to) = self.to_neighbours()?;
        self.is_in_place::<A>(send.0, false)?;
        call.send = Some(self.mixed(send, send_displacements, to)?);
        call.recv = Some(self.mixed(recv, recv_displacements, from)?);
        Ok(call)
    }
}
