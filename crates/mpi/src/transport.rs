// SPDX-License-Identifier: MIT OR Apache-2.0
//! How bytes travel: the seam below this crate.
//!
//! A transport carries packets from rank to rank, in order per pair, and knows nothing of tags,
//! datatypes or communicators. Shared memory is one, a simulated chip another; [`Alone`] is the one
//! of a program that was started without others.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

pub use corecast_core::shelf::Shelf;

use crate::error::{Class, Error, Result};
use crate::joint::Joint;
use crate::launcher::Launcher;

/// The words before a packet's body; the layer above gives them their meaning. A pair goes from function to
/// function in registers; an array would go through memory, from which it is not read before all that was
/// stored earlier has left the core, the packet before it included.
pub type Head = (u64, u64);

/// What a transport offers for one rank.
pub trait Transport: Send {
    /// This rank, as all that may meet it number it: at least [`Transport::first`].
    fn rank(&self) -> u32;

    /// Number of ranks that were started with this one.
    fn ranks(&self) -> u32;

    /// The first of them; the others follow. Ranks with other numbers belong to other worlds: they were
    /// started later, or have started these.
    fn first(&self) -> u32 {
        0
    }

    /// Makes the way to a rank of another world; from then on packets go to and fro. Those that the other
    /// sends before wait.
    ///
    /// # Errors
    /// [`Class::Other`] where there is no such way.
    fn reach(&mut self, rank: u32) -> Result<()> {
        let what = format!("there is no way to rank {rank}");
        Err(Error::new(Class::Other, what))
    }

    /// Which of how many series of numbers this rank's are, where no two ranks that may meet must ever
    /// choose the same one.
    fn series(&self) -> (u32, u32) {
        (self.rank(), self.ranks())
    }

    /// A number above this one that no other rank of the same series has got, or will get; `None` where
    /// the series is this rank's alone.
    fn ticket(&mut self, above: u32) -> Option<u32> {
        let _ = above;
        None
    }

