// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests: what a program has asked for and not seen the end of.

use std::sync::Arc;

use crate::datatype::Type;
use crate::engine::{Engine, Flight, Landed, Operation};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{ANY_SOURCE, CommId, RequestId};
use crate::partitions::Partitions;
use crate::process::Process;
use crate::pt2pt::{Holder, Prepared};
use crate::status::Status;

/// What a program has asked for.
///
/// A blocking call keeps it for itself; others give it a handle ([`Process::keep`]).
pub struct Request {
    what: What,
    /// How it is started again, if it is persistent.
    prepared: Option<Box<Prepared>>,
    /// Whose errors it reports.
    comm: CommId,
    /// Of a buffered send: what it takes of the attached buffer.
    pub(crate) buffered: Option<Box<Buffered>>,
}

/// What a buffered send takes of an attached buffer.
pub(crate) struct Buffered {
    pub(crate) bytes: usize,
    /// How many buffered sends have begun before it.
    pub(crate) number: u64,
}

enum What {
    /// Complete, with this status.
    Done(Status),
    /// A persistent request that is not started.
    Inactive,
    Send {
        flight: Flight,
        _kept: Kept,
    },
    Recv {
        flight: Flight,
        source: Source,
        room: usize,
        /// Of elements that lie apart.
        _datatype: Option<Arc<Type>>,
    },
    /// Something that goes on by itself; its end is found in [`Operations`].
    Operation,
}

/// What a message needs until it has ended.
pub(crate) enum Kept {
    Nothing,
    /// The datatype of elements that lie apart.
    Type(Arc<Type>),
    /// The bytes of a buffered send.
    Packed(#[expect(dead_code, reason = "kept for its address")] Box<[u8]>),
}

/// What the rank of a sender is in the communicator.
#[derive(Clone)]
pub(crate) enum Source {
    /// This, as it was asked for.
    Known(i32),
    /// Its world rank.
    World,
    /// Its rank in this group.
    Of(Group),
}

impl Source {
    /// That of a receive from `from` of `peers`.
    #[inline]
    pub(crate) fn of(from: i32, peers: &Group) -> Self {
        match from {
            ANY_SOURCE if peers.is_identity() => Self::World,
            ANY_SOURCE => Self::Of(peers.clone()),
            from => Self::Known(from),
        }
    }

    #[inline]
    pub(crate) fn rank(&self, world: u32) -> i32 {
        match self {
            Self::Known(rank) => *rank,
            Self::World => world as i32,
            Self::Of(group) => group.rank_of(world).map_or(ANY_SOURCE, |rank| rank as i32),
        }
    }
}

impl Request {
    #[inline]
    pub(crate) fn done(comm: CommId, status: Status) -> Self {
        Self::new(comm, What::Done(status))
    }

    #[inline]
    pub(crate) fn of_send(comm: CommId, flight: Flight, kept: Kept) -> Self {
        let what = What::Send {
            flight,
            _kept: kept,
        };
        Self::new(comm, what)
    }

    #[inline]
    pub(crate) fn of_recv(
        comm: CommId,
        flight: Flight,
        source: Source,
        room: usize,
        kept: Kept,
    ) -> Self {
        let what = What::Recv {
            flight,
            source,
            room,
            _datatype: match kept {
                Kept::Type(datatype) => Some(datatype),
                Kept::Nothing | Kept::Packed(_) => None,
            },
        };
        Self::new(comm, what)
    }

    pub(crate) fn of_prepared(comm: CommId, prepared: Prepared) -> Self {
        Self {
            what: What::Inactive,
            prepared: Some(Box::new(prepared)),
            comm,
            buffered: None,
        }
    }

    #[inline]
    fn new(comm: CommId, what: What) -> Self {
        Self {
            what,
            prepared: None,
            comm,
            buffered: None,
        }
    }

    /// The communicator whose error handler is told.
    #[must_use]
    pub fn comm(&self) -> CommId {
        self.comm
    }

    /// Whether it can be started again.
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        self.prepared.is_some()
    }

