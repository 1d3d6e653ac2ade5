// SPDX-License-Identifier: MIT OR Apache-2.0
//! Something that many share and that serves so much work per time.

use std::cell::Cell;

use corecast_core::Time;

/// A shared resource that never idles while work is left: a memory controller, the port of a
/// buffer, a link.
///
/// A transfer of many lines keeps it busy now and then for as long as the transfer lasts. So its
/// work is queued as one piece, and the transfer cannot end before the queue as it was then is
/// worked off; it is not held up as long as the server keeps up. That limits throughput exactly and
/// neglects how single lines wait for each other.
///
/// ```
/// use corecast_sim::{Time, memory::Server};
/// let ns = |ns: u64| Time::from_ps(1000 * ns);
/// let server = Server::default();
/// // Two transfers of 100 ns that need 40 ns of the server each, and one more.
/// assert_eq!(server.serve(ns(0), ns(100), ns(40)), ns(100));
/// assert_eq!(server.serve(ns(0), ns(100), ns(40)), ns(100));
/// assert_eq!(server.serve(ns(0), ns(100), ns(40)), ns(120));
/// assert_eq!(server.backlog(ns(50)), ns(70));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Server {
    free_at: Cell<Time>,
}

impl Server {
    /// The end of a transfer that begins `now`, lasts `duration` if it is alone, and needs `work`.
    pub fn serve(&self, now: Time, duration: Time, work: Time) -> Time {
        let free_at = self.free_at.get().max(now) + work;
        self.free_at.set(free_at);
        free_at.max(now + duration)
    }

    /// How long the work lasts that is left at `now`.
    pub fn backlog(&self, now: Time) -> Time {
        self.free_at.get().saturating_sub(now)
    }
}
