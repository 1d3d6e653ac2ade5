// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handshake stage, and what happens when the words of a message begin to move.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Await, Cause, Message, MessageRecord, Payload, Time, message_bytes};
use corecast_sim::{Latch, join};

use super::command::{Command, CommandKind, Content};
use super::engine::{Listener, StreamStage, StreamTimes, Transfer, Wait};
use super::fabric::Fabric;
use super::wires::Wire;

/// Waits until the engine of `rank` takes a command; it is at the head `command` later.
pub(crate) async fn room(fabric: &Fabric, rank: Rank) {
    let engine = fabric.engine(rank);
    while engine.queue.borrow().len() >= fabric.timing.queue_room {
        let space = Rc::new(Latch::new(&fabric.kernel));
        *engine.full.borrow_mut() = Some(Rc::clone(&space));
        space.wait().await;
    }
}

/// Puts a command into the queue of `rank`, which has room.
pub(crate) fn enqueue(fabric: &Fabric, rank: Rank, command: Command) {
    let engine = fabric.engine(rank);
    engine.queue.borrow_mut().push_back(Rc::new(command));
    if let Some(idle) = engine.idle.take() {
        idle.set_at(fabric.kernel.now());
    }
}

/// The engine of `rank`: moves the commands of its queue into the stream stage, for ever.
pub(crate) async fn serve(fabric: Rc<Fabric>, rank: Rank) {
    loop {
        let command = head(&fabric, rank).await;
        let port = Port {
            fabric: &fabric,
            rank,
            command: &command,
        };
        let (stage, enters) = port.handshake().await;
        fabric.kernel.sleep_until(enters).await;
        let engine = fabric.engine(rank);
        *engine.stage.borrow_mut() = stage;
        engine.queue.borrow_mut().pop_front();
        fabric.show_wait(rank);
        if engine.queue.borrow().is_empty()
            && let Some(emptied) = engine.emptied.take()
        {
            emptied.set_at(fabric.kernel.now());
        }
        if let Some(full) = engine.full.take() {
            full.set_at(fabric.kernel.now());
        }
    }
}

async fn head(fabric: &Fabric, rank: Rank) -> Rc<Command> {
    let engine = fabric.engine(rank);
    loop {
        if let Some(command) = engine.queue.borrow().front() {
            return Rc::clone(command);
        }
        let idle = Rc::new(Latch::new(&fabric.kernel));
        *engine.idle.borrow_mut() = Some(Rc::clone(&idle));
        idle.wait().await;
    }
}

/// The command at the head, on its engine.
struct Port<'a> {
    fabric: &'a Rc<Fabric>,
    rank: Rank,
    command: &'a Rc<Command>,
}

