// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of datatypes between ranks of a communicator.

use std::sync::Arc;

use crate::buffer::{Buffer, is_nowhere};
use crate::datatype::Type;
use crate::datatype::memory::pack;
use crate::engine::{Envelope, Memory, Mode, Taken};
use crate::error::{Class, Error, Result};
use crate::handle::{ANY_SOURCE, ANY_TAG, CommId, MessageId, PROC_NULL, RequestId, SessionId};
use crate::partitions::Partitions;
use crate::process::Process;
use crate::request::{Buffered, Kept, Request, Source, Started, received};
use crate::status::Status;
use crate::transport::Wanted;

/// Bytes that a buffered send takes of the attached buffer beside those of its message.
pub const BSEND_OVERHEAD: usize = 96;

/// The four modes of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendMode {
    /// Complete when the memory may be used again.
    Standard,
    /// Complete when the receive has begun.
    Synchronous,
    /// The message is copied, and complete at once.
    Buffered,
    /// The receive has begun already; here this is nothing special.
    Ready,
}

/// A message that a matched probe took.
pub struct Probed {
    taken: Taken,
    source: Source,
    comm: CommId,
}

/// What a persistent request does when it is started.
#[derive(Clone)]
pub enum Prepared {
    /// Sends. Datatype and communicator may be freed meanwhile.
    Send(Buffer, Arc<Type>, Option<Target>, CommId, SendMode),
    /// Receives; the same.
    Recv(Buffer, Arc<Type>, Option<Sought>, CommId),
    /// Makes something that goes on by itself.
    Operation(Arc<dyn Begin>),
}

/// Where a message goes; there is none for nobody.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    context: u32,
    to: u32,
    tag: i32,
}

/// What a receive takes; there is none of nobody.
#[derive(Clone)]
pub struct Sought {
    context: u32,
    sender: Option<u32>,
    tag: Option<i32>,
    source: Source,
}

/// The bytes of a message: where they lie, and what is kept until they are gone.
type Load = (Memory, Kept);

#[inline]
fn load(buffer: &Buffer, datatype: &Arc<Type>, mode: SendMode) -> Result<Load> {
    if mode != SendMode::Buffered {
        return place(buffer, datatype);
    }
    let mut packed = packed(buffer, datatype)?;
    // SAFETY: the request keeps what was packed as long as the message needs it.
    let memory = unsafe { Memory::new(packed.as_mut_ptr(), packed.len()) };
    Ok((memory, Kept::Packed(packed)))
}

/// Makes an operation again and again.
pub trait Begin: Send + Sync {
    /// The operation, from its beginning.
    ///
    /// # Errors
    /// Why it cannot begin.
    fn begin(&self, process: &mut Process) -> Result<Box<dyn crate::engine::Operation>>;

    /// Its partitions, if it is a partitioned message.
    fn partitions(&self) -> Option<&Partitions> {
        None
    }
}

impl Prepared {
    /// The partitions of a partitioned message.
    pub(crate) fn partitions(&self) -> Option<&Partitions> {
        match self {
            Self::Operation(operation) => operation.partitions(),
            _ => None,
        }
    }

    pub(crate) fn start(&self, process: &mut Process) -> Result<Started> {
        Ok(match self {
            Self::Send(buffer, datatype, target, comm, mode) => {
                let load = load(buffer, datatype, *mode)?;
                Started::Request(process.send_load(load, *target, *comm, *mode)?)
            }
            Self::Recv(buffer, datatype, sought, comm) => {
                let load = place(buffer, datatype)?;
                Started::Request(process.recv_into(load, sought.clone(), *comm)?)
            }
            Self::Operation(operation) => Started::Operation(operation.begin(process)?),
        })
    }
}

/// What a buffer for buffered sends is attached to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// The process.
    Process,
    /// A communicator.
    Comm(CommId),
    /// A session.
    Session(SessionId),
}

/// The buffer for buffered sends: the program's, of which only the size counts here. Messages are
/// copied to memory of the library.
#[derive(Clone, Copy, Debug)]
pub struct Attached {
    /// Where the program's buffer is, to be given back.
    pub address: *mut u8,
    /// How large it is.
    pub bytes: usize,
}

// SAFETY: an address that is never followed.
unsafe impl Send for Attached {}

