// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core puts on its engine's command port.

use corecast_core::Rank;

/// An operation of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortOp {
    /// Atomic broadcast among the ranks whose bits are set; all of them give it.
    Bcast {
        /// Who has the data.
        root: Rank,
        /// Bit r stands for rank r; root and giver included.
        members: u32,
    },
    /// To one rank.
    Send {
        /// Receiver.
        to: Rank,
    },
    /// From one rank.
    Recv {
        /// Sender.
        from: Rank,
    },
    /// Receive and pass on, word by word.
    Forward {
        /// Sender of what arrives.
        from: Rank,
        /// Receiver of what is passed on.
        to: Rank,
    },
}

/// A command and the clock from which on it is on the port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortCommand {
    /// First clock in which the core shows it; later, if the one before has not been taken yet.
    pub shown: u64,
    /// What to do.
    pub op: PortOp,
    /// First word in the rank's memory.
    pub addr: u64,
    /// Length in words.
    pub words: u64,
}
