// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a study has come, for who waits for it.

use corecast_core::Schedule;

/// Told how far a study has come. `()` is nobody.
pub trait Progress: Sync {
    /// One more part is done: an algorithm of one case, a cell, a point.
    fn done(&self) {}

    /// Whether nobody wants to know the result any more: then no further part is begun.
    fn is_stopped(&self) -> bool {
        false
    }

    /// So many runs of a schedule begin.
    fn begins(&self, _schedule: &Schedule, _runs: u32) {}
}

impl Progress for () {}
