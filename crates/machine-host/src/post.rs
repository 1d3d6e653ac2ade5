//! Mailboxes between threads, behind one lock.
//!
//! A rank that has to wait is marked as blocked, and the mark is taken away by whoever makes it
//! able to go on, both under the lock. So the moment in which every unfinished rank is marked is a
//! deadlock, without doubt and without a time-out. The wall-clock limit is still kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use corecast_core::Rank;
use corecast_machine::{Await, Blocked, Message, RunError, Time, cycle_first};

use crate::lock;

/// Messages an ordered pair of ranks may have under way. One would do: a schedule that completes
/// under rendezvous completes with any buffer.
const MESSAGES_PER_PAIR: usize = 2;

/// A message and when its sender posted it.
pub(crate) struct Posted {
    pub message: Message,
    pub posted: Time,
}

#[derive(Default)]
struct State {
    boxes: BTreeMap<(Rank, Rank), VecDeque<Posted>>,
    blocked: Vec<Option<Blocked>>,
    unfinished: usize,
    failure: Option<RunError>,
}

/// See the module's documentation.
pub(crate) struct Post {
    state: Mutex<State>,
    wakers: Vec<Condvar>,
    start: Instant,
    limit: Time,
}

impl Post {
    pub(crate) fn new(ranks: u32, limit: Time) -> Self {
        let state = State {
            blocked: vec![None; ranks as usize],
            unfinished: ranks as usize,
            ..State::default()
        };
        let wakers = (0..ranks).map(|_| Condvar::new()).collect();
        Self {
            state: Mutex::new(state),
            wakers,
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

    /// Puts a message into the mailbox of a pair, waiting while it is full.
    pub(crate) fn put(
        &self,
        from: Rank,
        to: Rank,
        message: Message,
        step: usize,
    ) -> Result<(), RunError> {
        let posted = self.now();
        let mut state = lock(&self.state);
        while state.boxes.entry((from, to)).or_default().len() >= MESSAGES_PER_PAIR {
            let since = posted;
            let blocked = Blocked {
                rank: from,
                peer: to,
                awaits: Await::Send,
                step,
                since,
            };
            state = self.wait(state, blocked)?;
        }
        state
            .boxes
            .entry((from, to))
            .or_default()
            .push_back(Posted { message, posted });
        self.release(&mut state, to, from, Await::Recv);
        Ok(())
    }

    /// Takes the next message of a pair, waiting for it.
    pub(crate) fn take(&self, from: Rank, to: Rank, step: usize) -> Result<Posted, RunError> {
        let since = self.now();
        let mut state = lock(&self.state);
        loop {
            if let Some(posted) = state.boxes.entry((from, to)).or_default().pop_front() {
                self.release(&mut state, from, to, Await::Send);
                return Ok(posted);
            }
            let blocked = Blocked {
                rank: to,
                peer: from,
                awaits: Await::Recv,
                step,
                since,
            };
            state = self.wait(state, blocked)?;
        }
    }

    /// A rank has finished.
    pub(crate) fn finish(&self, _rank: Rank) {
        let mut state = lock(&self.state);
        state.unfinished -= 1;
        self.check_deadlock(&mut state);
    }

    /// A rank has failed; everybody is told, and the first failure is kept.
    pub(crate) fn fail(&self, error: RunError) {
        self.abort(&mut lock(&self.state), error);
    }

    /// The failure of the run, if there was one.
    pub(crate) fn outcome(&self) -> Result<(), RunError> {
        lock(&self.state).failure.clone().map_or(Ok(()), Err)
    }

    /// If `rank` waits for `peer` in this way, it can go on.
    fn release(&self, state: &mut State, rank: Rank, peer: Rank, awaits: Await) {
        let blocked = &mut state.blocked[rank.index()];
        if blocked.is_some_and(|blocked| blocked.peer == peer && blocked.awaits == awaits) {
            *blocked = None;
            self.wakers[rank.index()].notify_one();
        }
    }

    /// Waits until somebody releases this rank.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        blocked: Blocked,
    ) -> Result<MutexGuard<'a, State>, RunError> {
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
            let left = self.limit.saturating_sub(self.now());
            if left == Time::ZERO {
                let blocked = cycle_first(state.blocked.iter().flatten().copied().collect());
                self.abort(
                    &mut state,
                    RunError::TimeLimit {
                        limit: self.limit,
                        blocked,
                    },
                );
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

    fn check_deadlock(&self, state: &mut State) {
        let blocked: Vec<Blocked> = state.blocked.iter().flatten().copied().collect();
        if !blocked.is_empty() && blocked.len() == state.unfinished {
            let blocked = cycle_first(blocked);
            self.abort(
                state,
                RunError::Deadlock {
                    at: self.now(),
                    blocked,
                },
            );
        }
    }

    fn abort(&self, state: &mut State, error: RunError) {
        state.failure.get_or_insert(error);
        for waker in &self.wakers {
            waker.notify_all();
        }
    }
}
