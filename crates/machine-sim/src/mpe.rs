//! The message passing engine (MPE) of the bus chips (Chung 2011, section 3; Park 2019, 3.1, 3.3).
//!
//! Every core has one. Commands wait in an issue queue; the head entry is the active one and holds
//! the core's ports until its complete message has passed. One message, as the papers describe it:
//!
//! ```text
//! sender    command > queue > request ..........> data w0 w1 ... > complete > notify
//! receiver  command > queue ........  > ready ..> data w0 w1 ... > complete > notify
//! ```
//!
//! * A receiver answers a request with *ready* once its own matching command is active, so a busy
//!   leaf delays the send that targets it.
//! * While a message streams, the request of the next send in the queue is already on its way
//!   (Chung 2011, Figure 4: "in every cycle, the scoreboard unit generates control message"), so a
//!   sequence of sends costs its words plus one complete each.
//! * *Fwd* (Park 2019, Figure 7): request to the next node, request from the previous, ready from
//!   the next, ready to the previous, then data passes through with one piece of delay per hop.
//!
//! Models the control messages as point-to-point with fixed delay. Does not model contention
//! between control messages: the papers give the control path of the bus no arbitration cost.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Await, Cause, Message, MessageRecord, Time, message_bytes};
use corecast_sim::{Latch, join};

use crate::fabric::Fabric;

/// A command in the issue queue.
pub(crate) struct Command {
    pub kind: Kind,
    /// Step of the program it belongs to.
    pub step: usize,
    /// Part of an atomic broadcast: may be prepared while an earlier transfer still streams.
    pub is_atomic: bool,
    pub completion: Rc<Completion>,
}

/// What a command does.
pub(crate) enum Kind {
    Send {
        to: Rank,
        message: Message,
    },
    Recv {
        from: Rank,
    },
    Exchange {
        to: Rank,
        message: Message,
        from: Rank,
    },
    Forward {
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    },
}

/// Where the core learns that a command is complete.
pub(crate) struct Completion {
    pub done: Latch,
    pub received: RefCell<Option<Message>>,
}

/// A message between two engines, from its request to its last word.
struct Transfer {
    from: Rank,
    to: Rank,
    posted: Time,
    /// When the request reaches the receiver.
    arrives: Time,
    message: RefCell<Option<Message>>,
    /// When the receiver's matching command and the request had met.
    met: Cell<Time>,
    granted: Latch,
    started: Latch,
    end: Cell<Time>,
    /// Whether the sender forwards: then its start is a matter of the protocol.
    is_forwarded: bool,
}

/// A receiving command that waits for a request.
struct Listener {
    from: Rank,
    arrived: Rc<Latch>,
}

/// The engine of one core.
pub(crate) struct Engine {
    /// End of the transfer the engine is busy with when the run starts.
    pub busy_until: Time,
    queue: RefCell<VecDeque<Command>>,
    inbox: RefCell<BTreeMap<Rank, VecDeque<Rc<Transfer>>>>,
    listener: RefCell<Option<Listener>>,
    /// Set by the engine when the queue is empty.
    idle: RefCell<Option<Rc<Latch>>>,
    /// Set by the core when the queue is full.
    full: RefCell<Option<Rc<Latch>>>,
    /// Request sent ahead for the send at the head of the queue.
    ahead: RefCell<Option<Rc<Transfer>>>,
    is_active: Cell<bool>,
    is_streaming: Cell<bool>,
}

