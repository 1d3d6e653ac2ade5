//! How bytes travel: the seam below this crate.
//!
//! A transport carries packets from rank to rank, in order per pair, and knows nothing of tags,
//! datatypes or communicators. Shared memory is one, a simulated chip another; [`Alone`] is the one
//! of a program that was started without others.
#![forbid(unsafe_code)]

use crate::error::Result;

/// The words before a packet's body; the layer above gives them their meaning.
pub type Head = [u64; 2];

/// What a transport offers for one rank.
pub trait Transport: Send {
    /// This rank.
    fn rank(&self) -> u32;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Longest body of a packet, in bytes; at least 64.
    fn packet_max(&self) -> usize;

    /// Longest message whose bytes should go along with its envelope, in bytes; longer ones wait
    /// until they are asked for.
    fn eager_max(&self) -> usize {
        self.packet_max()
    }

    /// Gives a packet to the transport, which copies it. `false`: there is no room now.
    ///
    /// Packets to this rank itself are not the transport's.
    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool;

    /// Hands every packet that has come to `take`, with the rank that sent it; of `from` alone if
    /// given. Returns whether there was one. It may leave some for the next call.
    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool;

    /// Called again and again while nothing comes, with the number of calls since something did:
    /// spins, hands the core over, or sleeps until there may be something.
    ///
    /// # Errors
    /// When another rank has died, or somebody called for the end of all.
    fn idle(&mut self, calls: u32) -> Result<()>;

    /// Whether bytes may be read from another rank's memory by address, in one copy.
    fn reads_remotely(&self) -> bool {
        false
    }

    /// Reads `into.len()` bytes that lie at `address` in the memory of rank `from`. `false`: it is
    /// not possible.
    fn read(&mut self, from: u32, address: u64, into: &mut [u8]) -> bool {
        let _ = (from, address, into);
        false
    }

    /// The boards that all ranks can read, where there are any.
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        None
    }

    /// Time since some moment that is the same for all ranks, in seconds.
    fn now(&self) -> f64;

    /// Ends all ranks with this exit code.
    fn abort(&mut self, code: i32) -> !;

    /// Says that this rank has come to its proper end: its death is no accident any more.
    fn finish(&mut self);
}

/// Memory of every rank that it writes and all may read, with flags.
///
/// A flag that is raised after a `put` is seen by others after what was put: flags order bytes.
pub trait Boards {
    /// Bytes of one board.
    fn bytes(&self) -> usize;

    /// Flags of one board.
    fn flags(&self) -> usize;

    /// Writes into this rank's own board.
    fn put(&mut self, offset: usize, bytes: &[u8]);

    /// Copies from the board of `rank`.
    fn get(&self, rank: u32, offset: usize, into: &mut [u8]);

    /// Looks at the board of `rank`, nothing of which its owner may change meanwhile.
    fn look(&self, rank: u32, offset: usize, bytes: usize, see: &mut dyn FnMut(&[u8]));

    /// Sets a flag of this rank's own board, after everything put before.
    fn raise(&mut self, flag: usize, value: u32);

    /// A flag of the board of `rank`; what was put before it was set is seen afterwards.
    fn peek(&self, rank: u32, flag: usize) -> u32;
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

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn abort(&mut self, code: i32) -> ! {
        std::process::exit(code)
    }

    fn finish(&mut self) {}
}
