//! What the libraries need of a core.

use corecast_core::Rank;
use corecast_machine::{Await, RunError};

/// A flag in a core's buffer: a byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Flag(pub u32);

impl Flag {
    /// `peer` has put a chunk for this core into its buffer.
    #[must_use]
    pub const fn sent(peer: Rank) -> Self {
        Self(2 * peer.0)
    }

    /// `peer` has taken the chunk that this core has put for it.
    #[must_use]
    pub const fn ready(peer: Rank) -> Self {
        Self(2 * peer.0 + 1)
    }

    /// Flag number `index` of those that belong to nobody, among `cores` cores.
    #[must_use]
    pub const fn other(cores: u32, index: u32) -> Self {
        Self(2 * cores + index)
    }
}

/// Flags of a core beside those of its pairs: the barrier's, and those that programs allocate.
pub const OTHER_FLAGS: u32 = 256;

/// Bytes in the payload of a core's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Whose buffer.
    pub core: Rank,
    /// Offset in its payload.
    pub offset: usize,
}

/// How a copy loop writes private memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyLoop {
    /// Word by word, without having read the line: RCCE.
    Plain,
    /// After reading the line, so that it is in the cache: iRCCE.
    ReadFirst,
}

/// A library call whose software takes time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// Of a blocking send or receive, per chunk.
    Blocking,
    /// Of a non-blocking one, per chunk.
    NonBlocking,
    /// Of a transfer without calls of a message library.
    OneSided,
}

/// A condition on a flag's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The value is this one.
    Is(u8),
    /// The value, which counts up and around, has come at least so far.
    Reached(u8),
}

impl Until {
    /// Whether `value` fulfils it.
    #[must_use]
    pub const fn holds(self, value: u8) -> bool {
        match self {
            Self::Is(wanted) => value == wanted,
            Self::Reached(wanted) => value.wrapping_sub(wanted) < 128,
        }
    }
}

/// A flag of the own buffer that is polled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The flag.
    pub flag: Flag,
    /// What it shall be.
    pub until: Until,
    /// Who sets it.
    pub peer: Rank,
    /// What the core waits for, if a deadlock has to be told.
    pub awaits: Await,
}

/// A core with a message passing buffer. Calls take effect in program order.
#[allow(
    async_fn_in_trait,
    reason = "cores are used generically, never as trait objects"
)]
pub trait Core {
    /// This core's rank.
    fn id(&self) -> Rank;

    /// Number of cores.
    fn cores(&self) -> u32;

    /// Bytes of a buffer that messages may use.
    fn payload_bytes(&self) -> usize;

    /// Copies private bytes, which lie at `address`, into a buffer.
    async fn put(&mut self, to: Place, bytes: &[u8], address: u64);

    /// Copies bytes of a buffer into private memory at `address`.
    async fn get(&mut self, from: Place, bytes: &mut [u8], address: u64, copy: CopyLoop);

    /// Copies `bytes` bytes from a buffer into another one.
    async fn relay(&mut self, from: Place, to: Place, bytes: usize);

    /// Sets a flag in the buffer of `at`.
    async fn set_flag(&mut self, at: Rank, flag: Flag, value: u8);

    /// Reads a flag in the buffer of `at`.
    async fn flag(&mut self, at: Rank, flag: Flag) -> u8;

    /// Polls flags of the own buffer, one after the other and around, until one is as wanted;
    /// returns its index.
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    async fn poll(&mut self, waits: &[Wait]) -> Result<usize, RunError>;

    /// Spends the time of a call's software.
    async fn spend(&mut self, call: Call);
}
