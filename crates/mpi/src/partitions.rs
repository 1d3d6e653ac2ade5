// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a partitioned message, which the sender and the message itself see.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Class, Error, Result};

/// The parts of a message, since it was started.
#[derive(Debug)]
pub struct Partitions {
    pub(crate) is_send: bool,
    is_started: AtomicBool,
    ready: Box<[AtomicBool]>,
    left: AtomicUsize,
    has_arrived: AtomicBool,
}

impl Partitions {
    pub(crate) fn new(count: usize, is_send: bool) -> Arc<Self> {
        Arc::new(Self {
            is_send,
            is_started: AtomicBool::new(false),
            ready: (0..count).map(|_| AtomicBool::new(false)).collect(),
            left: AtomicUsize::new(count),
            has_arrived: AtomicBool::new(false),
        })
    }

    pub(crate) fn start(&self) {
        for ready in &self.ready {
            ready.store(false, Ordering::Relaxed);
        }
        self.left.store(self.ready.len(), Ordering::Relaxed);
        self.has_arrived.store(false, Ordering::Relaxed);
        self.is_started.store(true, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.has_arrived.store(true, Ordering::Release);
        self.is_started.store(false, Ordering::Release);
    }

    fn part(&self, part: i32) -> Result<&AtomicBool> {
        let found = usize::try_from(part).ok();
        found.and_then(|part| self.ready.get(part)).ok_or_else(|| {
            let what = format!(
                "there is no partition {part}; partitions are 0 to {}",
                self.ready.len() as i64 - 1
            );
            Error::new(Class::Arg, what)
        })
    }

    /// Whether parts are not ready.
    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire) > 0
    }

    /// A part is ready to be sent.
    ///
    /// # Errors
    /// [`Class::Request`] for what is not sent, or not started; [`Class::Arg`] if there is no such part,
    /// or it is ready already.
    pub fn set_ready(&self, part: i32) -> Result<()> {
        let refuse = |class, what: String| Err(Error::new(class, what));
        if !self.is_send || !self.is_started.load(Ordering::Acquire) {
            let what = "the request is of no partitioned send that is started";
            return refuse(Class::Request, what.to_owned());
        }
        if self.part(part)?.swap(true, Ordering::AcqRel) {
            return refuse(Class::Arg, format!("partition {part} is ready already"));
        }
        self.left.fetch_sub(1, Ordering::AcqRel);
        Ok(())
    }

    /// Whether a part has arrived.
    ///
    /// # Errors
    /// [`Class::Request`] for what is not received, [`Class::Arg`] if there is no such part.
    pub fn has_arrived(&self, part: i32) -> Result<bool> {
        if self.is_send {
            let what = "the request is of no partitioned receive";
            return Err(Error::new(Class::Request, what));
        }
        self.part(part)?;
        Ok(self.has_arrived.load(Ordering::Acquire))
    }
}
