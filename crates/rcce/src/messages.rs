// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages between two ranks: blocking, by requests, and lists of requests to wait for.

use corecast_core::Rank;
use corecast_machine::Await;

use crate::core::{Announcement, CopyLoop, Core, Flag, Wait};
use crate::error::{Misuse, RcceError};
use crate::memory::Buffer;
use crate::message::{Incoming, Outgoing, Part};
use crate::program::{Pending, Rcce};
use crate::queues::{Queues, RequestId, await_chunk, send, take_chunk};

/// A message that a rank has asked to send or to receive (`iRCCE_SEND_REQUEST`,
/// `iRCCE_RECV_REQUEST`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MessageRequest(RequestId);

/// Requests to wait for together (`iRCCE_WAIT_LIST`).
#[derive(Clone, Default, Debug)]
pub struct WaitList {
    requests: Vec<MessageRequest>,
}

impl WaitList {
    /// An empty list (`iRCCE_init_wait_list`).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a request (`iRCCE_add_to_wait_list`).
    pub fn add(&mut self, request: MessageRequest) {
        self.requests.push(request);
    }

    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}

impl FromIterator<MessageRequest> for WaitList {
    fn from_iter<I: IntoIterator<Item = MessageRequest>>(requests: I) -> Self {
        let requests = requests.into_iter().collect();
        Self { requests }
    }
}

impl<C: Core> Rcce<C> {
    /// Sends the bytes of a buffer and returns when the receiver has them (`RCCE_send`).
    ///
    /// # Errors
    /// [`Misuse::UnknownRank`], [`Misuse::Itself`], [`Misuse::BufferInUse`] if a pending request
    /// receives into the buffer, [`Misuse::ForeignBuffer`], or whatever ended the run.
    pub async fn send(&mut self, to: Rank, buffer: Buffer) -> Result<(), RcceError> {
        self.enter("RCCE_send");
        self.send_now(to, buffer).await
    }

    pub(crate) async fn send_now(&mut self, to: Rank, buffer: Buffer) -> Result<(), RcceError> {
        let mut message = self.outgoing(to, buffer)?;
        if self.queues.is_idle() {
            return Ok(send(&mut self.core, to, &mut message).await?);
        }
        let request = self.queues.isend(&mut self.core, to, message).await;
        self.push_until(|queues| !queues.is_pending(request)).await
    }

    /// Receives as many bytes as the buffer has (`RCCE_recv`).
    ///
    /// # Errors
    /// As [`Rcce::send`], any pending request being in the way; [`Misuse::Length`] and
    /// [`Misuse::Chunks`] if the sender gives other sizes.
    pub async fn recv(&mut self, from: Rank, buffer: Buffer) -> Result<(), RcceError> {
        self.enter("RCCE_recv");
        self.recv_now(from, buffer).await
    }

    pub(crate) async fn recv_now(&mut self, from: Rank, buffer: Buffer) -> Result<(), RcceError> {
        let mut message = self.incoming(from, buffer)?;
        if !self.queues.is_idle() {
            let request = self.queues.irecv(from, message);
            self.push_until(|queues| !queues.is_pending(request))
                .await?;
            self.land(request);
            return Ok(());
        }
        loop {
            await_chunk(&mut self.core, from).await?;
            if !message.is_started() {
                self.check_arrival(from, message.len())?;
            }
            take_chunk(&mut self.core, from, &mut message, CopyLoop::Plain).await;
            if message.left() == 0 {
                break;
            }
        }
        self.core.delivered(from);
        self.store(message);
        Ok(())
    }

    /// Asks to send the bytes of a buffer (`iRCCE_isend`). The buffer may be read, but not changed,
    /// until the request has been waited for.
    ///
    /// # Errors
    /// As [`Rcce::send`].
    pub async fn isend(&mut self, to: Rank, buffer: Buffer) -> Result<MessageRequest, RcceError> {
        self.enter("iRCCE_isend");
        let message = self.outgoing(to, buffer)?;
        let request = self.queues.isend(&mut self.core, to, message).await;
        let is_receive = false;
        self.pending.insert(request, Pending { buffer, is_receive });
        Ok(MessageRequest(request))
    }

    /// Asks to receive as many bytes as the buffer has (`iRCCE_irecv`). They are in it when the
    /// request has been waited for; until then it may not be used.
    ///
    /// # Errors
    /// As [`Rcce::send`], any pending request being in the way. That sizes differ shows when the
    /// message comes.
    pub async fn irecv(&mut self, from: Rank, buffer: Buffer) -> Result<MessageRequest, RcceError> {
        self.enter("iRCCE_irecv");
        let message = self.incoming(from, buffer)?;
        let request = self.queues.irecv(from, message);
        let is_receive = true;
        self.pending.insert(request, Pending { buffer, is_receive });
        Ok(MessageRequest(request))
    }

