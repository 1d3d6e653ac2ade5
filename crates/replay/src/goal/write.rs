// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a graph of GOAL. Collectives become the messages that they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use corecast_exchange::Unsayable;
use corecast_mpi::collective::program::Act;

use crate::collective::{self, Planned};
use crate::graph::{Call, CallGraph, Event, WORLD, What};

/// The file, and what it lacks.
///
/// # Errors
/// Where there is no schedule for a collective.
pub(super) fn written(graph: &CallGraph) -> Result<(String, Vec<String>), Unsayable> {
    let plans = collective::plan(graph, &corecast_mpi::collective::Settings::default());
    let plans = plans.map_err(|error| Unsayable {
        format: "goal",
        what: error.to_string(),
        instead: error.right,
    })?;
    let tags = tags(graph);
    let any = graph.ranks.iter().flatten();
    let mut any = any.filter(|call| matches!(call.what, What::Recv { tag: None, .. }));
    if let (Some(_), Some(call)) = (&tags, any.next()) {
        return Err(Unsayable {
            format: "goal",
            what: format!(
                "a receive with any tag beside collectives, groups or tag {ANY} ({})",
                graph.place(call.at)
            ),
            instead: "give the receive the tag of the message that is meant".to_owned(),
        });
    }
    let mut writer = Writer {
        graph,
        tags,
        is_rounded: false,
    };
    let mut text = format!("num_ranks {}\n", graph.size());
    for (rank, planned) in plans.of_rank.iter().enumerate() {
        let of_rank = writer.of_rank(&graph.ranks[rank], planned);
        let _ = write!(text, "\nrank {rank} {{\n{of_rank}}}\n");
    }
    let mut notes = Vec::new();
    if !plans.taken.is_empty() {
        notes.push(
            "collectives become their messages, by the algorithms that are usual here".to_owned(),
        );
    }
    if graph.groups.len() > 1 {
        notes.push("goal has no groups: messages of each have tags of their own".to_owned());
    }
    if writer.is_rounded {
        notes.push("goal counts computing in whole nanoseconds: times are rounded up".to_owned());
    }
    Ok((text, notes))
}

/// The tag that stands for any in binary files.
const ANY: u32 = u32::MAX;

/// A tag for every group and tag; their own where there is one group, no collective and no tag that means
/// any there.
fn tags(graph: &CallGraph) -> Option<BTreeMap<(u32, Option<u32>), u32>> {
    let calls = || graph.ranks.iter().flatten();
    let is_plain = |call: &Call| {
        let has_own = !matches!(
            call.what,
            What::Collective(_) | What::Send { tag: ANY, .. } | What::Recv { tag: Some(ANY), .. }
        );
        has_own && call.group == WORLD
    };
    if calls().all(is_plain) {
        return None;
    }
    let mut tags = BTreeMap::new();
    for call in calls() {
        if let What::Send { tag, .. } | What::Recv { tag: Some(tag), .. } = call.what {
            let next = tags.len() as u32;
            tags.entry((call.group, Some(tag))).or_insert(next);
        }
    }
    Some(tags)
}

struct Writer<'a> {
    graph: &'a CallGraph,
    tags: Option<BTreeMap<(u32, Option<u32>), u32>>,
    is_rounded: bool,
}

/// The operations that a call becomes: those whose start is its own, and those whose end is.
struct Names {
    starts: Vec<String>,
    ends: Vec<String>,
}

impl Writer<'_> {
    fn of_rank(&mut self, calls: &[Call], planned: &[Planned]) -> String {
        let (mut operations, mut order) = (String::new(), String::new());
        let mut planned = planned.iter();
        let mut names: Vec<Names> = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let name = format!("c{index}");
            let member = |rank: u32| self.graph.groups[call.group as usize].ranks[rank as usize];
            let tag = |tag: u32| match &self.tags {
                Some(tags) => tags[&(call.group, Some(tag))],
                None => tag,
            };
            let line = match &call.what {
                What::Compute(time) => {
                    self.is_rounded |= time.ps() % 1000 > 0;
                    format!("calc {}", time.ps().div_ceil(1000))
                }
                What::Wait => "calc 0".to_owned(),
                What::Send { to, tag: of, bytes } => {
                    format!("send {bytes}b to {} tag {}", member(*to), tag(*of))
                }
                What::Recv {
                    from,
                    tag: of,
                    bytes,
                } => {
                    let from = from.map_or("-1".to_owned(), |from| member(from).to_string());
                    let of = of.map_or("-1".to_owned(), |of| tag(of).to_string());
                    format!("recv {bytes}b from {from} tag {of}")
                }
                What::Collective(_) => {
                    let planned = planned.next().expect("every collective is planned");
                    let group = &self.graph.groups[call.group as usize].ranks;
                    let of = collective((index, group), planned, &mut operations, &mut order);
                    names.push(of);
                    continue;
                }
            };
            let _ = writeln!(operations, "{name}: {line}");
            names.push(Names {
                starts: vec![name.clone()],
                ends: vec![name],
            });
        }
        for (index, call) in calls.iter().enumerate() {
            for event in &call.after {
                let (word, on) = match *event {
                    Event::Start(on) => ("irequires", &names[on as usize].starts),
                    Event::End(on) => ("requires", &names[on as usize].ends),
                };
                for (start, on) in names[index]
                    .starts
                    .iter()
                    .flat_map(|start| on.iter().map(move |on| (start, on)))
                {
                    let _ = writeln!(order, "{start} {word} {on}");
                }
            }
        }
        operations + &order
    }
}

/// The messages of a collective between two computations of no time, which are its start and its end.
fn collective(
    (index, group): (usize, &[u32]),
    planned: &Planned,
    operations: &mut String,
    order: &mut String,
) -> Names {
    let (begin, end) = (format!("b{index}"), format!("e{index}"));
    let _ = writeln!(operations, "{begin}: calc 0");
    let mut posts: Vec<String> = Vec::new();
    let mut before = begin.clone();
    let mut last_wait = begin.clone();
    for (number, act) in planned.program.acts.iter().enumerate() {
        let line = match *act {
            Act::Send { to, span } => {
                let to = group[to as usize];
                format!("send {}b to {to} tag {}", span.bytes, planned.tag)
            }
            Act::Recv { from, span } => {
                let from = group[from as usize];
                format!("recv {}b from {from} tag {}", span.bytes, planned.tag)
            }
            Act::Wait { post } => {
                // What follows a wait follows the message's end.
                let name = format!("w{index}_{number}");
                let _ = writeln!(operations, "{name}: calc 0");
                let _ = writeln!(order, "{name} requires {}", posts[post as usize]);
                let _ = writeln!(order, "{name} requires {last_wait}");
                last_wait.clone_from(&name);
                before = name;
                continue;
            }
            Act::Combine { .. } | Act::Copy { .. } => continue,
            Act::Broadcast { .. } => unreachable!("planned over messages"),
        };
        let name = format!("m{index}_{number}");
        let _ = writeln!(operations, "{name}: {line}");
        let _ = writeln!(order, "{name} requires {before}");
        posts.push(name);
    }
    let _ = writeln!(operations, "{end}: calc 0");
    let _ = writeln!(order, "{end} requires {last_wait}");
    for post in &posts {
        let _ = writeln!(order, "{end} requires {post}");
    }
    Names {
        starts: vec![begin],
        ends: vec![end],
    }
}
