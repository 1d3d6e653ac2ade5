// SPDX-License-Identifier: MIT OR Apache-2.0
//! One collective call of a program: what it asks for, and its way from buffers of datatypes to a run.

use std::sync::Arc;

use corecast_core::Collective;

use super::again::{Known, Signature};
use super::between::{self, Between, Groups};
use super::cache::{Shape, say};
use super::check::Check;
use super::choose::{Copies, Hardware};
use super::lane::Lane;
use super::lines::Lines;
use super::persistent::Persistent;
use super::plan::{Layout, own_block};
use super::program::Program;
use super::programs;
use super::run::{Buffers, Combine, Run};
use super::shared::{PAGE, Shared, Task, What};
use super::side::{Cut, Ready, Side};
use super::slots::Slots;
use super::tally::{Number, Way};
use crate::datatype::Type;
use crate::engine::{Engine, Operation};
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, OpId};
use crate::op::{Kernel, Op};
use crate::process::Process;
use crate::transport::Boards;

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A collective that the registry knows, with its root or 0. Sides that are tables are those of
    /// the `v` and `w` forms.
    Known(Collective, u32),
    /// Prefixes; whether a rank's own contribution is in its result.
    Prefix(bool),
    /// A reduction between the groups of an intercommunicator.
    Between(Between),
    /// Messages with neighbours, named by their place among everybody ([`crate::Communicator`]): whom
    /// this rank receives from, and whom it sends to. A side with one block is sent to all of them.
    Neighbours {
        /// Senders, in the order of blocks; `None`: nobody.
        sources: Vec<Option<u32>>,
        /// Receivers, in the order of blocks.
        destinations: Vec<Option<u32>>,
        /// Whether blocks alternate between the two directions of each dimension of a grid. What is
        /// sent in one comes from the other, even where both lead to the same rank.
        is_grid: bool,
    },
}

/// A collective call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function, for error messages.
    pub name: &'static str,
    /// The communicator.
    pub comm: CommId,
    /// What is asked for.
    pub wanted: Wanted,
    /// What this rank gives; `None` if it lies in the receive buffer, or if it gives nothing.
    pub send: Option<Side>,
    /// What this rank gets; `None` if it gets nothing.
    pub recv: Option<Side>,
    /// Whether what it gives lies in the receive buffer (`MPI_IN_PLACE`).
    pub in_place: bool,
    /// The operator.
    pub op: Option<OpId>,
    /// Whether blocks have lengths of their own (`v` and `w` forms), at this rank or at others.
    pub is_irregular: bool,
}

/// An operator on elements of one datatype.
enum Reduction {
    /// One of the standard's on a basic type.
    Kernel(Kernel),
    /// Any other.
    Op(Arc<Op>, Arc<Type>),
}

impl Combine for Reduction {
    unsafe fn combine(&self, left: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        let (left, into) = unsafe {
            (
                std::slice::from_raw_parts(left, bytes),
                std::slice::from_raw_parts_mut(into, bytes),
            )
        };
        match self {
            Self::Kernel(kernel) => kernel(into, left),
            // It was checked that the operator is defined on the datatype.
            Self::Op(op, datatype) => drop(op.apply(datatype, into, left)),
        }
    }
}

/// A call that is under way through boards.
pub struct Through {
    shared: Shared,
    comm: CommId,
    reduction: Option<Reduction>,
    packed: Option<Box<Packed>>,
}

/// What is packed of a call's buffers.
struct Packed {
    recv: Ready,
    /// What the call reads; kept for it.
    _send: Ready,
    /// Where what was received goes.
    side: Option<Side>,
}

/// A call that the communicator knows from before ([`super::Again`]), and that is under way.
pub enum Recalled {
    /// All posts are one line each: most calls that are made again and again.
    Lines(InLines),
    /// They are in pieces.
    Slots(Through),
}

/// A known call whose posts are one line each. It is small: who makes one often need not make anything
/// else.
pub struct InLines {
    lines: Lines,
    comm: CommId,
    reduction: Option<Reduction>,
}