impl Port<'_> {
    /// Does what the command needs before its words may move; returns its place in the stream
    /// stage and when it gets there.
    async fn handshake(&self) -> (Rc<StreamStage>, Time) {
        let fabric = self.fabric;
        let stage = StreamStage::new(&fabric.kernel, self.command);
        let enters = match &self.command.kind {
            CommandKind::Send { to, content } => {
                let transfer = self.post(*to, Some(content.clone()));
                let granted = self.await_ready(&transfer).await;
                let enters = granted.max(self.stage_free().await);
                self.fabric
                    .fill_handshake(self.rank, enters, Cause::Handshake);
                let (bytes, end) = begin(fabric, &transfer, enters);
                stage.resolve(self.sends(enters, fabric.timing.words(bytes), end));
                enters
            }
            CommandKind::Recv { from } => {
                let transfer = self.meet(*from).await;
                self.grant(&transfer, &stage).await
            }
            CommandKind::Forward { from, to, .. } => {
                let outgoing = self.post(*to, None);
                let incoming = self.meet(*from).await;
                self.await_ready(&outgoing).await;
                *stage.outgoing.borrow_mut() = Some(Rc::clone(&outgoing));
                self.grant(&incoming, &stage).await
            }
            CommandKind::Exchange { to, content, from } => {
                self.exchange(*to, content.clone(), *from, &stage).await
            }
        };
        (stage, enters)
    }

    /// Sends a request; without `content` if that is still to arrive here.
    fn post(&self, to: Rank, content: Option<Content>) -> Rc<Transfer> {
        let (fabric, from, now) = (self.fabric, self.rank, self.fabric.kernel.now());
        let transfer = Rc::new(Transfer {
            from,
            to,
            posted: now,
            arrives: now + fabric.timing.request,
            is_forwarded: content.is_none(),
            content: RefCell::new(content),
            met: Cell::new(Time::ZERO),
            granted: Latch::new(&fabric.kernel),
            receiver: RefCell::default(),
            started: Latch::new(&fabric.kernel),
            end: Cell::new(Time::ZERO),
        });
        fabric
            .wires
            .event(transfer.arrives, Wire::Request, from, to);
        let receiver = fabric.engine(to);
        let mut inbox = receiver.inbox.borrow_mut();
        inbox
            .entry(from)
            .or_default()
            .push_back(Rc::clone(&transfer));
        let mut listener = receiver.listener.borrow_mut();
        if let Some(listener) = listener.take_if(|listener| listener.from == from) {
            listener.arrived.set_at(transfer.arrives);
        }
        transfer
    }

    async fn await_ready(&self, transfer: &Transfer) -> Time {
        let (fabric, rank, to) = (self.fabric, self.rank, transfer.to);
        fabric.set_send_wait(rank, Some(self.wait_for(to, Await::Send)));
        let ready = transfer.granted.wait().await;
        fabric.set_send_wait(rank, None);
        fabric.fill_handshake(rank, transfer.arrives, Cause::Handshake);
        self.fill_wait(to, transfer.met.get());
        fabric.fill_handshake(rank, ready, Cause::Handshake);
        ready
    }

    /// Waits until the request of `from` has arrived.
    async fn meet(&self, from: Rank) -> Rc<Transfer> {
        let (fabric, rank) = (self.fabric, self.rank);
        let engine = fabric.engine(rank);
        let next = || {
            engine
                .inbox
                .borrow_mut()
                .entry(from)
                .or_default()
                .pop_front()
        };
        let transfer = match next() {
            Some(transfer) => transfer,
            None => {
                let arrived = Rc::new(Latch::new(&fabric.kernel));
                let listener = Listener {
                    from,
                    arrived: Rc::clone(&arrived),
                };
                *engine.listener.borrow_mut() = Some(listener);
                fabric.set_recv_wait(rank, Some(self.wait_for(from, Await::Recv)));
                arrived.wait().await;
                fabric.set_recv_wait(rank, None);
                next().expect("the request has arrived")
            }
        };
        fabric.kernel.sleep_until(transfer.arrives).await;
        self.fill_wait(from, transfer.posted);
        fabric.fill_handshake(rank, fabric.kernel.now(), Cause::Handshake);
        transfer
    }

    /// Sends the ready as soon as the stream stage allows it; returns when the command gets there.
    async fn grant(&self, transfer: &Transfer, stage: &Rc<StreamStage>) -> Time {
        let (fabric, rank) = (self.fabric, self.rank);
        let before = fabric.engine(rank).stage().known().await;
        let allowed = before.empties_for(self.command.leaves_before, &fabric.timing);
        fabric.kernel.sleep_until(allowed).await;
        let now = fabric.kernel.now();
        fabric.fill_handshake(rank, now, Cause::Handshake);
        transfer.met.set(now);
        *transfer.receiver.borrow_mut() = Some(Rc::clone(stage));
        fabric.wires.event(now, Wire::Ready, rank, transfer.from);
        transfer.granted.set_at(now + fabric.timing.ready);
        (now + fabric.timing.ready).max(before.free)
    }

    async fn stage_free(&self) -> Time {
        self.fabric.engine(self.rank).stage().known().await.free
    }

    /// The times of a Send whose first word leaves at `start`; it has been read a clock before.
    fn sends(&self, start: Time, words: u64, end: Time) -> StreamTimes {
        let timing = &self.fabric.timing;
        let flow = StreamTimes {
            start,
            counted: start + timing.word * words.saturating_sub(1),
            end,
            free: end + timing.complete,
        };
        self.fabric.fill(self.rank, flow.end, Cause::Transfer);
        self.fabric.fill(self.rank, flow.free, Cause::Handshake);
        flow
    }

    async fn exchange(
        &self,
        to: Rank,
        content: Content,
        from: Rank,
        stage: &Rc<StreamStage>,
    ) -> Time {
        let (fabric, rank) = (self.fabric, self.rank);
        let free = self.stage_free().await;
        fabric.kernel.sleep_until(free).await;
        let outgoing = self.post(to, Some(content));
        let send = async {
            let ready = self.await_ready(&outgoing).await;
            begin(fabric, &outgoing, ready);
        };
        let receive = async {
            let incoming = self.meet(from).await;
            self.grant(&incoming, stage).await;
            fabric.set_recv_wait(rank, Some(self.wait_for(from, Await::Recv)));
            let start = incoming.started.wait().await;
            fabric.set_recv_wait(rank, None);
            self.fill_wait(from, start);
            incoming
        };
        let ((), incoming) = join(send, receive).await;
        let enters = fabric.kernel.now();
        let end = outgoing.end.get().max(incoming.end.get());
        let free = end + fabric.timing.complete;
        fabric.fill(rank, end, Cause::Transfer);
        fabric.fill(rank, free, Cause::Handshake);
        stage.resolve(StreamTimes {
            start: enters,
            counted: end,
            end,
            free,
        });
        enters
    }

    fn wait_for(&self, peer: Rank, awaits: Await) -> Wait {
        Wait {
            peer,
            awaits,
            step: self.command.step,
        }
    }

    /// [`Fabric::fill_wait`], where the time is the handshake's.
    fn fill_wait(&self, peer: Rank, until: Time) {
        let (fabric, rank) = (self.fabric, self.rank);
        if fabric.engine(rank).stage.borrow().flow().is_some() {
            fabric.fill_busy(rank, until);
            fabric.fill_wait(rank, peer, until);
        }
    }
}

