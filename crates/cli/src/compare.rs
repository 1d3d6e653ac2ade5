//! `compare`: who wins at which size and rank count.

use std::collections::BTreeMap;
use std::path::Path;

use corecast_render::{LineChart, Series};
use indicatif::ProgressBar;
use serde_json::Value;

use crate::args::Scene;
use crate::failure::Failure;
use crate::output::{Answer, table, write_file};
use crate::run;
use crate::scene::Stage;
use crate::style;

/// The verb.
pub fn answer(scene: &Scene, csv: Option<&str>, plot: Option<&str>) -> Result<Answer, Failure> {
    let stage = Stage::new(scene, "all")?;
    stage.simulated_only()?;
    if plot.is_some() {
        stage.one_rank_count()?;
    }
    let mut series: BTreeMap<&'static str, Vec<(f64, f64)>> = BTreeMap::new();
    // Hidden by itself unless standard error is a terminal.
    let progress = ProgressBar::new((stage.ranks.len() * stage.sizes.len()) as u64);
    let (mut rows, mut objects, mut passed) = (Vec::new(), Vec::new(), true);
    let mut lines =
        "collective,algorithm,chip,ranks,bytes,makespan_cycles,makespan_ns,bound_cycles,delivered\n"
            .to_owned();
    for &ranks in &stage.ranks {
        for &bytes in &stage.sizes {
            let (runs, _) = run::rank(&stage, ranks, bytes)?;
            progress.inc(1);
            for run in &runs {
                let bound = run::bound_cycles(&stage, &run.request);
                if bytes > 0 && bound > 0 {
                    let ratio = run::cycles(&stage, run.report.makespan) / bound as f64;
                    series
                        .entry(run.algorithm)
                        .or_default()
                        .push((bytes as f64, ratio));
                }
                lines += &format!(
                    "{},{},{},{ranks},{bytes},{},{},{},{}\n",
                    stage.collective,
                    run.algorithm,
                    stage.chip.name,
                    run::cycles(&stage, run.report.makespan),
                    run.report.makespan.ns(),
                    run::bound_cycles(&stage, &run.request),
                    run.report.delivered()
                );
                passed &= run.report.delivered() && run.certificate.is_correct();
                objects.push(run::object(&stage, run, scene));
            }
            let cycles = |index: usize| {
                let run = runs.get(index);
                run.map_or("-".to_owned(), |run| {
                    run::cycles(&stage, run.report.makespan).to_string()
                })
            };
            rows.push(vec![
                ranks.to_string(),
                bytes.to_string(),
                cycles(0),
                run::bound_cycles(&stage, &runs[0].request).to_string(),
                style::good(runs[0].algorithm),
                runs.get(1).map_or("-", |run| run.algorithm).to_owned(),
                cycles(1),
            ]);
        }
    }
    progress.finish_and_clear();
    if let Some(path) = plot {
        write_file(Path::new(path), &chart(&stage, series).svg())?;
    }
    if let Some(path) = csv {
        write_file(Path::new(path), &lines)?;
    }
    let header = [
        "ranks",
        "bytes",
        "cycles",
        "bound",
        "winner",
        "second",
        "its cycles",
    ];
    Ok(Answer {
        text: table(&header, 0..4, rows),
        json: Value::Array(objects),
        passed,
    })
}

/// One line per algorithm; the title names the one that is closest to the bound overall.
fn chart(stage: &Stage<'_>, series: BTreeMap<&'static str, Vec<(f64, f64)>>) -> LineChart {
    let mean = |points: &[(f64, f64)]| {
        points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64
    };
    let best = series.iter().min_by(|a, b| mean(a.1).total_cmp(&mean(b.1)));
    let (collective, chip, ranks) = (stage.collective, &stage.chip.name, stage.ranks[0]);
    let what = format!("{collective} over {ranks} ranks on {chip}");
    LineChart {
        title: match best {
            Some((name, _)) => format!("{name} is closest to the bound: {what}"),
            None => what,
        },
        x_label: "size (bytes)".to_owned(),
        y_label: "makespan / lower bound".to_owned(),
        series: series
            .into_iter()
            .map(|(name, points)| Series {
                name: name.to_owned(),
                points,
            })
            .collect(),
    }
}
