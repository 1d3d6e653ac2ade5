// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as a picture: our time over the best of the others, by size.

use std::path::Path;

use super::measure::{Machine, Results};
use super::plan::{FAR, Group};
use super::table::parts;
use super::verdict::ratio;
use crate::lines::Lines;

/// A line per test of messages and collectives with two ranks, on cores with a common cache or without one:
/// wherever there are more figures of.
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
    let drawn: Vec<Group> = groups
        .iter()
        .filter(|group| group.is_drawn())
        .cloned()
        .collect();
    let (series, is_far) = series(results, &drawn, names);
    let place = match is_far {
        true => " without a common cache",
        false => "",
    };
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
            "Two processes{beside} on {}{place}: {wins} of {count} cases at least as fast as the best other MPI",
            machine.model,
        ),
        x_label: "message size (bytes)".to_owned(),
        y_label: "time of corecast / best of the others".to_owned(),
        series,
    };
    chart.svg(root)
}

/// A test and its points: bytes, and our time over that of the best of the others.
type Series = (String, Vec<(f64, f64)>);

/// The lines of the place that there are more figures of, and whether that is the one without a common cache.
fn series(results: &Results, groups: &[Group], names: &[&str]) -> (Vec<Series>, bool) {
    let mut places: [Vec<Series>; 2] = Default::default();
    let parts = parts(results, groups);
    for key in parts.iter().flat_map(|(_, keys)| keys) {
        let test = key.1.trim_end_matches(FAR);
        if key.0 != 2 || key.2 == 0 || !is_shown(test) {
            continue;
        }
        let Some((ratio, _)) = ratio(results, key, names) else {
            continue;
        };
        let series = &mut places[usize::from(test != key.1)];
        let point = (key.2 as f64, ratio);
        match series.iter_mut().find(|(name, _)| name == test) {
            Some((_, points)) => points.push(point),
            None => series.push((test.to_owned(), vec![point])),
        }
    }
    let points = |series: &[Series]| series.iter().map(|(_, points)| points.len()).sum();
    let [near, far] = places;
    let [near_points, far_points]: [usize; 2] = [points(&near), points(&far)];
    match near_points >= far_points {
        true => (near, false),
        false => (far, true),
    }
}

/// Few enough lines to tell them apart: those of floats lie by those of bytes, and of bytes that were just
/// written there are messages.
fn is_shown(test: &str) -> bool {
    !test.contains("_float") && (test == "latency_used" || !test.ends_with("_used"))
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::results;
    use super::super::options::Options;
    use super::super::plan::groups;
    use super::*;

    #[test]
    fn the_place_with_more_figures_is_drawn() {
        let mut figures = vec![
            ("latency", "corecast", 1.0),
            ("latency", "a", 2.0),
            ("bcast_used@far", "corecast", 1.0),
            ("bcast_used@far", "a", 2.0),
            ("bcast@far", "corecast", 3.0),
            ("bcast@far", "a", 2.0),
        ];
        let options = Options::read(&["--quick".to_owned()]).expect("an option");
        let groups: Vec<Group> = groups(&options, 2)
            .into_iter()
            .filter(Group::is_drawn)
            .collect();
        let drawn = |figures: &[(&str, &'static str, f64)]| {
            series(&results(figures), &groups, &["corecast", "a"])
        };
        let latency = ("latency".to_owned(), vec![(8.0, 0.5)]);
        assert_eq!(drawn(&figures), (vec![latency], false));
        figures.extend([("bw@far", "corecast", 4.0), ("bw@far", "a", 2.0)]);
        let (far, is_far) = drawn(&figures);
        let names: Vec<&str> = far.iter().map(|(name, _)| &name[..]).collect();
        assert_eq!((&names[..], is_far), (&["bw", "bcast"][..], true));
    }
}
