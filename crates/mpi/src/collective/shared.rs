//! Collectives through boards: the fast path on a host.
//!
//! A rank posts what it gives where all can read it ([`super::lane`]), and takes what it needs from the
//! posts of others; longer data goes in pieces, one post each. In the words of schedules all of these
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

use super::lane::{Lane, SLOTS, Short};
use super::run::{Buffers, Combine};
use crate::transport::{Boards, LINE_PAYLOAD};

/// Vectors up to this many bytes are combined by everybody who wants the result; longer ones in parts
/// by all. Above it, what is not combined twice saves more than the second look at others' lines costs.
/// Between two ranks it never does: each reads the other's vector, or half of it and half of the result.
const WHOLE_MAX: usize = 2048;

/// Longer data goes in pieces of this many bytes, so that one rank reads while the other writes: half of
/// a first-level cache holds what is under way.
const PIECE: usize = 4096;

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

/// A collective through boards that is under way.
#[derive(Debug)]
pub struct Shared {
    what: What,
    root: usize,
    buffers: Buffers,
    /// Of a block or vector.
    bytes: usize,
    element_bytes: usize,
    in_place: bool,
    /// Whether contributions may be combined as they come.
    is_free: bool,
    /// Whether there are but two ranks.
    is_pair: bool,
    /// Bytes of all pieces before this one.
    offset: usize,
    /// Bytes of this piece.
    piece: usize,
    /// Number of the piece's first post.
    number: u64,
    stage: Stage,
    /// Ranks whose posts are still to be taken.
    missing: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// A piece begins.
    Begin,
    /// This rank posts.
    Post,
    /// It takes what others have posted.
    Take,
    /// It posts its part of the reduction.
    PostPart,
    /// It takes the parts of others.
    TakeParts,
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

impl Shared {
    /// A collective that has not begun.
    ///
    /// # Safety
    /// Until it is complete, the send buffer may be read and the receive buffer read and written, as
    /// the collective says; both as long as the task says. They may overlap nowhere. If it reduces,
    /// the operator it is given takes elements of that size.
    #[must_use]
    pub unsafe fn new(task: Task, buffers: Buffers) -> Self {
        Self {
            what: task.what,
            root: task.root as usize,
            buffers,
            bytes: task.bytes,
            element_bytes: task.element_bytes.max(1),
            in_place: task.in_place,
            is_free: task.is_free,
            is_pair: false,
            offset: 0,
            piece: 0,
            number: 0,
            stage: Stage::Begin,
            missing: 0,
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
        loop {
            match self.stage {
                Stage::Begin => {
                    self.begin_piece(lane);
                    self.stage = if self.posts(lane) {
                        Stage::Post
                    } else {
                        Stage::Take
                    };
                }
                Stage::Post => {
                    if !lane.has_room(self.number, boards) {
                        return false;
                    }
                    // SAFETY: there is room; the rest was promised in `new`.
                    unsafe { self.write(lane) };
                    lane.post(self.number, boards);
                    self.stage = Stage::Take;
                }
                Stage::Take => {
                    if !self.take_all(lane, boards, operator) {
                        return false;
                    }
                    if self.is_in_parts() {
                        self.stage = Stage::PostPart;
                    } else if self.end_piece(lane, boards) {
                        return true;
                    }
                }
                Stage::PostPart => {
                    if !lane.has_room(self.number + 1, boards) {
                        return false;
                    }
                    let operator = operator.expect("promised in `new`");
                    // SAFETY: all contributions have come, and there is room.
                    unsafe { self.combine_part(lane, operator) };
                    lane.post(self.number + 1, boards);
                    self.missing = self.takers_of_parts(lane);
                    self.stage = Stage::TakeParts;
                }
                Stage::TakeParts => {
                    if !self.take_parts(lane, boards) {
                        return false;
                    }
                    if self.end_piece(lane, boards) {
                        return true;
                    }
                }
            }
        }
    }

    fn is_reduction(&self) -> bool {
        matches!(self.what, What::Reduce | What::Allreduce)
    }

    fn is_in_parts(&self) -> bool {
        self.is_reduction() && self.bytes > WHOLE_MAX && !self.is_pair
    }

    fn begin_piece(&mut self, lane: &mut Lane) {
        let slot = lane.slot_bytes();
        self.is_pair = lane.ranks() == 2;
        let most = match self.what {
            What::Alltoall | What::Scatter => (slot / lane.ranks()).min(PIECE) / 16 * 16,
            _ if self.is_in_parts() => slot.min(PIECE * lane.ranks()),
            // What all slots together hold is posted at once, whoever is late.
            What::Bcast | What::Reduce if self.bytes <= slot * SLOTS => {
                let eighth = self.bytes.div_ceil(SLOTS).next_multiple_of(64);
                slot.min(eighth.max(PIECE).max(self.element_bytes))
            }
            _ => slot.min(PIECE.max(self.element_bytes)),
        };
        let most = match self.is_reduction() {
            true => most / self.element_bytes * self.element_bytes,
            false => most,
        };
        self.piece = (self.bytes - self.offset).min(most);
        self.number = lane.number(if self.is_in_parts() { 2 } else { 1 });
        let (me, ranks) = (lane.rank(), lane.ranks());
        let all = u64::MAX >> (64 - ranks);
        let is_root = me == self.root;
        self.missing = match self.what {
            What::Bcast | What::Scatter if is_root => 0,
            What::Bcast | What::Scatter => 1 << self.root,
            What::Reduce if self.is_in_parts() => all & !(1 << me),
            What::Gather | What::Reduce if !is_root => 0,
            _ => all & !(1 << me),
        };
    }

    /// Whether this rank has something that others take.
    fn posts(&self, lane: &Lane) -> bool {
        let is_root = lane.rank() == self.root;
        match self.what {
            What::Bcast | What::Scatter => is_root,
            What::Reduce if self.is_in_parts() => true,
            What::Gather | What::Reduce => !is_root,
            _ => true,
        }
    }

    /// Where this rank's own contribution to the piece lies.
    fn own(&self, lane: &Lane) -> *const u8 {
        let at = match self.what {
            What::Bcast => return self.buffers.recv.wrapping_add(self.offset),
            What::Scatter => return self.buffers.send.wrapping_add(self.offset),
            _ if !self.in_place => return self.buffers.send.wrapping_add(self.offset),
            What::Gather | What::Allgather => lane.rank() * self.bytes,
            _ => 0,
        };
        self.buffers.recv.wrapping_add(at + self.offset)
    }

    /// # Safety
    /// There is room for the post.
    unsafe fn write(&self, lane: &Lane) {
        let own = self.own(lane);
        match self.what {
            What::Alltoall | What::Scatter if self.is_one_line(lane) => {
                // SAFETY: the caller's promise; all blocks lie one after the other.
                unsafe { lane.write(self.number, 0, own, lane.ranks() * self.piece) };
            }
            What::Alltoall | What::Scatter => {
                let stride = self.stride();
                for rank in 0..lane.ranks() {
                    let from = own.wrapping_add(rank * self.bytes);
                    let into = lane
                        .slot(lane.rank(), self.number)
                        .wrapping_add(rank * stride);
                    // SAFETY: block `rank` of the caller; the slot has room for all of them.
                    unsafe { std::ptr::copy_nonoverlapping(from, into, self.piece) };
                }
            }
            _ if self.is_in_parts() => {
                // Nobody reads this rank's own part.
                let (start, end) = self.part(lane.rank(), lane.ranks());
                let rest = self.piece - end;
                let slot = lane.slot(lane.rank(), self.number);
                // SAFETY: within the piece; the slot has room for all of it.
                unsafe {
                    std::ptr::copy_nonoverlapping(own, slot, start);
                    let from = own.wrapping_add(end);
                    std::ptr::copy_nonoverlapping(from, slot.wrapping_add(end), rest);
                }
            }
            // SAFETY: the caller's promise.
            _ => unsafe { lane.write(self.number, 0, own, self.piece) },
        }
    }

    /// Whether the blocks for all ranks fit into one line.
    fn is_one_line(&self, lane: &Lane) -> bool {
        self.bytes * lane.ranks() <= LINE_PAYLOAD
    }

    /// Distance of blocks in a slot.
    fn stride(&self) -> usize {
        self.piece.next_multiple_of(16)
    }

    /// The bytes of the piece that a rank combines.
    fn part(&self, rank: usize, ranks: usize) -> (usize, usize) {
        let elements = self.piece / self.element_bytes;
        let at = |rank: usize| elements * rank / ranks * self.element_bytes;
        (at(rank), at(rank + 1))
    }

    /// Takes what has come; whether that was all.
    #[inline]
    fn take_all(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: Option<&dyn Combine>,
    ) -> bool {
        if self.what == What::Reduce && !self.is_in_parts() && lane.rank() == self.root {
            return self.reduce_here(lane, boards, operator);
        }
        while self.missing != 0 {
            let rank = self.missing.trailing_zeros() as usize;
            if !lane.has_come(rank, self.number, boards) {
                return false;
            }
            // SAFETY: the post has come.
            unsafe { self.take(lane, rank) };
            self.missing &= self.missing - 1;
        }
        // SAFETY: all posts have come.
        unsafe {
            match self.what {
                What::Gather if lane.rank() == self.root => self.keep_own(lane),
                What::Allgather | What::Alltoall => self.keep_own(lane),
                What::Scatter if lane.rank() == self.root => self.keep_own(lane),
                What::Allreduce if !self.is_in_parts() => {
                    self.combine_whole(lane, operator.expect("promised in `new`"));
                }
                _ => {}
            }
        }
        true
    }

    /// Copies what a rank has posted for this one.
    ///
    /// # Safety
    /// It has come.
    #[inline]
    unsafe fn take(&self, lane: &Lane, rank: usize) {
        let mut short = Short::default();
        let (from, place) = match self.what {
            What::Barrier | What::Reduce | What::Allreduce => return,
            What::Bcast => (lane.read(rank, self.number, self.piece, &mut short), 0),
            What::Gather | What::Allgather => {
                let from = lane.read(rank, self.number, self.piece, &mut short);
                (from, rank * self.bytes)
            }
            What::Scatter | What::Alltoall => {
                let place = match self.what {
                    What::Scatter => 0,
                    _ => rank * self.bytes,
                };
                let from = if self.is_one_line(lane) {
                    let all = lane.ranks() * self.piece;
                    let from = lane.read(rank, self.number, all, &mut short);
                    from.wrapping_add(lane.rank() * self.piece)
                } else {
                    let slot = lane.slot(rank, self.number);
                    slot.wrapping_add(lane.rank() * self.stride()).cast_const()
                };
                (from, place)
            }
        };
        let into = self.buffers.recv.wrapping_add(place + self.offset);
        // SAFETY: the caller's receive buffer has the block; the post is not overwritten before this
        // rank says that it has read it.
        unsafe { std::ptr::copy_nonoverlapping(from, into, self.piece) };
    }

    /// Copies this rank's own block, unless it is in place.
    ///
    /// # Safety
    /// As promised in `new`.
    unsafe fn keep_own(&self, lane: &Lane) {
        let me = lane.rank();
        let (from, into) = match self.what {
            What::Alltoall => {
                // In place, what was there is overwritten by now, but for this block.
                if self.in_place {
                    return;
                }
                (
                    self.own(lane).wrapping_add(me * self.bytes),
                    me * self.bytes,
                )
            }
            _ if self.in_place => return,
            What::Scatter => (self.own(lane).wrapping_add(me * self.bytes), 0),
            _ => (self.own(lane), me * self.bytes),
        };
        let into = self.buffers.recv.wrapping_add(into + self.offset);
        // SAFETY: the caller's two buffers.
        unsafe { std::ptr::copy_nonoverlapping(from, into, self.piece) };
    }

    /// Combines the posts of all ranks, this one's included, from the highest down.
    ///
    /// # Safety
    /// All have come.
    unsafe fn combine_whole(&self, lane: &Lane, operator: &dyn Combine) {
        let into = self.buffers.recv.wrapping_add(self.offset);
        let mut short = Short::default();
        let last = lane.ranks() - 1;
        let from = lane.read(last, self.number, self.piece, &mut short);
        // SAFETY: posts of that length, and the caller's receive buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(from, into, self.piece);
            for rank in (0..last).rev() {
                let from = lane.read(rank, self.number, self.piece, &mut short);
                operator.combine(from, into, self.piece);
            }
        }
    }

