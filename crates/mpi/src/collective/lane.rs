// SPDX-License-Identifier: MIT OR Apache-2.0
//! A communicator's share of the boards, and the one rule by which its ranks use it.
//!
//! A post is a line (flag and up to 56 bytes) and, if it is longer, a slot of the rank's own memory. Each
//! rank has [`POSTS`] lines and some slots, which it uses one after the other and over again. Posts
//! are numbered alike at all ranks, since all call the same collectives in the same order. Post n overwrites
//! the line of post n - [`POSTS`], and the slot of as many posts before as there are slots; a rank does so only
//! when it knows that all have read that one:
//!
//! - who has posted n has read all below n - [`AHEAD`] that it was to read, and
//! - whose posts not all others look at says in a line of its own, every few posts, below which number it
//!   has read all.
//!
//! Both only grow, so a late rank holds up nobody who is less than [`POSTS`] posts ahead, or as
//! many long ones as there are slots.

use crate::group::Group;
use crate::hint;
use crate::transport::{BOARD_LINES, BOARD_SHARES, Boards, Line};

/// Communicators that can have a share at the same time.
const LANES: usize = BOARD_SHARES;

/// Lines of a lane: one for each post that can lie unread, and one that says what was read.
const LINES: usize = BOARD_LINES / LANES;

/// Posts of a rank that can lie unread.
pub const POSTS: usize = LINES - 1;

/// Fewest slots: enough for one rank to read while another writes.
const SLOTS_MIN: usize = if cfg!(loom) { POSTS } else { POSTS / 4 };

/// Each has posted so many that a slot is free when all have come to the posts before.
const _: () = assert!(SLOTS_MIN as u64 >= 2 * AHEAD + 2);

/// How many slots each of so many ranks uses of a lane's bytes, and how long they are; powers of two.
///
/// What a reader has in its own cache its writer has to fetch back, so all slots that one rank reads should be
/// more than a core's own cache has; and not much more than that, since all of them together should stay in a
/// common one. Through a fourth of this an allreduce of 64 KiB of two ranks took 7.5 us instead of 4.7, of fresh
/// bytes 14 instead of 10, through twice as much 7 (2026-11-28, AMD EPYC, family 25).
fn slots(lane_bytes: usize, ranks: usize) -> (usize, usize) {
    let count = match ranks {
        2 => SLOTS_MIN.max(POSTS / 2),
        _ => SLOTS_MIN,
    };
    let share = (ranks - 1).next_power_of_two().min(SHARE_MAX);
    (count, 1 << (lane_bytes / share / count).ilog2())
}

/// Shorter posts always lie at the beginning of a slot: few lines of each are fetched faster than pages are found.
/// With turns an allgather of 512 bytes took 0.36 us instead of 0.26, of 4 KiB 0.52 instead of 0.71 (2026-11-28,
/// AMD EPYC, family 25).
const TURNS_MIN: usize = 4 << 10;

/// The smallest part of its bytes that ranks use of a lane.
const SHARE_MAX: usize = 4;

/// Posts that a rank may write before it has read the first of them: while one reads, another writes.
pub const AHEAD: u64 = if cfg!(loom) { 1 } else { 8 };

/// Most ranks of a communicator with a lane: every rank looks at the line of every other.
pub const RANKS_MAX: usize = 64;

/// Looks at a line before other messages are looked after.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 64 };

/// What a rank offers for a communicator, and in the end what all its ranks have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Lanes that are free: those that all have.
    pub lanes: u64,
    /// A number above all flags that were used on them: the largest.
    pub start: u64,
    /// Whether this rank has offered its lanes, which it tells nobody.
    pub offers: bool,
}

impl Offer {
    /// No lane.
    pub const NONE: Self = Self {
        lanes: 0,
        start: 0,
        offers: false,
    };
}

/// Which lanes this rank uses.
#[derive(Debug)]
pub struct Lanes {
    free: u64,
    /// No flag in a free lane is above it.
    start: u64,
    /// Whether the free ones are offered for a communicator that is being made.
    is_offered: bool,
}

impl Lanes {
    /// All but the first, if the transport has boards.
    #[must_use]
    pub fn new(boards: Option<&mut dyn Boards>) -> Self {
        let is_there = boards.is_some_and(|boards| Shares::of(boards).is_enough());
        Self {
            free: if is_there { (1 << LANES) - 2 } else { 0 },
            start: 0,
            is_offered: false,
        }
    }

    /// The free ones and a number above all flags in them, for one communicator at a time.
    pub fn offer(&mut self) -> Offer {
        let offers = !std::mem::replace(&mut self.is_offered, true);
        Offer {
            lanes: if offers { self.free } else { 0 },
            start: self.start,
            offers,
        }
    }

