// SPDX-License-Identifier: MIT OR Apache-2.0
//! Status register and launch of broadcasts that cores give as commands.
//!
//! A broadcast is launched when every member of its root's mask shows it on the command port; the
//! order is that of the statuses in that clock (`rtl/README.md`, "Specification").

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_chip::AtomicLaunch;
use corecast_core::{Rank, status};
use corecast_machine::{Await, Time};
use corecast_sim::Latch;

use super::engine::Wait;
use super::fabric::Fabric;
use super::wires::Wire;

/// Neighbours of a member in the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours {
    pub before: Option<Rank>,
    pub after: Option<Rank>,
    pub leaves_before: u32,
}

/// A broadcast on a command port.
struct Shown {
    root: Rank,
    members: u32,
    place: RefCell<Option<Neighbours>>,
    launched: Latch,
}

/// See the module's documentation.
pub(crate) struct StatusBus {
    status_bits: u32,
    /// The bus names the members one by one, from the tail on, instead of a finder per engine.
    is_snooped: bool,
    shown: RefCell<Vec<Option<Rc<Shown>>>>,
    /// Groups that are complete and not launched, by root.
    complete: RefCell<BTreeMap<Rank, Vec<Rank>>>,
    /// When the bus can take the next group, where it takes one at a time.
    free_at: Cell<Time>,
}

impl StatusBus {
    pub(crate) fn new(ranks: u32, status_bits: u32, is_snooped: bool) -> Self {
        Self {
            status_bits,
            is_snooped,
            shown: RefCell::new(vec![const { None }; ranks as usize]),
            complete: RefCell::default(),
            free_at: Cell::new(Time::ZERO),
        }
    }

    /// `rank` shows a broadcast from now on; returns in the clock in which the command is taken.
    pub(crate) async fn show(
        &self,
        fabric: &Fabric,
        rank: Rank,
        root: Rank,
        members: u32,
        step: usize,
    ) -> Neighbours {
        let shown = Rc::new(Shown {
            root,
            members,
            place: RefCell::default(),
            launched: Latch::new(&fabric.kernel),
        });
        self.shown.borrow_mut()[rank.index()] = Some(Rc::clone(&shown));
        // The bus looks in the middle of the clock: what changes with this clock has changed, and
        // nothing of the next one.
        let clock = fabric.kernel.now();
        fabric.kernel.sleep(part(fabric, 2)).await;
        if let Some(group) = self.complete(root) {
            let clock = self.choose(fabric, root, (rank, step), clock).await;
            self.launch(fabric, root, &group, clock).await;
        }
        let wait = Wait {
            peer: self.missing(root).unwrap_or(root),
            awaits: Await::Launch,
            step,
        };
        fabric.set_launch_wait(rank, Some(wait));
        shown.launched.wait().await;
        fabric.set_launch_wait(rank, None);
        let place = shown.place.take();
        place.expect("every member of the group has one")
    }

    /// The members of the broadcast of `root`, if all of them show it and nobody has seen that yet.
    fn complete(&self, root: Rank) -> Option<Vec<Rank>> {
        if self.missing(root).is_some() || self.complete.borrow().contains_key(&root) {
            return None;
        }
        let shown = self.shown.borrow();
        let group = members(shown[root.index()].as_ref()?.members);
        self.complete.borrow_mut().insert(root, group.clone());
        Some(group)
    }

    /// Waits until the bus takes the group of `root`: at once, or, where it takes one at a time, that
    /// with the lowest root. Returns the start of the clock.
    async fn choose(&self, fabric: &Fabric, root: Rank, waits: (Rank, usize), clock: Time) -> Time {
        let (kernel, word) = (&fabric.kernel, fabric.timing.word);
        let is_held = fabric.timing.launch == AtomicLaunch::Held;
        let is_ready = |group: &[Rank], clock| {
            let mut group = group.iter();
            !is_held || group.all(|&rank| fabric.engine(rank).is_settled(clock))
        };
        let is_chosen = |clock| {
            let complete = self.complete.borrow();
            let lowest = complete.iter().find(|(_, group)| is_ready(group, clock));
            self.free_at.get() <= clock && lowest.is_some_and(|(&lowest, _)| lowest == root)
        };
        // After all groups of this clock have been found complete.
        let look = part(fabric, 2) + part(fabric, 4);
        let mut clock = clock;
        kernel.sleep_until(clock + look).await;
        while (is_held || self.is_snooped) && !is_chosen(clock) {
            if is_held {
                self.settle(fabric, root, waits).await;
            }
            // Everything else that the group waits for comes with time.
            let clocks = (kernel.now() - look - clock).ps() / word.ps() + 1;
            clock += word * clocks;
            kernel.sleep_until(clock + look).await;
        }
        clock
    }

