// SPDX-License-Identifier: MIT OR Apache-2.0
//! A line chart over sizes or numbers of cores, as SVG: from standard input to standard output.
//!
//! For `cargo xtask`, which is built before everything else and does without this crate.
//!
//! ```json
//! {"title": "T", "x_label": "bytes", "y_label": "ratio", "series": [["mine", [[8.0, 0.9], [16.0, 1.1]]]]}
//! ```

use corecast_render::{LineChart, Scale, Series};
use serde::Deserialize;

#[derive(Deserialize)]
struct Chart {
    title: String,
    x_label: String,
    y_label: String,
    series: Vec<(String, Vec<(f64, f64)>)>,
}

fn main() -> Result<(), serde_json::Error> {
    let chart: Chart = serde_json::from_reader(std::io::stdin())?;
    let points = chart.series.iter().flat_map(|(_, points)| points);
    let chart = LineChart {
        y_scale: Scale::spanning(points.map(|point| point.1)),
        title: chart.title,
        x_label: chart.x_label,
        y_label: chart.y_label,
        x_scale: Scale::Log2,
        series: chart
            .series
            .into_iter()
            .map(|(name, points)| Series { name, points })
            .collect(),
        marks: Vec::new(),
    };
    print!("{}", chart.svg());
    Ok(())
}
