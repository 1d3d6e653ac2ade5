// SPDX-License-Identifier: MIT OR Apache-2.0
//! `show chip`: everything about a chip, with who says so.

use corecast_chip::{Chip, Origin, Parameter, Provenance, Unused, Word};
use corecast_study::ChipRecord;

use crate::args::ChipArg;
use crate::failure::Failure;
use crate::output::{Answer, json, table};
use crate::{placement, scene, style};

/// The chip with this name or in this file, changed as it is asked for.
pub fn answer(name: &str, asked: &ChipArg) -> Result<Answer, Failure> {
    let choice = scene::find_chip(name, &asked.set)?;
    let choice = placement::place(choice, asked.ranks_to_cores.as_deref())?;
    let (chip, changes) = (&choice.chip, choice.changes());
    Ok(Answer::new(
        text(chip),
        json(ChipRecord::new(chip, &changes)),
    ))
}

/// Who said the value of a key, if it was not the chip's own file.
fn said(chip: &Chip, origin: Origin) -> String {
    match origin {
        Origin::File | Origin::Variant => String::new(),
        Origin::Base => format!("of {}", chip.base().unwrap_or("the base")),
        Origin::Set => "changed".to_owned(),
        Origin::Default => "by default".to_owned(),
    }
}

fn text(chip: &Chip) -> String {
    let clock = chip.reference_clock();
    let mut text = format!(
        "{}\nsource: {}\ncores: at most {}\ncycles are those of clock `{}`, {} ps\n\
         fingerprint: {}\n",
        style::heading(&format!("{}: {}", chip.name, chip.summary)),
        chip.source,
        chip.cores_max(),
        clock.name,
        clock.period_ps,
        chip.fingerprint()
    );
    for note in chip.notes() {
        text += &format!("{} {note}\n", style::near("note:"));
    }
    text += "\n";
    let number = |p: Parameter<'_>| {
        let source = match p.fitted_to {
            Some(points) => format!("{} (fitted to {points})", p.source),
            None => p.source.to_owned(),
        };
        vec![
            p.key.to_owned(),
            p.value.to_string(),
            p.unit.to_owned(),
            match p.kind {
                Provenance::Assumed | Provenance::Fitted => style::near(p.kind.name()),
                _ => p.kind.name().to_owned(),
            },
            said(chip, chip.origin(p.key)),
            source,
        ]
    };
    let header = ["parameter", "value", "unit", "kind", "", "source"];
    text += &table(&header, 1..2, chip.parameters().map(number).collect());
    let word = |word: Word| vec![word.key, word.value, said(chip, word.origin)];
    text += &section("words", 0..0, chip.words().map(word).collect());
    let derived = chip.derived().into_iter().map(|number| {
        let value = rounded(number.value).to_string();
        let texts = [number.key, &value, number.unit, number.how];
        texts.map(str::to_owned).to_vec()
    });
    text += &section("what follows", 1..2, derived.collect());
    let unused = chip.unused();
    if !unused.is_empty() {
        let row = |Unused { key, why }| vec![String::from(key), String::from(why)];
        let rows = unused.into_iter().map(row).collect();
        text += &section("without effect on messages", 0..0, rows);
    }
    text
}

/// A table below a title.
fn section(title: &str, numbers: std::ops::Range<usize>, rows: Vec<Vec<String>>) -> String {
    let table = table(&[], numbers, rows);
    let rows = table.trim_start_matches('\n');
    format!("\n{}\n{rows}", style::heading(title))
}

/// To four decimals: what follows is no more exact than what it follows from.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