    /// At the root: combines contributions, as they come if that is allowed.
    fn reduce_here(
        &mut self,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: Option<&dyn Combine>,
    ) -> bool {
        let operator = operator.expect("promised in `new`");
        let into = self.buffers.recv.wrapping_add(self.offset);
        let me = lane.rank();
        let others = u64::MAX >> (64 - lane.ranks()) & !(1 << me);
        let mut short = Short::default();
        if !self.is_free {
            // The order is fixed: all have to be there.
            while self.missing != 0 {
                let rank = self.missing.trailing_zeros() as usize;
                if !lane.has_come(rank, self.number, boards) {
                    return false;
                }
                self.missing &= self.missing - 1;
            }
            // SAFETY: all contributions have come.
            unsafe { self.reduce_in_order(lane, operator) };
            return true;
        }
        if self.missing == others && !self.in_place {
            let own = self.own(lane);
            // SAFETY: the caller's two buffers.
            unsafe { std::ptr::copy_nonoverlapping(own, into, self.piece) };
        }
        while self.missing != 0 {
            let first = self.missing.trailing_zeros() as usize;
            let mut left = self.missing;
            let mut rank = None;
            while left != 0 && rank.is_none() {
                let next = left.trailing_zeros() as usize;
                rank = lane.is_there(next, self.number).then_some(next);
                left &= left - 1;
            }
            let rank = match rank {
                Some(rank) => rank,
                None if lane.has_come(first, self.number, boards) => first,
                None => return false,
            };
            let from = lane.read(rank, self.number, self.piece, &mut short);
            // SAFETY: the contribution has come.
            unsafe { operator.combine(from, into, self.piece) };
            self.missing &= !(1 << rank);
        }
        true
    }