    /// One of those that all ranks have offered, if there is one; if this rank does `take` it. Whoever
    /// had none to offer leaves the offer that another agreement is still about.
    pub fn settle(&mut self, agreed: Offer, takes: bool) -> Option<usize> {
        if !agreed.offers {
            return None;
        }
        self.is_offered = false;
        let lane = (agreed.lanes & self.free).trailing_zeros() as usize;
        if lane >= LANES || !takes {
            return None;
        }
        self.free &= !(1 << lane);
        Some(lane)
    }

    /// Takes one back that no rank uses any more.
    pub fn give_back(&mut self, lane: &Lane) {
        self.start = self.start.max(lane.next);
        self.free |= 1 << lane.index;
    }
}

/// What one lane has of a board.
struct Shares {
    lines: usize,
    bytes: usize,
}

impl Shares {
    fn of(boards: &dyn Boards) -> Self {
        Self {
            lines: boards.line_count() / LANES,
            bytes: boards.bytes() / LANES / 64 * 64,
        }
    }

    fn is_enough(&self) -> bool {
        self.lines >= LINES && self.bytes >= SHARE_MAX * SLOTS_MIN * 1024
    }
}

/// A communicator's share of the boards of its ranks.
#[derive(Debug)]
pub struct Lane {
    index: usize,
    rank: usize,
    /// Number of the next post.
    next: u64,
    /// For every rank a number below which it has read all.
    read: Box<[u64]>,
    /// The first line of every rank.
    lines: Box<[*const Line]>,
    /// The first slot of every rank.
    slots: Box<[*mut u8]>,
    slot_bytes: usize,
    /// Number of slots of every rank.
    slot_count: usize,
    /// World ranks of the others.
    others: Box<[u32]>,
    /// World ranks of all.
    world: Group,
}

// SAFETY: addresses of memory that all ranks share anyway; it stays there as long as the transport
// lives, which the process that has this keeps.
unsafe impl Send for Lane {}

impl Lane {
    /// Lane `index` for the ranks of a group, whose posts begin with number `start`; none if there is
    /// not enough for so many.
    #[must_use]
    pub fn new(
        boards: &dyn Boards,
        group: &Group,
        rank: u32,
        (index, start): (usize, u64),
    ) -> Option<Self> {
        let shares = Shares::of(boards);
        let world = group.world_ranks();
        if world.len() > RANKS_MAX || world.len() < 2 || !shares.is_enough() {
            return None;
        }
        let line = |&world: &u32| &raw const boards.lines(world)[index * shares.lines];
        let slot = |&world: &u32| boards.data(world).wrapping_add(index * shares.bytes);
        let (slot_count, slot_bytes) = slots(shares.bytes, world.len());
        let others = (0..).zip(world).filter(|&(other, _)| other != rank);
        Some(Self {
            index,
            rank: rank as usize,
            next: start,
            read: vec![start; world.len()].into(),
            lines: world.iter().map(line).collect(),
            slots: world.iter().map(slot).collect(),
            slot_bytes,
            slot_count,
            others: others.map(|(_, &world)| world).collect(),
            world: group.clone(),
        })
    }

    /// This rank.
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    #[inline]
    pub fn ranks(&self) -> usize {
        self.lines.len()
    }

    /// Bytes of a post.
    #[inline]
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Takes the next numbers, as many as given; the first of them.
    #[inline]
    pub fn number(&mut self, posts: u64) -> u64 {
        let first = self.next;
        self.next += posts;
        first
    }

    #[inline]
    fn line(&self, rank: usize, which: usize) -> &Line {
        debug_assert!(which < LINES);
        // SAFETY: a lane has that many lines from there on; see `Lane`.
        unsafe { &*self.lines[rank].add(which) }
    }

    /// The room of posts of up to so many bytes, for [`Lane::slot`].
    pub fn span(&self, bytes: usize) -> usize {
        match bytes < TURNS_MIN {
            true => self.slot_bytes,
            false => bytes.next_power_of_two().min(self.slot_bytes),
        }
    }

    /// Where the bytes of a rank's post are, of one for which all know that it has this room. Posts that are
    /// shorter than a slot go round in all of it, turn by turn.
    #[inline]
    pub fn slot(&self, rank: usize, number: u64, span: usize) -> *mut u8 {
        debug_assert!(span.is_power_of_two() && span <= self.slot_bytes);
        let (number, count) = (number as usize, self.slot_count);
        let turn = (number >> count.ilog2()).wrapping_mul(span) & (self.slot_bytes - 1);
        self.slots[rank].wrapping_add((number & (count - 1)) * self.slot_bytes + turn)
    }

    /// The line of a rank's post.
    #[inline]
    pub fn mail(&self, rank: usize, number: u64) -> &Line {
        self.line(rank, number as usize % POSTS)
    }