    /// Whether there is something to wait for.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !matches!(self.what, What::Inactive)
    }

    /// How it has ended, if it has. Then it is done with: a message is forgotten, and a persistent
    /// request can be started again.
    ///
    /// # Errors
    /// [`Class::Truncate`] if a message was longer than there was room for; it has ended then, too.
    #[inline]
    pub(crate) fn poll(&mut self, engine: &mut Engine) -> Result<Option<Status>> {
        let flight = match &self.what {
            What::Done(_) | What::Inactive => return Ok(Some(self.end())),
            What::Operation => return Ok(None),
            What::Send { flight, .. } | What::Recv { flight, .. } => flight,
        };
        let Some(landed) = engine.landed(flight) else {
            return Ok(None);
        };
        let ended = match &mut self.what {
            What::Recv { source, room, .. } => received(landed, source, *room),
            _ => Ok(Status {
                is_cancelled: landed.is_cancelled,
                ..Status::EMPTY
            }),
        };
        if let What::Recv { flight, .. } | What::Send { flight, .. } =
            std::mem::replace(&mut self.what, What::Inactive)
        {
            engine.release(flight);
        }
        ended.map(Some)
    }

    /// The message that it waits for, if it is one and has not ended.
    pub(crate) fn message(&self, engine: &Engine) -> Option<u32> {
        match &self.what {
            What::Send { flight, .. } | What::Recv { flight, .. } => {
                engine.landed(flight).is_none().then_some(flight.0)
            }
            What::Done(_) | What::Inactive | What::Operation => None,
        }
    }

    fn end(&mut self) -> Status {
        match std::mem::replace(&mut self.what, What::Inactive) {
            What::Done(status) => status,
            _ => Status::EMPTY,
        }
    }
}

/// The status of a message that has come, its bytes being where they belong.
#[inline(always)]
pub(crate) fn received(landed: Landed, source: &Source, room: usize) -> Result<Status> {
    if landed.is_cancelled {
        return Ok(Status {
            is_cancelled: true,
            ..Status::EMPTY
        });
    }
    let status = Status {
        source: source.rank(landed.from),
        tag: landed.tag,
        error: Class::Success,
        bytes: landed.bytes as u64,
        is_cancelled: false,
    };
    match landed.bytes <= room {
        true => Ok(status),
        false => Err(truncated(&status, room)),
    }
}

#[cold]
fn truncated(status: &Status, room: usize) -> Error {
    let what = format!(
        "the message of rank {} with tag {} has {} bytes; there is room for {room}",
        status.source, status.tag, status.bytes
    );
    let mut error = Error::new(Class::Truncate, what);
    error.status = Some(Box::new(*status));
    error
}

/// What goes on by itself.
#[derive(Default)]
pub(crate) struct Operations {
    running: Vec<(RequestId, Box<dyn Operation>)>,
    /// How those have ended that nobody has asked for since; only failures are kept.
    failed: Vec<(RequestId, Error)>,
}

impl Process {
    /// Gives a request a handle. All that are complete, with nothing to tell, share one.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many.
    #[inline]
    pub fn keep(&mut self, request: Request) -> Result<RequestId> {
        if matches!(request.what, What::Done(Status::EMPTY)) {
            return Ok(self.complete);
        }
        self.hold(request)
    }

    /// As [`Process::keep`], of one that is not complete.
    #[inline(always)]
    pub(crate) fn hold(&mut self, request: Request) -> Result<RequestId> {
        let kept = self.requests.insert(request);
        kept.ok_or_else(|| Error::new(Class::NoMem, "there are four million requests already"))
    }

    /// A request that goes on by itself.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many, or its own if it fails at once.
    pub fn start_operation(
        &mut self,
        comm: CommId,
        mut operation: Box<dyn Operation>,
    ) -> Result<RequestId> {
        if operation.advance(&mut self.engine)? {
            return self.keep(Request::done(comm, operation.status()));
        }
        let request = self.keep(Request::new(comm, What::Operation))?;
        self.operations.running.push((request, operation));
        Ok(request)
    }

    /// A request of this handle.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none.
    #[inline]
    pub fn request(&self, request: RequestId) -> Result<&Request> {
        self.requests.get(request).ok_or_else(|| none(request))
    }

    /// Whether a handle is of a request that is still to be asked for.
    #[inline]
    #[must_use]
    pub fn has_request(&self, id: RequestId) -> bool {
        id != self.complete && self.requests.get(id).is_some()
    }

    /// How a request that has no handle has ended, if it has.
    ///
    /// # Errors
    /// Its own.
    #[inline]
    pub fn poll(&mut self, request: &mut Request) -> Result<Option<Status>> {
        request.poll(&mut self.engine)
    }

    /// How a message has ended that is over, with nothing wrong, and whose request is freed then: most are
    /// that when somebody asks. `None`: [`Process::test`] says how it is.
    #[inline(always)]
    pub fn end_message(&mut self, id: RequestId) -> Option<Status> {
        if id == self.complete {
            return Some(Status::EMPTY);
        }
        let request = self.requests.get(id)?;
        let What::Recv {
            flight,
            source,
            room,
            ..
        } = &request.what
        else {
            return None;
        };
        let landed = self.engine.landed(flight)?;
        if request.is_persistent() {
            return None;
        }
        let status = received(landed, source, *room).ok()?;
        self.engine.forget(flight);
        self.requests.discard(id);
        Some(status)
    }

