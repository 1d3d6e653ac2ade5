// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many messages share a link in one round.

use crate::ids::{Rank, RoundIdx};
use crate::routes::{LinkId, Routes};
use crate::schedule::{Op, Schedule};

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

/// How a schedule uses the links.
pub(super) struct LinkUse {
    /// The most shared link of all rounds; the earliest and lowest of several.
    pub busiest: Option<LinkShare>,
    /// The most messages that one link, or one port of a rank, carries in all rounds together.
    pub most_in_all: u32,
    /// The most messages that one port of a rank carries in one round.
    pub most_per_port: u32,
}

/// How often one port of a rank is used.
#[derive(Clone, Copy, Default)]
struct Port {
    in_all: u32,
    /// In the round of the last message, and which one that is.
    in_round: u32,
    round: Option<RoundIdx>,
}

impl Port {
    /// Uses the port once; returns how often it has been used in this round.
    fn count(&mut self, round: RoundIdx) -> u32 {
        if self.round.replace(round) != Some(round) {
            self.in_round = 0;
        }
        self.in_all += 1;
        self.in_round += 1;
        self.in_round
    }
}

pub(super) fn uses(schedule: &Schedule, routes: &dyn Routes) -> LinkUse {
    // Message by message in order of rounds: a counter per link is enough then, however far the
    // messages go.
    let mut sends: Vec<(RoundIdx, Rank, u32)> = Vec::new();
    for rank in schedule.all_ranks() {
        for (index, step) in (0..).zip(schedule.steps(rank)) {
            if step.send_half().is_some() || matches!(step.op, Op::Multicast { .. }) {
                sends.push((step.last_round(), rank, index));
            }
        }
    }
    // They lie in order of ranks and steps, which is kept.
    sends.sort_by_key(|send| send.0);
    let mut counter = Counter::default();
    let mut best: Option<LinkShare> = None;
    let mut ports = vec![[Port::default(); 2]; schedule.ranks() as usize]; // out, in
    let mut most_per_port = 0;
    let is_tree = routes.carries_multicasts();
    for of_round in sends.chunk_by(|a, b| a.0 == b.0) {
        for &(round, rank, index) in of_round {
            let mut port = |rank: Rank, way: usize| {
                most_per_port = most_per_port.max(ports[rank.index()][way].count(round));
            };
            let mut visit = |link| counter.count(link);
            let step = &schedule.steps(rank)[index as usize];
            if let Op::Multicast { number, .. } = step.op {
                let tree = &schedule.multicasts()[number as usize];
                let messages = if is_tree { 1 } else { tree.edges().count() };
                (0..messages).for_each(|_| port(rank, 0));
                tree.edges().for_each(|(_, to)| port(to, 1));
                routes.visit_tree(tree, &mut visit);
            } else if let Some(half) = step.send_half() {
                port(rank, 0);
                port(half.to, 1);
                routes.visit_links(rank, half.to, &mut visit);
            }
        }
        if let Some((link, messages)) = counter.take_most()
            && best.is_none_or(|best| messages > best.messages)
        {
            best = Some(LinkShare {
                round: of_round[0].0,
                link,
                messages,
            });
        }
    }
    let most_of_ports = ports.into_iter().flatten().map(|port| port.in_all);
    let most_of_ports = most_of_ports.max().unwrap_or(0);
    let most_of_links = counter.totals.into_iter().max().unwrap_or(0);
    LinkUse {
        busiest: best,
        most_in_all: most_of_links.max(most_of_ports),
        most_per_port,
    }
}

/// How often each link is used in one round, and in all.
#[derive(Default)]
struct Counter {
    uses: Vec<u32>,
    totals: Vec<u32>,
    /// Links used at least once.
    used: Vec<LinkId>,
}

impl Counter {
    #[inline]
    fn count(&mut self, link: LinkId) {
        let index = link.0 as usize;
        if index >= self.uses.len() {
            let len = (index + 1).max(2 * self.uses.len());
            self.uses.resize(len, 0);
            self.totals.resize(len, 0);
        }
        if self.uses[index] == 0 {
            self.used.push(link);
        }
        self.uses[index] += 1;
        self.totals[index] += 1;
    }

    /// The link used most, the lowest of several, and how often; then starts again.
    fn take_most(&mut self) -> Option<(LinkId, u32)> {
        let mut best: Option<(LinkId, u32)> = None;
        for link in self.used.drain(..) {
            let uses = std::mem::take(&mut self.uses[link.0 as usize]);
            let is_better =
                |(other, most): (LinkId, u32)| uses > most || (uses == most && link < other);
            if best.is_none_or(is_better) {
                best = Some((link, uses));
            }
        }
        best
    }
}
