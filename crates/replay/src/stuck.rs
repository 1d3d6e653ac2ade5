// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks that cannot go on: in which call, and where that stands.

use std::fmt;

use corecast_machine::{Await, Blocked};

use crate::graph::{CallGraph, What};

/// A rank that waited when a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckCall {
    /// Which.
    pub rank: u32,
    /// What it was to do, and where the file says so; none of a rank that has come to its end.
    pub call: Option<(String, String)>,
    /// The rank that it waited for, where the call does not name it.
    pub peer: Option<u32>,
}

impl StuckCall {
    pub(crate) fn new(graph: &CallGraph, blocked: &Blocked) -> Self {
        let rank = blocked.rank.0;
        let call = graph.ranks[blocked.rank.index()].get(blocked.step);
        let peer = match (call.map(|call| &call.what), blocked.awaits) {
            (_, Await::Any(_)) => None,
            (Some(What::Collective(_)) | None, _) => Some(blocked.peer.0),
            _ => None,
        };
        Self {
            rank,
            call: call.map(|call| (call.what.to_string(), graph.place(call.at))),
            peer,
        }
    }
}

impl fmt::Display for StuckCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.rank;
        match &self.call {
            Some((what, place)) => write!(f, "rank {rank} waits in `{what}` ({place})")?,
            None => write!(f, "rank {rank} waits at its end")?,
        }
        match self.peer {
            Some(peer) => write!(f, " for rank {peer}"),
            None => Ok(()),
        }
    }
}
