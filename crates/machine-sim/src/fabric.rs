//! What the cores of one run share: the clock, the crossbar, the engines, and the books.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::{Crossbar, Mpe};
use corecast_core::Rank;
use corecast_machine::{Await, Cause, RunOptions, Time};
use corecast_sim::{Kernel, network};

use crate::books::Books;
use crate::launch::LaunchUnit;
use crate::mpe::Engine;

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
    pub queue_depth: usize,
}

impl Timing {
    fn of(crossbar: &Crossbar, mpe: &Mpe) -> Self {
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
            queue_depth: mpe.queue_depth as usize,
        }
    }

    pub(crate) fn words(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.width_bytes)
    }
}

/// See the module's documentation.
pub(crate) struct Fabric {
    pub kernel: Rc<Kernel>,
    pub timing: Timing,
    pub engines: Vec<Engine>,
    pub launch: LaunchUnit,
    pub crossbar: RefCell<network::Crossbar>,
    pub books: Books,
}

impl Fabric {
    pub(crate) fn new(
        bus: &Crossbar,
        mpe: &Mpe,
        kernel: Rc<Kernel>,
        ranks: u32,
        options: &RunOptions,
    ) -> Self {
        let timing = Timing::of(bus, mpe);
        let cores = ranks as usize;
        let mut crossbar = network::Crossbar::new(cores, timing.word);
        let busy = options.busy_bytes(ranks);
        let engines = (0..cores).map(|core| {
            let words = timing.words(busy.get(core).copied().unwrap_or(0));
            let streams_until = timing.word * words;
            crossbar.reserve(core, streams_until);
            let held = if words > 0 {
                streams_until + timing.complete
            } else {
                Time::ZERO
            };
            Engine::new(held)
        });
        Self {
            engines: engines.collect(),
            launch: LaunchUnit::new(&kernel, ranks),
            kernel,
            timing,
            crossbar: RefCell::new(crossbar),
            books: Books::new(ranks),
        }
    }

    pub(crate) fn engine(&self, rank: Rank) -> &Engine {
        &self.engines[rank.index()]
    }

    /// Attributes the time of `rank` up to `until` to `cause`.
    pub(crate) fn fill(&self, rank: Rank, until: Time, cause: Cause) {
        self.books.fill(rank, until, cause);
    }

    /// As [`Fabric::fill`] up to now, unless the engine of `rank` is at work and keeps the books.
    pub(crate) fn fill_core(&self, rank: Rank, cause: Cause) {
        if !self.engine(rank).is_active() {
            self.fill(rank, self.kernel.now(), cause);
        }
    }

    /// Time of `rank` that went into waiting for `peer` until `until`: first as long as the peer's
    /// port was busy with a transfer from before the run, then for the peer itself.
    pub(crate) fn fill_wait(&self, rank: Rank, peer: Rank, until: Time) {
        let busy_until = self.engine(peer).busy_until;
        self.fill(rank, busy_until.min(until), Cause::PortBusy(peer));
        self.fill(rank, until, Cause::WaitPeer(peer));
    }

    pub(crate) fn block(&self, rank: Rank, peer: Rank, awaits: Await, step: usize) {
        self.books
            .block(rank, peer, awaits, step, self.kernel.now());
    }

    /// Words in = words out; nothing is left in flight.
    pub(crate) fn assert_conservation(&self) {
        let words = self.crossbar.borrow().conservation();
        assert!(words.is_ok(), "words sent and received differ: {words:?}");
        for (rank, engine) in self.engines.iter().enumerate() {
            assert!(
                engine.is_drained(),
                "the engine of rank {rank} still holds messages"
            );
        }
    }
}
