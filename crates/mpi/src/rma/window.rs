// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows: whose memory they are of, and how each rank's is reached from here.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;

use super::gate::{Gate, Latch, SharedGate};
use super::memory::Here;
use super::state::{Awaited, Epochs, Incoming, Loop, Owed, Unsent};
use super::wire::REPLIES;
use crate::engine::{Engine, Flight, Memory, Mode};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{CommId, ErrhandlerId, WinId};
use crate::table::Table;

/// How a window came to its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavor {
    /// The program gave it.
    Create,
    /// The library gave it.
    Allocate,
    /// The program gives and takes some while the window is there.
    Dynamic,
    /// The library gave it, and all ranks may use all of it.
    Shared,
}

/// One rank's part of a window.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of a displacement of 1.
    pub unit: u32,
    /// Where it lies for this rank, if it does.
    pub(super) here: Option<Here>,
    /// Its lock, if that lies here.
    pub(super) gate: Option<SharedGate>,
    /// What accumulates there take, if that lies here.
    pub(super) latch: Option<Latch>,
    /// Its address for its rank, if this one can read and write it by that.
    pub(super) far: Option<u64>,
}

impl Member {
    /// Where it lies for this rank, if it does.
    #[must_use]
    pub fn address(&self) -> Option<*mut u8> {
        self.here.map(Here::address)
    }
}

/// Memory of the library that a window lies in.
#[derive(Debug)]
pub(super) enum Held {
    /// None.
    Nothing,
    /// This rank's own, kept for the window.
    Own { _memory: crate::collective::Scratch },
    /// Memory that all ranks see: its name, and where it lies here.
    Shared(u64, Here, usize),
}

/// A window.
#[derive(Debug)]
pub struct Window {
    /// The communicator that it has for itself.
    pub comm: CommId,
    /// How it came to its memory.
    pub flavor: Flavor,
    /// What is done about errors.
    pub errhandler: ErrhandlerId,
    /// Its name.
    pub name: String,
    /// Hints of the program.
    pub hints: Vec<(String, String)>,
    /// Its ranks.
    pub group: Group,
    /// This rank.
    pub rank: u32,
    /// The parts of all ranks.
    pub members: Vec<Member>,
    /// Memory that a dynamic window has, as addresses.
    pub(super) attached: Vec<(usize, usize)>,
    pub(super) held: Held,
    /// Calls that found nothing under way.
    pub(super) calm: u32,
    /// What accumulates here did last.
    pub(super) last_loop: Cell<Option<Loop>>,
    pub(super) context: u32,
    pub(super) epochs: Epochs,
    /// Replies that have not come.
    pub(super) awaited: VecDeque<Awaited>,
    /// Whether a rank was asked by messages for something that it does not reply to.
    pub(super) is_dirty: Vec<bool>,
    /// What went wrong since somebody asked.
    pub(super) failure: Option<Error>,
    next_reply: i32,
    /// A short request of a rank that is not replied and not sent yet: a flush that follows goes with it.
    pub(super) held_back: Option<(u32, Unsent)>,
    /// What ranks are replied, with the tags of their requests.
    pub(super) owed: Vec<(u32, i32, Owed)>,
    /// Where classes of errors have come, for those that will.
    pub(super) spare: Vec<Box<[u8]>>,
    /// Messages that are on their way, and their bytes.
    pub(super) outgoing: Vec<(Flight, Box<[u8]>)>,
    pub(super) incoming: VecDeque<Incoming>,
    pub(super) gate: Gate,
    /// The first error in what each rank asked for since it asked for errors.
    pub(super) errors: Vec<Option<Class>>,
}

impl Window {
    pub(super) fn new(
        (comm, context): (CommId, u32),
        flavor: Flavor,
        (group, rank): (Group, u32),
        members: Vec<Member>,
        held: Held,
    ) -> Self {
        let ranks = group.size();
        Self {
            comm,
            flavor,
            errhandler: ErrhandlerId::ARE_FATAL,
            name: String::new(),
            hints: Vec::new(),
            group,
            rank,
            members,
            attached: Vec::new(),
            calm: 0,
            last_loop: Cell::new(None),
            held,
            context,
            epochs: Epochs::new(ranks),
            awaited: VecDeque::new(),
            is_dirty: vec![false; ranks],
            failure: None,
            next_reply: 0,
            held_back: None,
            owed: Vec::new(),
            spare: Vec::new(),
            outgoing: Vec::new(),
            incoming: VecDeque::new(),
            gate: Gate::default(),
            errors: vec![None; ranks],
        }
    }

