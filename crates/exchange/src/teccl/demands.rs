// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which collective the demands of a file are.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{Collective, Rank};

use super::document::{Demand, File};
use crate::error::Fault;

/// A collective over the nodes of a file.
#[derive(Debug)]
pub(super) struct Purpose {
    pub collective: Collective,
    /// The node that is the root, as a rank; 0 where there is none.
    pub root: Rank,
    /// Chunks of the file in one block.
    pub chunks: u32,
    /// The nodes that are ranks, in order.
    pub nodes: Vec<u32>,
    /// Block and place in it of every chunk, named by its source and number.
    pub places: BTreeMap<(u32, u32), (u32, u32)>,
}

impl Purpose {
    pub(super) fn new(file: &File) -> Result<Self, Fault> {
        let of_demands = file
            .demands
            .iter()
            .flat_map(|demand| [demand.at, demand.source]);
        let of_flows = file
            .flows
            .iter()
            .flat_map(|flow| [flow.hop.from, flow.hop.to]);
        let nodes: BTreeSet<u32> = of_demands.chain(of_flows).collect();
        let nodes: Vec<u32> = nodes.into_iter().collect();
        let mut wanted: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for demand in &file.demands {
            let Demand {
                at, chunk, source, ..
            } = *demand;
            if at == source {
                let wrong = format!("node {at} wants chunk {chunk} of itself");
                return Err(Fault::at(
                    demand.line,
                    wrong,
                    "leave out what is there already",
                ));
            }
            wanted.entry((source, chunk)).or_default().insert(at);
        }
        let Some(first) = file.demands.first() else {
            let right = "a demand for each chunk at each node that wants it";
            return Err(Fault::whole("a file without demands", right));
        };
        let purpose = Shape {
            nodes: &nodes,
            wanted: &wanted,
        }
        .purpose();
        purpose.ok_or_else(|| {
            let wrong = "the demands are those of no collective";
            let right = "every node wants all chunks of all others (allgather) or its own from all \
                         (alltoall), all of one node (bcast, scatter), or one node wants all \
                         (gather), and every node has as many chunks as any other";
            Fault::at(first.line, wrong, right)
        })
    }

    pub(super) fn rank(&self, node: u32) -> Option<Rank> {
        let at = self.nodes.binary_search(&node).ok()?;
        Some(Rank(at as u32))
    }
}

/// Who wants what.
struct Shape<'a> {
    nodes: &'a [u32],
    /// The nodes that want a chunk, named by its source and number.
    wanted: &'a BTreeMap<(u32, u32), BTreeSet<u32>>,
}

impl Shape<'_> {
    fn purpose(&self) -> Option<Purpose> {
        let rank = |node: u32| self.nodes.binary_search(&node).ok().map(|at| at as u32);
        let ranks = self.nodes.len() as u32;
        let mut sources = self.wanted.keys().map(|&(source, _)| source);
        let source = sources.next()?;
        let is_one_source = sources.all(|other| other == source);
        let is_wanted_by_all = self.wanted.values().all(|at| at.len() as u32 == ranks - 1);
        let one = |at: &BTreeSet<u32>| at.first().copied().filter(|_| at.len() == 1);
        let goals: Option<Vec<u32>> = self.wanted.values().map(one).collect();
        let single_goal = goals.as_ref().and_then(|goals| {
            let goal = *goals.first()?;
            goals.iter().all(|&other| other == goal).then_some(goal)
        });
        // Block of a chunk with this source and, unless all want it, this goal.
        type Block = fn(u32, u32, u32) -> u32;
        let (collective, root, block, blocks): (_, _, Block, u32) =
            match (is_one_source, is_wanted_by_all, &goals, single_goal) {
                (true, true, _, _) => (Collective::Bcast, rank(source)?, |_, _, _| 0, 1),
                (false, true, _, _) => (Collective::Allgather, 0, |source, _, _| source, ranks),
                (true, false, Some(_), _) => (
                    Collective::Scatter,
                    rank(source)?,
                    |_, goal, _| goal,
                    ranks - 1,
                ),
                (false, false, Some(_), Some(goal)) => (
                    Collective::Gather,
                    rank(goal)?,
                    |source, _, _| source,
                    ranks - 1,
                ),
                (false, false, Some(_), None) => (
                    Collective::Alltoall,
                    0,
                    |source, goal, ranks| source * ranks + goal,
                    ranks.checked_mul(ranks - 1)?,
                ),
                (_, false, None, _) => return None,
            };
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (&(source, chunk), at) in self.wanted {
            let goal = at.first().map_or(Some(0), |&goal| rank(goal))?;
            let block = block(rank(source)?, goal, ranks);
            let count = counts.entry(block).or_default();
            places.insert((source, chunk), (block, *count));
            *count += 1;
        }
        let chunks = *counts.values().next()?;
        let is_even = counts.values().all(|&count| count == chunks);
        (is_even && counts.len() as u32 == blocks).then(|| Purpose {
            collective,
            root: Rank(root),
            chunks,
            nodes: self.nodes.to_vec(),
            places,
        })
    }
}
