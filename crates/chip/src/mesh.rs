// SPDX-License-Identifier: MIT OR Apache-2.0
//! Meshes and tori of wormhole routers, as chip files describe them.
//!
//! ```text
//! [network]
//! kind = "mesh"            # or "torus"
//! order = "xy"             # or "yx"
//! clock = "mesh"
//! link_clock = "mesh"      # optional: a slower clock of the links
//! width, height, cores_per_router, flit,
//! vcs, buffer, routing, vc_allocation, switch, link, turn, credit, injection, ejection,
//! static_hop               # optional: a second network with static routes that can fork
//! placement = "rows"       # optional: which core every rank gets, see `placement.rs`
//! ```

use corecast_core::{DimensionOrder, Grid, Rank, Seats};

use crate::clock::Clock;
use crate::error::ChipError;
use crate::placement::Placement;
use crate::provenance::Ledger;
use crate::read::{Choices, Count, Section};

/// Most nodes along one dimension.
const SIDE: Count = Count {
    unit: "routers",
    min: 1,
    max: 4096,
};

const PER_NODE: Count = Count {
    unit: "cores",
    min: 1,
    max: 16,
};

const FLIT: Count = Count {
    unit: "bytes",
    min: 1,
    max: 65_536,
};

const VCS: Count = Count {
    unit: "channels",
    min: 1,
    max: 16,
};

const BUFFER: Count = Count {
    unit: "flits",
    min: 1,
    max: 4096,
};

/// Stages that may be free.
const STAGE: Count = Count {
    unit: "cycles",
    min: 0,
    max: 200,
};

/// Stages that take at least a cycle.
const FULL_STAGE: Count = Count { min: 1, ..STAGE };

const ORDERS: Choices<DimensionOrder> = &[("xy", DimensionOrder::Xy), ("yx", DimensionOrder::Yx)];

/// Buffers of all routers together, in flits; the simulator keeps 8 bytes for each.
const BUFFERS_MAX: u64 = 1 << 27;
/// Virtual channels of all ports of one router.
const ROUTER_VCS_MAX: u64 = 64;

/// A mesh or torus: its grid and its routers, all alike.
///
/// A head flit that is granted the switch of one router at cycle `t` can be granted that of the
/// next at `t + routing + vc_allocation + switch + link`, any other flit at `t + switch + link`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mesh {
    /// The clock of the routers.
    pub clock: Clock,
    /// Routers, their cores and the routing.
    pub grid: Grid,
    /// Payload of a flit in bytes.
    pub flit_bytes: u64,
    /// Virtual channels per input port.
    pub vcs: u32,
    /// Flits that each of them buffers.
    pub buffer_flits: u32,
    /// Cycles to compute a route.
    pub routing_cycles: u32,
    /// Cycles to allocate a virtual channel; 0 = together with the switch.
    pub vc_allocation_cycles: u32,
    /// Cycles to allocate and cross the switch.
    pub switch_cycles: u32,
    /// Cycles on a link.
    pub link_cycles: u32,
    /// Cycles between two flits on a link: periods of the link's clock, in router cycles.
    pub link_interval_cycles: u32,
    /// Cycles more for a head flit that turns.
    pub turn_cycles: u32,
    /// Cycles until a freed place can be used again.
    pub credit_cycles: u32,
    /// Cycles from a core to the first router.
    pub injection_cycles: u32,
    /// Cycles from the last router to its core.
    pub ejection_cycles: u32,
    /// Cycles per hop of the static network, if there is one that can be used: a second mesh of the
    /// same width whose routes are configured in advance and may fork. Its trees are those of ranks in
    /// order.
    pub static_hop_cycles: Option<u32>,
    /// Which core every rank gets.
    pub placement: Placement,
}

impl Mesh {
    /// Keys of `[network]` that a file may leave out, and what holds then.
    pub(crate) fn defaults(&self) -> Vec<(&'static str, String)> {
        vec![
            ("network.link_clock", self.clock.name.clone()),
            ("network.placement", "square".to_owned()),
            ("network.static_hop", "none".to_owned()),
        ]
    }

    /// Whether there is a static network that can be used: it carries a multicast on every link of
    /// its tree once. Without it every receiver has a message of its own.
    #[must_use]
    pub const fn carries_multicasts(&self) -> bool {
        self.static_hop_cycles.is_some()
    }

    /// The time in which a link or a port takes a flit.
    #[must_use]
    pub fn flit_ps(&self) -> u64 {
        self.clock.to_ps(u64::from(self.link_interval_cycles))
    }

