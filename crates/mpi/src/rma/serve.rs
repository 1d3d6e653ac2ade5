// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this rank does in its memory because others ask for it.

use std::sync::Arc;

use super::memory::Here;
use super::state::{Incoming, Owed};
use super::window::{Flavor, Window};
use super::wire::{Ask, AskKind, Brief, BriefKind, Pieces, REQUEST, apart};
use crate::datatype::Type;
use crate::engine::{Engine, Following, Memory};
use crate::error::{Class, Result};
use crate::handle::{OpId, TypeId};
use crate::op::Op;
use crate::process::Process;
use crate::table::Table;

/// What requests name by numbers.
struct Known<'a> {
    types: &'a Table<TypeId, Arc<Type>>,
    ops: &'a Table<OpId, Arc<Op>>,
}

/// What a rank is replied.
enum Reply {
    /// What was there.
    Bytes(Vec<u8>),
    /// What is there: it goes right from the window, however long it is.
    There(Memory),
}

impl Process {
    /// Takes what has come and moves what waits; whether anything happened. Puts and gets of one piece are
    /// done out of the packets in which they come, if nothing of their window waits before them; data of their
    /// own are asked for before they come.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline(never)]
    pub(crate) fn progress_served(&mut self) -> Result<bool> {
        let wins = &mut self.wins;
        self.engine
            .progress_taking(REQUEST, &mut |following, from, context, body| {
                let window = wins.of_context(context);
                window.is_some_and(|window| window.take_brief(following, from, body))
            })
    }

    /// Does what others have asked for; whether there was something.
    pub(crate) fn serve(&mut self) -> Result<bool> {
        let known = Known {
            types: &self.types,
            ops: &self.ops,
        };
        let mut has_moved = false;
        for window in self.wins.all() {
            if window.is_direct() {
                window.settle(&mut self.engine);
                continue;
            }
            // Nothing has followed before this rank waits.
            window.send_held_back(&mut self.engine)?;
            window.send_owed(&mut self.engine)?;
            has_moved |= window.serve(&mut self.engine, &known)?;
            has_moved |= window.collect(&mut self.engine);
        }
        Ok(has_moved)
    }
}

impl Window {
    fn serve(&mut self, engine: &mut Engine, known: &Known<'_>) -> Result<bool> {
        let mut has_moved = false;
        while let Some((taken, envelope)) = engine.take(self.context, None, Some(REQUEST)) {
            let from = self.group.rank_of(envelope.from).unwrap_or(0);
            let (flight, message) = match Engine::bytes_taken(taken) {
                Ok(message) => (None, message),
                Err(taken) => {
                    let mut message = vec![0; envelope.bytes].into_boxed_slice();
                    let flight = engine.recv_taken(taken, Memory::of(&mut message))?;
                    (Some(flight), message)
                }
            };
            has_moved = true;
            if flight.is_none() {
                if let Some(brief) = Brief::apart(&message) {
                    let (memory, tag) = self.room_apart(from, brief);
                    let flight =
                        engine.recv(self.context, Some(envelope.from), Some(tag), memory)?;
                    self.incoming.push_back(Incoming::data(from, flight));
                    continue;
                }
                if self.incoming.is_empty() {
                    self.carry_out(engine, known, (from, &message))?;
                    continue;
                }
            }
            self.incoming.push_back(Incoming {
                from,
                flight,
                message: Some(message),
            });
        }
        // What one rank asks for is done in its order; a message whose bytes are late holds up no other.
        let mut waiting: Vec<u32> = Vec::new();
        let mut index = 0;
        while let Some(incoming) = self.incoming.get_mut(index) {
            if let Some(flight) = incoming.flight.take() {
                match engine.landed(&flight) {
                    Some(_) => drop(engine.release(flight)),
                    None => incoming.flight = Some(flight),
                }
            }
            if incoming.flight.is_some() || waiting.contains(&incoming.from) {
                waiting.push(incoming.from);
                index += 1;
                continue;
            }
            if let Some(done) = self.incoming.remove(index) {
                if let Some(message) = done.message {
                    self.carry_out(engine, known, (done.from, &message))?;
                }
                has_moved = true;
            }
        }
        self.settle(engine);
        Ok(has_moved)
    }

    /// Where the data of a put go that are a message of their own, and its tag. They may come before those of
    /// earlier puts: in which order puts are done nobody promises.
    fn room_apart(&mut self, from: u32, brief: Brief) -> (Memory, i32) {
        let place = Pieces {
            base: brief.at.cast_signed(),
            pieces: vec![(0, brief.bytes as usize)],
        };
        let here = self.own(&place);
        // SAFETY: all of it is within this rank's memory, as `own` has seen.
        let memory = here.and_then(|here| unsafe { here.only_piece(&place) });
        if memory.is_none() {
            self.errors[from as usize].get_or_insert(Class::RmaRange);
        }
        // What has no place is cut off.
        (memory.unwrap_or(Memory::NONE), apart(brief.reply))
    }

