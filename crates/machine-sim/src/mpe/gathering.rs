// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broadcasts that programs of messages leave to the launch unit on the local bus.
//!
//! A member's core shows the command while it waits and its engine has nothing in its queue; when all
//! members show it, the unit orders them by the status of that moment and launches them. A command may be
//! taken off the port again until then: a request that comes meanwhile could not be served otherwise, and
//! the message that it announces may be what another member waits for before it shows the broadcast. That
//! the unit allows this is assumed; the commands of `rtl/README.md` stay until they are taken.
//!
//! When the launch is, is what [`super::launch`] says of schedules: with `AtomicLaunch::Held` when every
//! port will be free by the time the words get there (Park 2019, 3.2.2), with `AtomicLaunch::ReadyAhead`
//! at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_chip::AtomicLaunch;
use corecast_core::{Rank, STATUS_BITS, status};
use corecast_machine::{Broadcast, Time};

use super::fabric::Fabric;
use super::status_bus::Neighbours;

/// What a launch has settled for one member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launched {
    /// Its place in the chain.
    pub place: Neighbours,
    /// When the engines take their commands.
    pub start: Time,
    /// The member that came last.
    pub last: Rank,
    /// The member whose port decided when.
    pub binding: Rank,
}

/// A member's command, as long as it is not carried out.
pub(crate) type Shown = Rc<Cell<Option<Launched>>>;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    root: Rank,
    number: u64,
    members: Vec<Rank>,
}

impl Key {
    fn of(broadcast: &Broadcast) -> Self {
        Self {
            root: broadcast.root,
            number: broadcast.number,
            members: broadcast.members.clone(),
        }
    }
}

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Gatherings {
    shown: RefCell<BTreeMap<Key, BTreeMap<Rank, Shown>>>,
    /// When the unit can launch the next group, where it takes one at a time.
    free_at: Cell<Time>,
}

impl Gatherings {
    /// `rank` shows a broadcast. Returns whether it is launched now; then all members have their places.
    pub(crate) fn show(
        &self,
        fabric: &Fabric,
        rank: Rank,
        broadcast: &Broadcast,
        shown: &Shown,
    ) -> bool {
        let key = Key::of(broadcast);
        let mut gatherings = self.shown.borrow_mut();
        let mut gathering = gatherings.remove(&key).unwrap_or_default();
        gathering.insert(rank, Rc::clone(shown));
        let is_complete = gathering.len() == broadcast.members.len();
        match is_complete {
            true => self.launch(fabric, rank, broadcast.root, &gathering),
            false => drop(gatherings.insert(key, gathering)),
        }
        is_complete
    }

    /// `rank` does not show it any more.
    pub(crate) fn withdraw(&self, rank: Rank, broadcast: &Broadcast) {
        let mut gatherings = self.shown.borrow_mut();
        let key = Key::of(broadcast);
        if let Some(gathering) = gatherings.get_mut(&key) {
            gathering.remove(&rank);
            if gathering.is_empty() {
                gatherings.remove(&key);
            }
        }
    }

    /// A member that does not show it; the root if nobody lacks.
    pub(crate) fn missing(&self, broadcast: &Broadcast) -> Rank {
        let gatherings = self.shown.borrow();
        let gathering = gatherings.get(&Key::of(broadcast));
        let lacks = |rank: &&Rank| gathering.is_none_or(|shown| !shown.contains_key(rank));
        let missing = broadcast.members.iter().find(lacks);
        missing.copied().unwrap_or(broadcast.root)
    }

    fn launch(&self, fabric: &Fabric, last: Rank, root: Rank, members: &BTreeMap<Rank, Shown>) {
        let (timing, now) = (&fabric.timing, fabric.kernel.now());
        let classes: Vec<u32> = fabric
            .engines
            .iter()
            .map(|engine| engine.status(now, timing, STATUS_BITS))
            .collect();
        let mut order = status::order_by_class(&classes, root);
        order.retain(|rank| members.contains_key(rank));
        let (mut start, mut binding) = (now, last);
        if timing.launch == AtomicLaunch::Held {
            start = start.max(self.free_at.get());
            for (&rank, hops) in order.iter().zip(0_u64..) {
                // When the words have made so many hops, the port is free (Park 2019, 3.2.2).
                let flow = fabric.engine(rank).stage().flow();
                let free = flow.map_or(Time::ZERO, |flow| flow.free);
                let earliest = free.saturating_sub(timing.word * hops);
                if earliest > start {
                    (start, binding) = (earliest, rank);
                }
            }
            self.free_at.set(start + timing.word);
        }
        for (hops, rank) in order.iter().enumerate() {
            let place = Neighbours {
                before: hops.checked_sub(1).map(|before| order[before]),
                after: order.get(hops + 1).copied(),
                leaves_before: hops.saturating_sub(1) as u32,
            };
            members[rank].set(Some(Launched {
                place,
                start,
                last,
                binding,
            }));
        }
    }
}