impl Process {
    /// Sends a short message, if that can be done at once and nothing is wrong; `false`: not so, and
    /// [`Process::begin_send`] does it or says what is wrong.
    #[inline]
    pub fn send_now(&mut self, buffer: Buffer, to: i32, tag: i32, comm: CommId) -> bool {
        let Some((context, to, memory)) = self.plain(&buffer, to, comm) else {
            return false;
        };
        tag >= 0 && self.engine.send_now(context, to, tag, memory)
    }

    /// Receives a short message of one rank, if it comes before the core would be handed over and
    /// nothing else is under way; [`Process::begin_recv`] does it otherwise, and says what is wrong.
    ///
    /// # Errors
    /// [`Class::Truncate`].
    #[inline]
    pub fn recv_now(
        &mut self,
        buffer: Buffer,
        from: i32,
        tag: i32,
        comm: CommId,
    ) -> Result<Option<Status>> {
        let Some((context, sender, memory)) = self.plain(&buffer, from, comm) else {
            return Ok(None);
        };
        if (tag < 0 && tag != ANY_TAG) || !self.is_idle() {
            return Ok(None);
        }
        let tag = (tag != ANY_TAG).then_some(tag);
        let landed = self.engine.recv_now(context, sender, tag, memory);
        let Some(landed) = landed else {
            return Ok(None);
        };
        received(landed, &Source::Known(from), memory.bytes).map(Some)
    }

    /// Context, world rank of the peer and memory of a message, if the peer is one rank, the memory lies
    /// in one piece and nothing is wrong with either.
    #[inline(always)]
    fn plain(&self, buffer: &Buffer, peer: i32, comm: CommId) -> Option<(u32, u32, Memory)> {
        let communicator = self.comms.get(comm)?;
        let &rank = communicator.peers().world_ranks().get(peer as usize)?;
        let datatype = self.types.get(buffer.datatype)?;
        let bytes = datatype.contiguous_bytes(buffer.count)?;
        if !datatype.is_committed() {
            return None;
        }
        let memory = contiguous(buffer, datatype, bytes).ok()?;
        Some((communicator.context, rank, memory))
    }

    /// Begins to send.
    ///
    /// # Errors
    /// [`Class::Comm`], [`Class::Rank`], [`Class::Tag`], [`Class::Type`], [`Class::Buffer`],
    /// [`Class::Count`] for arguments that are wrong.
    #[inline]
    pub fn begin_send(
        &mut self,
        buffer: Buffer,
        to: i32,
        tag: i32,
        comm: CommId,
        mode: SendMode,
    ) -> Result<Request> {
        let Some(target) = self.target(to, tag, comm)? else {
            return Ok(Request::done(comm, Status::EMPTY));
        };
        let load = load(&buffer, self.committed(buffer.datatype)?, mode)?;
        self.send_load(load, Some(target), comm, mode)
    }

    /// Where a message goes.
    #[inline]
    fn target(&self, to: i32, tag: i32, comm: CommId) -> Result<Option<Target>> {
        let communicator = self.comm(comm)?;
        if tag < 0 {
            return Err(bad_tag(tag));
        }
        if to == PROC_NULL {
            return Ok(None);
        }
        let peers = communicator.peers().world_ranks();
        let Some(&to) = peers.get(to as usize) else {
            return Err(bad_rank(to, peers.len()));
        };
        let context = communicator.context;
        Ok(Some(Target { context, to, tag }))
    }

    #[inline]
    fn send_load(
        &mut self,
        (memory, kept): Load,
        target: Option<Target>,
        comm: CommId,
        mode: SendMode,
    ) -> Result<Request> {
        let done = Request::done(comm, Status::EMPTY);
        let Some(Target { context, to, tag }) = target else {
            return Ok(done);
        };
        let sync = match mode {
            SendMode::Synchronous => Mode::Synchronous,
            _ => Mode::Standard,
        };
        if mode == SendMode::Buffered {
            self.room_for(comm, memory.bytes)?;
        }
        let sent = self.engine.send(context, to, tag, memory, sync)?;
        let Some(flight) = sent else { return Ok(done) };
        let mut request = Request::of_send(comm, flight, kept);
        if mode != SendMode::Buffered {
            return Ok(request);
        }
        request.buffered = Some(Box::new(Buffered {
            bytes: memory.bytes.saturating_add(BSEND_OVERHEAD),
            number: self.buffered_begun,
        }));
        self.buffered_begun += 1;
        self.leave_alone(request);
        Ok(done)
    }

