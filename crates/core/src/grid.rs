// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where ranks sit on a 2D mesh or torus, and which links a message between them uses.
//!
//! x grows east, y grows north; a hop is one link from node to node, so injection and ejection are
//! no hops. Dimension-order routing: one dimension first, then the other, so a route is fixed by
//! its ends.
//!
//! ```
//! use corecast_core::{Grid, Rank};
//! let grid = Grid::mesh(4, 3);
//! assert_eq!(grid.position(grid.node_of(Rank(6))), (2, 1));
//! assert_eq!(grid.hops(Rank(0), Rank(6)), 3);
//! assert_eq!(Grid::most_square(12), Grid::mesh(4, 3));
//! ```

use std::fmt;
use std::hint::select_unpredictable;

use crate::ids::Rank;
use crate::route_tree::RouteTree;
use crate::routes::{LinkId, Routes};

mod tree;

/// The dimension in which a packet travels first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DimensionOrder {
    /// East or west first, then north or south.
    Xy,
    /// North or south first, then east or west.
    Yx,
}

/// A direction in which a node has a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Side {
    /// Towards growing x.
    East = 0,
    /// Towards falling x.
    West = 1,
    /// Towards growing y.
    North = 2,
    /// Towards falling y.
    South = 3,
}

impl Side {
    /// Every side, in order of its number.
    pub const ALL: [Self; 4] = [Self::East, Self::West, Self::North, Self::South];

    /// The side of the neighbour that faces this one.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::East => Self::West,
            Self::West => Self::East,
            Self::North => Self::South,
            Self::South => Self::North,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::East => "east",
            Self::West => "west",
            Self::North => "north",
            Self::South => "south",
        })
    }
}

/// A `width` x `height` mesh or torus of nodes with `per_node` ranks each, or a part of a torus.
///
/// Rank `r` sits at node `r / per_node`; node `n` at `x = n % width`, `y = n / width`. There may be
/// fewer ranks than places; the last ones then stay empty.
///
/// Of a torus that is larger than the ranks need, the columns and rows that they leave over are
/// [`Grid::spare`]: routers without ranks, through which routes go where that way is the shorter
/// one. These routers are numbered from [`Grid::nodes`] on. A part of a mesh has none: its routes
/// never leave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Grid {
    /// Nodes from west to east, at least 1.
    pub width: u32,
    /// Nodes from south to north, at least 1.
    pub height: u32,
    /// Ranks at every node, each with an injection and an ejection port of its own; at least 1.
    pub per_node: u32,
    /// Whether opposite edges are linked.
    pub is_torus: bool,
    /// Of a torus: columns east of these nodes and rows north of them, whose routers have no ranks.
    pub spare: (u32, u32),
    /// The routing.
    pub order: DimensionOrder,
}

/// Where a packet goes next from a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The link's side.
    pub side: Side,
    /// On a torus: whether the link is the wrap-around of its dimension or lies beyond it. Such
    /// packets use virtual channels of their own, or the ring could deadlock (Dally and Seitz
    /// 1987).
    pub is_wrapped: bool,
}