impl Recalled {
    /// A call that the communicator knows, if it does.
    ///
    /// # Safety
    /// The promise of [`crate::Buffer`] holds for the buffers, as the collective says.
    #[inline(always)]
    pub unsafe fn new(
        process: &mut Process,
        comm: CommId,
        signature: &Signature,
        buffers: Buffers,
    ) -> Option<Self> {
        let collectives = &process.comms.get(comm)?.collectives;
        let (task, buffers, kernel) = collectives.again.find(signature, buffers)?;
        let is_in_lines = task.is_in_lines(collectives.lane.as_ref()?.ranks());
        let reduction = kernel.map(Reduction::Kernel);
        let collective = task.what.collective();
        process.tally.count(collective, Way::Boards, Number::BOARDS);
        // SAFETY: the caller's promise; that buffers are there and lie apart was looked at.
        Some(unsafe {
            match is_in_lines {
                true => Self::Lines(InLines {
                    lines: Lines::new(task, buffers),
                    comm,
                    reduction,
                }),
                false => Self::Slots(Through {
                    shared: Shared::Slots(Slots::new(task, buffers)),
                    comm,
                    reduction,
                    packed: None,
                }),
            }
        })
    }
}

/// A communicator's lane, and the boards.
#[inline]
fn boards_of(process: &mut Process, comm: CommId) -> Result<(&mut Lane, &mut dyn Boards)> {
    let (engine, comms) = (&mut process.engine, &mut process.comms);
    let comm = comms.get_mut(comm);
    let lane = comm.and_then(|comm| comm.collectives.lane.as_mut());
    match (lane, engine.transport().boards()) {
        (Some(lane), Some(boards)) => Ok((lane, boards)),
        _ => Err(gone()),
    }
}

/// How messages of so many bytes are copied.
fn copies(process: &mut Process, bytes: usize) -> Copies {
    let transport = process.engine.transport();
    if bytes <= PAGE || bytes < transport.read_min() {
        return Copies::Twice;
    }
    let share_cores = transport.boards().is_some_and(|it| it.share_cores());
    match share_cores {
        false if bytes < transport.clear_min() => Copies::Twice,
        true => Copies::OnceInTurns,
        false => Copies::Once,
    }
}

#[cold]
pub(super) fn gone() -> Error {
    Error::new(Class::Comm, "the communicator was freed meanwhile")
}

impl InLines {
    /// Goes on as far as it can; whether it is complete.
    ///
    /// # Errors
    /// [`Class::Comm`] if the communicator is gone.
    #[inline(always)]
    pub fn advance(&mut self, process: &mut Process) -> Result<bool> {
        let (lane, boards) = boards_of(process, self.comm)?;
        Ok(self.lines.advance(lane, boards, self.reduction.as_ref()))
    }
}

impl Through {
    /// Goes on as far as it can; whether it is complete.
    ///
    /// # Errors
    /// [`Class::Comm`] if the communicator is gone.
    #[inline]
    pub fn advance(&mut self, process: &mut Process) -> Result<bool> {
        let (lane, boards) = boards_of(process, self.comm)?;
        let operator = self
            .reduction
            .as_ref()
            .map(|reduction| reduction as &dyn Combine);
        if !self.shared.advance(lane, boards, operator) {
            return Ok(false);
        }
        if let Some(packed) = &mut self.packed
            && let Some(side) = &packed.side
        {
            // SAFETY: the program's promise for its receive buffer, which lasts until now.
            unsafe { side.deliver(&mut packed.recv) };
        }
        Ok(true)
    }
}

/// A call that is under way.
pub struct RunningCall {
    /// The comparison with the calls of other ranks, as long as it is under way.
    pub(super) check: Option<Check>,
    pub(super) run: Run,
    send: Ready,
    recv: Ready,
    side: Option<Side>,
}

// SAFETY: addresses are numbers here; see `Side`.
unsafe impl Send for RunningCall {}

