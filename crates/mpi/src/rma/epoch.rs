// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a rank may reach whose memory: fences, locks, and groups that start, post, complete and wait.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::state::{Lock, LockKind};
use super::window::Window;
use super::wire::{Ask, AskKind, COMPLETE, POST};
use crate::engine::{Flight, Memory};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{PROC_NULL, WinId};
use crate::process::Process;

#[cold]
fn refused(what: impl Into<String>) -> Error {
    Error::new(Class::RmaSync, what)
}

impl Window {
    /// Whether a rank's memory may be reached now.
    #[inline(always)]
    pub(super) fn may_reach(&self, rank: u32) -> bool {
        let epochs = &self.epochs;
        let is_started = || {
            let started = epochs.started.as_ref();
            started.is_some_and(|started| started.contains(&rank))
        };
        epochs.is_fenced || matches!(epochs.locks[rank as usize], Lock::Had(..)) || is_started()
    }

    /// Refuses to reach a rank's memory outside of an epoch.
    pub(super) fn check_epoch(&self, rank: u32) -> Result<()> {
        match self.may_reach(rank) {
            true => Ok(()),
            false => Err(refused(format!(
                "rank {rank} is reached outside of an epoch; MPI_Win_fence, MPI_Win_start or \
                 MPI_Win_lock begins one"
            ))),
        }
    }

    /// A rank of the window; `None`: nobody.
    #[inline]
    pub(super) fn target(&self, rank: i32) -> Result<Option<u32>> {
        if rank == PROC_NULL {
            return Ok(None);
        }
        let found = u32::try_from(rank).ok();
        let found = found.filter(|&found| (found as usize) < self.members.len());
        found.map(Some).ok_or_else(|| self.no_rank(rank))
    }

    #[cold]
    fn no_rank(&self, rank: i32) -> Error {
        let what = format!(
            "there is no rank {rank}; ranks of the window are 0 to {}",
            self.members.len() as i64 - 1
        );
        Error::new(Class::Rank, what)
    }

    /// The ranks that a call is for: one, which may be nobody, or all.
    #[inline]
    fn targets(&self, rank: Option<i32>) -> Result<Range<u32>> {
        Ok(match rank {
            Some(rank) => self.target(rank)?.map_or(0..0, |rank| rank..rank + 1),
            None => self.all_targets(),
        })
    }

    fn all_targets(&self) -> Range<u32> {
        0..self.group.size() as u32
    }

    /// Whether all of these ranks are locked.
    fn has_all(&self, mut targets: Range<u32>) -> bool {
        targets.all(|rank| matches!(self.epochs.locks[rank as usize], Lock::Had(..)))
    }

    /// The ranks here of a group's processes.
    fn ranks_of(&self, group: &Group) -> Result<Vec<u32>> {
        let ranks = group.world_ranks().iter();
        let ranks = ranks.map(|&world| self.group.rank_of(world));
        let all: Option<Vec<u32>> = ranks.collect();
        all.ok_or_else(|| {
            let what = "the group has a process that is not in the window";
            Error::new(Class::Group, what)
        })
    }
}

impl Process {
    /// Between two fences all may reach all, until one says that nothing follows.
    ///
    /// # Errors
    /// [`Class::RmaSync`] in an epoch of another kind.
    pub fn may_fence(&mut self, win: WinId) -> Result<()> {
        let epochs = &self.win_mut(win)?.epochs;
        match epochs.has_locks() || epochs.started.is_some() || epochs.exposed.is_some() {
            true => Err(refused("MPI_Win_fence within an epoch of another kind")),
            false => Ok(()),
        }
    }

    /// The fence has been passed.
    ///
    /// # Errors
    /// [`Class::Win`] if there is no such window.
    pub fn fenced(&mut self, win: WinId, begins: bool) -> Result<()> {
        self.win_mut(win)?.epochs.is_fenced = begins;
        Ok(())
    }

