//! What stands between a core's program and the network.
//!
//! One variant per kind of message layer that the simulator can model. The protocol belongs to the
//! kind and is code in the simulator; how long its parts take belongs to the chip and is here.
//!
//! ```
//! let chip = corecast_chip::Chip::builtin("park2019-bus").unwrap();
//! let corecast_chip::EndpointSpec::Mpe(mpe) = chip.endpoint() else { panic!() };
//! assert_eq!(mpe.message_cycles(), 8);
//! ```

use corecast_core::Queue;

use crate::clock::Clock;
use crate::error::ChipError;
use crate::mesh::Mesh;
use crate::pronto::{self, Pronto};
use crate::provenance::Ledger;
use crate::rcce::{self, Rcce};
use crate::read::{Choices, Count, Section};

/// Work inside one core's engine; may be free.
const CYCLES: Count = Count {
    unit: "cycles",
    min: 0,
    max: 1_000_000,
};

/// A message across the bus; takes at least a cycle.
const BUS_CYCLES: Count = Count { min: 1, ..CYCLES };

const QUEUE_DEPTH: Count = Count {
    unit: "commands",
    min: 2,
    max: 1_000_000,
};

const CYCLES_PER_WORD: Count = Count {
    unit: "cycles/word",
    min: 0,
    max: 1_000_000,
};

/// The message layer of a chip's cores.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndpointSpec {
    /// A message passing engine in hardware beside every core: the core gives a command and is
    /// told when it is done; the engine synchronises and moves the data.
    Mpe(Mpe),
    /// A core that writes words into a mesh and reads them from hardware queues itself, with a
    /// message layer in software.
    Udn(Udn),
    /// A core that copies lines between its memory and message passing buffers, which every core
    /// can read and write, with RCCE as its message layer.
    Rcce(Rcce),
    /// A tile whose messages go through buffers that the hardware manages.
    Pronto(Box<Pronto>),
}

/// A message passing engine.
///
/// A message of `D` words between free engines takes `command + request + ready + D + complete +
/// notify` cycles from the command to the moment both programs continue.
///
/// # Source
/// Chung et al. 2011, section 3 and Figure 4; Park 2019, section 3.3 and Figures 7, 16, 17.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mpe {
    /// The clock of the engine.
    pub clock: Clock,
    /// From the core's command to the head of the engine's issue queue.
    pub command_cycles: u64,
    /// Reading the status register and ordering the ranks by it; only commands that do so pay.
    pub order_cycles: u64,
    /// The request message from sender to receiver.
    pub request_cycles: u64,
    /// The ready message from receiver to sender, per hop of a chain.
    pub ready_cycles: u64,
    /// The complete message; the ports are held until it has passed.
    pub complete_cycles: u64,
    /// From the complete message until the core's program continues.
    pub notify_cycles: u64,
    /// Commands inside the engine: one that streams, one that is handshaked, the others behind them.
    pub queue_depth: u32,
    /// When an atomic broadcast starts that need not wait until every port is free.
    pub launch: AtomicLaunch,
    /// For the core to combine one received word with its own, in reductions.
    pub combine_cycles_per_word: u64,
}

