// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short puts and gets of elements that lie in one piece at both ends, in memory that is reached by
//! messages: checked once, and one message each.
//!
//! As in `straight.rs` whatever is not as simple as that, or wrong, is left to `origin.rs`.

use super::origin::Remote;
use super::state::Into;
use super::window::Flavor;
use super::wire::{Ask, AskKind};
use crate::buffer::Buffer;
use crate::engine::Memory;
use crate::error::Result;
use crate::handle::WinId;
use crate::process::Process;

/// Bytes of elements that are put by a message of their own, or got by one, whatever else could be done.
const SHORT_MAX: usize = 16 << 10;

/// Elements that lie in one piece at both ends, of another rank.
struct Away {
    rank: u32,
    /// Where they are in its memory.
    at: isize,
    own: Memory,
}

impl Process {
    fn away(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> Option<Away> {
        let ends = self.ends(win, buffer, remote)?;
        let room = ends.member.bytes.checked_sub(ends.own.bytes as u64)?;
        let at = isize::try_from(ends.at).ok()?;
        let is_within = at >= 0 && at as u64 <= room;
        let is_simple = ends.member.here.is_none() && ends.window.flavor != Flavor::Dynamic;
        (is_within && is_simple && ends.own.bytes <= SHORT_MAX).then_some(Away {
            rank: ends.rank,
            at,
            own: ends.own,
        })
    }

    /// As [`Process::put`]; whether it is done.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn put_away(&mut self, win: WinId, buffer: &Buffer, remote: &Remote) -> Result<bool> {
        let Some(Away { rank, at, own }) = self.away(win, buffer, remote) else {
            return Ok(false);
        };
        let Some(window) = self.wins.get_mut(win) else {
            return Ok(false);
        };
        // SAFETY: who gave the buffer promised that it may be read.
        let data = unsafe { own.bytes() };
        let message = Ask::encode_piece((AskKind::Put, 0), (at, own.bytes), data);
        window.tell_by(&mut self.engine, rank, message)?;
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
        let reply = window.await_reply(engine, rank, into, None)?;
        let message = Ask::encode_piece((AskKind::Get, reply), (at, own.bytes), &[]);
        window.request_by(engine, rank, message)?;
        Ok(true)
    }
}
