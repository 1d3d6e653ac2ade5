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
    /// Per bell the task that waits for it.
    waiting: Vec<Cell<TaskIdx>>,
}

impl Bells {
    /// Bells for which nobody waits.
    #[must_use]
    pub fn new(kernel: &Rc<Kernel>, bells: usize) -> Self {
        Self {
            kernel: Rc::clone(kernel),
            waiting: vec![const { Cell::new(NOBODY) }; bells],
        }
    }

    /// Resumes the task that waits for `bell` at `time`; returns whether one does. A bell that
    /// nobody waits for is not heard, nor is one that was rung before for a later time.
    pub fn ring_at(&self, bell: usize, time: Time) -> bool {
        let task = self.waiting[bell].replace(NOBODY);
        if task != NOBODY {
            self.kernel.wake_at(task, time);
        }
        task != NOBODY
    }

    /// Waits until `bell` rings, from the first poll on. Meanwhile the task must wait for nothing
    /// else, and no other task for this bell.
    pub fn wait(&self, bell: usize) -> BellWait<'_> {
        BellWait {
            bells: self,
            bell,
            is_waiting: false,
        }
    }
}

/// Future of [`Bells::wait`].
#[derive(Debug)]
pub struct BellWait<'a> {
    bells: &'a Bells,
    bell: usize,
    is_waiting: bool,
}

impl Future for BellWait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.is_waiting {
            return Poll::Ready(());
        }
        self.is_waiting = true;
        let before = self.bells.waiting[self.bell].replace(self.bells.kernel.current());
        assert_eq!(before, NOBODY, "one task waits for bell {}", self.bell);
        Poll::Pending
    }
}
