// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 5 and 9 to 20, from our runs.

use corecast_core::Rank;
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Limits, Watch};
use corecast_machine_sim::SimMachine;
use corecast_render::{LineChart, Scale, Series};

use super::tables::{CUBE, DOPL, RCCE, Table};
use super::{chosen, seconds};
use crate::bench::PaperError;
use crate::cases;
use crate::figures::Figure;

/// A line: name, contender, cores.
type Contender = (String, &'static Table, u32);

pub(super) fn all(watch: &Watch) -> Result<Vec<Figure>, PaperError> {
    let mut figures = vec![figure5()?];
    let ranges: [(u32, &str, Vec<u64>); 3] = [
        (9, "small", (1..=8101).step_by(100).collect()),
        (13, "medium", (10_000..=190_000).step_by(5000).collect()),
        (
            17,
            "large",
            (300_000..=1_900_000).step_by(100_000).collect(),
        ),
    ];
    let names = [("RCCE_bcast", &RCCE), ("Cube", &CUBE), ("DOPL", &DOPL)];
    let three = names.map(|(name, table)| (name.to_owned(), table, 48));
    let scaling = |table: &'static Table| {
        let line = |cores: u32| (format!("{cores} cores"), table, cores);
        [12, 24, 36, 48].map(line).to_vec()
    };
    for (first, kind, sizes) in ranges {
        let lines = lines(&three, &sizes, watch)?;
        let ratio = |a: usize, b: usize| last(&lines[a]) / last(&lines[b]);
        let title = format!(
            "RCCE_bcast takes {:.0} times as long as DOPL at the end of the {kind} sizes",
            ratio(0, 2)
        );
        figures.push(figure(first, title, lines.clone()));
        let title = format!(
            "Cube takes {:.1} times as long as DOPL at the end of the {kind} sizes",
            ratio(1, 2)
        );
        figures.push(figure(first + 1, title, lines[1..].to_vec()));
        for (offset, name, table) in [(2, "Cube", &CUBE), (3, "DOPL", &DOPL)] {
            let lines = self::lines(&scaling(table), &sizes, watch)?;
            let grows = last(&lines[3]) / last(&lines[0]);
            let title =
                format!("{name} over four times as many cores takes {grows:.1} times as long");
            figures.push(figure(first + offset, title, lines));
        }
    }
    Ok(figures)
}

fn last(line: &Series) -> f64 {
    line.points.last().map_or(f64::NAN, |point| point.1)
}

fn lines(
    contenders: &[Contender],
    sizes: &[u64],
    watch: &Watch,
) -> Result<Vec<Series>, PaperError> {
    let mut lines = Vec::new();
    for (name, table, cores) in contenders {
        let chip = table.chip(&[]);
        let cut = chosen(table);
        let point = |&bytes: &u64| {
            let [least, _] = seconds(&chip, table, *cores, bytes, cut, watch)?;
            Ok((bytes as f64, 1e3 * least))
        };
        lines.push(Series {
            name: name.clone(),
            points: cases::all(sizes, point)?,
        });
    }
    Ok(lines)
}

fn figure(number: u32, title: String, series: Vec<Series>) -> Figure {
    let chart = LineChart {
        title,
        x_label: "message size (bytes)".to_owned(),
        y_label: "time of a broadcast (ms)".to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        marks: Vec::new(),
        series,
    };
    (format!("scc-thesis-figure{number}"), chart.svg())
}

/// There and back between core 0 and others, with the faster clocks.
fn figure5() -> Result<Figure, PaperError> {
    let machine = SimMachine::new(&corecast_chip::find("scc-800").expect("a built-in chip"));
    let sizes: Vec<u64> = (256..=8192).step_by(256).collect();
    let mut series = Vec::new();
    for core in [1, 2, 10, 37, 47] {
        let point = |&bytes: &u64| {
            let (pair, limits) = ([Rank(0), Rank(core)], Limits::default());
            let time = there_and_back(&machine, 48, pair, bytes, 2, limits)?;
            Ok((bytes as f64, time.ns() / 1e3))
        };
        series.push(Series {
            name: format!("core {core}"),
            points: cases::all(&sizes, point)?,
        });
    }
    let farthest = 100.0 * (last(&series[4]) / last(&series[0]) - 1.0);
    let chart = LineChart {
        title: format!("Across the chip 8 KB take {farthest:.0} % longer than on one tile"),
        x_label: "message size (bytes)".to_owned(),
        y_label: "there and back (us)".to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        marks: Vec::new(),
        series,
    };
    Ok(("scc-thesis-figure5".to_owned(), chart.svg()))
}