impl Mpe {
    /// Cycles of a message beside its data: `command + request + ready + complete + notify`.
    #[must_use]
    pub fn message_cycles(&self) -> u64 {
        [
            self.command_cycles,
            self.request_cycles,
            self.ready_cycles,
            self.complete_cycles,
            self.notify_cycles,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

/// When the engines start an atomic broadcast that need not wait until every port is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicLaunch {
    /// For all at once, as soon as every port will be free when the words get there (Park 2019,
    /// 3.2.2).
    Held,
    /// At once; a busy engine sends its ready message ahead of its stream's end, so that the words
    /// arrive when it is through (`rtl/README.md`, "Ready ahead").
    ReadyAhead,
}

/// What a sender waits for, with flow control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// The receiver's ready, packet by packet.
    Ready,
    /// The receiver's ready before the software of the send, and its word that it has received
    /// after it; messages without payload wait for neither.
    Synchronous,
}

/// The user dynamic network of Tilera's chips with a message layer in software.
///
/// A message is cut into packets of at most `packet_words` words of payload, each preceded by
/// `header_words`. The core writes and reads them word by word. With flow control, the receiver
/// sends a packet without payload when it is ready, and the sender waits for it.
///
/// # Source
/// Wentzlaff et al. 2007 (the network); Yagna and Mueller 2013 (the message layer).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Udn {
    /// The clock of the cores.
    pub clock: Clock,
    /// On entering a collective, once per rank.
    pub call_cycles: u64,
    /// On entering a collective, for every rank that takes part.
    pub call_cycles_per_rank: u64,
    /// For every message sent.
    pub send_cycles: u64,
    /// For every message received, after its last word.
    pub recv_cycles: u64,
    /// For every message received, for every rank that takes part: the software looks for its
    /// sender among all.
    pub recv_cycles_per_rank: u64,
    /// For every message with payload over the dynamic network in addition, at each end: its data
    /// are copied from and to memory.
    pub payload_cycles: u64,
    /// What senders wait for.
    pub protocol: Protocol,
    /// To write a word into the network.
    pub inject_cycles_per_word: u64,
    /// To read a word from a queue.
    pub extract_cycles_per_word: u64,
    /// To combine a received word with the core's own, in reductions.
    pub combine_cycles_per_word: u64,
    /// To configure a core's part of a static route.
    pub route_cycles: u64,
    /// Words before the payload of every packet.
    pub header_words: u64,
    /// Most words of payload in a packet.
    pub packet_words: u64,
    /// Hardware queues per core: the first for data, the second for flow control.
    pub queues: u32,
    /// Words that each of them holds.
    pub queue_words: u32,
}

impl Udn {
    /// Packets of a message of `words` words; at least one.
    #[must_use]
    pub fn packets(&self, words: u64) -> u64 {
        words.div_ceil(self.packet_words).max(1)
    }

    /// Words of a message with its headers.
    #[must_use]
    pub fn message_words(&self, words: u64) -> u64 {
        words + self.header_words * self.packets(words)
    }

    /// The queue for data of a core of this mesh; none where senders always wait, so that there
    /// is nothing to prove.
    #[must_use]
    pub fn queue(&self, mesh: &Mesh) -> Option<Queue> {
        (self.protocol == Protocol::Ready).then(|| Queue {
            words: u64::from(self.queue_words),
            word_bytes: mesh.flit_bytes,
            header_words: self.header_words,
            packet_words: self.packet_words,
        })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Mpe,
    Udn,
    Rcce,
    Pronto,
}

const KINDS: Choices<Kind> = &[
    ("mpe", Kind::Mpe),
    ("udn", Kind::Udn),
    ("rcce", Kind::Rcce),
    ("pronto", Kind::Pronto),
];

const LAUNCHES: Choices<AtomicLaunch> = &[
    ("held", AtomicLaunch::Held),
    ("ready-ahead", AtomicLaunch::ReadyAhead),
];

const PROTOCOLS: Choices<Protocol> = &[
    ("ready", Protocol::Ready),
    ("synchronous", Protocol::Synchronous),
];

/// Words before a packet's payload; the first is the head flit.
const HEADER: Count = Count {
    unit: "words",
    min: 1,
    max: 64,
};

const PACKET: Count = Count {
    unit: "words",
    min: 1,
    max: 4096,
};

/// One for data and one for flow control, at least.
const QUEUES: Count = Count {
    unit: "queues",
    min: 2,
    max: 16,
};

const QUEUE: Count = Count {
    unit: "words",
    min: 1,
    max: 4096,
};

/// A core writes at most one word per cycle and at least one in 64.
const INJECT: Count = Count {
    unit: "cycles/word",
    min: 1,
    max: 64,
};

const CYCLES_PER_RANK: Count = Count {
    unit: "cycles/rank",
    min: 0,
    max: 1_000_000,
};

impl EndpointSpec {
    /// Reads `[endpoint]` of the file `root`, and what belongs to its kind.
    pub(crate) fn read(
        root: &Section<'_>,
        section: &Section<'_>,
        clocks: &[Clock],
        ledger: &mut Ledger,
    ) -> Result<Self, ChipError> {
        match section.choice("kind", KINDS)? {
            Kind::Mpe => read_mpe(section, clocks, ledger).map(Self::Mpe),
            Kind::Udn => read_udn(section, clocks, ledger).map(Self::Udn),
            Kind::Rcce => rcce::read(section, clocks, ledger).map(Self::Rcce),
            Kind::Pronto => {
                let core = root.table("core")?;
                let pronto = pronto::read(section, &core, clocks, ledger)?;
                Ok(Self::Pronto(Box::new(pronto)))
            }
        }
    }

