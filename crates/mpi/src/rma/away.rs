// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short puts and gets of elements that lie in one piece at both ends, in memory that is reached by
//! messages: checked once, and one message each, whose bytes are copied once at this end.
//!
//! As in `straight.rs` whatever is not as simple as that, or wrong, is left to `origin.rs`.

use super::origin::Awaiting;
use super::origin::Remote;
use super::state::{Into, Unsent};
use super::window::{Flavor, Window};
use super::wire::{BRIEF_BYTES, Brief, BriefKind, REQUEST, apart};
use crate::buffer::Buffer;
use crate::engine::{Engine, Memory, Mode};
use crate::error::Result;
use crate::handle::WinId;
use crate::process::Process;

/// Bytes of elements that are put by a message of their own, or got by one, whatever else could be done.
const SHORT_MAX: usize = 16 << 10;

/// Elements that lie in one piece at both ends, of another rank.
struct Away {
    rank: u32,
    /// Where they are in its memory.
    at: u64,
    own: Memory,
}

/// Whether so many bytes go along with their request at once.
pub(super) fn fits_with(engine: &Engine, bytes: usize) -> bool {
    bytes + BRIEF_BYTES <= engine.eager_max()
}

impl Process {
    fn away(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> Option<Away> {
        let ends = self.ends(win, buffer, remote)?;
        let room = ends.member.bytes.checked_sub(ends.own.bytes as u64)?;
        let at = u64::try_from(ends.at).ok()?;
        let is_within = at <= room;
        let is_simple = ends.member.here.is_none() && ends.window.flavor != Flavor::Dynamic;
        (is_within && is_simple && ends.own.bytes <= SHORT_MAX).then_some(Away {
            rank: ends.rank,
            at,
            own: ends.own,
        })
    }

    /// As [`Process::put`]; whether it is done, but for the bytes, which stay where they are until a flush,
    /// or something else that follows.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn put_away(&mut self, win: WinId, buffer: &Buffer, remote: &Remote) -> Result<bool> {
        let Some(Away { rank, at, own }) = self.away(win, buffer, remote) else {
            return Ok(false);
        };
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let Some(window) = wins.get_mut(win).filter(|_| fits_with(engine, own.bytes)) else {
            return Ok(false);
        };
        let brief = Brief {
            kind: BriefKind::Put,
            reply: 0,
            at,
            bytes: own.bytes as u64,
        };
        window.hold_back(engine, rank, Unsent::Put(brief, own))?;
        Ok(true)
    }

    /// As [`Process::get`] of what nobody waits for but by a flush; whether it is done.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn get_away(&mut self, win: WinId, buffer: &Buffer, remote: &Remote) -> Result<bool> {
        let Some(Away { rank, at, own }) = self.away(win, buffer, remote) else {
            return Ok(false);
        };
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let Some(window) = wins.get_mut(win) else {
            return Ok(false);
        };
        let into = (own, own.bytes, Into::There);
        let brief = Brief {
            kind: BriefKind::Get,
            reply: window.await_reply(engine, rank, into, None)?,
            at,
            bytes: own.bytes as u64,
        };
        window.send_held_back(engine)?;
        window.send_brief(engine, rank, brief, Memory::NONE)?;
        Ok(true)
    }
}

impl Window {
    /// Puts what is in this memory by a message of its own; what to wait for before it is changed.
    pub(super) fn put_apart(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        at: u64,
        memory: Memory,
    ) -> Result<Option<Awaiting>> {
        self.is_dirty[rank as usize] = true;
        self.send_held_back(engine)?;
        let number = self.reply_tag();
        let brief = Brief {
            kind: BriefKind::PutApart,
            reply: number,
            at,
            bytes: memory.bytes as u64,
        };
        self.send_brief(engine, rank, brief, Memory::NONE)?;
        let (to, tag) = (self.world(rank), apart(number));
        let flight = engine.send(self.context, to, tag, memory, Mode::Standard)?;
        Ok(flight.map(|flight| self.await_sent(rank, flight, memory.bytes)))
    }

    /// Sends a request of one piece, a put with what is in this memory.
    pub(super) fn send_brief(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        brief: Brief,
        memory: Memory,
    ) -> Result<()> {
        let words = brief.words();
        // SAFETY: who put it promised that it may be read until that is flushed.
        let message = [unsafe { memory.bytes() }, &words];
        match engine.send_joined(self.context, self.world(rank), REQUEST, message) {
            true => Ok(()),
            false => self.send(engine, (rank, REQUEST), message.concat()),
        }
    }
}
