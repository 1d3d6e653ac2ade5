// SPDX-License-Identifier: MIT OR Apache-2.0
//! What any schedule has to move from some ranks to others, whatever way it takes.
//!
//! One argument, used for a rank's port, for the links between two halves of a mesh, and for
//! everything in between: draw a line around the ranks `from`. What the ranks `to` must end with
//! and only `from` can tell has to cross that line, and has to reach `to`. Data that are the same
//! for many receivers cross once, and contributions to one result cross combined, so every byte is
//! counted as often as it must cross and no more. Ranks on neither side may pass data on.
//!
//! ```
//! use corecast_core::bounds::{Group, between};
//! use corecast_core::{Collective, Request};
//! let half = Group { ranks: 24, has_root: false };
//! let alltoall = Request::new(Collective::Alltoall, 48, 10);
//! assert_eq!(between(&alltoall, half, half), Some(24 * 24 * 10));
//! let allgather = Request::new(Collective::Allgather, 48, 10);
//! assert_eq!(between(&allgather, half, half), Some(24 * 10));
//! ```

use crate::collective::Collective;
use crate::grid::Side;
use crate::ids::Rank;
use crate::request::Request;
use crate::seats::Seats;

/// Some ranks, as far as their number and the root's place matter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Group {
    /// How many.
    pub ranks: u64,
    /// Whether the root is one of them.
    pub has_root: bool,
}

impl Group {
    fn add(&mut self, other: Self) {
        self.ranks += other.ranks;
        self.has_root |= other.has_root;
    }

    fn of(request: &Request, rank: Rank) -> Self {
        let has_root = rank == request.root;
        Self { ranks: 1, has_root }
    }
}

/// Fewest bytes that must leave the ranks `from` and reach the ranks `to`, groups without a common
/// rank; `None` if nothing need pass, not even a message without payload.
///
/// Not for [`Collective::Alltoallv`], where it matters which ranks they are: see
/// [`Request::counts`].
#[must_use]
pub fn between(request: &Request, from: Group, to: Group) -> Option<u64> {
    use Collective as C;
    let blocks = |count: u64| request.bytes.saturating_mul(count);
    if from.ranks == 0 || to.ranks == 0 {
        return None;
    }
    match request.collective {
        // Of the root's bytes all are wanted by every rank, or one block by each.
        C::Bcast => from.has_root.then(|| blocks(1)),
        C::Scatter => from.has_root.then(|| blocks(to.ranks)),
        // Everybody's block for the root, or, combined, one vector for all of them.
        C::Gather => to.has_root.then(|| blocks(from.ranks)),
        C::Reduce => to.has_root.then(|| blocks(1)),
        C::Allgather => Some(blocks(from.ranks)),
        C::Allreduce => Some(blocks(1)),
        // The contributions to each block of `to`, combined.
        C::ReduceScatter => Some(blocks(to.ranks)),
        C::Alltoall => Some(blocks(from.ranks.saturating_mul(to.ranks))),
        C::Barrier => Some(0),
        C::Alltoallv => None,
    }
}

/// Bytes that `from` has for `to` in an alltoallv.
fn count(request: &Request, from: Rank, to: Rank) -> u64 {
    let index = from.index() * request.ranks as usize + to.index();
    let counts = request.counts.as_deref().unwrap_or_default();
    counts.get(index).copied().unwrap_or(0)
}

/// What must pass through a rank's port, by how far away its other end is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// To or from ranks at least so many hops away.
    pub hops: u32,
    /// So many bytes; 0 if it may be a message without payload.
    pub bytes: u64,
}

/// Which way data pass through a rank's port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the rank to others.
    Out,
    /// From others to the rank.
    In,
}

