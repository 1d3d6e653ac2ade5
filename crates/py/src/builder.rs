// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making schedules step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use corecast_core::request::CHUNKS_MAX;
use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, RouteTree, Schedule as CoreSchedule,
    ScheduleBuilder as CoreBuilder, Spec, Split, StepRef, Transport,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::refusal::Refusal;
use crate::schedule::{Request, Schedule, check_name, known_rank, refuse};

/// Most streams of a rank beside the first.
const STREAMS_MAX: u32 = 1 << 16;
/// Highest round that a step is given, plus one; as many as a schedule has messages at most.
const ROUNDS_MAX: u32 = 1 << 24;
/// See [`corecast_core::ScheduleBuilder`]; names of ranks and places that there are not are refused.
#[pyclass(module = "corecast._core")]
pub struct ScheduleBuilder {
    inner: CoreBuilder,
    places: u64,
    /// How many streams ranks have beside the first.
    more_streams: BTreeMap<u32, u32>,
}

/// A step as Python names it: rank, stream and number in there.
type At = (u32, u32, u32);

impl ScheduleBuilder {
    /// A schedule taken apart, as that of an algorithm of this name.
    pub fn of(schedule: CoreSchedule, name: &str) -> Self {
        let places = schedule.places_total();
        let streams = schedule.all_ranks().map(|rank| {
            let count = schedule.streams(rank).count() as u32; // no more than steps
            (rank.0, count.saturating_sub(1))
        });
        let more_streams = streams.filter(|&(_, more)| more > 0).collect();
        let mut inner = schedule.edit();
        inner.set_algorithm(name);
        Self {
            inner,
            places,
            more_streams,
        }
    }

    fn rank(&self, rank: u32) -> Result<Rank, Refusal> {
        known_rank(rank, self.inner.spec().ranks())
    }

    fn list(&mut self, chunks: &[u32]) -> Result<ChunkList, Refusal> {
        let unknown = chunks
            .iter()
            .find(|&&chunk| u64::from(chunk) >= self.places);
        if let Some(chunk) = unknown {
            return Err(refuse(format!("chunk {chunk} does not exist"))
                .help(format!("chunks and places are 0 to {}", self.places - 1))
                .fields(json!({"chunk": chunk, "places": self.places})));
        }
        let chunks: Vec<ChunkId> = chunks.iter().copied().map(ChunkId).collect();
        Ok(self.inner.list(&chunks))
    }

    fn push(&mut self, round: u32, (rank, stream): (u32, u32), op: Op) -> Result<At, Refusal> {
        let of_rank = self.rank(rank)?;
        if round >= ROUNDS_MAX {
            return Err(refuse(format!("round {round} is out of range"))
                .help(format!("rounds are 0 to {}", ROUNDS_MAX - 1)));
        }
        let streams = self.more_streams.get(&rank).copied().unwrap_or(0);
        if stream > streams {
            return Err(
                refuse(format!("rank {rank} has no stream {stream}")).help(format!(
                    "it has streams 0 to {streams}; add_stream adds one"
                )),
            );
        }
        let at = self.inner.push_on(round, (of_rank, stream), op);
        Ok((rank, stream, at.step))
    }

    fn place(&mut self) {
        self.places += 1;
    }
}

const fn arrival(combine: bool) -> Arrival {
    if combine {
        Arrival::Reduce
    } else {
        Arrival::Store
    }
}

#[pymethods]
impl ScheduleBuilder {
    #[new]
    #[pyo3(signature = (request, name, parts=1, part_bytes=None))]
    fn new(
        request: &Request,
        name: &str,
        parts: u32,
        part_bytes: Option<u64>,
    ) -> Result<Self, Refusal> {
        check_name(name)?;
        let split = match part_bytes {
            Some(bytes) => Split::Fixed(bytes.max(1)),
            None => Split::Even(parts.max(1)),
        };
        let blocks = u64::from(Spec::new(&request.inner, Split::Even(1)).blocks());
        let parts = match split {
            Split::Even(parts) => u64::from(parts),
            Split::Fixed(bytes) => request.inner.bytes.div_ceil(bytes).max(1),
        };
        let chunks = blocks.saturating_mul(parts);
        if chunks > CHUNKS_MAX {
            return Err(
                refuse(format!("{chunks} chunks are more than {CHUNKS_MAX}"))
                    .help("use fewer or larger parts"),
            );
        }
        let inner = CoreBuilder::new(name, Spec::new(&request.inner, split));
        let places = u64::from(inner.spec().chunks());
        Ok(Self {
            inner,
            places,
            more_streams: BTreeMap::new(),
        })
    }

