// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the libraries need of a core.

use corecast_core::Rank;
use corecast_machine::{Await, MessageRecord, RunError, Time};

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

    /// The other core of the pair that a flag belongs to, which sets it; none of those that belong to
    /// nobody.
    #[must_use]
    pub const fn setter(self, cores: u32) -> Option<Rank> {
        let peer = self.0 / 2;
        if peer < cores { Some(Rank(peer)) } else { None }
    }

    /// Flag number `index` of those that belong to nobody, among `cores` cores.
    #[must_use]
    pub const fn other(cores: u32, index: u32) -> Self {
        Self(2 * cores + index)
    }
}

/// Bytes of a cache line, and of the unit in which buffers are allocated (`RCCE_LINE_SIZE`).
pub const LINE_BYTES: usize = 32;

/// Flags of a core beside those of its pairs: the barrier's, and those that programs allocate.
pub const OTHER_FLAGS: u32 = 256;

/// Bytes in the payload of a core's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MpbPlace {
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

/// Software of a library call, which takes time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overhead {
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

/// What is known of a message beside its bytes.
///
/// The libraries send no such thing; it takes no time and serves to write messages down, and to
/// tell a program that the two ends of a message do not agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announcement {
    /// Bytes of the message.
    pub bytes: usize,
    /// Bytes of the sender's chunks.
    pub chunk_bytes: usize,
    /// When the sender asked to send it.
    pub posted: Time,
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

    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// Bytes of a buffer that messages may use.
    fn payload_bytes(&self) -> usize;

    /// Takes `bytes` bytes off the end of what messages may use of this core's buffer.
    fn reserve(&mut self, bytes: usize);

    /// Bytes of private memory.
    fn private_bytes(&self) -> u64;

    /// Names the library call that follows, number `index` of the program, for diagnostics; none in
    /// programs of messages.
    fn at_call(&mut self, name: Option<&'static str>, index: usize);

    /// Tells whether the run goes on, to programs that look at flags without waiting for them.
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    fn check(&self) -> Result<(), RunError>;

    /// Notes that the first chunk of a message to `to` will be put next.
    fn announce(&mut self, to: Rank, envelope: Announcement);

    /// The oldest message that `from` has announced and that is not delivered.
    fn announced(&self, from: Rank) -> Option<Announcement>;

    /// Writes down that the oldest message announced by `from` is complete.
    fn delivered(&mut self, from: Rank);

    /// Writes down a message that came without being announced.
    fn record(&mut self, message: MessageRecord);

    /// Copies private bytes, which lie at `address`, into a buffer.
    async fn put(&mut self, to: MpbPlace, bytes: &[u8], address: u64);

    /// Copies bytes of a buffer into private memory at `address`.
    async fn get(&mut self, from: MpbPlace, bytes: &mut [u8], address: u64, copy: CopyLoop);

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

    /// Reads flags in the buffers of others again and again, until in one pass all are as wanted
    /// (`None`), or until one of the own ones of `meanwhile` is (its index).
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    async fn watch(
        &mut self,
        all: &[(Rank, Wait)],
        meanwhile: &[Wait],
    ) -> Result<Option<usize>, RunError>;

    /// Spends the time that combining `bytes` bytes with as many others takes. No effect on real
    /// machines, where combining itself takes time.
    async fn combine(&mut self, bytes: u64);

    /// Spends `time` computing. No effect on real machines.
    async fn compute(&mut self, time: Time);

    /// Spends the time of a call's software.
    async fn spend(&mut self, overhead: Overhead);
}
