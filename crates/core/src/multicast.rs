//! One message to many ranks over routes fixed in advance, where the chip has a network for it.
//!
//! A multicast is written into a schedule as one send per receiver, all in one round; so everything
//! that is proved about sends is proved about it, and machines without such a network just send.
//! The [`Multicast`] beside the steps says which sends are one, and along which tree.

use std::sync::Arc;

use crate::route_tree::RouteTree;

/// Sends of one rank that are one multicast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multicast {
    /// The routes.
    pub tree: Arc<RouteTree>,
    /// First of the root's sends; one per receiver follows, in order of the receivers.
    pub first_step: u32,
    /// Per rank: the step that receives; the root's entry is its first send.
    pub steps: Vec<u32>,
}

impl Multicast {
    /// The root's sends.
    #[must_use]
    pub fn sends(&self) -> std::ops::Range<usize> {
        let first = self.first_step as usize;
        first..first + self.tree.ranks() as usize - 1
    }
}
