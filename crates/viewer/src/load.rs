// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the links of a mesh carry over time: every message spread evenly from its first word to its
//! last, over the links of its route.
//!
//! Models the route and the time of every message. Does not model where its words queue: simulators
//! count what crosses a link, not when.

use std::collections::BTreeMap;

use corecast_chip::Mesh;
use corecast_core::{LinkEnds, Rank, Seats, busiest_links};
use corecast_machine::{MessageRecord, Report};

use crate::document::{LinkView, MeshView};

/// Slices into which a makespan is cut.
const SLICES: usize = 200;
/// Routers up to which a mesh is drawn.
pub(crate) const ROUTERS_MAX: u32 = 4096;
/// Routers up to which loads over time are kept.
const TIMED_ROUTERS_MAX: u32 = 1024;

/// The mesh with its loads; none if it is too large to be drawn.
pub(crate) fn mesh_view(mesh: &Mesh, ranks: u32, report: &Report) -> Option<MeshView> {
    let whole = mesh.grid;
    if whole.routers() > ROUTERS_MAX {
        return None;
    }
    let seats = mesh.place(ranks);
    let places = (0..ranks).map(|rank| seats.position(Rank(rank)));
    let mut links = busiest_links(&report.links);
    let makespan = report.makespan.ps();
    let slices = match whole.routers() <= TIMED_ROUTERS_MAX && makespan > 0 {
        true => SLICES,
        false => 0,
    };
    let mut loads: BTreeMap<LinkEnds, Vec<f64>> = BTreeMap::new();
    if slices > 0 {
        for message in &report.messages {
            spread(&seats, message, makespan, &mut loads);
        }
    }
    for &ends in loads.keys() {
        links.entry(ends).or_default();
    }
    let all = loads.values().flatten();
    let peak = all.copied().fold(0.0, f64::max);
    let thousandths = |bytes: f64| match peak > 0.0 {
        // What is not nothing is shown as something.
        true if bytes > 0.0 => ((bytes / peak * 1000.0).round() as u16).max(1),
        _ => 0,
    };
    let link = |(ends, flits): (LinkEnds, u64)| LinkView {
        from: ends.0,
        to: ends.1,
        flits,
        load: match loads.get(&ends) {
            Some(load) => load.iter().map(|&bytes| thousandths(bytes)).collect(),
            None => vec![0; slices],
        },
    };
    Some(MeshView {
        size: whole.around(),
        places: places.collect(),
        links: links.into_iter().map(link).collect(),
        slices: slices as u32,
        peak_bytes: peak.ceil() as u64,
    })
}

/// Adds a message to the links of its route.
fn spread(
    seats: &Seats,
    message: &MessageRecord,
    makespan: u64,
    to: &mut BTreeMap<LinkEnds, Vec<f64>>,
) {
    let grid = seats.grid();
    let (start, end) = (
        message.start.ps(),
        message.end.ps().max(message.start.ps() + 1),
    );
    let width = makespan as f64 / SLICES as f64;
    let slice = |time: u64| ((time as f64 / width) as usize).min(SLICES - 1);
    let (first, last) = (slice(start), slice(end));
    let per_ps = message.bytes as f64 / (end - start) as f64;
    let mut at = seats.node_of(message.from);
    grid.visit_route(at, seats.node_of(message.to), &mut |from, hop| {
        at = from;
        let Some(next) = grid.neighbour(at, hop.side) else {
            return;
        };
        let ends = (grid.position(at), grid.position(next));
        let load = to.entry(ends).or_insert_with(|| vec![0.0; SLICES]);
        for (index, bytes) in load.iter_mut().enumerate().take(last + 1).skip(first) {
            let (low, high) = (index as f64 * width, (index + 1) as f64 * width);
            let shared = high.min(end as f64) - low.max(start as f64);
            *bytes += shared.max(0.0) * per_ps;
        }
    });
}