    /// What those tell that have started this rank's world, if ranks have.
    fn greeting(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// The way to who starts processes, where there is somebody.
    fn launcher(&mut self) -> Option<&mut dyn Launcher> {
        None
    }

    /// Number of ranks that are of use here, those that may still be started included.
    fn universe(&self) -> u32 {
        self.ranks()
    }

    /// Which program of those that were started together this rank runs, from 0 on.
    fn program(&self) -> u32 {
        0
    }

    /// Longest body of a packet, in bytes; at least 64.
    fn packet_max(&self) -> usize;

    /// Longest message whose bytes should go along with its envelope, in bytes; longer ones wait
    /// until they are asked for.
    fn eager_max(&self) -> usize {
        self.packet_max()
    }

    /// Most bytes of a message that go along unasked behind its announcement.
    fn first_max(&self) -> usize {
        self.packet_max()
    }

    /// Bytes of each packet in which a long message of so many bytes is best sent; of what lies apart
    /// as for 0 bytes.
    fn stream_packet(&self, _bytes: usize) -> usize {
        self.packet_max()
    }

    /// Gives a packet to the transport, which copies it. `false`: there is no room now.
    ///
    /// Packets to this rank itself are not the transport's.
    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool;

    /// As [`Transport::send`], of a body in two parts, the second of which follows the first.
    fn send_joined(&mut self, to: u32, head: Head, parts: [&[u8]; 2]) -> bool {
        self.send(to, head, &parts.concat())
    }

    /// Hands every packet that has come to `take`, with the rank that sent it; of `from` alone if
    /// given. Returns whether there was one. It may leave some for the next call.
    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool;

    /// Whether the job goes on: for who waits without [`Transport::idle`].
    ///
    /// # Errors
    /// As [`Transport::idle`].
    fn goes_on(&mut self) -> Result<()> {
        Ok(())
    }

    /// Called again and again while nothing comes, with the number of calls since something did:
    /// spins, hands the core over, or sleeps until there may be something.
    ///
    /// # Errors
    /// When another rank has died, or somebody called for the end of all.
    fn idle(&mut self, calls: u32) -> Result<()>;

    /// As [`Transport::idle`], for who waits for what may come without a packet, or looks at a clock:
    /// never sleeps for long.
    ///
    /// # Errors
    /// As [`Transport::idle`].
    fn idle_awake(&mut self, calls: u32) -> Result<()> {
        let calls = calls.min(self.patience());
        self.idle(calls)
    }

    /// Called again and again by who waits long for something that no packet brings: leaves the core to
    /// others for a moment, or until a packet comes.
    ///
    /// # Errors
    /// As [`Transport::idle`].
    fn doze(&mut self) -> Result<()> {
        let calls = self.patience();
        self.idle(calls)
    }

    /// How often this rank has left its core to others so far, where it has one to leave.
    fn rests(&self) -> Rests {
        Rests::default()
    }

    /// How often to look for a packet before [`Transport::idle`] would hand the core over.
    fn patience(&self) -> u32 {
        1
    }

    /// Long messages that could be read go to this rank in packets, or come from it: what they need is
    /// made ready.
    fn prepare(&mut self, with: u32) {
        let _ = with;
    }

    /// From how many bytes on messages may be read from their sender's memory by address, in one copy, as
    /// that can take less than to send them; `usize::MAX` where none are.
    fn read_min(&self) -> usize {
        usize::MAX
    }

    /// From how many bytes on that takes less, of bytes that nobody has just written.
    fn once_min(&self) -> usize {
        self.read_min()
    }

    /// From how many bytes on both ends of a message that is read copy.
    fn joint_min(&self) -> usize {
        usize::MAX
    }

    /// From how many bytes on one copy is clearly better than packets or boards: both ends together copy about
    /// twice as fast as one.
    fn clear_min(&self) -> usize {
        self.once_min().min(self.joint_min())
    }

    /// Where two ranks agree on which of them copies what of such a message from one to the other, in memory
    /// that both see; nowhere if they do not copy together.
    fn joints(&self, from: u32, to: u32) -> &[Joint] {
        let _ = (from, to);
        &[]
    }

    /// Reads `into.len()` bytes that lie at `address` in the memory of rank `from`. `false`: it is
    /// not possible.
    fn read(&mut self, from: u32, address: u64, into: &mut [u8]) -> bool {
        let _ = (from, address, into);
        false
    }

    /// Whether [`Transport::read`] and [`Transport::write`] reach the memory of others, however long that
    /// takes beside a message.
    fn reaches_memory(&self) -> bool {
        false
    }

    /// Writes bytes to `address` in the memory of rank `to`, which does nothing for it. `false`: it is not
    /// possible, and some of them may be there.
    ///
    /// # Safety
    /// That rank has given this one leave to write there.
    unsafe fn write(&mut self, to: u32, address: u64, from: &[u8]) -> bool {
        let _ = (to, address, from);
        false
    }

    /// The boards that all ranks can read, where there are any.
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        None
    }

    /// Memory that several ranks see, where there can be some.
    fn shared_memory(&mut self) -> Option<&mut dyn SharedMemory> {
        None
    }

    /// What ranks keep for each other, where there is memory for it: see [`corecast_core::shelf`].
    fn shelf(&mut self) -> Option<Box<dyn Shelf>> {
        None
    }

    /// The rest of a transport in virtual time.
    fn clocked(&mut self) -> Option<&mut dyn Clocked> {
        None
    }

    /// Who carries collectives and messages on while this rank's process sleeps, where there is somebody.
    fn carrier(&mut self) -> Option<&mut dyn Carrier> {
        None
    }

    /// What carries broadcasts out without the library, where there is something.
    fn broadcaster(&mut self) -> Option<&mut dyn Broadcaster> {
        None
    }

    /// Time since some moment that is the same for all ranks, in seconds.
    fn now(&mut self) -> f64;

    /// Ends all ranks with this exit code.
    fn abort(&mut self, code: i32) -> !;

    /// Says that this rank has come to its proper end: its death is no accident any more.
    fn finish(&mut self);

    /// Takes part once more after [`Transport::finish`]; `false` where that cannot be.
    fn resume(&mut self) -> bool {
        false
    }
}

/// How often a rank that waited left its core to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rests {
    /// It handed the core over and stayed ready.
    pub handed_over: u64,
    /// It slept until something came, or for a while.
    pub slept: u64,
}

