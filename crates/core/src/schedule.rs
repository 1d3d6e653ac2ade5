//! A collective as a value: the steps of every rank, in program order.
//!
//! Steps are executed in program order; [`RoundIdx`] labels are for counting and drawing, and
//! [`crate::verify()`] checks that they agree with what depends on what: along a program rounds
//! never fall, and what arrives in a round is sent on in a later one. A schedule names chunks, never
//! bytes in memory, and knows no machine.
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

use std::sync::Arc;

use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::multicast::Multicast;
use crate::route_tree::RouteTree;
use crate::spec::Spec;

/// A list of chunks kept in the schedule's table; read it with [`Schedule::chunks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkList {
    start: u32,
    len: u32,
}

impl ChunkList {
    /// Number of chunks in the list.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list names no chunk.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The `len` chunks of this list from position `first` on.
    ///
    /// Messages that name neighbouring chunks of one list share its storage, so that a schedule
    /// over many ranks stays small.
    ///
    /// # Panics
    /// If the list ends before that.
    #[must_use]
    pub fn slice(self, first: u32, len: u32) -> Self {
        let end = u64::from(first) + u64::from(len);
        assert!(
            end <= u64::from(self.len),
            "{first} + {len} chunks in a list of {}",
            self.len
        );
        Self {
            start: self.start + first,
            len,
        }
    }
}

/// What a receiving step does with the data that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Keep it, replacing what the rank held under that name.
    Store,
    /// Combine it with what the rank holds: `held = held op arrived`, element by element.
    Reduce,
}

/// One operation of one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Send one message holding `chunks`.
    Send {
        /// Receiver.
        to: Rank,
        /// What is sent.
        chunks: ChunkList,
    },
    /// Receive one message holding `chunks`.
    Recv {
        /// Sender.
        from: Rank,
        /// What arrives.
        chunks: ChunkList,
        /// Keep or combine.
        arrival: Arrival,
    },
    /// A send and a receive that proceed together; done when both are.
    Exchange {
        /// Receiver of the outgoing message.
        to: Rank,
        /// What is sent: the values held *before* this step.
        send: ChunkList,
        /// Sender of the incoming message.
        from: Rank,
        /// What arrives.
        recv: ChunkList,
        /// Keep or combine what arrives.
        arrival: Arrival,
    },
    /// Receive from one rank, keep it, and send the same on to another while it still arrives
    /// (cut-through; Park 2019, 3.1: "Fwd").
    ///
    /// The label is the round of the receive; the send belongs to the next round.
    Forward {
        /// Sender of the incoming message.
        from: Rank,
        /// Receiver of the outgoing message.
        to: Rank,
        /// What passes through.
        chunks: ChunkList,
    },
}

/// An [`Op`] and the round it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Round label.
    pub round: RoundIdx,
    /// The operation.
    pub op: Op,
}

/// The sending half of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendHalf {
    /// Receiver.
    pub to: Rank,
    /// What is sent.
    pub chunks: ChunkList,
    /// Round of the message.
    pub round: RoundIdx,
}

/// The receiving half of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecvHalf {
    /// Sender.
    pub from: Rank,
    /// What arrives.
    pub chunks: ChunkList,
    /// Keep or combine.
    pub arrival: Arrival,
    /// Round of the message.
    pub round: RoundIdx,
}

impl Step {
    /// The message this step sends, if it sends one.
    #[must_use]
    pub fn send_half(&self) -> Option<SendHalf> {
        let round = self.round;
        match self.op {
            Op::Send { to, chunks }
            | Op::Exchange {
                to, send: chunks, ..
            } => Some(SendHalf { to, chunks, round }),
            Op::Forward { to, chunks, .. } => Some(SendHalf {
                to,
                chunks,
                round: RoundIdx(round.0 + 1),
            }),
            Op::Recv { .. } => None,
        }
    }

    /// The message this step receives, if it receives one.
    #[must_use]
    pub fn recv_half(&self) -> Option<RecvHalf> {
        let round = self.round;
        match self.op {
            Op::Recv {
                from,
                chunks,
                arrival,
            }
            | Op::Exchange {
                from,
                recv: chunks,
                arrival,
                ..
            } => Some(RecvHalf {
                from,
                chunks,
                arrival,
                round,
            }),
            Op::Forward { from, chunks, .. } => Some(RecvHalf {
                from,
                chunks,
                arrival: Arrival::Store,
                round,
            }),
            Op::Send { .. } => None,
        }
    }
}

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

