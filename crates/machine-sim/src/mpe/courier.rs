// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged messages over the engines of a bus chip: every transfer begins with a header's words.
//!
//! A transfer costs what the engine's commands cost: a command and a request at the sender, a command
//! and a ready at the receiver, its words one per cycle, the complete message and a notification. The
//! receiver's core sees which requests have arrived, whoever sent them, and grants them in their
//! order; there are no tags in the hardware. Envelopes and wishes for payloads are transfers of a
//! header alone; a payload follows its header in the same stream.
//!
//! A core has one transfer of its own under way. That it may receive while its request waits is
//! assumed of the engine: a Fwd has a request out and another in, a Send holds up the command behind
//! it. Without that, two cores that send to each other would wait for ever.
//!
//! A broadcast is the engine's own command ([`super::gathering`]): no header, no envelope, since all
//! members know of it. A core shows it when its transfer, if it has one under way, is granted.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{
    ArrivalId, Await, Blocked, Broadcast, Cause, Courier, Header, InTurns, MessageRecord, News,
    Payload, Rendezvous, RunError, SendId, Tag, Time, until_news, until_sent,
};
use corecast_sim::{Kernel, Latch, race};

use super::command::{Command, CommandKind, Completion, Content};
use super::engine::{StreamStage, StreamTimes};
use super::fabric::Fabric;
use super::gathering::{Gatherings, Launched, Shown};
use super::handshake;
use crate::ranks::SimCourier;

/// A header and what follows it, from its request to its last word.
struct Letter {
    from: Rank,
    to: Rank,
    header: Header,
    payload: Payload,
    range: Range<usize>,
    posted: Time,
    /// When the request is at the receiver.
    arrives: Time,
    /// When its words move, once the receiver has granted it.
    flow: Cell<Option<StreamTimes>>,
}

/// Requests that have arrived at every core, or will have, and how a core that waits is told.
pub(crate) struct Requests {
    arrived: Vec<RefCell<VecDeque<Rc<Letter>>>>,
    told: Vec<Latch>,
}

impl Requests {
    pub(crate) fn new(kernel: &Rc<Kernel>, ranks: u32) -> Self {
        Self {
            arrived: vec![RefCell::default(); ranks as usize],
            told: (0..ranks).map(|_| Latch::new(kernel)).collect(),
        }
    }

    /// Lets a core look again at what it waits for.
    fn tell(&self, rank: Rank, now: Time) {
        let told = &self.told[rank.index()];
        if told.time().is_none() {
            told.set_at(now);
        }
    }
}

/// See the module's documentation.
pub(crate) struct MpeCourier {
    fabric: Rc<Fabric>,
    requests: Rc<Requests>,
    rank: Rank,
    letters: Rendezvous,
    /// The transfer of this core that is under way.
    sent: Option<Rc<Letter>>,
    gatherings: Rc<Gatherings>,
    /// The broadcast that it is to take part in.
    cast: Option<Cast>,
    /// How the last one has ended, until that was told.
    ended: Option<News>,
}

/// A broadcast of which a core is a member.
struct Cast {
    id: SendId,
    broadcast: Broadcast,
    shown: Shown,
}

impl MpeCourier {
    pub(crate) fn new(
        fabric: Rc<Fabric>,
        requests: Rc<Requests>,
        gatherings: Rc<Gatherings>,
        rank: Rank,
    ) -> Self {
        Self {
            fabric,
            requests,
            rank,
            letters: Rendezvous::default(),
            sent: None,
            gatherings,
            cast: None,
            ended: None,
        }
    }

    async fn spend(&self, duration: Time, cause: Cause) {
        let fabric = &self.fabric;
        fabric.kernel.sleep(duration).await;
        fabric.fill(self.rank, fabric.kernel.now(), cause);
    }

    /// When the core learns that its transfer is through, once that is known.
    fn sent_at(&self) -> Option<Time> {
        let flow = self.sent.as_ref()?.flow.get()?;
        Some(flow.free + self.fabric.timing.notify)
    }

    /// When the next request is here.
    fn request_at(&self) -> Option<Time> {
        let arrived = self.requests.arrived[self.rank.index()].borrow();
        arrived.front().map(|letter| letter.arrives)
    }

    /// Who lets the core go on next: the receiver of its transfer, or the sender of the next request.
    fn next_peer(&self) -> Option<Rank> {
        let arrived = self.requests.arrived[self.rank.index()].borrow();
        let request = arrived.front().map(|letter| (letter.arrives, letter.from));
        let sent = self.sent.as_ref().map(|letter| letter.to);
        let sent = self.sent_at().zip(sent);
        sent.into_iter().chain(request).min().map(|(_, peer)| peer)
    }

