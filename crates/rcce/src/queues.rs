// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending and receiving: blocking, and by requests in queues.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::Rank;
use corecast_machine::{Await, RunError};

use crate::core::{CopyLoop, Core, Flag, Overhead, Until, Wait};
use crate::message::{Incoming, Outgoing};

/// Sends a message and returns when the receiver has it (`RCCE_send`).
///
/// # Errors
/// Whatever ended the run meanwhile.
pub async fn send<C: Core>(core: &mut C, to: Rank, message: &mut Outgoing) -> Result<(), RunError> {
    loop {
        core.spend(Overhead::Blocking).await;
        message.announce(core, to);
        message.put(core, 0, core.payload_bytes()).await;
        let me = core.id();
        core.set_flag(to, Flag::sent(me), 1).await;
        core.poll(&[taken(to)]).await?;
        core.set_flag(me, Flag::ready(to), 0).await;
        if message.left() == 0 {
            return Ok(());
        }
    }
}

/// Receives a message (`RCCE_recv`).
///
/// # Errors
/// Whatever ended the run meanwhile.
pub async fn recv<C: Core>(
    core: &mut C,
    from: Rank,
    message: &mut Incoming,
) -> Result<(), RunError> {
    loop {
        await_chunk(core, from).await?;
        take_chunk(core, from, message, CopyLoop::Plain).await;
        if message.left() == 0 {
            return Ok(());
        }
    }
}

/// Waits, in a blocking receive, until `from` has put a chunk.
pub(crate) async fn await_chunk<C: Core>(core: &mut C, from: Rank) -> Result<(), RunError> {
    core.spend(Overhead::Blocking).await;
    core.poll(&[put(from)]).await?;
    Ok(())
}

/// The receiver has taken a chunk.
fn taken(by: Rank) -> Wait {
    Wait {
        flag: Flag::ready(by),
        until: Until::Is(1),
        peer: by,
        awaits: Await::Send,
    }
}

/// The sender has put a chunk.
fn put(by: Rank) -> Wait {
    Wait {
        flag: Flag::sent(by),
        until: Until::Is(1),
        peer: by,
        awaits: Await::Recv,
    }
}

/// Takes the chunk that `from` has put.
pub(crate) async fn take_chunk<C: Core>(
    core: &mut C,
    from: Rank,
    message: &mut Incoming,
    copy: CopyLoop,
) {
    let me = core.id();
    core.set_flag(me, Flag::sent(from), 0).await;
    let most = core.payload_bytes();
    message.get(core, from, 0, most, copy).await;
    core.set_flag(from, Flag::ready(me), 1).await;
}

/// A request of the non-blocking calls; counts up from 0 per core.
pub type RequestId = u64;

/// The requests of one core (iRCCE): one queue for all sends, one per sender for receives.
///
/// Nothing moves but inside the calls: a send is put into the buffer at once if it is the first of
/// the queue, and otherwise when the one before it has been taken, which a wait has to notice.
#[derive(Clone, Default, Debug)]
pub struct Queues {
    sends: VecDeque<(RequestId, Rank, Outgoing)>,
    recvs: BTreeMap<Rank, VecDeque<(RequestId, Incoming)>>,
    received: BTreeMap<RequestId, Incoming>,
    next: RequestId,
}

impl Queues {
    /// Whether a request is still in a queue.
    #[must_use]
    pub fn is_pending(&self, request: RequestId) -> bool {
        let in_sends = self.sends.iter().any(|(id, ..)| *id == request);
        let mut recvs = self.recvs.values().flatten();
        in_sends || recvs.any(|(id, _)| *id == request)
    }

    /// The message of a receive that has completed.
    pub fn take_received(&mut self, request: RequestId) -> Option<Incoming> {
        self.received.remove(&request)
    }

    fn new_request(&mut self) -> RequestId {
        self.next += 1;
        self.next - 1
    }

    /// Asks to send a message (`iRCCE_isend`).
    pub async fn isend<C: Core>(&mut self, core: &mut C, to: Rank, message: Outgoing) -> RequestId {
        let request = self.new_request();
        self.sends.push_back((request, to, message));
        if self.sends.len() == 1 {
            self.put_next(core).await;
        }
        request
    }