    /// Whether the memory and the locks of all ranks lie here: nobody is asked for anything by messages.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.held, Held::Shared(..))
    }

    /// A tag for the next reply.
    pub(super) fn reply_tag(&mut self) -> i32 {
        self.next_reply = self.next_reply % (REPLIES - 1) + 1;
        self.next_reply
    }

    /// The process of a rank.
    pub(super) fn world(&self, rank: u32) -> u32 {
        self.group.world_ranks()[rank as usize]
    }

    /// Sends bytes that the window keeps as long as it takes.
    pub(super) fn send(
        &mut self,
        engine: &mut Engine,
        (rank, tag): (u32, i32),
        mut bytes: Vec<u8>,
    ) -> Result<()> {
        let to = self.world(rank);
        if engine.send_now(self.context, to, tag, Memory::of(&mut bytes)) {
            return Ok(());
        }
        let mut bytes = bytes.into_boxed_slice();
        self.send_from(engine, (rank, tag), Memory::of(&mut bytes), bytes)
    }

    /// Sends from memory, and keeps bytes as long as that takes, in which it may lie.
    pub(super) fn send_from(
        &mut self,
        engine: &mut Engine,
        (rank, tag): (u32, i32),
        memory: Memory,
        bytes: Box<[u8]>,
    ) -> Result<()> {
        let to = self.world(rank);
        if let Some(flight) = engine.send(self.context, to, tag, memory, Mode::Standard)? {
            self.outgoing.push((flight, bytes));
        }
        Ok(())
    }

    /// Forgets messages that have arrived.
    pub(super) fn settle(&mut self, engine: &mut Engine) {
        let landed = |sent: &(Flight, _)| engine.landed(&sent.0).is_some();
        if !self.outgoing.iter().any(landed) {
            return;
        }
        for (flight, bytes) in std::mem::take(&mut self.outgoing) {
            match engine.landed(&flight) {
                Some(_) => drop(engine.release(flight)),
                None => self.outgoing.push((flight, bytes)),
            }
        }
    }

    /// Whether nothing is under way, as far as this rank knows.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let is_sent = self.held_back.is_none() && self.outgoing.is_empty() && self.owed.is_empty();
        is_sent && self.incoming.is_empty() && self.awaited.is_empty()
    }
}

/// The windows of a process.
#[derive(Default, Debug)]
pub struct Windows {
    table: Table<WinId, Window>,
    /// How many there are.
    alive: usize,
    /// How many of them are reached by messages.
    served: usize,
}

impl Windows {
    /// Whether there is none: nobody asks this rank for anything.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Whether nobody asks this rank for anything by messages.
    #[inline]
    #[must_use]
    pub(crate) fn are_direct(&self) -> bool {
        self.served == 0
    }

    /// A window.
    #[inline]
    #[must_use]
    pub fn get(&self, win: WinId) -> Option<&Window> {
        self.table.get(win)
    }

    /// A window, to be changed.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, win: WinId) -> Option<&mut Window> {
        self.table.get_mut(win)
    }

    pub(super) fn insert(&mut self, window: Window) -> Option<WinId> {
        let is_direct = window.is_direct();
        let id = self.table.insert(window)?;
        self.alive += 1;
        self.served += usize::from(!is_direct);
        Some(id)
    }

    pub(super) fn remove(&mut self, win: WinId) -> Option<Window> {
        let window = self.table.remove(win)?;
        self.alive -= 1;
        self.served -= usize::from(!window.is_direct());
        Some(window)
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Window> {
        self.table.dynamic_mut()
    }

    /// The window whose messages are of this context.
    pub(super) fn of_context(&mut self, context: u32) -> Option<&mut Window> {
        self.all().find(|window| window.context == context)
    }
}