    /// Chunks of all blocks.
    #[getter]
    fn chunks(&self) -> u32 {
        self.inner.spec().chunks()
    }

    /// Number of blocks.
    #[getter]
    fn blocks(&self) -> u32 {
        self.inner.spec().blocks()
    }

    /// Chunks per block.
    #[getter]
    fn parts(&self) -> u32 {
        self.inner.spec().parts()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.spec().ranks()
    }

    /// The chunks of a block.
    fn block(&self, block: u32) -> Result<Vec<u32>, Refusal> {
        let blocks = self.inner.spec().blocks();
        if block >= blocks {
            return Err(refuse(format!("block {block} does not exist"))
                .help(format!("the blocks are 0 to {}", blocks - 1)));
        }
        let chunks = self.inner.spec().block_chunks(block);
        Ok(chunks.map(|chunk| chunk.0).collect())
    }

    /// A place beside the chunks, at every rank.
    fn add_place(&mut self, bytes: u64) -> Result<u32, Refusal> {
        if self.places >= CHUNKS_MAX || bytes > corecast_study::TOTAL_BYTES_MAX {
            return Err(refuse("there is no room for this place".to_owned())
                .help(format!("at most {CHUNKS_MAX} places of at most 1 GiB")));
        }
        self.place();
        Ok(self.inner.add_place(bytes).0)
    }

    /// A place where a chunk must lie at the end.
    fn add_result(&mut self, chunk: u32) -> Result<u32, Refusal> {
        if chunk >= self.inner.spec().chunks() || self.places >= CHUNKS_MAX {
            return Err(
                refuse(format!("chunk {chunk} does not exist")).help(format!(
                    "the chunks are 0 to {}",
                    self.inner.spec().chunks() - 1
                )),
            );
        }
        self.place();
        Ok(self.inner.add_result(ChunkId(chunk)).0)
    }

    /// Lets a chunk lie at the end where another one began.
    fn set_result(&mut self, chunk: u32, place: u32) -> Result<(), Refusal> {
        let spec = self.inner.spec();
        let chunks = spec.chunks();
        if let Some(unknown) = [chunk, place].into_iter().find(|&chunk| chunk >= chunks) {
            return Err(refuse(format!("chunk {unknown} does not exist"))
                .help(format!("the chunks are 0 to {}", chunks - 1)));
        }
        let [bytes, room] = [chunk, place].map(|chunk| spec.chunk_bytes(ChunkId(chunk)));
        if bytes != room {
            return Err(refuse(format!(
                "chunk {chunk} has {bytes} bytes, and chunk {place} {room}"
            ))
            .help("a result can only lie in the place of a chunk of its size".to_owned()));
        }
        self.inner.set_result(ChunkId(chunk), ChunkId(place));
        Ok(())
    }

    /// A message: the send and the matching receive.
    #[pyo3(signature = (round, start, end, chunks, combine=false))]
    fn message(
        &mut self,
        round: u32,
        start: u32,
        end: u32,
        chunks: Vec<u32>,
        combine: bool,
    ) -> Result<(At, At), Refusal> {
        let (from, to, chunks) = (self.rank(start)?, self.rank(end)?, self.list(&chunks)?);
        let sent = self.push(round, (start, 0), Op::Send { to, chunks })?;
        let arrival = arrival(combine);
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        Ok((sent, self.push(round, (end, 0), recv)?))
    }

