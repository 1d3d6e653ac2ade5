// SPDX-License-Identifier: MIT OR Apache-2.0
//! DOPL, dimension-order pipelined: every turn all lines of one dimension of the mesh pass on a
//! part, from the line's head to its tail; the next turn it is the next dimension's lines.
//!
//! ```text
//! 2 x 2 ranks, k = 2, source 0      turn  0 (rows)  1 (columns)  2 (rows)
//!  2 3                                    0->1:0    0->2:1       0->1:1
//!  0 1                                              1->3:0       2->3:1, 3->2:0
//! ```
//!
//! With d dimensions of lengths L, k parts and p ranks:
//!
//! | turns | rounds | messages |
//! |---|---|---|
//! | k + d - 1 | the sum of L - 1 over all turns | about p k: see the sums in the code |
//!
//! In turn `i` the lines along dimension `i mod d` are at work. The source puts in part `i`;
//! another line passes on part `i - m`, where `m`, at most d - 1, is the farthest turn back along
//! whose dimension the line's head is not at the source's coordinate (parts after the last are the
//! last). The heads of these lines have missed part `i - d`, which their tails give them: the
//! *wrap-around*. All messages but that
//! one go to a neighbour, and are passed on while they still arrive, in pieces.
//!
//! The dimensions are x, y and the ranks of a node, without those of length 1; coordinates count
//! from the source, and around. Ranks that do not fill their mesh are one line in the order of
//! their numbers.
//!
//! `dopl-published` is the form of the thesis: of two dimensions, in which the ranks of the nodes of
//! a row are rows of their own.
//! Source: the thesis on broadcasts on the Intel SCC, chapter 6; which part a line passes on is
//! corrected for three dimensions.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, ChunkList, Op, Schedule, ScheduleBuilder};
use crate::spec::Spec;

use super::pipelined::parts_behind;

/// The algorithm, and its published form.
pub(crate) struct Dopl {
    /// Whether the ranks of a node are of different rows.
    is_published: bool,
}

pub(crate) const DOPL: Dopl = Dopl {
    is_published: false,
};
pub(crate) const PUBLISHED: Dopl = Dopl { is_published: true };

impl Algorithm for Dopl {
    fn name(&self) -> &'static str {
        if self.is_published {
            "dopl-published"
        } else {
            "dopl"
        }
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        if self.is_published {
            "dopl as published: two dimensions, each rank of a node in a row of its own"
        } else {
            "parts pipelined along one dimension of the mesh after the other, with wrap-around"
        }
    }

    fn source(&self) -> &'static str {
        "thesis on broadcasts on the Intel SCC, chapter 6"
    }

    fn cost(&self, request: &Request) -> Cost {
        let space = Space::new(request, self.is_published);
        let parts = u64::from(spec(request, &space).parts());
        let (mut rounds, mut messages) = (0, 0);
        for turn in 0..space.turns(parts) {
            let lines = space.p() / u64::from(space.len(turn));
            rounds += u64::from(space.len(turn)) - 1;
            messages += space.lines_with_a_part(turn) * (u64::from(space.len(turn)) - 1);
            if turn >= space.dimensions() {
                messages += lines - 1; // the wrap-arounds
            }
        }
        Cost { rounds, messages }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let space = Space::new(request, self.is_published);
        let mut builder = ScheduleBuilder::new(self.name(), spec(request, &space));
        builder.set_piece_bytes(request.tuning.piece_bytes);
        let parts: Vec<ChunkList> = (0..builder.spec().parts())
            .map(|part| builder.list(&[builder.spec().chunk(0, part)]))
            .collect();
        let d = space.dimensions();
        let mut round = 0;
        for turn in 0..space.turns(parts.len() as u64) {
            let len = space.len(turn);
            for line in space.lines(turn) {
                let newest = (turn + space.level(&line, turn)).checked_sub(d);
                let passed = newest.map(|part| parts[(part as usize).min(parts.len() - 1)]);
                let wrapped = turn.checked_sub(d).filter(|_| !line.is_source());
                let wrapped = wrapped.map(|part| parts[part as usize]);
                let ranks: Vec<Rank> = (0..len).map(|at| space.rank(&line, turn, at)).collect();
                pass_along(&mut builder, round, &ranks, passed, wrapped);
            }
            round += len - 1;
        }
        builder.finish()
    }
}

