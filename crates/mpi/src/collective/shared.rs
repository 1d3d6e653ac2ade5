// SPDX-License-Identifier: MIT OR Apache-2.0
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

use corecast_core::Collective;

use super::fold::fold;
use super::lane::{AHEAD, Lane, Short};
use super::run::{Buffers, Combine};
use crate::copy::copy;
use crate::transport::{Boards, LINE_PAYLOAD};

/// Vectors up to this many bytes are combined by everybody who wants the result; longer ones in parts
/// by all. Above it, what is not combined twice saves more than the second look at others' lines costs.
const WHOLE_MAX: usize = 2048;

/// Nothing so short is read out of another rank's memory.
pub(super) const PAGE: usize = 4096;

/// Longer data goes in pieces of this many bytes, so that one rank reads while the other writes.
const PIECE: usize = 32 << 10;

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
    /// Whether every rank combines a part of a piece for the others.
    is_in_parts: bool,
    /// Bytes of every piece but the last.
    piece_bytes: usize,
    /// Number of pieces.
    pieces: usize,
    /// Number of the first post.
    first: u64,
    /// Pieces that this rank has posted.
    posted: usize,
    /// Pieces that it has taken.
    taken: usize,
    stage: Stage,
    /// Ranks whose posts of the next piece are still to be taken.
    missing: u64,
}