    /// The name of its kind in chip files.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Mpe(_) => "mpe",
            Self::Udn(_) => "udn",
            Self::Rcce(_) => "rcce",
            Self::Pronto(_) => "pronto",
        }
    }
}

fn read_udn(
    section: &Section<'_>,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<Udn, ChipError> {
    section.accept(&[
        "kind",
        "clock",
        "call",
        "call_per_rank",
        "send",
        "recv",
        "recv_per_rank",
        "payload",
        "protocol",
        "inject",
        "extract",
        "combine",
        "route",
        "header",
        "packet",
        "queues",
        "queue",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let mut count = |key, rule| section.count(key, rule, ledger);
    let udn = Udn {
        clock,
        call_cycles: count("call", &CYCLES)?,
        call_cycles_per_rank: count("call_per_rank", &CYCLES_PER_RANK)?,
        send_cycles: count("send", &CYCLES)?,
        recv_cycles: count("recv", &CYCLES)?,
        recv_cycles_per_rank: count("recv_per_rank", &CYCLES_PER_RANK)?,
        payload_cycles: count("payload", &CYCLES)?,
        protocol: section.choice("protocol", PROTOCOLS)?,
        inject_cycles_per_word: count("inject", &INJECT)?,
        extract_cycles_per_word: count("extract", &CYCLES_PER_WORD)?,
        combine_cycles_per_word: count("combine", &CYCLES_PER_WORD)?,
        route_cycles: count("route", &CYCLES)?,
        header_words: count("header", &HEADER)?,
        packet_words: count("packet", &PACKET)?,
        queues: count("queues", &QUEUES)? as u32, // at most 16
        queue_words: count("queue", &QUEUE)? as u32, // at most 4096
    };
    if u64::from(udn.queue_words) <= udn.header_words {
        // A packet that a receiver has asked for would stay in the mesh in part, and stop it.
        let accepted = "more words than `header`, so that a packet with a word fits into it";
        return Err(section.refuse("queue", accepted));
    }
    Ok(udn)
}

fn read_mpe(
    section: &Section<'_>,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<Mpe, ChipError> {
    section.accept(&[
        "kind",
        "clock",
        "command",
        "order",
        "request",
        "ready",
        "complete",
        "notify",
        "queue_depth",
        "launch",
        "combine",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let mut count = |key, rule| section.count(key, rule, ledger);
    Ok(Mpe {
        clock,
        launch: section
            .optional_choice("launch", LAUNCHES)?
            .unwrap_or(AtomicLaunch::Held),
        command_cycles: count("command", &CYCLES)?,
        order_cycles: count("order", &CYCLES)?,
        request_cycles: count("request", &BUS_CYCLES)?,
        ready_cycles: count("ready", &BUS_CYCLES)?,
        complete_cycles: count("complete", &BUS_CYCLES)?,
        notify_cycles: count("notify", &CYCLES)?,
        queue_depth: count("queue_depth", &QUEUE_DEPTH)? as u32, // at most 10^6
        combine_cycles_per_word: count("combine", &CYCLES_PER_WORD)?,
    })
}