/// What a transport in virtual time is told beside packets. There only calls take time, so it wants to
/// know of all of them.
pub trait Clocked {
    /// The program enters a call ([`crate::calls::name`]), perhaps out of another one.
    fn enter(&mut self, call: u16);

    /// The call that was entered last returns.
    fn leave(&mut self);

    /// The program asks whether something has come and does not wait: looking takes some time, so that
    /// a loop of such calls ends.
    fn look(&mut self);

    /// The program has made a call that waits where there is something to wait for, and there is nothing.
    /// It may do so again and again until another rank has done something; so from some number of such
    /// calls on without a wait between them this is a look, and before that it is nothing.
    fn pass(&mut self);

    /// The program says that it has computed for so long since its last call.
    fn compute(&mut self, nanoseconds: u64);

    /// Whether [`Transport::idle`] has failed because nobody can go on, and this rank is to tell what
    /// it waits for.
    fn is_asked(&self) -> bool;

    /// What this rank waits for. It ends here.
    fn tell(&mut self, wants: &[Wanted]) -> !;
}

/// A message that a call waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Whether it is to be received, and not to be sent.
    pub is_receive: bool,
    /// World rank of the other end; none = anybody.
    pub peer: Option<u32>,
    /// Its tag; none = any, or a message of a collective.
    pub tag: Option<i32>,
    /// The communicator's name.
    pub comm: String,
}

/// Broadcasts of the machine's own, which need all members there at once and meet no packet.
pub trait Broadcaster {
    /// Most bytes of one; none if nobody is to use them in this run.
    fn bytes_max(&self) -> Option<usize>;

    /// Takes part in one, not before all members do; one at a time. When it is through, a packet with this
    /// head comes from `root`, there without a body. `body` is the root's; `members` are all that take
    /// part, this rank included. The head is the same at all of them.
    fn broadcast(&mut self, root: u32, members: &[u32], head: Head, body: &[u8]);
}

/// Who carries collectives on, and brings messages to their ends, while a rank's process sleeps
/// ([`Carried`](crate::collective::carried::Carried)).
pub trait Carrier {
    /// Most bytes of one, without its image.
    fn bytes_max(&self) -> usize;

    /// Where its image lies, for this rank as long as it is not away.
    fn image(&mut self) -> &mut [u8];

    /// Makes room for one; `false` if packets have come that are to be taken first.
    ///
    /// # Errors
    /// As [`Transport::idle`].
    fn make_room(&mut self) -> Result<bool>;

    /// Gives one away, and waits until it is given back: complete, or as far as it came when something came
    /// for this rank that it does not hold. That comes as packets then.
    ///
    /// # Errors
    /// As [`Transport::idle`]; it was given back all the same where this rank is to tell what it waits for.
    fn carry(&mut self, carried: &[u8], give_back: &mut dyn FnMut(&[u8])) -> Result<()>;
}

/// Memory that several ranks see, each at an address of its own: what windows of one-sided communication
/// lie in. Without it they are reached by messages, and windows that ranks share cannot be had.
pub trait SharedMemory {
    /// Takes `bytes` bytes, all zero; the name by which any rank maps them.
    ///
    /// # Errors
    /// [`crate::Class::NoMem`] where there are not so many.
    fn allocate(&mut self, bytes: usize) -> Result<u64>;

    /// Where memory of this name lies for this rank, at a multiple of a page. All ranks are on one host
    /// that keeps their caches coherent.
    ///
    /// # Errors
    /// [`crate::Class::NoMem`] where there is no room for it.
    fn map(&mut self, name: u64, bytes: usize) -> Result<*mut u8>;

    /// Ends what [`SharedMemory::map`] began.
    fn unmap(&mut self, address: *mut u8, bytes: usize);

    /// Gives memory back that no rank has mapped any more.
    fn free(&mut self, name: u64, bytes: usize);
}

/// Memory of every rank that it writes and all may read: lines, and bytes beside them.
///
/// A line is a cache line: who sees its flag sees what was written into it, and into the bytes, before
/// the flag was raised. That nobody writes what another is reading is up to who uses the boards.
pub trait Boards {
    /// The lines of a rank's board; [`BOARD_LINES`] for all that uses them.
    fn lines(&self, rank: u32) -> &[Line];