impl Engine {
    pub(crate) fn new(busy_until: Time) -> Self {
        Self {
            busy_until,
            queue: RefCell::default(),
            inbox: RefCell::default(),
            listener: RefCell::default(),
            idle: RefCell::default(),
            full: RefCell::default(),
            ahead: RefCell::default(),
            is_active: Cell::new(false),
            is_streaming: Cell::new(false),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.is_active.get()
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.queue.borrow().is_empty() && self.inbox.borrow().values().all(VecDeque::is_empty)
    }
}

/// Puts a command into the queue of `rank`, waiting while it is full.
pub(crate) async fn enqueue(fabric: &Rc<Fabric>, rank: Rank, command: Command) {
    let engine = fabric.engine(rank);
    while engine.queue.borrow().len() >= fabric.timing.queue_depth {
        let space = Rc::new(Latch::new(&fabric.kernel));
        *engine.full.borrow_mut() = Some(Rc::clone(&space));
        space.wait().await;
    }
    engine.queue.borrow_mut().push_back(command);
    if let Some(idle) = engine.idle.take() {
        idle.set_at(fabric.kernel.now());
    }
    request_ahead(fabric, rank);
}

/// The engine of `rank`: executes the commands of its queue for ever.
pub(crate) async fn serve(fabric: Rc<Fabric>, rank: Rank) {
    loop {
        let command = next_command(&fabric, rank).await;
        let engine = fabric.engine(rank);
        engine.is_active.set(true);
        if !command.is_atomic && fabric.kernel.now() < engine.busy_until {
            fabric.kernel.sleep_until(engine.busy_until).await;
            fabric.fill(rank, engine.busy_until, Cause::PortBusy(rank));
        }
        let port = Port {
            fabric: &fabric,
            rank,
            step: command.step,
        };
        let received = port.execute(command.kind).await;
        *command.completion.received.borrow_mut() = received;
        engine.is_active.set(false);
        command.completion.done.set_at(fabric.kernel.now());
    }
}

async fn next_command(fabric: &Rc<Fabric>, rank: Rank) -> Command {
    let engine = fabric.engine(rank);
    loop {
        if let Some(command) = engine.queue.borrow_mut().pop_front() {
            if let Some(full) = engine.full.take() {
                full.set_at(fabric.kernel.now());
            }
            return command;
        }
        let idle = Rc::new(Latch::new(&fabric.kernel));
        *engine.idle.borrow_mut() = Some(Rc::clone(&idle));
        idle.wait().await;
    }
}

/// Sends the request of the next send while the current message streams.
fn request_ahead(fabric: &Rc<Fabric>, rank: Rank) {
    let engine = fabric.engine(rank);
    if !engine.is_streaming.get() || engine.ahead.borrow().is_some() {
        return;
    }
    let next = match engine.queue.borrow().front().map(|command| &command.kind) {
        Some(Kind::Send { to, message }) => Some((*to, message.clone())),
        _ => None,
    };
    if let Some((to, message)) = next {
        *engine.ahead.borrow_mut() = Some(post(fabric, rank, to, Some(message)));
    }
}

/// Sends a request; `message` is `None` if it is still to arrive here (Fwd).
fn post(fabric: &Rc<Fabric>, from: Rank, to: Rank, message: Option<Message>) -> Rc<Transfer> {
    let now = fabric.kernel.now();
    let transfer = Rc::new(Transfer {
        from,
        to,
        posted: now,
        arrives: now + fabric.timing.request,
        is_forwarded: message.is_none(),
        message: RefCell::new(message),
        met: Cell::new(Time::ZERO),
        granted: Latch::new(&fabric.kernel),
        started: Latch::new(&fabric.kernel),
        end: Cell::new(Time::ZERO),
    });
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

/// The active command's view of its engine.
struct Port<'a> {
    fabric: &'a Rc<Fabric>,
    rank: Rank,
    step: usize,
}

impl Port<'_> {
    /// Executes a command up to and including its complete message.
    async fn execute(&self, kind: Kind) -> Option<Message> {
        let (fabric, rank) = (self.fabric, self.rank);
        let engine = fabric.engine(rank);
        let received = match kind {
            Kind::Send { to, message } => {
                let ahead = engine.ahead.take();
                let transfer = ahead.unwrap_or_else(|| post(fabric, rank, to, Some(message)));
                self.send(&transfer).await;
                self.stream_until(transfer.end.get()).await;
                None
            }
            Kind::Recv { from } => {
                let transfer = self.meet(from).await;
                self.grant(&transfer);
                self.await_start(&transfer).await;
                self.stream_until(transfer.end.get()).await;
                transfer.message.borrow().clone()
            }
            Kind::Exchange { to, message, from } => {
                let outgoing = post(fabric, rank, to, Some(message));
                let receive = async {
                    let incoming = self.meet(from).await;
                    self.grant(&incoming);
                    self.await_start(&incoming).await;
                    incoming
                };
                let ((), incoming) = join(self.send(&outgoing), receive).await;
                self.stream_until(outgoing.end.get().max(incoming.end.get()))
                    .await;
                incoming.message.borrow().clone()
            }
            Kind::Forward {
                from,
                to,
                piece_bytes,
            } => self.forward(from, to, piece_bytes).await,
        };
        fabric.kernel.sleep(fabric.timing.complete).await;
        fabric.fill(rank, fabric.kernel.now(), Cause::Handshake);
        engine.is_streaming.set(false);
        received
    }

