// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives through boards: the fast path on a host.
//!
//! A rank posts what it gives where all can read it ([`super::lane`]), and takes what it needs from the
//! posts of others; what fits into a line is one ([`super::lines`]), longer data goes in pieces, one post
//! each ([`super::slots`]). In the words of schedules all of these
//! are the `shared-linear` algorithms and `direct` (a message is put once for all its receivers, who
//! take it when they like). They are not made from [`corecast_core::Schedule`] values, because a
//! schedule says for each receiver that a message was sent to it, which on a host would be a flag per
//! receiver where one serves all, and because a small one ends in less time than a step is looked up.
//!
//! Nobody waits for a rank whose contribution it does not need: the root of a broadcast has ended when
//! the data lies in its own board, and a late rank finds it there. A reduction combines in the order of
//! ranks, from the highest down, so that operators that do not commute are served and every rank
//! computes the same bits; the root of a reduction whose operator commutes takes contributions as they
//! come, unless reproducibility is asked for.
//!
//! | collective | posts | short | long |
//! |---|---|---|---|
//! | barrier | all | everybody looks at every flag | |
//! | bcast, scatter | the root | all take it | pieces of a slot |
//! | gather, reduce | all but the root | the root takes them | reduce: every rank combines a part |
//! | allgather, alltoall | all | all take them | pieces |
//! | allreduce | all | everybody combines everything | every rank combines a part, all take the parts |

use corecast_core::Collective;

use super::lane::Lane;
use super::lines::Lines;
use super::run::{Buffers, Combine};
use super::slots::Slots;
use crate::transport::{Boards, LINE_PAYLOAD};

/// Nothing so short is read out of another rank's memory.
pub(super) const PAGE: usize = 4096;

/// Whose posts are not seen by all says how far it has read whenever so many numbers have passed: far less
/// than can lie unread. All take part in all collectives, so that who waits for room is told in the end.
const SAID: u64 = 16;

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Nobody leaves before all have come.
    Barrier,
    /// The root's vector goes to all.
    Bcast,
    /// Block r of the root goes to rank r.
    Scatter,
    /// All blocks go to the root.
    Gather,
    /// All blocks go to all.
    Allgather,
    /// Block r of every rank goes to rank r.
    Alltoall,
    /// The reduction goes to the root.
    Reduce,
    /// The reduction goes to all.
    Allreduce,
}

impl What {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// How a collective goes through boards, if it does.
    #[inline]
    #[must_use]
    pub fn of(collective: Collective) -> Option<Self> {
        Some(match collective {
            Collective::Barrier => Self::Barrier,
            Collective::Bcast => Self::Bcast,
            Collective::Scatter => Self::Scatter,
            Collective::Gather => Self::Gather,
            Collective::Allgather => Self::Allgather,
            Collective::Alltoall => Self::Alltoall,
            Collective::Reduce => Self::Reduce,
            Collective::Allreduce => Self::Allreduce,
            Collective::ReduceScatter | Collective::Alltoallv => return None,
        })
    }

    /// Which collective it is.
    #[inline]
    #[must_use]
    pub fn collective(self) -> Collective {
        match self {
            Self::Barrier => Collective::Barrier,
            Self::Bcast => Collective::Bcast,
            Self::Scatter => Collective::Scatter,
            Self::Gather => Collective::Gather,
            Self::Allgather => Collective::Allgather,
            Self::Alltoall => Collective::Alltoall,
            Self::Reduce => Collective::Reduce,
            Self::Allreduce => Collective::Allreduce,
        }
    }
}

/// What a call is.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// What is done.
    pub what: What,
    /// The root, or 0.
    pub root: u32,
    /// Bytes of a block or vector.
    pub bytes: usize,
    /// Bytes of an element of a reduction.
    pub element_bytes: usize,
    /// Whether this rank's contribution lies where it receives.
    pub in_place: bool,
    /// Whether contributions may be combined as they come.
    pub is_free: bool,
}

impl Task {
    /// Bytes of a post with all that a rank gives.
    #[inline]
    pub(super) fn given(&self, ranks: usize) -> usize {
        match self.what {
            What::Alltoall | What::Scatter => self.bytes * ranks,
            _ => self.bytes,
        }
    }

    /// Whether each post is one line, which all ranks know.
    #[inline]
    pub(super) fn is_in_lines(&self, ranks: usize) -> bool {
        self.given(ranks) <= LINE_PAYLOAD
    }

    pub(super) fn is_reduction(&self) -> bool {
        matches!(self.what, What::Reduce | What::Allreduce)
    }