    /// Waits until it is known of every member of the group of `root` when its engine will be free. If
    /// that is never, because a message's partner does not come, the last member waits for it.
    async fn settle(&self, fabric: &Fabric, root: Rank, (rank, step): (Rank, usize)) {
        let group = self.complete.borrow()[&root].clone();
        for peer in group {
            let wait = Wait {
                peer,
                awaits: Await::Launch,
                step,
            };
            fabric.set_launch_wait(rank, Some(wait));
            fabric.engine(peer).settled(&fabric.kernel).await;
        }
        fabric.set_launch_wait(rank, None);
    }

    /// A member that does not show the broadcast of `root`; `root` itself as long as nobody knows.
    fn missing(&self, root: Rank) -> Option<Rank> {
        let shown = self.shown.borrow();
        let shows = |rank: Rank| {
            let shown = shown[rank.index()].as_ref();
            shown.filter(|shown| shown.root == root)
        };
        let Some(at_root) = shows(root) else {
            return Some(root);
        };
        let mut members = members(at_root.members).into_iter();
        members.find(|&rank| shows(rank).is_none())
    }

    /// Orders the members by their status of this clock and launches them in the next one, or when
    /// every port will be free in time.
    async fn launch(&self, fabric: &Fabric, root: Rank, group: &[Rank], mut clock: Time) {
        let word = fabric.timing.word;
        let classes: Vec<u32> = fabric
            .engines
            .iter()
            .map(|engine| engine.status(clock, &fabric.timing, self.status_bits))
            .collect();
        let mut order = status::order_by_class(&classes, root);
        order.retain(|rank| group.contains(rank));
        if fabric.timing.launch == AtomicLaunch::Held {
            self.free_at.set(Time::MAX);
            // When the words have made so many hops, the port is free (Park 2019, 3.2.2).
            let in_time = |at: Time| {
                let mut places = order.iter().zip(0_u64..);
                places.all(|(&rank, hops)| {
                    let flow = fabric.engine(rank).stage().flow();
                    flow.expect("the group is settled").free <= at + word * hops
                })
            };
            while !in_time(clock + word) {
                fabric.kernel.sleep(word).await;
                clock += word;
            }
        }
        let launched = clock + word;
        let members = order.len() as u64;
        let naming = if self.is_snooped { members } else { 0 };
        self.free_at.set(launched + word * (1 + naming));
        self.complete.borrow_mut().remove(&root);
        for (hops, &rank) in order.iter().enumerate() {
            fabric.wires.event(launched, Wire::Launch, rank, root);
            let shown = self.shown.borrow_mut()[rank.index()].take();
            let shown = shown.expect("the group is complete");
            *shown.place.borrow_mut() = Some(Neighbours {
                before: hops.checked_sub(1).map(|before| order[before]),
                after: order.get(hops + 1).copied(),
                leaves_before: hops.saturating_sub(1) as u32,
            });
            // A leaf has heard enough when the one before it is named, the root with itself.
            let heard = if self.is_snooped {
                members + 1 - hops.max(1) as u64
            } else {
                0
            };
            shown.launched.set_at(launched + word * heard);
        }
    }
}

/// So much of a clock.
fn part(fabric: &Fabric, of: u64) -> Time {
    Time::from_ps(fabric.timing.word.ps() / of)
}

fn members(mask: u32) -> Vec<Rank> {
    (0..u32::BITS)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(Rank)
        .collect()
}