    /// # Safety
    /// All contributions have come.
    unsafe fn reduce_in_order(&self, lane: &Lane, operator: &dyn Combine) {
        let mut short = Short::default();
        let (me, last) = (lane.rank(), lane.ranks() - 1);
        let into = self.buffers.recv.wrapping_add(self.offset);
        let own = self.own(lane);
        // Where the result goes may be where this rank's contribution is, which is needed later.
        let mut kept = Vec::new();
        // SAFETY: contributions of that length, and the caller's buffers.
        unsafe {
            let own = if self.in_place && me != last {
                kept.extend_from_slice(std::slice::from_raw_parts(own, self.piece));
                kept.as_ptr()
            } else {
                own
            };
            for rank in (0..=last).rev() {
                let from = if rank == me {
                    own
                } else {
                    lane.read(rank, self.number, self.piece, &mut short)
                };
                if rank < last {
                    operator.combine(from, into, self.piece);
                } else if from != into.cast_const() {
                    std::ptr::copy_nonoverlapping(from, into, self.piece);
                }
            }
        }
    }

    /// Combines this rank's part of all contributions into its second post.
    ///
    /// # Safety
    /// All contributions have come, and there is room.
    unsafe fn combine_part(&self, lane: &Lane, operator: &dyn Combine) {
        let (start, end) = self.part(lane.rank(), lane.ranks());
        let (me, last, bytes) = (lane.rank(), lane.ranks() - 1, end - start);
        if bytes == 0 {
            return;
        }
        let result = lane.slot(me, self.number + 1).wrapping_add(start);
        let of = |rank: usize| match rank == me {
            true => self.own(lane).wrapping_add(start),
            false => lane
                .slot(rank, self.number)
                .wrapping_add(start)
                .cast_const(),
        };
        // SAFETY: parts of contributions, and a part of this rank's own slot.
        unsafe {
            std::ptr::copy_nonoverlapping(of(last), result, bytes);
            for rank in (0..last).rev() {
                operator.combine(of(rank), result, bytes);
            }
            if self.what == What::Allreduce || me == self.root {
                let into = self.buffers.recv.wrapping_add(self.offset + start);
                std::ptr::copy_nonoverlapping(result, into, bytes);
            }
        }
    }