    /// All ranks of so many but one, a bit each.
    #[inline]
    pub(super) fn all_but((me, ranks): (usize, usize)) -> u64 {
        u64::MAX >> (64 - ranks) & !(1 << me)
    }

    /// The ranks that one takes something from, unless parts are combined for others.
    #[inline]
    pub(super) fn missing(&self, (me, ranks): (usize, usize)) -> u64 {
        let is_root = me == self.root as usize;
        match self.what {
            What::Bcast | What::Scatter if is_root => 0,
            What::Bcast | What::Scatter => 1 << self.root,
            What::Gather | What::Reduce if !is_root => 0,
            _ => Self::all_but((me, ranks)),
        }
    }

    /// Whether a rank has something that others take, unless parts are combined for others.
    #[inline]
    pub(super) fn posts(&self, rank: usize) -> bool {
        let is_root = rank == self.root as usize;
        match self.what {
            What::Bcast | What::Scatter => is_root,
            What::Gather | What::Reduce => !is_root,
            _ => true,
        }
    }

    /// Whether all others look at a rank's posts, and see by them how far it has read.
    #[inline]
    fn is_seen_by_all(&self, rank: usize) -> bool {
        match self.what {
            What::Barrier | What::Allgather | What::Alltoall | What::Allreduce => true,
            What::Bcast | What::Scatter => rank == self.root as usize,
            What::Gather | What::Reduce => false,
        }
    }

    /// Whether this rank combines what others post in the order in which they do.
    #[inline]
    pub(super) fn combines_as_they_come(&self, rank: usize) -> bool {
        self.what == What::Reduce && self.is_free && rank == self.root as usize
    }

    /// Where a rank's own contribution lies.
    #[inline]
    pub(super) fn own(&self, buffers: Buffers, rank: usize) -> *const u8 {
        let at = match self.what {
            What::Bcast => 0,
            What::Scatter => return buffers.send,
            _ if !self.in_place => return buffers.send,
            What::Gather | What::Allgather => rank * self.bytes,
            _ => 0,
        };
        buffers.recv.wrapping_add(at)
    }

    /// Where this rank's own block is, and where it goes, if it is not there.
    #[inline]
    pub(super) fn kept(&self, buffers: Buffers, rank: usize) -> Option<(*const u8, *mut u8)> {
        let own = self.own(buffers, rank);
        let at = rank * self.bytes;
        let is_root = rank == self.root as usize;
        match self.what {
            // In place, what was there is overwritten by now, but for this block.
            _ if self.in_place => None,
            What::Alltoall => Some((own.wrapping_add(at), buffers.recv.wrapping_add(at))),
            What::Scatter if is_root => Some((own.wrapping_add(at), buffers.recv)),
            What::Allgather => Some((own, buffers.recv.wrapping_add(at))),
            What::Gather if is_root => Some((own, buffers.recv.wrapping_add(at))),
            _ => None,
        }
    }

    /// Says how far this rank has read that has read the posts from `number` to before `next`, now and then,
    /// where others cannot know it.
    #[inline]
    pub(super) fn say_read(
        &self,
        (number, next): (u64, u64),
        lane: &Lane,
        boards: &mut dyn Boards,
    ) {
        if number / SAID != next / SAID && !self.is_seen_by_all(lane.rank()) {
            lane.say_read(next, boards);
        }
    }
}

/// A collective through boards that is under way.
#[derive(Debug)]
pub enum Shared {
    /// All posts are one line each.
    Lines(Lines),
    /// They are in pieces.
    Slots(Slots),
}

impl Shared {
    /// A collective that has not begun, of so many ranks.
    ///
    /// # Safety
    /// Until it is complete, the send buffer may be read and the receive buffer read and written, as
    /// the collective says; both as long as the task says. They may overlap nowhere. If it reduces,
    /// the operator it is given takes elements of that size.
    #[must_use]
    pub unsafe fn new(task: Task, ranks: usize, buffers: Buffers) -> Self {
        match task.is_in_lines(ranks) {
            // SAFETY: the caller's promise.
            true => Self::Lines(unsafe { Lines::new(task, buffers) }),
            // SAFETY: as above.
            false => Self::Slots(unsafe { Slots::new(task, buffers) }),
        }
    }

    /// Goes on as far as it can; `true` when it is complete.
    #[inline]
    pub fn advance(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: Option<&dyn Combine>,
    ) -> bool {
        match self {
            Self::Lines(lines) => lines.advance(lane, boards, operator),
            Self::Slots(slots) => slots.advance(lane, boards, operator),
        }
    }
}
