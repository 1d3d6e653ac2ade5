// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank has done, as whoever wants to do it again without the program must know it.

/// One thing, in the order in which the rank did it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Captured {
    /// It has computed for so many picoseconds.
    Compute(u64),
    /// From here on it takes whatever comes, one packet after the other. A rank that shares its core does not
    /// say so: it is the core that does.
    Listen,
    /// It has begun to send a packet.
    Send {
        /// The receiver.
        to: u32,
        /// The first word of the packet's head.
        word: u64,
        /// Its length, head included.
        bytes: u64,
    },
    /// It has waited until this packet came; where it shares its core, until it was told of it.
    Received {
        /// The sender.
        from: u32,
        /// The first word of its head.
        word: u64,
        /// Its length, head included.
        bytes: u64,
    },
    /// It has waited until the packet that it has sent with this number, counted from 0, was gone.
    Sent(u32),
}
