// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bringing what was asked of ranks to its end.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::memory::settle;
use super::state::Lock;
use crate::error::Result;
use crate::handle::WinId;
use crate::process::Process;

/// One of so many calls that find nothing under way looks for packets of others, which takes several
/// times as long as such a call.
const CALM: u32 = 64;

impl Process {
    /// Whether a flush is over at once, because nothing that this rank has begun is under way, and nobody
    /// asks it for anything by messages. Now and then it is not: others may send messages that this rank
    /// has to make room for. Nor is it if something is wrong, which the other way to flush says.
    #[inline(always)]
    pub fn is_calm(&mut self, win: WinId) -> bool {
        // What was written to memory that lies here is seen by others after this.
        settle();
        self.looks_calm(win)
    }

    /// The same for who does something after it that settles what was written.
    #[inline(always)]
    pub(super) fn looks_calm(&mut self, win: WinId) -> bool {
        let is_calm = self.wins.are_direct() && self.is_quiet();
        let Some(window) = self.wins.get_mut(win) else {
            return false;
        };
        window.calm = (window.calm + 1) % CALM;
        is_calm && window.calm != 0 && window.failure.is_none()
    }

    /// The same of a flush of one rank, or of all.
    #[inline(always)]
    pub fn is_calm_at(&mut self, win: WinId, rank: Option<i32>) -> bool {
        let Some(window) = self.wins.get(win) else {
            return false;
        };
        let epochs = &window.epochs;
        let is_locked = match rank {
            Some(rank) => matches!(epochs.locks.get(rank as usize), Some(Lock::Had(..))),
            None => epochs.is_all,
        };
        is_locked && self.is_calm(win)
    }

    /// Begins to bring what was asked of ranks to its end, at both ends if `is_remote`.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn begin_flush(&mut self, win: WinId, ranks: Range<u32>, is_remote: bool) -> Result<()> {
        // As in `is_calm`.
        settle();
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let is_asked = |window: &&mut super::Window| !window.is_direct();
        let Some(window) = wins.get_mut(win).filter(is_asked) else {
            return Ok(());
        };
        if !is_remote {
            return window.send_held_back(engine);
        }
        for rank in ranks {
            if std::mem::take(&mut window.is_dirty[rank as usize]) {
                window.ask_flush(engine, rank)?;
            }
        }
        Ok(())
    }

    /// Whether nothing is under way to these ranks.
    ///
    /// # Errors
    /// What went wrong at one of them.
    pub fn is_flushed(&mut self, win: WinId, ranks: &Range<u32>) -> Result<bool> {
        let window = self.win_mut(win)?;
        let mut awaited = window.awaited.iter();
        if awaited.any(|awaited| ranks.contains(&awaited.rank)) {
            return Ok(false);
        }
        match window.failure.take() {
            Some(error) => Err(error),
            None => Ok(true),
        }
    }
}
