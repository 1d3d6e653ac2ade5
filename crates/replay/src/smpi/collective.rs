// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives of a trace.

use corecast_core::Collective as Known;
use corecast_exchange::Fault;

use super::actions::Action;
use super::types;
use crate::graph::{Collective, CollectiveKind, Size};

/// The collective of a line, and the operations that follow it.
pub(super) fn of_line(
    action: &mut Action<'_>,
    usual: u64,
    ranks: usize,
) -> Result<(Collective, f64), Fault> {
    use Known as K;
    let known = CollectiveKind::Known;
    let (mut root, mut element_bytes, mut flops) = (0, 1, 0.0);
    let mut vector = |action: &mut Action<'_>, has_flops: bool, is_rooted: bool| {
        let count = action.count("count")?;
        if has_flops {
            flops = action.real("number of operations")?;
        }
        if is_rooted {
            root = action.root()?;
        }
        let element = action.element(usual)?;
        if has_flops {
            element_bytes = element as u32;
        }
        action.bytes(count, element).map(Size::Bytes)
    };
    let (kind, size) = match action.name {
        "barrier" => (known(K::Barrier), Size::Bytes(0)),
        "bcast" => (known(K::Bcast), vector(action, false, true)?),
        "reduce" => (known(K::Reduce), vector(action, true, true)?),
        "allreduce" => (known(K::Allreduce), vector(action, true, false)?),
        "scan" => (CollectiveKind::Scan, vector(action, true, false)?),
        "exscan" => (CollectiveKind::Exscan, vector(action, true, false)?),
        name @ ("gather" | "scatter" | "allgather" | "alltoall") => {
            let (sent, received) = (action.count("count")?, action.count("count")?);
            if ["gather", "scatter"].contains(&name) {
                root = action.root()?;
            }
            let (given, got) = (action.element(usual)?, action.element(usual)?);
            let size = match name {
                "scatter" => action.bytes(received, got)?,
                _ => action.bytes(sent, given)?,
            };
            let kind = CollectiveKind::from_name(name).expect("one of ours");
            (kind, Size::Bytes(size))
        }
        "gatherv" => {
            let sent = action.count("count")?;
            let counts = action.counts(ranks, "count")?;
            root = action.root()?;
            let (given, got) = (action.element(usual)?, action.element(usual)?);
            // In place at the root, whose own count then means nothing; others' lists never do.
            let blocks = match action.rank == root {
                true => sizes(action, &counts, got)?,
                false => vec![action.bytes(sent, given)?],
            };
            (known(K::Gather), Size::Counts(blocks))
        }
        "scatterv" => {
            let counts = action.counts(ranks, "count")?;
            let received = action.count("count")?;
            root = action.root()?;
            let (given, got) = (action.element(usual)?, action.element(usual)?);
            let blocks = match action.rank == root {
                true => sizes(action, &counts, given)?,
                false => vec![action.bytes(received, got)?],
            };
            (known(K::Scatter), Size::Counts(blocks))
        }
        "allgatherv" => {
            let sent = action.count("count")?;
            let counts = action.counts(ranks, "count")?;
            let (given, got) = types_behind(action, usual, ranks)?;
            let (sent, blocks) = (action.bytes(sent, given)?, sizes(action, &counts, got)?);
            let own = blocks[action.rank as usize];
            if sent != own {
                let wrong =
                    format!("`allgatherv` sends {sent} bytes, and its own count says {own}");
                let right = "a rank sends what its own place in the list of counts says";
                return Err(action.fault(wrong, right));
            }
            (known(K::Allgather), Size::Counts(blocks))
        }
        "alltoallv" => {
            action.count("size")?;
            let to = action.counts(ranks, "count")?;
            action.count("size")?;
            let from = action.counts(ranks, "count")?;
            let (given, got) = (action.element(usual)?, action.element(usual)?);
            let to = sizes(action, &to, given)?;
            let from = sizes(action, &from, got)?;
            (known(K::Alltoallv), Size::Pairs { to, from })
        }
        _ => {
            let counts = action.counts(ranks, "count")?;
            flops = action.real("number of operations")?;
            let element = action.element(usual)?;
            element_bytes = element as u32;
            (
                known(K::ReduceScatter),
                Size::Counts(sizes(action, &counts, element)?),
            )
        }
    };
    let collective = Collective {
        kind,
        size,
        root,
        element_bytes,
    };
    Ok((collective, flops))
}

/// Bytes of an element that an allgatherv gives and gets. Behind its counts are types, displacements or
/// both: which of them only their number says.
fn types_behind(action: &mut Action<'_>, usual: u64, ranks: usize) -> Result<(u64, u64), Fault> {
    let rest = action.counts(action.left(), "type or displacement")?;
    let left = rest.len();
    let types = match left {
        0..=2 => &rest[..],
        _ if left == ranks => &[],
        _ if left == ranks + 1 => &rest[..1],
        _ if left == ranks + 2 && types::bytes(rest[1]).is_some() => &rest[..2],
        // SimGrid reads types first, and its example has them last.
        _ if left == ranks + 2 => &rest[ranks..],
        _ => {
            let wrong = format!("{left} numbers follow the counts of `allgatherv`");
            let right = format!("types, displacements of all {ranks} ranks or both follow them");
            return Err(action.fault(wrong, right));
        }
    };
    let first = types.first().copied().unwrap_or(usual);
    let second = types.get(1).copied().unwrap_or(first);
    Ok((action.bytes_of(first)?, action.bytes_of(second)?))
}

fn sizes(action: &Action<'_>, counts: &[u64], element: u64) -> Result<Vec<u64>, Fault> {
    counts
        .iter()
        .map(|&count| action.bytes(count, element))
        .collect()
}
