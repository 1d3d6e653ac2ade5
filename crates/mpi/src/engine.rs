//! Messages of bytes between ranks: matching, and the protocols by which they travel.

use crate::error::Result;
use crate::transport::Transport;

/// A stretch of the calling program's memory, with the promise of [`crate::Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where it begins.
    pub address: *mut u8,
    /// How long it is.
    pub bytes: usize,
}

// SAFETY: as for `Buffer`: an address is a number here.
unsafe impl Send for Memory {}

/// When a send is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// When the memory may be used again.
    Standard,
    /// Not before the receive has begun.
    Synchronous,
}

/// A message that is on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "an operation has to be waited for"]
pub struct Flight(pub(crate) u32);

/// How it ended: who sent it, its tag, and its bytes, which may be more than there was room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landed {
    /// World rank of the sender.
    pub from: u32,
    /// Tag.
    pub tag: i32,
    /// Bytes that were sent.
    pub bytes: usize,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

/// Matching and protocols over a transport. Ranks are world ranks here.
pub struct Engine {
    transport: Box<dyn Transport>,
}

/// Something that goes on by itself over messages, like a non-blocking collective.
pub trait Operation: Send {
    /// Goes on as far as it can without waiting; `true` when it is complete.
    ///
    /// # Errors
    /// Why it failed; it is not called again.
    fn advance(&mut self, engine: &mut Engine) -> Result<bool>;
}

impl Engine {
    /// The messages of the rank that this transport is for.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>) -> Self {
        Self { transport }
    }

    /// What carries the packets.
    #[must_use]
    pub fn transport(&mut self) -> &mut dyn Transport {
        self.transport.as_mut()
    }
}
