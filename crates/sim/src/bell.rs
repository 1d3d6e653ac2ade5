// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bell per place, for which one task at a time waits.
//!
//! What a [`crate::Latch`] is to a message, a bell is to a wire that is used again and again: it
//! needs no memory per ring, which counts where a million cores listen.
//!
//! ```
//! use std::rc::Rc;
//! use corecast_sim::{Bells, Executor, Limits, Time};
//! let mut executor = Executor::new(Limits::default());
//! let kernel = executor.kernel();
//! let bells = Rc::new(Bells::new(&kernel, 2));
//! let ringer = Rc::clone(&bells);
//! executor.spawn(async move { bells.wait(1).await; assert_eq!(kernel.now().ps(), 30); });
//! executor.spawn(async move {
//!     assert!(ringer.ring_at(1, Time::from_ps(30)));
//!     assert!(!ringer.ring_at(0, Time::from_ps(30)), "nobody waits");
//! });
//! assert!(executor.run().is_complete());
//! ```

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use corecast_core::Time;

use crate::executor::{Kernel, TaskIdx};

const NOBODY: TaskIdx = TaskIdx::MAX;

/// See the module's documentation.
#[derive(Debug)]
pub struct Bells {
    kernel: Rc<Kernel>,
    /// Per bell the task that waits for it, and the earliest time for which it has been rung since.
    waiting: Vec<Cell<(TaskIdx, Time)>>,
}

impl Bells {
    /// Bells for which nobody waits.
    #[must_use]
    pub fn new(kernel: &Rc<Kernel>, bells: usize) -> Self {
        Self {
            kernel: Rc::clone(kernel),
            waiting: vec![const { Cell::new((NOBODY, Time::MAX)) }; bells],
        }
    }

    /// Resumes the task that waits for `bell` at `time`, or sooner if the bell has been rung for an earlier
    /// time; returns whether one does. A bell that nobody waits for is not heard.
    pub fn ring_at(&self, bell: usize, time: Time) -> bool {
        let (task, before) = self.waiting[bell].get();
        if task != NOBODY && time < before {
            self.waiting[bell].set((task, time));
            self.kernel.wake_at(task, time);
        }
        task != NOBODY
    }

    /// Waits until `bell` rings, from the first poll on, and until `latest` at most. No other task may wait
    /// for this bell meanwhile.
    pub fn wait_until(&self, bell: usize, latest: Time) -> BellWait<'_> {
        BellWait {
            bells: self,
            bell,
            latest,
            is_waiting: false,
        }
    }

    /// Waits until `bell` rings.
    pub fn wait(&self, bell: usize) -> BellWait<'_> {
        self.wait_until(bell, Time::MAX)
    }
}

/// Future of [`Bells::wait`].
#[derive(Debug)]
pub struct BellWait<'a> {
    bells: &'a Bells,
    bell: usize,
    latest: Time,
    is_waiting: bool,
}

impl Future for BellWait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let Bells { kernel, waiting } = self.bells;
        let state = &waiting[self.bell];
        if !self.is_waiting {
            let (before, _) = state.replace((kernel.current(), Time::MAX));
            assert_eq!(before, NOBODY, "one task waits for bell {}", self.bell);
            self.is_waiting = true;
            if self.latest < Time::MAX {
                self.bells.ring_at(self.bell, self.latest);
            }
            return Poll::Pending;
        }
        // A task that was resumed sooner may be woken for the later time as well.
        let (_, rung) = state.get();
        if rung > kernel.now() {
            return Poll::Pending;
        }
        state.set((NOBODY, Time::MAX));
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{Executor, Limits};

    /// The times at which a task goes on that waits for a bell twice, of which the first wait ends at `latest`
    /// at most.
    fn resumed(latest: u64, rings: &[(u64, u64)]) -> Vec<u64> {
        let log = RefCell::new(Vec::new());
        let mut executor = Executor::new(Limits::default());
        let kernel = executor.kernel();
        let bells = Rc::new(Bells::new(&kernel, 1));
        let at = Time::from_ps;
        for &(when, time) in rings {
            let (kernel, bells) = (Rc::clone(&kernel), Rc::clone(&bells));
            executor.spawn(async move {
                kernel.sleep_until(at(when)).await;
                bells.ring_at(0, at(time));
            });
        }
        let log_of = &log;
        executor.spawn(async move {
            bells.wait_until(0, at(latest)).await;
            log_of.borrow_mut().push(kernel.now().ps());
            bells.wait(0).await;
            log_of.borrow_mut().push(kernel.now().ps());
        });
        executor.run();
        drop(executor);
        log.into_inner()
    }

    #[test]
    fn the_earliest_ring_is_heard_whichever_was_first() {
        assert_eq!(resumed(90, &[(1, 50), (2, 30)]), [30]);
        assert_eq!(resumed(90, &[(1, 30), (2, 50)]), [30]);
        assert_eq!(resumed(90, &[(1, 30), (40, 70)]), [30, 70]);
        // What was left of the first wait ends no other one.
        assert_eq!(resumed(90, &[(1, 50), (2, 30), (40, 60)]), [30, 60]);
        assert_eq!(resumed(20, &[(1, 50), (40, 70)]), [20, 70]);
    }
}
