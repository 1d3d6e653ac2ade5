// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the message layer has to know of a schedule beforehand, as its programmer would.

use corecast_chip::Library;
use corecast_core::verify::{self, MessageEnds};
use corecast_core::{Arrival, ChunkId, Op, Rank, Schedule, Transport};

use super::order::sends_first;
use super::shared::{Shared, SharedStep};

/// See the module's documentation.
pub(crate) struct Plan {
    /// Address of every block.
    blocks: Vec<u64>,
    /// Address of every place beside those of the chunks: behind the blocks.
    places: Vec<u64>,
    /// Index of each rank's first step.
    first: Vec<usize>,
    /// Per step of all ranks.
    steps: Vec<StepPlan>,
    /// If messages go through shared buffers.
    pub shared: Option<Shared>,
}

/// How a step is carried out.
#[derive(Clone, Copy, Default)]
pub(crate) struct StepPlan {
    /// What it sends goes in pieces.
    pub sends_pieces: bool,
    /// What it receives comes in pieces.
    pub receives_pieces: bool,
    /// An exchange by blocking calls sends first.
    pub sends_first: bool,
}

impl Plan {
    /// Buffers hold `room` bytes in lines of `line`.
    pub(crate) fn new(schedule: &Schedule, library: Library, room: usize, line: usize) -> Self {
        let spec = schedule.spec();
        let mut end = 0;
        let blocks = (0..spec.blocks()).map(|block| {
            let start = end;
            end += spec.block_bytes(block);
            start
        });
        let blocks = blocks.collect();
        let places = schedule.places().iter().map(|place| {
            let start = end;
            end += place.bytes;
            start
        });
        let places = places.collect();
        let mut total = 0;
        let first = schedule.all_ranks().map(|rank| {
            let first = total;
            total += schedule.steps(rank).len();
            first
        });
        let mut plan = Self {
            blocks,
            places,
            first: first.collect(),
            steps: Vec::new(),
            shared: None,
        };
        plan.steps = vec![StepPlan::default(); total];
        let has_pieces = schedule.piece_bytes().is_some();
        let is_blocking = library == Library::Rcce;
        let is_shared =
            library == Library::OneSided || schedule.transport() == Transport::SharedBuffers;
        if has_pieces || is_blocking || is_shared {
            let pairs = verify::messages(schedule);
            if is_shared {
                plan.shared = Some(Shared::new(schedule, &plan.first, &pairs, room, line));
            } else if has_pieces {
                plan.cut(schedule, &pairs);
            }
            if is_blocking {
                plan.order(schedule, &pairs);
            }
        }
        plan
    }

    fn index(&self, (rank, step): (Rank, usize)) -> usize {
        self.first[rank.index()] + step
    }

    /// What a step does with shared buffers.
    pub(crate) fn shared_step(&self, rank: Rank, step: usize) -> Option<&SharedStep> {
        let shared = self.shared.as_ref()?;
        shared.steps.get(self.index((rank, step)))
    }

    /// What a multicast does with shared buffers for one of its receivers.
    pub(crate) fn shared_branch(&self, rank: Rank, step: usize, to: Rank) -> Option<&SharedStep> {
        let shared = self.shared.as_ref()?;
        shared.branches.get(&(self.index((rank, step)), to))
    }

    pub(crate) fn step(&self, rank: Rank, step: usize) -> StepPlan {
        self.steps[self.index((rank, step))]
    }

    /// Where a chunk lies in every rank's memory.
    pub(crate) fn address(&self, schedule: &Schedule, chunk: ChunkId) -> u64 {
        let spec = schedule.spec();
        if let Some(place) = chunk.0.checked_sub(spec.chunks()) {
            return self.places[place as usize];
        }
        let (offset, _) = spec.chunk_range(chunk);
        self.blocks[(chunk.0 / spec.parts()) as usize] + offset
    }

    /// Messages of which an end passes on what still arrives go in pieces.
    fn cut(&mut self, schedule: &Schedule, pairs: &[MessageEnds]) {
        let is_forward = |(rank, step): (Rank, usize)| {
            let op = schedule.steps(rank)[step].op;
            matches!(
                op,
                Op::Forward {
                    arrival: Arrival::Store,
                    ..
                }
            )
        };
        for &[send, recv] in pairs {
            if is_forward(send) || is_forward(recv) {
                let (send, recv) = (self.index(send), self.index(recv));
                self.steps[send].sends_pieces = true;
                self.steps[recv].receives_pieces = true;
            }
        }
    }

