//! How many messages share a link in one round.

use crate::ids::{Rank, RoundIdx};
use crate::multicast::RouteTree;
use crate::schedule::Schedule;

/// A directed physical connection of a chip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// Which links a message between two ranks uses; a chip's routing and placement.
pub trait Routes {
    /// Calls `visit` for every link on the way from one rank to another.
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId));

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

/// How many messages use one link in one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkShare {
    /// The round.
    pub round: RoundIdx,
    /// The link.
    pub link: LinkId,
    /// Number of messages.
    pub messages: u32,
}

/// The most shared link of all rounds; the earliest and lowest of several.
pub(super) fn busiest(schedule: &Schedule, routes: &dyn Routes) -> Option<LinkShare> {
    let mut uses: Vec<(RoundIdx, LinkId)> = Vec::new();
    for (rank, index, half) in schedule.sends() {
        if let Some((_, multicast)) = schedule.multicast_of(rank, index) {
            if multicast.sends().start == index {
                routes.visit_tree(&multicast.tree, &mut |link| uses.push((half.round, link)));
            }
            continue;
        }
        routes.visit_links(rank, half.to, &mut |link| uses.push((half.round, link)));
    }
    uses.sort_unstable();
    let shares = uses.chunk_by(|a, b| a == b).map(|same| LinkShare {
        round: same[0].0,
        link: same[0].1,
        messages: same.len() as u32,
    });
    shares.reduce(|best, share| {
        if share.messages > best.messages {
            share
        } else {
            best
        }
    })
}
