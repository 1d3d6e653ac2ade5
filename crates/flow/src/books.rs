// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a task notes while it runs: its calls and firings, with their times.
//!
//! Separate from [`crate::Ports`], which does what is noted here, and from the results, which are
//! worked out of it.

use corecast_machine::Time;

/// Which call of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TileCall {
    /// A message of another task.
    Receive,
    /// A message to another task.
    Send,
    /// Out of the memory buffer.
    Read,
    /// Into the memory buffer.
    Write,
}

/// One call: one block, or a piece of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRecord {
    /// What was called.
    pub call: TileCall,
    /// Index of the edge in the graph.
    pub edge: u32,
    /// Bytes moved.
    pub bytes: u32,
    /// Whether a block ends with it.
    pub is_last: bool,
    /// When it was called.
    pub start: Time,
    /// When it returned.
    pub end: Time,
}

/// All notes of a task.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskBooks {
    /// Calls in program order.
    pub calls: Vec<CallRecord>,
    /// When each firing began.
    pub firings: Vec<Time>,
    /// When each firing ended.
    pub ends: Vec<Time>,
}
