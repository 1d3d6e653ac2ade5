//! `show chip`: everything about a chip, with who says so.

use corecast_chip::{Chip, Origin, Parameter, Provenance, Unused, Word};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Answer, json, table};
use crate::{scene, style};

/// The chip with this name or in this file, with changes of the form KEY=VALUE.
pub fn answer(name: &str, changes: &[String]) -> Result<Answer, Failure> {
    let chip = scene::find_chip(name, changes)?.chip;
    Ok(Answer {
        text: text(&chip),
        json: json(ChipRecord::new(&chip, changes)),
        failed: Vec::new(),
    })
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

/// Everything about a chip, with the version that says so.
#[derive(Serialize)]
struct ChipRecord<'a> {
    name: &'a str,
    summary: &'a str,
    source: &'a str,
    cores_max: u32,
    reference_clock: &'a str,
    cycle_ps: u64,
    fingerprint: String,
    version: &'static str,
    base: Option<&'a str>,
    set: &'a [String],
    notes: Vec<String>,
    parameters: Vec<NumberRecord<'a>>,
    words: Vec<WordRecord>,
    derived: Vec<DerivedRecord>,
    unused: Vec<UnusedRecord>,
}

/// A number of the chip.
#[derive(Serialize)]
struct NumberRecord<'a> {
    key: &'a str,
    value: f64,
    unit: &'a str,
    kind: &'static str,
    source: &'a str,
    fitted_to: Option<&'a str>,
    origin: &'static str,
}

/// A value that is no number.
#[derive(Serialize)]
struct WordRecord {
    key: String,
    value: String,
    origin: &'static str,
}

/// A number that follows from others.
#[derive(Serialize)]
struct DerivedRecord {
    key: &'static str,
    value: f64,
    unit: &'static str,
    how: &'static str,
}

/// A key that messages do not depend on.
#[derive(Serialize)]
struct UnusedRecord {
    key: &'static str,
    why: &'static str,
}

impl<'a> ChipRecord<'a> {
    fn new(chip: &'a Chip, changes: &'a [String]) -> Self {
        let clock = chip.reference_clock();
        let parameters = chip.parameters().map(|number| NumberRecord {
            key: number.key,
            value: number.value,
            unit: number.unit,
            kind: number.kind.name(),
            source: number.source,
            fitted_to: number.fitted_to,
            origin: chip.origin(number.key).name(),
        });
        let words = chip.words().map(|Word { key, value, origin }| WordRecord {
            key,
            value,
            origin: origin.name(),
        });
        let derived = chip.derived().into_iter().map(|number| DerivedRecord {
            key: number.key,
            value: number.value,
            unit: number.unit,
            how: number.how,
        });
        let unused = chip.unused().into_iter();
        let unused = unused.map(|Unused { key, why }| UnusedRecord { key, why });
        Self {
            name: &chip.name,
            summary: &chip.summary,
            source: &chip.source,
            cores_max: chip.cores_max(),
            reference_clock: &clock.name,
            cycle_ps: clock.period_ps,
            fingerprint: chip.fingerprint(),
            version: env!("CARGO_PKG_VERSION"),
            base: chip.base(),
            set: changes,
            notes: chip.notes(),
            parameters: parameters.collect(),
            words: words.collect(),
            derived: derived.collect(),
            unused: unused.collect(),
        }
    }
}
