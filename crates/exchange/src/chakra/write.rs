// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a schedule as a trace: its GOAL graph, node by node.

use corecast_core::{Arrival, Schedule};

use super::trace::{self, COMP, Node, RECV, SEND};
use crate::error::Unsayable;
use crate::format::{Exported, lost};
use crate::goal;
use crate::goal::graph::{Operation, OperationKind};

/// A file per rank.
///
/// # Errors
/// As of GOAL.
pub(super) fn files(schedule: &Schedule) -> Result<Exported, Unsayable> {
    let graph = goal::written("chakra", schedule)?;
    let about = [("collective", schedule.spec().collective().name())];
    let files = graph.ranks.iter().map(|operations| {
        let nodes = (0..)
            .zip(operations)
            .map(|(id, operation)| node(id, operation));
        trace::file(&about, &nodes.collect::<Vec<Node>>())
    });
    Ok(Exported {
        files: files.collect(),
        notes: notes(schedule),
    })
}

fn node(id: u64, operation: &Operation) -> Node {
    let (kind, message) = match operation.kind {
        OperationKind::Send { bytes, to, tag } => (SEND, Some((bytes, "comm_dst", to, tag))),
        OperationKind::Recv { bytes, from, tag } => {
            let known = from.zip(tag);
            let (from, tag) = known.expect("receives of a schedule say from whom");
            (RECV, Some((bytes, "comm_src", from, tag)))
        }
        OperationKind::Calc { .. } => (COMP, None),
    };
    Node {
        id,
        kind,
        after: operation.after.iter().map(|&on| u64::from(on)).collect(),
        numbers: message.map_or(Vec::new(), |message| trace::of_message(kind, message)),
        ..Node::default()
    }
}

/// What is lost.
fn notes(schedule: &Schedule) -> Vec<String> {
    let spec = schedule.spec();
    let mut notes = vec![format!(
        "chakra names no data: the chunks, places and rounds of this {} by {}",
        spec.collective(),
        schedule.algorithm()
    )];
    let steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    let combines = steps.filter_map(|step| step.recv_half());
    let combines = combines
        .filter(|half| half.arrival != Arrival::Store)
        .count();
    if combines > 0 {
        notes.push(format!(
            "{combines} receives combine what arrives with what is there"
        ));
    }
    let lost = lost(schedule);
    if !lost.is_empty() {
        notes.push(format!("chakra does not say {}", lost.join(", ")));
    }
    notes
}
