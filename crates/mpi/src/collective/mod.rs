//! Collectives: schedules of the registry, verified, flattened and carried out.
//!
//! ```text
//! call -> shape -> plan (cache: choose, build, verify, flatten) -> run over messages
//!              \-> boards, where all ranks can read each other's memory
//! ```
//!
//! A [`Plan`] is what one rank does for calls of one [`Shape`]; a [`Run`] carries it out and is an
//! [`crate::Operation`], so that blocking, non-blocking and persistent collectives are one thing.
//! Messages of collectives travel in the context after the communicator's own; the number of the
//! collective is their tag.
//!
//! What the registry has no algorithm for is written in [`programs`] by the same acts: prefixes by
//! recursive doubling, neighbourhoods with all messages at once, reductions by an operator that does
//! not commute by a binomial tree to rank 0.

mod agree;
mod cache;
mod call;
mod check;
mod choose;
mod create;
pub mod lane;
pub mod plan;
pub mod program;
pub mod programs;
mod run;
pub mod shared;
pub mod side;

use std::sync::Arc;

use lane::Lane;

pub use agree::{Contexts, Proposal, Small};
pub use cache::{Cache, Plan, Shape, VERIFIED_STEPS_MAX};
pub use call::{Call, Job, Kind, Through};
pub use choose::{Choice, Settings, choose};
pub(crate) use create::Unsettled;
pub use run::{Buffers, Channel, Combine, Run, Scratch};

/// What a communicator knows of its collectives.
#[derive(Debug)]
pub struct State {
    /// What the environment asks for.
    pub settings: Arc<Settings>,
    /// Its plans.
    pub cache: Cache,
    /// Its share of the boards, if it has one.
    pub lane: Option<Lane>,
    /// Number of collectives that have begun; the tag of their messages.
    begun: u32,
}

impl State {
    /// Of a communicator without collectives so far.
    #[must_use]
    pub fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            cache: Cache::default(),
            lane: None,
            begun: 0,
        }
    }

    /// The tag of the next collective.
    pub fn next_tag(&mut self) -> i32 {
        let tag = self.begun & i32::MAX as u32;
        self.begun = self.begun.wrapping_add(1);
        tag as i32
    }
}
