// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a file.

use std::fmt::Write as _;

use corecast_exchange::quoted_word;

use super::{MAGIC, VERSION, collective, time};
use crate::graph::{Call, CallGraph, Event, WORLD, What};

/// The whole file.
pub(super) fn text(graph: &CallGraph) -> String {
    let mut out = format!("{MAGIC} {VERSION}\nranks {}\n", graph.size());
    for group in &graph.groups[1..] {
        let _ = write!(out, "group {}", quoted_word(&group.name));
        for rank in &group.ranks {
            let _ = write!(out, " {rank}");
        }
        out.push('\n');
    }
    for (rank, calls) in graph.ranks.iter().enumerate() {
        if !calls.is_empty() {
            of_rank(graph, rank, calls, &mut out);
        }
    }
    out
}

/// Whether every call waits for the one before it, and says so first.
fn is_in_order(calls: &[Call]) -> bool {
    let mut pairs = (0..).zip(calls.windows(2));
    pairs.all(|(index, pair)| match pair[1].after.first() {
        Some(&Event::End(on)) => on == index,
        Some(&Event::Start(on)) => {
            on == index && !matches!(pair[0].what, What::Compute(_) | What::Wait)
        }
        None => false,
    }) && calls[0].after.is_empty()
}

fn of_rank(graph: &CallGraph, rank: usize, calls: &[Call], out: &mut String) {
    let is_in_order = is_in_order(calls);
    let _ = write!(out, "\nrank {rank}");
    out.push_str(if is_in_order { "\n" } else { " free\n" });
    let skipped = usize::from(is_in_order);
    let mut is_named = vec![false; calls.len()];
    for event in calls
        .iter()
        .flat_map(|call| call.after.iter().skip(skipped))
    {
        is_named[event.call() as usize] = true;
    }
    for (index, call) in calls.iter().enumerate() {
        out.push_str("  ");
        if is_named[index] {
            let _ = write!(out, "c{index}: ");
        }
        let next = calls.get(index + 1).and_then(|next| next.after.first());
        if is_in_order && next == Some(&Event::Start(index as u32)) {
            out.push('i');
        }
        what(&call.what, out);
        if call.group != WORLD && !matches!(call.what, What::Compute(_) | What::Wait) {
            let _ = write!(
                out,
                " in {}",
                quoted_word(&graph.groups[call.group as usize].name)
            );
        }
        let skipped = usize::from(is_in_order && index > 0);
        for (number, event) in call.after[skipped..].iter().enumerate() {
            out.push_str(match (number, &call.what) {
                (0, What::Wait) => " ",
                (0, _) => " after ",
                _ => ", ",
            });
            let _ = match event {
                Event::Start(on) => write!(out, "start c{on}"),
                Event::End(on) => write!(out, "c{on}"),
            };
        }
        out.push('\n');
    }
}

fn what(what: &What, out: &mut String) {
    out.push_str(what.kind());
    match what {
        What::Compute(length) => {
            let _ = write!(out, " {}", time::written(*length));
        }
        What::Wait => {}
        What::Send { to, tag, bytes } => {
            let _ = write!(out, " {to} {bytes}");
            if *tag != 0 {
                let _ = write!(out, " tag {tag}");
            }
        }
        What::Recv { from, tag, bytes } => {
            match from {
                Some(from) => {
                    let _ = write!(out, " {from} {bytes}");
                }
                None => {
                    let _ = write!(out, " any {bytes}");
                }
            }
            match tag {
                Some(0) => {}
                Some(tag) => {
                    let _ = write!(out, " tag {tag}");
                }
                None => out.push_str(" tag any"),
            }
        }
        What::Collective(of) => collective::written(of, out),
    }
}
