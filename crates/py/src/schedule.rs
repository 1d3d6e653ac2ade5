//! Requests, schedules, and making schedules step by step.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, Request as CoreRequest, Schedule as CoreSchedule,
    ScheduleBuilder as CoreBuilder, Spec, Split, Step, Transport, algorithm, request::CHUNKS_MAX,
};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;

/// Highest round that a step is given, plus one; as many as a schedule has messages at most.
const ROUNDS_MAX: u32 = 1 << 24;
/// Longest name of an algorithm.
const NAME_CHARS_MAX: usize = 64;

fn refuse(message: String) -> Refusal {
    Refusal::new("ScheduleError", message)
}

/// A name that lives as long as the program, as those of the registry do; one of each is kept.
pub fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// Refuses names that no table has room for.
fn check_name(name: &str) -> Result<(), Refusal> {
    let length = name.chars().count();
    match (1..=NAME_CHARS_MAX).contains(&length) {
        true => Ok(()),
        false => Err(refuse(format!(
            "a name of {length} characters is no name of an algorithm"
        ))
        .help(format!(
            "use 1 to {NAME_CHARS_MAX} characters, such as `my-tree`"
        ))),
    }
}

/// See [`corecast_core::Request`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Request {
    /// The request.
    pub inner: CoreRequest,
}

#[pymethods]
impl Request {
    /// Name of the collective.
    #[getter]
    fn collective(&self) -> &'static str {
        self.inner.collective.name()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks
    }

    /// The rank that sends or receives all; 0 where there is none.
    #[getter]
    fn root(&self) -> u32 {
        self.inner.root.0
    }

    /// The size.
    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// Size of an element, on whose borders chunks are cut.
    #[getter]
    fn element_bytes(&self) -> u32 {
        self.inner.element_bytes
    }

    /// Size of parts asked for.
    #[getter]
    fn part_bytes(&self) -> Option<u64> {
        self.inner.tuning.part_bytes
    }

    /// Size of pieces asked for.
    #[getter]
    fn piece_bytes(&self) -> Option<u64> {
        self.inner.tuning.piece_bytes
    }

    /// Most children in trees.
    #[getter]
    fn arity(&self) -> u32 {
        self.inner.tuning.arity
    }

    /// Bytes that every rank is busy with at the start.
    #[getter]
    fn busy_bytes(&self) -> Vec<u64> {
        let ranks = (0..self.inner.ranks).map(Rank);
        ranks.map(|rank| self.inner.busy_bytes_of(rank)).collect()
    }

    /// Width and height of the mesh and ranks per router, if the ranks sit on one.
    #[getter]
    fn grid(&self) -> Option<(u32, u32, u32)> {
        let grid = self.inner.platform.grid?;
        Some((grid.width, grid.height, grid.per_node))
    }

    /// Where a rank sits on the mesh (x east, y north), if there is one.
    fn position(&self, rank: u32) -> Result<Option<(u32, u32)>, Refusal> {
        known_rank(rank, self.inner.ranks)?;
        Ok(self.inner.platform.grid.map(|grid| grid.position(rank)))
    }

    fn __repr__(&self) -> String {
        let Self { inner } = self;
        format!(
            "Request({:?}, ranks={}, bytes={}, root={})",
            inner.collective.name(),
            inner.ranks,
            inner.bytes,
            inner.root
        )
    }
}

fn known_rank(rank: u32, ranks: u32) -> Result<Rank, Refusal> {
    match rank < ranks {
        true => Ok(Rank(rank)),
        false => Err(refuse(format!("rank {rank} does not exist"))
            .help(format!("with {ranks} ranks it is 0 to {}", ranks - 1))
            .fields(json!({"rank": rank, "ranks": ranks}))),
    }
}

/// See [`corecast_core::Schedule`].
#[pyclass(frozen, eq, module = "corecast._core")]
#[derive(PartialEq)]
pub struct Schedule {
    /// The schedule.
    pub inner: Arc<CoreSchedule>,
}

impl Schedule {
    /// A schedule as Python holds it.
    pub fn new(schedule: CoreSchedule) -> Self {
        let inner = Arc::new(schedule);
        Self { inner }
    }