    /// A send to be started again and again.
    ///
    /// # Errors
    /// As [`Process::begin_send`].
    pub fn prepare_send(
        &mut self,
        buffer: Buffer,
        to: i32,
        tag: i32,
        comm: CommId,
        mode: SendMode,
    ) -> Result<RequestId> {
        let target = self.target(to, tag, comm)?;
        let datatype = Arc::clone(self.committed(buffer.datatype)?);
        self.prepare(comm, Prepared::Send(buffer, datatype, target, comm, mode))
    }

    /// A receive to be started again and again.
    ///
    /// # Errors
    /// As [`Process::begin_send`].
    pub fn prepare_recv(
        &mut self,
        buffer: Buffer,
        from: i32,
        tag: i32,
        comm: CommId,
    ) -> Result<RequestId> {
        let sought = self.wanted(from, tag, comm)?;
        let datatype = Arc::clone(self.committed(buffer.datatype)?);
        self.prepare(comm, Prepared::Recv(buffer, datatype, sought, comm))
    }

    /// Begins to receive.
    ///
    /// # Errors
    /// As [`Process::begin_send`].
    #[inline]
    pub fn begin_recv(
        &mut self,
        buffer: Buffer,
        from: i32,
        tag: i32,
        comm: CommId,
    ) -> Result<Request> {
        let Some(sought) = self.wanted(from, tag, comm)? else {
            return Ok(Request::done(comm, Status::OF_NOBODY));
        };
        let load = place(&buffer, self.committed(buffer.datatype)?)?;
        self.recv_into(load, Some(sought), comm)
    }

    #[inline]
    fn recv_into(
        &mut self,
        (memory, kept): Load,
        sought: Option<Sought>,
        comm: CommId,
    ) -> Result<Request> {
        let Some(sought) = sought else {
            return Ok(Request::done(comm, Status::OF_NOBODY));
        };
        let (context, sender, tag) = (sought.context, sought.sender, sought.tag);
        let flight = self.engine.recv(context, sender, tag, memory)?;
        let (source, room) = (sought.source, memory.bytes);
        Ok(Request::of_recv(comm, flight, source, room, kept))
    }

    /// Begins to receive a message that a probe took.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none, and those of the buffer.
    pub fn begin_recv_probed(&mut self, buffer: Buffer, message: MessageId) -> Result<Request> {
        if message == MessageId::NO_PROC {
            return Ok(Request::done(CommId::SELF, Status::OF_NOBODY));
        }
        let (memory, kept) = place(&buffer, self.committed(buffer.datatype)?)?;
        let Some(probed) = self.messages.remove(message) else {
            let what = "there is no message of this handle, or no longer";
            return Err(Error::new(Class::Request, what));
        };
        let flight = self.engine.recv_taken(probed.taken, memory)?;
        let (comm, room) = (probed.comm, memory.bytes);
        Ok(Request::of_recv(comm, flight, probed.source, room, kept))
    }

    /// [`Process::begin_send`] with a handle.
    ///
    /// # Errors
    /// As [`Process::begin_send`].
    #[inline]
    pub fn isend(
        &mut self,
        buffer: Buffer,
        to: i32,
        tag: i32,
        comm: CommId,
        mode: SendMode,
    ) -> Result<RequestId> {
        let is_plain = matches!(mode, SendMode::Standard | SendMode::Ready);
        if is_plain && self.send_now(buffer, to, tag, comm) {
            return Ok(self.complete);
        }
        let request = self.begin_send(buffer, to, tag, comm, mode)?;
        self.keep(request)
    }

    /// [`Process::begin_recv`] with a handle.
    ///
    /// # Errors
    /// As [`Process::begin_send`].
    #[inline]
    pub fn irecv(
        &mut self,
        buffer: Buffer,
        from: i32,
        tag: i32,
        comm: CommId,
    ) -> Result<RequestId> {
        if (tag >= 0 || tag == ANY_TAG)
            && let Some((context, sender, memory)) = self.plain(&buffer, from, comm)
        {
            let tag = (tag != ANY_TAG).then_some(tag);
            let flight = self.engine.recv(context, Some(sender), tag, memory)?;
            let (source, room) = (Source::Known(from), memory.bytes);
            return self.hold(Request::of_recv(comm, flight, source, room, Kept::Nothing));
        }
        let request = self.begin_recv(buffer, from, tag, comm)?;
        self.keep(request)
    }

