// SPDX-License-Identifier: MIT OR Apache-2.0
//! What threads share, behind one lock, and how they wait for each other.
//!
//! A rank that has to wait is marked as blocked, and the mark is taken away by whoever makes it
//! able to go on, both under the lock. So the moment in which every unfinished rank is marked is a
//! deadlock, without doubt and without a time-out. The wall-clock limit is still kept.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use corecast_core::Rank;
use corecast_machine::{Blocked, RunError, Time, cycle_first};

use crate::threads::lock;

/// The contents, and who is blocked.
pub(crate) struct State<S> {
    contents: S,
    blocked: Vec<Option<Blocked>>,
    unfinished: usize,
    failure: Option<RunError>,
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.contents
    }
}

impl<S> DerefMut for State<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.contents
    }
}

impl<S> State<S> {
    /// What `rank` waits for, if it does.
    pub(crate) fn blocked(&self, rank: Rank) -> Option<&Blocked> {
        self.blocked[rank.index()].as_ref()
    }
}

/// See the module's documentation.
pub(crate) struct Shared<S> {
    state: Mutex<State<S>>,
    wakers: Vec<Condvar>,
    start: Instant,
    limit: Time,
}

impl<S> Shared<S> {
    pub(crate) fn new(ranks: u32, limit: Time, contents: S) -> Self {
        let state = State {
            contents,
            blocked: vec![None; ranks as usize],
            unfinished: ranks as usize,
            failure: None,
        };
        Self {
            state: Mutex::new(state),
            wakers: (0..ranks).map(|_| Condvar::new()).collect(),
            start: Instant::now(),
            limit,
        }
    }

    /// Number of ranks.
    pub(crate) fn ranks(&self) -> u32 {
        self.wakers.len() as u32
    }

    /// Wall-clock time since the start of the run.
    pub(crate) fn now(&self) -> Time {
        let ps = self.start.elapsed().as_nanos().saturating_mul(1000);
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<S>> {
        lock(&self.state)
    }

    /// A rank has finished.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        state.unfinished -= 1;
        self.check_deadlock(&mut state);
    }

    /// A rank has failed; everybody is told, and the first failure is kept.
    pub(crate) fn fail(&self, error: RunError) {
        self.abort(&mut self.lock(), error);
    }

    /// The failure of the run, if there was one.
    pub(crate) fn outcome(&self) -> Result<(), RunError> {
        self.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Fails if the run has failed or has lasted too long, for ranks that never wait.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        if self.left() == Time::ZERO {
            self.abort_late(&mut self.lock());
        }
        self.outcome()
    }

    /// A rank that is blocked can go on.
    pub(crate) fn release(&self, state: &mut State<S>, rank: Rank) {
        state.blocked[rank.index()] = None;
        self.wakers[rank.index()].notify_one();
    }

    /// Waits until somebody releases this rank.
    pub(crate) fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<S>>,
        blocked: Blocked,
    ) -> Result<MutexGuard<'a, State<S>>, RunError> {
        let me = blocked.rank.index();
        state.blocked[me] = Some(blocked);
        self.check_deadlock(&mut state);
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.blocked[me].is_none() {
                return Ok(state);
            }
            let left = self.left();
            if left == Time::ZERO {
                self.abort_late(&mut state);
                continue;
            }
            // Rounded up, so that a wait never spins on a remainder below a nanosecond.
            let timeout = Duration::from_nanos(left.ps().div_ceil(1000));
            state = match self.wakers[me].wait_timeout(state, timeout) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Time that the run may still last.
    fn left(&self) -> Time {
        self.limit.saturating_sub(self.now())
    }

    fn abort_late(&self, state: &mut State<S>) {
        let limit = self.limit;
        let blocked = cycle_first(state.blocked.iter().flatten().copied().collect());
        self.abort(state, RunError::TimeLimit { limit, blocked });
    }

    fn check_deadlock(&self, state: &mut State<S>) {
        let blocked: Vec<Blocked> = state.blocked.iter().flatten().copied().collect();
        if !blocked.is_empty() && blocked.len() == state.unfinished {
            let (at, blocked) = (self.now(), cycle_first(blocked));
            self.abort(state, RunError::Deadlock { at, blocked });
        }
    }

    fn abort(&self, state: &mut State<S>, error: RunError) {
        state.failure.get_or_insert(error);
        for waker in &self.wakers {
            waker.notify_all();
        }
    }
}