/// The first word of `transfer` leaves at `start`, which may lie ahead; returns the length in bytes
/// and when the last word has arrived. What the receiver has for it is settled with it.
fn begin(fabric: &Fabric, transfer: &Transfer, start: Time) -> (u64, Time) {
    let content = transfer.content.take();
    let message = match content.expect("a Forward has it before it passes it on") {
        Content::Message(message) => message,
        Content::Memory(range) => {
            let memory = fabric.memories[transfer.from.index()].borrow();
            vec![Payload::from(&memory[range])]
        }
    };
    let (from, to, bytes) = (transfer.from, transfer.to, message_bytes(&message));
    let words = fabric.timing.words(bytes);
    let end = if words > 0 {
        fabric.wires.event(start, Wire::Words(words), from, to);
        let mut crossbar = fabric.crossbar.borrow_mut();
        crossbar.stream(from.index(), to.index(), start, words)
    } else {
        start
    };
    transfer.end.set(end);
    fabric.books.record(MessageRecord {
        from,
        to,
        bytes,
        posted: transfer.posted,
        start,
        end,
    });
    let receiver = transfer.receiver.take();
    let stage = receiver.expect("words move after the ready");
    arrive(fabric, transfer, &stage, message, start, end);
    (bytes, end)
}

/// The words of `transfer` arrive from `start` on, or its end if it has none, which takes as long as a
/// word would: settles the receiver's stage.
fn arrive(
    fabric: &Fabric,
    transfer: &Transfer,
    stage: &StreamStage,
    message: Message,
    start: Time,
    end: Time,
) {
    let (rank, timing) = (transfer.to, &fabric.timing);
    let command = stage.command.as_ref().expect("a command of this run");
    let words = timing.words(message_bytes(&message));
    let end = match &command.kind {
        CommandKind::Exchange { .. } => {
            *command.completion.received.borrow_mut() = Some(message);
            transfer.started.set_at(start);
            return; // goes on when both directions have started
        }
        CommandKind::Forward { piece_bytes, .. } => {
            let outgoing = stage.outgoing.take().expect("granted before");
            *outgoing.content.borrow_mut() = Some(Content::Message(message.clone()));
            let piece_words = piece_bytes
                .map_or(1, |bytes| timing.words(bytes))
                .clamp(1, words.max(1));
            begin(fabric, &outgoing, start + timing.word * piece_words).1
        }
        CommandKind::Recv { .. } if words == 0 => start + timing.word,
        CommandKind::Recv { .. } => end,
        CommandKind::Send { .. } => unreachable!("a Send receives nothing"),
    };
    let free = end + timing.complete;
    let ready = transfer.granted.time().expect("granted before");
    fabric.fill_busy(rank, start);
    fabric.fill(rank, ready.min(start), Cause::Handshake);
    if transfer.is_forwarded {
        fabric.fill(rank, start, Cause::Handshake);
    } else {
        fabric.fill_wait(rank, transfer.from, start);
    }
    if words > 0 {
        fabric.fill(rank, end, Cause::Transfer);
    }
    fabric.fill(rank, free, Cause::Handshake);
    match &command.target {
        Some(range) => {
            let mut memory = fabric.memories[rank.index()].borrow_mut();
            memory[range.clone()].copy_from_slice(&message.concat());
        }
        None => *command.completion.received.borrow_mut() = Some(message),
    }
    stage.resolve(StreamTimes {
        start: if words > 0 { start } else { end },
        counted: start + timing.word * words,
        end,
        free,
    });
    fabric.show_wait(rank);
}