    /// Cycles of a head flit that are no hop: into the first router, through the last, and out of it.
    pub(crate) fn port_cycles(&self) -> u64 {
        let stages = [
            self.injection_cycles,
            self.routing_cycles,
            self.vc_allocation_cycles,
            self.ejection_cycles,
        ];
        stages.into_iter().map(u64::from).sum()
    }

    /// Cycles from the injection of a flit at one core until another can have it, over `hops` hops.
    pub(crate) fn transit_cycles(&self, hops: u32) -> u64 {
        self.port_cycles()
            .saturating_add(self.hop_cycles().saturating_mul(u64::from(hops)))
    }

    /// Cycles in which `flits` flits come from cores on one side of a cut to cores on the other over
    /// `links` links: the first needs its route before it can cross; then each link takes one per
    /// interval; the last crosses its link and leaves the network.
    pub(crate) fn crossing_cycles(&self, flits: u64, links: u64) -> u64 {
        let before = [
            self.injection_cycles,
            self.routing_cycles,
            self.vc_allocation_cycles,
        ];
        let after = [self.switch_cycles, self.link_cycles, self.ejection_cycles];
        let ends: u64 = before.into_iter().chain(after).map(u64::from).sum();
        let turns = flits.div_ceil(links.max(1)).saturating_sub(1);
        turns
            .saturating_mul(u64::from(self.link_interval_cycles))
            .saturating_add(ends)
    }

    /// Cycles per hop of a head flit that waits for nobody.
    #[must_use]
    pub fn hop_cycles(&self) -> u64 {
        [
            self.routing_cycles,
            self.vc_allocation_cycles,
            self.switch_cycles,
            self.link_cycles,
        ]
        .into_iter()
        .map(u64::from)
        .sum()
    }

    /// Flits of a message of `bytes` bytes, without headers.
    #[must_use]
    pub fn flits(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes)
    }

    /// Where `ranks` ranks sit.
    ///
    /// Routes within a part of a torus are those of the whole: they go around through routers
    /// without ranks where that way is the shorter one ([`Grid::spare`]).
    #[must_use]
    pub fn place(&self, ranks: u32) -> Seats {
        let part = self.part(ranks);
        match &self.placement {
            Placement::Chosen(chosen) if !self.is_filled(&part, chosen.first(ranks)) => {
                Seats::on(self.grid, chosen.first(ranks).into())
            }
            _ => part.into(),
        }
    }

    /// The part of the grid that `ranks` ranks in order fill, as algorithms are told: all of it, or
    /// one at its south-west corner. Of ranks on other cores it is the one that they fill in rows.
    #[must_use]
    pub fn part(&self, ranks: u32) -> Grid {
        let is_square = match &self.placement {
            Placement::Square => true,
            Placement::Rows => false,
            Placement::Chosen(chosen) => {
                self.is_filled(&self.first(ranks, true), chosen.first(ranks))
            }
        };
        self.first(ranks, is_square)
    }

    /// Whether the first cores of a part are these.
    fn is_filled(&self, part: &Grid, cores: &[u32]) -> bool {
        (0..)
            .zip(cores)
            .all(|(rank, &core)| self.core_at(part, rank) == core)
    }

    /// The part of the grid that `ranks` ranks fill from the south-west corner on, as a square or in
    /// rows.
    fn first(&self, ranks: u32, is_square: bool) -> Grid {
        let whole = self.grid;
        let nodes = ranks.div_ceil(whole.per_node);
        if nodes > whole.nodes() - whole.width {
            return whole;
        }
        let square = Grid::most_square(nodes);
        let (width, height) = if !is_square {
            (nodes.min(whole.width), nodes.div_ceil(whole.width))
        } else if square.width <= whole.width && square.height <= whole.height {
            (square.width, square.height)
        } else if square.height <= whole.width && square.width <= whole.height {
            (square.height, square.width)
        } else {
            // Too narrow or too flat for a square.
            let height = nodes.div_ceil(whole.width).max(1);
            (nodes.div_ceil(height), height)
        };
        if (width, height) == (whole.width, whole.height) {
            return whole;
        }
        let spare = match whole.is_torus {
            true => (whole.width - width, whole.height - height),
            false => (0, 0),
        };
        Grid {
            width,
            height,
            spare,
            ..whole
        }
    }

    /// What users should know of where `ranks` ranks sit: that they leave part of a torus' rings
    /// empty, so that few messages or none go around.
    #[must_use]
    pub fn placement_note(&self, ranks: u32) -> Option<String> {
        let seats = self.place(ranks);
        let part = seats.grid();
        let (width, height) = part.around();
        let cut =
            |used: u32, all: u32, name| (used < all).then(|| format!("{used} of {all} {name}"));
        let cut: Vec<String> = [
            cut(part.width, width, "columns"),
            cut(part.height, height, "rows"),
        ]
        .into_iter()
        .flatten()
        .collect();
        // Of two equal ways messages go north or east.
        let goes_around = |used: u32, all: u32| used > 1 && 2 * (used - 1) >= all;
        let rings = [
            ("a row", part.width, width),
            ("a column", part.height, height),
        ];
        let rings = rings.iter().filter(|&&(_, used, all)| used < all);
        let (around, never): (Vec<_>, Vec<_>) =
            rings.partition(|&&(_, used, all)| goes_around(used, all));
        let names = |rings: &[&(&str, u32, u32)]| {
            let names: Vec<&str> = rings.iter().map(|&&(name, ..)| name).collect();
            names.join(" or ")
        };
        let mut routes = Vec::new();
        if !never.is_empty() {
            routes.push(format!("never go around {}, as on a mesh", names(&never)));
        }
        if !around.is_empty() {
            routes.push(format!(
                "go around {} only where that is the shorter way, past routers without ranks",
                names(&around)
            ));
        }
        (!cut.is_empty()).then(|| {
            let (cut, routes) = (cut.join(" and "), routes.join(" and "));
            format!("{ranks} ranks use {cut} of the torus: messages {routes}")
        })
    }

    /// The core of every one of `ranks` ranks.
    #[must_use]
    pub fn cores(&self, ranks: u32) -> Vec<u32> {
        let seats = self.place(ranks);
        let core = |rank| self.core_at(seats.grid(), seats.core_of(Rank(rank)));
        (0..ranks).map(core).collect()
    }

    /// The core of the whole grid that is at the same place as one of a part.
    fn core_at(&self, part: &Grid, core: u32) -> u32 {
        let (x, y) = part.position(core / part.per_node);
        self.grid.node_at(x, y) * part.per_node + core % part.per_node
    }

    /// Most ranks that have a core.
    pub(crate) fn ranks_max(&self) -> u32 {
        match &self.placement {
            Placement::Chosen(chosen) => chosen.usable,
            Placement::Square | Placement::Rows => u32::MAX,
        }
    }
}