    /// Carries a put or a get of one piece out that has come from this process, if it is one and nothing
    /// waits before it, or begins to receive the data of one; whether it has done so.
    fn take_brief(&mut self, following: &mut Following<'_>, world: u32, message: &[u8]) -> bool {
        let (Some(from), Some(brief)) = (self.group.rank_of(world), Brief::decode(message)) else {
            return false;
        };
        if brief.0.kind == BriefKind::PutApart {
            let (memory, tag) = self.room_apart(from, brief.0);
            let flight = following.recv(self.context, world, tag, memory);
            self.incoming.push_back(Incoming::data(from, flight));
            return true;
        }
        let is_next = self.incoming.is_empty();
        if is_next {
            self.carry_out_brief(from, brief);
        }
        is_next
    }

    /// What is replied is sent by [`Window::send_owed`].
    fn carry_out_brief(&mut self, from: u32, (brief, data): (Brief, &[u8])) {
        let own = &self.members[self.rank as usize];
        let here = own.here.filter(|_| self.flavor != Flavor::Dynamic);
        let place = here.and_then(|here| here.piece(brief.at, brief.bytes));
        let is_put = brief.kind == BriefKind::Put;
        let class = match place {
            None => Class::RmaRange,
            Some(place) if !is_put => {
                return self.owed.push((from, brief.reply, Owed::There(place)));
            }
            Some(place) if place.bytes == data.len() => {
                // SAFETY: it is within the window, as `piece` has seen.
                unsafe { place.put(0, data) };
                Class::Success
            }
            Some(_) => Class::Intern,
        };
        if class != Class::Success {
            self.errors[from as usize].get_or_insert(class);
        }
        if is_put && brief.reply == 0 {
            return;
        }
        // A get that cannot be done is replied by too few bytes, of memory that nobody has.
        let owed = match is_put {
            true => Owed::Class(self.class_told(from)),
            false => Owed::There(Memory::NONE),
        };
        self.owed.push((from, brief.reply, owed));
    }

    /// Sends what ranks are replied.
    fn send_owed(&mut self, engine: &mut Engine) -> Result<()> {
        if self.owed.is_empty() {
            return Ok(());
        }
        let mut owed = std::mem::take(&mut self.owed);
        for (to, tag, owed) in owed.drain(..) {
            match owed {
                Owed::There(memory) => self.send_from(engine, (to, tag), memory, Box::default())?,
                Owed::Class(class) => {
                    let class = (class as i32).to_ne_bytes();
                    let world = self.world(to);
                    if !engine.send_joined(self.context, world, tag, [&class, &[]]) {
                        self.send(engine, (to, tag), class.to_vec())?;
                    }
                }
            }
        }
        self.owed = owed;
        Ok(())
    }

    fn carry_out(
        &mut self,
        engine: &mut Engine,
        known: &Known<'_>,
        (from, message): (u32, &[u8]),
    ) -> Result<()> {
        if let Some(brief) = Brief::decode(message) {
            self.carry_out_brief(from, brief);
            return self.send_owed(engine);
        }
        let Some((ask, data)) = Ask::decode(message) else {
            self.errors[from as usize].get_or_insert(Class::Intern);
            return Ok(());
        };
        let reply = match ask.kind {
            AskKind::Flush => self.told(from),
            AskKind::LockShared | AskKind::LockAlone => {
                self.gate
                    .ask(from, ask.kind == AskKind::LockAlone, ask.reply);
                return self.open_gate(engine);
            }
            AskKind::Unlock => {
                self.gate.give_up();
                return self.open_gate(engine);
            }
            _ => match self.change(known, &ask, data) {
                Ok(Some(Reply::There(memory))) => {
                    let to = (from, ask.reply);
                    return self.send_from(engine, to, memory, Box::default());
                }
                Ok(Some(Reply::Bytes(reply))) => reply,
                Ok(None) if ask.reply == 0 => return Ok(()),
                Ok(None) => self.told(from),
                Err(class) => {
                    self.errors[from as usize].get_or_insert(class);
                    let is_told = matches!(ask.kind, AskKind::Put | AskKind::Accumulate);
                    match (is_told, ask.reply) {
                        (true, 0) => return Ok(()),
                        (true, _) => self.told(from),
                        (false, _) => Vec::new(),
                    }
                }
            },
        };
        self.send(engine, (from, ask.reply), reply)
    }

