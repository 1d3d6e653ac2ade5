// SPDX-License-Identifier: MIT OR Apache-2.0
//! `reproduce`: published value, ours and the error, for every published number.

use std::path::Path;

use corecast_papers::{Ends, Figure, PAPERS, PaperError, PaperSettings, Row, Winner, add_rtl};
use corecast_render::Form;
use serde_json::Value;

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::output::{Answer, json, table};
use crate::progress::Parts;
use crate::{input, picture, style};

/// Where `--rtl` comes from.
const HOW_RTL: &str =
    "run `make -C rtl lockstep` first; it leaves them in rtl/build/lockstep.json, for park2019";

/// Most bytes of its file.
const ENDS_BYTES_MAX: u64 = 64 << 20;

/// The verb: one paper, or all of them.
pub fn answer(options: &Reproduce) -> Result<Answer, Failure> {
    let papers: Vec<_> = PAPERS
        .iter()
        .filter(|of| options.paper.is_none_or(|paper| paper.name == of.name))
        .collect();
    let plot = options.plot.as_deref().map(Path::new);
    let rtl = options.rtl.as_deref();
    let ends = rtl.map(read_ends).transpose()?;
    let work = papers.iter().map(|paper| paper.work.ms(plot.is_some()));
    let progress = Parts::new(work.sum(), "reproduce");
    let (mut objects, mut text, mut with_rtl) = (Vec::new(), String::new(), 0);
    for of in papers {
        let settings = PaperSettings::of(of);
        let watch = progress.begin(of.name, of.work.rows);
        let mut reproduced = of.rows(&watch).map_err(|error| failed(&error))?;
        if let Some(ends) = &ends {
            with_rtl += add_rtl(&mut reproduced, ends);
        }
        let title = format!("{}: {}", of.name, of.citation);
        text += &format!("{}\n\n", style::heading(&title));
        text += &rows_text(&reproduced);
        text += &format!("\nleft open: {}\n\n", of.open);
        let watch = progress.begin(of.name, of.work.winners);
        let winners = of.contest.winners(&watch).map_err(|error| failed(&error))?;
        for winners in winners.chunk_by(|a, b| a.collective == b.collective) {
            let (collective, chip) = (winners[0].collective, of.contest.chip);
            let title = format!("fastest {collective} on {chip}, all algorithms");
            text += &format!("{}\n\n{}\n", style::heading(&title), winners_text(winners));
        }
        if let Some(folder) = plot {
            let watch = progress.begin(of.name, of.work.figures);
            let figures = of
                .figures(&winners, &watch)
                .map_err(|error| failed(&error))?;
            text += &write_figures(folder, options.form, &figures, &settings)?;
        }
        objects.extend(reproduced.iter().map(|row| json(settings.on(row))));
    }
    if let Some(path) = rtl.filter(|_| with_rtl == 0) {
        let message = format!("--rtl: {path} has no program of these numbers");
        return Err(Failure::input(message).help(HOW_RTL));
    }
    Ok(Answer::new(text, Value::Array(objects)))
}

/// The results of the hardware's simulation.
fn read_ends(path: &str) -> Result<Ends, Failure> {
    let text = input::text_file(path, ENDS_BYTES_MAX).map_err(|error| {
        Failure::input(format!("--rtl: cannot read `{path}`: {error}")).help(HOW_RTL)
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("--rtl: {path}: {error}")).help(HOW_RTL))
}

/// Writes every figure; returns one line for each.
fn write_figures(
    folder: &Path,
    form: Form,
    figures: &[Figure],
    settings: &PaperSettings,
) -> Result<String, Failure> {
    let mut text = String::new();
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::input(format!(
            "--plot: cannot make the folder `{}`: {error}",
            folder.display()
        ))
        .help("give a folder that exists, or that can be made")
    })?;
    for (name, svg) in figures {
        let path = folder.join(format!("{name}.{}", form.ending()));
        text += &picture::write_form(&path, form, svg, &settings.line())?;
    }
    Ok(text + "\n")
}

fn failed(error: &PaperError) -> Failure {
    let mut failure = Failure::library(error);
    failure.code = 1;
    failure
}

/// At most three decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Green within the rounding of the printed digits, yellow within 5 %, red beyond.
fn error(row: &Row) -> String {
    let Some(percent) = row.error_percent else {
        // A miss of a published zero has no percentage, and is a miss all the same.
        let is_miss = row.published.is_some();
        return if is_miss {
            style::bad("-")
        } else {
            "-".to_owned()
        };
    };
    let text = format!("{percent:+.2}");
    match percent.abs() {
        ..0.05 => style::good(&text),
        ..=5.0 => style::near(&text),
        _ => style::bad(&text),
    }
}

fn rows_text(rows: &[Row]) -> String {
    let has_rtl = rows.iter().any(|row| row.rtl.is_some());
    let mut header = vec![
        "item",
        "conditions",
        "quantity",
        "unit",
        "published",
        "ours",
        "error %",
        "fitted",
    ];
    if has_rtl {
        header.insert(6, "RTL");
    }
    let cells = rows.iter().map(|row| {
        let mut cells = vec![
            row.item.to_owned(),
            row.conditions.clone(),
            row.quantity.clone(),
            row.unit.to_owned(),
            row.published.map_or("-".to_owned(), number),
            number(row.ours),
            error(row),
            if row.fitted { "yes" } else { "no" }.to_owned(),
        ];
        if has_rtl {
            cells.insert(6, row.rtl.map_or("-".to_owned(), number));
        }
        cells
    });
    let numbers = if has_rtl { 4..8 } else { 4..7 };
    table(&header, numbers, cells.collect())
}

/// Rows: rank counts, without and with rank 1 busy; columns: sizes; cells: the winner.
fn winners_text(winners: &[Winner]) -> String {
    let mut sizes: Vec<u64> = winners.iter().map(|winner| winner.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let is_busy = winners.iter().any(|winner| winner.ongoing_bytes > 0);
    let size = |&bytes: &u64| match bytes {
        0 => "no data".to_owned(),
        bytes => format!("{bytes} B"),
    };
    let mut header = vec!["ranks".to_owned()];
    header.extend(is_busy.then(|| "rank 1 busy".to_owned()));
    let numbers = header.len();
    header.extend(sizes.iter().map(size));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let same_row =
        |a: &Winner, b: &Winner| (a.ranks, a.ongoing_bytes) == (b.ranks, b.ongoing_bytes);
    let rows = winners.chunk_by(same_row).map(|of_row| {
        let mut cells = vec![of_row[0].ranks.to_string()];
        cells.extend(is_busy.then(|| format!("{} B", of_row[0].ongoing_bytes)));
        cells.extend(
            of_row
                .iter()
                .map(|winner| winner.winner.clone().into_owned()),
        );
        cells
    });
    table(&header, 0..numbers, rows.collect())
}
