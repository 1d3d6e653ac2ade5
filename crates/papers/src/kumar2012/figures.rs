// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 5, 6, 7, 9 and 10, from our runs.

use corecast_flow::Split;
use corecast_machine::Watch;
use corecast_render::{Bar, LineChart, Scale, Series, StackedBars};

use super::experiment::{Lie, RATES, speed_ups, variations, with_flows};
use super::workload::{ALL, CUSTOM, Case, FIR};
use crate::bench::PaperError;
use crate::cases;
use crate::figures::Figure;

/// Stages of Figure 6.
const STAGES: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];

pub(super) fn all(watch: &Watch) -> Result<Vec<Figure>, PaperError> {
    let mut figures = vec![figure5(watch)?, figure6(watch)?, figure7(watch)?];
    for (number, lie, word) in [
        (9, Lie::Orthogonal, "orthogonal to"),
        (10, Lie::Inline, "in line with"),
    ] {
        figures.push(variation(number, lie, word, watch)?);
    }
    Ok(figures)
}

fn figure5(watch: &Watch) -> Result<Figure, PaperError> {
    let runs = cases::all(&ALL.map(Case::of), |case| case.run(watch))?;
    let mut bars = Vec::new();
    for (workload, run) in ALL.iter().zip(&runs) {
        bars.extend(run.result.tasks.iter().map(|task| {
            Bar {
                label: task.name.clone(),
                group: workload.name.to_owned(),
                percent: (task.split.parts())
                    .map(|part| 100.0 * part.ns() / run.result.makespan.ns())
                    .to_vec(),
            }
        }));
    }
    let bars = StackedBars {
        title: "Tasks wait for the longest one of their flow".to_owned(),
        y_label: "share of the execution time (%)".to_owned(),
        parts: Split::PARTS.map(str::to_owned).to_vec(),
        bars,
    };
    Ok(("kumar2012-figure5".to_owned(), bars.svg()))
}

fn figure6(watch: &Watch) -> Result<Figure, PaperError> {
    let line = |workload: super::workload::Workload| {
        let ups = speed_ups(workload, &STAGES, watch)?;
        let points = STAGES.iter().zip(&ups);
        Ok(Series {
            name: workload.name.to_owned(),
            points: points.map(|(&stages, &up)| (stages.into(), up)).collect(),
        })
    };
    let series = [FIR, CUSTOM].map(line);
    let series = series.into_iter().collect::<Result<Vec<_>, PaperError>>()?;
    let up = |series: &Series| series.points.last().map_or(f64::NAN, |point| point.1);
    Ok(chart(
        6,
        format!(
            "Sixteen tasks are {:.1} times as fast as one core for the filter, {:.1} times for equal tasks",
            up(&series[0]),
            up(&series[1])
        ),
        ["tasks", "speed-up over one core"],
        series,
    ))
}

fn figure7(watch: &Watch) -> Result<Figure, PaperError> {
    let runs = with_flows(watch)?;
    let series = ALL.iter().zip(&runs).map(|(workload, runs)| Series {
        name: workload.name.to_owned(),
        points: (1..)
            .zip(runs)
            .map(|(flows, run)| (f64::from(flows), run.speed_up()))
            .collect(),
    });
    let series: Vec<Series> = series.collect();
    let best = series.iter().filter_map(|line| line.points.last());
    let best = best.map(|point| point.1).fold(0.0, f64::max);
    let title = format!("Four flows side by side are up to {best:.1} times as fast as one core");
    let labels = ["concurrent flows", "speed-up over one core"];
    Ok(chart(7, title, labels, series))
}

fn variation(number: u32, lie: Lie, word: &str, watch: &Watch) -> Result<Figure, PaperError> {
    let mut series = Vec::new();
    let mut sums = [0.0; 2];
    for workload in ALL {
        let all = variations(workload, lie, watch)?;
        for (which, kind) in ["memory", "intermediate"].into_iter().enumerate() {
            let points = RATES.iter().zip(&all);
            let points = points.map(|(rate, pair)| (100.0 * rate, pair[which]));
            let points: Vec<_> = points.collect();
            sums[which] += points.iter().map(|point| point.1).sum::<f64>();
            series.push(Series {
                name: format!("{}, {kind}", workload.name),
                points,
            });
        }
    }
    let title = format!(
        "Flows {word} the traffic: blocks at the memory buffer vary {:.1} times as much as others",
        sums[0] / sums[1]
    );
    let labels = ["injection rate (%)", "variation between arrivals (cycles)"];
    Ok(chart(number, title, labels, series))
}

fn chart(number: u32, title: String, [x_label, y_label]: [&str; 2], series: Vec<Series>) -> Figure {
    let chart = LineChart {
        title,
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        marks: Vec::new(),
        series,
    };
    (format!("kumar2012-figure{number}"), chart.svg())
}