    /// Gives the command of the next transfer; returns whether there was one.
    async fn send(&mut self) -> bool {
        let now = self.fabric.kernel.now();
        let (to, header, payload, range, posted) = match self.letters.next_header(|_| true) {
            Some((to, header)) => {
                let posted = self.letters.posted(header).unwrap_or(now);
                (to, header, Payload::default(), 0..0, posted)
            }
            None => match self.letters.next_part(usize::MAX, |_| true) {
                Some(part) => (part.to, part.header, part.payload, part.range, part.posted),
                None => return false,
            },
        };
        self.spend(self.fabric.timing.command, Cause::Handshake)
            .await;
        let now = self.fabric.kernel.now();
        let letter = Rc::new(Letter {
            from: self.rank,
            to,
            header,
            payload,
            range,
            posted,
            arrives: now + self.fabric.timing.request,
            flow: Cell::new(None),
        });
        self.sent = Some(Rc::clone(&letter));
        let arrived = &self.requests.arrived[to.index()];
        arrived.borrow_mut().push_back(letter);
        self.requests.tell(to, now);
        true
    }

    /// Receives the transfer whose request is here: its words come as soon as both ports are free.
    async fn receive(&mut self) {
        let fabric = Rc::clone(&self.fabric);
        let (timing, rank) = (&fabric.timing, self.rank);
        let letter = self.requests.arrived[rank.index()].borrow_mut().pop_front();
        let letter = letter.expect("its request is here");
        self.spend(timing.command, Cause::Handshake).await;
        let bytes = letter.range.len();
        let words = timing.words((Header::BYTES + bytes) as u64);
        let (start, end) = {
            let mut crossbar = fabric.crossbar.borrow_mut();
            let (output, _) = crossbar.ports(letter.from.index());
            let (_, input) = crossbar.ports(rank.index());
            let ready = fabric.kernel.now() + timing.ready;
            let start = ready.max(output.busy_until).max(input.busy_until);
            let end = crossbar.stream(letter.from.index(), rank.index(), start, words);
            (start, end)
        };
        letter.flow.set(Some(StreamTimes {
            start,
            counted: end,
            end,
            free: end + timing.complete,
        }));
        self.requests.tell(letter.from, fabric.kernel.now());
        let notified = end + timing.complete + timing.notify;
        fabric.kernel.sleep_until(notified).await;
        fabric.fill(rank, start, Cause::Handshake);
        fabric.fill(rank, end, Cause::Transfer);
        fabric.fill(rank, notified, Cause::Handshake);
        let part = &letter.payload[letter.range.clone()];
        if let Some(bytes) = self.letters.heard(letter.from, letter.header, part) {
            fabric.books.record(MessageRecord {
                from: letter.from,
                to: rank,
                bytes,
                posted: letter.posted,
                start,
                end,
            });
        }
    }
}

impl MpeCourier {
    /// Whether something has come up that goes before waiting.
    fn is_due(&self) -> bool {
        let now = self.fabric.kernel.now();
        let mut times = self.sent_at().into_iter().chain(self.request_at());
        times.any(|time| time <= now)
    }

    /// Shows the broadcast on the command port, if there is one and the engine could take it; returns
    /// whether it is there. Giving the command takes its time, in which a request may come.
    async fn show(&mut self) -> bool {
        let has_room = |letter: &Rc<Letter>| letter.flow.get().is_some();
        if self.cast.is_none() || !self.sent.as_ref().is_none_or(has_room) {
            return false;
        }
        self.spend(self.fabric.timing.command, Cause::Handshake)
            .await;
        if self.is_due() {
            return false;
        }
        let (fabric, cast) = (&self.fabric, self.cast.as_ref().expect("it is there"));
        if let Some(flow) = self.sent.as_ref().and_then(|letter| letter.flow.get()) {
            let mut stage = fabric.engine(self.rank).stage.borrow_mut();
            *stage = StreamStage::moving(&fabric.kernel, flow);
        }
        let Cast {
            broadcast, shown, ..
        } = cast;
        let members = broadcast.members.iter();
        if self.gatherings.show(fabric, self.rank, broadcast, shown) {
            members.for_each(|&member| self.requests.tell(member, fabric.kernel.now()));
        } else {
            let missing = self.gatherings.missing(broadcast);
            members.for_each(|&member| fabric.books.launch_waits_for(member, missing));
        }
        true
    }

    /// Carries the launched broadcast out.
    async fn take_part(&mut self, cast: Cast, launched: Launched) {
        let (fabric, rank) = (Rc::clone(&self.fabric), self.rank);
        fabric.kernel.sleep_until(launched.start).await;
        fabric.fill(rank, launched.start, Cause::PortBusy(launched.binding));
        self.spend(fabric.timing.order, Cause::Ordering).await;
        let payload = cast.broadcast.payload;
        let kind = match (launched.place.before, launched.place.after) {
            (None, Some(to)) => {
                let content = Content::Message(vec![Payload::clone(&payload)]);
                Some(CommandKind::Send { to, content })
            }
            (Some(from), Some(to)) => Some(CommandKind::Forward {
                from,
                to,
                piece_bytes: None,
            }),
            (Some(from), None) => Some(CommandKind::Recv { from }),
            (None, None) => None,
        };
        let mut received = None;
        if let Some(kind) = kind {
            let completion = Completion::new(&fabric.kernel);
            let is_root = launched.place.before.is_none();
            let words = is_root.then(|| fabric.timing.words(payload.len() as u64));
            let command = Command {
                kind,
                step: 0,
                words,
                leaves_before: launched.place.leaves_before,
                target: None,
                completion: Rc::clone(&completion),
            };
            handshake::enqueue(&fabric, rank, command);
            completion.done.wait().await;
            fabric.kernel.sleep(fabric.timing.notify).await;
            fabric.fill(rank, fabric.kernel.now(), Cause::Handshake);
            received = completion.received.take();
        }
        self.ended = Some(match received {
            Some(message) => News::Broadcast(cast.id, message.concat().into()),
            None => News::Sent(cast.id),
        });
    }
}