/// The steps of all ranks for one request, labelled with rounds; independent of any machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    algorithm: String,
    spec: Spec,
    launch: Launch,
    status_bits: Option<u32>,
    piece_bytes: Option<u64>,
    has_flow_control: bool,
    transport: Transport,
    multicasts: Vec<Multicast>,
    steps: Vec<Step>,
    /// Steps of rank `r` are `steps[first_step[r]..first_step[r + 1]]`.
    first_step: Vec<u32>,
    chunk_table: Vec<ChunkId>,
    rounds: u32,
}

impl Schedule {
    /// Name of the algorithm that made it.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// What the schedule promises.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.spec.ranks()
    }

    /// When the first step may begin.
    #[must_use]
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Bits per rank of the status register that the order was read from; `None` if the order
    /// does not depend on status. Hardware pays for reading and sorting it.
    #[must_use]
    pub fn status_bits(&self) -> Option<u32> {
        self.status_bits
    }

    /// Size of the pieces a `Forward` passes on; `None` = the machine's smallest unit.
    #[must_use]
    pub fn piece_bytes(&self) -> Option<u64> {
        self.piece_bytes
    }

    /// Whether a sender waits until its receiver is ready. True unless it was proved or claimed
    /// that nothing overflows without ([`Schedule::without_flow_control`]). Machines whose messages
    /// cannot overflow anything ignore it.
    #[must_use]
    pub fn has_flow_control(&self) -> bool {
        self.has_flow_control
    }

    /// How messages travel.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Sends that are one multicast where the machine has a network for it.
    #[must_use]
    pub fn multicasts(&self) -> &[Multicast] {
        &self.multicasts
    }

    /// The multicast that step `step` of `rank` belongs to, with its index.
    #[must_use]
    pub fn multicast_of(&self, rank: Rank, step: usize) -> Option<(usize, &Multicast)> {
        let mut multicasts = self.multicasts.iter().enumerate();
        multicasts.find(|(_, multicast)| {
            if rank == multicast.tree.root() {
                multicast.sends().contains(&step)
            } else {
                multicast.steps[rank.index()] as usize == step
            }
        })
    }

    /// The same schedule, whose senders wait for nobody.
    #[must_use]
    pub fn without_flow_control(mut self) -> Self {
        self.has_flow_control = false;
        self
    }

    /// The same schedule, whose messages go through shared buffers, as that of an algorithm of this
    /// name.
    #[must_use]
    pub fn over_shared_buffers(mut self, algorithm: &str) -> Self {
        self.transport = Transport::SharedBuffers;
        algorithm.clone_into(&mut self.algorithm);
        self
    }

    /// Number of rounds: one more than the highest label.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The steps of `rank`, in program order.
    #[must_use]
    pub fn steps(&self, rank: Rank) -> &[Step] {
        let range = self.first_step[rank.index()]..self.first_step[rank.index() + 1];
        &self.steps[range.start as usize..range.end as usize]
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

    /// Payload of a message holding the chunks of a list, in bytes.
    #[must_use]
    pub fn message_bytes(&self, list: ChunkList) -> u64 {
        self.chunks(list)
            .iter()
            .map(|&chunk| self.spec.chunk_bytes(chunk))
            .sum()
    }

    /// All ranks, ascending.
    pub fn all_ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.ranks()).map(Rank)
    }

    /// Every sending half with the rank and the step index it belongs to.
    pub fn sends(&self) -> impl Iterator<Item = (Rank, usize, SendHalf)> + '_ {
        self.all_ranks().flat_map(move |rank| {
            self.steps(rank)
                .iter()
                .enumerate()
                .filter_map(move |(index, step)| Some((rank, index, step.send_half()?)))
        })
    }

    /// Takes the schedule apart so that steps can be changed. Its multicasts become plain sends.
    #[must_use]
    pub fn edit(self) -> ScheduleBuilder {
        let steps = self
            .all_ranks()
            .map(|rank| self.steps(rank).to_vec())
            .collect();
        ScheduleBuilder {
            algorithm: self.algorithm,
            spec: self.spec,
            launch: self.launch,
            status_bits: self.status_bits,
            piece_bytes: self.piece_bytes,
            has_flow_control: self.has_flow_control,
            transport: self.transport,
            multicasts: Vec::new(),
            steps,
            chunk_table: self.chunk_table,
        }
    }
}

