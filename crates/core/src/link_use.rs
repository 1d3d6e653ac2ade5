// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a link of a mesh has carried: what simulators count and pictures show.
//!
//! ```
//! use corecast_core::LinkUse;
//! let east = LinkUse { from: (0, 0), to: (1, 0), flits: 7 };
//! assert_eq!(east.to.0 - east.from.0, 1);
//! ```

/// What one link of a mesh carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkUse {
    /// Coordinates (x, y) of the router that it leaves.
    pub from: (u32, u32),
    /// Coordinates of the router that it enters.
    pub to: (u32, u32),
    /// Flits that crossed it; those of a static network are words.
    pub flits: u64,
}
