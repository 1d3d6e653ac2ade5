// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives through boards ([`super::shared`]) of what does not fit into a line: in pieces, one post
//! each, so that one rank reads while another writes.

use super::fold::fold;
use super::lane::{AHEAD, Lane};
use super::run::{Buffers, Combine};
use super::shared::{Task, What};
use crate::copy::copy;
use crate::transport::Boards;

/// Vectors up to this many bytes are combined by everybody who wants the result; longer ones in parts
/// by all. Above it, what is not combined twice saves more than the second look at others' lines costs.
const WHOLE_MAX: usize = 2048;

/// The same between two ranks, who read as much either way, and wait once more for the parts.
const PAIR_WHOLE_MAX: usize = 16 << 10;

/// Longer data goes in pieces of this many bytes, so that one rank reads while the other writes.
const PIECE: usize = 32 << 10;

/// A collective in slots that is under way.
#[derive(Debug)]
pub struct Slots {
    task: Task,
    buffers: Buffers,
    /// Whether every rank combines a part of a piece for the others.
    is_in_parts: bool,
    /// Bytes of every piece but the last.
    piece_bytes: usize,
    /// Number of pieces.
    pieces: usize,
    /// The room of a post ([`Lane::span`]).
    span: usize,
    /// Number of the first post.
    first: u64,
    /// Pieces that this rank has posted.
    posted: usize,
    /// Pieces of which it has combined its part, if parts are combined.
    combined: usize,
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

/// Pieces that are combined before parts of the first of them are taken: less than half of [`AHEAD`], as
/// every piece is two posts.
const PARTS_AHEAD: usize = 1;
const _: () = assert!(cfg!(loom) || 2 * (PARTS_AHEAD as u64) < AHEAD);

impl Slots {
    /// A collective that has not begun.
    ///
    /// # Safety
    /// As for [`super::shared::Shared::new`].
    #[must_use]
    pub unsafe fn new(task: Task, buffers: Buffers) -> Self {
        Self {
            task: Task {
                element_bytes: task.element_bytes.max(1),
                ..task
            },
            buffers,
            is_in_parts: false,
            piece_bytes: 0,
            pieces: 0,
            span: 0,
            first: 0,
            posted: 0,
            combined: 0,
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
            match self.stage {
                Stage::Begin | Stage::Take => {
                    let index = self.next();
                    let piece = self.piece(index);
                    // What is taken may lie where what is to be posted does.
                    if self.posts(lane) && self.posted <= index
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
                    let piece = self.piece(self.combined);
                    if !lane.has_slot(piece.number + 1, boards) {
                        return false;
                    }
                    let operator = operator.expect("promised in `new`");
                    // SAFETY: all contributions have come, and there is room.
                    unsafe { self.combine_part(piece, lane, boards, operator) };
                    lane.post(piece.number + 1, boards);
                    self.combined += 1;
                    self.start_next(lane);
                }
                Stage::TakeParts => {
                    let piece = self.piece(self.taken);
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

    /// The piece of which contributions are taken next.
    fn next(&self) -> usize {
        match self.is_in_parts {
            true => self.combined,
            false => self.taken,
        }
    }

    /// Goes on to what is next: the parts of a piece are taken when the next piece is combined, so that
    /// nobody waits for who combines at the same time.
    fn start_next(&mut self, lane: &Lane) {
        let is_ahead = self.combined == self.pieces || self.combined > self.taken + PARTS_AHEAD;
        if self.is_in_parts && is_ahead {
            self.missing = self.takers_of_parts(lane);
            self.stage = Stage::TakeParts;
        } else {
            self.start_piece(lane);
        }
    }

    /// For one receiver parts save nothing between two ranks, and where ranks share cores: the root combines
    /// what has come while the others wait.
    fn pays_in_parts(&self, lane: &Lane, boards: &dyn Boards) -> bool {
        let bytes = self.task.bytes;
        match (self.task.what, lane.ranks()) {
            (What::Allreduce, 2) => bytes > PAIR_WHOLE_MAX && !boards.share_cores(),
            (What::Allreduce, _) => bytes > WHOLE_MAX,
            (What::Reduce, 3..) => bytes > WHOLE_MAX && !boards.share_cores(),
            _ => false,
        }
    }

    fn begin(&mut self, lane: &mut Lane, boards: &dyn Boards) {
        let slot = lane.slot_bytes();
        self.is_in_parts = self.pays_in_parts(lane, boards);
        let most = match self.task.what {
            What::Alltoall | What::Scatter => (slot / (lane.ranks() - 1)).min(PIECE) / 16 * 16,
            // Two at least, or one waits for the other all the time.
            _ if self.is_in_parts => slot
                .min(PIECE * lane.ranks())
                .min(PIECE.max(self.task.bytes / 2))
                .max(self.task.element_bytes),
            _ => slot.min(PIECE.max(self.task.element_bytes)),
        };
        self.piece_bytes = match self.task.is_reduction() {
            true => most / self.task.element_bytes * self.task.element_bytes,
            false => most,
        };
        self.pieces = match self.task.bytes <= self.piece_bytes {
            true => 1,
            false => self.task.bytes.div_ceil(self.piece_bytes),
        };
        let bytes = match self.task.what {
            What::Alltoall | What::Scatter => Self::stride(self.piece(0)) * (lane.ranks() - 1),
            _ => self.piece(0).bytes,
        };
        self.span = lane.span(bytes);
        self.first = lane.number(self.pieces as u64 * self.posts_each());
        self.start_piece(lane);
    }

    /// Nothing of the next piece has been taken.
    fn start_piece(&mut self, lane: &Lane) {
        self.stage = Stage::Take;
        self.missing = self.all_missing(lane);
        if self.combines_as_they_come(lane) && !self.task.in_place {
            let piece = self.piece(self.taken);
            let into = self.buffers.recv.wrapping_add(piece.offset);
            // SAFETY: the caller's two buffers.
            unsafe { std::ptr::copy_nonoverlapping(self.own(piece, lane), into, piece.bytes) };
        }
    }

    fn root(&self) -> usize {
        self.task.root as usize
    }

    /// Whether this rank combines what others post in the order in which they do.
    fn combines_as_they_come(&self, lane: &Lane) -> bool {
        !self.is_in_parts && self.task.combines_as_they_come(lane.rank())
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
            bytes: self.piece_bytes.min(self.task.bytes - offset),
        }
    }

    /// The ranks that this one takes something from in every piece.
    fn all_missing(&self, lane: &Lane) -> u64 {
        let ends = (lane.rank(), lane.ranks());
        match self.is_in_parts {
            true => Task::all_but(ends),
            false => self.task.missing(ends),
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
            if !lane.has_slot(piece.number, boards) {
                return;
            }
            // SAFETY: there is room; the rest was promised in `new`.
            unsafe { self.write(piece, lane, boards) };
            lane.post(piece.number, boards);
            self.posted += 1;
        }
    }

    /// Whether this rank has something that others take.
    fn posts(&self, lane: &Lane) -> bool {
        self.is_in_parts || self.task.posts(lane.rank())
    }

    /// Where the bytes of a rank's post are.
    fn slot(&self, lane: &Lane, rank: usize, number: u64) -> *mut u8 {
        lane.slot(rank, number, self.span)
    }

    /// Where this rank's own contribution to the piece lies.
    fn own(&self, piece: Piece, lane: &Lane) -> *const u8 {
        let own = self.task.own(self.buffers, lane.rank());
        own.wrapping_add(piece.offset)
    }

    /// # Safety
    /// There is room for the post.
    unsafe fn write(&self, piece: Piece, lane: &Lane, boards: &mut dyn Boards) {
        let own = self.own(piece, lane);
        let slot = self.slot(lane, lane.rank(), piece.number);
        match self.task.what {
            What::Alltoall | What::Scatter => {
                let stride = Self::stride(piece);
                for rank in (0..lane.ranks()).filter(|&rank| rank != lane.rank()) {
                    let from = own.wrapping_add(rank * self.task.bytes);
                    let place = Self::place(lane.rank(), rank) * stride;
                    // SAFETY: block `rank` of the caller; the slot has room for all but its own.
                    unsafe { lane.write(slot.wrapping_add(place), from, piece.bytes, boards) };
                }
            }
            _ if self.is_in_parts => {
                // Nobody reads this rank's own part.
                let (start, end) = self.part(piece, lane.rank(), lane.ranks());
                let rest = piece.bytes - end;
                // SAFETY: within the piece; the slot has room for all of it.
                unsafe {
                    lane.write(slot, own, start, boards);
                    let from = own.wrapping_add(end);
                    lane.write(slot.wrapping_add(end), from, rest, boards);
                }
            }
            // SAFETY: the caller's promise.
            _ => unsafe { lane.write(slot, own, piece.bytes, boards) },
        }
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
        let elements = piece.bytes / self.task.element_bytes;
        let at = |rank: usize| elements * rank / ranks * self.task.element_bytes;
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
            match self.task.what {
                What::Gather | What::Scatter | What::Allgather | What::Alltoall => {
                    self.keep_own(piece, lane);
                }
                What::Allreduce if !self.is_in_parts => {
                    self.combine_whole(piece, lane, operator.expect("promised in `new`"));
                }
                What::Reduce if !self.is_in_parts && lane.rank() == self.root() => {
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
        let slot = self.slot(lane, rank, piece.number).cast_const();
        let (at, place) = match self.task.what {
            What::Barrier | What::Reduce | What::Allreduce => return,
            What::Bcast => (0, 0),
            What::Gather | What::Allgather => (0, rank * self.task.bytes),
            What::Scatter | What::Alltoall => {
                let place = match self.task.what {
                    What::Scatter => 0,
                    _ => rank * self.task.bytes,
                };
                (Self::place(rank, lane.rank()) * Self::stride(piece), place)
            }
        };
        let from = slot.wrapping_add(at);
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
        if let Some((from, into)) = self.task.kept(self.buffers, lane.rank()) {
            let (from, into) = (
                from.wrapping_add(piece.offset),
                into.wrapping_add(piece.offset),
            );
            // SAFETY: the caller's two buffers.
            unsafe { std::ptr::copy_nonoverlapping(from, into, piece.bytes) };
        }
    }

    /// Combines the contributions of all ranks to the piece.
    ///
    /// # Safety
    /// All have come.
    unsafe fn combine_whole(&self, piece: Piece, lane: &Lane, operator: &dyn Combine) {
        let (me, into) = (lane.rank(), self.buffers.recv.wrapping_add(piece.offset));
        let of = |rank: usize| match rank == me {
            true => self.own(piece, lane),
            false => self.slot(lane, rank, piece.number).cast_const(),
        };
        // SAFETY: contributions of that length, and the caller's receive buffer.
        unsafe {
            fold(
                (me, lane.ranks() - 1),
                into,
                (piece.bytes, self.task.element_bytes),
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
        while self.missing != 0 {
            let Some(rank) = lane.come_first(self.missing, piece.number, boards) else {
                return false;
            };
            let from = self.slot(lane, rank, piece.number).cast_const();
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
        let slot = self.slot(lane, me, piece.number + 1).wrapping_add(start);
        let keeps = self.task.what == What::Allreduce || me == self.root();
        let result = match keeps {
            true => self.buffers.recv.wrapping_add(piece.offset + start),
            false => slot,
        };
        let of = |rank: usize| match rank == me {
            true => self.own(piece, lane).wrapping_add(start),
            false => {
                let theirs = self.slot(lane, rank, piece.number);
                theirs.wrapping_add(start).cast_const()
            }
        };
        // SAFETY: parts of contributions; a part of this rank's own slot, or of the caller's buffer.
        unsafe {
            fold(
                (me, last),
                result,
                (bytes, self.task.element_bytes),
                operator,
                of,
            );
            if self.task.what == What::Allreduce {
                lane.write(slot, result, bytes, boards);
            }
        }
    }

    fn takers_of_parts(&self, lane: &Lane) -> u64 {
        let (me, ranks) = (lane.rank(), lane.ranks());
        match self.task.what {
            What::Reduce if me != self.root() => 0,
            _ => Task::all_but((me, ranks)),
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
            let from = self.slot(lane, rank, piece.number + 1).wrapping_add(start);
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
        self.task.say_read((piece.number, next), lane, boards);
        if !is_last {
            self.start_next(lane);
        }
        is_last
    }
}