    /// Moves the pending requests on as far as they can go without waiting (`iRCCE_isend_push`,
    /// `iRCCE_irecv_push`).
    ///
    /// # Errors
    /// [`Misuse::Length`] and [`Misuse::Chunks`] of a message that comes, or whatever ended the
    /// run.
    pub async fn push(&mut self) -> Result<(), RcceError> {
        self.enter("iRCCE_push");
        self.push_once().await
    }

    /// Pushes the pending requests once; returns whether this one is complete, after which it is
    /// over (`iRCCE_isend_test`, `iRCCE_irecv_test`).
    ///
    /// # Errors
    /// [`Misuse::NotPending`], and those of [`Rcce::push`].
    pub async fn test(&mut self, request: MessageRequest) -> Result<bool, RcceError> {
        self.enter("iRCCE_test");
        self.check_pending(&[request])?;
        self.push_once().await?;
        let is_complete = !self.queues.is_pending(request.0);
        if is_complete {
            self.complete(request);
        }
        Ok(is_complete)
    }

    /// Waits for a request, pushing all (`iRCCE_isend_wait`, `iRCCE_irecv_wait`).
    ///
    /// # Errors
    /// As [`Rcce::test`].
    pub async fn wait(&mut self, request: MessageRequest) -> Result<(), RcceError> {
        self.enter("iRCCE_wait");
        self.check_pending(&[request])?;
        self.push_until(|queues| !queues.is_pending(request.0))
            .await?;
        self.complete(request);
        Ok(())
    }

    /// Waits for all requests of a list, pushing all, and empties it (`iRCCE_wait_all`).
    ///
    /// # Errors
    /// As [`Rcce::test`].
    pub async fn wait_all(&mut self, list: &mut WaitList) -> Result<(), RcceError> {
        self.enter("iRCCE_wait_all");
        self.check_pending(&list.requests)?;
        let requests = std::mem::take(&mut list.requests);
        self.push_until(|queues| requests.iter().all(|request| !queues.is_pending(request.0)))
            .await?;
        for request in requests {
            self.complete(request);
        }
        Ok(())
    }

    /// Waits for a request of a list, pushing all, and takes it out of the list
    /// (`iRCCE_wait_any`). Of several that are complete it is the first of the list.
    ///
    /// # Errors
    /// [`Misuse::EmptyWaitList`], and those of [`Rcce::test`].
    pub async fn wait_any(&mut self, list: &mut WaitList) -> Result<MessageRequest, RcceError> {
        self.enter("iRCCE_wait_any");
        if list.is_empty() {
            return Err(self.error(Misuse::EmptyWaitList));
        }
        self.check_pending(&list.requests)?;
        let is_done = |queues: &Queues, request: &MessageRequest| !queues.is_pending(request.0);
        self.push_until(|queues| list.requests.iter().any(|request| is_done(queues, request)))
            .await?;
        let mut requests = list.requests.iter();
        let index = requests.position(|request| is_done(&self.queues, request));
        let request = list.requests.remove(index.expect("one is complete"));
        self.complete(request);
        Ok(request)
    }

    /// Pushes once; returns the first request of a list that is complete, and takes it out of the
    /// list (`iRCCE_test_any`).
    ///
    /// # Errors
    /// As [`Rcce::test`].
    pub async fn test_any(
        &mut self,
        list: &mut WaitList,
    ) -> Result<Option<MessageRequest>, RcceError> {
        self.enter("iRCCE_test_any");
        self.check_pending(&list.requests)?;
        self.push_once().await?;
        let mut requests = list.requests.iter();
        let index = requests.position(|request| !self.queues.is_pending(request.0));
        let request = index.map(|index| list.requests.remove(index));
        if let Some(request) = request {
            self.complete(request);
        }
        Ok(request)
    }

    /// Takes back a request that has not started; returns whether it did, and only then the request
    /// is over (`iRCCE_isend_cancel`, `iRCCE_irecv_cancel`). A send has started when its first
    /// chunk is in the buffer, a receive when it has taken one.
    ///
    /// # Errors
    /// [`Misuse::NotPending`].
    pub fn cancel(&mut self, request: MessageRequest) -> Result<bool, RcceError> {
        self.enter("iRCCE_cancel");
        self.check_pending(&[request])?;
        let is_cancelled = self.queues.cancel(request.0);
        if is_cancelled {
            self.pending.remove(&request.0);
        }
        Ok(is_cancelled)
    }

