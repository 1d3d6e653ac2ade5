// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as a picture: our time over the best of the others, by size.

use corecast_render::{LineChart, Scale, Series};

use super::measure::{Machine, Results};
use super::plan::{FAR, Group};
use super::table::{parts, ratio};

/// A line per test of messages and collectives with two ranks, on cores with a common cache.
///
/// `load` is how many busy processes there were beside them.
pub fn svg(
    results: &Results,
    groups: &[Group],
    names: &[&str],
    (machine, load): (&Machine, usize),
) -> String {
    let mut series: Vec<Series> = Vec::new();
    let drawn: Vec<Group> = groups
        .iter()
        .filter(|group| group.is_drawn())
        .cloned()
        .collect();
    for (_, keys) in parts(results, &drawn) {
        let keys = keys.into_iter().filter(|key| {
            let is_near = !key.1.ends_with(FAR) && !key.1.contains("_float");
            key.0 == 2 && key.2 > 0 && is_near
        });
        for key in keys {
            let Some((ratio, _)) = ratio(results, key, names) else {
                continue;
            };
            let point = (key.2 as f64, ratio);
            match series.iter_mut().find(|series| series.name == key.1) {
                Some(series) => series.points.push(point),
                None => series.push(Series {
                    name: key.1.clone(),
                    points: vec![point],
                }),
            }
        }
    }
    let all: Vec<f64> = series
        .iter()
        .flat_map(|series| series.points.iter().map(|point| point.1))
        .collect();
    let wins = all.iter().filter(|ratio| **ratio <= 1.0).count();
    let beside = match load {
        0 => String::new(),
        load => format!(" beside {load} busy ones"),
    };
    let chart = LineChart {
        title: format!(
            "Two processes{beside} on {}: {wins} of {} cases at least as fast as the best other MPI",
            machine.model,
            all.len()
        ),
        x_label: "message size (bytes)".to_owned(),
        y_label: "time of corecast / best of the others".to_owned(),
        x_scale: Scale::Log2,
        y_scale: Scale::spanning(all),
        series,
        marks: Vec::new(),
    };
    chart.svg()
}