    /// The message that a receive of this kind would take now.
    ///
    /// # Errors
    /// [`Class::Comm`], [`Class::Rank`], [`Class::Tag`].
    pub fn iprobe(&mut self, from: i32, tag: i32, comm: CommId) -> Result<Option<Status>> {
        let Some(sought) = self.wanted(from, tag, comm)? else {
            return Ok(Some(Status::OF_NOBODY));
        };
        let (context, sender, tag) = (sought.context, sought.sender, sought.tag);
        let envelope = self.engine.probe(context, sender, tag);
        Ok(envelope.map(|envelope| of_envelope(&envelope, &sought.source)))
    }

    /// As [`Process::iprobe`], and takes it: nobody else receives it.
    ///
    /// # Errors
    /// As [`Process::iprobe`].
    pub fn improbe(
        &mut self,
        from: i32,
        tag: i32,
        comm: CommId,
    ) -> Result<Option<(MessageId, Status)>> {
        let Some(sought) = self.wanted(from, tag, comm)? else {
            return Ok(Some((MessageId::NO_PROC, Status::OF_NOBODY)));
        };
        let (context, sender, tag) = (sought.context, sought.sender, sought.tag);
        let Some((taken, envelope)) = self.engine.take(context, sender, tag) else {
            return Ok(None);
        };
        let source = sought.source;
        let status = of_envelope(&envelope, &source);
        let probed = Probed {
            taken,
            source,
            comm,
        };
        let kept = self.messages.insert(probed);
        let full = || Error::new(Class::NoMem, "there are four million messages already");
        Ok(Some((kept.ok_or_else(full)?, status)))
    }

    /// Attaches a buffer for buffered sends.
    ///
    /// # Errors
    /// [`Class::Buffer`] if there is one.
    pub fn attach_buffer(&mut self, holder: Holder, buffer: Attached) -> Result<()> {
        if self.attached_to(holder).is_some() {
            let what = "a buffer is attached already; detach it first";
            return Err(Error::new(Class::Buffer, what));
        }
        self.attached.push((holder, buffer));
        Ok(())
    }

    /// Gives the buffer back, if nothing is on its way out of it; to be asked again if something is.
    ///
    /// # Errors
    /// [`Class::Buffer`] if there is none.
    pub fn detach_buffer(&mut self, holder: Holder) -> Result<Option<Attached>> {
        let at = self.attached.iter().position(|&(other, _)| other == holder);
        let Some(at) = at else {
            let what = "no buffer is attached";
            return Err(Error::new(Class::Buffer, what));
        };
        if self.is_buffering(holder, u64::MAX) {
            return Ok(None);
        }
        Ok(Some(self.attached.swap_remove(at).1))
    }

    fn attached_to(&self, holder: Holder) -> Option<Attached> {
        let mut all = self.attached.iter();
        let found = all.find(|&&(other, _)| other == holder);
        found.map(|&(_, attached)| attached)
    }

    /// Whose buffer the buffered sends of a communicator take: its own, that of the process, or one of a
    /// session.
    pub(crate) fn holder_of(&self, comm: CommId) -> Holder {
        let own = [Holder::Comm(comm), Holder::Process];
        let mut own = own.into_iter();
        let found = own.find(|&holder| self.attached_to(holder).is_some());
        let of_session = || self.attached.first().map(|&(holder, _)| holder);
        found.or_else(of_session).unwrap_or(Holder::Process)
    }

    /// What a receive takes; `None` of nobody.
    #[inline]
    fn wanted(&self, from: i32, tag: i32, comm: CommId) -> Result<Option<Sought>> {
        let communicator = self.comm(comm)?;
        if tag < 0 && tag != ANY_TAG {
            return Err(bad_tag(tag));
        }
        let peers = communicator.peers();
        let sender = match from {
            ANY_SOURCE => None,
            PROC_NULL => return Ok(None),
            from => match peers.world_ranks().get(from as usize) {
                Some(&sender) => Some(sender),
                None => return Err(bad_rank(from, peers.size())),
            },
        };
        let source = Source::of(from, peers);
        let tag = (tag != ANY_TAG).then_some(tag);
        Ok(Some(Sought {
            context: communicator.context,
            sender,
            tag,
            source,
        }))
    }

    /// What a probe waits for, with its context.
    pub(crate) fn probed(&self, (from, tag, comm): (i32, i32, CommId)) -> Option<(u32, Wanted)> {
        let sought = self.wanted(from, tag, comm).ok()??;
        let wanted = Wanted {
            is_receive: true,
            peer: sought.sender,
            tag: sought.tag,
            comm: String::new(),
        };
        Some((sought.context, wanted))
    }

