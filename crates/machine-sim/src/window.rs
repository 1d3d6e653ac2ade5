// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of its other traffic a core has under way at most.
//!
//! Cores have room for a number of requests that are not done, whatever they run. So where a mesh is
//! asked for more than it can carry, other traffic gets what there is, and what waits for it at the
//! cores does not grow for as long as a run lasts.

use std::cell::Cell;

use corecast_machine::BackgroundUse;

/// Packets of a core that are under way at most. Far more than there are below saturation: a packet
/// takes some hundred cycles then, and a core begins one in ten at most.
pub(crate) const UNDER_WAY_MAX: u32 = 64;

/// The other traffic of all cores of a run.
#[derive(Debug)]
pub(crate) struct Window {
    under_way: Vec<Cell<u32>>,
    used: Cell<BackgroundUse>,
}

impl Window {
    pub(crate) fn new(cores: u32) -> Self {
        Self {
            under_way: vec![const { Cell::new(0) }; cores as usize],
            used: Cell::default(),
        }
    }

    /// Whether a packet that `core` has to send now is sent; it is under way then.
    pub(crate) fn admits(&self, core: u32) -> bool {
        let under_way = &self.under_way[core as usize];
        let is_admitted = under_way.get() < UNDER_WAY_MAX;
        under_way.set(under_way.get() + u32::from(is_admitted));
        self.used.set(self.used.get().with(is_admitted));
        is_admitted
    }

    /// A packet of `core` has arrived.
    pub(crate) fn arrived(&self, core: u32) {
        let under_way = &self.under_way[core as usize];
        under_way.set(under_way.get() - 1);
    }

    pub(crate) fn used(&self) -> BackgroundUse {
        self.used.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_held_back_until_something_has_arrived() {
        let window = Window::new(2);
        let admitted = (0..UNDER_WAY_MAX + 2).filter(|_| window.admits(1)).count();
        assert_eq!(admitted, UNDER_WAY_MAX as usize);
        assert!(window.admits(0), "another core has a window of its own");
        window.arrived(1);
        assert!(window.admits(1) && !window.admits(1));
        let packets = u64::from(UNDER_WAY_MAX) + 5;
        assert_eq!(
            window.used(),
            BackgroundUse {
                packets,
                held_back: 3
            }
        );
    }
}
