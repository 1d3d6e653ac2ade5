// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of one core's engine: issue queue, requests that have come, and the stream stage.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::{Rank, status};
use corecast_machine::{Await, Time};
use corecast_sim::{Kernel, Latch};

use super::command::{Command, CommandKind, Content};
use super::timing::Timing;

/// When the words of the message in the stream stage move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamTimes {
    /// The first word moves.
    pub start: Time,
    /// From now on the engine's counter of words left to read or to receive is zero.
    pub counted: Time,
    /// The last word has moved.
    pub end: Time,
    /// The complete message has passed: the stage is empty.
    pub free: Time,
}

impl StreamTimes {
    /// When a member of a broadcast with `leaves_before` other leaves before it may send its ready:
    /// when fewer than twice as many words are left, because the ready needs as many hops to the
    /// root, and the first word back (`rtl/README.md`, "Ready ahead").
    pub(crate) fn empties_for(&self, leaves_before: u32, timing: &Timing) -> Time {
        if leaves_before == 0 {
            return self.free;
        }
        let round_trip = (timing.ready + timing.word) * u64::from(leaves_before);
        // A complete message may take longer than the first word, which comes `ready` later.
        let through = (self.counted + timing.word).max(self.free.saturating_sub(timing.ready));
        let ahead = through.saturating_sub(round_trip);
        ahead.max(self.start).min(self.free)
    }

    /// Words that the engine still has to read or to receive at `now`.
    fn words_left(&self, now: Time, word: Time) -> u64 {
        self.counted.saturating_sub(now.max(self.start)).ps() / word.ps()
    }
}

/// What occupies the stream stage.
pub(crate) struct StreamStage {
    /// `None` for a transfer from before the run.
    pub command: Option<Rc<Command>>,
    /// Of a Fwd, once its receiver has granted.
    pub outgoing: RefCell<Option<Rc<Transfer>>>,
    known: Latch,
    flow: Cell<Option<StreamTimes>>,
}

impl StreamStage {
    pub(crate) fn new(kernel: &Rc<Kernel>, command: &Rc<Command>) -> Rc<Self> {
        Rc::new(Self {
            command: Some(Rc::clone(command)),
            outgoing: RefCell::default(),
            known: Latch::new(kernel),
            flow: Cell::new(None),
        })
    }

    /// The transfer of `words` words that the engine receives when the run starts, or none.
    fn ongoing(kernel: &Rc<Kernel>, timing: &Timing, words: u64) -> Rc<Self> {
        let end = timing.word * words;
        let flow = StreamTimes {
            start: Time::ZERO,
            counted: end,
            end,
            free: if words > 0 {
                end + timing.complete
            } else {
                Time::ZERO
            },
        };
        Self::moving(kernel, flow)
    }

    /// A transfer that is no command's, and whose times are known.
    pub(crate) fn moving(kernel: &Rc<Kernel>, flow: StreamTimes) -> Rc<Self> {
        let stage = Self {
            command: None,
            outgoing: RefCell::default(),
            known: Latch::new(kernel),
            flow: Cell::new(None),
        };
        stage.resolve(flow);
        Rc::new(stage)
    }

    /// The times of the words are known from now on.
    pub(crate) fn resolve(&self, flow: StreamTimes) {
        self.flow.set(Some(flow));
        self.known.set_at(Time::ZERO);
        if let Some(command) = &self.command {
            command.completion.done.set_at(flow.free);
        }
    }

    pub(crate) fn flow(&self) -> Option<StreamTimes> {
        self.flow.get()
    }

    /// For whose words the stage waits.
    pub(crate) fn wait(&self) -> Option<Wait> {
        if self.flow.get().is_some() {
            return None;
        }
        let command = self.command.as_ref()?;
        let (CommandKind::Recv { from }
        | CommandKind::Forward { from, .. }
        | CommandKind::Exchange { from, .. }) = command.kind
        else {
            return None;
        };
        Some(Wait {
            peer: from,
            awaits: Await::Recv,
            step: command.step,
        })
    }

    /// Waits until the times of the words are known.
    pub(crate) async fn known(&self) -> StreamTimes {
        self.known.wait().await;
        self.flow.get().expect("set before the latch")
    }
}

/// A message between two engines, from its request to its last word.
pub(crate) struct Transfer {
    pub from: Rank,
    pub to: Rank,
    pub posted: Time,
    /// When the request reaches the receiver.
    pub arrives: Time,
    /// `None` if the sender forwards it and has not got it yet.
    pub content: RefCell<Option<Content>>,
    /// When the receiver's matching command and the request had met.
    pub met: Cell<Time>,
    pub granted: Latch,
    /// What the receiver has for it, once it has granted.
    pub receiver: RefCell<Option<Rc<StreamStage>>>,
    /// Only for the receiving half of an exchange.
    pub started: Latch,
    pub end: Cell<Time>,
    /// Whether the sender forwards: then its start is a matter of the protocol.
    pub is_forwarded: bool,
}