    /// How a request has ended, if it has; then it is freed, unless it is persistent. One that is not
    /// active has ended with the empty status.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none, or its own: then it has ended, too.
    #[inline]
    pub fn test(&mut self, id: RequestId) -> Result<Option<Status>> {
        if id == self.complete {
            return Ok(Some(Status::EMPTY));
        }
        if !self.operations.failed.is_empty()
            && let Some(error) = self.failure(id)
        {
            return Err(error);
        }
        let request = self.requests.get_mut(id).ok_or_else(|| none(id))?;
        let ended = request.poll(&mut self.engine);
        if !matches!(ended, Ok(None)) && !request.is_persistent() {
            self.requests.discard(id);
        }
        ended
    }

    /// As [`Process::test`], but nothing is freed or made inactive.
    ///
    /// # Errors
    /// As [`Process::test`].
    pub fn look(&mut self, id: RequestId) -> Result<Option<Status>> {
        if id == RequestId::NULL || id == self.complete {
            return Ok(Some(Status::EMPTY));
        }
        let request = self.requests.get_mut(id).ok_or_else(|| none(id))?;
        if !request.is_active() {
            return Ok(Some(Status::EMPTY));
        }
        let ended = request.poll(&mut self.engine);
        match &ended {
            Ok(None) => {}
            Ok(Some(status)) => request.what = What::Done(*status),
            Err(error) => {
                request.what = What::Done(Status::EMPTY);
                self.operations.failed.push((id, error.clone()));
            }
        }
        ended
    }

    /// Forgets a request; what is under way goes on to its end.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none.
    pub fn free_request(&mut self, id: RequestId) -> Result<()> {
        if id == self.complete {
            return Ok(());
        }
        let mut request = self.requests.remove(id).ok_or_else(|| none(id))?;
        let is_running = !matches!(request.poll(&mut self.engine), Ok(Some(_)) | Err(_));
        if is_running && !matches!(request.what, What::Operation) {
            self.orphans.push(request);
        }
        Ok(())
    }

    /// Takes a request back, if nothing has come of it yet.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none, or it is not of a message.
    pub fn cancel(&mut self, id: RequestId) -> Result<()> {
        let request = self.requests.get(id).ok_or_else(|| none(id))?;
        match &request.what {
            What::Send { flight, .. } | What::Recv { flight, .. } => {
                self.engine.cancel(flight);
                Ok(())
            }
            What::Done(_) => Ok(()),
            What::Inactive => Err(Error::new(Class::Request, "the request is not active")),
            What::Operation => {
                let what = "collectives cannot be cancelled";
                Err(Error::new(Class::Request, what))
            }
        }
    }

    /// Starts a persistent request.
    ///
    /// # Errors
    /// [`Class::Request`] if there is none, or it is active, or not persistent.
    pub fn start(&mut self, id: RequestId) -> Result<()> {
        let request = self.requests.get(id).ok_or_else(|| none(id))?;
        let refuse = |what| Err(Error::new(Class::Request, what));
        let Some(prepared) = &request.prepared else {
            return refuse("the request is not persistent");
        };
        if request.is_active() {
            return refuse("the persistent request is active already");
        }
        let prepared = prepared.clone();
        let what = match prepared.start(self)? {
            Started::Request(request) => request.what,
            Started::Operation(operation) => {
                self.operations.running.push((id, operation));
                What::Operation
            }
        };
        if let Some(request) = self.requests.get_mut(id) {
            request.what = what;
        }
        Ok(())
    }