    /// What a rank is told that flushes: the class of the first error in what it has asked for.
    fn told(&mut self, from: u32) -> Vec<u8> {
        (self.class_told(from) as i32).to_ne_bytes().to_vec()
    }

    fn class_told(&mut self, from: u32) -> Class {
        self.errors[from as usize].take().unwrap_or(Class::Success)
    }

    /// Gives the lock to all who can have it.
    fn open_gate(&mut self, engine: &mut Engine) -> Result<()> {
        while let Some((rank, request)) = self.gate.next() {
            self.send(engine, (rank, request), Vec::new())?;
        }
        Ok(())
    }

    /// Where a place is in this rank's memory, if all of it is within.
    pub(super) fn own(&self, place: &Pieces) -> Option<Here> {
        let range = |&(at, bytes): &(isize, usize)| {
            let first = i128::from(place.base) + at as i128;
            (first, first + bytes as i128)
        };
        let is_within = |piece: &(isize, usize)| {
            let (first, end) = range(piece);
            match self.flavor {
                Flavor::Dynamic => self.is_attached(first, end),
                _ => first >= 0 && end <= i128::from(self.members[self.rank as usize].bytes),
            }
        };
        if !place.pieces.iter().all(is_within) {
            return None;
        }
        match self.flavor {
            // SAFETY: displacements are addresses, and all pieces are of memory that the program attached.
            Flavor::Dynamic => Some(unsafe { Here::new(std::ptr::null_mut(), 0) }),
            _ => self.members[self.rank as usize].here,
        }
    }

    /// Whether all addresses from one to before another are attached, by one region or several that touch.
    fn is_attached(&self, first: i128, end: i128) -> bool {
        let mut reached = first;
        while reached < end {
            let mut regions = self.attached.iter().map(|&(start, bytes)| {
                let start = start as i128;
                start..start + bytes as i128
            });
            match regions.find(|region| region.contains(&reached)) {
                Some(region) => reached = region.end,
                None => return false,
            }
        }
        true
    }

    /// Does what a request asks for; what is replied.
    fn change(
        &self,
        known: &Known<'_>,
        ask: &Ask,
        data: &[u8],
    ) -> std::result::Result<Option<Reply>, Class> {
        let place = &ask.place;
        let here = self.own(place).ok_or(Class::RmaRange)?;
        let bytes = place.bytes();
        let needed = match ask.kind {
            AskKind::Get => 0,
            AskKind::CompareAndSwap => 2 * bytes,
            _ => bytes,
        };
        if data.len() != needed {
            return Err(Class::Intern);
        }
        let kernel = || {
            let op = known.ops.get(OpId(ask.op)).ok_or(Class::Op)?;
            let ty = known.types.get(TypeId(ask.element)).ok_or(Class::Type)?;
            op.kernel(ty).ok_or(Class::Op)
        };
        // SAFETY: all pieces are within this rank's memory, as `own` has seen. Who gets a piece has all of it
        // before its epoch ends, and the window is not freed nor memory taken from it before that.
        let reply = unsafe {
            match ask.kind {
                AskKind::Put => {
                    here.scatter(place, data);
                    return Ok(None);
                }
                AskKind::Accumulate => {
                    here.combine(place, kernel()?, data, None);
                    return Ok(None);
                }
                AskKind::Get => match here.only_piece(place) {
                    Some(memory) => Reply::There(memory),
                    None => {
                        let mut packed = vec![0; bytes];
                        here.gather(place, &mut packed);
                        Reply::Bytes(packed)
                    }
                },
                AskKind::GetAccumulate => {
                    let mut old = vec![0; bytes];
                    here.combine(place, kernel()?, data, Some(&mut old));
                    Reply::Bytes(old)
                }
                _ => {
                    let (expected, new) = data.split_at(bytes);
                    Reply::Bytes(here.swap(place, expected, new))
                }
            }
        };
        Ok(Some(reply))
    }

    /// Does at once what this rank asks of itself.
    pub(super) fn change_own(
        &self,
        types: &Table<TypeId, Arc<Type>>,
        ops: &Table<OpId, Arc<Op>>,
        (ask, data): (&Ask, &[u8]),
    ) -> Result<Vec<u8>> {
        let known = Known { types, ops };
        let changed = self.change(&known, ask, data);
        let failed = |class| crate::error::Error::new(class, "the window has no such memory");
        Ok(match changed.map_err(failed)? {
            Some(Reply::Bytes(bytes)) => bytes,
            // What a rank gets from itself it copies.
            Some(Reply::There(_)) | None => Vec::new(),
        })
    }
}
