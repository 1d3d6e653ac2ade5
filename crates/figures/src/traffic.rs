// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synthetic traffic: latency against load, and what links carry.

use corecast_render::{LineChart, Scale, Series};
use corecast_sim::traffic::Point;
use corecast_study::TrafficSweep;

use crate::run::heat_map;

/// Highest latency that is drawn, in latencies at zero load.
const SHOWN_MAX: f64 = 8.0;

/// Latency against offered load, up to saturation.
#[must_use]
pub fn latency_chart(sweep: &TrafficSweep, chip: &str) -> String {
    let (points, saturation) = (&sweep.points, sweep.saturation());
    let pattern = &sweep.pattern;
    // Beyond saturation latency grows with the length of the run and says nothing.
    let shown: Vec<&Point> = match saturation {
        Some(first) => points
            .iter()
            .filter(|point| point.offered <= first.offered)
            .collect(),
        None => points.iter().collect(),
    };
    let zero_load = sweep.zero_load.unwrap_or(f64::INFINITY);
    let line = |name: &str, value: &dyn Fn(&Point) -> f64| Series {
        name: name.to_owned(),
        // Higher values would squeeze the part of the curve that says something.
        points: (shown.iter().filter(|point| point.packets > 0))
            .map(|point| (point.offered, value(point)))
            .take_while(|point| point.1 <= SHOWN_MAX * zero_load)
            .collect(),
    };
    let what = format!("{pattern} traffic on {chip}");
    let chart = LineChart {
        title: match saturation {
            Some(point) => format!("{what} saturates at {:.3} accepted", point.accepted),
            None => format!("{what} stays below saturation"),
        },
        x_label: "offered load (flits per core and cycle)".to_owned(),
        y_label: format!(
            "packet latency (cycles of {} ps)",
            sweep.mesh.clock.period_ps
        ),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        marks: saturation
            .map(|point| (point.offered, "saturation".to_owned()))
            .into_iter()
            .collect(),
        series: vec![
            line("mean", &|point| point.latency_mean),
            line("median", &|point| point.latency_p50 as f64),
            line("99 %", &|point| point.latency_p99 as f64),
        ],
    };
    chart.svg()
}

/// What every link carries at the highest load below saturation; none without any load.
#[must_use]
pub fn traffic_heat_map(sweep: &TrafficSweep, chip: &str) -> Option<String> {
    let point = sweep.highest()?;
    let what = format!(
        "{} traffic on {chip} at {} flits per core and cycle",
        sweep.pattern, point.offered
    );
    let times = (sweep.flit(), sweep.duration(point));
    Some(heat_map(&what, &sweep.mesh.grid, &point.links, times))
}