/// The messages of one line in one turn: `passed` goes from the head to the tail, `wrapped` from
/// the tail back to the head.
fn pass_along(
    builder: &mut ScheduleBuilder,
    round: u32,
    line: &[Rank],
    passed: Option<ChunkList>,
    wrapped: Option<ChunkList>,
) {
    let last = line.len() - 1;
    let (head, tail, before) = (line[0], line[last], line[last - 1]);
    let end = round + last as u32 - 1;
    if let Some(chunks) = passed {
        let to = line[1];
        match wrapped {
            // Both directions at once.
            Some(recv) if last == 1 => builder.push(
                round,
                head,
                Op::Exchange {
                    to,
                    send: chunks,
                    from: tail,
                    recv,
                    arrival: Arrival::Store,
                },
            ),
            _ => builder.push(round, head, Op::Send { to, chunks }),
        }
        for at in 1..last {
            let (from, to) = (line[at - 1], line[at + 1]);
            let arrival = Arrival::Store;
            let op = Op::Forward {
                from,
                to,
                chunks,
                arrival,
            };
            builder.push(round + at as u32 - 1, line[at], op);
        }
    }
    let arrival = Arrival::Store;
    let op = match (passed, wrapped) {
        (None, None) => return,
        (Some(chunks), None) => Op::Recv {
            from: before,
            chunks,
            arrival,
        },
        (None, Some(chunks)) => Op::Send { to: head, chunks },
        (Some(recv), Some(send)) => Op::Exchange {
            to: head,
            send,
            from: before,
            recv,
            arrival,
        },
    };
    builder.push(end, tail, op);
    if let Some(chunks) = wrapped.filter(|_| passed.is_none() || last > 1) {
        let op = Op::Recv {
            from: tail,
            chunks,
            arrival,
        };
        builder.push(end, head, op);
    }
}

fn spec(request: &Request, space: &Space) -> Spec {
    let behind = space.dimensions().saturating_sub(1) as f64;
    Spec::new(request, request.split_or(parts_behind(request, behind)))
}

/// The ranks as points: coordinates relative to the source, the first dimension fastest.
struct Space {
    dimensions: Vec<Dimension>,
}

struct Dimension {
    /// Per coordinate what it adds to the rank.
    offsets: Vec<u32>,
    /// The source's coordinate.
    source: u32,
}

/// A line: the coordinates of its head.
struct Line(Vec<u32>);

impl Line {
    fn is_source(&self) -> bool {
        self.0.iter().all(|&at| at == 0)
    }
}

impl Dimension {
    fn len(&self) -> u32 {
        self.offsets.len() as u32
    }
}

impl Space {
    fn new(request: &Request, has_rows_of_one: bool) -> Self {
        let grid = request.grid_or_square();
        let (ranks, root) = (request.ranks, request.root.0);
        let (width, height, per_node) = (grid.width, grid.height, grid.per_node);
        let is_full = u64::from(grid.nodes()) * u64::from(per_node) == u64::from(ranks);
        let dimension = |offsets, source| Dimension { offsets, source };
        let steps = |len: u32, by: u32| (0..len).map(|at| at * by).collect::<Vec<_>>();
        let (x, y, z) = (
            dimension(steps(width, per_node), root / per_node % width),
            dimension(steps(height, per_node * width), root / per_node / width),
            dimension(steps(per_node, 1), root % per_node),
        );
        let dimensions = if !is_full {
            vec![dimension(steps(ranks, 1), root)]
        } else if has_rows_of_one {
            let rows = y.offsets.iter();
            let rows = rows.flat_map(|y| z.offsets.iter().map(move |z| y + z));
            vec![x, dimension(rows.collect(), y.source * per_node + z.source)]
        } else {
            vec![x, y, z]
        };
        let kept = dimensions.into_iter().filter(|d| d.len() > 1);
        Self {
            dimensions: kept.collect(),
        }
    }

    fn p(&self) -> u64 {
        self.dimensions.iter().map(|d| u64::from(d.len())).product()
    }

    fn dimensions(&self) -> u64 {
        self.dimensions.len() as u64
    }

    fn turns(&self, parts: u64) -> u64 {
        match self.dimensions() {
            0 => 0,
            d => parts + d - 1,
        }
    }

    /// The dimension whose lines work in a turn, `back` turns earlier.
    fn dimension(&self, turn: u64, back: u64) -> usize {
        let d = self.dimensions();
        ((turn + d - back % d) % d) as usize
    }

    fn len(&self, turn: u64) -> u32 {
        self.dimensions[self.dimension(turn, 0)].len()
    }