/// How a rank sends and receives in one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// In one [`Op::Exchange`].
    Together,
    /// One after the other.
    SendFirst,
    /// The other way round.
    RecvFirst,
}

/// Collects the steps of all ranks and makes a [`Schedule`] of them.
///
/// The builder checks nothing but index ranges; correctness is [`crate::verify()`]'s part.
#[derive(Clone, Debug)]
pub struct ScheduleBuilder {
    algorithm: String,
    spec: Spec,
    launch: Launch,
    status_bits: Option<u32>,
    piece_bytes: Option<u64>,
    has_flow_control: bool,
    transport: Transport,
    multicasts: Vec<Multicast>,
    /// Steps per rank; public to [`Schedule::edit`] users through [`ScheduleBuilder::steps_mut`].
    steps: Vec<Vec<Step>>,
    chunk_table: Vec<ChunkId>,
}

impl ScheduleBuilder {
    /// An empty schedule that promises `spec`.
    #[must_use]
    pub fn new(algorithm: &str, spec: Spec) -> Self {
        Self {
            algorithm: algorithm.to_owned(),
            steps: vec![Vec::new(); spec.ranks() as usize],
            spec,
            launch: Launch::Independent,
            status_bits: None,
            piece_bytes: None,
            has_flow_control: true,
            transport: Transport::Messages,
            multicasts: Vec::new(),
            chunk_table: Vec::new(),
        }
    }

    /// What the schedule promises.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Sets when the first step may begin.
    pub fn set_launch(&mut self, launch: Launch) {
        self.launch = launch;
    }

    /// Declares that the order was read from a status register of `bits` bits per rank.
    pub fn set_status_bits(&mut self, bits: u32) {
        self.status_bits = Some(bits);
    }

    /// Sets the size of the pieces that `Forward` passes on.
    pub fn set_piece_bytes(&mut self, bytes: Option<u64>) {
        self.piece_bytes = bytes;
    }

    /// Sets how messages travel.
    pub fn set_transport(&mut self, transport: Transport) {
        self.transport = transport;
    }

    /// Puts `chunks` into the table and returns their list; a sender and a receiver may share it.
    ///
    /// # Panics
    /// If the table would exceed 32-bit indices.
    pub fn list(&mut self, chunks: &[ChunkId]) -> ChunkList {
        let start = u32::try_from(self.chunk_table.len()).expect("chunk table fits in 32 bits");
        let len = u32::try_from(chunks.len()).expect("chunk list fits in 32 bits");
        assert!(
            start.checked_add(len).is_some(),
            "chunk table fits in 32 bits"
        );
        self.chunk_table.extend_from_slice(chunks);
        ChunkList { start, len }
    }

    /// The chunks of a list.
    #[must_use]
    pub fn chunks(&self, list: ChunkList) -> &[ChunkId] {
        &self.chunk_table[list.start as usize..(list.start + list.len) as usize]
    }

    /// Appends a step to the program of `rank`.
    pub fn push(&mut self, round: u32, rank: Rank, op: Op) {
        self.steps[rank.index()].push(Step {
            round: RoundIdx(round),
            op,
        });
    }

    /// Appends a send to `from` and the matching receive to `to`.
    pub fn message(&mut self, round: u32, from: Rank, to: Rank, chunks: &[ChunkId]) {
        self.transfer(round, from, to, chunks, Arrival::Store);
    }

    /// Appends a send to `from` and the matching combining receive to `to`.
    pub fn reduce(&mut self, round: u32, from: Rank, to: Rank, chunks: &[ChunkId]) {
        self.transfer(round, from, to, chunks, Arrival::Reduce);
    }

    fn transfer(&mut self, round: u32, from: Rank, to: Rank, chunks: &[ChunkId], arrival: Arrival) {
        let chunks = self.list(chunks);
        self.deliver(round, from, to, chunks, arrival);
    }

