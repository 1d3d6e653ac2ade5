// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs with buffers of their own, for callers that have no memory to vouch for.

use std::sync::Arc;

use super::lane::Lane;
use super::program::{Program, Region};
use super::run::{Buffers, Channel, Combine, Run, Scratch, Step};
use super::shared::{Shared, Task};
use crate::engine::Engine;
use crate::error::Result;
use crate::transport::Boards;

/// A program that is being carried out on buffers that belong to it.
pub struct Owned {
    run: Run,
    send: Scratch,
    recv: Scratch,
}

/// An operator on bytes: `into = left op into`.
pub type OnBytes = dyn Fn(&[u8], &mut [u8]) + Send + Sync;

struct ByBytes(Box<OnBytes>);

impl Combine for ByBytes {
    unsafe fn combine(&self, left: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise: that many bytes at either address, which do not overlap.
        let (left, into) = unsafe {
            (
                std::slice::from_raw_parts(left, bytes),
                std::slice::from_raw_parts_mut(into, bytes),
            )
        };
        (self.0)(left, into);
    }
}

impl Owned {
    /// A run that has not begun, with these contents of its buffers; they grow to what the program
    /// names.
    #[must_use]
    pub fn new(
        program: Arc<Program>,
        channel: Channel,
        (send, recv): (&[u8], &[u8]),
        operator: Box<OnBytes>,
    ) -> Self {
        let room = |contents: &[u8], region| {
            let mut room = Scratch::new(contents.len().max(program.reach(region)));
            room.bytes_mut()[..contents.len()].copy_from_slice(contents);
            room
        };
        let mut send = room(send, Region::Send);
        let mut recv = room(recv, Region::Recv);
        let buffers = Buffers {
            send: send.address(),
            recv: recv.address(),
        };
        let operator: Arc<dyn Combine> = Arc::new(ByBytes(operator));
        // SAFETY: the buffers reach as far as the program does, they live as long as the run (see
        // `drop`), nobody else has them, and there is an operator.
        let run = unsafe { Run::new(program, channel, buffers, Some(operator)) };
        Self { run, send, recv }
    }

    /// As [`Run::step`].
    ///
    /// # Errors
    /// As [`Run::step`].
    #[inline]
    pub fn step(&mut self, engine: &mut Engine) -> Result<Step> {
        self.run.step(engine)
    }

    /// What the rank has received; `None` while messages are under way.
    #[must_use]
    pub fn received(&mut self) -> Option<&[u8]> {
        (!self.run.is_under_way()).then(|| &*self.recv.bytes_mut())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // Messages that are still under way keep the memory that they use: it is never given back.
        if self.run.is_under_way() {
            std::mem::forget(std::mem::take(&mut self.send));
            std::mem::forget(std::mem::take(&mut self.recv));
        }
    }
}

/// A collective through boards that is being carried out on buffers that belong to it.
pub struct OwnedOnBoards {
    shared: Shared,
    ranks: usize,
    operator: ByBytes,
    recv: Scratch,
    /// What it reads; kept for it.
    _send: Scratch,
}

impl OwnedOnBoards {
    /// One of so many ranks that has not begun, with these contents of its buffers; they grow to what
    /// the task needs. Not in place.
    #[must_use]
    pub fn new(
        task: Task,
        ranks: usize,
        (send, recv): (&[u8], &[u8]),
        operator: Box<OnBytes>,
    ) -> Self {
        let task = Task {
            in_place: false,
            ..task
        };
        let room = |contents: &[u8]| {
            let mut room = Scratch::new(contents.len().max(task.bytes * ranks));
            room.bytes_mut()[..contents.len()].copy_from_slice(contents);
            room
        };
        let (mut send, mut recv) = (room(send), room(recv));
        let buffers = Buffers {
            send: send.address(),
            recv: recv.address(),
        };
        // SAFETY: either buffer has room for the blocks of all ranks, which is the most that any task
        // names; both live as long as this, and nobody else has them: other ranks read boards alone.
        // Operators on bytes take elements of any size.
        let shared = unsafe { Shared::new(task, ranks, buffers) };
        Self {
            shared,
            ranks,
            operator: ByBytes(operator),
            recv,
            _send: send,
        }
    }

    /// Goes on as far as it can; whether it is complete.
    ///
    /// # Panics
    /// If the lane has other ranks than were said.
    #[inline]
    pub fn advance(&mut self, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        assert_eq!(lane.ranks(), self.ranks, "the buffers are for them");
        self.shared.advance(lane, boards, Some(&self.operator))
    }

    /// What the rank has received.
    #[must_use]
    pub fn received(&mut self) -> &[u8] {
        self.recv.bytes_mut()
    }
}