    fn check_pending(&self, requests: &[MessageRequest]) -> Result<(), RcceError> {
        let mut requests = requests.iter();
        let over = requests.find(|request| !self.pending.contains_key(&request.0));
        over.map_or(Ok(()), |&MessageRequest(request)| {
            Err(self.error(Misuse::NotPending { request }))
        })
    }

    /// Ends a request whose message is through.
    fn complete(&mut self, MessageRequest(request): MessageRequest) {
        // A list may name a request twice.
        if self.pending.remove(&request).is_some() {
            self.land(request);
        }
    }

    /// Puts the message of a receive, if it is one, into its buffer.
    fn land(&mut self, request: RequestId) {
        if let Some(message) = self.queues.take_received(request) {
            self.store(message);
        }
    }

    fn store(&mut self, message: Incoming) {
        for (address, data) in message.into_parts() {
            self.arena.store(address, &data);
        }
    }

    /// Whether `rank` exists.
    pub(crate) fn check_ue(&self, rank: Rank) -> Result<(), RcceError> {
        let ranks = self.core.cores();
        if rank.0 >= ranks {
            return Err(self.error(Misuse::UnknownRank { rank, ranks }));
        }
        Ok(())
    }

    fn check_peer(&self, peer: Rank) -> Result<(), RcceError> {
        self.check_ue(peer)?;
        if peer == self.core.id() {
            return Err(self.error(Misuse::Itself));
        }
        Ok(())
    }

    fn outgoing(&self, to: Rank, buffer: Buffer) -> Result<Outgoing, RcceError> {
        self.check_peer(to)?;
        self.readable(buffer).map_err(|misuse| self.error(misuse))?;
        let bytes = self.arena.get(buffer).map_err(|misuse| self.error(misuse));
        let part = Part {
            address: buffer.address(),
            data: bytes?.into(),
            range: 0..buffer.len(),
        };
        Ok(Outgoing::new(vec![part]).with_announcement(Announcement {
            bytes: buffer.len(),
            chunk_bytes: self.core.payload_bytes(),
            posted: self.core.now(),
        }))
    }

    fn incoming(&self, from: Rank, buffer: Buffer) -> Result<Incoming, RcceError> {
        self.check_peer(from)?;
        self.writable(buffer).map_err(|misuse| self.error(misuse))?;
        Ok(Incoming::new([(buffer.address(), buffer.len())]))
    }

    /// Whether the message that starts to come from `from` is the one that is received.
    fn check_arrival(&self, from: Rank, expected: usize) -> Result<(), RcceError> {
        let Some(envelope) = self.core.announced(from) else {
            return Ok(());
        };
        let (sent, theirs) = (envelope.bytes, envelope.chunk_bytes);
        if sent != expected {
            return Err(self.error(Misuse::Length {
                from,
                sent,
                expected,
            }));
        }
        let ours = self.core.payload_bytes();
        if theirs != ours {
            return Err(self.error(Misuse::Chunks { from, theirs, ours }));
        }
        Ok(())
    }

    /// Waits, and does what can be done, until the queues are as wanted.
    async fn push_until(&mut self, is_done: impl Fn(&Queues) -> bool) -> Result<(), RcceError> {
        while !is_done(&self.queues) {
            let waits = self.queues.waits();
            let index = self.core.poll(&waits).await?;
            self.advance(waits[index]).await?;
        }
        Ok(())
    }

    /// Looks once at what every queue waits for.
    async fn push_once(&mut self) -> Result<(), RcceError> {
        self.core.check()?;
        if self.queues.is_idle() {
            // Looking takes time even if nothing is there, so that a loop of looks has an end.
            self.core
                .flag(self.core.id(), Flag::sent(self.core.id()))
                .await;
        }
        for wait in self.queues.waits() {
            let value = self.core.flag(self.core.id(), wait.flag).await;
            if wait.until.holds(value) {
                self.advance(wait).await?;
            }
        }
        Ok(())
    }

    /// Moves the request on whose flag is as wanted.
    pub(crate) async fn advance(&mut self, wait: Wait) -> Result<(), RcceError> {
        if wait.awaits == Await::Recv
            && let Some(expected) = self.queues.expected(wait.peer)
        {
            self.check_arrival(wait.peer, expected)?;
        }
        if self.queues.advance(&mut self.core, wait).await {
            self.core.delivered(wait.peer);
        }
        Ok(())
    }

    /// Waits for a flag of the own buffer, pushing the pending requests.
    pub(crate) async fn push_until_flag(&mut self, wait: Wait) -> Result<(), RcceError> {
        loop {
            let mut waits = vec![wait];
            waits.extend(self.queues.waits());
            match self.core.poll(&waits).await? {
                0 => return Ok(()),
                index => self.advance(waits[index]).await?,
            }
        }
    }
}