    /// Locks a rank whose lock lies here and is free. `false`: it is not so, or something is wrong, and
    /// [`Process::ask_lock`] goes on from there.
    #[inline]
    pub fn lock_now(&mut self, win: WinId, rank: i32, kind: LockKind) -> bool {
        let Some(window) = self.wins.get_mut(win) else {
            return false;
        };
        let at = rank as usize;
        let gate = window.members.get(at).and_then(|member| member.gate);
        let (Some(gate), true) = (gate, window.epochs.started.is_none()) else {
            return false;
        };
        let lock = &mut window.epochs.locks[at];
        if !matches!(lock, Lock::None) || !gate.take(kind == LockKind::Alone) {
            return false;
        }
        *lock = Lock::Had(kind, true);
        window.epochs.is_fenced = false;
        true
    }

    /// Unlocks a rank whose lock lies here, if that can be done at once. `false`: it cannot, or something
    /// is wrong, and nothing has been done.
    #[inline]
    pub fn unlock_now(&mut self, win: WinId, rank: i32) -> bool {
        if !self.looks_calm(win) {
            return false;
        }
        let Some(window) = self.wins.get_mut(win) else {
            return false;
        };
        let at = rank as usize;
        let gate = window.members.get(at).and_then(|member| member.gate);
        let (Some(gate), false) = (gate, window.epochs.is_all) else {
            return false;
        };
        let lock = &mut window.epochs.locks[at];
        let Lock::Had(kind, true) = *lock else {
            return false;
        };
        *lock = Lock::None;
        gate.give_up(kind == LockKind::Alone);
        true
    }

    /// Begins to lock a rank, or all (`None`).
    ///
    /// # Errors
    /// [`Class::Rank`]; [`Class::RmaSync`] if one is locked already, or between fences.
    pub fn ask_lock(
        &mut self,
        win: WinId,
        rank: Option<i32>,
        kind: LockKind,
        is_checked: bool,
    ) -> Result<()> {
        let window = self.win_mut(win)?;
        let targets = window.targets(rank)?;
        let epochs = &window.epochs;
        let is_had = |rank: u32| !matches!(epochs.locks[rank as usize], Lock::None);
        if targets.clone().any(is_had) || (rank.is_none() && epochs.is_all) {
            return Err(refused("the rank is locked already"));
        }
        if epochs.started.is_some() {
            return Err(refused("a lock within an epoch of MPI_Win_start"));
        }
        window.epochs.is_all |= rank.is_none();
        window.epochs.is_fenced = false;
        for rank in targets {
            self.ask_one(win, rank, kind, is_checked)?;
        }
        Ok(())
    }

    fn ask_one(&mut self, win: WinId, rank: u32, kind: LockKind, is_checked: bool) -> Result<()> {
        let Some(window) = self.wins.get_mut(win) else {
            return Ok(());
        };
        if !is_checked {
            window.epochs.locks[rank as usize] = Lock::Had(kind, false);
            return Ok(());
        }
        if let Some(gate) = window.members[rank as usize].gate {
            window.epochs.locks[rank as usize] = match gate.take(kind == LockKind::Alone) {
                true => Lock::Had(kind, true),
                false => Lock::Asked(kind, None),
            };
            return Ok(());
        }
        let reply = window.reply_tag();
        let from = Some(window.world(rank));
        let flight = self
            .engine
            .recv(window.context, from, Some(reply), Memory::NONE)?;
        let ask = match kind {
            LockKind::Shared => AskKind::LockShared,
            LockKind::Alone => AskKind::LockAlone,
        };
        window.epochs.locks[rank as usize] = Lock::Asked(kind, Some(flight));
        window.request(&mut self.engine, rank, &Ask::plain(ask, reply), &[])
    }

    /// Whether nobody here has locked a rank, or asks for it: another thread may.
    ///
    /// # Errors
    /// [`Class::Win`] if there is no such window.
    pub fn is_free(&self, win: WinId, rank: u32) -> Result<bool> {
        let locks = &self.win(win)?.epochs.locks;
        Ok(matches!(locks[rank as usize], Lock::None))
    }