    /// A send.
    #[pyo3(signature = (round, rank, to, chunks, stream=0))]
    fn send(
        &mut self,
        round: u32,
        rank: u32,
        to: u32,
        chunks: Vec<u32>,
        stream: u32,
    ) -> Result<At, Refusal> {
        let (to, chunks) = (self.rank(to)?, self.list(&chunks)?);
        self.push(round, (rank, stream), Op::Send { to, chunks })
    }

    /// A receive.
    #[pyo3(signature = (round, rank, start, chunks, combine=false, stream=0))]
    fn recv(
        &mut self,
        round: u32,
        rank: u32,
        start: u32,
        chunks: Vec<u32>,
        combine: bool,
        stream: u32,
    ) -> Result<At, Refusal> {
        let (from, chunks) = (self.rank(start)?, self.list(&chunks)?);
        let arrival = arrival(combine);
        self.push(
            round,
            (rank, stream),
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        )
    }

    /// A send and a receive that proceed together.
    #[pyo3(signature = (round, rank, to, sends, start, receives, combine=false, stream=0))]
    #[expect(clippy::too_many_arguments, reason = "two ends, each with its chunks")]
    fn exchange(
        &mut self,
        round: u32,
        rank: u32,
        to: u32,
        sends: Vec<u32>,
        start: u32,
        receives: Vec<u32>,
        combine: bool,
        stream: u32,
    ) -> Result<At, Refusal> {
        let (to, send) = (self.rank(to)?, self.list(&sends)?);
        let (from, recv) = (self.rank(start)?, self.list(&receives)?);
        let arrival = arrival(combine);
        self.push(
            round,
            (rank, stream),
            Op::Exchange {
                to,
                send,
                from,
                recv,
                arrival,
            },
        )
    }

    /// A receive that is passed on while it still arrives.
    #[pyo3(signature = (round, rank, start, to, chunks, combine=false, stream=0))]
    #[expect(clippy::too_many_arguments, reason = "two ends, and where the step is")]
    fn forward(
        &mut self,
        round: u32,
        rank: u32,
        start: u32,
        to: u32,
        chunks: Vec<u32>,
        combine: bool,
        stream: u32,
    ) -> Result<At, Refusal> {
        let (from, to, chunks) = (self.rank(start)?, self.rank(to)?, self.list(&chunks)?);
        let arrival = arrival(combine);
        self.push(
            round,
            (rank, stream),
            Op::Forward {
                from,
                to,
                chunks,
                arrival,
            },
        )
    }

    /// A copy, or a reduction, between places of one rank.
    #[pyo3(signature = (round, rank, source, target, combine=false, stream=0))]
    fn local(
        &mut self,
        round: u32,
        rank: u32,
        source: Vec<u32>,
        target: Vec<u32>,
        combine: bool,
        stream: u32,
    ) -> Result<At, Refusal> {
        let (source, target) = (self.list(&source)?, self.list(&target)?);
        let arrival = arrival(combine);
        self.push(
            round,
            (rank, stream),
            Op::Local {
                source,
                target,
                arrival,
            },
        )
    }

    /// One message along fixed routes to many ranks.
    fn multicast(
        &mut self,
        round: u32,
        root: u32,
        edges: Vec<(u32, u32)>,
        chunks: Vec<u32>,
    ) -> Result<(), Refusal> {
        let (from, chunks) = (self.rank(root)?, self.list(&chunks)?);
        let (mut routes, mut behind) = (Vec::new(), BTreeSet::new());
        for (before, rank) in edges {
            routes.push((self.rank(before)?, self.rank(rank)?));
            if rank == root || !behind.insert(rank) {
                return Err(refuse(format!("a route leads to rank {rank} once too often")).help(
                    "edges are (rank before, rank behind); every rank but the root is behind one",
                ));
            }
        }
        if behind.is_empty() {
            return Err(refuse("a multicast reaches nobody".to_owned())
                .help("give an edge (rank before, rank behind) for every receiver"));
        }
        let tree = RouteTree::to_some(from, self.inner.spec().ranks(), &routes);
        let number = self.inner.add_multicast(Arc::new(tree));
        self.push(round, (root, 0), Op::Multicast { number, chunks })?;
        for rank in behind {
            let op = Op::RecvMulticast {
                from,
                number,
                chunks,
            };
            self.push(round, (rank, 0), op)?;
        }
        Ok(())
    }

