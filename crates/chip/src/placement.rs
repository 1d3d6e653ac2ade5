// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which core of a mesh every rank gets.
//!
//! ```text
//! placement = "square"     # the most square part at the south-west corner
//! placement = "rows"       # in rows from the south, so that rank and core have the same number
//! placement = "columns"    # in columns from the west
//! placement = "snake"      # in rows, every second one backwards
//! placement = "random:7"   # on cores that this seed draws
//! placement = "0 2 4 6"    # rank 0 on core 0, rank 1 on core 2, ...
//! ```
//!
//! A core's number is its router's, which count in rows from the south-west corner, times the cores
//! of a router, plus its own at that router.
//!
//! A placement says where ranks are, and nothing to algorithms: they go on making the schedules of
//! ranks that fill the mesh in order, which are then run, and judged, where the ranks are. So the same
//! schedule can be compared at several places.

use std::fmt;
use std::sync::Arc;

use corecast_core::Grid;
use corecast_core::random::SplitMix64;
use thiserror::Error;

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// In the most square part at the south-west corner.
    Square,
    /// In rows from the south, so that rank and core have the same number.
    Rows,
    /// On cores one by one.
    Chosen(Chosen),
}

/// Cores in the order in which ranks take them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// All cores, each once.
    pub(crate) cores: Arc<[u32]>,
    /// How many of them, from the first on, ranks may take.
    pub(crate) usable: u32,
}

/// What is wrong with a placement.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// What is no number.
    #[error("`{word}` is no core")]
    NoNumber {
        /// Of which rank it is the core.
        rank: usize,
        /// What is in its place.
        word: String,
    },
    /// A core that is not there.
    #[error("there is no core {core}, only 0 to {last}")]
    NoCore {
        /// Of which rank it is the core.
        rank: usize,
        /// The core.
        core: u32,
        /// The last one.
        last: u32,
    },
    /// Two ranks on a core.
    #[error("rank {before} is on core {core} already: a core has one rank")]
    Taken {
        /// Of which rank it is the core.
        rank: usize,
        /// The core.
        core: u32,
        /// The rank before.
        before: usize,
    },
    /// Nothing.
    #[error("there is no core in it")]
    Empty,
}

impl PlacementError {
    /// The rank whose core is wrong.
    #[must_use]
    pub fn rank(&self) -> usize {
        match self {
            Self::NoNumber { rank, .. } | Self::NoCore { rank, .. } | Self::Taken { rank, .. } => {
                *rank
            }
            Self::Empty => 0,
        }
    }
}

impl Placement {
    /// What can be written, in words.
    pub const FORMS: &'static str =
        "square, rows, columns, snake, random:SEED, or the core of every rank, such as \"0 2 4\"";

    /// Whether this is the name of an order, and not a list of cores.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        matches!(text, "square" | "rows" | "columns" | "snake") || seed(text).is_some()
    }

    /// The entries of a list: what stands between spaces and commas.
    pub fn entries(text: &str) -> impl Iterator<Item = &str> {
        text.split([' ', ',']).filter(|entry| !entry.is_empty())
    }

    /// The placement that a text means on a mesh of which `cores` cores can have ranks. Entries of a
    /// list are separated by spaces or commas.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, grid: &Grid, cores: u32) -> Result<Self, PlacementError> {
        let cores = cores.min(grid.ranks_max());
        let all = || (0..cores).collect::<Vec<u32>>();
        let place = |core: &u32| grid.position(core / grid.per_node);
        let order = match text {
            "square" => return Ok(Self::Square),
            "rows" => return Ok(Self::Rows),
            "columns" => {
                let mut order = all();
                order.sort_by_key(|core| (place(core), *core));
                order
            }
            "snake" => {
                let mut order = all();
                let along = |x: u32, y: u32| {
                    if y.is_multiple_of(2) {
                        x
                    } else {
                        grid.width - 1 - x
                    }
                };
                order.sort_by_key(|core| {
                    let (x, y) = place(core);
                    (y, along(x, y), *core)
                });
                order
            }
            text => match seed(text) {
                Some(seed) => {
                    let mut order = all();
                    SplitMix64::new(seed).shuffle(&mut order);
                    order
                }
                None => return list(text, cores).map(Self::Chosen),
            },
        };
        Ok(Self::Chosen(Chosen {
            usable: cores,
            cores: order.into(),
        }))
    }
}

