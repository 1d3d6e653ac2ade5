// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives through boards ([`super::shared`]) of what fits into a line: one post each, which is its own
//! flag.

use super::lane::{Lane, Short};
use super::run::{Buffers, Combine};
use super::shared::{Task, What};
use crate::transport::{Boards, LINE_PAYLOAD};

/// A collective in lines that is under way.
#[derive(Debug)]
pub struct Lines {
    task: Task,
    buffers: Buffers,
    stage: Stage,
    /// Number of the post.
    number: u64,
    /// Ranks whose posts are still to be taken.
    missing: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Nothing has been done.
    Begin,
    /// This rank has something to post.
    Post,
    /// It takes what others have posted.
    Take,
}

impl Lines {
    /// A collective that has not begun.
    ///
    /// # Safety
    /// As for [`super::shared::Shared::new`].
    #[inline]
    #[must_use]
    pub unsafe fn new(task: Task, buffers: Buffers) -> Self {
        Self {
            task,
            buffers,
            stage: Stage::Begin,
            number: 0,
            missing: 0,
        }
    }

    /// Goes on as far as it can; `true` when it is complete.
    #[inline]
    pub fn advance<C: Combine + ?Sized>(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: Option<&C>,
    ) -> bool {
        let (task, me) = (self.task, lane.rank());
        if self.stage == Stage::Begin {
            self.number = lane.number(1);
            self.missing = task.missing((me, lane.ranks()));
            self.stage = match task.posts(me) {
                true => Stage::Post,
                false => Stage::Take,
            };
            if task.combines_as_they_come(me) && !task.in_place {
                // SAFETY: the caller's two buffers.
                unsafe { copy(self.own(me), self.buffers.recv, task.bytes) };
            }
        }
        if self.stage == Stage::Post {
            if !lane.has_line(self.number, boards) {
                return false;
            }
            // SAFETY: promised in `new`; all blocks lie one after the other.
            unsafe { self.write(lane) };
            lane.post(self.number, boards);
            self.stage = Stage::Take;
        }
        let is_taken = match (task.is_reduction(), operator) {
            (true, Some(operator)) if task.combines_as_they_come(me) => {
                self.reduce_as_they_come(lane, boards, operator)
            }
            (true, Some(operator)) => self.reduce(lane, boards, operator),
            _ => self.take_all(lane, boards),
        };
        if is_taken {
            task.say_read((self.number, self.number + 1), lane, boards);
        }
        is_taken
    }

    fn own(&self, me: usize) -> *const u8 {
        self.task.own(self.buffers, me)
    }

    /// # Safety
    /// As promised in `new`.
    #[inline]
    unsafe fn write(&self, lane: &Lane) {
        let (me, bytes) = (lane.rank(), self.task.given(lane.ranks()));
        if bytes > 0 {
            // SAFETY: the caller's promise.
            let own = unsafe { std::slice::from_raw_parts(self.own(me), bytes) };
            lane.mail(me, self.number).put(own);
        }
    }

    /// Takes what has come, of reductions nothing; whether that was all.
    #[inline]
    fn take_all(&mut self, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        while self.missing != 0 {
            let rank = self.missing.trailing_zeros() as usize;
            if !lane.has_come(rank, self.number, boards) {
                return false;
            }
            // SAFETY: the post has come.
            unsafe { self.take(lane, rank) };
            self.missing &= self.missing - 1;
        }
        if let Some((from, into)) = self.task.kept(self.buffers, lane.rank()) {
            // SAFETY: the caller's two buffers.
            unsafe { copy(from, into, self.task.bytes) };
        }
        true
    }

    /// Copies what a rank has posted for this one.
    ///
    /// # Safety
    /// It has come.
    #[inline]
    unsafe fn take(&self, lane: &Lane, rank: usize) {
        let bytes = self.task.bytes;
        let line = lane.mail(rank, self.number);
        let into = |place: usize| {
            let into = self.buffers.recv.wrapping_add(place);
            // SAFETY: the caller's receive buffer has the block.
            unsafe { std::slice::from_raw_parts_mut(into, bytes) }
        };
        match self.task.what {
            What::Barrier | What::Reduce | What::Allreduce => {}
            What::Bcast => line.get(into(0)),
            What::Gather | What::Allgather => line.get(into(rank * bytes)),
            What::Scatter | What::Alltoall => {
                let place = match self.task.what {
                    What::Scatter => 0,
                    _ => rank * bytes,
                };
                let (mut all, at) = ([0; LINE_PAYLOAD], lane.rank() * bytes);
                line.get(&mut all[..at + bytes]);
                into(place).copy_from_slice(&all[at..at + bytes]);
            }
        }
    }

    /// Combines all contributions, from that of the last rank down to that of the first, if all have come;
    /// whether they have.
    #[inline]
    fn reduce<C: Combine + ?Sized>(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: &C,
    ) -> bool {
        if !self.take_all(lane, boards) {
            return false;
        }
        let (me, last, bytes) = (lane.rank(), lane.ranks() - 1, self.task.bytes);
        if self.task.what == What::Reduce && me != self.task.root as usize {
            return true;
        }
        let contribution = |rank: usize, into: &mut Short| match rank == me {
            // SAFETY: the caller's contribution.
            true => unsafe { copy(self.own(me), into.0.as_mut_ptr(), bytes) },
            false => lane.mail(rank, self.number).get(&mut into.0[..bytes]),
        };
        let (mut result, mut left) = (Short::default(), Short::default());
        contribution(last, &mut result);
        for rank in (0..last).rev() {
            contribution(rank, &mut left);
            // SAFETY: elements of that length, in two places.
            unsafe { operator.combine(left.0.as_ptr(), result.0.as_mut_ptr(), bytes) };
        }
        // SAFETY: the caller's receive buffer.
        unsafe { copy(result.0.as_ptr(), self.buffers.recv, bytes) };
        true
    }

    /// Combines contributions with this rank's own as they come; whether these were all.
    fn reduce_as_they_come<C: Combine + ?Sized>(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: &C,
    ) -> bool {
        while self.missing != 0 {
            let Some(rank) = lane.come_first(self.missing, self.number, boards) else {
                return false;
            };
            let (mut from, bytes) = (Short::default(), self.task.bytes);
            lane.mail(rank, self.number).get(&mut from.0[..bytes]);
            // SAFETY: the caller's receive buffer, and elements of that length.
            unsafe { operator.combine(from.0.as_ptr(), self.buffers.recv, bytes) };
            self.missing &= !(1 << rank);
        }
        true
    }
}

/// Copies a few bytes, mostly one element of a usual size.
///
/// # Safety
/// Those at `from` may be read, those at `into` written; they do not overlap.
#[inline]
unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; arrays of bytes are aligned everywhere.
    unsafe {
        match bytes {
            4 => into.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
            8 => into.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
            _ => into.copy_from_nonoverlapping(from, bytes),
        }
    }
}
