//! Status register and launch of broadcasts that cores give as commands.
//!
//! A broadcast is launched when every member of its root's mask shows it on the command port; the
//! order is that of the statuses in that clock (`rtl/README.md`, "Specification").

use std::cell::RefCell;
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
pub(crate) struct Place {
    pub before: Option<Rank>,
    pub after: Option<Rank>,
    pub leaves_before: u32,
}

/// A broadcast on a command port.
struct Shown {
    root: Rank,
    members: u32,
    place: RefCell<Option<Place>>,
    launched: Latch,
}

/// See the module's documentation.
pub(crate) struct StatusBus {
    status_bits: u32,
    shown: RefCell<Vec<Option<Rc<Shown>>>>,
}

impl StatusBus {
    pub(crate) fn new(ranks: u32, status_bits: u32) -> Self {
        Self {
            status_bits,
            shown: RefCell::new(vec![const { None }; ranks as usize]),
        }
    }

    /// `rank` shows a broadcast from now on; returns in the clock of its launch.
    pub(crate) async fn show(
        &self,
        fabric: &Fabric,
        rank: Rank,
        root: Rank,
        members: u32,
        step: usize,
    ) -> Place {
        let shown = Rc::new(Shown {
            root,
            members,
            place: RefCell::default(),
            launched: Latch::new(&fabric.kernel),
        });
        self.shown.borrow_mut()[rank.index()] = Some(Rc::clone(&shown));
        // The register samples in the middle of the clock: what changes with this clock has
        // changed, and nothing of the next one.
        let half = Time::from_ps(fabric.timing.word.ps() / 2);
        fabric.kernel.sleep(half).await;
        if let Some(group) = self.complete(root) {
            self.launch(fabric, root, &group).await;
        }
        let wait = Wait {
            peer: self.missing(root).unwrap_or(root),
            awaits: Await::Launch,
            step,
        };
        fabric.block(rank, wait);
        shown.launched.wait().await;
        fabric.show_wait(rank);
        let place = shown.place.take();
        place.expect("every member of the group has one")
    }

    /// The members of the broadcast of `root`, if all of them show it and nobody has seen that yet.
    fn complete(&self, root: Rank) -> Option<Vec<Rank>> {
        if self.missing(root).is_some() {
            return None;
        }
        let shown = self.shown.borrow();
        let members = members(shown[root.index()].as_ref()?.members);
        let is_new = |rank: &Rank| {
            let shown = shown[rank.index()].as_ref();
            shown.is_some_and(|shown| {
                shown.place.borrow().is_none() && shown.launched.time().is_none()
            })
        };
        members.iter().all(is_new).then_some(members)
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
    async fn launch(&self, fabric: &Fabric, root: Rank, group: &[Rank]) {
        let (timing, kernel) = (&fabric.timing, &fabric.kernel);
        let classes: Vec<u32> = fabric
            .engines
            .iter()
            .map(|engine| engine.status(kernel.now(), timing, self.status_bits))
            .collect();
        let mut order = status::order_by_class(&classes, root);
        order.retain(|rank| group.contains(rank));
        for (hops, &rank) in order.iter().enumerate() {
            let place = Place {
                before: hops.checked_sub(1).map(|before| order[before]),
                after: order.get(hops + 1).copied(),
                leaves_before: hops.saturating_sub(1) as u32,
            };
            let shown = self.shown.borrow();
            let shown = shown[rank.index()].as_ref().expect("it is complete");
            *shown.place.borrow_mut() = Some(place);
        }
        let half = Time::from_ps(timing.word.ps() / 2);
        if timing.launch == AtomicLaunch::Held {
            let in_time = |at: Time| {
                let mut places = order.iter().zip(0_u64..);
                places.all(|(&rank, hops)| is_in_time(fabric, rank, at, hops))
            };
            while !in_time(kernel.now() + half) {
                kernel.sleep(timing.word).await;
            }
        }
        let at = kernel.now() + half;
        for &rank in &order {
            fabric.wires.event(at, Wire::Launch, rank, root);
            let shown = self.shown.borrow_mut()[rank.index()].take();
            shown.expect("it is complete").launched.set_at(at);
        }
    }
}

/// Whether the port of `rank` will be free when the words of a broadcast launched at `at` have made
/// so many hops (Park 2019, 3.2.2). Decided in the clock before, in which the engine must know when
/// its stream ends.
fn is_in_time(fabric: &Fabric, rank: Rank, at: Time, hops: u64) -> bool {
    let (engine, word) = (fabric.engine(rank), fabric.timing.word);
    let flow = engine.stage.borrow().flow();
    engine.queue.borrow().is_empty()
        && flow.is_some_and(|flow| {
            let is_known = flow.start + word <= at || flow.free <= at;
            is_known && flow.free <= at + word * hops
        })
}

fn members(mask: u32) -> Vec<Rank> {
    (0..u32::BITS)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(Rank)
        .collect()
}
