// SPDX-License-Identifier: MIT OR Apache-2.0
//! One step of one rank: what it sends, what it receives, what it does with the data.
//!
//! A step names *places* by [`ChunkId`]: the first ids are the chunks of the specification, each of
//! which is its own place at every rank; further ones are places that a schedule adds
//! ([`super::Place`]).
//!
//! ```
//! use corecast_core::{Arrival, Collective, Op, Rank, Request, ScheduleBuilder, Spec, Split, Step};
//! assert_eq!(std::mem::size_of::<Step>(), 32, "a million ranks have millions of steps");
//! let spec = Spec::new(&Request::new(Collective::Bcast, 2, 8), Split::Even(1));
//! let mut builder = ScheduleBuilder::new("example", spec);
//! let chunks = builder.list(&[corecast_core::ChunkId(0)]);
//! let op = Op::Recv { from: Rank(0), chunks, arrival: Arrival::Store };
//! builder.push(0, Rank(1), op);
//! assert_eq!(builder.finish().steps(Rank(1))[0].recv_half().unwrap().from, Rank(0));
//! ```

use crate::ids::{Rank, RoundIdx};

/// A list of chunks kept in the schedule's table; read it with [`super::Schedule::chunks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkList {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl ChunkList {
    /// The list that names nothing.
    pub const EMPTY: Self = Self { start: 0, len: 0 };

    /// Number of chunks in the list.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list names no chunk.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The `len` chunks of this list from position `first` on.
    ///
    /// Messages that name neighbouring chunks of one list share its storage, so that a schedule
    /// over many ranks stays small.
    ///
    /// # Panics
    /// If the list ends before that.
    #[must_use]
    pub fn slice(self, first: u32, len: u32) -> Self {
        let end = u64::from(first) + u64::from(len);
        assert!(
            end <= u64::from(self.len),
            "{first} + {len} chunks in a list of {}",
            self.len
        );
        Self {
            start: self.start + first,
            len,
        }
    }
}

/// What a step does with the data that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Keep it, replacing what the rank held there.
    Store,
    /// Combine it with what the rank holds: `held = held op arrived`, element by element.
    Reduce,
    /// Combine it with what the rank holds and send the result on; what the rank holds stays as it
    /// is. Only an [`Op::Forward`] has something to send on.
    PassOn,
}

/// One operation of one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Send one message holding `chunks`.
    Send {
        /// Receiver.
        to: Rank,
        /// What is sent.
        chunks: ChunkList,
    },
    /// Receive one message holding `chunks`.
    Recv {
        /// Sender.
        from: Rank,
        /// What arrives.
        chunks: ChunkList,
        /// Keep or combine.
        arrival: Arrival,
    },
    /// A send and a receive that proceed together; done when both are.
    Exchange {
        /// Receiver of the outgoing message.
        to: Rank,
        /// What is sent: the values held *before* this step.
        send: ChunkList,
        /// Sender of the incoming message.
        from: Rank,
        /// What arrives.
        recv: ChunkList,
        /// Keep or combine what arrives.
        arrival: Arrival,
    },
    /// Receive from one rank and send on to another while the message still arrives (cut-through;
    /// Park 2019, 3.1: "Fwd"): what arrives, or what has come of combining it with what is held.
    ///
    /// The label is the round of the receive; the send belongs to the next round.
    Forward {
        /// Sender of the incoming message.
        from: Rank,
        /// Receiver of the outgoing message.
        to: Rank,
        /// What passes through.
        chunks: ChunkList,
        /// Keep what arrives, keep the combined, or keep nothing.
        arrival: Arrival,
    },
    /// Send one message to the other ranks on the routes of multicast number `number`
    /// ([`super::Schedule::multicasts`]); done when each of them has taken it.
    Multicast {
        /// Which of the schedule's multicasts this is.
        number: u32,
        /// What is sent.
        chunks: ChunkList,
    },
    /// Receive the message of multicast number `number` and keep it.
    RecvMulticast {
        /// The rank that sends it.
        from: Rank,
        /// Which of the schedule's multicasts this is.
        number: u32,
        /// What arrives.
        chunks: ChunkList,
    },
    /// Without any message: copy places, or combine places with others, of the same rank. With empty
    /// lists it only waits for other streams.
    Local {
        /// What is read, one place per place of `target`.
        source: ChunkList,
        /// What is written.
        target: ChunkList,
        /// `target = source`, or `target = target op source`.
        arrival: Arrival,
    },
}

impl Op {
    /// The two lists of this operation, what it reads or sends first; empty where it has fewer.
    pub(super) fn lists(self) -> [ChunkList; 2] {
        match self {
            Self::Send { chunks, .. }
            | Self::Recv { chunks, .. }
            | Self::Forward { chunks, .. }
            | Self::Multicast { chunks, .. }
            | Self::RecvMulticast { chunks, .. } => [chunks, ChunkList::EMPTY],
            Self::Exchange { send, recv, .. } => [send, recv],
            Self::Local { source, target, .. } => [source, target],
        }
    }

