// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the numbers of a document name what it has: a page draws without looking back.

use crate::document::{Document, Documents, MeshView, Messages, RunView, ScheduleView, SweepView};

/// Where something is wrong, and what.
type Wrong = (String, String);

/// Routers along a side of a mesh, at most.
const SIDE_MAX: u32 = crate::load::ROUTERS_MAX;
/// Times up to which numbers of a browser are exact.
const TIME_MAX: u64 = 1 << 53;

/// The first number that names nothing.
pub(crate) fn check(documents: &Documents) -> Result<(), Wrong> {
    if documents.documents.is_empty() {
        return Err(("documents".to_owned(), "there is none".to_owned()));
    }
    for (index, document) in documents.documents.iter().enumerate() {
        let checked = match document {
            Document::Run(view) => run(view),
            Document::Sweep(view) => sweep(view),
            Document::Schedule(view) => view.schedule.as_ref().map_or(Ok(()), schedule),
        };
        checked.map_err(|(path, reason)| (format!("documents[{index}].{path}"), reason))?;
    }
    Ok(())
}

fn wrong<T>(path: impl Into<String>, reason: impl Into<String>) -> Result<T, Wrong> {
    Err((path.into(), reason.into()))
}

/// Refuses the first value that is not below `count`.
fn below(
    path: &str,
    values: impl IntoIterator<Item = u64>,
    count: u64,
    what: &str,
) -> Result<(), Wrong> {
    match values
        .into_iter()
        .enumerate()
        .find(|&(_, value)| value >= count)
    {
        None => Ok(()),
        Some((index, value)) => wrong(
            format!("{path}[{index}]"),
            format!("{value} is none of the {count} {what}"),
        ),
    }
}

fn run(view: &RunView) -> Result<(), Wrong> {
    if view.unit_ps == 0 {
        return wrong("unit_ps", "a unit of time takes at least 1 ps");
    }
    if view.makespan_ps > TIME_MAX {
        return wrong("makespan_ps", format!("it is more than {TIME_MAX}"));
    }
    let (ranks, kinds) = (view.ranks.len() as u64, view.kinds.len() as u64);
    for (index, row) in view.ranks.iter().enumerate() {
        let path = |field: &str| format!("ranks[{index}].{field}");
        if row.causes.len() != row.ends.len() || row.of.len() != row.ends.len() {
            return wrong(path("ends"), "`ends`, `causes` and `of` differ in length");
        }
        if !row.ends.is_sorted_by(|a, b| a < b) {
            return wrong(path("ends"), "they do not ascend");
        }
        if row.ends.last().is_some_and(|&end| end > view.makespan_ps) {
            return wrong(path("ends"), "the last is after the makespan");
        }
        below(
            &path("causes"),
            row.causes.iter().map(|&kind| u64::from(kind)),
            kinds,
            "kinds",
        )?;
    }
    for (index, row) in view.ranks.iter().enumerate() {
        for (span, (&cause, &of)) in row.causes.iter().zip(&row.of).enumerate() {
            if !is_named(view, cause, of) {
                let path = format!("ranks[{index}].of[{span}]");
                return wrong(path, format!("{of} is no rank, or none of `holds`"));
            }
        }
    }
    messages(&view.messages, ranks, view.makespan_ps)?;
    for (index, segment) in view.path.iter().enumerate() {
        let is_one = u64::from(segment.rank) < ranks
            && u64::from(segment.cause) < kinds
            && is_named(view, segment.cause, segment.of)
            && segment.start <= segment.end
            && segment.end <= view.makespan_ps;
        if !is_one {
            return wrong(format!("path[{index}]"), "it is no stretch of the run");
        }
    }
    view.mesh
        .as_ref()
        .map_or(Ok(()), |view| mesh(view, ranks))?;
    match &view.schedule {
        Some(view) => schedule(view).map_err(|(path, reason)| (format!("schedule.{path}"), reason)),
        None => Ok(()),
    }
}

/// Whether what a span is about is there: a rank, or what holds a link.
fn is_named(view: &RunView, cause: u8, of: i64) -> bool {
    let is_link = view
        .kinds
        .get(usize::from(cause))
        .is_some_and(|kind| kind == "link_busy");
    let count = match is_link {
        true => view.holds.len(),
        false => view.ranks.len(),
    };
    (-1..count as i64).contains(&of)
}

