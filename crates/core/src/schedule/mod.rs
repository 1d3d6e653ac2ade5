// SPDX-License-Identifier: MIT OR Apache-2.0
//! A collective as a value: the steps of every rank, in one stream each or in several.
//!
//! Steps are executed in program order; [`crate::RoundIdx`] labels are for counting and drawing, and
//! [`crate::verify()`] checks that they agree with what depends on what: along a program rounds
//! never fall, and what arrives in a round is sent on in a later one. A schedule names chunks, never
//! bytes in memory, and knows no machine. Where several values of one chunk must be kept apart, or a
//! schedule from elsewhere has buffers of its own, it adds places ([`Place`]), which steps name like
//! chunks.
//!
//! ```
//! use corecast_core::{ChunkId, Collective, Rank, Request, ScheduleBuilder, Spec, Split};
//! let request = Request::new(Collective::Bcast, 2, 64);
//! let mut builder = ScheduleBuilder::new("example", Spec::new(&request, Split::Even(1)));
//! builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
//! let schedule = builder.finish();
//! assert_eq!(schedule.rounds(), 1);
//! assert_eq!(schedule.steps(Rank(1)).len(), 1);
//! ```

mod builder;
mod serve;
mod step;
mod streams;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::route_tree::RouteTree;
use crate::spec::Spec;

pub use builder::{Order, ScheduleBuilder};
pub use step::{Arrival, ChunkList, Op, RecvHalf, SendHalf, Step};
pub(crate) use streams::{Lanes, Streams};
pub use streams::{Position, StepRef};

/// When the first step may begin, on machines whose hardware can hold it back.
///
/// A machine without such hardware treats every launch as independent: no schedule depends on its
/// launch for its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Launch {
    /// Every rank begins when its own program gets there.
    Independent,
    /// One atomic operation of all ranks: it begins when every rank has asked for it and no
    /// rank's port is busy (Park 2019, 3.2.1: "none of the previous broadcast algorithms can
    /// begin until all the communication ports are free").
    AtomicWhenFree,
    /// One atomic operation of all ranks: it begins when every rank has asked for it and rank `r`
    /// is free within the `hops[r]` cycles that the stream needs to get there (Park 2019, 3.2.2
    /// and Figures 11, 12, 14).
    AtomicOnArrival {
        /// Distance of each rank from the head of the chain, in hops; one entry per rank.
        hops: Vec<u32>,
    },
}

/// How messages travel, on machines that have more than one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// As the machine sends messages.
    Messages,
    /// One-sided, through buffers that other ranks can read: the sender puts a message into its own
    /// buffer once and tells every receiver, who takes it from there when it likes (Petrovic et al.
    /// 2012). Machines without such buffers send messages.
    SharedBuffers,
}

/// A place that every rank has beside those of the chunks: scratch memory, or a result that does not
/// lie where the input was.
///
/// Places are named by the ids that follow the chunks of the specification, in the order in which
/// they were added ([`ScheduleBuilder::add_place`]). They hold nothing at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// How many bytes it holds: what is put there has this size.
    pub bytes: u64,
    /// The chunk that must lie here at the end, at the ranks that are promised it, instead of in its
    /// own place.
    pub result_of: Option<ChunkId>,
}

/// What a schedule says beside its steps.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Terms {
    algorithm: String,
    spec: Spec,
    launch: Launch,
    status_bits: Option<u32>,
    piece_bytes: Option<u64>,
    has_flow_control: bool,
    transport: Transport,
    slots: u32,
    multicasts: Vec<Arc<RouteTree>>,
    places: Vec<Place>,
    /// Chunks that must lie in the place of another chunk at the end.
    moved: BTreeMap<ChunkId, ChunkId>,
}

/// The steps of all ranks for one request, labelled with rounds; independent of any machine.
///
/// Two schedules are equal if they say the same, whatever lists of chunks they share inside.
#[derive(Clone, Debug)]
pub struct Schedule {
    terms: Terms,
    steps: Vec<Step>,
    /// Steps of rank `r` are `steps[first_step[r]..first_step[r + 1]]`.
    first_step: Vec<u32>,
    /// Only if a rank has several streams.
    streams: Option<Box<Streams>>,
    chunk_table: Vec<ChunkId>,
    rounds: u32,
    is_plain: bool,
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        fn lists<'a>(schedule: &'a Schedule, step: &Step) -> [&'a [ChunkId]; 2] {
            step.op.lists().map(|list| schedule.chunks(list))
        }
        let same_step = |(ours, theirs): (&Step, &Step)| {
            ours.round == theirs.round
                && ours.op.without_lists() == theirs.op.without_lists()
                && lists(self, ours) == lists(other, theirs)
        };
        let lanes = (self.lanes(), other.lanes());
        let all_lanes = || 0..lanes.0.count() as u32;
        let waits = |number| lanes.0.waits(number).eq(lanes.1.waits(number));
        self.terms == other.terms
            && self.first_step == other.first_step
            && lanes.0.first_step == lanes.1.first_step
            && all_lanes().all(|lane| lanes.0.channel(lane) == lanes.1.channel(lane))
            && (0..self.steps.len() as u32).all(waits)
            && self
                .all_ranks()
                .all(|rank| lanes.0.of(rank) == lanes.1.of(rank))
            && self.steps.iter().zip(&other.steps).all(same_step)
    }
}