/// What must leave or enter `rank`, for every distance at which there are ranks, the farthest
/// first; without an entry where nothing need pass.
#[must_use]
pub fn through(request: &Request, seats: &Seats, rank: Rank, way: Way) -> Vec<Crossing> {
    let others = (0..request.ranks).map(Rank).filter(|&other| other != rank);
    let is_counted = request.collective == Collective::Alltoallv;
    // By distance: the ranks there, and for an alltoallv what they have to do with this one.
    let mut at: Vec<(Group, u64)> = Vec::new();
    for other in others {
        let hops = seats.hops(rank, other) as usize;
        if hops >= at.len() {
            at.resize(hops + 1, Default::default());
        }
        let (group, bytes) = &mut at[hops];
        group.add(Group::of(request, other));
        if is_counted {
            let counted = match way {
                Way::Out => count(request, rank, other),
                Way::In => count(request, other, rank),
            };
            *bytes = bytes.saturating_add(counted);
        }
    }
    let me = Group::of(request, rank);
    let (mut far, mut counted) = (Group::default(), 0_u64);
    let mut crossings = Vec::new();
    for (hops, (group, bytes)) in at.into_iter().enumerate().rev() {
        if group.ranks == 0 {
            continue;
        }
        far.add(group);
        counted = counted.saturating_add(bytes);
        let bytes = match way {
            _ if is_counted => (counted > 0).then_some(counted),
            Way::Out => between(request, me, far),
            Way::In => between(request, far, me),
        };
        let hops = hops as u32; // at most the sum of two sides
        crossings.extend(bytes.map(|bytes| Crossing { hops, bytes }));
    }
    crossings
}

/// Bytes that must cross a cut in one direction, and the links that lead across.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Links of that direction.
    pub links: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The cuts of the grid that some bytes must cross: between two columns and between two rows, and
/// around the routers at the corners and at the root, where several ranks share a router.
///
/// A cut between columns is crossed in the row of a packet's source or destination, so only links
/// in rows with ranks count. On a torus the columns west of a cut have two ends, and links at both.
#[must_use]
pub fn cuts(request: &Request, seats: &Seats) -> Vec<Cut> {
    let grid = seats.grid();
    let ends = 1 + u64::from(grid.is_torus);
    let column = |rank: Rank| seats.position(rank).0;
    let row = |rank: Rank| seats.position(rank).1;
    let columns = groups(request, grid.width, column);
    let rows = groups(request, grid.height, row);
    let with_ranks =
        |groups: &[Group]| ends * groups.iter().filter(|group| group.ranks > 0).count() as u64;
    let mut cuts = Vec::new();
    along(request, &columns, with_ranks(&rows), column, &mut cuts);
    along(request, &rows, with_ranks(&columns), row, &mut cuts);
    if grid.per_node > 1 {
        let last = match seats.are_in_order() {
            true => (request.ranks - 1) / grid.per_node,
            false => grid.nodes() - 1,
        };
        let corners = [
            0,
            (grid.width - 1).min(last),
            last,
            seats.node_of(request.root),
        ];
        for node in corners {
            around(request, seats, node, &mut cuts);
        }
    }
    cuts.retain(|cut| cut.bytes > 0);
    cuts
}

/// The ranks at each of `len` places.
fn groups(request: &Request, len: u32, place: impl Fn(Rank) -> u32) -> Vec<Group> {
    let mut groups = vec![Group::default(); len as usize];
    for rank in (0..request.ranks).map(Rank) {
        groups[place(rank) as usize].add(Group::of(request, rank));
    }
    groups
}

/// The cuts between two neighbouring places along one dimension.
fn along(
    request: &Request,
    groups: &[Group],
    links: u64,
    place: impl Fn(Rank) -> u32,
    cuts: &mut Vec<Cut>,
) {
    let ranks = || (0..request.ranks).map(Rank);
    let mut counted = vec![[0_u64; 2]; groups.len()]; // across the cut behind each place
    if request.collective == Collective::Alltoallv {
        for (from, to) in ranks().flat_map(|from| ranks().map(move |to| (from, to))) {
            let (bytes, at, end) = (count(request, from, to), place(from), place(to));
            for cut in at.min(end)..at.max(end) {
                let sum = &mut counted[cut as usize][usize::from(end < at)];
                *sum = sum.saturating_add(bytes);
            }
        }
    }
    let mut after = Group::default();
    groups.iter().for_each(|group| after.add(*group));
    let mut before = Group::default();
    for (group, counted) in groups.iter().zip(counted) {
        before.add(*group);
        after.ranks -= group.ranks;
        after.has_root &= !group.has_root;
        for (from, to, counted) in [(before, after, counted[0]), (after, before, counted[1])] {
            let bytes = between(request, from, to).unwrap_or(counted);
            cuts.push(Cut { links, bytes });
        }
    }
}

