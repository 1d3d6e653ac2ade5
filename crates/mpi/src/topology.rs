// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual topologies: which processes of a communicator are neighbours.
//!
//! ```
//! use corecast_mpi::topology::{Cart, balanced};
//! assert_eq!(balanced(12, &[0, 0]), Some(vec![4, 3]));
//! let cart = Cart { dims: vec![4, 3], periods: vec![true, false] };
//! assert_eq!(cart.coords(5), [1, 2]);
//! assert_eq!(cart.rank(&[-1, 0]), Some(9), "around the first dimension");
//! assert_eq!(cart.rank(&[0, 3]), None);
//! ```
#![forbid(unsafe_code)]

use crate::error::{Class, Error, Result};

/// A topology.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topology {
    /// A grid.
    Cart(Cart),
    /// A graph that every process knows.
    Graph(Graph),
    /// A graph of which every process knows its own edges.
    Dist(Neighbors),
}

/// A grid; the last dimension runs fastest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cart {
    /// Its extents.
    pub dims: Vec<u32>,
    /// Which dimensions are rings.
    pub periods: Vec<bool>,
}

/// A graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// Where the edges of each process end in `edges`.
    pub index: Vec<u32>,
    /// Ranks of neighbours.
    pub edges: Vec<u32>,
}

/// The edges of one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbors {
    /// Ranks that it hears from.
    pub sources: Vec<u32>,
    /// Their weights.
    pub source_weights: Vec<i32>,
    /// Ranks that it speaks to.
    pub destinations: Vec<u32>,
    /// Their weights.
    pub destination_weights: Vec<i32>,
    /// Whether weights were given.
    pub is_weighted: bool,
}

impl Cart {
    /// Number of places; `None` if that is no 32-bit number.
    #[must_use]
    pub fn size(&self) -> Option<u32> {
        self.dims
            .iter()
            .try_fold(1_u32, |size, &dim| size.checked_mul(dim))
    }

    /// The coordinates of a rank.
    #[must_use]
    pub fn coords(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coords: Vec<u32> = Vec::with_capacity(self.dims.len());
        for &dim in self.dims.iter().rev() {
            coords.push(rest % dim);
            rest /= dim;
        }
        coords.reverse();
        coords
    }

    /// The rank at coordinates; `None` outside of the grid.
    #[must_use]
    pub fn rank(&self, coords: &[i32]) -> Option<u32> {
        let mut rank = 0;
        for ((&dim, &is_ring), &at) in self.dims.iter().zip(&self.periods).zip(coords) {
            let at = match is_ring {
                true => i64::from(at).rem_euclid(i64::from(dim)),
                false => i64::from(at),
            };
            let at = u32::try_from(at).ok().filter(|&at| at < dim)?;
            rank = rank * dim + at;
        }
        Some(rank)
    }

    /// The rank that lies `by` places on in a dimension.
    #[must_use]
    pub fn shifted(&self, rank: u32, dimension: usize, by: i64) -> Option<u32> {
        let mut coords = self.coords(rank);
        let dim = *self.dims.get(dimension)?;
        let at = i64::from(coords[dimension]) + by;
        let at = match self.periods[dimension] {
            true => at.rem_euclid(i64::from(dim)),
            false => at,
        };
        coords[dimension] = u32::try_from(at).ok().filter(|&at| at < dim)?;
        let coords: Vec<i32> = coords.into_iter().map(|at| at as i32).collect();
        self.rank(&coords)
    }
}

impl Graph {
    /// The neighbours of a rank.
    #[must_use]
    pub fn neighbors(&self, rank: u32) -> &[u32] {
        let rank = rank as usize;
        let end = self.index.get(rank).copied().unwrap_or(0) as usize;
        let start = match rank {
            0 => 0,
            _ => self.index.get(rank - 1).copied().unwrap_or(0) as usize,
        };
        self.edges.get(start..end).unwrap_or(&[])
    }
}

impl Topology {
    /// Whom `rank` hears from and speaks to, in the order of neighbourhood collectives; `None`
    /// stands for a place outside of the grid.
    #[must_use]
    pub fn neighbors(&self, rank: u32) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
        match self {
            Self::Cart(cart) => {
                let both = |dimension| [-1, 1].map(|by| cart.shifted(rank, dimension, by));
                let all: Vec<_> = (0..cart.dims.len()).flat_map(both).collect();
                (all.clone(), all)
            }
            Self::Graph(graph) => {
                let all: Vec<_> = graph.neighbors(rank).iter().copied().map(Some).collect();
                (all.clone(), all)
            }
            Self::Dist(neighbors) => {
                let some = |ranks: &[u32]| ranks.iter().copied().map(Some).collect();
                (some(&neighbors.sources), some(&neighbors.destinations))
            }
        }
    }
}

/// How often the ends of an edge name it.
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub by_sender: usize,
    pub by_receiver: usize,
}

impl Edge {
    /// Refuses an edge along which one end would wait for the other for ever.
    pub(crate) fn refuse(&self) -> Result<()> {
        let Self {
            from,
            to,
            by_sender,
            by_receiver,
        } = self;
        if by_sender == by_receiver {
            return Ok(());
        }
        let what = format!(
            "the edge from rank {from} to rank {to} is named {by_sender} times by its sender and \
             {by_receiver} times by its receiver; both have to name it as often"
        );
        Err(Error::new(Class::Topology, what))
    }
}

