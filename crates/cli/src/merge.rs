// SPDX-License-Identifier: MIT OR Apache-2.0
//! `merge`: the parts of a sweep or of a decision table as one.

use std::path::Path;

use corecast_study::{KEEPS, KEPT_BYTES_MAX, Kept, KeptCase, KeptError, SweepCase, VariedCase};
use corecast_tune::Table;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Answer, json};
use crate::{input, table};

#[derive(Serialize)]
struct Merged {
    parts: usize,
    cases: usize,
    text: String,
}

/// The verb.
pub fn answer(parts: &[String]) -> Result<Answer, Failure> {
    let is_table = |path: &String| path.ends_with(".toml");
    let tables = parts.iter().filter(|path| is_table(path)).count();
    let (cases, text) = match tables {
        0 => sweeps(parts)?,
        all if all == parts.len() => decisions(parts)?,
        _ => {
            let message = "merge: some parts are tables (.toml), some are not";
            return Err(Failure::input(message).help("merge tables and sweeps apart"));
        }
    };
    let merged = Merged {
        parts: parts.len(),
        cases,
        text,
    };
    let record = json(&merged);
    Ok(Answer::new(merged.text, record))
}

fn sweeps(parts: &[String]) -> Result<(usize, String), Failure> {
    let texts = parts.iter().map(|path| Ok((path.as_str(), text(path)?)));
    let texts: Vec<(&str, String)> = texts.collect::<Result<_, Failure>>()?;
    match Kept::<VariedCase>::parse(&texts[0].1) {
        Err(KeptError::Kind { .. }) => whole::<SweepCase>(&texts),
        _ => whole::<VariedCase>(&texts),
    }
}

/// The cases of all parts.
fn whole<C: KeptCase>(parts: &[(&str, String)]) -> Result<(usize, String), Failure> {
    let mut whole: Option<Kept<C>> = None;
    for (path, text) in parts {
        let part = Kept::parse(text).map_err(|error| wrong(path, &error))?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.merge(part).map_err(|error| wrong(path, &error))?,
        }
    }
    let whole = whole.expect("at least one part");
    Ok((whole.cases().len(), whole.to_string()))
}

fn decisions(parts: &[String]) -> Result<(usize, String), Failure> {
    let mut whole: Option<Table> = None;
    for path in parts {
        let part = table::load(path)?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                let merged = whole.merge(part);
                merged.map_err(|mismatch| Failure::input(format!("{path}: {mismatch}")))?;
            }
        }
    }
    let whole = whole.expect("at least one part");
    Ok((whole.cells().count(), whole.to_string()))
}

/// What is in a file of cases.
fn text(path: &str) -> Result<String, Failure> {
    input::text_file(path, KEPT_BYTES_MAX).map_err(|why| {
        Failure::input(format!("cannot read the cases in `{path}`: {why}")).help(KEEPS)
    })
}

/// The cases with those that the file has, if it is there and holds for the same.
pub fn with_file<C: KeptCase>(mut kept: Kept<C>, path: Option<&str>) -> Result<Kept<C>, Failure> {
    if let Some(path) = path.filter(|path| Path::new(path).is_file()) {
        let found = Kept::parse(&text(path)?);
        let merged = found.and_then(|found| kept.merge(found));
        merged.map_err(|error| wrong(path, &error))?;
    }
    Ok(kept)
}

/// What is wrong with the cases in a file.
fn wrong(path: &str, error: &KeptError) -> Failure {
    Failure::library_in(path, error)
}