    /// Asks to receive a message (`iRCCE_irecv`).
    pub fn irecv(&mut self, from: Rank, message: Incoming) -> RequestId {
        let request = self.new_request();
        let queue = self.recvs.entry(from).or_default();
        queue.push_back((request, message));
        request
    }

    /// Puts the next chunk of the first send.
    async fn put_next<C: Core>(&mut self, core: &mut C) {
        let Some((_, to, message)) = self.sends.front_mut() else {
            return;
        };
        core.spend(Overhead::NonBlocking).await;
        message.announce(core, *to);
        message.put(core, 0, core.payload_bytes()).await;
        core.set_flag(*to, Flag::sent(core.id()), 1).await;
    }

    /// Waits until none of the requests is pending (`iRCCE_wait_all`).
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    pub async fn wait_all<C: Core>(
        &mut self,
        core: &mut C,
        requests: &[RequestId],
    ) -> Result<(), RunError> {
        while requests.iter().any(|&request| self.is_pending(request)) {
            self.progress(core).await?;
        }
        Ok(())
    }

    /// Waits for the next flag of any queue's first request, and does what it allows.
    async fn progress<C: Core>(&mut self, core: &mut C) -> Result<(), RunError> {
        let waits = self.waits();
        let wait = waits[core.poll(&waits).await?];
        self.advance(core, wait).await;
        Ok(())
    }

    /// Whether no request is in any queue.
    #[must_use]
    pub(crate) fn is_idle(&self) -> bool {
        self.sends.is_empty() && self.recvs.is_empty()
    }

    /// The flags that the first requests of all queues wait for: of the send, then of the receives
    /// in order of the sender.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        let sending = self.sends.front().map(|&(_, to, _)| taken(to));
        let receiving = self.recvs.keys().map(|&from| put(from));
        sending.into_iter().chain(receiving).collect()
    }

    /// Size in bytes of the next message from `from`, if no chunk of it has been taken.
    pub(crate) fn expected(&self, from: Rank) -> Option<usize> {
        let (_, message) = self.recvs.get(&from)?.front()?;
        (!message.is_started()).then(|| message.len())
    }

    /// Does what the flag of one of [`Queues::waits`] allows; returns whether a message has become
    /// complete by it at its receiver.
    pub(crate) async fn advance<C: Core>(&mut self, core: &mut C, wait: Wait) -> bool {
        if wait.awaits == Await::Send {
            let me = core.id();
            core.set_flag(me, wait.flag, 0).await;
            if self.sends.front().is_some_and(|(_, _, m)| m.left() == 0) {
                self.sends.pop_front();
            }
            self.put_next(core).await;
            return false;
        }
        let from = wait.peer;
        core.spend(Overhead::NonBlocking).await;
        let queue = self.recvs.get_mut(&from).expect("the queue was polled");
        let (_, message) = queue.front_mut().expect("empty queues are removed");
        take_chunk(core, from, message, CopyLoop::ReadFirst).await;
        let is_complete = message.left() == 0;
        if is_complete {
            let (request, message) = queue.pop_front().expect("its first was there");
            self.received.insert(request, message);
            self.remove_if_empty(from);
        }
        is_complete
    }

    fn remove_if_empty(&mut self, from: Rank) {
        if self.recvs.get(&from).is_some_and(VecDeque::is_empty) {
            self.recvs.remove(&from);
        }
    }

    /// Takes a request out of its queue if it has not started (`iRCCE_isend_cancel`,
    /// `iRCCE_irecv_cancel`); returns whether it did.
    pub(crate) fn cancel(&mut self, request: RequestId) -> bool {
        // The first send is in the buffer already.
        let send = self.sends.iter().position(|(id, ..)| *id == request);
        if let Some(index) = send.filter(|&index| index > 0) {
            self.sends.remove(index);
            return true;
        }
        let found = self.recvs.iter_mut().find_map(|(&from, queue)| {
            let index = queue.iter().position(|(id, _)| *id == request)?;
            (!queue[index].1.is_started()).then(|| {
                queue.remove(index);
                from
            })
        });
        if let Some(from) = found {
            self.remove_if_empty(from);
        }
        found.is_some()
    }
}
