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

fn refused(what: impl Into<String>) -> Error {
    Error::new(Class::RmaSync, what)
}

impl Window {
    /// Refuses to reach a rank's memory outside of an epoch.
    pub(super) fn check_epoch(&self, rank: u32) -> Result<()> {
        let epochs = &self.epochs;
        let is_locked = matches!(epochs.locks[rank as usize], Lock::Had(..));
        let is_started = epochs.started.as_ref();
        let is_started = is_started.is_some_and(|started| started.contains(&rank));
        match epochs.is_fenced || is_locked || is_started {
            true => Ok(()),
            false => Err(refused(format!(
                "rank {rank} is reached outside of an epoch; MPI_Win_fence, MPI_Win_start or \
                 MPI_Win_lock begins one"
            ))),
        }
    }

    /// A rank of the window; `None`: nobody.
    pub(super) fn target(&self, rank: i32) -> Result<Option<u32>> {
        if rank == PROC_NULL {
            return Ok(None);
        }
        let found = u32::try_from(rank).ok();
        let found = found.filter(|&found| (found as usize) < self.group.size());
        found.map(Some).ok_or_else(|| {
            let what = format!(
                "there is no rank {rank}; ranks of the window are 0 to {}",
                self.group.size() as i64 - 1
            );
            Error::new(Class::Rank, what)
        })
    }

    /// The ranks that a call is for: one, which may be nobody, or all.
    fn targets(&self, rank: Option<i32>) -> Result<Range<u32>> {
        Ok(match rank {
            Some(rank) => self.target(rank)?.map_or(0..0, |rank| rank..rank + 1),
            None => 0..self.group.size() as u32,
        })
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
    pub fn locked(&mut self, win: WinId, rank: Option<i32>) -> Result<Vec<u32>> {
        let window = self.win_mut(win)?;
        let (targets, epochs) = match rank {
            Some(rank) => (Vec::from_iter(window.target(rank)?), &window.epochs),
            None if window.epochs.is_all => {
                let all = 0..window.group.size() as u32;
                (all.collect(), &window.epochs)
            }
            None => return Err(refused("the window is not locked by MPI_Win_lock_all")),
        };
        let is_had = |&rank: &u32| matches!(epochs.locks[rank as usize], Lock::Had(..));
        match targets.iter().all(is_had) && (rank.is_none() || !epochs.is_all) {
            true => Ok(targets),
            false => Err(refused("the rank is not locked")),
        }
    }

    /// Unlocks them; all that was asked of them is done.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn unlock(&mut self, win: WinId, targets: &[u32]) -> Result<()> {
        let Some(window) = self.wins.get_mut(win) else {
            return Ok(());
        };
        for &rank in targets {
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

    /// The ranks that a flush is for.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if they are not locked.
    pub fn flushed(&mut self, win: WinId, rank: Option<i32>) -> Result<Vec<u32>> {
        let window = self.win_mut(win)?;
        let locks = &window.epochs.locks;
        let is_had = |rank: u32| matches!(locks[rank as usize], Lock::Had(..));
        let targets = match rank {
            Some(rank) => Vec::from_iter(window.target(rank)?),
            None => (0..window.group.size() as u32)
                .filter(|&rank| is_had(rank))
                .collect(),
        };
        match targets.iter().all(|&rank| is_had(rank)) && (rank.is_some() || !targets.is_empty()) {
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

    /// Who was started, to be completed.
    ///
    /// # Errors
    /// [`Class::RmaSync`] if nobody was.
    pub fn started(&mut self, win: WinId) -> Result<Vec<u32>> {
        let started = self.win_mut(win)?.epochs.started.clone();
        started.ok_or_else(|| refused("MPI_Win_complete without MPI_Win_start"))
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