impl Topology {
    /// Refuses a collective of `rank` with its neighbours that would wait for ever, as far as this rank
    /// can know.
    ///
    /// # Errors
    /// [`Class::Topology`] if an edge has but one end.
    pub fn check_edges(&self, rank: u32) -> Result<()> {
        let times = |list: &[u32], rank| list.iter().filter(|&&other| other == rank).count();
        match self {
            Self::Cart(_) => Ok(()),
            Self::Graph(graph) => {
                let neighbors = graph.neighbors(rank);
                let mut edges = neighbors.iter().map(|&to| Edge {
                    from: rank,
                    to,
                    by_sender: times(neighbors, to),
                    by_receiver: times(graph.neighbors(to), rank),
                });
                edges.try_for_each(|edge| edge.refuse())
            }
            Self::Dist(neighbors) => Edge {
                from: rank,
                to: rank,
                by_sender: times(&neighbors.destinations, rank),
                by_receiver: times(&neighbors.sources, rank),
            }
            .refuse(),
        }
    }
}

/// Fills the dimensions that are 0 so that the grid has `places` places and is as even as it can be;
/// `None` if the others do not divide them.
#[must_use]
pub fn balanced(places: u32, dims: &[u32]) -> Option<Vec<u32>> {
    let mut given = dims.iter().filter(|&&dim| dim > 0);
    let given = given.try_fold(1_u32, |product, &dim| product.checked_mul(dim))?;
    let open = dims.iter().filter(|&&dim| dim == 0).count();
    if places == 0 || !places.is_multiple_of(given) || (open == 0 && places != given) {
        return None;
    }
    let mut even = Even::new(places / given, open);
    even.search(&mut Vec::with_capacity(open), places / given, (1, 0));
    let mut found = even.best.into_iter();
    dims.iter()
        .map(|&dim| if dim == 0 { found.next() } else { Some(dim) })
        .collect()
}

/// Searches factors, the largest first, of which the first differs least from the last; of those the ones
/// whose second differs least from it, and so on.
struct Even {
    /// Of the number, the largest first.
    divisors: Vec<u32>,
    count: usize,
    best: Vec<u32>,
}

impl Even {
    fn new(number: u32, count: usize) -> Self {
        let small = (1..=number.isqrt()).filter(|&divisor| number.is_multiple_of(divisor));
        let mut divisors: Vec<u32> = small.flat_map(|small| [small, number / small]).collect();
        divisors.sort_unstable_by(|one, other| other.cmp(one));
        divisors.dedup();
        // There is always this one.
        let mut best = vec![1; count];
        best.iter_mut().take(1).for_each(|first| *first = number);
        Self {
            divisors,
            count,
            best,
        }
    }

    /// By how much each is larger than the last one; of two choices the one where this is less is better.
    fn spreads(factors: &[u32]) -> impl Iterator<Item = u32> {
        let last = factors.last().copied().unwrap_or(0);
        factors.iter().map(move |factor| factor - last)
    }

    /// Goes on from these factors, which leave `rest`; none may be below `least`, or be a divisor before
    /// that of index `from`.
    fn search(&mut self, factors: &mut Vec<u32>, rest: u32, (least, from): (u32, usize)) {
        let left = self.count - factors.len();
        if left == 0 {
            if rest == 1 && Self::spreads(factors).lt(Self::spreads(&self.best)) {
                self.best.clone_from(factors);
            }
            return;
        }
        for at in from..self.divisors.len() {
            let divisor = self.divisors[at];
            // As many factors of this size have to be enough.
            let power = u64::from(divisor).checked_pow(left as u32);
            if divisor < least || power.is_some_and(|power| power < u64::from(rest)) {
                break;
            }
            if !rest.is_multiple_of(divisor) {
                continue;
            }
            let spread = Self::spreads(&self.best).next().unwrap_or(0);
            let first = factors.first().copied().unwrap_or(divisor);
            factors.push(divisor);
            let least = first.saturating_sub(spread).max(1);
            self.search(factors, rest / divisor, (least, at));
            factors.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_even() {
        for (places, dims, expected) in [
            (6, vec![0, 0], Some(vec![3, 2])),
            (7, vec![0, 0], Some(vec![7, 1])),
            (6, vec![0, 3, 0], Some(vec![2, 3, 1])),
            (7, vec![0, 3, 0], None),
            (48, vec![0, 0, 0], Some(vec![4, 4, 3])),
            (936, vec![0, 0, 0], Some(vec![13, 9, 8])),
            (1 << 30, vec![0; 7], Some(vec![32, 32, 16, 16, 16, 16, 16])),
            (5616, vec![0; 4], Some(vec![13, 9, 8, 6])),
            (590_520, vec![0; 4], Some(vec![37, 30, 28, 19])),
            (1, vec![0, 0], Some(vec![1, 1])),
            (5, vec![], None),
            (i32::MAX as u32, vec![0, 0], Some(vec![i32::MAX as u32, 1])),
        ] {
            assert_eq!(balanced(places, &dims), expected, "{places} {dims:?}");
        }
    }

    #[test]
    fn coordinates_are_ranks() {
        let cart = Cart {
            dims: vec![3, 4, 5],
            periods: vec![false, true, false],
        };
        for rank in 0..60 {
            let coords: Vec<i32> = cart.coords(rank).iter().map(|&at| at as i32).collect();
            assert_eq!(cart.rank(&coords), Some(rank));
        }
        assert_eq!(cart.shifted(0, 1, -1), Some(15));
        assert_eq!(cart.shifted(0, 0, -1), None);
    }
}
