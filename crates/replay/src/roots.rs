// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gathers and scatters of several sizes: records have the sizes of all blocks at the root, and at
//! every other rank that of its own.

use corecast_core::Collective as Known;
use corecast_exchange::{Fault, FileError};

use crate::graph::{Call, CallGraph, Collective, CollectiveKind, Size, What};

/// A gather or scatter of several sizes, of whose group this is which number.
fn is_partial(collective: &Collective) -> bool {
    use CollectiveKind::Known as Of;
    matches!(collective.kind, Of(Known::Gather | Known::Scatter))
        && matches!(collective.size, Size::Counts(_))
}

fn collectives(calls: &[Call], group: u32) -> impl Iterator<Item = (usize, &Collective)> {
    let of_group = calls.iter().enumerate();
    of_group.filter_map(move |(index, call)| match &call.what {
        What::Collective(collective) if call.group == group => Some((index, &**collective)),
        _ => None,
    })
}

/// Gives all ranks the sizes of gathers and scatters of several sizes, which only the root knows.
pub(crate) fn counts_of_roots(graph: &mut CallGraph) -> Result<(), FileError> {
    for group in 0..graph.groups.len() as u32 {
        let members = graph.groups[group as usize].ranks.clone();
        let of_rank = |rank: u32| collectives(&graph.ranks[rank as usize], group);
        if !members
            .iter()
            .any(|&rank| of_rank(rank).any(|(_, one)| is_partial(one)))
        {
            continue;
        }
        let mut changes: Vec<(u32, usize, Vec<u64>)> = Vec::new();
        let all: Vec<Vec<(usize, &Collective)>> = members
            .iter()
            .map(|&rank| of_rank(rank).collect())
            .collect();
        for (me, own) in all.iter().enumerate() {
            for (number, &(index, collective)) in own.iter().enumerate() {
                if !is_partial(collective) || collective.root as usize == me {
                    continue;
                }
                // What is another call at the root is found by whoever compares all calls.
                let of_root = all
                    .get(collective.root as usize)
                    .and_then(|of_root| of_root.get(number));
                let Some(&(_, theirs)) = of_root.filter(|(_, theirs)| {
                    theirs.kind == collective.kind && theirs.root == collective.root
                }) else {
                    continue;
                };
                let (Size::Counts(counts), Size::Counts(own)) = (&theirs.size, &collective.size)
                else {
                    continue;
                };
                let rank = members[me];
                if counts[me] != own[0] {
                    let call = &graph.ranks[rank as usize][index];
                    let wrong = format!(
                        "{}: this rank has a block of {} bytes, for which the root has {}",
                        call.what.kind(),
                        own[0],
                        counts[me]
                    );
                    let right = "both are of one size";
                    let file = &graph.files[call.at.file as usize];
                    return Err(Fault::at(call.at.line, wrong, right).in_file(file));
                }
                changes.push((rank, index, counts.clone()));
            }
        }
        for (rank, index, counts) in changes {
            if let What::Collective(collective) = &mut graph.ranks[rank as usize][index].what {
                collective.size = Size::Counts(counts);
            }
        }
    }
    Ok(())
}