impl Eq for Schedule {}

impl Schedule {
    /// Name of the algorithm that made it.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.terms.algorithm
    }

    /// What the schedule promises.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.terms.spec
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.terms.spec.ranks()
    }

    /// When the first step may begin.
    #[must_use]
    pub fn launch(&self) -> &Launch {
        &self.terms.launch
    }

    /// Bits per rank of the status register that the order was read from; `None` if the order
    /// does not depend on status. Hardware pays for reading and sorting it.
    #[must_use]
    pub fn status_bits(&self) -> Option<u32> {
        self.terms.status_bits
    }

    /// Size of the pieces a `Forward` passes on; `None` = the machine's smallest unit.
    #[must_use]
    pub fn piece_bytes(&self) -> Option<u64> {
        self.terms.piece_bytes
    }

    /// Whether a sender waits until its receiver is ready. True unless it was proved or claimed
    /// that nothing overflows without ([`Schedule::without_flow_control`]). Machines whose messages
    /// cannot overflow anything ignore it.
    #[must_use]
    pub fn has_flow_control(&self) -> bool {
        self.terms.has_flow_control
    }

    /// How messages travel.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.terms.transport
    }

    /// The routes of every multicast, which its steps name by their index here.
    #[must_use]
    pub fn multicasts(&self) -> &[Arc<RouteTree>] {
        &self.terms.multicasts
    }

    /// The routes of multicast `number`; `None` if there is no such multicast.
    #[must_use]
    pub fn tree(&self, number: u32) -> Option<&Arc<RouteTree>> {
        self.terms.multicasts.get(number as usize)
    }

    /// The places beside those of the chunks.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.terms.places
    }

    /// Number of places of every rank: the chunks and those that were added.
    #[must_use]
    pub fn places_total(&self) -> u64 {
        u64::from(self.terms.spec.chunks()) + self.terms.places.len() as u64
    }

    /// Where chunks must lie at the end, if not in their own places.
    #[must_use]
    pub fn results(&self) -> BTreeMap<ChunkId, ChunkId> {
        let places = (self.terms.spec.chunks()..).zip(&self.terms.places);
        let added = places.filter_map(|(id, place)| Some((place.result_of?, ChunkId(id))));
        let mut results = self.terms.moved.clone();
        results.extend(added);
        results
    }

    /// Of [`Schedule::results`] those in the place of another chunk ([`ScheduleBuilder::set_result`]).
    #[must_use]
    pub fn moved(&self) -> &BTreeMap<ChunkId, ChunkId> {
        &self.terms.moved
    }

    /// How many messages a connection is claimed to hold before its receiver takes one: 0 unless the
    /// schedule was made for a machine that gives more ([`ScheduleBuilder::set_slots`]).
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.terms.slots
    }

    /// The same schedule, whose senders wait for nobody.
    #[must_use]
    pub fn without_flow_control(mut self) -> Self {
        self.terms.has_flow_control = false;
        self
    }

    /// The same schedule, whose messages go through shared buffers, as that of an algorithm of this
    /// name.
    #[must_use]
    pub fn over_shared_buffers(mut self, algorithm: &str) -> Self {
        self.terms.transport = Transport::SharedBuffers;
        algorithm.clone_into(&mut self.terms.algorithm);
        self
    }

    /// Number of rounds: one more than the highest label.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The steps of `rank`, in program order; those of several streams one stream after the other.
    #[must_use]
    pub fn steps(&self, rank: Rank) -> &[Step] {
        let range = self.first_step[rank.index()]..self.first_step[rank.index() + 1];
        &self.steps[range.start as usize..range.end as usize]
    }

    /// Whether a rank has several streams, or one whose channel is not 0.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.streams.is_some()
    }

    /// Whether a machine that does one thing at a time per rank can carry it out as it is: one stream
    /// per rank, no slots that it counts on, and no forward that combines.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The streams of `rank`: which of its steps each has, and its channel.
    pub fn streams(&self, rank: Rank) -> impl Iterator<Item = (Range<usize>, u32)> + '_ {
        let lanes = self.lanes();
        let first = self.first_step[rank.index()];
        lanes.of(rank).map(move |lane| {
            let bounds = [lane, lane + 1].map(|at| lanes.first_step[at as usize] - first);
            (bounds[0] as usize..bounds[1] as usize, lanes.channel(lane))
        })
    }

    /// The steps of `rank` that its step `index` waits for, beside those before it in its stream.
    pub fn waits(&self, rank: Rank, index: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.first_step[rank.index()];
        let waits = self.lanes().waits(first + index as u32);
        waits.map(move |on| (on - first) as usize)
    }

    /// Where step `index` of `rank` is, in the words of messages.
    #[must_use]
    pub fn position(&self, rank: Rank, index: usize) -> Position {
        let number = self.first_step[rank.index()] + index as u32;
        let lanes = self.lanes();
        let lane = lanes.at(rank, number);
        Position {
            stream: (lanes.of(rank).len() > 1).then(|| lane - lanes.of(rank).start),
            step: number - lanes.first_step[lane as usize],
        }
    }

    /// Step `index` of `rank` as a builder names it.
    #[must_use]
    pub fn step_ref(&self, rank: Rank, index: usize) -> StepRef {
        self.position(rank, index).of(rank)
    }

    /// The streams of all ranks, numbered through.
    pub(crate) fn lanes(&self) -> Lanes<'_> {
        let streams = self.streams.as_deref();
        Lanes {
            streams,
            first_step: streams.map_or(&self.first_step, |streams| &streams.first_step),
        }
    }

    /// The steps of a lane.
    pub(crate) fn steps_of(&self, lane: u32) -> &[Step] {
        let numbers = self.lanes().numbers(lane);
        &self.steps[numbers.start as usize..numbers.end as usize]
    }

    /// Sets the label of every step, in the order in which steps are numbered.
    pub(crate) fn set_rounds(&mut self, rounds: &[u32]) {
        assert_eq!(rounds.len(), self.steps.len(), "a label per step");
        for (step, &round) in self.steps.iter_mut().zip(rounds) {
            step.round = RoundIdx(round);
        }
        let rounds = self.steps.iter().map(|step| step.last_round().0 + 1);
        self.rounds = rounds.max().unwrap_or(0);
    }

    /// The rank of a step, steps being numbered through all ranks.
    pub(crate) fn rank_of(&self, number: u32) -> Rank {
        Rank(self.first_step.partition_point(|&first| first <= number) as u32 - 1)
    }

    /// The number of each rank's first step, steps being numbered through all ranks, and their total.
    pub(crate) fn first_steps(&self) -> &[u32] {
        &self.first_step
    }

    /// Number of steps of all ranks together.
    #[must_use]
    pub fn steps_total(&self) -> usize {
        self.steps.len()
    }

    /// The chunks of a list.
    #[must_use]
    pub fn chunks(&self, list: ChunkList) -> &[ChunkId] {
        &self.chunk_table[list.start as usize..(list.start + list.len) as usize]
    }

    /// Size of a chunk, or of a place, in bytes.
    #[must_use]
    pub fn chunk_bytes(&self, chunk: ChunkId) -> u64 {
        match chunk.0.checked_sub(self.terms.spec.chunks()) {
            None => self.terms.spec.chunk_bytes(chunk),
            Some(index) => self.terms.places[index as usize].bytes,
        }
    }

    /// Payload of a message holding the chunks of a list, in bytes.
    #[must_use]
    pub fn message_bytes(&self, list: ChunkList) -> u64 {
        let chunks = self.chunks(list).iter();
        chunks.map(|&chunk| self.chunk_bytes(chunk)).sum()
    }

    /// All ranks, ascending.
    pub fn all_ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.ranks()).map(Rank)
    }

    /// Every message with the rank that sends it and the index of its step; a multicast is one to
    /// each of its receivers, in the order of the ranks.
    pub fn sends(&self) -> impl Iterator<Item = (Rank, usize, SendHalf)> + '_ {
        self.all_ranks().flat_map(move |rank| {
            let steps = self.steps(rank).iter().enumerate();
            steps.flat_map(move |(index, step)| {
                let halves = step.send_half().into_iter().chain(self.branches(step));
                halves.map(move |half| (rank, index, half))
            })
        })
    }

    /// The messages of a multicast, one to every receiver; none for any other step.
    pub fn branches(&self, step: &Step) -> impl Iterator<Item = SendHalf> + '_ {
        let (tree, chunks) = match step.op {
            Op::Multicast { number, chunks } => (self.tree(number), chunks),
            _ => (None, ChunkList::EMPTY),
        };
        let round = step.round;
        let receivers = tree.into_iter().flat_map(|tree| tree.edges());
        receivers.map(move |(_, to)| SendHalf { to, chunks, round })
    }

    /// Takes the schedule apart so that steps can be changed.
    #[must_use]
    pub fn edit(self) -> ScheduleBuilder {
        ScheduleBuilder::from_schedule(self)
    }
}
