// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all kinds of endpoints have in common.

use corecast_core::{LinkCost, Queue, Request, SharedBuffer};

use crate::clock::Clock;
use crate::error::ChipError;
use crate::facts::{Derived, NoBackground, Places, Senders, Unused};
use crate::mesh::Mesh;
use crate::read::{Count, Section};

/// Work of a core or an engine; may be free.
pub(super) const CYCLES: Count = Count {
    unit: "cycles",
    min: 0,
    max: 1_000_000,
};

/// The same for every word.
pub(super) const CYCLES_PER_WORD: Count = Count {
    unit: "cycles/word",
    ..CYCLES
};

/// Most words of payload in a packet.
pub(super) const PACKET: Count = Count {
    unit: "words",
    min: 1,
    max: 4096,
};

/// What a chip knows about its endpoints on their network.
pub(crate) trait Kind {
    /// What a message costs in cycles of the reference clock: `sync_cycles` is everything but the
    /// data.
    fn link_cost(&self, reference: &Clock) -> LinkCost;

    /// The receive queues, if messages can overflow them.
    fn queue(&self) -> Option<Queue> {
        None
    }

    /// The buffers of `cores` cores that all can read, if they have such.
    fn shared_buffer(&self, _reference: &Clock, _cores: u32) -> Option<SharedBuffer> {
        None
    }

    /// Fewest picoseconds of any schedule, among at least two ranks that have something to say.
    fn bound_ps(&self, request: &Request) -> u64;

    /// Whether other traffic can go on beside messages.
    ///
    /// # Errors
    /// Why not.
    fn takes_background(&self) -> Result<(), NoBackground> {
        Ok(())
    }

    /// Keys that a file may leave out, and what holds then.
    fn defaults(&self) -> Vec<(&'static str, String)>;

    /// Numbers that follow from those of the file, with `cores` cores.
    fn derived(&self, _cores: u32) -> Vec<Derived> {
        Vec::new()
    }

    /// Keys that have no effect on messages.
    fn unused(&self, _of: Senders) -> Vec<Unused> {
        Vec::new()
    }

    /// Where something is that does not move along when the mesh changes its size.
    fn places(&self) -> Vec<Places> {
        Vec::new()
    }
}

/// What a kind is read from.
pub(crate) struct Source<'a> {
    /// The whole file.
    pub root: &'a Section<'a>,
    /// `[network]`.
    pub network: &'a Section<'a>,
    /// `[endpoint]`.
    pub endpoint: &'a Section<'a>,
    /// `[clocks]`.
    pub clocks: &'a [Clock],
    /// The value of `cores.max`.
    pub cores: u32,
}

impl Source<'_> {
    /// Refuses a number of cores that is not that of the mesh's places.
    pub fn fill(&self, mesh: &Mesh) -> Result<(), ChipError> {
        self.places(mesh.grid.ranks_max(), "as the network has places")
    }

    /// Refuses a number of cores that is not `places`, for this reason.
    pub fn places(&self, places: u32, why: &str) -> Result<(), ChipError> {
        if self.cores == places {
            return Ok(());
        }
        let accepted = format!("{places} cores, {why}");
        Err(self.root.table("cores")?.refuse("max", accepted))
    }
}

/// The share of each of `ranks` ranks in work that they can divide.
pub(crate) fn shared(work: u64, ranks: u32) -> u64 {
    work / u64::from(ranks)
}