impl Operation for RunningCall {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        if let Some(check) = &mut self.check {
            if !check.advance(engine)? {
                return Ok(false);
            }
            self.check = None;
        }
        if !self.run.advance(engine)? {
            return Ok(false);
        }
        if let Some(side) = &self.side {
            // SAFETY: the program's promise for its receive buffer, which lasts until now.
            unsafe { side.deliver(&mut self.recv) };
        }
        Ok(true)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if self.run.is_under_way() {
            self.send.leak();
            self.recv.leak();
        }
    }
}

/// How a call is made.
pub(super) enum Form<'a> {
    /// The program waits for it.
    Now,
    /// The program goes on.
    Later,
    /// As one of many.
    Again(&'a Persistent),
}

impl Call {
    /// The call, ready to be carried out while the program goes on.
    ///
    /// # Errors
    /// What is wrong with its arguments.
    pub fn job(&self, process: &mut Process) -> Result<RunningCall> {
        self.job_of(process, Form::Later)
    }

    /// The call, ready to be carried out while the program waits for it.
    ///
    /// # Errors
    /// What is wrong with its arguments.
    pub fn job_now(&self, process: &mut Process) -> Result<RunningCall> {
        self.job_of(process, Form::Now)
    }

    pub(super) fn job_of(&self, process: &mut Process, form: Form<'_>) -> Result<RunningCall> {
        let kept = match form {
            Form::Again(kept) => Some(kept),
            Form::Now | Form::Later => None,
        };
        let operator = match kept {
            Some(kept) => self.reduction(kept.op.as_ref())?,
            None => self.operator(process)?,
        };
        let (rank, ranks) = self.check(process)?;
        let check = match (process.comm(self.comm)?.collectives.settings.checks, kept) {
            (true, Some(kept)) => Some(Check::new(process, self, kept.check.clone())?),
            (true, None) => {
                let channel = process.next_collective(self.comm, self.name)?;
                Some(Check::new(process, self, channel)?)
            }
            (false, _) => None,
        };
        // A broadcast reads the buffer at its root; what lies in place is read everywhere.
        let is_bcast_root = self.wanted == Wanted::Known(Collective::Bcast, rank);
        let reads_recv = self.in_place || is_bcast_root;
        // SAFETY: who made the call promised it for all its buffers (`crate::Buffer`).
        let (send, recv) = unsafe { self.ready(reads_recv) };
        let hardware = self.hardware(process, &form);
        let buffers = (&send, &recv);
        let program = self.program(process, (rank, ranks), buffers, operator.as_ref(), hardware)?;
        let channel = match kept {
            Some(kept) => kept.channel.clone(),
            None => process.next_collective(self.comm, self.name)?,
        };
        let buffers = Buffers {
            send: send.base,
            recv: recv.base,
        };
        let combine = operator.map(|(operator, _)| Arc::new(operator) as Arc<dyn Combine>);
        // SAFETY: as above; packed bytes are kept as long as the run.
        let run = unsafe { Run::new(program, channel, buffers, combine) };
        let side = self.recv.as_ref().filter(|_| recv.is_packed()).cloned();
        Ok(RunningCall {
            check,
            run,
            send,
            recv,
            side,
        })
    }