    /// Appends a send of a list to `from` and the matching receive to `to`.
    pub fn deliver(
        &mut self,
        round: u32,
        from: Rank,
        to: Rank,
        chunks: ChunkList,
        arrival: Arrival,
    ) {
        self.push(round, from, Op::Send { to, chunks });
        self.push(
            round,
            to,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
    }

    /// Appends one message from the tree's root to every other rank: sends that are one multicast.
    ///
    /// # Panics
    /// If the tree is not one over all ranks.
    pub fn multicast(&mut self, round: u32, tree: Arc<RouteTree>, chunks: &[ChunkId]) {
        assert_eq!(tree.ranks(), self.spec.ranks(), "a tree over all ranks");
        if tree.ranks() == 1 {
            return;
        }
        let next = |steps: &Vec<Step>| u32::try_from(steps.len()).expect("steps fit in 32 bits");
        let steps: Vec<u32> = self.steps.iter().map(next).collect();
        let first_step = steps[tree.root().index()];
        let list = self.list(chunks);
        for (_, rank) in tree.edges() {
            self.deliver(round, tree.root(), rank, list, Arrival::Store);
        }
        self.multicasts.push(Multicast {
            tree,
            first_step,
            steps,
        });
    }

    /// Appends one round of messages `(from, to, chunks)` that travel at the same time: a rank
    /// that sends and receives does both in one [`Op::Exchange`], so nothing can deadlock.
    ///
    /// # Panics
    /// If a rank would send or receive twice.
    pub fn exchange_round(
        &mut self,
        round: u32,
        arrival: Arrival,
        messages: impl IntoIterator<Item = (Rank, Rank, ChunkList)>,
    ) {
        self.ordered_round(round, arrival, messages, |_| Order::Together);
    }

    /// As [`ScheduleBuilder::exchange_round`], where a rank that sends and receives does so in the
    /// order that `order` says.
    ///
    /// # Panics
    /// If a rank would send or receive twice.
    pub fn ordered_round(
        &mut self,
        round: u32,
        arrival: Arrival,
        messages: impl IntoIterator<Item = (Rank, Rank, ChunkList)>,
        order: impl Fn(Rank) -> Order,
    ) {
        let ranks = self.steps.len();
        let mut outgoing: Vec<Option<(Rank, ChunkList)>> = vec![None; ranks];
        let mut incoming = outgoing.clone();
        for (sender, receiver, chunks) in messages {
            let sends = outgoing[sender.index()].replace((receiver, chunks));
            assert!(
                sends.is_none(),
                "rank {sender} sends twice in round {round}"
            );
            let receives = incoming[receiver.index()].replace((sender, chunks));
            assert!(
                receives.is_none(),
                "rank {receiver} receives twice in round {round}"
            );
        }
        for (index, halves) in outgoing.into_iter().zip(incoming).enumerate() {
            let rank = Rank(index as u32);
            let sent = halves.0.map(|(to, chunks)| Op::Send { to, chunks });
            let received = halves.1.map(|(from, chunks)| Op::Recv {
                from,
                chunks,
                arrival,
            });
            match (halves, order(rank)) {
                ((Some((to, send)), Some((from, recv))), Order::Together) => {
                    let op = Op::Exchange {
                        to,
                        send,
                        from,
                        recv,
                        arrival,
                    };
                    self.push(round, rank, op);
                }
                (_, Order::RecvFirst) => {
                    let ops = received.into_iter().chain(sent);
                    ops.for_each(|op| self.push(round, rank, op));
                }
                (_, Order::Together | Order::SendFirst) => {
                    let ops = sent.into_iter().chain(received);
                    ops.for_each(|op| self.push(round, rank, op));
                }
            }
        }
    }

    /// The steps of `rank`, to be changed at will.
    pub fn steps_mut(&mut self, rank: Rank) -> &mut Vec<Step> {
        &mut self.steps[rank.index()]
    }

    /// The finished schedule.
    ///
    /// # Panics
    /// If there are more steps than 32-bit indices.
    #[must_use]
    pub fn finish(self) -> Schedule {
        let mut first_step = Vec::with_capacity(self.steps.len() + 1);
        let mut steps = Vec::with_capacity(self.steps.iter().map(Vec::len).sum());
        first_step.push(0);
        for of_rank in self.steps {
            steps.extend(of_rank);
            first_step.push(u32::try_from(steps.len()).expect("steps fit in 32 bits"));
        }
        let last_round = |step: &Step| step.send_half().map_or(step.round.0, |half| half.round.0);
        let rounds = steps
            .iter()
            .map(|step| last_round(step) + 1)
            .max()
            .unwrap_or(0);
        Schedule {
            algorithm: self.algorithm,
            spec: self.spec,
            launch: self.launch,
            status_bits: self.status_bits,
            piece_bytes: self.piece_bytes,
            has_flow_control: self.has_flow_control,
            transport: self.transport,
            multicasts: self.multicasts,
            steps,
            first_step,
            chunk_table: self.chunk_table,
            rounds,
        }
    }
}