    /// Whether the lock of a rank, or of all, that was asked for is had. What other threads have asked for
    /// is theirs: who has a lock does not wait for one that somebody else wants.
    ///
    /// # Errors
    /// [`Class::Win`] if there is no such window.
    pub fn has_lock(&mut self, win: WinId, rank: Option<i32>) -> Result<bool> {
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let Some(window) = wins.get_mut(win) else {
            return Err(Error::new(Class::Win, "the window was freed meanwhile"));
        };
        let targets = window.targets(rank)?;
        let mut has_all = true;
        for target in targets {
            let (lock, member) = (
                &mut window.epochs.locks[target as usize],
                &window.members[target as usize],
            );
            let Lock::Asked(kind, flight) = lock else {
                continue;
            };
            let kind = *kind;
            let has_it = match (&*flight, member.gate) {
                (Some(flight), _) => engine.landed(flight).is_some(),
                (None, Some(gate)) => gate.take(kind == LockKind::Alone),
                (None, None) => true,
            };
            if !has_it {
                has_all = false;
            } else {
                if let Some(flight) = flight.take() {
                    engine.release(flight);
                }
                *lock = Lock::Had(kind, true);
            }
        }
        Ok(has_all)
    }

    /// The ranks that a call unlocks: one, or all that a call for all has locked.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if they are not locked in this way.
    pub fn locked(&self, win: WinId, rank: Option<i32>) -> Result<Range<u32>> {
        let window = self.win(win)?;
        let is_all = window.epochs.is_all;
        if rank.is_none() && !is_all {
            return Err(refused("the window is not locked by MPI_Win_lock_all"));
        }
        let targets = window.targets(rank)?;
        match window.has_all(targets.clone()) && (rank.is_none() || !is_all) {
            true => Ok(targets),
            false => Err(refused("the rank is not locked")),
        }
    }

