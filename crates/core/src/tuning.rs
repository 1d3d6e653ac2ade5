// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is chosen about an algorithm: its parameters.
//!
//! ```
//! use corecast_core::{FlowControl, Tuning};
//! let tuning = Tuning { arity: 4, ..Tuning::default() };
//! assert_eq!((tuning.status_bits, tuning.flow_control), (2, FlowControl::Auto));
//! ```

/// Bits per rank of the status register, unless somebody asks for others.
///
/// # Source
/// Park 2019, 3.2.4.
pub const STATUS_BITS: u32 = 2;

/// Most status bits: with 10 bits a class is 2 bytes wide, finer than any bus word.
pub const STATUS_BITS_MAX: u32 = 10;

/// Parameters of algorithms. The defaults are those of the papers.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuning {
    /// Size of the parts that pipelined algorithms cut a message into; `None` lets the algorithm
    /// choose.
    pub part_bytes: Option<u64>,
    /// Size of the pieces in which a `Forward` passes data on; `None` is the machine's smallest
    /// unit.
    pub piece_bytes: Option<u64>,
    /// Bits per rank of the status register, 1..=[`STATUS_BITS_MAX`] (Park 2019, 3.2.4:
    /// two).
    pub status_bits: u32,
    /// Arity of k-ary trees, at least 2.
    pub arity: u32,
    /// Whether senders wait until their receivers are ready.
    pub flow_control: FlowControl,
}

/// Whether senders wait until their receivers are ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowControl {
    /// Unless it is proved that no queue can overflow without ([`crate::worst_queue`]).
    Auto,
    /// Always.
    On,
    /// Never. Queues may overflow, and the network behind them may stop for ever.
    Off,
}

impl FlowControl {
    /// Every choice with its name on the command line.
    pub const ALL: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            part_bytes: None,
            piece_bytes: None,
            status_bits: STATUS_BITS,
            arity: 3,
            flow_control: FlowControl::Auto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_listed_by_their_names() {
        for (name, choice) in FlowControl::ALL {
            assert_eq!(choice.name(), name);
        }
    }
}
