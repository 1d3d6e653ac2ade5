// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as a picture: our time over the best of the others, by size.

use std::path::Path;

use super::measure::{Machine, Results};
use super::plan::{FAR, Group};
use super::table::parts;
use super::verdict::ratio;
use crate::lines::Lines;

/// A line per test of messages and collectives with two ranks, on cores with a common cache.
///
/// `load` is how many busy processes there were beside them.
///
/// # Errors
/// That it could not be drawn.
pub fn svg(
    root: &Path,
    results: &Results,
    groups: &[Group],
    names: &[&str],
    (machine, load): (&Machine, usize),
) -> Result<String, String> {
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
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
            match series.iter_mut().find(|(name, _)| *name == key.1) {
                Some((_, points)) => points.push(point),
                None => series.push((key.1.clone(), vec![point])),
            }
        }
    }
    let all = series.iter().flat_map(|(_, points)| points);
    let (count, wins) = (
        all.clone().count(),
        all.filter(|point| point.1 <= 1.0).count(),
    );
    let beside = match load {
        0 => String::new(),
        load => format!(" beside {load} busy ones"),
    };
    let chart = Lines {
        title: format!(
            "Two processes{beside} on {}: {wins} of {count} cases at least as fast as the best other MPI",
            machine.model,
        ),
        x_label: "message size (bytes)".to_owned(),
        y_label: "time of corecast / best of the others".to_owned(),
        series,
    };
    chart.svg(root)
}
