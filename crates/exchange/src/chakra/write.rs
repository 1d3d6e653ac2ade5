//! The messages of a schedule as a trace: its GOAL graph, node by node.

use corecast_core::{Arrival, Schedule};

use super::wire::{push_bytes, push_field, push_number};
use super::{COMP, RECV, SEND};
use crate::format::{Exported, lost};
use crate::goal::graph::{self, Kind, Operation};
use crate::goal::graph_text;

/// The schema whose messages are written.
const SCHEMA: &str = "1.0.2-chakra.0.0.4";

/// Fields of an attribute: its number as an `int32` or an `int64`, its text.
const INT32: u64 = 7;
const INT64: u64 = 9;
const STRING: u64 = 29;

/// A file per rank.
pub(super) fn files(schedule: &Schedule) -> Exported {
    let graph = graph::parse(&graph_text(schedule));
    let graph = graph.expect("what is written as GOAL can be read");
    let files = graph.ranks.iter().map(|operations| {
        let mut file = Vec::new();
        let mut metadata = Vec::new();
        push_bytes(&mut metadata, 2, &text_attribute("schema", SCHEMA));
        let collective = schedule.spec().collective().name();
        push_bytes(&mut metadata, 2, &text_attribute("collective", collective));
        push_message(&mut file, &metadata);
        for (id, operation) in (0..).zip(operations) {
            push_message(&mut file, &node(id, operation));
        }
        file
    });
    Exported {
        files: files.collect(),
        notes: notes(schedule),
    }
}

fn push_message(file: &mut Vec<u8>, message: &[u8]) {
    push_number(file, message.len() as u64);
    file.extend_from_slice(message);
}

fn text_attribute(name: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    push_bytes(&mut out, 1, name.as_bytes());
    push_bytes(&mut out, STRING, text.as_bytes());
    out
}

fn node(id: u64, operation: &Operation) -> Vec<u8> {
    let (name, kind, size, peer) = match operation.kind {
        Kind::Send { bytes, to, tag } => {
            ("COMM_SEND_NODE", SEND, bytes, Some(("comm_dst", to, tag)))
        }
        Kind::Recv { bytes, from, tag } => {
            let known = from.zip(tag);
            let (from, tag) = known.expect("receives of a schedule say from whom");
            ("COMM_RECV_NODE", RECV, bytes, Some(("comm_src", from, tag)))
        }
        Kind::Calc { .. } => ("COMP_NODE", COMP, 0, None),
    };
    let mut out = Vec::new();
    push_field(&mut out, 1, id);
    push_bytes(&mut out, 2, format!("{name}_{id}").as_bytes());
    push_field(&mut out, 3, kind);
    let mut after = Vec::new();
    operation
        .after
        .iter()
        .for_each(|&on| push_number(&mut after, u64::from(on)));
    if !after.is_empty() {
        push_bytes(&mut out, 5, &after);
    }
    let mut add = |name: &str, field: u64, number: u64| {
        let mut attribute = Vec::new();
        push_bytes(&mut attribute, 1, name.as_bytes());
        push_field(&mut attribute, field, number);
        push_bytes(&mut out, 10, &attribute);
    };
    if let Some((peer_name, peer, tag)) = peer {
        add("comm_type", INT64, kind);
        add("comm_size", INT64, size);
        add(peer_name, INT32, u64::from(peer));
        add("comm_tag", INT32, u64::from(tag));
    }
    out
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