    /// One more stream of a rank.
    fn add_stream(&mut self, rank: u32, channel: u32) -> Result<u32, Refusal> {
        let of_rank = self.rank(rank)?;
        let streams = self.more_streams.entry(rank).or_default();
        if *streams >= STREAMS_MAX {
            return Err(
                refuse(format!("rank {rank} has {STREAMS_MAX} streams already"))
                    .help("put steps that wait for each other into one"),
            );
        }
        *streams += 1;
        Ok(self.inner.add_stream(of_rank, channel))
    }

    /// Lets a step begin only when another one of its rank is done.
    fn wait(&mut self, step: At, on: At) -> Result<(), Refusal> {
        let (step, on) = (self.step_ref(step)?, self.step_ref(on)?);
        if step.rank != on.rank {
            return Err(refuse(format!(
                "a step of rank {} waits for one of rank {}",
                step.rank, on.rank
            ))
            .help("ranks wait for each other by messages"));
        }
        self.inner.wait(step, on);
        Ok(())
    }

    /// Number of steps of a rank so far.
    fn step_count(&mut self, rank: u32) -> Result<usize, Refusal> {
        let rank = self.rank(rank)?;
        Ok(self.inner.steps_mut(rank).len())
    }

    /// Removes a step.
    fn remove(&mut self, rank: u32, step: usize) -> Result<(), Refusal> {
        let of_rank = self.rank(rank)?;
        self.movable_step(rank, step)?;
        self.inner.steps_mut(of_rank).remove(step);
        Ok(())
    }

    /// Puts a step before another one of its rank.
    fn reorder(&mut self, rank: u32, step: usize, before: usize) -> Result<(), Refusal> {
        let of_rank = self.rank(rank)?;
        self.movable_step(rank, step)?;
        self.movable_step(rank, before)?;
        let steps = self.inner.steps_mut(of_rank);
        let taken = steps.remove(step);
        steps.insert(before.min(steps.len()), taken);
        Ok(())
    }

    /// Size of the pieces that are forwarded.
    fn set_piece_bytes(&mut self, bytes: Option<u64>) {
        self.inner.set_piece_bytes(bytes.map(|bytes| bytes.max(1)));
    }

    /// Messages that a connection is to hold.
    fn set_slots(&mut self, slots: u32) {
        self.inner.set_slots(slots);
    }

    /// Messages go through buffers that others can read.
    fn set_shared_buffers(&mut self) {
        self.inner.set_transport(Transport::SharedBuffers);
    }

    /// The schedule as it is now.
    fn finish(&self) -> Schedule {
        Schedule::new(self.inner.clone().finish())
    }
}

impl ScheduleBuilder {
    fn step_ref(&mut self, (rank, stream, step): At) -> Result<StepRef, Refusal> {
        let of_rank = self.rank(rank)?;
        let has_stream = stream <= self.more_streams.get(&rank).copied().unwrap_or(0);
        let is_known = has_stream && (step as usize) < self.inner.stream_mut(of_rank, stream).len();
        match is_known {
            true => Ok(StepRef {
                rank: of_rank,
                stream,
                step,
            }),
            false => Err(
                refuse(format!("rank {rank} has no step {step} in stream {stream}"))
                    .help("a step is what send, recv and the others return"),
            ),
        }
    }

    /// Refuses steps that there are not, and those of ranks whose streams name steps by their numbers.
    fn movable_step(&mut self, rank: u32, step: usize) -> Result<(), Refusal> {
        let count = self.step_count(rank)?;
        if step >= count {
            return Err(refuse(format!("rank {rank} has no step {step}"))
                .help(format!("it has {count} steps, counted from 0")));
        }
        let waits = self.inner.waits_mut().iter();
        match waits.clone().any(|(of, _)| of.rank.0 == rank) {
            true => Err(refuse(format!(
                "steps of rank {rank} wait for one another by their numbers"
            ))
            .help("build the schedule anew")),
            false => Ok(()),
        }
    }
}
