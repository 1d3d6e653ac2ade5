// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the cores of one run share: the clock, the crossbar, the engines, and the books.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::{Crossbar, Mpe};
use corecast_core::Rank;
use corecast_machine::{Cause, RunOptions, Time};
use corecast_sim::{Kernel, network};

use super::engine::{Engine, Wait};
use super::launch::LaunchUnit;
use super::timing::Timing;
use super::wires::Wires;
use crate::books::Books;

/// See the module's documentation.
pub(crate) struct Fabric {
    pub kernel: Rc<Kernel>,
    pub timing: Timing,
    pub engines: Vec<Engine>,
    pub launch: LaunchUnit,
    pub crossbar: RefCell<network::Crossbar>,
    pub books: Books,
    pub wires: Wires,
    /// Memory of each core, in bytes; empty where cores hand over messages instead.
    pub memories: Vec<RefCell<Vec<u8>>>,
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
            crossbar.reserve(core, timing.word * words);
            Engine::new(&kernel, &timing, words)
        });
        Self {
            engines: engines.collect(),
            launch: LaunchUnit::new(&kernel, ranks),
            kernel,
            timing,
            crossbar: RefCell::new(crossbar),
            books: Books::new(ranks),
            wires: Wires::default(),
            memories: vec![RefCell::default(); cores],
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

    /// As [`Fabric::fill`], for the command that is being handshaked: time in which the stream
    /// stage is in use belongs to the message there.
    pub(crate) fn fill_handshake(&self, rank: Rank, until: Time, cause: Cause) {
        if self.engine(rank).stage.borrow().flow().is_some() {
            self.fill_busy(rank, until);
            self.fill(rank, until, cause);
        }
    }

    /// Time of `rank` up to `until` in which its own port was busy with a transfer from before the
    /// run.
    pub(crate) fn fill_busy(&self, rank: Rank, until: Time) {
        let busy_until = self.engine(rank).busy_until;
        self.fill(rank, busy_until.min(until), Cause::PortBusy(rank));
    }

    /// Time of `rank` that went into waiting for `peer` until `until`: first as long as the peer's
    /// port was busy with a transfer from before the run, then for the peer itself.
    pub(crate) fn fill_wait(&self, rank: Rank, peer: Rank, until: Time) {
        let busy_until = self.engine(peer).busy_until;
        self.fill(rank, busy_until.min(until), Cause::PortBusy(peer));
        self.fill(rank, until, Cause::WaitPeer(peer));
    }

    /// The command at the head of the engine of `rank` waits for a message, or no longer.
    pub(crate) fn set_recv_wait(&self, rank: Rank, wait: Option<Wait>) {
        self.engine(rank).recv_waits.set(wait);
        self.show_wait(rank);
    }

    /// The command at the head of the engine of `rank` waits for a ready, or no longer.
    pub(crate) fn set_send_wait(&self, rank: Rank, wait: Option<Wait>) {
        self.engine(rank).send_waits.set(wait);
        self.show_wait(rank);
    }

    /// The core of `rank` waits for the launch of a broadcast, or no longer.
    pub(crate) fn set_launch_wait(&self, rank: Rank, wait: Option<Wait>) {
        self.engine(rank).launch_waits.set(wait);
        self.show_wait(rank);
    }

    /// Tells the books whom `rank` waits for: the message in the stream stage first, then the one
    /// that is handshaked, then the core.
    pub(crate) fn show_wait(&self, rank: Rank) {
        let engine = self.engine(rank);
        let handshakes = engine.recv_waits.get().or(engine.send_waits.get());
        let waits = handshakes.or(engine.launch_waits.get());
        let now = self.kernel.now();
        match engine.stage.borrow().wait().or(waits) {
            Some(Wait { peer, awaits, step }) => self.books.block(rank, peer, awaits, step, now),
            None => self.books.unblock(rank),
        }
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