    /// Every line that works in a turn.
    fn lines(&self, turn: u64) -> impl Iterator<Item = Line> + use<'_> {
        let along = self.dimension(turn, 0);
        let count = self.p() / u64::from(self.len(turn));
        (0..count).map(move |mut index| {
            let coordinate = |(index_of, dimension): (usize, &Dimension)| {
                if index_of == along {
                    return 0;
                }
                let len = u64::from(dimension.len());
                let at = index % len;
                index /= len;
                at as u32
            };
            Line(self.dimensions.iter().enumerate().map(coordinate).collect())
        })
    }

    /// How new the part is that a line passes on: `d` for the source's, fewer by the number of
    /// turns back to the dimension in which its head is not at the source's coordinate.
    fn level(&self, line: &Line, turn: u64) -> u64 {
        let d = self.dimensions();
        let is_off = |back: &u64| line.0[self.dimension(turn, *back)] != 0;
        d - (1..d).rev().find(is_off).unwrap_or(0)
    }

    /// Lines whose head has something to pass on: in the first turns not all of them.
    fn lines_with_a_part(&self, turn: u64) -> u64 {
        let back = turn.min(self.dimensions() - 1);
        let len = |back| u64::from(self.dimensions[self.dimension(turn, back)].len());
        let lens = (1..=back).map(len);
        lens.product()
    }

    /// The rank `at` places behind the head of a line.
    fn rank(&self, line: &Line, turn: u64, at: u32) -> Rank {
        let along = self.dimension(turn, 0);
        let mut rank = 0;
        let coordinates = line.0.iter().zip(&self.dimensions).enumerate();
        for (index, (&from_source, dimension)) in coordinates {
            let relative = if index == along { at } else { from_source };
            let place = (dimension.source + relative) % dimension.len();
            rank += dimension.offsets[place as usize];
        }
        Rank(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;
    use crate::grid::Grid;
    use crate::routes::FullCrossbar;
    use crate::verify::verify;

    fn request(grid: Grid, parts: u32) -> Request {
        let ranks = grid.nodes() * grid.per_node;
        let mut request = Request::new(Collective::Bcast, ranks, u64::from(parts) * 8);
        request.tuning.part_bytes = Some(8);
        request.platform.grid = Some(grid);
        request
    }

    #[test]
    fn drawn_for_two_by_two_ranks_and_two_parts() {
        assert_eq!(
            drawing(&DOPL.schedule(&request(Grid::mesh(2, 2), 2))),
            ["0->1:0", "0->2:1 1->3:0", "0->1:1 2->3:1 3->2:0",]
        );
    }

    fn check(form: &Dopl, request: &Request, case: &str) {
        let certificate = verify(&form.schedule(request), &FullCrossbar);
        let case = format!("{}, {case}", form.name());
        assert!(
            certificate.is_correct(),
            "{case}: {:?}",
            certificate.violations
        );
        assert!(certificate.is_deadlock_free(), "{case}");
        let cost = form.cost(request);
        assert_eq!(u64::from(certificate.rounds), cost.rounds, "{case}");
        assert_eq!(certificate.messages, cost.messages, "{case}");
    }

    #[test]
    fn every_mesh_every_source_and_three_dimensions() {
        let mut grids = Vec::new();
        for (width, height) in [
            (1, 1),
            (1, 5),
            (6, 1),
            (2, 2),
            (3, 2),
            (2, 5),
            (4, 4),
            (5, 3),
        ] {
            for per_node in [1, 2, 3] {
                grids.push(Grid {
                    per_node,
                    ..Grid::mesh(width, height)
                });
            }
        }
        for grid in grids {
            for parts in [1, 2, 3, 4, 7] {
                let mut request = request(grid, parts);
                for source in 0..request.ranks {
                    request.root = Rank(source);
                    for form in [DOPL, PUBLISHED] {
                        let case = format!("{grid:?}, {parts} parts, source {source}");
                        check(&form, &request, &case);
                    }
                }
            }
        }
    }

    /// But for the wrap-around every message goes to a neighbour.
    #[test]
    fn parts_go_from_neighbour_to_neighbour() {
        let grid = Grid::mesh(4, 3);
        let schedule = DOPL.schedule(&request(grid, 5));
        let far = schedule
            .sends()
            .filter(|(from, _, half)| grid.hops(*from, half.to) > 1);
        let wraps = far.map(|(from, _, half)| grid.hops(from, half.to));
        assert!(
            wraps
                .collect::<Vec<_>>()
                .iter()
                .all(|&hops| hops == 3 || hops == 2)
        );
    }
}
