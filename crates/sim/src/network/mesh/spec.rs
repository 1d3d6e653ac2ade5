// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a mesh is made of: its shape, its routing and its routers, in cycles of one clock.

use corecast_core::{Grid, Help};

/// Shape, routing and routers of a 2D mesh or torus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeshSpec {
    /// Routers and their cores: core `c` is where rank `c` would sit. A torus needs two virtual
    /// channels or more: a packet that has crossed the wrap-around link of a dimension continues
    /// in the upper half of them.
    pub grid: Grid,
    /// The routers, all alike.
    pub router: RouterSpec,
    /// What becomes of flits that have reached their core.
    pub ejection: Ejection,
}

/// What becomes of flits that have reached their core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ejection {
    /// The core takes every flit at once.
    Sink,
    /// Flits stay in finite queues until the core takes them; a full one stops the packet in the
    /// mesh, and so everything behind it. A queue takes one packet after the other: its tail must
    /// be in before the next head, even if that has come over another virtual channel.
    Queues {
        /// Queues per core; a packet names the one it goes to.
        count: u32,
        /// Flits that each of them holds.
        flits: u32,
    },
}

/// Which virtual channels a packet may have, on every link of its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VcChoice {
    /// Any that is free. Channels are used best, and packets from one core to another can overtake
    /// each other.
    Any,
    /// The one of the queue to which it goes: the sum of its receiver's coordinates, port and queue,
    /// modulo the number of channels (on a torus, of those of the half that it must use). All that
    /// goes to one queue keeps its order, as interfaces need that put messages together without
    /// sequence numbers; a packet waits for its channel though others are free, and behind packets
    /// for other receivers of the same channel. The receiver decides, because packets for one
    /// receiver are in each other's way in any case: destination-based buffer management with
    /// modulo mapping (Nachiondo, Flich, Duato and Gusat, Euro-Par 2005, DOI 10.1007/11549468_112).
    /// They map the receiver's number, which would give all packets in a column of a mesh the same
    /// channel.
    Receiver,
}

/// An input-buffered wormhole router with virtual channels and credits.
///
/// A head flit granted the switch of one router at cycle `t` can be granted that of the next at
/// `t + routing + vc_allocation + switch + link`, any other flit at `t + switch + link`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouterSpec {
    /// Virtual channels per input port.
    pub vcs: u32,
    /// Which of them a packet may have.
    pub vc_choice: VcChoice,
    /// Flits that each of them buffers.
    pub buffer_flits: u32,
    /// Cycles to compute the route of a head flit.
    pub routing: u32,
    /// Cycles of a head flit from the allocation of an output's virtual channel to that of the
    /// switch; 0 = both in one cycle (a speculative router).
    pub vc_allocation: u32,
    /// Cycles of switch allocation and traversal, at least 1.
    pub switch: u32,
    /// Cycles on the link to the next router.
    pub link: u32,
    /// Cycles between two flits on one link: 1, or more where the link's clock is slower.
    pub link_interval: u32,
    /// Cycles that a head flit waits more where it turns from one dimension to the other.
    pub turn: u32,
    /// Cycles from the grant that frees a buffer's place until the router upstream can use it.
    pub credit: u32,
    /// Cycles from the injection by the core until the first router can serve the flit.
    pub injection: u32,
    /// Cycles from the last router's grant until the core has the flit.
    pub ejection: u32,
}

impl RouterSpec {
    /// The input-queued router of BookSim2 (Jiang et al. 2013) with its usual delays: routing, VC
    /// allocation, switch allocation, switch traversal and link take a cycle each.
    #[must_use]
    pub const fn booksim(vcs: u32, buffer_flits: u32) -> Self {
        Self {
            vcs,
            vc_choice: VcChoice::Any,
            buffer_flits,
            routing: 1,
            vc_allocation: 1,
            switch: 2,
            link: 1,
            link_interval: 1,
            turn: 0,
            credit: 2,
            injection: 2,
            ejection: 3,
        }
    }

