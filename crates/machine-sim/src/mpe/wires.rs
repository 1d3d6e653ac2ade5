// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes over the wires between the engines, for comparison with the hardware clock by clock.

use std::cell::{Cell, RefCell};

use corecast_core::Rank;
use corecast_sim::Time;

use super::port::PortCommand;

/// A control message, or a message's words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wire {
    /// The bus tells `from` that the broadcast of root `to` is launched.
    Launch,
    /// Seen by the receiver for the first time.
    Request,
    /// From the receiver to the sender.
    Ready,
    /// So many words, one per clock.
    Words(u64),
}

/// A [`Wire`] in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WireEvent {
    /// Start of the (first) clock.
    pub at: Time,
    /// What it is.
    pub wire: Wire,
    /// Who drives it.
    pub from: Rank,
    /// For whom.
    pub to: Rank,
}

/// The record of one run, if somebody wants it.
#[derive(Default)]
pub(crate) struct Wires {
    is_recording: Cell<bool>,
    events: RefCell<Vec<WireEvent>>,
    /// Commands of each rank, as its core gave them to the port; `None` for one that the hardware
    /// does not have.
    commands: RefCell<Vec<(Rank, Option<PortCommand>)>>,
}

impl Wires {
    pub(crate) fn record(&self) {
        self.is_recording.set(true);
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording.get()
    }

    pub(crate) fn event(&self, at: Time, wire: Wire, from: Rank, to: Rank) {
        if self.is_recording() {
            let event = WireEvent { at, wire, from, to };
            self.events.borrow_mut().push(event);
        }
    }

    pub(crate) fn command(&self, rank: Rank, command: Option<PortCommand>) {
        self.commands.borrow_mut().push((rank, command));
    }

    pub(crate) fn take_events(&self) -> Vec<WireEvent> {
        let mut events = self.events.take();
        events.sort_unstable();
        events
    }

    pub(crate) fn take_commands(&self) -> Vec<(Rank, Option<PortCommand>)> {
        self.commands.take()
    }
}
