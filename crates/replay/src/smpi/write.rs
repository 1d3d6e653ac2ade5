// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a trace of all its ranks in one file. Computing is written as sleeping: a program knows
//! times, and no operations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use corecast_core::Collective as Known;
use corecast_exchange::{Exported, Unsayable};

use super::types;
use crate::graph::{Call, CallGraph, Collective, CollectiveKind, Event, Size, WORLD, What};

/// The file.
///
/// # Errors
/// Where a rank does not do one thing after the other, and where calls are of some ranks only.
pub(super) fn written(graph: &CallGraph) -> Result<Exported, Unsayable> {
    let mut text = String::new();
    for (rank, calls) in (0..).zip(&graph.ranks) {
        let mut of_rank = OfRank {
            rank,
            ranks: graph.ranks.len(),
            open: BTreeMap::new(),
            out: &mut text,
        };
        of_rank.line("init");
        for (index, call) in (0..).zip(calls) {
            of_rank
                .call(calls, index, call)
                .map_err(|what| unsayable(graph, call, &what))?;
        }
        of_rank.line("finalize");
    }
    let has_computing = text.contains(" sleep ");
    let note = "smpi counts computing in operations: times are written as sleeping";
    let notes = has_computing.then(|| note.to_owned());
    Ok(Exported::of_text(text, notes.into_iter().collect()))
}

fn unsayable(graph: &CallGraph, call: &Call, what: &str) -> Unsayable {
    Unsayable {
        format: "smpi",
        what: format!("{what} ({})", graph.place(call.at)),
        instead: "write it as calls of our own, which can say everything".to_owned(),
    }
}

struct OfRank<'a> {
    rank: u32,
    ranks: usize,
    /// Messages that are under way, by the words that `wait` names them with, in order.
    open: BTreeMap<u32, String>,
    out: &'a mut String,
}

impl OfRank<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{} {text}", self.rank);
    }

    fn call(&mut self, calls: &[Call], index: u32, call: &Call) -> Result<(), String> {
        if call.group != WORLD {
            return Err("a call of some ranks only".to_owned());
        }
        let before = call.after.first();
        let is_in_order = match (index, before) {
            (0, None) => true,
            (0, Some(_)) | (_, None) => false,
            (_, Some(event)) => event.call() == index - 1,
        };
        if !is_in_order {
            return Err("calls that do not come one after the other".to_owned());
        }
        let others = call.after.get(1..).unwrap_or_default();
        for &event in others {
            let named = match event {
                Event::End(on) => self.open.remove(&on),
                Event::Start(_) => None,
            };
            let Some(named) = named else {
                return Err("a call that waits for more than the one before it".to_owned());
            };
            self.line(&format!("wait {named}"));
        }
        let next = calls
            .get(index as usize + 1)
            .and_then(|next| next.after.first());
        let is_started = next == Some(&Event::Start(index));
        let prefix = if is_started { "i" } else { "" };
        let (me, any) = (self.rank, "-1".to_owned());
        let word = |number: Option<u32>| number.map_or(any.clone(), |number| number.to_string());
        match &call.what {
            What::Wait => {}
            What::Compute(time) => {
                // Twelve digits are picoseconds.
                let (whole, part) = (time.ps() / 1_000_000_000_000, time.ps() % 1_000_000_000_000);
                self.line(&format!("sleep {whole}.{part:012}"));
            }
            What::Send { to, tag, bytes } => {
                self.line(&format!("{prefix}send {to} {tag} {bytes} {}", types::BYTE));
                if is_started {
                    self.open(index, format!("{me} {to} {tag}"))?;
                }
            }
            What::Recv { from, tag, bytes } => {
                let (from, tag) = (word(*from), word(*tag));
                self.line(&format!(
                    "{prefix}recv {from} {tag} {bytes} {}",
                    types::BYTE
                ));
                if is_started {
                    self.open(index, format!("{from} {me} {tag}"))?;
                }
            }
            What::Collective(_) if is_started => {
                return Err("a collective that the rank does not wait for".to_owned());
            }
            What::Collective(collective) => {
                self.line(&collective_words(collective, me, self.ranks))
            }
        }
        Ok(())
    }

    /// A message that is waited for later. Two of the same name would be waited for in their order.
    fn open(&mut self, index: u32, name: String) -> Result<(), String> {
        if self.open.values().any(|other| *other == name) {
            return Err("two messages under way with one sender, receiver and tag".to_owned());
        }
        self.open.insert(index, name);
        Ok(())
    }
}

/// The line of a collective at a rank. Types are bytes: elements are not told.
fn collective_words(collective: &Collective, me: u32, ranks: usize) -> String {
    let byte = types::BYTE;
    let root = collective.root;
    let list = |sizes: &[u64]| {
        let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        words.join(" ")
    };
    let name = collective.kind.name();
    let CollectiveKind::Known(kind) = collective.kind else {
        let Size::Bytes(bytes) = collective.size else {
            unreachable!("prefixes have one size");
        };
        return format!("{name} {bytes} 0 {byte}");
    };
    match (&collective.size, kind) {
        (_, Known::Barrier) => name.to_owned(),
        (Size::Bytes(bytes), Known::Bcast) => format!("bcast {bytes} {root} {byte}"),
        (Size::Bytes(bytes), Known::Reduce) => format!("reduce {bytes} 0 {root} {byte}"),
        (Size::Bytes(bytes), Known::Allreduce) => format!("allreduce {bytes} 0 {byte}"),
        (Size::Bytes(bytes), Known::Gather | Known::Scatter) => {
            format!("{name} {bytes} {bytes} {root} {byte} {byte}")
        }
        (Size::Bytes(bytes), Known::ReduceScatter) => {
            format!("reducescatter {} 0 {byte}", list(&vec![*bytes; ranks]))
        }
        (Size::Bytes(bytes), _) => format!("{name} {bytes} {bytes} {byte} {byte}"),
        (Size::Counts(counts), Known::Gather) => {
            let own = counts[me as usize];
            format!("gatherv {own} {} {root} {byte} {byte}", list(counts))
        }
        (Size::Counts(counts), Known::Scatter) => {
            let own = counts[me as usize];
            format!("scatterv {} {own} {root} {byte} {byte}", list(counts))
        }
        (Size::Counts(counts), Known::Allgather) => {
            format!("allgatherv {} {} {byte}", counts[me as usize], list(counts))
        }
        (Size::Counts(counts), _) => format!("reducescatter {} 0 {byte}", list(counts)),
        (Size::Pairs { to, from }, _) => {
            let sum = |sizes: &[u64]| sizes.iter().sum::<u64>();
            format!(
                "alltoallv {} {} {} {} {byte} {byte}",
                sum(to),
                list(to),
                sum(from),
                list(from)
            )
        }
    }
}
