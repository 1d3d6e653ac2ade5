//! `compare`: who wins at which size and rank count.

use std::collections::BTreeSet;

use corecast_figures::Swept;
use corecast_study::{Settings, Study, Sweep, SweepCase, SweptRun};
use serde_json::Value;

use crate::args::Scene;
use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::{picture, run, style, table, view};

/// What it writes beside its answer.
pub struct Outputs<'a> {
    /// Every run as CSV.
    pub csv: Option<&'a str>,
    /// A chart or a map.
    pub plot: Option<&'a str>,
    /// A page or a document.
    pub view: Option<&'a str>,
}

/// The verb.
pub fn answer(
    scene: &Scene,
    repeat: Option<u32>,
    outputs: &Outputs<'_>,
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
    if let Some(path) = outputs.plot {
        let picture = match study.ranks[..] {
            [_] => {
                let winners = sweep.winners().concat();
                corecast_figures::sweep_chart(&swept(&study), &winners, sweep.lines(), &settings)
            }
            _ => corecast_figures::winner_map(&swept(&study), &sweep.winners(), &settings),
        };
        wrote += &picture::write_svg(path, &picture, &settings)?;
    }
    if let Some(path) = outputs.csv {
        wrote += &picture::write(path, &lines(&sweep, &settings))?;
    }
    let runs = || sweep.cases().flat_map(|case| &case.runs);
    let records: Vec<Value> = runs().map(|run| settings.on(&run.record)).collect();
    if let Some(path) = outputs.view {
        wrote += &view::write(path, view::sweeps(&records))?;
    }
    let unit = study.unit();
    let others = format!("its {unit}");
    let mut header = vec!["ranks", "bytes", unit, "bound"];
    header.extend(match study.advice {
        Some(_) => ["algorithm", "sizes", "by the cell for"],
        None => ["winner", "second", &others],
    });
    let rows = sweep.cases().map(row).collect();
    Ok(Answer {
        text: output::table(&header, 0..4, rows) + &wrote,
        json: Value::Array(records),
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

/// What a sweep went over.
pub fn swept(study: &Study) -> Swept<'_> {
    Swept {
        collective: study.collective(),
        place: study.machine.place(),
        is_timed: study.is_timed(),
        ranks: &study.ranks,
        sizes: &study.plan.sizes,
    }
}