/// The cut around one router.
fn around(request: &Request, seats: &Seats, node: u32, cuts: &mut Vec<Cut>) {
    let sides = Side::ALL.into_iter();
    let links = sides
        .filter(|&side| seats.grid().neighbour(node, side).is_some())
        .count() as u64;
    let (mut inside, mut outside) = (Group::default(), Group::default());
    let is_inside = |rank: Rank| seats.node_of(rank) == node;
    let mut counted = [0_u64; 2];
    let ranks = || (0..request.ranks).map(Rank);
    for rank in ranks() {
        let group = if is_inside(rank) {
            &mut inside
        } else {
            &mut outside
        };
        group.add(Group::of(request, rank));
    }
    if request.collective == Collective::Alltoallv {
        for rank in ranks().filter(|&rank| is_inside(rank)) {
            for other in ranks().filter(|&other| !is_inside(other)) {
                counted[0] = counted[0].saturating_add(count(request, rank, other));
                counted[1] = counted[1].saturating_add(count(request, other, rank));
            }
        }
    }
    for (from, to, counted) in [(inside, outside, counted[0]), (outside, inside, counted[1])] {
        let bytes = between(request, from, to).unwrap_or(counted);
        cuts.push(Cut { links, bytes });
    }
}

/// Fewest bytes that all ranks together receive.
///
/// Every rank but the root receives a broadcast; a scatter, a gather, an alltoall and an allgather
/// bring every block to each rank that wants it. A contribution is sent at least once by every rank
/// but one, so a reduction takes `p - 1` messages per element; for all to know the result it takes
/// `2 (p - 1)`, the fewest by which all can hear from all (Harary and Schwenk 1974, for calls in
/// one direction).
#[must_use]
pub fn volume_bytes(request: &Request) -> u64 {
    use Collective as C;
    let p = u64::from(request.ranks);
    let blocks = |count: u64| request.bytes.saturating_mul(count);
    match request.collective {
        C::Bcast | C::Scatter | C::Gather | C::Reduce => blocks(p - 1),
        C::Allreduce => blocks(2 * (p - 1)),
        C::Allgather | C::ReduceScatter | C::Alltoall => blocks(p * (p - 1)),
        C::Barrier => 0,
        C::Alltoallv => {
            let counts = request.counts.as_deref().unwrap_or_default();
            let ranks = request.ranks as usize;
            let others = counts.iter().enumerate();
            let others = others.filter(|(index, _)| index / ranks != index % ranks);
            others.fold(0, |sum, (_, &bytes)| sum.saturating_add(bytes))
        }
    }
}

/// Fewest bytes that all ranks together combine: every element `p - 1` times, as each time two
/// partial results become one.
#[must_use]
pub fn combined_bytes(request: &Request) -> u64 {
    use Collective as C;
    let p = u64::from(request.ranks);
    let blocks = match request.collective {
        C::Reduce | C::Allreduce => p - 1,
        C::ReduceScatter => p * (p - 1),
        _ => 0,
    };
    request.bytes.saturating_mul(blocks)
}

/// Most ranks of an alltoallv whose ports are all looked at.
const PORTS_MAX: u32 = 1024;