    /// Number of lines of every board.
    fn line_count(&self) -> usize {
        self.lines(0).len()
    }

    /// Number of bytes of every board.
    fn bytes(&self) -> usize;

    /// Where the bytes of a rank's board begin; they lie at a multiple of 64, and stay there as long
    /// as the transport lives. Only the rank itself may write there.
    fn data(&self, rank: u32) -> *mut u8;

    /// Whether there are more ranks than cores; the same for all ranks.
    fn share_cores(&self) -> bool {
        false
    }

    /// Copies bytes into this rank's board, in the way that is best for these ranks to read them.
    ///
    /// # Safety
    /// The bytes at `from` may be read, and those at `into` written; they do not overlap.
    unsafe fn write(&mut self, from: *const u8, into: *mut u8, bytes: usize, readers: &[u32]) {
        let _ = readers;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) };
    }

    /// Says that lines of this rank have changed for which `ranks` may be waiting: wakes those of
    /// them that sleep.
    fn wake(&mut self, ranks: &[u32]);

    /// Says that this rank waits until the flag of a line of `rank` is at least `flag`:
    /// [`Transport::idle`] does not sleep when it is.
    fn await_line(&mut self, rank: u32, line: usize, flag: u64);
}

/// Communicators that can use the boards at the same time, each an equal share of lines and bytes.
pub const BOARD_SHARES: usize = 8;

/// Lines that a board should have: for each share one for every post that can lie unread, and one
/// that says what was read. With fewer, communicators do without boards.
pub const BOARD_LINES: usize = BOARD_SHARES * (BOARD_POSTS + 1);

/// Posts of a share that can lie unread; in a model few, so that they go round.
const BOARD_POSTS: usize = if cfg!(loom) { 4 } else { 128 };

/// Bytes of a line beside its flag.
pub const LINE_PAYLOAD: usize = 56;

/// A flag and what is seen with it, in one cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Line {
    flag: AtomicU64,
    words: [AtomicU64; LINE_PAYLOAD / 8],
}

impl Line {
    /// Raises the flag, after everything that this rank wrote before.
    #[inline]
    pub fn raise(&self, flag: u64) {
        self.flag.store(flag, Ordering::Release);
    }

    /// The flag; what was written before it was raised is seen afterwards.
    #[inline]
    #[must_use]
    pub fn flag(&self) -> u64 {
        self.flag.load(Ordering::Acquire)
    }

    /// Writes up to [`LINE_PAYLOAD`] bytes, to be seen when the flag is raised.
    #[inline]
    pub fn put(&self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        for (word, bytes) in self.words.iter().zip(whole) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.words[whole.len()].store(u64::from_ne_bytes(last), Ordering::Relaxed);
        }
    }

    /// Copies what was written, once the flag was seen.
    #[inline]
    pub fn get(&self, into: &mut [u8]) {
        let (whole, rest) = into.as_chunks_mut::<8>();
        for (word, bytes) in self.words.iter().zip(whole.iter_mut()) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !rest.is_empty() {
            let last = self.words[whole.len()]
                .load(Ordering::Relaxed)
                .to_ne_bytes();
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }
}

/// A program that was started without others.
#[derive(Debug)]
pub struct Alone {
    start: std::time::Instant,
}

impl Alone {
    /// The only rank.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: std::time::Instant::now(),
        }
    }
}

impl Default for Alone {
    fn default() -> Self {
        Self::new()
    }
}

impl Transport for Alone {
    fn rank(&self) -> u32 {
        0
    }

    fn ranks(&self) -> u32 {
        1
    }

    fn packet_max(&self) -> usize {
        1 << 16
    }

    fn send(&mut self, _to: u32, _head: Head, _body: &[u8]) -> bool {
        false
    }

    fn receive(&mut self, _from: Option<u32>, _take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        false
    }

    fn idle(&mut self, _calls: u32) -> Result<()> {
        std::thread::yield_now();
        Ok(())
    }

    fn now(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn abort(&mut self, code: i32) -> ! {
        std::process::exit(code)
    }

    fn finish(&mut self) {}

    fn resume(&mut self) -> bool {
        true
    }
}