    /// Whether this rank may write the line of post `number`: all have read what it overwrites.
    #[inline]
    pub fn has_line(&mut self, number: u64, boards: &mut dyn Boards) -> bool {
        self.have_read((number + 1).saturating_sub(POSTS as u64), boards)
    }

    /// Whether this rank may write post `number`, its slot too.
    #[inline]
    pub fn has_slot(&mut self, number: u64, boards: &mut dyn Boards) -> bool {
        self.have_read((number + 1).saturating_sub(self.slot_count as u64), boards)
    }

    /// Whether all others have read all below `needed`.
    #[inline]
    fn have_read(&mut self, needed: u64, boards: &mut dyn Boards) -> bool {
        for rank in 0..self.read.len() {
            if self.read[rank] >= needed || rank == self.rank {
                continue;
            }
            let mut looks = 0;
            loop {
                let read = self.line(rank, POSTS).flag();
                if read >= needed {
                    self.read[rank] = read;
                    break;
                }
                looks += 1;
                if looks == LOOKS {
                    self.await_line(boards, rank, POSTS, needed);
                    return false;
                }
            }
        }
        true
    }

    /// Raises the flag of this rank's post, after all that was written for it.
    #[inline]
    pub fn post(&mut self, number: u64, boards: &mut dyn Boards) {
        self.mail(self.rank, number).raise(number + 1);
        boards.wake(&self.others);
        // Others have read it when it was used last. With a common cache a barrier of two ranks took 0.14 us
        // instead of 0.15 (`cargo xtask bench-mpi`, 2026-11-27, AMD EPYC).
        hint::claim(self.mail(self.rank, number + 1));
    }

    /// Whether a rank's post is there; looks for a moment.
    #[inline]
    pub fn has_come(&mut self, rank: usize, number: u64, boards: &mut dyn Boards) -> bool {
        let mut looks = 0;
        while self.mail(rank, number).flag() != number + 1 {
            looks += 1;
            if looks == LOOKS {
                self.await_line(boards, rank, number as usize % POSTS, number + 1);
                return false;
            }
        }
        self.read[rank] = self.read[rank].max(number.saturating_sub(AHEAD));
        true
    }

    /// One of several ranks, a bit each, whose post is there; if there is none looks at the first of them for
    /// a moment.
    #[inline]
    pub fn come_first(
        &mut self,
        ranks: u64,
        number: u64,
        boards: &mut dyn Boards,
    ) -> Option<usize> {
        let mut left = ranks;
        while left != 0 {
            let rank = left.trailing_zeros() as usize;
            if self.is_there(rank, number) {
                return Some(rank);
            }
            left &= left - 1;
        }
        let first = ranks.trailing_zeros() as usize;
        self.has_come(first, number, boards).then_some(first)
    }

    /// As [`Lane::has_come`], with one look.
    #[inline]
    fn is_there(&mut self, rank: usize, number: u64) -> bool {
        let is_there = self.mail(rank, number).flag() == number + 1;
        if is_there {
            self.read[rank] = self.read[rank].max(number.saturating_sub(AHEAD));
        }
        is_there
    }

    /// Says that this rank has read all below `number`.
    #[inline]
    pub fn say_read(&self, number: u64, boards: &mut dyn Boards) {
        self.line(self.rank, POSTS).raise(number);
        boards.wake(&self.others);
    }

    #[cold]
    fn await_line(&self, boards: &mut dyn Boards, rank: usize, which: usize, flag: u64) {
        let lines = boards.line_count() / LANES;
        let world = self.world.world_ranks()[rank];
        boards.await_line(world, self.index * lines + which, flag);
    }

    /// Writes into the slot of a post of this rank.
    ///
    /// # Safety
    /// The bytes at `from` may be read; there is room for the post ([`Lane::has_slot`]), and its flag
    /// is not raised.
    #[inline]
    pub unsafe fn write(
        &self,
        into: *mut u8,
        from: *const u8,
        bytes: usize,
        boards: &mut dyn Boards,
    ) {
        // SAFETY: the caller's promise; nobody reads the slot before its flag is raised.
        unsafe { boards.write(from, into, bytes, &self.others) };
    }
}

/// Room for the bytes of a line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Short(pub [u8; 64]);