    /// Cycles per hop of a head flit that waits for nobody.
    #[must_use]
    pub const fn hop_cycles(&self) -> u32 {
        self.routing + self.vc_allocation + self.switch + self.link
    }
}

/// Why a mesh cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name} = {value} is out of range")]
pub struct MeshError {
    /// The number that is wrong.
    pub name: &'static str,
    /// What it is.
    pub value: u64,
    /// What it may be.
    pub accepted: &'static str,
}

/// Most flits that all buffers together may hold: 8 bytes each.
const BUFFERS_MAX: u64 = 1 << 27;
/// Most virtual channels of all inputs of a router: a machine word names each by a bit.
const ROUTER_VCS_MAX: u32 = 64;
const CYCLES_MAX: u32 = 200;

impl MeshSpec {
    /// Number of routers.
    #[must_use]
    pub const fn routers(&self) -> u32 {
        self.grid.nodes()
    }

    /// Number of cores.
    #[must_use]
    pub const fn cores(&self) -> u32 {
        self.grid.ranks_max()
    }

    /// Refuses what cannot be built or could deadlock.
    ///
    /// # Errors
    /// The first number out of range.
    pub fn check(&self) -> Result<(), MeshError> {
        let router = &self.router;
        let ports = 4 + u64::from(self.grid.per_node);
        let range = |name, value: u32, min: u32, max: u32, accepted| {
            let value_is_fine = (min..=max).contains(&value);
            let value = u64::from(value);
            if value_is_fine {
                Ok(())
            } else {
                Err(MeshError {
                    name,
                    value,
                    accepted,
                })
            }
        };
        range("width", self.grid.width, 1, 4096, "1 to 4096 routers")?;
        range("height", self.grid.height, 1, 4096, "1 to 4096 routers")?;
        range(
            "cores per router",
            self.grid.per_node,
            1,
            16,
            "1 to 16 cores",
        )?;
        range("vcs", router.vcs, 1, 16, "1 to 16 virtual channels")?;
        let vcs = router.vcs * ports as u32;
        range(
            "vcs of a router",
            vcs,
            1,
            ROUTER_VCS_MAX,
            "at most 64 over all ports together",
        )?;
        if self.grid.is_torus {
            let accepted = "at least 2 on a torus, or its rings deadlock";
            range("vcs", router.vcs, 2, 16, accepted)?;
        }
        range("buffer", router.buffer_flits, 1, 4096, "1 to 4096 flits")?;
        let cycles = [
            ("routing", router.routing, 0),
            ("vc allocation", router.vc_allocation, 0),
            ("switch", router.switch, 1),
            ("link", router.link, 0),
            ("link interval", router.link_interval, 1),
            ("turn", router.turn, 0),
            ("credit", router.credit, 1),
            ("injection", router.injection, 1),
            ("ejection", router.ejection, 1),
        ];
        for (name, value, min) in cycles {
            let accepted = if min == 0 {
                "0 to 200 cycles"
            } else {
                "1 to 200 cycles"
            };
            range(name, value, min, CYCLES_MAX, accepted)?;
        }
        if let Ejection::Queues { count, flits } = self.ejection {
            range("queues", count, 1, 16, "1 to 16 per core")?;
            range("queue depth", flits, 1, 4096, "1 to 4096 flits")?;
        }
        let places = u64::from(self.routers())
            * ports
            * u64::from(router.vcs)
            * u64::from(router.buffer_flits);
        if places > BUFFERS_MAX {
            let accepted = "at most 134217728 flits (1 GiB) over all routers";
            return Err(MeshError {
                name: "buffers",
                value: places,
                accepted,
            });
        }
        Ok(())
    }
}

/// Number of sides of a router, and so the port of its first core.
pub(super) const SIDES: u32 = 4;

impl Help for MeshError {
    fn help(&self) -> String {
        let Self { accepted, .. } = self;
        format!("it must be {accepted}")
    }
}
