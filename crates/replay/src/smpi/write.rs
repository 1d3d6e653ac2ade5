// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a trace of all its ranks in one file. Computing is written as sleeping: a program knows
//! times, and no operations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use corecast_core::Collective as Known;
use corecast_exchange::{Exported, Unsayable};

use super::types;
use crate::graph::{Call, CallGraph, Collective, CollectiveKind, Event, Size, WORLD, What};

/// What SimGrid knows as any rank (`MPI_ANY_SOURCE`) and any tag (`MPI_ANY_TAG`).
const ANY_RANK: i32 = -555;
const ANY_TAG: i32 = -444;

/// The file.
///
/// # Errors
/// Where a rank does not do one thing after the other, and where calls are of some ranks only.
pub(super) fn written(graph: &CallGraph) -> Result<Exported, Unsayable> {
    let mut text = String::new();
    let mut lost = Lost::default();
    for (rank, calls) in (0..).zip(&graph.ranks) {
        let mut of_rank = OfRank {
            rank,
            ranks: graph.ranks.len(),
            open: BTreeMap::new(),
            out: &mut text,
            lost: &mut lost,
        };
        of_rank.line("init");
        for (index, call) in (0..).zip(calls) {
            of_rank
                .call(calls, index, call)
                .map_err(|what| unsayable(graph, call, &what))?;
        }
        of_rank.line("finalize");
    }
    let mut notes = Vec::new();
    if text.contains(" sleep ") {
        notes.push("smpi counts computing in operations: times are written as sleeping".to_owned());
    }
    if lost.elements > 0 {
        notes.push(format!(
            "{} calls are written without their `element`, for which smpi has no type there: their parts \
             may be others",
            lost.elements
        ));
    }
    if lost.blocks > 0 {
        notes.push(format!(
            "{} calls of reduce_scatter are written with a count of every rank, as smpi has them: their \
             algorithm may be another",
            lost.blocks
        ));
    }
    Ok(Exported::of_text(text, notes))
}

/// How many calls lose what.
#[derive(Default)]
struct Lost {
    elements: u64,
    /// That all blocks have one size.
    blocks: u64,
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
    lost: &'a mut Lost,
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
        let me = self.rank;
        let word = |number: Option<u32>, any: i32| {
            number.map_or_else(|| any.to_string(), |number| number.to_string())
        };
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
                let (from, tag) = (word(*from, ANY_RANK), word(*tag, ANY_TAG));
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
                let (line, has_element) = collective_words(collective, me, self.ranks);
                self.line(&line);
                self.lost.elements += u64::from(!has_element);
                let is_even = matches!(collective.size, Size::Bytes(_));
                let is_scattered = collective.kind == CollectiveKind::Known(Known::ReduceScatter);
                self.lost.blocks += u64::from(is_even && is_scattered);
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

/// The line of a collective at a rank, and whether it says the collective's element.
fn collective_words(collective: &Collective, me: u32, ranks: usize) -> (String, bool) {
    let byte = types::BYTE;
    let root = collective.root;
    let list = |sizes: &[u64]| {
        let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        words.join(" ")
    };
    let name = collective.kind.name();
    let element = u64::from(collective.element_bytes);
    // Of a reduction the type and counts in it, if all are whole elements of a type.
    let typed = |sizes: &[u64]| {
        let number = types::of_bytes(collective.element_bytes);
        let number = number.filter(|_| sizes.iter().all(|bytes| bytes.is_multiple_of(element)));
        let unit = if number.is_some() { element } else { 1 };
        let counts: Vec<u64> = sizes.iter().map(|bytes| bytes / unit).collect();
        (list(&counts), number.unwrap_or(byte), number.is_some())
    };
    let known = match collective.kind {
        CollectiveKind::Known(known) => Some(known),
        CollectiveKind::Scan | CollectiveKind::Exscan => None,
    };
    let line = match (&collective.size, known) {
        (_, Some(Known::Barrier)) => return (name.to_owned(), true),
        (Size::Bytes(bytes), Some(Known::Reduce)) => {
            let (count, number, is_typed) = typed(&[*bytes]);
            return (format!("reduce {count} 0 {root} {number}"), is_typed);
        }
        (Size::Bytes(bytes), None | Some(Known::Allreduce)) => {
            let (count, number, is_typed) = typed(&[*bytes]);
            return (format!("{name} {count} 0 {number}"), is_typed);
        }
        (size, Some(Known::ReduceScatter)) => {
            let (counts, number, is_typed) = match size {
                Size::Bytes(bytes) => typed(&vec![*bytes; ranks]),
                Size::Counts(counts) => typed(counts),
                Size::Pairs { .. } => unreachable!("only an alltoallv has pairs"),
            };
            return (format!("reducescatter {counts} 0 {number}"), is_typed);
        }
        (Size::Bytes(bytes), Some(Known::Bcast)) => format!("bcast {bytes} {root} {byte}"),
        (Size::Bytes(bytes), Some(Known::Gather | Known::Scatter)) => {
            format!("{name} {bytes} {bytes} {root} {byte} {byte}")
        }
        (Size::Bytes(bytes), _) => format!("{name} {bytes} {bytes} {byte} {byte}"),
        (Size::Counts(counts), Some(Known::Gather)) => {
            let own = counts[me as usize];
            format!("gatherv {own} {} {root} {byte} {byte}", list(counts))
        }
        (Size::Counts(counts), Some(Known::Scatter)) => {
            let own = counts[me as usize];
            format!("scatterv {} {own} {root} {byte} {byte}", list(counts))
        }
        (Size::Counts(counts), _) => {
            format!("allgatherv {} {} {byte}", counts[me as usize], list(counts))
        }
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
    };
    (line, element == 1)
}