/// A receiving command that waits for a request.
pub(crate) struct Listener {
    pub from: Rank,
    pub arrived: Rc<Latch>,
}

/// Whom a command waits for.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub peer: Rank,
    pub awaits: Await,
    pub step: usize,
}

/// The engine of one core.
pub(crate) struct Engine {
    /// End of the transfer the engine is busy with when the run starts.
    pub busy_until: Time,
    /// The head is being handshaked and leaves when it moves to the stream stage.
    pub queue: RefCell<VecDeque<Rc<Command>>>,
    pub stage: RefCell<Rc<StreamStage>>,
    pub inbox: RefCell<BTreeMap<Rank, VecDeque<Rc<Transfer>>>>,
    pub listener: RefCell<Option<Listener>>,
    /// Set by the engine when the queue is empty.
    pub idle: RefCell<Option<Rc<Latch>>>,
    /// Set by the bus when it waits for the last command to leave the queue.
    pub emptied: RefCell<Option<Rc<Latch>>>,
    /// Set by the core when the queue is full.
    pub full: RefCell<Option<Rc<Latch>>>,
    /// From whom the command at the head waits for a message.
    pub recv_waits: Cell<Option<Wait>>,
    /// For whose ready it waits; an exchange may wait for both.
    pub send_waits: Cell<Option<Wait>>,
    /// Whom the core waits for, with a broadcast on the command port.
    pub launch_waits: Cell<Option<Wait>>,
}

impl Engine {
    pub(crate) fn new(kernel: &Rc<Kernel>, timing: &Timing, busy_words: u64) -> Self {
        let stage = StreamStage::ongoing(kernel, timing, busy_words);
        Self {
            busy_until: stage.flow().map_or(Time::ZERO, |flow| flow.free),
            queue: RefCell::default(),
            stage: RefCell::new(stage),
            inbox: RefCell::default(),
            listener: RefCell::default(),
            idle: RefCell::default(),
            emptied: RefCell::default(),
            full: RefCell::default(),
            recv_waits: Cell::new(None),
            send_waits: Cell::new(None),
            launch_waits: Cell::new(None),
        }
    }

    pub(crate) fn stage(&self) -> Rc<StreamStage> {
        Rc::clone(&self.stage.borrow())
    }

    /// Whether a command is in the queue, and the engine keeps the books. Those of the stream stage are
    /// written when its times are known, up to its end; until then its core waits for it.
    pub(crate) fn is_active(&self) -> bool {
        !self.queue.borrow().is_empty()
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.queue.borrow().is_empty() && self.inbox.borrow().values().all(VecDeque::is_empty)
    }

    /// Whether nobody's words or ready are waited for in the clock `clock`: no command is in the queue,
    /// and the words of the stream stage move or have moved. So it is known when it will be free.
    pub(crate) fn is_settled(&self, clock: Time) -> bool {
        let flow = self.stage.borrow().flow();
        self.queue.borrow().is_empty() && flow.is_some_and(|flow| flow.start <= clock)
    }

    /// Waits until the engine will be settled after some time, whatever others do. Nothing enters its
    /// queue meanwhile: its core shows a broadcast.
    pub(crate) async fn settled(&self, kernel: &Rc<Kernel>) {
        if !self.queue.borrow().is_empty() {
            let emptied = Rc::new(Latch::new(kernel));
            *self.emptied.borrow_mut() = Some(Rc::clone(&emptied));
            emptied.wait().await;
        }
        self.stage().known().await;
    }

    /// Class in the status register at `now`: the top one for a command that has not started,
    /// because nobody knows how long its partner will keep it waiting.
    pub(crate) fn status(&self, now: Time, timing: &Timing, bits: u32) -> u32 {
        if !self.queue.borrow().is_empty() {
            return status::class(u64::MAX, bits);
        }
        let stage = self.stage.borrow();
        let words = match stage.flow() {
            Some(flow) if now >= flow.free => return 0,
            Some(flow) => flow.words_left(now, timing.word),
            None => stage
                .command
                .as_ref()
                .and_then(|command| command.words)
                .unwrap_or(0),
        };
        // Without a word left it is busy still, with the complete message.
        status::class((words * timing.width_bytes).max(1), bits)
    }
}
