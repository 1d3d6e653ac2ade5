// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links of a chip, and which of them a message uses.
//!
//! ```
//! use corecast_core::{FullCrossbar, LinkId, Rank, Routes};
//! let mut links = Vec::new();
//! FullCrossbar.visit_links(Rank(1), Rank(4), &mut |link| links.push(link));
//! assert_eq!(links, [LinkId(2), LinkId(9)]);
//! ```

use crate::ids::Rank;
use crate::route_tree::RouteTree;

/// A directed physical connection of a chip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// Which links a message between two ranks uses; a chip's routing and placement.
///
/// Links are numbered from 0 without large gaps: the verifier keeps a counter for each.
pub trait Routes {
    /// Calls `visit` for every link on the way from one rank to another.
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId));

    /// Whether a multicast is one message, of which its sender sends one and every receiver gets one.
    /// By default it is a message to each receiver.
    fn carries_multicasts(&self) -> bool {
        false
    }

    /// Calls `visit` for every link that a multicast uses, as often as it does: by default those
    /// of one message to each receiver.
    fn visit_tree(&self, tree: &RouteTree, visit: &mut dyn FnMut(LinkId)) {
        for (_, rank) in tree.edges() {
            self.visit_links(tree.root(), rank, visit);
        }
    }
}

/// A crossbar: a message uses the output port of its sender and the input port of its receiver.
///
/// Link `2 r` is the output port of rank `r`, link `2 r + 1` its input port.
#[derive(Clone, Copy, Debug)]
pub struct FullCrossbar;

impl Routes for FullCrossbar {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        visit(LinkId(2 * from.0));
        visit(LinkId(2 * to.0 + 1));
    }
}
