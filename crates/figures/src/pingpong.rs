// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips.

use corecast_render::{LineChart, Scale, Series};
use corecast_study::{Played, counted};

/// Half a round trip against the size, a line per target.
#[must_use]
pub fn round_trips(played: &Played) -> String {
    let (points, targets, machine) = (&played.points, &played.targets, &played.machine);
    let place = format!("{} ({})", machine.place(), machine.kind().name());
    let title = format!("half a round trip from rank {} on {place}", played.from);
    let line = |&to: &u32| {
        let of_pair = points
            .iter()
            .filter(|point| point.to == to && point.bytes > 0);
        let hops = points.iter().find(|point| point.to == to);
        let hops = hops.and_then(|point| point.hops);
        Series {
            name: match hops {
                Some(hops) => format!("to rank {to}, {}", counted(hops, "hop")),
                None => format!("to rank {to}"),
            },
            points: of_pair
                .map(|point| (point.bytes as f64, point.one_way.ns()))
                .collect(),
        }
    };
    let ns: Vec<f64> = points.iter().map(|point| point.one_way.ns()).collect();
    let sizes = points.iter().map(|point| point.bytes as f64);
    let sizes = sizes.filter(|&bytes| bytes > 0.0);
    let largest = ns.iter().copied().fold(0.0, f64::max);
    let smallest = ns.iter().copied().fold(f64::INFINITY, f64::min);
    let chart = LineChart {
        title: format!("{title}: {smallest:.0} to {largest:.0} ns"),
        x_label: "size (bytes)".to_owned(),
        y_label: "half a round trip (ns)".to_owned(),
        x_scale: Scale::stepping(sizes),
        y_scale: Scale::spanning(ns),
        marks: Vec::new(),
        series: targets.iter().map(line).collect(),
    };
    chart.svg()
}