    /// Exchanges by blocking calls.
    fn order(&mut self, schedule: &Schedule, pairs: &[MessageEnds]) {
        let steps = &self.steps;
        let is_coupled = |step: usize| steps[step].sends_pieces && steps[step].receives_pieces;
        let order = sends_first(schedule, &self.first, pairs, is_coupled);
        for (step, sends_first) in self.steps.iter_mut().zip(order) {
            step.sends_first = sends_first;
        }
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::{Collective, Request, ScheduleBuilder, Spec, Split};

    use super::super::bench::forward;
    use super::*;

    /// Exchanges of an allgather: rank, to whom, from whom.
    fn plan(ranks: u32, exchanges: &[(u32, u32, u32)]) -> Plan {
        let request = Request::new(Collective::Allgather, ranks, 8);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
        exchange_all(&mut builder, exchanges);
        Plan::new(&builder.finish(), Library::Rcce, 1024, 32)
    }

    fn exchange_all(builder: &mut ScheduleBuilder, exchanges: &[(u32, u32, u32)]) {
        let mine = |rank| ChunkId(rank);
        for &(rank, to, from) in exchanges {
            let (send, recv) = (builder.list(&[mine(rank)]), builder.list(&[mine(from)]));
            let exchange = Op::Exchange {
                to: Rank(to),
                send,
                from: Rank(from),
                recv,
                arrival: Arrival::Store,
            };
            builder.push(0, Rank(rank), exchange);
        }
    }

    /// A row that ranks begin and end which do not exchange: its first exchange sends first, wherever
    /// it is in the list.
    #[test]
    fn every_other_one_of_a_row_sends_first() {
        let request = Request::new(Collective::Allgather, 5, 8);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
        let [into, out] = [3, 0].map(|rank| builder.list(&[ChunkId(rank)]));
        let (to, from, arrival) = (Rank(2), Rank(0), Arrival::Store);
        builder.push(0, Rank(3), Op::Send { to, chunks: into });
        exchange_all(&mut builder, &[(2, 1, 3), (1, 0, 2), (0, 4, 1)]);
        let recv = Op::Recv {
            from,
            chunks: out,
            arrival,
        };
        builder.push(0, Rank(4), recv);
        let plan = Plan::new(&builder.finish(), Library::Rcce, 1024, 32);
        let order = [2, 1, 0].map(|rank| plan.step(Rank(rank), 0).sends_first);
        assert_eq!(order, [true, false, true]);
    }

    /// Both ends of a message are cut if one of them passes on what still arrives.
    #[test]
    fn messages_to_and_from_a_forward_go_in_pieces() {
        let request = Request::new(Collective::Bcast, 4, 64);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
        builder.set_piece_bytes(Some(16));
        builder.message(0, Rank(0), Rank(3), &[ChunkId(0)]);
        forward(&mut builder, ChunkId(0));
        let plan = Plan::new(&builder.finish(), Library::Ircce, 1024, 32);
        let of = |rank, step| {
            let step = plan.step(Rank(rank), step);
            (step.sends_pieces, step.receives_pieces)
        };
        assert_eq!([of(0, 0), of(3, 0)], [(false, false); 2]);
        assert_eq!(
            [of(0, 1), of(1, 0), of(2, 0)],
            [(true, false), (true, true), (false, true)]
        );
    }

    /// What combines does not pass on pieces, whoever sends them to it: rank 2 takes what comes from rank 0
    /// by rank 1 before rank 5 is there, and rank 0 sends first.
    #[test]
    fn pieces_end_where_they_are_combined() {
        let request = Request::new(Collective::Bcast, 6, 64);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)));
        builder.set_piece_bytes(Some(16));
        let chunks = builder.list(&[ChunkId(0)]);
        let send = |to| Op::Send {
            to: Rank(to),
            chunks,
        };
        let recv = |from| Op::Recv {
            from: Rank(from),
            chunks,
            arrival: Arrival::Store,
        };
        let forward = |from, to, arrival| Op::Forward {
            from: Rank(from),
            to: Rank(to),
            chunks,
            arrival,
        };
        let exchange = Op::Exchange {
            to: Rank(1),
            send: chunks,
            from: Rank(3),
            recv: chunks,
            arrival: Arrival::Store,
        };
        let steps = [
            (0, exchange),
            (1, forward(0, 2, Arrival::Store)),
            (2, forward(1, 5, Arrival::Reduce)),
            (3, send(5)),
            (3, send(0)),
            (4, send(5)),
            (5, recv(3)),
            (5, recv(4)),
            (5, recv(2)),
        ];
        for (rank, step) in steps {
            builder.push(0, Rank(rank), step);
        }
        let plan = Plan::new(&builder.finish(), Library::Rcce, 1024, 32);
        assert!(plan.step(Rank(0), 0).sends_first);
    }

    /// Round a circle every other one sends first; of an odd one two neighbours do.
    #[test]
    fn every_other_one_of_a_circle_sends_first() {
        let circle = |ranks: u32| {
            let exchanges = (0..ranks).map(|at| (at, (at + 1) % ranks, (at + ranks - 1) % ranks));
            let plan = plan(ranks, &exchanges.collect::<Vec<_>>());
            let ranks = (0..ranks).map(Rank);
            ranks
                .map(|rank| plan.step(rank, 0).sends_first)
                .collect::<Vec<_>>()
        };
        assert_eq!(circle(2).iter().filter(|&&first| first).count(), 1);
        for ranks in [4, 6] {
            let order = circle(ranks);
            assert!(order.windows(2).all(|pair| pair[0] != pair[1]), "{order:?}");
        }
        assert_eq!(circle(3).iter().filter(|&&first| first).count(), 2);
    }

    /// Blocks lie one behind the other, places behind each other too.
    #[test]
    fn chunks_have_addresses() {
        let request = Request::new(Collective::Allgather, 3, 12);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(3)));
        builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
        let places = [builder.add_place(5), builder.add_place(7)];
        let schedule = builder.finish();
        let plan = Plan::new(&schedule, Library::Ircce, 1024, 32);
        let address = |chunk| plan.address(&schedule, chunk);
        let chunks = (0..9).map(ChunkId).map(address);
        assert_eq!(
            chunks.collect::<Vec<_>>(),
            [0, 4, 8, 12, 16, 20, 24, 28, 32]
        );
        assert_eq!(places.map(address), [36, 41]);
    }
}