    /// The call, ready to be carried out through boards, if that is the way for it; what can be kept of
    /// it for the next call of this signature is kept.
    ///
    /// # Errors
    /// What is wrong with its arguments.
    pub fn through_boards(
        &self,
        process: &mut Process,
        signature: Option<Signature>,
    ) -> Result<Option<Through>> {
        let Wanted::Known(collective, root) = self.wanted else {
            return Ok(None);
        };
        let bytes = self.block_bytes()?;
        let copies = copies(process, bytes);
        let comm = process.comm(self.comm)?;
        let Some(lane) = &comm.collectives.lane else {
            return Ok(None);
        };
        self.check_own(comm.rank)?;
        let Some(what) = What::of(collective).filter(|_| !self.is_irregular) else {
            return Ok(None);
        };
        let settings = &comm.collectives.settings;
        if settings.checks {
            return Ok(None);
        }
        if bytes == 0 && collective != Collective::Barrier {
            return Ok(None);
        }
        let size = (lane.ranks(), bytes);
        if !settings.goes_through_boards(collective, size, copies) {
            return Ok(None);
        }
        let (slot_bytes, is_reproducible) = (lane.slot_bytes(), settings.is_reproducible);
        let is_explained = settings.explains && comm.rank == 0;
        let is_bcast_root = collective == Collective::Bcast && root == comm.rank;
        let operator = self.operator(process)?;
        let element_bytes = self.element_bytes(operator.is_some());
        if element_bytes > slot_bytes {
            return Ok(None);
        }
        if is_explained {
            self.explain_boards(process, (collective, bytes))?;
        }
        let is_free = operator.as_ref().is_some_and(|(_, is_ordered)| !is_ordered);
        let task = Task {
            what,
            root,
            bytes,
            element_bytes,
            in_place: self.in_place,
            is_free: is_free && !is_reproducible,
        };
        // SAFETY: who made the call promised it for all its buffers (`crate::Buffer`).
        let (send, recv) = unsafe { self.ready(self.in_place || is_bcast_root) };
        let buffers = Buffers {
            send: send.base,
            recv: recv.base,
        };
        // SAFETY: as above; packed bytes are kept beside it.
        let shared = unsafe { Shared::new(task, size.0, buffers) };
        let reduction = operator.map(|(reduction, _)| reduction);
        if let Some(signature) = signature.filter(|_| !is_explained) {
            let kernel = match &reduction {
                Some(Reduction::Kernel(kernel)) => Some(*kernel),
                _ => None,
            };
            let sides = (self.send.as_ref(), self.recv.as_ref());
            if let Some(known) = Known::new(signature, task, kernel, sides) {
                process.comm_mut(self.comm)?.collectives.again.learn(known);
            }
        }
        process.tally.count(collective, Way::Boards, Number::BOARDS);
        let is_packed = send.is_packed() || recv.is_packed();
        let packed = is_packed.then(|| {
            Box::new(Packed {
                side: self.recv.as_ref().filter(|_| recv.is_packed()).cloned(),
                recv,
                _send: send,
            })
        });
        Ok(Some(Through {
            shared,
            comm: self.comm,
            reduction,
            packed,
        }))
    }

    #[cold]
    fn explain_boards(&self, process: &mut Process, what: (Collective, usize)) -> Result<()> {
        let state = &mut process.comm_mut(self.comm)?.collectives;
        let (collective, bytes) = what;
        if state.cache.is_news(collective, bytes) {
            let ranks = state.lane.as_ref().map_or(0, super::lane::Lane::ranks);
            let measured = state.settings.measured.as_ref();
            let why = match measured.and_then(|measured| measured.file(collective)) {
                Some(file) => format!("{file}: the fastest"),
                None => "every rank reads what others post; all ranks share memory".to_owned(),
            };
            say(
                self.name,
                ranks as u32,
                bytes,
                &format!("{} ({why})", Way::Boards.words()),
            );
        }
        Ok(())
    }

    /// Both buffers, ready.
    ///
    /// # Safety
    /// The promise of [`crate::Buffer`] holds for them.
    unsafe fn ready(&self, reads_recv: bool) -> (Ready, Ready) {
        let (send, recv) = (self.send.as_ref(), self.recv.as_ref());
        // SAFETY: the caller's promise.
        unsafe {
            (
                send.map_or_else(Ready::none, |side| side.ready(true)),
                recv.map_or_else(Ready::none, |side| side.ready(reads_recv)),
            )
        }
    }

