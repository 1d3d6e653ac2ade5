// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps: who wins where, and by how much.

use corecast_core::Collective;
use corecast_render::{LineChart, Scale, Series, WinnerMap};
use corecast_study::{Settings, Study, counted, most_wins};

use crate::run::beside;

/// What a sweep went over.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    /// The collective.
    pub collective: Collective,
    /// The chip, or whatever runs took place on.
    pub place: &'a str,
    /// Whether times are those of a wall clock, in nanoseconds, with no bound to compare them with.
    pub is_timed: bool,
    /// Whether there is a bound to compare cycles with; there is none for the library's messages.
    pub is_bounded: bool,
    /// Runs behind every time: their mean, or their median where times are those of a wall clock.
    pub repeat: u32,
    /// Rank counts.
    pub ranks: &'a [u32],
    /// Sizes in bytes.
    pub sizes: &'a [u64],
}

impl<'a> Swept<'a> {
    /// What a study goes over.
    #[must_use]
    pub fn of(study: &'a Study) -> Self {
        Self {
            collective: study.collective(),
            place: study.machine.place(),
            is_timed: study.is_timed(),
            is_bounded: study.is_bounded(),
            repeat: study.plan.repeat,
            ranks: &study.ranks,
            sizes: &study.plan.sizes,
        }
    }

    /// What an axis of times says.
    fn time_label(&self, shown: Lines) -> String {
        let what = match (self.is_timed, shown.is_absolute || !self.is_bounded) {
            (true, _) => "makespan (ns)",
            (false, true) => "makespan (cycles)",
            (false, false) => "makespan / lower bound",
        };
        match (self.repeat, self.is_timed) {
            (1, _) => what.to_owned(),
            (runs, true) => format!("{what}, median of {runs} runs"),
            (runs, false) => format!("{what}, mean of {runs} runs"),
        }
    }
}

/// Lines that are drawn unless said otherwise.
const LINES: usize = 12;

/// Which lines of a sweep are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// At most so many, the fastest ones.
    pub top: usize,
    /// Whether times are drawn themselves, and not over the lower bound.
    pub is_absolute: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            top: LINES,
            is_absolute: false,
        }
    }
}

/// Size and time, or time over bound.
type Points = Vec<(u64, f64)>;

/// Lines that lie on each other as one with all their names; of three and more it has the first.
fn merged(lines: Vec<(&str, Points)>) -> Vec<(String, Points)> {
    let mut merged: Vec<(Vec<&str>, Points)> = Vec::new();
    for (name, points) in lines {
        match merged.iter_mut().find(|(_, other)| *other == points) {
            Some((names, _)) => names.push(name),
            None => merged.push((vec![name], points)),
        }
    }
    let named = merged.into_iter().map(|(names, points)| match names[..] {
        [first, second] => (format!("{first}, {second}"), points),
        [first, _, ..] => (format!("{first} and {} more", names.len() - 1), points),
        _ => (names.concat(), points),
    });
    named.collect()
}

/// Makespan over bound (on a wall clock, or where it is asked for, makespan) against size for the first
/// rank count: a line per algorithm, in the order of `lines` ([`corecast_study::lines`]), and one for
/// several that take the same time everywhere. The title says who wins how often.
#[must_use]
pub fn sweep_chart(
    swept: &Swept<'_>,
    winners: &[&str],
    lines: Vec<(&str, Points)>,
    shown: Lines,
    settings: &Settings,
) -> String {
    let mut lines = merged(lines);
    let all = lines.len();
    lines.truncate(shown.top);
    let values: Vec<f64> = lines.iter().flat_map(|line| &line.1).map(|p| p.1).collect();
    let sizes = lines.iter().flat_map(|line| &line.1).map(|p| p.0 as f64);
    let x_scale = Scale::stepping(sizes);
    let ranks = swept.ranks.first().copied().unwrap_or_default();
    let (collective, place, beside) = (swept.collective, swept.place, beside(settings));
    let ranks = counted(ranks, "rank");
    let what = format!("{collective} over {ranks} on {place}{beside}");
    let left_out = match all - lines.len() {
        0 => String::new(),
        1 => " (1 slower line not drawn)".to_owned(),
        slower => format!(" ({slower} slower lines not drawn)"),
    };
    let line = |(name, points): (String, Points)| Series {
        name,
        points: points
            .into_iter()
            .map(|(bytes, ratio)| (bytes as f64, ratio))
            .collect(),
    };
    let chart = LineChart {
        title: format!("{}: {what}{left_out}", verdict(winners, "sizes")),
        x_label: "size (bytes)".to_owned(),
        y_label: swept.time_label(shown),
        x_scale,
        y_scale: Scale::spanning(values),
        marks: Vec::new(),
        series: lines.into_iter().map(line).collect(),
    };
    chart.svg()
}

/// Who wins most often of so many cases.
fn verdict(winners: &[&str], cases: &str) -> String {
    match most_wins(winners.iter().copied()) {
        Some(most) => format!(
            "{} wins {} of {} {cases}",
            most.algorithm, most.wins, most.cases
        ),
        None => "no algorithm wins most often".to_owned(),
    }
}

/// Who wins where, one row per rank count; the title names the algorithm that wins most often, if
/// there is one. A case without a winner has an empty name.
#[must_use]
pub fn winner_map<S: AsRef<str>>(
    swept: &Swept<'_>,
    winners: &[Vec<S>],
    settings: &Settings,
) -> String {
    let (collective, place) = (swept.collective, swept.place);
    let what = format!("{collective} on {place}{}", beside(settings));
    let all: Vec<&str> = winners.iter().flatten().map(AsRef::as_ref).collect();
    let names = |row: &Vec<S>| row.iter().map(|name| name.as_ref().to_owned()).collect();
    let map = WinnerMap {
        title: format!("{}: {what}", verdict(&all, "cases")),
        row_label: "ranks".to_owned(),
        column_label: "size (bytes)".to_owned(),
        rows: swept.ranks.iter().map(ToString::to_string).collect(),
        columns: swept.sizes.iter().map(ToString::to_string).collect(),
        cells: winners.iter().map(names).collect(),
    };
    map.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_lie_on_each_other_are_one() {
        let points = |y: f64| vec![(4, y), (8, y)];
        let lines = vec![
            ("a", points(1.0)),
            ("b", points(2.0)),
            ("c", points(1.0)),
            ("d", points(3.0)),
            ("e", points(3.0)),
            ("f", points(3.0)),
        ];
        let merged = merged(lines);
        let names: Vec<&str> = merged.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a, c", "b", "d and 2 more"]);
    }
}
