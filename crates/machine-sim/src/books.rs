// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is written down about a run: where time went, which messages moved, who waits for whom.

use std::cell::{Cell, OnceCell, RefCell};

use corecast_core::Rank;
use corecast_machine::{Activity, Await, Blocked, Cause, LinkHold, MessageRecord, Time, Watch};

/// The books of one run.
#[derive(Debug)]
pub(crate) struct Books {
    activity: RefCell<Vec<Activity>>,
    messages: RefCell<Vec<MessageRecord>>,
    holds: RefCell<Vec<LinkHold>>,
    blocked: Vec<Cell<Option<Blocked>>>,
    /// Who counts messages, if anybody does.
    watch: OnceCell<Watch>,
}

impl Books {
    pub(crate) fn new(ranks: u32) -> Self {
        let ranks = ranks as usize;
        Self {
            activity: RefCell::new(vec![Activity::default(); ranks]),
            messages: RefCell::default(),
            holds: RefCell::default(),
            blocked: vec![const { Cell::new(None) }; ranks],
            watch: OnceCell::new(),
        }
    }

    /// Lets `watch` count the messages of the run.
    pub(crate) fn show(&self, watch: &Watch) {
        self.watch.get_or_init(|| watch.clone());
    }

    /// Attributes the time of `rank` up to `until` to `cause`.
    pub(crate) fn fill(&self, rank: Rank, until: Time, cause: Cause) {
        self.activity.borrow_mut()[rank.index()].fill(until, cause);
    }

    /// Up to when the time of `rank` is accounted for.
    pub(crate) fn accounted(&self, rank: Rank) -> Time {
        self.activity.borrow()[rank.index()].end()
    }

    pub(crate) fn record(&self, message: MessageRecord) {
        self.messages.borrow_mut().push(message);
        if let Some(watch) = self.watch.get() {
            watch.delivered();
        }
    }

    /// Attributes the time of `rank` from `from` to `until` to a link that another message used,
    /// and what is not accounted for before to `before`. Nothing is noted where no time is left for it.
    pub(crate) fn fill_hold(&self, rank: Rank, times: [Time; 2], before: Cause, hold: LinkHold) {
        let [from, until] = times;
        self.fill(rank, from, before);
        if until <= self.accounted(rank) {
            return;
        }
        let index = self.holds.borrow().len() as u32; // fewer than events
        self.holds.borrow_mut().push(hold);
        self.fill(rank, until, Cause::LinkBusy(index));
    }

    pub(crate) fn take_holds(&self) -> Vec<LinkHold> {
        self.holds.take()
    }

    pub(crate) fn block(&self, rank: Rank, peer: Rank, awaits: Await, step: usize, since: Time) {
        self.blocked[rank.index()].set(Some(Blocked {
            rank,
            peer,
            awaits,
            step,
            since,
            call: None,
        }));
    }

    /// As [`Books::block`], perhaps in a library call.
    pub(crate) fn block_as(&self, blocked: Blocked) {
        self.blocked[blocked.rank.index()].set(Some(blocked));
    }

    /// Who waits for a launch waits for this rank from now on.
    pub(crate) fn launch_waits_for(&self, rank: Rank, peer: Rank) {
        let blocked = &self.blocked[rank.index()];
        if let Some(before) = blocked.get().filter(|one| one.awaits == Await::Launch) {
            blocked.set(Some(Blocked { peer, ..before }));
        }
    }

    pub(crate) fn unblock(&self, rank: Rank) {
        self.blocked[rank.index()].set(None);
    }

    pub(crate) fn blocked(&self) -> Vec<Blocked> {
        self.blocked.iter().filter_map(Cell::get).collect()
    }

    pub(crate) fn take_activity(&self) -> Vec<Activity> {
        self.activity.take()
    }

    pub(crate) fn take_messages(&self) -> Vec<MessageRecord> {
        self.messages.take()
    }
}
