// SPDX-License-Identifier: MIT OR Apache-2.0
//! Message passing engines in hardware, one beside every core of a bus.
//!
//! ```text
//! [endpoint]
//! kind = "mpe"
//! launch = "held"       # or "ready-ahead"
//! clock, command, order, request, ready, complete, notify, queue_depth, combine
//! ```

mod bound;

use corecast_core::{LinkCost, Request};

use super::kind::{CYCLES, CYCLES_PER_WORD, Kind, Source};
use crate::clock::Clock;
use crate::error::ChipError;
use crate::facts::{Derived, NoBackground};
use crate::network::Crossbar;
use crate::provenance::Ledger;
use crate::read::{Choices, Count};

/// Its name in chip files.
pub(super) const NAME: &str = "mpe";

/// The engines and their bus.
pub(super) struct OnBus<'a> {
    pub bus: &'a Crossbar,
    pub mpe: &'a Mpe,
}

impl Kind for OnBus<'_> {
    /// Command, request, ready, complete and notify.
    fn link_cost(&self, reference: &Clock) -> LinkCost {
        LinkCost {
            sync_cycles: reference.cycles_f64(self.mpe.clock.to_ps(self.mpe.message_cycles())),
            cycles_per_byte: reference.cycles_f64(self.bus.clock.to_ps(1))
                / self.bus.width_bytes as f64,
        }
    }

    fn bound_ps(&self, request: &Request) -> u64 {
        bound::ps(self.bus, self.mpe, request)
    }

    fn takes_background(&self) -> Result<(), NoBackground> {
        Err(NoBackground::NoMesh)
    }

    fn defaults(&self) -> Vec<(&'static str, String)> {
        vec![("endpoint.launch", "held".to_owned())]
    }

    fn derived(&self, _cores: u32) -> Vec<Derived> {
        vec![Derived {
            key: "endpoint.message",
            value: self.mpe.message_cycles() as f64,
            unit: "cycles",
            how: "of a message beside its words: command, request, ready, complete, notify",
        }]
    }
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

/// A message across the bus; takes at least a cycle.
const BUS_CYCLES: Count = Count { min: 1, ..CYCLES };

const QUEUE_DEPTH: Count = Count {
    unit: "commands",
    min: 2,
    max: 1_000_000,
};

const LAUNCHES: Choices<AtomicLaunch> = &[
    ("held", AtomicLaunch::Held),
    ("ready-ahead", AtomicLaunch::ReadyAhead),
];

/// Reads `[endpoint]`.
pub(super) fn read(source: &Source<'_>, ledger: &mut Ledger) -> Result<Mpe, ChipError> {
    let section = source.endpoint;
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
    let clock = section.clock("clock", source.clocks)?;
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
