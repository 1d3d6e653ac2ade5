// SPDX-License-Identifier: MIT OR Apache-2.0
//! `compare`: who wins at which size and rank count.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use corecast_figures::{Lines, Swept};
use corecast_study::{Kept, Settings, Study, Sweep, SweepCase, SweptRun};
use serde_json::Value;

use crate::args::{Keeping, Scene};
use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::{merge, picture, run, scene, style, table, view};

/// How long cases are kept in memory only. A file is written whole, so not after every case.
pub const SAVED_EVERY: Duration = Duration::from_secs(1);

/// The sweep; what is found is in the file also if it does not come to its end.
fn swept_cases(study: &Study, keeping: &Keeping, progress: &Bar) -> Result<Sweep, Failure> {
    let Keeping { keep, shard } = keeping;
    let path = keep.as_deref();
    let mut kept = merge::with_file(study.keeps(), path)?;
    let save = |kept: &Kept| {
        path.map_or(Ok(()), |path| {
            output::write_file(Path::new(path), &kept.to_string())
        })
    };
    save(&kept)?; // says now, not after the sweep, that the file cannot be written
    let mut saved = Instant::now();
    let mut found = |kept: &Kept| {
        if saved.elapsed() < SAVED_EVERY {
            return Ok(());
        }
        saved = Instant::now();
        save(kept)
    };
    let sweep = study.sweep_kept(*shard, &mut kept, &mut found, progress);
    save(&kept)?;
    sweep
}

/// What it writes beside its answer.
pub struct Outputs<'a> {
    /// Every run as CSV.
    pub csv: Option<&'a str>,
    /// A chart or a map.
    pub plot: Option<&'a str>,
    /// Which lines the chart has, if somebody said it.
    pub lines: Option<Lines>,
    /// A page or a document.
    pub view: Option<&'a str>,
}

/// The verb.
pub fn answer(
    scene: &Scene,
    repeat: Option<u32>,
    keeping: &Keeping,
    outputs: &Outputs<'_>,
) -> Result<Answer, Failure> {
    let mut study = scene.study("all")?;
    scene::note_slots(&study);
    study.plan.repeat = repeat.unwrap_or_else(|| study.usual_repeat());
    if outputs.lines.is_some() && study.ranks.len() != 1 {
        let wrong =
            "--top, --absolute: with several rank counts who wins where is drawn, not lines";
        return Err(Failure::input(wrong).help("give one rank count, or leave them out"));
    }
    let settings = study.settings();
    let progress = Bar::of(&mut study);
    let sweep = swept_cases(&study, keeping, &progress)?;
    let mut wrote = String::new();
    if let Some(fidelity) = study.machine.fidelity() {
        let fidelity = fidelity.name();
        wrote += &format!("the mesh was simulated in {fidelity} fidelity\n");
    }
    wrote += &run::with(&settings);
    wrote += &scene::placement_lines(&study);
    wrote += &run::same_here(&study);
    if let Some(advice) = &study.advice {
        wrote += &table::source(advice);
    }
    let refused = sweep.cases().flat_map(|case| &case.refused);
    let refused: BTreeSet<&String> = refused.collect();
    for reason in refused {
        wrote += &format!("{}\n", style::dim(&format!("left out: {reason}")));
    }
    scene::note_unended(sweep.cases().flat_map(|case| {
        let what = scene::what(study.collective(), case.ranks, case.bytes);
        let unended = case.unended.iter();
        unended.map(move |why| format!("{why}; this was {what}"))
    }));
    if let Some(path) = outputs.plot {
        let picture = match study.ranks[..] {
            [_] => {
                let winners = sweep.winners().concat();
                let shown = outputs.lines.unwrap_or_default();
                let lines = sweep.lines(shown.is_absolute);
                corecast_figures::sweep_chart(&Swept::of(&study), &winners, lines, shown, &settings)
            }
            _ => corecast_figures::winner_map(&Swept::of(&study), &sweep.winners(), &settings),
        };
        wrote += &picture::write_figure(path, &picture, &settings)?;
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
    scene::note_others(&*study.machine);
    Ok(Answer {
        failed: runs()
            .flat_map(|run| run.faults.iter().map(Failure::check))
            .collect(),
        ..Answer::new(
            output::table(&header, 0..4, rows) + &wrote,
            Value::Array(records),
        )
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
    let record = &best.record;
    let cell = record.table_ranks.zip(record.table_bytes);
    row.extend(match cell {
        Some(cell) => {
            let sizes = [record.part_bytes, record.piece_bytes];
            [table::sizes(sizes), table::place(cell)]
        }
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