    /// The same operation on nothing.
    pub(super) fn without_lists(mut self) -> Self {
        match &mut self {
            Self::Send { chunks, .. }
            | Self::Recv { chunks, .. }
            | Self::Forward { chunks, .. }
            | Self::Multicast { chunks, .. }
            | Self::RecvMulticast { chunks, .. } => *chunks = ChunkList::EMPTY,
            Self::Exchange { send, recv, .. } => {
                (*send, *recv) = (ChunkList::EMPTY, ChunkList::EMPTY)
            }
            Self::Local { source, target, .. } => {
                (*source, *target) = (ChunkList::EMPTY, ChunkList::EMPTY);
            }
        }
        self
    }
}

/// An [`Op`] and the round it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Round label.
    pub round: RoundIdx,
    /// The operation.
    pub op: Op,
}

/// The sending half of a step, or one of a multicast's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendHalf {
    /// Receiver.
    pub to: Rank,
    /// What is sent.
    pub chunks: ChunkList,
    /// Round of the message.
    pub round: RoundIdx,
}

/// The receiving half of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecvHalf {
    /// Sender.
    pub from: Rank,
    /// What arrives.
    pub chunks: ChunkList,
    /// Keep or combine.
    pub arrival: Arrival,
    /// Round of the message.
    pub round: RoundIdx,
}

impl Step {
    /// The message this step sends, if it sends one. A multicast sends many:
    /// [`super::Schedule::sends`] has them too.
    #[must_use]
    pub fn send_half(&self) -> Option<SendHalf> {
        let round = self.round;
        match self.op {
            Op::Send { to, chunks }
            | Op::Exchange {
                to, send: chunks, ..
            } => Some(SendHalf { to, chunks, round }),
            Op::Forward { to, chunks, .. } => Some(SendHalf {
                to,
                chunks,
                round: RoundIdx(round.0 + 1),
            }),
            Op::Recv { .. }
            | Op::Multicast { .. }
            | Op::RecvMulticast { .. }
            | Op::Local { .. } => None,
        }
    }

    /// The message this step receives, if it receives one.
    #[must_use]
    pub fn recv_half(&self) -> Option<RecvHalf> {
        let (from, chunks, arrival) = match self.op {
            Op::Recv {
                from,
                chunks,
                arrival,
            }
            | Op::Exchange {
                from,
                recv: chunks,
                arrival,
                ..
            }
            | Op::Forward {
                from,
                chunks,
                arrival,
                ..
            } => (from, chunks, arrival),
            Op::RecvMulticast { from, chunks, .. } => (from, chunks, Arrival::Store),
            Op::Send { .. } | Op::Multicast { .. } | Op::Local { .. } => return None,
        };
        Some(RecvHalf {
            from,
            chunks,
            arrival,
            round: self.round,
        })
    }

    /// The round of what this step sends last, or its own if it sends nothing.
    #[must_use]
    pub fn last_round(&self) -> RoundIdx {
        self.send_half().map_or(self.round, |half| half.round)
    }

    /// What this step sends, to one rank or to many; empty if it sends nothing.
    #[must_use]
    pub fn sent(&self) -> ChunkList {
        match self.op {
            Op::Multicast { chunks, .. } => chunks,
            _ => self
                .send_half()
                .map_or(ChunkList::EMPTY, |half| half.chunks),
        }
    }

    /// The places whose contents this step needs.
    ///
    /// [`Arrival::Reduce`] reads what it writes, so its places are in [`Step::written`] alone.
    #[must_use]
    pub fn read(&self) -> ChunkList {
        match self.op {
            Op::Send { chunks, .. }
            | Op::Exchange { send: chunks, .. }
            | Op::Multicast { chunks, .. }
            | Op::Local { source: chunks, .. }
            | Op::Forward {
                chunks,
                arrival: Arrival::PassOn,
                ..
            } => chunks,
            Op::Recv { .. } | Op::RecvMulticast { .. } | Op::Forward { .. } => ChunkList::EMPTY,
        }
    }

    /// The places whose contents this step changes.
    #[must_use]
    pub fn written(&self) -> ChunkList {
        match self.op {
            Op::Recv { chunks, .. }
            | Op::Exchange { recv: chunks, .. }
            | Op::RecvMulticast { chunks, .. }
            | Op::Local { target: chunks, .. }
            | Op::Forward {
                chunks,
                arrival: Arrival::Store | Arrival::Reduce,
                ..
            } => chunks,
            Op::Send { .. } | Op::Multicast { .. } | Op::Forward { .. } => ChunkList::EMPTY,
        }
    }
}
