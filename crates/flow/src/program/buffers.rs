// SPDX-License-Identifier: MIT OR Apache-2.0
//! The buffers of a tile, as a program has to know them.
//!
//! Apart from [`Room`](super::room::Room), which is what a program makes of them.

/// See the module's documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffers {
    /// Where messages wait that leave; each is moved there as a whole.
    pub output_bytes: usize,
    /// Where messages wait that have come.
    pub input: InputBuffer,
    /// How senders share it.
    pub sharing: Sharing,
}

impl Buffers {
    /// Most bytes of a message.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.input.bytes.min(self.output_bytes)
    }
}

/// What holds the messages that have come to a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputBuffer {
    /// Its bytes.
    pub bytes: usize,
    /// Bytes of a word of it; every message takes whole words.
    pub word_bytes: usize,
    /// Most messages that it keeps account of.
    pub messages: usize,
}

/// How the senders of a task share its input buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// So many messages of each at a time as have room: each that is taken is acknowledged, which
    /// costs a word.
    Windows,
    /// First come, first served: costs nothing, and one sender can keep out the others for ever.
    Free,
    /// Each has such a buffer of its own, as on threads.
    Apart,
}
