// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a communicator keeps for its collectives.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::again::Again;
use super::cache::Cache;
use super::choose::Settings;
use super::lane::Lane;
use super::program::Program;
use crate::handle::TypeId;

/// What a communicator knows of its collectives.
#[derive(Debug)]
pub struct State {
    /// What the environment asks for.
    pub settings: Arc<Settings>,
    /// Its plans.
    pub cache: Cache,
    /// What it knows of calls that were made before.
    pub again: Again,
    /// What it did with its neighbours the last time, which it will often do again.
    pub neighbours: Option<Met>,
    /// Its share of the boards, if it has one.
    pub lane: Option<Lane>,
    /// Number of collectives that have begun; the tag of their messages.
    begun: u32,
}

/// A call to neighbours whose blocks have one length, and what was done.
#[derive(Debug)]
pub struct Met {
    pub(super) sources: Vec<Option<u32>>,
    pub(super) destinations: Vec<Option<u32>>,
    pub(super) is_grid: bool,
    /// Of what is given and of what is got: bytes of a block, and whether there is but one, which goes to
    /// all.
    pub(super) blocks: [(usize, bool); 2],
    pub(super) program: Arc<Program>,
    /// The call itself, if it may be found by that.
    pub(super) known: Option<KnownMeeting>,
}

/// A call to neighbours by everything but where its buffers lie; blocks have one length each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The function.
    pub name: &'static str,
    /// Elements of a block that is given, and their type.
    pub send: (i64, TypeId),
    /// Elements of a block that is got, and their type.
    pub recv: (i64, TypeId),
}

/// A call to neighbours whose blocks lie in one piece on either side, and how long the pieces are.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownMeeting {
    pub meeting: Meeting,
    pub bytes: (usize, usize),
}

impl State {
    /// Of a communicator without collectives so far.
    #[must_use]
    pub fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            cache: Cache::default(),
            again: Again::default(),
            neighbours: None,
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
