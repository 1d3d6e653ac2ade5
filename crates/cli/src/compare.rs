//! `compare`: who wins at which size and rank count.

use std::collections::BTreeSet;

use corecast_render::{LineChart, Scale, Series, WinnerMap};
use corecast_study::{Settings, Study, Sweep, SweepCase, SweptRun, most_wins};
use serde_json::Value;

use crate::args::Scene;
use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::{picture, run, style, table};

/// The verb.
pub fn answer(
    scene: &Scene,
    repeat: Option<u32>,
    csv: Option<&str>,
    plot: Option<&str>,
) -> Result<Answer, Failure> {
    let mut study = scene.study("all")?;
    study.plan.repeat = repeat.unwrap_or_else(|| study.usual_repeat());
    let settings = study.settings();
    let progress = Bar::of(&mut study);
    let sweep = study.sweep(&progress)?;
    let mut wrote = String::new();
    if let Some(fidelity) = study.machine.fidelity() {
        let fidelity = fidelity.name();
        wrote += &format!("the mesh was simulated in {fidelity} fidelity\n");
    }
    wrote += &run::with(&settings);
    wrote += &run::same_here(&study);
    if let Some(advice) = &study.advice {
        wrote += &table::source(advice);
    }
    let refused = sweep.cases().flat_map(|case| &case.refused);
    let refused: BTreeSet<String> = refused.map(ToString::to_string).collect();
    for reason in refused {
        wrote += &format!("{}\n", style::dim(&format!("left out: {reason}")));
    }
    if let Some(path) = plot {
        let picture = match study.ranks[..] {
            [_] => chart(&study, &sweep, &settings).svg(),
            _ => map(&study, sweep.winners(), &settings).svg(),
        };
        wrote += &picture::write_svg(path, &picture, &settings)?;
    }
    if let Some(path) = csv {
        wrote += &picture::write(path, &lines(&sweep, &settings))?;
    }
    let unit = study.unit();
    let others = format!("its {unit}");
    let mut header = vec!["ranks", "bytes", unit, "bound"];
    header.extend(match study.advice {
        Some(_) => ["algorithm", "sizes", "by the cell for"],
        None => ["winner", "second", &others],
    });
    let rows = sweep.cases().map(row).collect();
    let runs = || sweep.cases().flat_map(|case| &case.runs);
    Ok(Answer {
        text: output::table(&header, 0..4, rows) + &wrote,
        json: Value::Array(runs().map(|run| settings.on(&run.record)).collect()),
        failed: runs()
            .flat_map(|run| run.faults.iter().map(run::failure))
            .collect(),
    })
}

/// One case in the table: who wins, and by how much.
fn row(case: &SweepCase) -> Vec<String> {
    let best = &case.runs[0];
    let mut row = vec![
        case.ranks.to_string(),
        case.bytes.to_string(),
        best.time.to_string(),
        run::or_dash(best.bound_cycles.map(|bound| bound as f64)),
        style::good(&best.record.algorithm),
    ];
    row.extend(match &best.cell {
        Some(cell) => [table::sizes(cell), table::place(cell)],
        None => match case.runs.get(1) {
            Some(second) => [
                second.record.algorithm.clone().into_owned(),
                second.time.to_string(),
            ],
            None => ["-", "-"].map(str::to_owned),
        },
    });
    row
}

/// A CSV file with a line per run.
fn lines(sweep: &Sweep, settings: &Settings) -> String {
    let mut csv = Csv::new(&[
        "collective",
        "algorithm",
        "chip",
        "ranks",
        "bytes",
        "makespan_cycles",
        "makespan_ns",
        "bound_cycles",
        "delivered",
        "runs",
        "makespan_mean_ns",
        "makespan_median_ns",
        "makespan_variance_ns2",
        "makespan_p99_ns",
        "makespan_max_ns",
    ]);
    let chip = settings.chip.as_deref().unwrap_or_default();
    for SweptRun {
        record,
        bound_cycles,
        ..
    } in sweep.cases().flat_map(|case| &case.runs)
    {
        csv.line(&[
            &record.collective,
            &record.algorithm,
            &chip,
            &record.ranks,
            &record.bytes,
            &run::or_dash(record.makespan_cycles.map(|cycles| cycles.0)),
            &record.makespan_ns,
            &run::or_dash(bound_cycles.map(|bound| bound as f64)),
            &record.delivered,
            &record.runs,
            &record.makespan_mean_ns,
            &record.makespan_median_ns,
            &record.makespan_variance_ns2,
            &record.makespan_p99_ns,
            &record.makespan_max_ns,
        ]);
    }
    csv.with(settings)
}

/// One line per algorithm, in the order of their geometric means; the title says who wins how often.
fn chart(study: &Study, sweep: &Sweep, settings: &Settings) -> LineChart {
    let lines = sweep.lines();
    let values: Vec<f64> = lines.iter().flat_map(|line| &line.1).map(|p| p.1).collect();
    let (collective, ranks) = (study.collective(), study.ranks[0]);
    let (place, beside) = (study.machine.place(), picture::beside(settings));
    let what = format!("{collective} over {ranks} ranks on {place}{beside}");
    let winners = sweep.winners().concat();
    LineChart {
        title: format!("{}: {what}", verdict(&winners, "sizes")),
        x_label: "size (bytes)".to_owned(),
        y_label: match study.is_timed() {
            true => "makespan (ns), median".to_owned(),
            false => "makespan / lower bound".to_owned(),
        },
        x_scale: Scale::Log2,
        y_scale: Scale::spanning(values),
        marks: Vec::new(),
        series: lines
            .into_iter()
            .map(|(name, points)| Series {
                name: name.to_owned(),
                points: points
                    .into_iter()
                    .map(|(bytes, ratio)| (bytes as f64, ratio))
                    .collect(),
            })
            .collect(),
    }
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

/// One row per rank count; the title names the algorithm that wins most often, if there is one. A
/// case without a winner has an empty name.
pub fn map(study: &Study, winners: Vec<Vec<&str>>, settings: &Settings) -> WinnerMap {
    let (collective, place) = (study.collective(), study.machine.place());
    let what = format!("{collective} on {place}{}", picture::beside(settings));
    let names = |row: Vec<&str>| row.into_iter().map(str::to_owned).collect();
    WinnerMap {
        title: format!("{}: {what}", verdict(&winners.concat(), "cases")),
        row_label: "ranks".to_owned(),
        column_label: "size (bytes)".to_owned(),
        rows: study.ranks.iter().map(ToString::to_string).collect(),
        columns: study.plan.sizes.iter().map(ToString::to_string).collect(),
        cells: winners.into_iter().map(names).collect(),
    }
}
