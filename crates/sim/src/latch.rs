// SPDX-License-Identifier: MIT OR Apache-2.0
//! A condition that becomes true once, at a stated time, and may be reset.
//!
//! A control message on a wire is a latch: the sender sets it with the time of arrival, and the
//! receiver sees it from that time on.
//!
//! ```
//! use std::rc::Rc;
//! use corecast_sim::{Executor, Latch, Limits, Time};
//! let mut executor = Executor::new(Limits::default());
//! let kernel = executor.kernel();
//! let latch = Rc::new(Latch::new(&kernel));
//! let setter = Rc::clone(&latch);
//! executor.spawn(async move { latch.wait().await; assert_eq!(kernel.now().ps(), 30); });
//! executor.spawn(async move { setter.set_at(Time::from_ps(30)) });
//! assert!(executor.run().is_complete());
//! ```

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use corecast_core::Time;

use crate::executor::{Kernel, TaskIdx};

/// See the module's documentation.
#[derive(Debug)]
pub struct Latch {
    kernel: Rc<Kernel>,
    time: Cell<Option<Time>>,
    waiting: RefCell<Vec<TaskIdx>>,
}

impl Latch {
    /// A latch that is not set.
    #[must_use]
    pub fn new(kernel: &Rc<Kernel>) -> Self {
        Self {
            kernel: Rc::clone(kernel),
            time: Cell::new(None),
            waiting: RefCell::default(),
        }
    }

    /// The condition is true from `time` on.
    ///
    /// # Panics
    /// If it was set before: two setters would be two messages on one wire.
    pub fn set_at(&self, time: Time) {
        let before = self.time.replace(Some(time));
        assert_eq!(before, None, "a latch is set once");
        for task in self.waiting.borrow_mut().drain(..) {
            self.kernel.wake_at(task, time);
        }
    }

    /// The condition is not true, as if the latch were new: for a wire that is used again and again.
    pub fn reset(&self) {
        self.time.set(None);
        self.waiting.borrow_mut().clear();
    }

    /// The time given to [`Latch::set_at`], which may lie in the future.
    #[must_use]
    pub fn time(&self) -> Option<Time> {
        self.time.get()
    }

    /// Waits until the condition is true; returns the time since when.
    pub fn wait(&self) -> LatchWait<'_> {
        LatchWait {
            latch: self,
            requested: false,
        }
    }
}

/// Future of [`Latch::wait`].
#[derive(Debug)]
pub struct LatchWait<'a> {
    latch: &'a Latch,
    requested: bool,
}

impl Future for LatchWait<'_> {
    type Output = Time;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Time> {
        let kernel = &self.latch.kernel;
        match self.latch.time() {
            Some(time) if time <= kernel.now() => return Poll::Ready(time),
            Some(time) if !self.requested => kernel.wake_at(kernel.current(), time),
            None if !self.requested => {
                self.latch.waiting.borrow_mut().push(kernel.current());
            }
            _ => {}
        }
        self.requested = true;
        Poll::Pending
    }
}