    /// Whether a buffered message has room, beside those that are under way.
    fn room_for(&mut self, comm: CommId, bytes: usize) -> Result<()> {
        let holder = self.holder_of(comm);
        let Some(attached) = self.attached_to(holder) else {
            let what = "a buffered send needs a buffer; MPI_Buffer_attach gives one";
            return Err(Error::new(Class::Buffer, what));
        };
        let wanted = bytes.saturating_add(BSEND_OVERHEAD);
        let has_room =
            |mpi: &Self| wanted.saturating_add(mpi.buffered_bytes(holder)) <= attached.bytes;
        if !has_room(self) {
            // Some may have gone since anybody looked.
            self.progress()?;
        }
        if has_room(self) {
            return Ok(());
        }
        let what = format!(
            "a buffered message of {bytes} bytes and {BSEND_OVERHEAD} more do not fit into the attached \
             buffer of {}, of which messages under way take {}",
            attached.bytes,
            self.buffered_bytes(holder)
        );
        Err(Error::new(Class::Buffer, what))
    }
}

fn of_envelope(envelope: &Envelope, source: &Source) -> Status {
    Status {
        source: source.rank(envelope.from),
        tag: envelope.tag,
        bytes: envelope.bytes as u64,
        ..Status::EMPTY
    }
}

/// The memory of a message: the buffer itself.
#[inline]
fn place(buffer: &Buffer, datatype: &Arc<Type>) -> Result<Load> {
    if let Some(bytes) = datatype.contiguous_bytes(buffer.count) {
        return Ok((contiguous(buffer, datatype, bytes)?, Kept::Nothing));
    }
    let bytes = scattered_bytes(buffer, datatype)?;
    // SAFETY: whoever made the buffer promised so, and the request keeps the datatype.
    let memory = unsafe { Memory::apart(buffer.address, datatype, bytes) };
    Ok((memory, Kept::Type(Arc::clone(datatype))))
}

/// The memory of elements that lie in one piece.
#[inline]
pub(crate) fn contiguous(buffer: &Buffer, datatype: &Type, bytes: usize) -> Result<Memory> {
    piece(buffer, datatype, bytes).ok_or_else(|| no_buffer(bytes))
}

/// The same; `None` if nothing can be there.
#[inline(always)]
pub(crate) fn piece(buffer: &Buffer, datatype: &Type, bytes: usize) -> Option<Memory> {
    let address = buffer.address.wrapping_offset(datatype.true_lower());
    if is_nowhere(address) && bytes > 0 {
        return None;
    }
    // SAFETY: whoever made the buffer promised so.
    Some(unsafe { Memory::new(address, bytes) })
}

pub(crate) fn packed(buffer: &Buffer, datatype: &Type) -> Result<Box<[u8]>> {
    let mut bytes = vec![0; scattered_bytes(buffer, datatype)?].into_boxed_slice();
    // SAFETY: whoever made the buffer promised that it may be read.
    let packed = unsafe { pack(datatype, buffer.address, buffer.count, 0, &mut bytes) };
    debug_assert_eq!(packed, bytes.len());
    Ok(bytes)
}

/// Bytes of elements that lie apart.
fn scattered_bytes(buffer: &Buffer, datatype: &Type) -> Result<usize> {
    let bytes = datatype.packed_bytes(buffer.count);
    let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    let bytes = bytes.ok_or_else(|| {
        let what = format!("{} elements are more than fit in memory", buffer.count);
        Error::new(Class::Count, what)
    })?;
    let address = buffer.address.wrapping_offset(datatype.true_lower());
    match is_nowhere(address) && bytes > 0 {
        true => Err(no_buffer(bytes)),
        false => Ok(bytes),
    }
}

#[cold]
fn no_buffer(bytes: usize) -> Error {
    let what = format!("the buffer is a null pointer, or no memory, for {bytes} bytes");
    Error::new(Class::Buffer, what)
}

#[cold]
fn bad_tag(tag: i32) -> Error {
    let what = match tag {
        ANY_TAG => "a message cannot have the tag MPI_ANY_TAG".to_owned(),
        tag => format!("the tag is {tag}; tags are 0 to {}", i32::MAX),
    };
    Error::new(Class::Tag, what)
}

#[cold]
fn bad_rank(rank: i32, ranks: usize) -> Error {
    let what = match rank {
        ANY_SOURCE => "a message cannot go to MPI_ANY_SOURCE".to_owned(),
        rank => format!(
            "there is no rank {rank}; ranks are 0 to {}",
            ranks as i64 - 1
        ),
    };
    Error::new(Class::Rank, what)
}
