// SPDX-License-Identifier: MIT OR Apache-2.0
//! The papers' figures, redrawn from our runs.

use corecast_machine::Watch;
use corecast_render::{LineChart, Scale, Series};

use crate::bench::{Bench, PaperError, ongoing, powers_of_two};

/// What a file of it is called, without the ending, and a picture as SVG.
pub type Figure = (String, String);

/// Chung 2011, Figures 5 to 7: gain of the proposed over the previous model.
pub(crate) fn chung2011(watch: &Watch) -> Result<Vec<Figure>, PaperError> {
    let bench = Bench::new("chung2011-bus", watch);
    let mut figures = Vec::new();
    for (figure, nodes) in [(5, 4), (6, 8), (7, 16)] {
        for (part, ongoing_bytes) in [("a", 512), ("b", 2048)] {
            let cases = [
                ("case 1: nobody is busy", vec![]),
                (
                    "case 2: nodes 2, 3 busy",
                    vec![ongoing(2, Some(3), ongoing_bytes)],
                ),
                (
                    "case 3: nodes 1, 2 busy",
                    vec![ongoing(1, Some(2), ongoing_bytes)],
                ),
            ];
            let mut series = Vec::new();
            for (name, busy) in cases {
                let mut points = Vec::new();
                for bytes in powers_of_two(4, 4096) {
                    let ns = |name| bench.bcast_ns(name, nodes, bytes, &busy, 1);
                    let gain = 100.0 * (ns("linear")? / ns("scoreboard")? - 1.0);
                    points.push((bytes as f64, gain));
                }
                series.push(Series {
                    name: name.to_owned(),
                    points,
                });
            }
            let chart = LineChart {
                title: format!(
                    "The scoreboard wins when its first target is busy \
                     ({nodes} nodes, transfer of {ongoing_bytes} B)"
                ),
                x_label: "broadcast size (bytes)".to_owned(),
                y_label: "performance increase (%)".to_owned(),
                x_scale: Scale::Log2,
                y_scale: Scale::Linear,
                marks: Vec::new(),
                series,
            };
            figures.push((format!("chung2011-figure{figure}{part}"), chart.svg()));
        }
    }
    Ok(figures)
}

/// Park 2019, Figures 18 to 21: speed-up of APOC over AP.
pub(crate) fn park2019(watch: &Watch) -> Result<Vec<Figure>, PaperError> {
    let bench = Bench::new("park2019-bus", watch);
    let mut figures = Vec::new();
    for (figure, nodes) in [(18, 4), (19, 8), (20, 16), (21, 32)] {
        let mut series = Vec::new();
        for ongoing_bytes in crate::park2019::ONGOING_BYTES {
            let busy = [ongoing(1, None, ongoing_bytes)];
            let mut points = Vec::new();
            for bytes in powers_of_two(4, 2048) {
                let ns = |name| bench.bcast_ns(name, nodes, bytes, &busy, 2);
                points.push((bytes as f64, ns("ap")? / ns("apoc")?));
            }
            series.push(Series {
                name: format!("P1 busy for {ongoing_bytes} B"),
                points,
            });
        }
        let chart = LineChart {
            title: format!(
                "Ordering by status hides up to N - 2 cycles of waiting ({nodes} nodes)"
            ),
            x_label: "broadcast size (bytes)".to_owned(),
            y_label: "speed-up of APOC over AP".to_owned(),
            x_scale: Scale::Log2,
            y_scale: Scale::Linear,
            marks: Vec::new(),
            series,
        };
        figures.push((format!("park2019-figure{figure}"), chart.svg()));
    }
    Ok(figures)
}
