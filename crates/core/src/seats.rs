// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which core of a grid every rank has.
//!
//! A [`Grid`] numbers its cores, and ranks mostly sit in that order. Where they do not, everything
//! that depends on places asks the seats: routes, bounds, distances.
//!
//! ```
//! use corecast_core::{Grid, Rank, Seats};
//! let row = Grid::mesh(4, 1);
//! assert_eq!(Seats::from(row).hops(Rank(0), Rank(1)), 1);
//! let far = Seats::on(row, vec![0, 3].into());
//! assert_eq!(far.hops(Rank(0), Rank(1)), 3);
//! assert_eq!(far.rank_at(3), Some(Rank(1)));
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::grid::Grid;
use crate::ids::Rank;
use crate::routes::{LinkId, Routes};

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seats {
    grid: Grid,
    /// None if ranks sit in the order of the cores.
    chosen: Option<Arc<Chosen>>,
}

/// The cores of ranks, and the ranks of cores.
#[derive(PartialEq, Eq, Debug)]
struct Chosen {
    cores: Arc<[u32]>,
    ranks: BTreeMap<u32, Rank>,
}

/// Ranks in the order of the cores.
impl From<Grid> for Seats {
    fn from(grid: Grid) -> Self {
        Self { grid, chosen: None }
    }
}

impl Seats {
    /// Rank `r` on core `cores[r]` of the grid.
    ///
    /// # Panics
    /// If the grid has no such core, or two ranks the same one.
    #[must_use]
    pub fn on(grid: Grid, cores: Arc<[u32]>) -> Self {
        let all = grid.ranks_max();
        assert!(cores.iter().all(|&core| core < all), "no such core");
        if (0..).zip(&*cores).all(|(rank, &core)| rank == core) {
            return grid.into();
        }
        let ranks: BTreeMap<u32, Rank> = cores.iter().copied().zip((0..).map(Rank)).collect();
        assert_eq!(ranks.len(), cores.len(), "two ranks on a core");
        let chosen = Some(Arc::new(Chosen { cores, ranks }));
        Self { grid, chosen }
    }

    /// The grid.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether rank and core have the same number.
    #[must_use]
    pub const fn are_in_order(&self) -> bool {
        self.chosen.is_none()
    }

    /// The core of a rank.
    #[must_use]
    pub fn core_of(&self, rank: Rank) -> u32 {
        match &self.chosen {
            Some(chosen) => chosen.cores[rank.index()],
            None => rank.0,
        }
    }

    /// The rank on a core; in order every core may have one.
    #[must_use]
    pub fn rank_at(&self, core: u32) -> Option<Rank> {
        match &self.chosen {
            Some(chosen) => chosen.ranks.get(&core).copied(),
            None => Some(Rank(core)),
        }
    }

    /// The node of a rank.
    #[must_use]
    pub fn node_of(&self, rank: Rank) -> u32 {
        self.core_of(rank) / self.grid.per_node
    }

    /// Coordinates (x, y) of a rank.
    #[must_use]
    pub fn position(&self, rank: Rank) -> (u32, u32) {
        self.grid.position(self.node_of(rank))
    }

    /// Links between the nodes of two ranks.
    #[must_use]
    pub fn hops(&self, from: Rank, to: Rank) -> u32 {
        self.grid.distance(self.position(from), self.position(to))
    }

    /// The link in words, as [`Grid::describe`].
    #[must_use]
    pub fn describe(&self, link: LinkId) -> String {
        self.grid
            .describe_at(link, |core| match self.rank_at(core) {
                Some(rank) => format!("rank {rank}"),
                None => format!("core {core}"),
            })
    }

    /// How the grid calls the core of a rank.
    fn seat(&self, rank: Rank) -> Rank {
        Rank(self.core_of(rank))
    }
}

impl Routes for Seats {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        self.grid.visit_links(self.seat(from), self.seat(to), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(seats: &Seats, from: u32, to: u32) -> Vec<String> {
        let mut names = Vec::new();
        seats.visit_links(Rank(from), Rank(to), &mut |link| {
            names.push(seats.describe(link));
        });
        names
    }

    #[test]
    fn a_list_in_order_is_no_list() {
        let grid = Grid::mesh(3, 2);
        let seats = Seats::on(grid, (0..6).collect());
        assert_eq!(seats, Seats::from(grid));
        assert!(seats.are_in_order());
        let all = (0..6).flat_map(|from| (0..6).map(move |to| (Rank(from), Rank(to))));
        for (from, to) in all {
            assert_eq!(seats.hops(from, to), grid.hops(from, to));
            assert_eq!(seats.node_of(to), grid.node_of(to));
        }
    }

    #[test]
    fn links_are_those_between_the_cores_and_bear_the_names_of_ranks() {
        let grid = Grid {
            per_node: 2,
            ..Grid::mesh(3, 1)
        };
        let seats = Seats::on(grid, vec![5, 0, 2].into());
        assert_eq!(
            links(&seats, 0, 1),
            [
                "injection of rank 0",
                "(2,0)->(1,0)",
                "(1,0)->(0,0)",
                "ejection of rank 1"
            ]
        );
        assert_eq!(
            seats.describe(grid.injection(Rank(4))),
            "injection of core 4"
        );
        assert_eq!((seats.position(Rank(0)), seats.rank_at(4)), ((2, 0), None));
    }

    #[test]
    #[should_panic(expected = "two ranks on a core")]
    fn a_core_has_one_rank() {
        let _ = Seats::on(Grid::mesh(2, 2), vec![1, 1].into());
    }
}
