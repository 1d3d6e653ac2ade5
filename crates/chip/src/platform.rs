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