    /// Unlocks them; all that was asked of them is done.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn unlock(&mut self, win: WinId, targets: Range<u32>) -> Result<()> {
        let Some(window) = self.wins.get_mut(win) else {
            return Ok(());
        };
        for rank in targets {
            let lock = &mut window.epochs.locks[rank as usize];
            let Lock::Had(kind, true) = std::mem::replace(lock, Lock::None) else {
                continue;
            };
            match window.members[rank as usize].gate {
                Some(gate) => gate.give_up(kind == LockKind::Alone),
                None => {
                    let ask = Ask::plain(AskKind::Unlock, 0);
                    window.request(&mut self.engine, rank, &ask, &[])?;
                }
            }
        }
        window.epochs.is_all = false;
        Ok(())
    }

    /// The ranks that a flush is for; of all of them nothing is under way to those that are not locked.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if they are not locked.
    #[inline]
    pub fn flushed(&self, win: WinId, rank: Option<i32>) -> Result<Range<u32>> {
        let window = self.win(win)?;
        let targets = window.targets(rank)?;
        let has_some = match rank {
            Some(_) => window.has_all(targets.clone()),
            None => targets.clone().any(|rank| window.has_all(rank..rank + 1)),
        };
        match has_some {
            true => Ok(targets),
            false => Err(refused("nothing is locked that could be flushed")),
        }
    }

    /// Begins to reach the memory of a group, whose processes post.
    ///
    /// # Errors
    /// [`Class::RmaSync`] within another epoch, [`Class::Group`] for a group that is not in the window.
    pub fn begin_start(&mut self, win: WinId, group: &Group, is_checked: bool) -> Result<()> {
        let window = self.win_mut(win)?;
        let targets = window.ranks_of(group)?;
        if window.epochs.started.is_some() || window.epochs.has_locks() {
            return Err(refused("MPI_Win_start within an epoch"));
        }
        window.epochs.is_fenced = false;
        window.epochs.started = Some(targets.clone());
        let context = window.context;
        let peers: Vec<u32> = targets.iter().map(|&rank| window.world(rank)).collect();
        for peer in peers.into_iter().filter(|_| is_checked) {
            let flight = self
                .engine
                .recv(context, Some(peer), Some(POST), Memory::NONE)?;
            self.win_mut(win)?.epochs.starting.push(flight);
        }
        Ok(())
    }

    /// Whether all who were started have posted.
    ///
    /// # Errors
    /// [`Class::Win`] if there is no such window.
    pub fn has_started(&mut self, win: WinId) -> Result<bool> {
        let flights = std::mem::take(&mut self.win_mut(win)?.epochs.starting);
        let left = self.landed_of(flights);
        let window = self.win_mut(win)?;
        window.epochs.starting = left;
        Ok(window.epochs.starting.is_empty())
    }

    /// Those that have not landed; the others are forgotten.
    fn landed_of(&mut self, flights: Vec<Flight>) -> Vec<Flight> {
        let mut left = Vec::new();
        for flight in flights {
            match self.engine.landed(&flight) {
                Some(_) => drop(self.engine.release(flight)),
                None => left.push(flight),
            }
        }
        left
    }

    /// The ranks that have to be flushed before those are completed that were started: nothing is under
    /// way to others.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if nobody was.
    pub fn started(&self, win: WinId) -> Result<Range<u32>> {
        let window = self.win(win)?;
        match window.epochs.started {
            Some(_) => Ok(window.all_targets()),
            None => Err(refused("MPI_Win_complete without MPI_Win_start")),
        }
    }

    /// All ranks of a window.
    ///
    /// # Errors
    /// [`Class::Win`] if there is none of this handle.
    pub fn all_targets(&self, win: WinId) -> Result<Range<u32>> {
        Ok(self.win(win)?.all_targets())
    }

    /// Says to those who were started that all is done.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn complete(&mut self, win: WinId) -> Result<()> {
        let Some(window) = self.wins.get_mut(win) else {
            return Ok(());
        };
        for rank in window.epochs.started.take().unwrap_or_default() {
            window.send(&mut self.engine, (rank, COMPLETE), Vec::new())?;
        }
        Ok(())
    }

    /// Lets a group reach this rank's memory.
    ///
    /// # Errors
    /// As [`Process::begin_start`].
    pub fn post(&mut self, win: WinId, group: &Group, is_checked: bool) -> Result<()> {
        let window = self.win_mut(win)?;
        let origins = window.ranks_of(group)?;
        if window.epochs.exposed.is_some() {
            return Err(refused("MPI_Win_post before MPI_Win_wait of the last one"));
        }
        window.epochs.is_fenced = false;
        window.epochs.exposed = Some(Vec::new());
        for rank in origins {
            let Some(window) = self.wins.get_mut(win) else {
                break;
            };
            let peer = Some(window.world(rank));
            let flight = self
                .engine
                .recv(window.context, peer, Some(COMPLETE), Memory::NONE)?;
            if let Some(exposed) = &mut window.epochs.exposed {
                exposed.push(flight);
            }
            if is_checked {
                window.send(&mut self.engine, (rank, POST), Vec::new())?;
            }
        }
        Ok(())
    }

    /// Whether all who could reach this rank's memory have completed; then they cannot any more.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if nobody could.
    pub fn has_ended(&mut self, win: WinId) -> Result<bool> {
        let Some(flights) = self.win_mut(win)?.epochs.exposed.take() else {
            return Err(refused("MPI_Win_wait or MPI_Win_test without MPI_Win_post"));
        };
        let left = self.landed_of(flights);
        let is_over = left.is_empty();
        if !is_over {
            self.win_mut(win)?.epochs.exposed = Some(left);
        }
        Ok(is_over)
    }

    /// Refuses to free a window within an epoch that others wait for the end of.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn may_free_win(&self, win: WinId) -> Result<()> {
        let epochs = &self.win(win)?.epochs;
        match epochs.has_locks() || epochs.started.is_some() || epochs.exposed.is_some() {
            true => Err(refused("the window is freed within an epoch")),
            false => Ok(()),
        }
    }
}