/// What goes in one post of a rank.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Number of the post; that of the parts is the next.
    number: u64,
    /// Bytes of all pieces before.
    offset: usize,
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Nothing has been done.
    Begin,
    /// This rank posts, and takes what others have posted.
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
            is_in_parts: false,
            piece_bytes: 0,
            pieces: 0,
            first: 0,
            posted: 0,
            taken: 0,
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
        if self.stage == Stage::Begin {
            self.begin(lane, boards);
        }
        loop {
            self.post(lane, boards);
            let piece = self.piece(self.taken);
            match self.stage {
                Stage::Begin | Stage::Take => {
                    // What is taken may lie where what is to be posted does.
                    if self.posts(lane) && self.posted <= self.taken
                        || !self.take_all(piece, lane, boards, operator)
                    {
                        return false;
                    }
                    if self.is_in_parts {
                        self.stage = Stage::PostPart;
                    } else if self.end_piece(piece, lane, boards) {
                        return true;
                    }
                }
                Stage::PostPart => {
                    if !lane.has_room(piece.number + 1, boards) {
                        return false;
                    }
                    let operator = operator.expect("promised in `new`");
                    // SAFETY: all contributions have come, and there is room.
                    unsafe { self.combine_part(piece, lane, boards, operator) };
                    lane.post(piece.number + 1, boards);
                    self.missing = self.takers_of_parts(lane);
                    self.stage = Stage::TakeParts;
                }
                Stage::TakeParts => {
                    if !self.take_parts(piece, lane, boards) {
                        return false;
                    }
                    if self.end_piece(piece, lane, boards) {
                        return true;
                    }
                }
            }
        }
    }

    fn is_reduction(&self) -> bool {
        matches!(self.what, What::Reduce | What::Allreduce)
    }

    /// Between two ranks parts save nothing: each reads the other's vector, or half of it and half of
    /// the result. Nor do they for one receiver where ranks share cores: the root combines what has
    /// come while the others wait.
    fn pays_in_parts(&self, lane: &Lane, boards: &dyn Boards) -> bool {
        let is_long = self.bytes > WHOLE_MAX && lane.ranks() > 2;
        match self.what {
            What::Allreduce => is_long,
            What::Reduce => is_long && !boards.share_cores(),
            _ => false,
        }
    }

    fn begin(&mut self, lane: &mut Lane, boards: &dyn Boards) {
        let slot = lane.slot_bytes();
        self.is_in_parts = self.pays_in_parts(lane, boards);
        let most = match self.what {
            What::Alltoall | What::Scatter => (slot / (lane.ranks() - 1)).min(PIECE) / 16 * 16,
            _ if self.is_in_parts => slot.min(PIECE * lane.ranks()),
            _ => slot.min(PIECE.max(self.element_bytes)),
        };
        self.piece_bytes = match self.is_reduction() {
            true => most / self.element_bytes * self.element_bytes,
            false => most,
        };
        self.pieces = match self.bytes <= self.piece_bytes {
            true => 1,
            false => self.bytes.div_ceil(self.piece_bytes),
        };
        self.first = lane.number(self.pieces as u64 * self.posts_each());
        self.start_piece(lane);
    }

    /// Nothing of the next piece has been taken.
    fn start_piece(&mut self, lane: &Lane) {
        self.stage = Stage::Take;
        self.missing = self.all_missing(lane);
        if self.combines_as_they_come(lane) && !self.in_place {
            let piece = self.piece(self.taken);
            let into = self.buffers.recv.wrapping_add(piece.offset);
            // SAFETY: the caller's two buffers.
            unsafe { std::ptr::copy_nonoverlapping(self.own(piece, lane), into, piece.bytes) };
        }
    }

    /// Whether this rank combines what others post in the order in which they do.
    fn combines_as_they_come(&self, lane: &Lane) -> bool {
        self.what == What::Reduce && !self.is_in_parts && self.is_free && lane.rank() == self.root
    }

    /// Posts of a rank for a piece.
    fn posts_each(&self) -> u64 {
        if self.is_in_parts { 2 } else { 1 }
    }

    fn piece(&self, index: usize) -> Piece {
        let offset = index * self.piece_bytes;
        Piece {
            number: self.first + index as u64 * self.posts_each(),
            offset,
            bytes: self.piece_bytes.min(self.bytes - offset),
        }
    }

    /// The ranks that this one takes something from in every piece.
    fn all_missing(&self, lane: &Lane) -> u64 {
        let (me, ranks) = (lane.rank(), lane.ranks());
        let others = u64::MAX >> (64 - ranks) & !(1 << me);
        let is_root = me == self.root;
        match self.what {
            What::Bcast | What::Scatter if is_root => 0,
            What::Bcast | What::Scatter => 1 << self.root,
            What::Reduce if self.is_in_parts => others,
            What::Gather | What::Reduce if !is_root => 0,
            _ => others,
        }
    }

    /// Posts pieces, as many as there is room for, and not too many before those that are taken.
    #[inline]
    fn post(&mut self, lane: &mut Lane, boards: &mut dyn Boards) {
        if !self.posts(lane) {
            return;
        }
        let limit = match self.all_missing(lane) {
            // Who takes nothing has nothing to keep up with.
            0 => self.pieces,
            _ => self
                .pieces
                .min(self.taken + 1 + (AHEAD / self.posts_each()) as usize),
        };
        while self.posted < limit {
            let piece = self.piece(self.posted);
            if !lane.has_room(piece.number, boards) {
                return;
            }
            // SAFETY: there is room; the rest was promised in `new`.
            unsafe { self.write(piece, lane, boards) };
            lane.post(piece.number, boards);
            self.posted += 1;
        }
    }

    /// Whether all others look at this rank's posts, and see by them how far it has read.
    fn is_seen_by_all(&self, lane: &Lane) -> bool {
        match self.what {
            What::Barrier | What::Allgather | What::Alltoall | What::Allreduce => true,
            What::Bcast | What::Scatter => lane.rank() == self.root,
            What::Gather | What::Reduce => false,
        }
    }

    /// Whether this rank has something that others take.
    fn posts(&self, lane: &Lane) -> bool {
        let is_root = lane.rank() == self.root;
        match self.what {
            What::Bcast | What::Scatter => is_root,
            What::Reduce if self.is_in_parts => true,
            What::Gather | What::Reduce => !is_root,
            _ => true,
        }
    }

    /// Where this rank's own contribution to the piece lies.
    fn own(&self, piece: Piece, lane: &Lane) -> *const u8 {
        let at = match self.what {
            What::Bcast => return self.buffers.recv.wrapping_add(piece.offset),
            What::Scatter => return self.buffers.send.wrapping_add(piece.offset),
            _ if !self.in_place => return self.buffers.send.wrapping_add(piece.offset),
            What::Gather | What::Allgather => lane.rank() * self.bytes,
            _ => 0,
        };
        self.buffers.recv.wrapping_add(at + piece.offset)
    }

    /// # Safety
    /// There is room for the post.
    unsafe fn write(&self, piece: Piece, lane: &Lane, boards: &mut dyn Boards) {
        let own = self.own(piece, lane);
        match self.what {
            What::Alltoall | What::Scatter if self.is_one_line(lane) => {
                // SAFETY: the caller's promise; all blocks lie one after the other.
                unsafe { lane.write(piece.number, own, lane.ranks() * piece.bytes, boards) };
            }
            What::Alltoall | What::Scatter => {
                let stride = Self::stride(piece);
                for rank in (0..lane.ranks()).filter(|&rank| rank != lane.rank()) {
                    let from = own.wrapping_add(rank * self.bytes);
                    let place = Self::place(lane.rank(), rank) * stride;
                    // SAFETY: block `rank` of the caller; the slot has room for all but its own.
                    unsafe { lane.write_slot(piece.number, place, from, piece.bytes, boards) };
                }
            }
            _ if self.is_in_parts => {
                // Nobody reads this rank's own part.
                let (start, end) = self.part(piece, lane.rank(), lane.ranks());
                let rest = piece.bytes - end;
                // SAFETY: within the piece; the slot has room for all of it.
                unsafe {
                    lane.write_slot(piece.number, 0, own, start, boards);
                    let from = own.wrapping_add(end);
                    lane.write_slot(piece.number, end, from, rest, boards);
                }
            }
            // SAFETY: the caller's promise.
            _ => unsafe { lane.write(piece.number, own, piece.bytes, boards) },
        }
    }

    /// Whether the blocks for all ranks fit into one line.
    fn is_one_line(&self, lane: &Lane) -> bool {
        self.bytes * lane.ranks() <= LINE_PAYLOAD
    }

    /// Which block of a slot of `of` is for `rank`: its own is not there.
    fn place(of: usize, rank: usize) -> usize {
        rank - usize::from(rank > of)
    }

    /// Distance of blocks in a slot.
    fn stride(piece: Piece) -> usize {
        piece.bytes.next_multiple_of(16)
    }

    /// The bytes of the piece that a rank combines.
    fn part(&self, piece: Piece, rank: usize, ranks: usize) -> (usize, usize) {
        let elements = piece.bytes / self.element_bytes;
        let at = |rank: usize| elements * rank / ranks * self.element_bytes;
        (at(rank), at(rank + 1))
    }

    /// Takes what has come; whether that was all.
    #[inline]
    fn take_all(
        &mut self,
        piece: Piece,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: Option<&dyn Combine>,
    ) -> bool {
        if self.combines_as_they_come(lane) {
            let operator = operator.expect("promised in `new`");
            return self.reduce_here(piece, lane, boards, operator);
        }
        while self.missing != 0 {
            let rank = self.missing.trailing_zeros() as usize;
            if !lane.has_come(rank, piece.number, boards) {
                return false;
            }
            // SAFETY: the post has come.
            unsafe { self.take(piece, lane, rank) };
            self.missing &= self.missing - 1;
        }
        // SAFETY: all posts have come.
        unsafe {
            match self.what {
                What::Gather if lane.rank() == self.root => self.keep_own(piece, lane),
                What::Allgather | What::Alltoall => self.keep_own(piece, lane),
                What::Scatter if lane.rank() == self.root => self.keep_own(piece, lane),
                What::Allreduce if !self.is_in_parts => {
                    self.combine_whole(piece, lane, operator.expect("promised in `new`"));
                }
                What::Reduce if !self.is_in_parts && lane.rank() == self.root => {
                    self.combine_whole(piece, lane, operator.expect("promised in `new`"));
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
    unsafe fn take(&self, piece: Piece, lane: &Lane, rank: usize) {
        let mut short = Short::default();
        let (from, place) = match self.what {
            What::Barrier | What::Reduce | What::Allreduce => return,
            What::Bcast => (lane.read(rank, piece.number, piece.bytes, &mut short), 0),
            What::Gather | What::Allgather => {
                let from = lane.read(rank, piece.number, piece.bytes, &mut short);
                (from, rank * self.bytes)
            }
            What::Scatter | What::Alltoall => {
                let place = match self.what {
                    What::Scatter => 0,
                    _ => rank * self.bytes,
                };
                let from = if self.is_one_line(lane) {
                    let all = lane.ranks() * piece.bytes;
                    let from = lane.read(rank, piece.number, all, &mut short);
                    from.wrapping_add(lane.rank() * piece.bytes)
                } else {
                    let place = Self::place(rank, lane.rank()) * Self::stride(piece);
                    lane.slot(rank, piece.number)
                        .wrapping_add(place)
                        .cast_const()
                };
                (from, place)
            }
        };
        let into = self.buffers.recv.wrapping_add(place + piece.offset);
        // SAFETY: the caller's receive buffer has the block; the post is not overwritten before this
        // rank says that it has read it.
        unsafe { copy(from, into, piece.bytes) };
    }

    /// Copies this rank's own block, unless it is in place.
    ///
    /// # Safety
    /// As promised in `new`.
    unsafe fn keep_own(&self, piece: Piece, lane: &Lane) {
        let me = lane.rank();
        let (from, into) = match self.what {
            What::Alltoall => {
                // In place, what was there is overwritten by now, but for this block.
                if self.in_place {
                    return;
                }
                (
                    self.own(piece, lane).wrapping_add(me * self.bytes),
                    me * self.bytes,
                )
            }
            _ if self.in_place => return,
            What::Scatter => (self.own(piece, lane).wrapping_add(me * self.bytes), 0),
            _ => (self.own(piece, lane), me * self.bytes),
        };
        let into = self.buffers.recv.wrapping_add(into + piece.offset);
        // SAFETY: the caller's two buffers.
        unsafe { std::ptr::copy_nonoverlapping(from, into, piece.bytes) };
    }

    /// Combines the contributions of all ranks to the piece.
    ///
    /// # Safety
    /// All have come.
    unsafe fn combine_whole(&self, piece: Piece, lane: &Lane, operator: &dyn Combine) {
        let mut short = Short::default();
        let (me, into) = (lane.rank(), self.buffers.recv.wrapping_add(piece.offset));
        let of = |rank: usize| match rank == me {
            true => self.own(piece, lane),
            false => lane.read(rank, piece.number, piece.bytes, &mut short),
        };
        // SAFETY: contributions of that length, and the caller's receive buffer.
        unsafe {
            fold(
                (me, lane.ranks() - 1),
                into,
                (piece.bytes, self.element_bytes),
                operator,
                of,
            )
        };
    }

    /// Combines contributions with this rank's own as they come; whether these were all.
    fn reduce_here(
        &mut self,
        piece: Piece,
        lane: &mut Lane,
        boards: &mut dyn Boards,
        operator: &dyn Combine,
    ) -> bool {
        let into = self.buffers.recv.wrapping_add(piece.offset);
        let mut short = Short::default();
        while self.missing != 0 {
            let first = self.missing.trailing_zeros() as usize;
            let mut left = self.missing;
            let mut rank = None;
            while left != 0 && rank.is_none() {
                let next = left.trailing_zeros() as usize;
                rank = lane.is_there(next, piece.number).then_some(next);
                left &= left - 1;
            }
            let rank = match rank {
                Some(rank) => rank,
                None if lane.has_come(first, piece.number, boards) => first,
                None => return false,
            };
            let from = lane.read(rank, piece.number, piece.bytes, &mut short);
            // SAFETY: the contribution has come.
            unsafe { operator.combine(from, into, piece.bytes) };
            self.missing &= !(1 << rank);
        }
        true
    }

    /// Combines this rank's part of all contributions into its second post.
    ///
    /// # Safety
    /// All contributions have come, and there is room.
    unsafe fn combine_part(
        &self,
        piece: Piece,
        lane: &Lane,
        boards: &mut dyn Boards,
        operator: &dyn Combine,
    ) {
        let (start, end) = self.part(piece, lane.rank(), lane.ranks());
        let (me, last, bytes) = (lane.rank(), lane.ranks() - 1, end - start);
        if bytes == 0 {
            return;
        }
        // Who keeps the result combines it there.
        let slot = lane.slot(me, piece.number + 1).wrapping_add(start);
        let keeps = self.what == What::Allreduce || me == self.root;
        let result = match keeps {
            true => self.buffers.recv.wrapping_add(piece.offset + start),
            false => slot,
        };
        let of = |rank: usize| match rank == me {
            true => self.own(piece, lane).wrapping_add(start),
            false => lane
                .slot(rank, piece.number)
                .wrapping_add(start)
                .cast_const(),
        };
        // SAFETY: parts of contributions; a part of this rank's own slot, or of the caller's buffer.
        unsafe {
            fold(
                (me, last),
                result,
                (bytes, self.element_bytes),
                operator,
                of,
            );
            if self.what == What::Allreduce {
                lane.write_slot(piece.number + 1, start, result, bytes, boards);
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
    fn take_parts(&mut self, piece: Piece, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        while self.missing != 0 {
            let rank = self.missing.trailing_zeros() as usize;
            if !lane.has_come(rank, piece.number + 1, boards) {
                return false;
            }
            let (start, end) = self.part(piece, rank, lane.ranks());
            let from = lane.slot(rank, piece.number + 1).wrapping_add(start);
            let into = self.buffers.recv.wrapping_add(piece.offset + start);
            // SAFETY: the part has come; the caller's receive buffer.
            unsafe { copy(from, into, end - start) };
            self.missing &= self.missing - 1;
        }
        true
    }

    /// Says what was read, where others cannot know it; whether that was the last piece.
    #[inline]
    fn end_piece(&mut self, piece: Piece, lane: &mut Lane, boards: &mut dyn Boards) -> bool {
        self.taken += 1;
        let is_last = self.taken == self.pieces;
        let next = piece.number + self.posts_each();
        if piece.number / SAID != next / SAID && !self.is_seen_by_all(lane) {
            lane.say_read(next, boards);
        }
        if !is_last {
            self.start_piece(lane);
        }
        is_last
    }
}