/// The seed of a random order.
fn seed(text: &str) -> Option<u64> {
    text.strip_prefix("random:")?.parse().ok()
}

/// A list of cores; those that it leaves out follow, so that every core is there.
fn list(text: &str, cores: u32) -> Result<Chosen, PlacementError> {
    let words = Placement::entries(text);
    let mut rank_at: Vec<Option<usize>> = vec![None; cores as usize];
    let mut order = Vec::new();
    for (rank, word) in words.enumerate() {
        let core: u32 = word.parse().map_err(|_| {
            let safe = word.chars().filter(|c| !c.is_control());
            let word = safe.take(40).collect();
            PlacementError::NoNumber { rank, word }
        })?;
        let place = rank_at.get_mut(core as usize);
        let last = cores.saturating_sub(1);
        let place = place.ok_or(PlacementError::NoCore { rank, core, last })?;
        if let Some(before) = place.replace(rank) {
            return Err(PlacementError::Taken { rank, core, before });
        }
        order.push(core);
    }
    if order.is_empty() {
        return Err(PlacementError::Empty);
    }
    let usable = order.len() as u32; // at most one per core
    order.extend((0..cores).filter(|&core| rank_at[core as usize].is_none()));
    Ok(Chosen {
        cores: order.into(),
        usable,
    })
}

impl Chosen {
    /// The cores of so many ranks, or all if there are fewer.
    pub(crate) fn first(&self, ranks: u32) -> &[u32] {
        &self.cores[..self.cores.len().min(ranks as usize)]
    }
}

/// As it is written.
impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usable = self.first(self.usable);
        let cores: Vec<String> = usable.iter().map(ToString::to_string).collect();
        f.write_str(&cores.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str, grid: &Grid) -> String {
        match Placement::read(text, grid, grid.ranks_max()) {
            Ok(Placement::Chosen(chosen)) => chosen.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn orders_have_names() {
        let grid = Grid {
            per_node: 2,
            ..Grid::mesh(3, 2)
        };
        assert_eq!(order("columns", &grid), "0 1 6 7 2 3 8 9 4 5 10 11");
        assert_eq!(order("snake", &grid), "0 1 2 3 4 5 10 11 8 9 6 7");
        assert_eq!(order("3, 1 7", &grid), "3 1 7");
        let mut drawn: Vec<u32> = order("random:7", &grid)
            .split(' ')
            .map(|core| core.parse().expect("a number"))
            .collect();
        assert_ne!(order("random:7", &grid), order("random:8", &grid));
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..12));
        for name in ["square", "rows", "columns", "snake", "random:0"] {
            assert!(Placement::is_name(name) && Placement::read(name, &grid, 12).is_ok());
        }
    }

    #[test]
    fn neighbours_in_a_snake_are_neighbours_on_the_mesh() {
        let grid = Grid::mesh(5, 4);
        let Ok(Placement::Chosen(snake)) = Placement::read("snake", &grid, 20) else {
            panic!("an order");
        };
        let pairs = snake.cores.windows(2);
        assert!(
            pairs
                .map(|pair| grid.distance(grid.position(pair[0]), grid.position(pair[1])))
                .all(|hops| hops == 1)
        );
    }

    #[test]
    fn a_list_that_is_wrong_says_where() {
        let refused = |text: &str| Placement::read(text, &Grid::mesh(4, 2), 6).expect_err(text);
        let (core, last) = (6, 5);
        assert_eq!(
            refused("0 6"),
            PlacementError::NoCore {
                rank: 1,
                core,
                last
            }
        );
        let (core, before) = (2, 1);
        assert_eq!(
            refused("0 2 1 2"),
            PlacementError::Taken {
                rank: 3,
                core,
                before
            }
        );
        assert_eq!(refused(" , "), PlacementError::Empty);
        assert_eq!(refused("0 sneak").to_string(), "`sneak` is no core");
        assert_eq!(refused("random:x").rank(), 0);
    }
}