fn messages(all: &Messages, ranks: u64, makespan: u64) -> Result<(), Wrong> {
    let count = all.from.len();
    let lengths = [
        all.to.len(),
        all.bytes.len(),
        all.posted.len(),
        all.start.len(),
        all.end.len(),
    ];
    if lengths.iter().any(|&length| length != count) {
        return wrong("messages", "its columns differ in length");
    }
    let wide = |column: &[u32]| {
        column
            .iter()
            .map(|&rank| u64::from(rank))
            .collect::<Vec<_>>()
    };
    below("messages.from", wide(&all.from), ranks, "ranks")?;
    below("messages.to", wide(&all.to), ranks, "ranks")?;
    let times = all.posted.iter().zip(&all.start).zip(&all.end);
    for (index, ((posted, start), end)) in times.enumerate() {
        if !(posted <= start && start <= end && *end <= makespan) {
            return wrong(
                format!("messages.end[{index}]"),
                "posted, start, end and makespan are not in this order",
            );
        }
    }
    Ok(())
}

fn mesh(view: &MeshView, ranks: u64) -> Result<(), Wrong> {
    let (width, height) = view.size;
    let routers = u64::from(width) * u64::from(height);
    if routers == 0 || routers > u64::from(SIDE_MAX) {
        return wrong(
            "mesh.size",
            format!("it is not from 1 to {SIDE_MAX} routers"),
        );
    }
    if view.places.len() as u64 != ranks {
        return wrong("mesh.places", format!("there are not {ranks}"));
    }
    let is_in = |(x, y): (u32, u32)| x < width && y < height;
    if let Some(index) = view.places.iter().position(|&place| !is_in(place)) {
        return wrong(format!("mesh.places[{index}]"), "it is off the mesh");
    }
    for (index, link) in view.links.iter().enumerate() {
        if !(is_in(link.from) && is_in(link.to)) {
            return wrong(format!("mesh.links[{index}]"), "it is off the mesh");
        }
        let is_whole = link.load.len() == view.slices as usize;
        if !is_whole || link.load.iter().any(|&load| load > 1000) {
            return wrong(
                format!("mesh.links[{index}].load"),
                format!("it is not {} numbers from 0 to 1000", view.slices),
            );
        }
    }
    Ok(())
}

fn schedule(view: &ScheduleView) -> Result<(), Wrong> {
    let (ranks, places) = (u64::from(view.ranks), view.chunk_bytes.len() as u64);
    let rows = [view.initial.len(), view.wanted.len(), view.steps.len()];
    if rows.iter().any(|&count| count as u64 != ranks) {
        return wrong(
            "initial",
            "`initial`, `wanted` and `steps` have not one entry per rank",
        );
    }
    if u64::from(view.chunks) > places {
        return wrong(
            "chunks",
            format!("it is more than the {places} of `chunk_bytes`"),
        );
    }
    for (name, lists) in [("initial", &view.initial), ("wanted", &view.wanted)] {
        for (index, list) in lists.iter().enumerate() {
            let ids = list.iter().map(|&chunk| u64::from(chunk));
            below(&format!("{name}[{index}]"), ids, places, "chunks")?;
        }
    }
    let rounds = u64::from(view.rounds);
    for (index, transfer) in view.transfers.iter().enumerate() {
        let path = format!("transfers[{index}]");
        let ends = [u64::from(transfer.from), u64::from(transfer.to)];
        below(&path, ends, ranks, "ranks")?;
        below(&path, [u64::from(transfer.round)], rounds, "rounds")?;
        let ids = transfer.chunks.iter().map(|&chunk| u64::from(chunk));
        below(&format!("{path}.chunks"), ids, places, "chunks")?;
    }
    for (index, write) in view.writes.iter().enumerate() {
        let path = format!("writes[{index}]");
        below(&path, [u64::from(write.rank)], ranks, "ranks")?;
        below(&path, [u64::from(write.chunk)], places, "chunks")?;
        below(&path, [u64::from(write.round)], rounds, "rounds")?;
    }
    Ok(())
}

fn sweep(view: &SweepView) -> Result<(), Wrong> {
    for (index, case) in view.cases.iter().enumerate() {
        let is_listed = view.ranks.contains(&case.ranks) && view.sizes.contains(&case.bytes);
        if !is_listed || case.runs.is_empty() {
            return wrong(
                format!("cases[{index}]"),
                "it has no run, or no row or column",
            );
        }
    }
    Ok(())
}
