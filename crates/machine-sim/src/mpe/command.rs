// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core tells its engine to do, and how it learns that it is done.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::Message;
use corecast_sim::{Kernel, Latch};

/// A command in the issue queue.
pub(crate) struct Command {
    pub kind: CommandKind,
    /// Step of the program it belongs to.
    pub step: usize,
    /// Length in words; `None` if only the sender knows it.
    pub words: Option<u64>,
    /// Members between the root and this rank in the chain of an atomic broadcast.
    pub leaves_before: u32,
    /// Where received words go, in bytes of the rank's memory; `None` if the core takes the message.
    pub target: Option<Range<usize>>,
    pub completion: Rc<Completion>,
}

/// What a command does.
pub(crate) enum CommandKind {
    Send {
        to: Rank,
        content: Content,
    },
    Recv {
        from: Rank,
    },
    /// Both at once, over both directions of the port; not an operation of the hardware.
    Exchange {
        to: Rank,
        content: Content,
        from: Rank,
    },
    Forward {
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    },
}

/// Where the words of a message come from.
#[derive(Clone)]
pub(crate) enum Content {
    Message(Message),
    /// The rank's memory, in bytes, as it is when the first word leaves.
    Memory(Range<usize>),
}

/// Where the core learns that a command is complete.
pub(crate) struct Completion {
    /// Set with the time at which the complete message has passed.
    pub done: Latch,
    pub received: RefCell<Option<Message>>,
}

impl Completion {
    pub(crate) fn new(kernel: &Rc<Kernel>) -> Rc<Self> {
        Rc::new(Self {
            done: Latch::new(kernel),
            received: RefCell::default(),
        })
    }
}
