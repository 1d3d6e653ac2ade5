// SPDX-License-Identifier: MIT OR Apache-2.0
//! The launch unit on the local bus: holds an atomic broadcast back until it may start.
//!
//! An atomic broadcast starts for all ranks at once, when every engine has its command and every
//! port will be free by the time the stream gets there: at once for AP ("none of the previous
//! broadcast algorithms can begin until all the communication ports are free", Park 2019, 3.2.1),
//! `hops` cycles later for APOC (Park 2019, 3.2.2: the unit "calculates the waiting time by using
//! the processing nodes' remaining pre-existing transmission data size"). With engines that send
//! their ready ahead (`AtomicLaunch::ReadyAhead`) an APOC need not be held back for any port.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Await, Cause, Time};
use corecast_sim::{Kernel, Latch};

use super::engine::Wait;
use super::fabric::Fabric;

/// See the module's documentation.
pub(crate) struct LaunchUnit {
    arrived: RefCell<Vec<bool>>,
    missing: Cell<u32>,
    /// The rank whose port decides, and the earliest start it allows.
    binding: Cell<(Rank, Time)>,
    last: Cell<(Rank, Time)>,
    start: Latch,
}

impl LaunchUnit {
    pub(crate) fn new(kernel: &Rc<Kernel>, ranks: u32) -> Self {
        Self {
            arrived: RefCell::new(vec![false; ranks as usize]),
            missing: Cell::new(ranks),
            binding: Cell::new((Rank(0), Time::ZERO)),
            last: Cell::new((Rank(0), Time::ZERO)),
            start: Latch::new(kernel),
        }
    }

    /// `rank` is ready and its port allows a start at `earliest`; waits for the common start.
    pub(crate) async fn join(&self, fabric: &Fabric, rank: Rank, earliest: Time) {
        let now = fabric.kernel.now();
        self.arrived.borrow_mut()[rank.index()] = true;
        self.last.set((rank, now));
        if earliest > self.binding.get().1 {
            self.binding.set((rank, earliest));
        }
        self.missing.set(self.missing.get() - 1);
        if self.missing.get() == 0 {
            self.start.set_at(now.max(self.binding.get().1));
        } else {
            let missing = self.arrived.borrow().iter().position(|arrived| !arrived);
            let wait = Wait {
                peer: Rank(missing.expect("somebody is missing") as u32),
                awaits: Await::Launch,
                step: 0,
            };
            fabric.set_launch_wait(rank, Some(wait));
        }
        let start = self.start.wait().await;
        fabric.set_launch_wait(rank, None);
        let (last, (binding, _)) = (self.last.get(), self.binding.get());
        fabric.fill(rank, last.1, Cause::WaitPeer(last.0));
        fabric.fill(rank, start, Cause::PortBusy(binding));
    }
}