impl SimCourier for MpeCourier {
    /// Ports may be busy with transfers from before the run; the core is not.
    async fn begin(&mut self, late: Time) -> Result<(), RunError> {
        self.fabric.kernel.sleep_until(late).await;
        self.fabric.fill(self.rank, late, Cause::Compute);
        Ok(())
    }
}

impl InTurns for MpeCourier {
    async fn progress(&mut self) {
        loop {
            let now = self.fabric.kernel.now();
            let is_due = |time: Option<Time>| time.is_some_and(|time| time <= now);
            let launched = self.cast.as_ref().and_then(|cast| cast.shown.get());
            if let Some(launched) = launched {
                let cast = self.cast.take().expect("it is launched");
                self.take_part(cast, launched).await;
            } else if is_due(self.sent_at()) {
                let letter = self.sent.take().expect("it is through");
                self.letters.taken(letter.header);
            } else if is_due(self.request_at()) {
                self.receive().await;
            } else if self.sent.is_none() {
                if !self.send().await {
                    return;
                }
            } else {
                return;
            }
        }
    }

    fn has_news(&self) -> bool {
        self.letters.has_news() || self.ended.is_some()
    }

    fn sending_to(&self) -> Option<Rank> {
        let sent = self.sent.as_ref().map(|letter| letter.to);
        sent.or_else(|| self.letters.sending())
    }

    async fn pause(&mut self, mut blocked: Blocked) -> Result<(), RunError> {
        let requests = Rc::clone(&self.requests);
        let told = &requests.told[self.rank.index()];
        told.reset();
        let is_shown = self.show().await;
        let (fabric, rank) = (&self.fabric, self.rank);
        if let Some(cast) = self.cast.as_ref().filter(|_| is_shown) {
            blocked.awaits = Await::Launch;
            blocked.peer = self.gatherings.missing(&cast.broadcast);
        }
        fabric.books.block_as(blocked);
        match self.sent_at().into_iter().chain(self.request_at()).min() {
            Some(time) => race(fabric.kernel.sleep_until(time), told.wait()).await,
            None => {
                told.wait().await;
            }
        }
        fabric.books.unblock(rank);
        if let Some(cast) = self.cast.as_ref().filter(|_| is_shown) {
            match cast.shown.get() {
                Some(launched) => {
                    let last = Cause::WaitPeer(launched.last);
                    fabric.fill(rank, fabric.kernel.now(), last);
                    return Ok(());
                }
                None => self.gatherings.withdraw(rank, &cast.broadcast),
            }
        }
        // A program that receives from anybody does not say for whom it waits.
        let peer = self.next_peer().unwrap_or(blocked.peer);
        fabric.fill(rank, fabric.kernel.now(), Cause::WaitPeer(peer));
        Ok(())
    }
}

impl Courier for MpeCourier {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.fabric.engines.len() as u32
    }

    fn now(&self) -> Time {
        self.fabric.kernel.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.spend(time, Cause::Compute).await;
        Ok(())
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let timing = &self.fabric.timing;
        self.compute(timing.combine_per_word * timing.words(bytes))
            .await
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        self.letters.start(id, to, tag, payload, self.now());
        self.progress().await;
        Ok(())
    }

    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        self.letters.fetch(id);
        self.progress().await;
        Ok(())
    }

    fn has_broadcasts(&self) -> bool {
        true
    }

    fn broadcast(&mut self, id: SendId, broadcast: Broadcast) {
        assert!(self.cast.is_none(), "one broadcast at a time");
        let shown = Shown::default();
        self.cast = Some(Cast {
            id,
            broadcast,
            shown,
        });
    }

    /// Looking at the engine takes as long as giving it a command, and a cycle at least.
    async fn look(&mut self) -> Result<(), RunError> {
        let timing = &self.fabric.timing;
        let look = timing.command.max(timing.word);
        self.spend(look, Cause::Handshake).await;
        self.progress().await;
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        until_news(self, blocked).await
    }

    fn news(&mut self) -> Option<News> {
        self.letters.news().or_else(|| self.ended.take())
    }

    async fn finish(&mut self, call: usize) -> Result<(), RunError> {
        until_sent(self, call).await
    }
}
