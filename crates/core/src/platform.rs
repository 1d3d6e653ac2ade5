// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine is like, as far as it decides about schedules.
//!
//! A platform is the machine seen from the left of the flow: no clock and no protocol, only where
//! ranks sit, what a message costs in the two numbers that closed forms use, and which buffers
//! there are. A chip gives its own; without one, closed forms take the defaults.
//!
//! ```
//! use corecast_core::{Grid, Platform};
//! let platform = Platform { grid: Some(Grid::mesh(4, 2)), ..Platform::default() };
//! assert_eq!(platform.grid_or_square(8), Grid::mesh(4, 2));
//! assert_eq!(Platform::default().grid_or_square(9), Grid::mesh(3, 3));
//! ```

use crate::grid::Grid;

/// See the module's documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Platform {
    /// Where the ranks sit, if they sit on a mesh; algorithms that need one and are given none
    /// take [`Grid::most_square`].
    pub grid: Option<Grid>,
    /// What a message costs, for algorithms that choose their part count by a closed form.
    pub link_cost: LinkCost,
    /// The receive queues, if messages can overflow them.
    pub queue: Option<Queue>,
    /// The buffers that all ranks can read, if there are such.
    pub shared_buffer: Option<SharedBuffer>,
}

impl Default for Platform {
    fn default() -> Self {
        Self {
            grid: None,
            link_cost: LinkCost {
                sync_cycles: 8.0,
                cycles_per_byte: 0.25,
            },
            queue: None,
            shared_buffer: None,
        }
    }
}

impl Platform {
    /// Where `ranks` ranks sit: the grid given, or the most square one.
    #[must_use]
    pub fn grid_or_square(&self, ranks: u32) -> Grid {
        self.grid.unwrap_or_else(|| Grid::most_square(ranks))
    }
}

/// Cost of one message of `n` bytes as `sync_cycles + n * cycles_per_byte`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkCost {
    /// Cycles of one synchronisation (Park 2019, Eq. (1): alpha).
    pub sync_cycles: f64,
    /// Cycles per byte (Park 2019, Eq. (1): beta).
    pub cycles_per_byte: f64,
}

/// A finite queue for arriving messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queue {
    /// Words it holds.
    pub words: u64,
    /// Bytes of a word, at least 1.
    pub word_bytes: u64,
    /// Words before the payload of every packet.
    pub header_words: u64,
    /// Most words of payload in a packet, at least 1.
    pub packet_words: u64,
}

impl Queue {
    /// Words of a message of `bytes` bytes with its headers.
    #[must_use]
    pub fn message_words(&self, bytes: u64) -> u64 {
        let words = bytes.div_ceil(self.word_bytes);
        let packets = words.div_ceil(self.packet_words).max(1);
        words.saturating_add(packets.saturating_mul(self.header_words))
    }
}

/// A buffer per rank that all ranks can read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedBuffer {
    /// Its size in bytes.
    pub bytes: u64,
    /// Of a line; messages take whole lines.
    pub line_bytes: u64,
    /// What it costs to tell a rank of a message and to take it.
    pub cost: LinkCost,
}