    fn step(&self, step: &Step) -> Value {
        let chunks = |list: ChunkList| -> Vec<u32> {
            self.inner
                .chunks(list)
                .iter()
                .map(|chunk| chunk.0)
                .collect()
        };
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("round", json!(step.round.0));
        let kind = match step.op {
            Op::Send { .. } => "send",
            Op::Recv { .. } => "recv",
            Op::Exchange { .. } => "exchange",
            Op::Forward { .. } => "forward",
            Op::Multicast { .. } => "multicast",
            Op::RecvMulticast { .. } => "recv_multicast",
            Op::Local { .. } => "local",
        };
        put("kind", json!(kind));
        put("to", json!(step.send_half().map(|half| half.to.0)));
        put("sends", json!(chunks(step.sent())));
        let received = step.recv_half();
        put("from", json!(received.map(|half| half.from.0)));
        put(
            "receives",
            json!(received.map_or(Vec::new(), |half| chunks(half.chunks))),
        );
        let (source, target, arrival) = match step.op {
            Op::Local {
                source,
                target,
                arrival,
            } => (chunks(source), chunks(target), Some(arrival)),
            _ => (Vec::new(), Vec::new(), received.map(|half| half.arrival)),
        };
        put("source", json!(source));
        put("target", json!(target));
        put(
            "combines",
            json!(arrival.is_some_and(|arrival| arrival != Arrival::Store)),
        );
        Value::Object(fields)
    }
}

#[pymethods]
impl Schedule {
    /// Name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &str {
        self.inner.algorithm()
    }

    /// Name of the collective.
    #[getter]
    fn collective(&self) -> &'static str {
        self.inner.spec().collective().name()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks()
    }

    /// The rank that sends or receives all; 0 where there is none.
    #[getter]
    fn root(&self) -> u32 {
        self.inner.spec().root().0
    }

    /// Size of a block.
    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.spec().block_bytes(0)
    }

    /// Number of rounds.
    #[getter]
    fn rounds(&self) -> u32 {
        self.inner.rounds()
    }

    /// Messages of all ranks.
    #[getter]
    fn messages(&self) -> usize {
        self.inner.sends().count()
    }

    /// Chunks per block.
    #[getter]
    fn parts(&self) -> u32 {
        self.inner.spec().parts()
    }

    /// Size of every chunk, and of the places after them.
    #[getter]
    fn chunk_bytes(&self) -> Vec<u64> {
        let places = 0..self.inner.places_total() as u32;
        places
            .map(|chunk| self.inner.chunk_bytes(ChunkId(chunk)))
            .collect()
    }

    /// The steps of a rank, as JSON.
    fn steps(&self, rank: u32) -> Result<String, Refusal> {
        let rank = known_rank(rank, self.inner.ranks())?;
        let steps = self.inner.steps(rank).iter();
        Ok(Value::Array(steps.map(|step| self.step(step)).collect()).to_string())
    }

    /// The same schedule taken apart, as that of an algorithm of this name.
    fn edit(&self, name: &str) -> Result<ScheduleBuilder, Refusal> {
        check_name(name)?;
        let schedule = (*self.inner).clone();
        let places = schedule.places_total();
        let mut inner = schedule.edit();
        inner.set_algorithm(name);
        Ok(ScheduleBuilder { inner, places })
    }

    /// Refuses a schedule that is for something else than a request, or has a name of the registry.
    fn check_answers(&self, request: &Request) -> Result<(), Refusal> {
        let name = self.inner.algorithm();
        let asked = Spec::new(&request.inner, Split::Even(1));
        let has = self.inner.spec();
        let say = |spec: &Spec| {
            let (collective, bytes) = (spec.collective(), spec.block_bytes(0));
            let (ranks, root) = (spec.ranks(), spec.root());
            format!("{collective} of {bytes} bytes over {ranks} ranks with root {root}")
        };
        if algorithm::find(has.collective(), name).is_some() {
            return Err(refuse(format!("corecast has an algorithm called `{name}`"))
                .help("give yours another name"));
        }
        if say(&asked) != say(has) {
            return Err(refuse(format!(
                "{name}: the schedule is for {}, asked for was {}",
                say(has),
                say(&asked)
            ))
            .help("make the builder with the request that the function is given"));
        }
        Ok(())
    }

    fn __str__(&self) -> String {
        self.inner.to_string().trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Schedule {} by {}: {} ranks, {} rounds, {} messages>",
            self.collective(),
            self.algorithm(),
            self.ranks(),
            self.rounds(),
            self.messages()
        )
    }
}

/// See [`corecast_core::ScheduleBuilder`]; names of ranks and places that there are not are refused.
#[pyclass(module = "corecast._core")]
pub struct ScheduleBuilder {
    inner: CoreBuilder,
    places: u64,
}