impl Default for Short {
    #[inline]
    fn default() -> Self {
        Self([0; 64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_has_as_many_bytes_to_read_of_two_ranks_or_three() {
        let of = |ranks| {
            let (count, bytes) = slots(4 << 20, ranks);
            assert!(count >= SLOTS_MIN && count.is_power_of_two() && bytes.is_power_of_two());
            count * bytes
        };
        assert_eq!([2, 3, 4, 5, 64].map(of), [4, 2, 1, 1, 1].map(|it| it << 20));
    }

    /// Threads make communicators at the same time, and end in any order: what is offered for one of them
    /// is not offered for another before the first has it.
    #[test]
    fn what_is_offered_stays_so_until_that_agreement_ends() {
        let mut lanes = Lanes {
            free: 0b110,
            start: 0,
            is_offered: false,
        };
        let (first, second) = (lanes.offer(), lanes.offer());
        assert_eq!((first.lanes, second.lanes), (0b110, 0));
        assert_eq!(lanes.settle(second, true), None);
        assert_eq!(lanes.offer().lanes, 0, "the first has not ended");
        assert_eq!(lanes.settle(first, true), Some(1));
        assert_eq!(lanes.offer().lanes, 0b100);
    }
}

/// Every order in which two ranks can come to each other's posts (`cargo xtask loom`): nobody writes what
/// another reads, and who sees a flag sees what it stands for, while posts go round.
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    struct Memory {
        lines: [Vec<Line>; 2],
        /// In the place of the bytes of slots.
        slots: [[UnsafeCell<u64>; POSTS]; 2],
    }

    // SAFETY: who may read and write slots is what the models are about.
    unsafe impl Sync for Memory {}

    impl Memory {
        fn new() -> Arc<Self> {
            let lines = || (0..BOARD_LINES).map(|_| Line::default()).collect();
            let slots = || std::array::from_fn(|_| UnsafeCell::new(0));
            Arc::new(Self {
                lines: [lines(), lines()],
                slots: [slots(), slots()],
            })
        }
    }

    struct Here(Arc<Memory>);

    impl Boards for Here {
        fn lines(&self, rank: u32) -> &[Line] {
            &self.0.lines[rank as usize]
        }

        fn bytes(&self) -> usize {
            LANES * SHARE_MAX * SLOTS_MIN * 1024
        }

        fn data(&self, _rank: u32) -> *mut u8 {
            std::ptr::null_mut()
        }

        fn wake(&mut self, _ranks: &[u32]) {}

        fn await_line(&mut self, _rank: u32, _line: usize, _flag: u64) {
            thread::yield_now();
        }
    }

    struct Rank {
        lane: Lane,
        boards: Here,
    }

    impl Rank {
        fn new(me: u32, memory: &Arc<Memory>) -> Self {
            let boards = Here(Arc::clone(memory));
            let lane = Lane::new(&boards, &Group::new(vec![0, 1]), me, (1, 0));
            Self {
                lane: lane.expect("enough for two ranks"),
                boards,
            }
        }

        fn post(&mut self, number: u64) {
            let Self { lane, boards } = self;
            while !lane.has_slot(number, boards) {}
            let slot = &boards.0.slots[lane.rank()][number as usize % POSTS];
            // SAFETY: there is room, so that nobody reads it.
            slot.with_mut(|slot| unsafe { *slot = number });
            lane.mail(lane.rank(), number).put(&number.to_ne_bytes());
            lane.post(number, boards);
        }

        fn take(&mut self, number: u64) {
            let Self { lane, boards } = self;
            let other = 1 - lane.rank();
            while !lane.has_come(other, number, boards) {}
            let slot = &boards.0.slots[other][number as usize % POSTS];
            // SAFETY: its flag is raised, and it is read before it is said to be.
            assert_eq!(slot.with(|slot| unsafe { *slot }), number);
            let mut bytes = [0; 8];
            lane.mail(other, number).get(&mut bytes);
            assert_eq!(u64::from_ne_bytes(bytes), number);
        }
    }

    const ALL: u64 = POSTS as u64 + 1;

    fn model(does: [fn(&mut Rank); 2]) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let memory = Memory::new();
            let [mut one, mut other] = [0, 1].map(|rank| Rank::new(rank, &memory));
            let thread = thread::spawn(move || does[1](&mut other));
            does[0](&mut one);
            thread.join().expect("no panic");
        });
    }

    /// Both post as far ahead of what they take as they may.
    fn exchanges(rank: &mut Rank) {
        for number in 0..ALL + AHEAD {
            if number < ALL {
                rank.post(number);
            }
            if let Some(behind) = number.checked_sub(AHEAD) {
                rank.take(behind);
            }
        }
    }

    #[test]
    fn what_both_post_tells_what_they_have_read() {
        model([exchanges, exchanges]);
    }

    #[test]
    fn who_posts_nothing_says_what_it_has_read() {
        let posts: fn(&mut Rank) = |rank| (0..ALL).for_each(|number| rank.post(number));
        let takes: fn(&mut Rank) = |rank| {
            for number in 0..ALL {
                rank.take(number);
                rank.lane.say_read(number + 1, &mut rank.boards);
            }
        };
        model([posts, takes]);
    }
}