impl Grid {
    /// A mesh with one rank per node and XY routing.
    #[must_use]
    pub const fn mesh(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            per_node: 1,
            is_torus: false,
            spare: (0, 0),
            order: DimensionOrder::Xy,
        }
    }

    /// The mesh that `ranks` ranks fill with the smallest half perimeter: a full rectangle if one
    /// is at most twice as wide as high, otherwise one whose last row is not full.
    #[must_use]
    pub fn most_square(ranks: u32) -> Self {
        let ranks = ranks.max(1);
        let side = (1..)
            .find(|side| side * side >= ranks)
            .expect("squares grow"); // <= 2^16
        let divides = |height: &u32| height * height <= ranks && ranks.is_multiple_of(*height);
        let exact = (1..=side).rev().find(divides);
        match exact {
            Some(height) if ranks / height <= 2 * height => Self::mesh(ranks / height, height),
            _ => Self::mesh(side, ranks.div_ceil(side)),
        }
    }

    /// Number of nodes: routers that can have ranks.
    #[must_use]
    pub const fn nodes(&self) -> u32 {
        self.width * self.height
    }

    /// Routers from west to east and from south to north, those without ranks included: how long
    /// the rings of a torus are.
    #[must_use]
    pub const fn around(&self) -> (u32, u32) {
        (self.width + self.spare.0, self.height + self.spare.1)
    }

    /// Number of routers, those without ranks included.
    #[must_use]
    pub const fn routers(&self) -> u32 {
        let (width, height) = self.around();
        width * height
    }

    /// Most ranks.
    #[must_use]
    pub const fn ranks_max(&self) -> u32 {
        self.nodes() * self.per_node
    }

    /// The node of a rank.
    #[must_use]
    pub const fn node_of(&self, rank: Rank) -> u32 {
        rank.0 / self.per_node
    }

    /// Coordinates (x, y) of a node, or of a router without ranks.
    #[must_use]
    pub const fn position(&self, node: u32) -> (u32, u32) {
        let nodes = self.nodes();
        if node < nodes {
            return (node % self.width, node / self.width);
        }
        // East of the nodes row by row, then north of them.
        let (index, east) = (node - nodes, self.spare.0 * self.height);
        if index < east {
            (self.width + index % self.spare.0, index / self.spare.0)
        } else {
            let (around, _) = self.around();
            let north = index - east;
            (north % around, self.height + north / around)
        }
    }

    /// The node at (x, y), or the router without ranks.
    #[must_use]
    pub const fn node_at(&self, x: u32, y: u32) -> u32 {
        if y >= self.height {
            let (around, _) = self.around();
            self.nodes() + self.spare.0 * self.height + (y - self.height) * around + x
        } else if x >= self.width {
            self.nodes() + y * self.spare.0 + (x - self.width)
        } else {
            y * self.width + x
        }
    }

    /// A rank in the middle of those that are there: of all ranks the lowest one whose farthest
    /// corner is nearest.
    #[must_use]
    pub fn middle(&self, ranks: u32) -> Rank {
        let (x, y) = ((self.width - 1) / 2, (self.height - 1) / 2);
        let middle = self.node_at(x, y) * self.per_node;
        // With very few ranks in the last row the middle row may not be full.
        Rank(middle.min(ranks.saturating_sub(1)))
    }

    /// The router beside `node`, if the mesh does not end there; beside the last nodes of a part of
    /// a torus one without ranks.
    #[must_use]
    pub fn neighbour(&self, node: u32, side: Side) -> Option<u32> {
        let (x, y) = self.position(node);
        let step = |at: u32, len: u32, is_up: bool| match is_up {
            true if at + 1 < len => Some(at + 1),
            false if at > 0 => Some(at - 1),
            _ if self.is_torus && len > 1 => Some(if is_up { 0 } else { len - 1 }),
            _ => None,
        };
        let (width, height) = self.around();
        let (x, y) = match side {
            Side::East => (step(x, width, true)?, y),
            Side::West => (step(x, width, false)?, y),
            Side::North => (x, step(y, height, true)?),
            Side::South => (x, step(y, height, false)?),
        };
        Some(self.node_at(x, y))
    }

    /// The next hop of a packet from `src` to `dst` that is at `at`, all given as coordinates;
    /// `None` if it has arrived. On a torus the shorter way is taken, of two equal ones that to
    /// the east or north.
    #[must_use]
    #[inline]
    pub fn next_hop(&self, src: (u32, u32), dst: (u32, u32), at: (u32, u32)) -> Option<Hop> {
        if !self.is_torus {
            let side = self.next_side(dst, at, Side::ALL.len() as u32);
            return Side::ALL.get(side as usize).map(|&side| Hop {
                side,
                is_wrapped: false,
            });
        }
        let (width, height) = self.around();
        let x = || Self::along(src.0, dst.0, at.0, width, (Side::East, Side::West));
        let y = || Self::along(src.1, dst.1, at.1, height, (Side::North, Side::South));
        match self.order {
            DimensionOrder::Xy => x().or_else(y),
            DimensionOrder::Yx => y().or_else(x),
        }
    }

    /// On a mesh, the number of the side on which a packet to `dst` leaves the router at `at`, or
    /// `arrived` if it is there: without a branch, because a simulator asks for every packet at every
    /// router, and the processor cannot foresee the answers.
    #[must_use]
    #[inline]
    pub fn next_side(&self, dst: (u32, u32), at: (u32, u32), arrived: u32) -> u32 {
        debug_assert!(!self.is_torus, "the way around a ring needs the source");
        let x = (dst.0 != at.0, Side::East as u32 + u32::from(dst.0 < at.0));
        let y = (dst.1 != at.1, Side::North as u32 + u32::from(dst.1 < at.1));
        let (first, second) = match self.order {
            DimensionOrder::Xy => (x, y),
            DimensionOrder::Yx => (y, x),
        };
        let after = select_unpredictable(second.0, second.1, arrived);
        select_unpredictable(first.0, first.1, after)
    }

    /// The hop along one dimension of a torus, if there is one.
    #[inline]
    fn along(src: u32, dst: u32, at: u32, len: u32, sides: (Side, Side)) -> Option<Hop> {
        if at == dst {
            return None;
        }
        let (is_up, is_wrapped) = Self::around_ring(src, dst, at, len);
        Some(Hop {
            side: if is_up { sides.0 } else { sides.1 },
            is_wrapped,
        })
    }

    /// Whether a packet that entered a ring of `len` nodes at `src`, and is at `at`, goes up to `dst`,
    /// and whether it has passed or now passes the ring's end.
    fn around_ring(src: u32, dst: u32, at: u32, len: u32) -> (bool, bool) {
        let up = if dst >= src {
            dst - src
        } else {
            dst + len - src
        };
        let is_up = 2 * up <= len;
        let is_beyond = if is_up {
            at < src || at + 1 == len
        } else {
            at > src || at == 0
        };
        (is_up, is_beyond)
    }

    /// Links between the nodes of two ranks.
    #[must_use]
    pub fn hops(&self, from: Rank, to: Rank) -> u32 {
        let (from, to) = (self.node_of(from), self.node_of(to));
        self.distance(self.position(from), self.position(to))
    }

    /// Links between the nodes at two coordinates (x, y).
    #[must_use]
    pub fn distance(&self, (x, y): (u32, u32), (to_x, to_y): (u32, u32)) -> u32 {
        let distance = |a: u32, b: u32, len: u32| {
            let direct = a.abs_diff(b);
            if self.is_torus {
                direct.min(len - direct)
            } else {
                direct
            }
        };
        let (width, height) = self.around();
        distance(x, to_x, width) + distance(y, to_y, height)
    }

    /// Calls `visit` for every node and side on the route from one node to another.
    pub fn visit_route(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, Hop)) {
        let (src, dst) = (self.position(from), self.position(to));
        let mut node = from;
        while let Some(hop) = self.next_hop(src, dst, self.position(node)) {
            visit(node, hop);
            let next = self.neighbour(node, hop.side);
            node = next.expect("a route stays on the grid");
        }
    }

    /// Links numbered per node: four sides, then an injection port per rank, then an ejection port
    /// per rank.
    const fn links_per_node(&self) -> u32 {
        4 + 2 * self.per_node
    }

    /// The link that leaves `node` on `side`.
    #[must_use]
    pub const fn link(&self, node: u32, side: Side) -> LinkId {
        LinkId(node * self.links_per_node() + side as u32)
    }

    /// The port through which `rank` puts messages into the network.
    #[must_use]
    pub const fn injection(&self, rank: Rank) -> LinkId {
        LinkId(self.node_of(rank) * self.links_per_node() + 4 + rank.0 % self.per_node)
    }

    /// The port through which `rank` takes messages from the network.
    #[must_use]
    pub const fn ejection(&self, rank: Rank) -> LinkId {
        LinkId(self.injection(rank).0 + self.per_node)
    }

    /// The link in words: `(3,2)->(4,2)`, `injection of rank 5` or `ejection of rank 5`.
    #[must_use]
    pub fn describe(&self, link: LinkId) -> String {
        self.describe_at(link, |core| format!("rank {core}"))
    }

    /// As [`Grid::describe`]; `who` is at a core.
    pub(crate) fn describe_at(&self, link: LinkId, who: impl Fn(u32) -> String) -> String {
        let (node, port) = (
            link.0 / self.links_per_node(),
            link.0 % self.links_per_node(),
        );
        let who = |local: u32| who(node * self.per_node + local);
        match port.checked_sub(4) {
            None => {
                let (x, y) = self.position(node);
                match self.neighbour(node, Side::ALL[port as usize]) {
                    Some(next) => {
                        let (to_x, to_y) = self.position(next);
                        format!("({x},{y})->({to_x},{to_y})")
                    }
                    None => format!("({x},{y})->edge"),
                }
            }
            Some(local) if local < self.per_node => format!("injection of {}", who(local)),
            Some(local) => format!("ejection of {}", who(local - self.per_node)),
        }
    }

    /// A cycle of channels that packets could wait for in a circle, or `None` if there is none, so
    /// that routing cannot deadlock (Dally and Seitz 1987: acyclic channel dependency graph).
    ///
    /// `has_wrap_channels`: whether packets beyond a wrap-around use virtual channels of their
    /// own. A packet goes from the first dimension to the second and never back, so a cycle can
    /// only lie inside a ring or line, and those of one dimension are alike: two are looked at.
    #[must_use]
    pub fn dependency_cycle(&self, has_wrap_channels: bool) -> Option<Vec<String>> {
        let (width, height) = self.around();
        let line = |width, height| Self {
            width,
            height,
            spare: (0, 0),
            ..*self
        };
        let (along_x, along_y) = (line(width, 1), line(1, height));
        [along_x, along_y]
            .iter()
            .find_map(|line| line.cycle_in_line(has_wrap_channels))
    }

    /// A cycle among the channels of a grid of one row or one column.
    fn cycle_in_line(&self, has_wrap_channels: bool) -> Option<Vec<String>> {
        let nodes = self.nodes();
        // Channel: node, side, whether it is one of the wrapped; a route uses one after the other.
        let channel = |node: u32, hop: Hop| {
            let upper = u32::from(hop.is_wrapped && has_wrap_channels);
            ((node * 4 + hop.side as u32) * 2 + upper) as usize
        };
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes as usize * 8];
        for from in 0..nodes {
            // A route to a nearer node is the beginning of one to a farther node, so the farthest
            // ones in both directions show every dependency.
            let farthest = if self.is_torus {
                [
                    (from + nodes / 2) % nodes,
                    (from + nodes - (nodes - 1) / 2) % nodes,
                ]
            } else {
                [0, nodes - 1]
            };
            for to in farthest {
                let mut before = None;
                self.visit_route(from, to, &mut |node, hop| {
                    let used = channel(node, hop);
                    if let Some(before) = before.replace(used) {
                        let list: &mut Vec<usize> = &mut next[before];
                        if !list.contains(&used) {
                            list.push(used);
                        }
                    }
                });
            }
        }
        let name = |used: usize| {
            let (node, side) = (used as u32 / 8, Side::ALL[used / 2 % 4]);
            self.describe(self.link(node, side))
        };
        // In a line every channel has few successors; a walk that comes back closes a cycle.
        let mut state = vec![0_u8; next.len()]; // 0 new, 1 on the walk, 2 done
        for start in 0..next.len() {
            let mut walk = vec![(start, 0)];
            while let Some((at, tried)) = walk.last_mut() {
                if *tried == 0 && state[*at] == 2 {
                    walk.pop();
                    continue;
                }
                state[*at] = 1;
                let Some(&successor) = next[*at].get(*tried) else {
                    state[*at] = 2;
                    walk.pop();
                    continue;
                };
                *tried += 1;
                match state[successor] {
                    0 => walk.push((successor, 0)),
                    1 => {
                        let from = walk.iter().position(|&(at, _)| at == successor)?;
                        return Some(walk[from..].iter().map(|&(at, _)| name(at)).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

impl Routes for Grid {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        visit(self.injection(from));
        let (src, dst) = (self.node_of(from), self.node_of(to));
        self.visit_route(src, dst, &mut |node, hop| visit(self.link(node, hop.side)));
        visit(self.ejection(to));
    }

    fn carries_multicasts(&self) -> bool {
        true
    }

    /// Every link of the tree carries the message once.
    fn visit_tree(&self, tree: &RouteTree, visit: &mut dyn FnMut(LinkId)) {
        visit(self.injection(tree.root()));
        for (parent, rank) in tree.edges() {
            let (from, to) = (self.node_of(parent), self.node_of(rank));
            self.visit_route(from, to, &mut |node, hop| visit(self.link(node, hop.side)));
            visit(self.ejection(rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(grid: &Grid, from: u32, to: u32) -> Vec<String> {
        let mut names = Vec::new();
        grid.visit_links(Rank(from), Rank(to), &mut |link| {
            names.push(grid.describe(link))
        });
        names
    }

    #[test]
    fn every_hop_on_a_mesh_brings_a_packet_nearer_in_the_first_dimension_that_is_left() {
        for order in [DimensionOrder::Xy, DimensionOrder::Yx] {
            let grid = Grid {
                order,
                ..Grid::mesh(4, 3)
            };
            for (src, dst) in (0..12).flat_map(|src| (0..12).map(move |dst| (src, dst))) {
                let (at, to) = (grid.position(src), grid.position(dst));
                let Some(hop) = grid.next_hop(at, to, at) else {
                    assert_eq!(src, dst);
                    continue;
                };
                let next = grid
                    .neighbour(src, hop.side)
                    .expect("no way out of the mesh");
                let next = grid.position(next);
                assert_eq!(grid.distance(next, to) + 1, grid.distance(at, to));
                let is_in_x = matches!(hop.side, Side::East | Side::West);
                let is_x_first = match order {
                    DimensionOrder::Xy => at.0 != to.0,
                    DimensionOrder::Yx => at.1 == to.1,
                };
                assert_eq!(is_in_x, is_x_first, "{order:?} {src} {dst}");
            }
        }
    }

    #[test]
    fn routes_go_through_one_dimension_first() {
        let xy = Grid::mesh(3, 3);
        let expected = [
            "injection of rank 3",
            "(0,1)->(1,1)",
            "(1,1)->(2,1)",
            "(2,1)->(2,2)",
            "ejection of rank 8",
        ];
        assert_eq!(route(&xy, 3, 8), expected);
        let yx = Grid {
            order: DimensionOrder::Yx,
            ..xy
        };
        assert_eq!(route(&yx, 3, 8)[1], "(0,1)->(0,2)");
    }

    #[test]
    fn tori_take_the_shorter_way() {
        let grid = Grid {
            is_torus: true,
            ..Grid::mesh(5, 4)
        };
        assert_eq!(route(&grid, 0, 4)[1], "(0,0)->(4,0)");
        assert_eq!(
            route(&grid, 0, 10)[1],
            "(0,0)->(0,1)",
            "of equal ways, north"
        );
        for from in 0..20 {
            for to in 0..20 {
                let hops = grid.hops(Rank(from), Rank(to)) as usize;
                assert_eq!(route(&grid, from, to).len(), hops + 2);
            }
        }
    }

    /// Whatever the part, its routes are those between the same places of the whole torus.
    #[test]
    fn routes_of_a_part_are_those_of_the_whole_torus() {
        for order in [DimensionOrder::Xy, DimensionOrder::Yx] {
            let whole = Grid {
                is_torus: true,
                order,
                ..Grid::mesh(5, 4)
            };
            for (width, height) in (1..=5).flat_map(|w| (1..=4).map(move |h| (w, h))) {
                let part = Grid {
                    width,
                    height,
                    spare: (5 - width, 4 - height),
                    ..whole
                };
                assert_eq!(part.routers(), 20);
                for router in 0..20 {
                    let (x, y) = part.position(router);
                    assert_eq!(part.node_at(x, y), router);
                    assert!(x < 5 && y < 4);
                }
                for (from, to) in pairs(part.nodes()) {
                    let place = |rank| part.position(part.node_of(Rank(rank)));
                    let at = |(x, y)| whole.node_at(x, y);
                    let of_whole = route(&whole, at(place(from)), at(place(to)));
                    let of_part = route(&part, from, to);
                    let links = 1..of_part.len() - 1; // the ports' names have the ranks in them
                    assert_eq!(of_part[links.clone()], of_whole[links]);
                    assert_eq!(part.hops(Rank(from), Rank(to)) as usize + 2, of_part.len());
                }
            }
        }
    }

    fn pairs(nodes: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to)))
    }

    #[test]
    fn a_part_of_a_torus_goes_around_where_that_is_shorter() {
        let part = Grid {
            is_torus: true,
            spare: (1, 0),
            ..Grid::mesh(4, 1)
        };
        // Three hops to the east, two to the west through the router without a rank.
        assert_eq!(
            route(&part, 0, 3)[1..3],
            ["(0,0)->(4,0)", "(4,0)->(3,0)"],
            "five routers around"
        );
        assert_eq!(part.hops(Rank(0), Rank(3)), 2);
    }

    #[test]
    fn several_ranks_share_a_node_but_no_port() {
        let grid = Grid {
            per_node: 2,
            ..Grid::mesh(2, 1)
        };
        assert_eq!(
            route(&grid, 0, 1),
            ["injection of rank 0", "ejection of rank 1"]
        );
        assert_eq!(route(&grid, 1, 2)[1], "(0,0)->(1,0)");
    }

    #[test]
    fn shapes_are_close_to_square() {
        let shape = |ranks| {
            let grid = Grid::most_square(ranks);
            assert!(grid.ranks_max() >= ranks, "{ranks}");
            (grid.width, grid.height)
        };
        assert_eq!(shape(1), (1, 1));
        assert_eq!(shape(2), (2, 1));
        assert_eq!(shape(7), (3, 3));
        assert_eq!(shape(9), (3, 3));
        assert_eq!(shape(13), (4, 4));
        assert_eq!(shape(48), (8, 6));
        assert_eq!(shape(1 << 20), (1024, 1024));
        for ranks in 1..300 {
            shape(ranks);
        }
    }

    #[test]
    fn only_rings_without_channels_of_their_own_have_a_cycle() {
        for (width, height) in [(1, 1), (1, 5), (2, 2), (3, 4), (6, 5), (64, 3)] {
            for order in [DimensionOrder::Xy, DimensionOrder::Yx] {
                let mesh = Grid {
                    order,
                    ..Grid::mesh(width, height)
                };
                assert_eq!(mesh.dependency_cycle(false), None);
                let torus = Grid {
                    is_torus: true,
                    ..mesh
                };
                assert_eq!(torus.dependency_cycle(true), None, "{width} x {height}");
                let is_cyclic = width > 3 || height > 3;
                let cycle = torus.dependency_cycle(false);
                assert_eq!(cycle.is_some(), is_cyclic, "{width} x {height}: {cycle:?}");
            }
        }
    }
}
