// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the engines' work costs.

use corecast_chip::{AtomicLaunch, Crossbar, Mpe};
use corecast_machine::Time;

/// The chip's costs as times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// One word on a port.
    pub word: Time,
    pub command: Time,
    pub order: Time,
    pub request: Time,
    pub ready: Time,
    pub complete: Time,
    pub notify: Time,
    pub combine_per_word: Time,
    pub width_bytes: u64,
    /// Commands that wait for the stream stage, the one that is handshaked included.
    pub queue_room: usize,
    pub launch: AtomicLaunch,
}

impl Timing {
    pub(crate) fn of(crossbar: &Crossbar, mpe: &Mpe) -> Self {
        let engine = |cycles| Time::from_ps(mpe.clock.to_ps(cycles));
        Self {
            word: Time::from_ps(crossbar.clock.to_ps(1)),
            command: engine(mpe.command_cycles),
            order: engine(mpe.order_cycles),
            request: engine(mpe.request_cycles),
            ready: engine(mpe.ready_cycles),
            complete: engine(mpe.complete_cycles),
            notify: engine(mpe.notify_cycles),
            combine_per_word: engine(mpe.combine_cycles_per_word),
            width_bytes: crossbar.width_bytes,
            queue_room: mpe.queue_depth as usize - 1,
            launch: mpe.launch,
        }
    }

    pub(crate) fn words(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.width_bytes)
    }
}