    fn takers_of_parts(&self, lane: &Lane) -> u64 {
        let others = u64::MAX >> (64 - lane.ranks()) & !(1 << lane.rank());
        match self.what {
            What::Reduce if lane.rank() != self.root => 0,
            _ => others,
        }
    }

    /// Takes the parts that others have combined; whether these were all.
    fn take_parts(&mut self, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        while self.missing != 0 {
            let rank = self.missing.trailing_zeros() as usize;
            if !lane.has_come(rank, self.number + 1, boards) {
                return false;
            }
            let (start, end) = self.part(rank, lane.ranks());
            let from = lane.slot(rank, self.number + 1).wrapping_add(start);
            let into = self.buffers.recv.wrapping_add(self.offset + start);
            // SAFETY: the part has come; the caller's receive buffer.
            unsafe { std::ptr::copy_nonoverlapping(from, into, end - start) };
            self.missing &= self.missing - 1;
        }
        true
    }

    /// Says what was read, where others cannot know it; whether that was the last piece.
    #[inline]
    fn end_piece(&mut self, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        let posts_everywhere = matches!(
            self.what,
            What::Barrier | What::Allgather | What::Alltoall | What::Allreduce
        );
        if !posts_everywhere {
            let read = self.number + if self.is_in_parts() { 2 } else { 1 };
            lane.say_read(read, boards);
        }
        self.offset += self.piece;
        self.stage = Stage::Begin;
        self.offset >= self.bytes
    }
}