    /// This rank and the number of ranks, if the arguments make sense.
    fn check(&self, process: &Process) -> Result<(u32, u32)> {
        let comm = process.comm(self.comm)?;
        if let Wanted::Known(_, root) = self.wanted
            && root as usize >= comm.group.size()
        {
            return Err(no_root(root, comm.group.size()));
        }
        for side in self.send.iter().chain(&self.recv) {
            side.bytes()?;
        }
        self.check_own(comm.rank)?;
        Ok((comm.rank, comm.group.size() as u32))
    }

    /// The operator, and whether operands must keep the order of ranks.
    fn operator(&self, process: &Process) -> Result<Option<(Reduction, bool)>> {
        let op = self.op.map(|op| process.op(op)).transpose()?;
        self.reduction(op)
    }

    fn reduction(&self, op: Option<&Arc<Op>>) -> Result<Option<(Reduction, bool)>> {
        let (Some(op), Some(datatype)) = (op, self.datatype()) else {
            return Ok(None);
        };
        op.check(datatype)?;
        let is_ordered = !op.is_commutative();
        let reduction = match op.kernel(datatype) {
            Some(kernel) => Reduction::Kernel(kernel),
            None => Reduction::Op(Arc::clone(op), Arc::clone(datatype)),
        };
        Ok(Some((reduction, is_ordered)))
    }

    /// Bytes of an element of a reduction, and 1 of what is none.
    fn element_bytes(&self, is_reduction: bool) -> usize {
        let datatype = self.datatype().filter(|_| is_reduction);
        datatype.map_or(1, |datatype| datatype.size())
    }

    /// The datatype of a reduction.
    pub(super) fn datatype(&self) -> Option<&Arc<Type>> {
        let side = self.send.as_ref().or(self.recv.as_ref())?;
        match &side.cut {
            Cut::Even { datatype, .. } => Some(datatype),
            Cut::Table(parts) => parts.first().map(|part| &part.datatype),
        }
    }

    /// What the call has of the machine's own broadcasts. Calls that go on beside others use none: ranks
    /// may wait for several in different orders.
    fn hardware(&self, process: &mut Process, form: &Form<'_>) -> Hardware {
        if !matches!(self.wanted, Wanted::Known(Collective::Bcast, _)) {
            return Hardware::None;
        }
        match process.engine.transport().broadcaster() {
            None => Hardware::None,
            Some(broadcaster) => match broadcaster.bytes_max() {
                Some(bytes) if matches!(form, Form::Now) => Hardware::Used(bytes),
                _ => Hardware::Unused,
            },
        }
    }

    fn program(
        &self,
        process: &mut Process,
        ranks: (u32, u32),
        (send, recv): (&Ready, &Ready),
        operator: Option<&(Reduction, bool)>,
        hardware: Hardware,
    ) -> Result<Arc<Program>> {
        let is_ordered = operator.is_some_and(|(_, is_ordered)| *is_ordered);
        let (collective, root) = match &self.wanted {
            Wanted::Known(collective, root) => (*collective, *root),
            Wanted::Prefix(is_inclusive) => {
                let bytes = self.block_bytes()?;
                let program = programs::prefix(ranks, bytes, self.in_place, *is_inclusive);
                return Ok(Arc::new(program));
            }
            Wanted::Between(wanted) => {
                let comm = process.comm(self.comm)?;
                let groups = Groups {
                    rank: ranks.0,
                    ranks: ranks.1,
                    first_local: comm.first_local(),
                    first_remote: comm.first_remote(),
                };
                let element = self.element_bytes(operator.is_some());
                let bytes = self.send.as_ref().or(self.recv.as_ref());
                let bytes = bytes.map_or(Ok(0), Side::bytes)?;
                return Ok(Arc::new(between::program(wanted, groups, bytes, element)));
            }
            Wanted::Neighbours {
                sources,
                destinations,
                is_grid,
            } => return self.meet(process, sources, destinations, *is_grid, (send, recv)),
        };
        let bytes = match self.is_irregular {
            true => 0,
            false => self.block_bytes()?,
        };
        let element_bytes = self.element_bytes(operator.is_some()).max(1);
        let (name, rank) = (self.name, ranks.0);
        let own = self.own_table(collective, ranks)?;
        let state = &mut process.comm_mut(self.comm)?.collectives;
        let settings = Arc::clone(&state.settings);
        let made = state.cache.made();
        if !self.is_irregular && bytes == 0 && collective != Collective::Barrier {
            return Ok(Arc::default());
        }
        let is_told = settings.explains && rank == 0 && state.cache.is_news(collective, bytes);
        let plan = if self.is_irregular {
            let sides = (send.blocks(), recv.blocks());
            let layout = Layout::irregular(collective, self.in_place, sides, &own);
            let what = (collective, root, is_ordered);
            state.cache.irregular(&settings, ranks, what, &layout)?
        } else {
            let shape = Shape {
                collective,
                root,
                bytes,
                element_bytes,
                in_place: self.in_place,
                is_ordered,
                hardware,
            };
            state.cache.plan(&settings, ranks, shape)?
        };
        if is_told {
            plan.explain(name, ranks.1, bytes);
        }
        let (program, way, number) = (Arc::clone(&plan.program), plan.way, plan.number);
        let is_made = state.cache.made() != made;
        process.tally.count(collective, way, number);
        process.tally.count_plan(is_made);
        Ok(program)
    }

