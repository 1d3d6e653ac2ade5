//! Sweeps: who wins where, and by how much.

use corecast_core::Collective;
use corecast_render::{LineChart, Scale, Series, WinnerMap};
use corecast_study::{Settings, most_wins};

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
    /// Rank counts.
    pub ranks: &'a [u32],
    /// Sizes in bytes.
    pub sizes: &'a [u64],
}

/// Makespan over bound (on a wall clock: makespan) against size for the first rank count: a line per
/// algorithm, in the order of `lines` ([`corecast_study::lines`]). The title says who wins how often.
#[must_use]
pub fn sweep_chart(
    swept: &Swept<'_>,
    winners: &[&str],
    lines: Vec<(&str, Vec<(u64, f64)>)>,
    settings: &Settings,
) -> String {
    let values: Vec<f64> = lines.iter().flat_map(|line| &line.1).map(|p| p.1).collect();
    let ranks = swept.ranks.first().copied().unwrap_or_default();
    let (collective, place, beside) = (swept.collective, swept.place, beside(settings));
    let what = format!("{collective} over {ranks} ranks on {place}{beside}");
    let line = |(name, points): (&str, Vec<(u64, f64)>)| Series {
        name: name.to_owned(),
        points: points
            .into_iter()
            .map(|(bytes, ratio)| (bytes as f64, ratio))
            .collect(),
    };
    let chart = LineChart {
        title: format!("{}: {what}", verdict(winners, "sizes")),
        x_label: "size (bytes)".to_owned(),
        y_label: match swept.is_timed {
            true => "makespan (ns), median".to_owned(),
            false => "makespan / lower bound".to_owned(),
        },
        x_scale: Scale::Log2,
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
