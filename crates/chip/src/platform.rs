// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip as algorithms see it: where ranks sit, what a message costs, which buffers there are.
//!
//! ```
//! let chip = corecast_chip::Chip::builtin("tilepro64").unwrap();
//! let platform = chip.platform(64);
//! assert_eq!(platform.grid.map(|grid| (grid.width, grid.height)), Some((8, 8)));
//! assert!(platform.queue.is_some() && platform.shared_buffer.is_none());
//! ```

use corecast_core::{Collective, Platform, Request, bounds};

use crate::chip::Chip;
use crate::facts::NoBackground;

impl Chip {
    /// What `ranks` ranks on this chip are told about it, for algorithms that depend on it.
    #[must_use]
    pub fn platform(&self, ranks: u32) -> Platform {
        let kind = self.system().kind();
        Platform {
            grid: self.grid(ranks),
            link_cost: kind.link_cost(&self.reference_clock),
            queue: kind.queue(),
            shared_buffer: kind.shared_buffer(&self.reference_clock, self.cores_max),
        }
    }

    /// Whether other traffic can go on beside messages.
    ///
    /// # Errors
    /// Why not.
    pub fn takes_background(&self) -> Result<(), NoBackground> {
        self.system().kind().takes_background()
    }

    /// Fewest cycles of the reference clock in which any algorithm can serve `request` on this
    /// chip, from the first rank's start to the last rank's finish.
    ///
    /// On a mesh the largest of several bounds, each of which holds for every schedule: what must
    /// leave or enter a rank, by how far away its other end is; what a core must send and receive,
    /// one after the other; each rank's share of everybody's work; what must cross the links between
    /// two halves of the mesh, or around a router ([`corecast_core::bounds::cuts`]). On a bus a sum
    /// of terms that every schedule pays. What counts as work and as a way depends on the kind of
    /// endpoint; the arguments are in the documentation of the modules in `kinds/`.
    ///
    /// Not counted, so that the bound holds for every algorithm: combining in reductions (it may
    /// overlap with receiving), ordering by status (an algorithm may do without), and the hops of
    /// control messages along a chain (an algorithm may use a tree).
    ///
    /// 0 for a single rank, and for an alltoallv in which nobody sends anything. The request
    /// should pass [`Request::check`]. Rounded down where clocks differ.
    #[must_use]
    pub fn bound_cycles(&self, request: &Request) -> u64 {
        let is_silent =
            request.collective == Collective::Alltoallv && bounds::of(request).port_bytes == 0;
        if request.ranks <= 1 || is_silent {
            return 0;
        }
        // Rounded down: a schedule that takes a fraction of a cycle more is then still not below.
        self.system().kind().bound_ps(request) / self.reference_clock.period_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::{Grid, Queue};

    fn platform(name: &str, ranks: u32) -> Platform {
        Chip::builtin(name).expect("is built in").platform(ranks)
    }

    /// Nine ranks sit in a square of the mesh, and messages can fill their queues.
    #[test]
    fn a_mesh_of_words_has_places_and_queues() {
        let of = platform("tilepro64", 9);
        assert_eq!(of.grid, Some(Grid::mesh(3, 3)));
        let queue = Queue {
            words: 118,
            word_bytes: 4,
            header_words: 2,
            packet_words: 126,
        };
        assert_eq!(of.queue, Some(queue));
        assert!(of.shared_buffer.is_none());
        // 16 and 9 cycles of software, two words of header and a hop.
        assert_eq!(of.link_cost.sync_cycles, 16.0 + 9.0 + 2.0 + 1.0);
        assert_eq!(of.link_cost.cycles_per_byte, 1.0 / 4.0);
    }

    /// Of a buffer of 8192 bytes five lines are flags: 98 bytes, and a line that flushes.
    #[test]
    fn cores_with_buffers_share_them() {
        let of = platform("scc", 4);
        let shared = of.shared_buffer.expect("buffers that all can read");
        assert_eq!((shared.bytes, shared.line_bytes), (8192 - 5 * 32, 32));
        assert!(of.queue.is_none());
        let grid = of.grid.expect("a mesh");
        assert_eq!((grid.width, grid.height, grid.per_node), (2, 1, 2));
    }

    /// A bus has neither places nor queues.
    #[test]
    fn a_bus_has_only_a_price() {
        let of = platform("park2019-bus", 4);
        assert_eq!((of.grid, of.queue, of.shared_buffer), (None, None, None));
        assert!(of.link_cost.sync_cycles > 0.0);
    }
}