    /// Takes what has come and moves what is under way; whether anything happened.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let mut has_moved = match self.wins.are_direct() {
            true => self.engine.progress()?,
            false => self.progress_served()?,
        };
        if !self.is_idle() {
            has_moved |= self.advance();
            if !self.unsettled.is_empty() {
                self.settle();
            }
            if !self.wins.is_empty() {
                has_moved |= self.serve()?;
            }
        }
        Ok(has_moved)
    }

    /// The message that a request waits for, if it waits for one.
    #[must_use]
    pub fn message_of(&self, id: RequestId) -> Option<u32> {
        self.requests.get(id)?.message(&self.engine)
    }

    /// Has messages brought to their ends while this process sleeps, if there is somebody to do it and it is
    /// worth that; whether it was done, or something has come that is to be taken first.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn bring_about(&mut self, waited: &[u32]) -> Result<bool> {
        // What else goes on would have them given back again and again.
        let keeps_all = self.comm(CommId::WORLD)?.collectives.settings.keeps_all;
        if keeps_all || !self.is_idle() {
            return Ok(false);
        }
        self.engine.bring_about(waited)
    }

    /// Whether nothing is under way that this rank has begun.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.engine.is_quiet() && self.has_ended_all()
    }

    /// The same of one communicator. Whatever else this rank has begun may need others that do not
    /// take part in what goes on here.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none.
    pub fn is_quiet_on(&self, comm: CommId) -> Result<bool> {
        let known = self.comm(comm)?;
        let remote = known.remote.as_ref().map_or(&[][..], Group::world_ranks);
        let is_of_comm = |request: &Request| request.comm == comm;
        let mut running = self.operations.running.iter();
        Ok(self.engine.is_quiet_with(known.group.world_ranks())
            && self.engine.is_quiet_with(remote)
            && !running.any(|(id, _)| self.requests.get(*id).is_some_and(is_of_comm))
            && !self.orphans.iter().any(is_of_comm))
    }

    /// Whether nothing goes on beside messages.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.has_ended_all() && self.wins.is_empty()
    }

    #[inline]
    fn has_ended_all(&self) -> bool {
        self.operations.running.is_empty() && self.orphans.is_empty()
    }

    /// How many buffered sends have begun that were not over at once.
    #[must_use]
    pub fn buffered_begun(&self) -> u64 {
        self.buffered_begun
    }

    /// Whether one of the first `begun` buffered sends is under way out of a buffer.
    #[must_use]
    pub fn is_buffering(&self, holder: Holder, begun: u64) -> bool {
        self.buffered(holder)
            .any(|buffered| buffered.number < begun)
    }

    /// Bytes of an attached buffer that buffered sends under way take.
    pub(crate) fn buffered_bytes(&self, holder: Holder) -> usize {
        self.buffered(holder).map(|buffered| buffered.bytes).sum()
    }

    fn buffered(&self, holder: Holder) -> impl Iterator<Item = &Buffered> {
        self.orphans.iter().filter_map(move |request| {
            let buffered = request.buffered.as_deref()?;
            (self.holder_of(request.comm) == holder).then_some(buffered)
        })
    }

    /// The partitions of a partitioned message that is started.
    ///
    /// # Errors
    /// [`Class::Request`] if it is none.
    pub fn partitions(&self, id: RequestId) -> Result<&Partitions> {
        let request = self.request(id)?;
        let prepared = request.prepared.as_ref();
        prepared
            .and_then(|prepared| prepared.partitions())
            .ok_or_else(|| {
                let what = "the request is of no partitioned message";
                Error::new(Class::Request, what)
            })
    }

    fn advance(&mut self) -> bool {
        let (engine, requests) = (&mut self.engine, &mut self.requests);
        let before = self.operations.running.len() + self.orphans.len();
        let failed = &mut self.operations.failed;
        self.operations.running.retain_mut(|(id, operation)| {
            let ended = match operation.advance(engine) {
                Ok(false) => return true,
                Ok(true) => operation.status(),
                Err(error) => {
                    failed.push((*id, error));
                    Status::EMPTY
                }
            };
            if let Some(request) = requests.get_mut(*id) {
                request.what = What::Done(ended);
            }
            false
        });
        self.orphans
            .retain_mut(|request| matches!(request.poll(engine), Ok(None)));
        self.operations.running.len() + self.orphans.len() != before
    }

    #[cold]
    fn failure(&mut self, id: RequestId) -> Option<Error> {
        let failed = &mut self.operations.failed;
        let at = failed.iter().position(|(failed, _)| *failed == id)?;
        let (_, error) = failed.swap_remove(at);
        match self.requests.get_mut(id) {
            Some(request) if request.is_persistent() => request.what = What::Inactive,
            _ => drop(self.requests.remove(id)),
        }
        Some(error)
    }

    /// A request to be started again and again.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many.
    pub fn prepare(&mut self, comm: CommId, prepared: Prepared) -> Result<RequestId> {
        self.keep(Request::of_prepared(comm, prepared))
    }

    /// A request under way that nobody asks for any more.
    pub(crate) fn leave_alone(&mut self, request: Request) {
        self.orphans.push(request);
    }
}

/// What has come of starting a persistent request.
pub enum Started {
    /// A message.
    Request(Request),
    /// Something that goes on by itself.
    Operation(Box<dyn Operation>),
}

#[cold]
fn none(request: RequestId) -> Error {
    let what = match request {
        RequestId::NULL => "the request is MPI_REQUEST_NULL".to_owned(),
        RequestId(number) => format!("there is no request of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Request, what)
}