/// The ranks whose ports are worth looking at: the root and the rank farthest from it; without a
/// root those at the corners of ranks in order, which have the longest ways then, and one in the
/// middle; in an alltoallv all, as each has something else to send.
#[must_use]
pub fn witnesses(request: &Request, seats: &Seats) -> Vec<Rank> {
    let grid = seats.grid();
    let last = Rank(request.ranks - 1);
    if request.collective == Collective::Alltoallv && request.ranks <= PORTS_MAX {
        return (0..request.ranks).map(Rank).collect();
    }
    let mut witnesses = if request.collective.is_rooted() {
        let all = (0..request.ranks).map(Rank);
        let farthest = all.max_by_key(|&rank| seats.hops(request.root, rank));
        vec![request.root, farthest.unwrap_or(last)]
    } else {
        let row = grid.width * grid.per_node;
        let of_last_row = last.0 / row * row;
        vec![
            Rank(0),
            Rank((row - 1).min(last.0)),
            Rank(of_last_row),
            last,
            grid.middle(request.ranks),
        ]
    };
    witnesses.sort_unstable();
    witnesses.dedup();
    witnesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    fn crossings(request: &Request, grid: &Grid, rank: u32, way: Way) -> Vec<(u32, u64)> {
        let crossings = through(request, &(*grid).into(), Rank(rank), way).into_iter();
        crossings
            .map(|crossing| (crossing.hops, crossing.bytes))
            .collect()
    }

    fn widest(request: &Request, grid: &Grid) -> Option<(u64, u64)> {
        let cuts = cuts(request, &(*grid).into()).into_iter();
        let worst = cuts.max_by_key(|cut| cut.bytes / cut.links);
        worst.map(|cut| (cut.bytes, cut.links))
    }

    /// A row of four ranks, root 1: one rank to the west, two to the east.
    #[test]
    fn ports_by_hand() {
        let row = Grid::mesh(4, 1);
        let of = |collective| Request::new(collective, 4, 10).with_root(Rank(1));
        let scatter = of(Collective::Scatter);
        assert_eq!(crossings(&scatter, &row, 1, Way::Out), [(2, 10), (1, 30)]);
        assert_eq!(crossings(&scatter, &row, 3, Way::In), [(2, 10), (1, 10)]);
        assert_eq!(crossings(&scatter, &row, 1, Way::In), []);
        let gather = of(Collective::Gather);
        assert_eq!(crossings(&gather, &row, 1, Way::In), [(2, 10), (1, 30)]);
        let bcast = of(Collective::Bcast);
        assert_eq!(crossings(&bcast, &row, 1, Way::Out), [(2, 10), (1, 10)]);
        let allgather = Request::new(Collective::Allgather, 4, 10);
        assert_eq!(
            crossings(&allgather, &row, 0, Way::In),
            [(3, 10), (2, 20), (1, 30)]
        );
        assert_eq!(
            crossings(&allgather, &row, 0, Way::Out),
            [(3, 10), (2, 10), (1, 10)]
        );
        let reduce = Request::new(Collective::ReduceScatter, 4, 10);
        assert_eq!(
            crossings(&reduce, &row, 0, Way::Out),
            [(3, 10), (2, 20), (1, 30)]
        );
        assert_eq!(
            crossings(&reduce, &row, 0, Way::In),
            [(3, 10), (2, 10), (1, 10)]
        );
        let barrier = Request::new(Collective::Barrier, 4, 0);
        assert_eq!(
            crossings(&barrier, &row, 0, Way::In),
            [(3, 0), (2, 0), (1, 0)]
        );
    }

    #[test]
    fn an_alltoallv_counts_pair_by_pair() {
        let row = Grid::mesh(3, 1);
        let mut request = Request::new(Collective::Alltoallv, 3, 0);
        request.counts = Some(vec![9, 1, 2, 0, 9, 4, 0, 8, 9].into());
        assert_eq!(crossings(&request, &row, 0, Way::Out), [(2, 2), (1, 3)]);
        assert_eq!(crossings(&request, &row, 0, Way::In), []);
        assert_eq!(crossings(&request, &row, 2, Way::In), [(2, 2), (1, 6)]);
        assert_eq!(volume_bytes(&request), 1 + 2 + 4 + 8);
        // Eastward behind column 0: 1 + 2, behind column 1: 2 + 4; westward: 0 and 8.
        let cuts: Vec<_> = cuts(&request, &row.into())
            .into_iter()
            .map(|cut| cut.bytes)
            .collect();
        assert_eq!(cuts, [3, 6, 8]);
    }

    #[test]
    fn middles_of_meshes_and_tori_by_hand() {
        let alltoall = |ranks| Request::new(Collective::Alltoall, ranks, 1);
        assert_eq!(widest(&alltoall(16), &Grid::mesh(4, 4)), Some((64, 4)));
        assert_eq!(widest(&alltoall(64), &Grid::mesh(8, 8)), Some((1024, 8)));
        // Rows without ranks send nothing from column to column.
        assert_eq!(widest(&alltoall(8), &Grid::mesh(4, 4)), Some((16, 2)));
        let torus = Grid {
            is_torus: true,
            ..Grid::mesh(8, 8)
        };
        assert_eq!(widest(&alltoall(64), &torus), Some((1024, 16)));
        // 6 x 4 routers with two ranks each: 24 on each side of 4 links.
        let scc = Grid {
            per_node: 2,
            ..Grid::mesh(6, 4)
        };
        assert_eq!(widest(&alltoall(48), &scc), Some((576, 4)));
        let of = |collective| Request::new(collective, 48, 1);
        // 46 blocks for the two ranks at a corner, over two links; 40 over four in the middle.
        assert_eq!(widest(&of(Collective::Allgather), &scc), Some((46, 2)));
        assert_eq!(widest(&of(Collective::ReduceScatter), &scc), Some((46, 2)));
        assert_eq!(widest(&of(Collective::Barrier), &scc), None);
    }

    #[test]
    fn a_corner_router_has_two_links_for_all_its_ranks() {
        let grid = Grid {
            per_node: 16,
            ..Grid::mesh(3, 3)
        };
        // 16 ranks with 128 others each over two links; 48 with 96 over three in the middle.
        let request = Request::new(Collective::Alltoall, 144, 1);
        assert_eq!(widest(&request, &grid), Some((48 * 96, 3)));
        let scatter = Request::new(Collective::Scatter, 144, 1);
        assert_eq!(widest(&scatter, &grid), Some((128, 2)));
    }

    /// Ranks that are not in order may sit at any corner, here at the last one: what the one there
    /// receives comes over its router's two links.
    #[test]
    fn corners_are_those_of_the_grid_where_ranks_are_not_in_order() {
        let grid = Grid {
            per_node: 2,
            ..Grid::mesh(3, 3)
        };
        let seats = Seats::on(grid, (0..16).rev().chain([17]).collect());
        let request = Request::new(Collective::Gather, 17, 1).with_root(Rank(8));
        let around = Cut { links: 2, bytes: 1 };
        let all = cuts(&request, &seats);
        assert_eq!(
            all.iter().filter(|&&cut| cut == around).count(),
            1,
            "{all:?}"
        );
    }

    /// Whatever the groups, what must cross is what the specification says only one side holds and
    /// the other wants.
    #[test]
    fn crossings_are_those_of_the_specification() {
        use crate::collective::{Combine, Split};
        use crate::spec::Spec;
        let ranks = 4_u32;
        for collective in Collective::ALL
            .into_iter()
            .filter(|&c| c != Collective::Alltoallv)
        {
            let request = Request::new(collective, ranks, 8).with_root(Rank(1));
            let spec = Spec::new(&request, Split::Even(1));
            for sides in 0..3_u32.pow(ranks) {
                let side = |rank: u32| sides / 3_u32.pow(rank) % 3; // from, to, neither
                let of = |which| {
                    (0..ranks)
                        .filter(move |&rank| side(rank) == which)
                        .map(Rank)
                };
                let group = |which| Group {
                    ranks: of(which).count() as u64,
                    has_root: of(which).any(|rank| rank == spec.root()),
                };
                let needed = (0..spec.chunks())
                    .map(crate::ids::ChunkId)
                    .filter(|&chunk| {
                        let is_held = |rank| spec.holds_initially(rank, chunk);
                        let is_theirs = match collective.combine() {
                            Combine::Nothing => {
                                !(0..ranks).map(Rank).any(|r| side(r.0) != 0 && is_held(r))
                            }
                            _ => true, // everybody contributes
                        };
                        is_theirs
                            && of(0).any(is_held)
                            && of(1).any(|r| spec.wants_finally(r, chunk))
                    });
                let bytes: Vec<u64> = needed.map(|chunk| spec.chunk_bytes(chunk)).collect();
                let expected = (!bytes.is_empty()).then(|| bytes.iter().sum::<u64>());
                let found = between(&request, group(0), group(1));
                assert_eq!(found, expected, "{collective}, {sides}");
            }
        }
    }
}