impl ScheduleBuilder {
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

    fn push(&mut self, round: u32, rank: u32, op: Op) -> Result<(), Refusal> {
        let rank = self.rank(rank)?;
        if round >= ROUNDS_MAX {
            return Err(refuse(format!("round {round} is out of range"))
                .help(format!("rounds are 0 to {}", ROUNDS_MAX - 1)));
        }
        self.inner.push(round, rank, op);
        Ok(())
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
        Ok(Self { inner, places })
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

    /// A message: the send and the matching receive.
    #[pyo3(signature = (round, start, end, chunks, combine=false))]
    fn message(
        &mut self,
        round: u32,
        start: u32,
        end: u32,
        chunks: Vec<u32>,
        combine: bool,
    ) -> Result<(), Refusal> {
        let (from, to, chunks) = (self.rank(start)?, self.rank(end)?, self.list(&chunks)?);
        self.push(round, start, Op::Send { to, chunks })?;
        let arrival = arrival(combine);
        self.push(
            round,
            end,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        )
    }

    /// A send.
    fn send(&mut self, round: u32, rank: u32, to: u32, chunks: Vec<u32>) -> Result<(), Refusal> {
        let (to, chunks) = (self.rank(to)?, self.list(&chunks)?);
        self.push(round, rank, Op::Send { to, chunks })
    }

    /// A receive.
    #[pyo3(signature = (round, rank, start, chunks, combine=false))]
    fn recv(
        &mut self,
        round: u32,
        rank: u32,
        start: u32,
        chunks: Vec<u32>,
        combine: bool,
    ) -> Result<(), Refusal> {
        let (from, chunks) = (self.rank(start)?, self.list(&chunks)?);
        let arrival = arrival(combine);
        self.push(
            round,
            rank,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        )
    }

    /// A send and a receive that proceed together.
    #[pyo3(signature = (round, rank, to, sends, start, receives, combine=false))]
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
    ) -> Result<(), Refusal> {
        let (to, send) = (self.rank(to)?, self.list(&sends)?);
        let (from, recv) = (self.rank(start)?, self.list(&receives)?);
        let arrival = arrival(combine);
        self.push(
            round,
            rank,
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
    #[pyo3(signature = (round, rank, start, to, chunks, combine=false))]
    fn forward(
        &mut self,
        round: u32,
        rank: u32,
        start: u32,
        to: u32,
        chunks: Vec<u32>,
        combine: bool,
    ) -> Result<(), Refusal> {
        let (from, to, chunks) = (self.rank(start)?, self.rank(to)?, self.list(&chunks)?);
        let arrival = arrival(combine);
        self.push(
            round,
            rank,
            Op::Forward {
                from,
                to,
                chunks,
                arrival,
            },
        )
    }

    /// A copy, or a reduction, between places of one rank.
    #[pyo3(signature = (round, rank, source, target, combine=false))]
    fn local(
        &mut self,
        round: u32,
        rank: u32,
        source: Vec<u32>,
        target: Vec<u32>,
        combine: bool,
    ) -> Result<(), Refusal> {
        let (source, target) = (self.list(&source)?, self.list(&target)?);
        let arrival = arrival(combine);
        self.push(
            round,
            rank,
            Op::Local {
                source,
                target,
                arrival,
            },
        )
    }

    /// Number of steps of a rank so far.
    fn step_count(&mut self, rank: u32) -> Result<usize, Refusal> {
        let rank = self.rank(rank)?;
        Ok(self.inner.steps_mut(rank).len())
    }

    /// Removes a step.
    fn remove(&mut self, rank: u32, step: usize) -> Result<(), Refusal> {
        let of_rank = self.rank(rank)?;
        self.known_step(rank, step)?;
        self.inner.steps_mut(of_rank).remove(step);
        Ok(())
    }

    /// Puts a step before another one of its rank.
    fn reorder(&mut self, rank: u32, step: usize, before: usize) -> Result<(), Refusal> {
        let of_rank = self.rank(rank)?;
        self.known_step(rank, step)?;
        self.known_step(rank, before)?;
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
    fn known_step(&mut self, rank: u32, step: usize) -> Result<(), Refusal> {
        let count = self.step_count(rank)?;
        match step < count {
            true => Ok(()),
            false => Err(refuse(format!("rank {rank} has no step {step}"))
                .help(format!("it has {count} steps, counted from 0"))),
        }
    }
}