    /// Where only the root knows all blocks, the table of those who know but their own.
    fn own_table(&self, collective: Collective, ranks: (u32, u32)) -> Result<Vec<(usize, usize)>> {
        let side = match (collective, &self.send, &self.recv) {
            (Collective::Gather, Some(send), None) => send,
            (Collective::Scatter, None, Some(recv)) => recv,
            _ => return Ok(Vec::new()),
        };
        match self.is_irregular {
            true => Ok(own_block(ranks, side.bytes()?)),
            false => Ok(Vec::new()),
        }
    }

    /// That what a rank gives and gets lies apart, and what it gives to itself is as long as what it gets
    /// from itself.
    #[inline]
    fn check_own(&self, rank: u32) -> Result<()> {
        use Collective::{Allgather, Alltoall, Alltoallv, Gather, Scatter};
        let (Some(send), Some(recv), false) = (&self.send, &self.recv, self.in_place) else {
            return Ok(());
        };
        if send.overlaps(recv) {
            let what = "what is given and what is got share memory; MPI_IN_PLACE is for that";
            return Err(Error::new(Class::Buffer, what));
        }
        let exchanges = matches!(
            self.wanted,
            Wanted::Known(Allgather | Alltoall | Alltoallv | Gather | Scatter, _)
        );
        if !exchanges {
            return Ok(());
        }
        match (send.block_bytes(rank), recv.block_bytes(rank)) {
            (given, got) if given == got => Ok(()),
            (given, got) => Err(own_differs(given, got)),
        }
    }

    /// Bytes of a block: of what is received, or else of what is sent.
    pub(super) fn block_bytes(&self) -> Result<usize> {
        self.block().map_or(Ok(0), Side::bytes)
    }

    /// The side whose blocks have the length of the call.
    pub(super) fn block(&self) -> Option<&Side> {
        let is_given = matches!(
            self.wanted,
            Wanted::Known(Collective::Gather | Collective::Reduce, _)
        );
        let (first, second) = match is_given {
            true => (&self.send, &self.recv),
            false => (&self.recv, &self.send),
        };
        first.as_ref().or(second.as_ref())
    }
}

#[cold]
fn no_root(root: u32, ranks: usize) -> Error {
    let what = format!("the root is {root}; ranks are 0 to {}", ranks - 1);
    Error::new(Class::Root, what)
}

#[cold]
fn own_differs(given: Option<usize>, got: Option<usize>) -> Error {
    let bytes = |found: Option<usize>| found.map_or("too many".to_owned(), |it| it.to_string());
    let what = format!(
        "this rank gives itself {} bytes and takes {}; they have to be as many",
        bytes(given),
        bytes(got)
    );
    Error::new(Class::Truncate, what)
}
