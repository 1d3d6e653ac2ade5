//! What is written down about a run: where time went, which messages moved, who waits for whom.

use std::cell::{Cell, RefCell};

use corecast_core::Rank;
use corecast_machine::{Activity, Await, Blocked, Cause, MessageRecord, Time};

/// The books of one run.
#[derive(Debug)]
pub(crate) struct Books {
    activity: RefCell<Vec<Activity>>,
    messages: RefCell<Vec<MessageRecord>>,
    blocked: Vec<Cell<Option<Blocked>>>,
}

impl Books {
    pub(crate) fn new(ranks: u32) -> Self {
        let ranks = ranks as usize;
        Self {
            activity: RefCell::new(vec![Activity::default(); ranks]),
            messages: RefCell::default(),
            blocked: vec![const { Cell::new(None) }; ranks],
        }
    }

    /// Attributes the time of `rank` up to `until` to `cause`.
    pub(crate) fn fill(&self, rank: Rank, until: Time, cause: Cause) {
        self.activity.borrow_mut()[rank.index()].fill(until, cause);
    }

    pub(crate) fn record(&self, message: MessageRecord) {
        self.messages.borrow_mut().push(message);
    }

    pub(crate) fn block(&self, rank: Rank, peer: Rank, awaits: Await, step: usize, since: Time) {
        self.blocked[rank.index()].set(Some(Blocked {
            rank,
            peer,
            awaits,
            step,
            since,
        }));
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