    /// Waits for the ready of the receiver and starts the stream.
    async fn send(&self, transfer: &Transfer) {
        self.await_ready(transfer).await;
        let now = self.fabric.kernel.now();
        self.start(transfer, now);
        self.fabric.engine(self.rank).is_streaming.set(true);
        request_ahead(self.fabric, self.rank);
    }

    async fn await_ready(&self, transfer: &Transfer) {
        let (fabric, rank, to) = (self.fabric, self.rank, transfer.to);
        fabric.block(rank, to, Await::Send, self.step);
        let ready = transfer.granted.wait().await;
        fabric.books.unblock(rank);
        fabric.fill(rank, transfer.arrives, Cause::Handshake);
        fabric.fill_wait(rank, to, transfer.met.get());
        fabric.fill(rank, ready, Cause::Handshake);
    }

    /// The first word leaves at `start`.
    fn start(&self, transfer: &Transfer, start: Time) {
        let bytes = transfer
            .message
            .borrow()
            .as_ref()
            .map_or(0, |message| message_bytes(message));
        let (from, to) = (transfer.from, transfer.to);
        let words = self.fabric.timing.words(bytes);
        let mut crossbar = self.fabric.crossbar.borrow_mut();
        let end = crossbar.stream(from.index(), to.index(), start, words);
        transfer.end.set(end);
        transfer.started.set_at(start);
        let posted = transfer.posted;
        self.fabric.books.record(MessageRecord {
            from,
            to,
            bytes,
            posted,
            start,
            end,
        });
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
                fabric.block(rank, from, Await::Recv, self.step);
                arrived.wait().await;
                fabric.books.unblock(rank);
                next().expect("the request has arrived")
            }
        };
        fabric.kernel.sleep_until(transfer.arrives).await;
        fabric.fill_wait(rank, from, transfer.posted);
        fabric.fill(rank, fabric.kernel.now(), Cause::Handshake);
        transfer.met.set(fabric.kernel.now());
        transfer
    }

    fn grant(&self, transfer: &Transfer) {
        transfer
            .granted
            .set_at(self.fabric.kernel.now() + self.fabric.timing.ready);
    }

    /// Waits for the first word.
    async fn await_start(&self, transfer: &Transfer) {
        let (fabric, rank, from) = (self.fabric, self.rank, transfer.from);
        fabric.block(rank, from, Await::Recv, self.step);
        let start = transfer.started.wait().await;
        fabric.books.unblock(rank);
        if let Some(ready) = transfer.granted.time() {
            fabric.fill(rank, ready.min(start), Cause::Handshake);
        }
        if transfer.is_forwarded {
            fabric.fill(rank, start, Cause::Handshake);
        } else {
            fabric.fill_wait(rank, from, start);
        }
    }

    async fn stream_until(&self, end: Time) {
        self.fabric.kernel.sleep_until(end).await;
        self.fabric.fill(self.rank, end, Cause::Transfer);
    }

    /// Park 2019, Figure 7.
    async fn forward(&self, from: Rank, to: Rank, piece_bytes: Option<u64>) -> Option<Message> {
        let outgoing = post(self.fabric, self.rank, to, None);
        let incoming = self.meet(from).await;
        self.await_ready(&outgoing).await;
        self.grant(&incoming);
        self.await_start(&incoming).await;
        let message = incoming.message.borrow().clone();
        let timing = self.fabric.timing;
        let words = timing.words(message.as_ref().map_or(0, |message| message_bytes(message)));
        let piece_words = piece_bytes
            .map_or(1, |bytes| timing.words(bytes))
            .min(words);
        let start = incoming.started.time().expect("it has started") + timing.word * piece_words;
        (*outgoing.message.borrow_mut()).clone_from(&message);
        self.start(&outgoing, start);
        self.stream_until(outgoing.end.get()).await;
        message
    }
}
