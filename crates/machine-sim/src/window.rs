// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of its other traffic a core has under way at most.
//!
//! Cores have room for a number of requests that are not done, whatever they run. So where a mesh is
//! asked for more than it can carry, other traffic gets what there is, and what waits for it at the
//! cores does not grow for as long as a run lasts.

use std::cell::Cell;

use corecast_machine::BackgroundUse;

/// Flits of a core that are under way at most, in whole packets. Assumed, as the next one: far more than
/// there are below saturation, where a packet of four takes some hundred cycles, and a core begins one in
/// ten at most.
const FLITS_MAX: u32 = 256;
/// Packets that may be under way in any case, however long they are.
const PACKETS_MIN: u32 = 4;

/// How many packets of so many flits a core has under way at most.
pub(crate) fn packets_max(packet_flits: u32) -> u32 {
    (FLITS_MAX / packet_flits.max(1)).max(PACKETS_MIN)
}

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

    /// Whether a packet of so many flits that `core` has to send now is sent; it is under way then.
    pub(crate) fn admits(&self, core: u32, flits: u32) -> bool {
        let under_way = &self.under_way[core as usize];
        let is_admitted = under_way.get() < packets_max(flits);
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
        let admitted = (0..66).filter(|_| window.admits(1, 4)).count();
        assert_eq!(admitted, 64);
        assert!(window.admits(0, 4), "another core has a window of its own");
        window.arrived(1);
        assert!(window.admits(1, 4) && !window.admits(1, 4));
        let packets = 69;
        assert_eq!(
            window.used(),
            BackgroundUse {
                packets,
                held_back: 3
            }
        );
    }

    #[test]
    fn long_packets_are_few() {
        assert_eq!([1, 4, 64, 4096].map(packets_max), [256, 64, 4, 4]);
    }
}