/// Reads `[network]` of kind mesh or torus.
pub(crate) fn read(
    section: &Section<'_>,
    is_torus: bool,
    clocks: &[Clock],
    cores: u32,
    ledger: &mut Ledger,
) -> Result<Mesh, ChipError> {
    section.accept(&[
        "kind",
        "order",
        "clock",
        "link_clock",
        "width",
        "height",
        "cores_per_router",
        "flit",
        "vcs",
        "buffer",
        "routing",
        "vc_allocation",
        "switch",
        "link",
        "turn",
        "credit",
        "injection",
        "ejection",
        "static_hop",
        "placement",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let order = section.choice("order", ORDERS)?;
    let link_clock = match section.has("link_clock") {
        true => section.clock("link_clock", clocks)?,
        false => clock.clone(),
    };
    let interval = link_clock.period_ps / clock.period_ps;
    if link_clock.period_ps % clock.period_ps != 0 || interval > u64::from(u16::MAX) {
        let accepted = "a clock whose period is 1 to 65535 whole periods of the routers' clock";
        return Err(section.refuse("link_clock", accepted));
    }
    let mut count = |key, rule| section.count(key, rule, ledger).map(|value| value as u32);
    let grid = Grid {
        width: count("width", &SIDE)?,
        height: count("height", &SIDE)?,
        per_node: count("cores_per_router", &PER_NODE)?,
        is_torus,
        spare: (0, 0),
        order,
    };
    let placement = match section.optional_text("placement")? {
        None => Placement::Square,
        Some((text, _)) => Placement::read(text, &grid, cores).map_err(|error| {
            let accepted = format!("{}: {error}", Placement::FORMS);
            section.refuse("placement", accepted)
        })?,
    };
    let static_hop = match section.has("static_hop") {
        true => Some(count("static_hop", &FULL_STAGE)?),
        false => None,
    };
    let is_in_order = matches!(placement, Placement::Square | Placement::Rows);
    let mesh = Mesh {
        clock,
        grid,
        flit_bytes: u64::from(count("flit", &FLIT)?),
        vcs: count("vcs", &VCS)?,
        buffer_flits: count("buffer", &BUFFER)?,
        routing_cycles: count("routing", &STAGE)?,
        vc_allocation_cycles: count("vc_allocation", &STAGE)?,
        switch_cycles: count("switch", &FULL_STAGE)?,
        link_cycles: count("link", &STAGE)?,
        link_interval_cycles: interval as u32,
        turn_cycles: count("turn", &STAGE)?,
        credit_cycles: count("credit", &FULL_STAGE)?,
        injection_cycles: count("injection", &FULL_STAGE)?,
        ejection_cycles: count("ejection", &FULL_STAGE)?,
        static_hop_cycles: static_hop.filter(|_| is_in_order),
        placement,
    };
    check(section, &mesh)?;
    Ok(mesh)
}

/// Refuses what could deadlock or would not fit into memory.
fn check(section: &Section<'_>, mesh: &Mesh) -> Result<(), ChipError> {
    let ports = 4 + u64::from(mesh.grid.per_node);
    if ports * u64::from(mesh.vcs) > ROUTER_VCS_MAX {
        let accepted = "at most 64 channels over the four sides and the cores of a router";
        return Err(section.refuse("vcs", accepted));
    }
    if let Some(cycle) = mesh.grid.dependency_cycle(mesh.vcs >= 2) {
        return Err(ChipError::RoutingDeadlock {
            at: section.place("vcs"),
            cycle,
        });
    }
    // Rings of three routers and fewer have no such circle, but channels of their own for what goes around.
    if mesh.grid.is_torus && mesh.vcs < 2 {
        return Err(section.refuse("vcs", "2 to 16 virtual channels on a torus"));
    }
    let places =
        u64::from(mesh.grid.nodes()) * ports * u64::from(mesh.vcs) * u64::from(mesh.buffer_flits);
    if places > BUFFERS_MAX {
        let accepted = format!(
            "a size with which the routers together buffer at most {BUFFERS_MAX} flits, \
             not {places}"
        );
        return Err(section.refuse("buffer", accepted));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight_by_eight(per_node: u32) -> Mesh {
        Mesh {
            clock: Clock {
                name: "mesh".into(),
                period_ps: 1000,
            },
            grid: Grid {
                per_node,
                ..Grid::mesh(8, 6)
            },
            flit_bytes: 4,
            vcs: 1,
            buffer_flits: 4,
            routing_cycles: 0,
            vc_allocation_cycles: 0,
            switch_cycles: 1,
            link_cycles: 0,
            link_interval_cycles: 1,
            turn_cycles: 0,
            credit_cycles: 1,
            injection_cycles: 1,
            ejection_cycles: 1,
            static_hop_cycles: None,
            placement: Placement::Square,
        }
    }

    #[test]
    fn every_rank_has_a_core_of_its_own() {
        for per_node in 1..=3 {
            let mesh = eight_by_eight(per_node);
            for ranks in 1..=mesh.grid.ranks_max() {
                let part = mesh.part(ranks);
                assert!(part.ranks_max() >= ranks);
                assert!(part.width <= 8 && part.height <= 6, "{ranks}: {part:?}");
                let mut cores = mesh.cores(ranks);
                cores.sort_unstable();
                cores.dedup();
                assert_eq!(cores.len() as u32, ranks);
                assert!(cores.iter().all(|&core| core < mesh.grid.ranks_max()));
            }
        }
    }

    #[test]
    fn in_rows_a_rank_is_its_core() {
        let mut mesh = eight_by_eight(2);
        mesh.placement = Placement::Rows;
        for ranks in 1..=mesh.grid.ranks_max() {
            assert!(mesh.cores(ranks).into_iter().eq(0..ranks), "{ranks}");
        }
    }

    #[test]
    fn a_part_of_a_torus_keeps_the_rings_and_says_what_is_left_of_them() {
        let mut mesh = eight_by_eight(1);
        mesh.grid.is_torus = true;
        let spare = |ranks| mesh.part(ranks).spare;
        assert_eq!((spare(48), mesh.placement_note(48)), ((0, 0), None));
        // 8 x 5: rows are whole, columns lack a row.
        assert_eq!(spare(40), (0, 1));
        let note = mesh.placement_note(40).expect("a row is empty");
        assert_eq!(
            note,
            "40 ranks use 5 of 6 rows of the torus: messages go around a column only where that is \
             the shorter way, past routers without ranks"
        );
        assert_eq!(spare(9), (5, 3));
        let note = mesh.placement_note(4).expect("most of it is empty");
        let expected = "4 ranks use 2 of 8 columns and 2 of 6 rows of the torus: messages never go \
                        around a row or a column, as on a mesh";
        assert_eq!(note, expected);
        mesh.grid.is_torus = false;
        assert_eq!((mesh.part(9).spare, mesh.placement_note(9)), ((0, 0), None));
    }

    #[test]
    fn squares_stay_squares() {
        let mesh = eight_by_eight(1);
        let shape = |ranks| (mesh.part(ranks).width, mesh.part(ranks).height);
        assert_eq!(shape(9), (3, 3));
        assert_eq!(shape(36), (6, 6));
        assert_eq!(shape(13), (4, 4));
        assert_eq!(shape(48), (8, 6));
        assert_eq!(shape(41), (8, 6), "the last row is begun");
    }
}
