//! `compare`: who wins at which size and rank count.

use std::collections::BTreeMap;

use corecast_render::{LineChart, Scale, Series, WinnerMap};
use serde_json::Value;

use crate::args::Scene;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::scene::Stage;
use crate::settings::Settings;
use crate::{picture, run, style, table};

/// The verb.
pub fn answer(
    scene: &Scene,
    repeat: u32,
    csv: Option<&str>,
    plot: Option<&str>,
) -> Result<Answer, Failure> {
    let mut stage = Stage::new(scene, "all")?.repeated(repeat);
    stage.simulated_only()?;
    let settings = stage.settings()?;
    let mut series: BTreeMap<&'static str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut winners: Vec<Vec<String>> = Vec::new();
    let progress = stage.progress();
    let (mut rows, mut objects, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines =
        "collective,algorithm,chip,ranks,bytes,makespan_cycles,makespan_ns,bound_cycles,delivered,\
         runs,makespan_mean_ns,makespan_variance_ns2,makespan_p99_ns,makespan_max_ns\n"
            .to_owned();
    for &ranks in &stage.ranks {
        winners.push(Vec::new());
        for &bytes in &stage.sizes {
            let (runs, _) = run::rank(&stage, ranks, bytes, &progress)?;
            for run in &runs {
                let bound = run::bound_cycles(&stage, &run.request);
                if bytes > 0 && bound > 0 {
                    let ratio = run::mean_cycles(&stage, run) / bound as f64;
                    series
                        .entry(run.algorithm)
                        .or_default()
                        .push((bytes as f64, ratio));
                }
                let spread = &run.spread;
                lines += &format!(
                    "{},{},{},{ranks},{bytes},{},{},{},{},{},{},{},{},{}\n",
                    stage.collective,
                    run.algorithm,
                    stage.chip.name,
                    run::cycles(&stage, run.report.makespan),
                    run.report.makespan.ns(),
                    run::bound_cycles(&stage, &run.request),
                    run.delivered,
                    spread.runs,
                    spread.mean_ns,
                    spread.variance_ns2,
                    spread.p99.ns(),
                    spread.max.ns()
                );
                failed.extend(run::failures(run));
                objects.push(run::object(&stage, run, &settings));
            }
            if let Some(row) = winners.last_mut() {
                row.push(runs[0].algorithm.to_owned());
            }
            let cycles = |index: usize| {
                let run = runs.get(index);
                run.map_or("-".to_owned(), |run| {
                    run::mean_cycles(&stage, run).to_string()
                })
            };
            let mut row = vec![
                ranks.to_string(),
                bytes.to_string(),
                cycles(0),
                run::bound_cycles(&stage, &runs[0].request).to_string(),
                style::good(runs[0].algorithm),
            ];
            row.extend(match &runs[0].cell {
                Some(cell) => vec![table::sizes(cell), table::place(cell)],
                None => {
                    let second = runs.get(1).map_or("-", |run| run.algorithm);
                    vec![second.to_owned(), cycles(1)]
                }
            });
            rows.push(row);
        }
    }
    let mut wrote = String::new();
    if let Some(fidelity) = stage.fidelity() {
        wrote += &format!("the mesh was simulated in {fidelity} fidelity\n");
    }
    wrote += &run::with(&settings);
    wrote += &run::same_here(&stage);
    if let Some(advice) = &stage.advice {
        wrote += &advice.source();
    }
    if let Some(path) = plot {
        let picture = match stage.ranks[..] {
            [_] => chart(&stage, series, &winners[0], &settings).svg(),
            _ => map(&stage, winners, &settings).svg(),
        };
        wrote += &picture::write_svg(path, &picture, &settings)?;
    }
    if let Some(path) = csv {
        wrote += &picture::write(path, &settings.on_csv(&lines))?;
    }
    let mut header = vec!["ranks", "bytes", "cycles", "bound"];
    header.extend(match stage.advice {
        Some(_) => ["algorithm", "sizes", "by the cell for"],
        None => ["winner", "second", "its cycles"],
    });
    Ok(Answer {
        text: output::table(&header, 0..4, rows) + &wrote,
        json: Value::Array(objects),
        failed,
    })
}

/// One line per algorithm, in the order of their geometric means; the title says who wins how often.
fn chart(
    stage: &Stage<'_>,
    series: BTreeMap<&'static str, Vec<(f64, f64)>>,
    winners: &[String],
    settings: &Settings,
) -> LineChart {
    let mean = |points: &[(f64, f64)]| {
        points.iter().map(|point| point.1.ln()).sum::<f64>() / points.len() as f64
    };
    let ratios: Vec<f64> = series.values().flatten().map(|point| point.1).collect();
    let mut series: Vec<_> = series.into_iter().collect();
    series.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    let (collective, chip, ranks) = (stage.collective, &stage.chip.name, stage.ranks[0]);
    let beside = picture::beside(settings);
    let what = format!("{collective} over {ranks} ranks on {chip}{beside}");
    LineChart {
        title: format!("{}: {what}", verdict(winners.iter(), "sizes")),
        x_label: "size (bytes)".to_owned(),
        y_label: "makespan / lower bound".to_owned(),
        x_scale: Scale::Log2,
        y_scale: Scale::spanning(ratios),
        marks: Vec::new(),
        series: series
            .into_iter()
            .map(|(name, points)| Series {
                name: name.to_owned(),
                points,
            })
            .collect(),
    }
}

/// Who wins most often of so many cases; a case without a winner has an empty name.
fn verdict<'a>(winners: impl Iterator<Item = &'a String>, cases: &str) -> String {
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for name in winners.filter(|name| !name.is_empty()) {
        *wins.entry(name).or_default() += 1;
    }
    let all = wins.values().sum::<usize>();
    let most = wins.values().copied().max().unwrap_or(0);
    let leaders: Vec<_> = wins.iter().filter(|&(_, &count)| count == most).collect();
    match leaders[..] {
        [(name, _)] => format!("{name} wins {most} of {all} {cases}"),
        _ => "no algorithm wins most often".to_owned(),
    }
}

/// One row per rank count; the title names the algorithm that wins most often, if there is one. A
/// case without a winner has an empty name.
pub fn map(stage: &Stage<'_>, winners: Vec<Vec<String>>, settings: &Settings) -> WinnerMap {
    let (collective, chip) = (stage.collective, &stage.chip.name);
    let what = format!("{collective} on {chip}{}", picture::beside(settings));
    WinnerMap {
        title: format!("{}: {what}", verdict(winners.iter().flatten(), "cases")),
        row_label: "ranks".to_owned(),
        column_label: "size (bytes)".to_owned(),
        rows: stage.ranks.iter().map(ToString::to_string).collect(),
        columns: stage.sizes.iter().map(ToString::to_string).collect(),
        cells: winners,
    }
}
