// SPDX-License-Identifier: MIT OR Apache-2.0
//! `merge`: the parts of a sweep or of a decision table as one.

use corecast_study::{KEPT_BYTES_MAX, Kept, KeptError};
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
    let mut whole: Option<Kept> = None;
    for path in parts {
        let part = cases(path)?;
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

/// The cases in a file.
pub fn cases(path: &str) -> Result<Kept, Failure> {
    let text = input::text_file(path, KEPT_BYTES_MAX).map_err(|why| {
        Failure::input(format!("cannot read the cases in `{path}`: {why}"))
            .help("`corecast compare --keep FILE` writes such files")
    })?;
    Kept::parse(&text).map_err(|error| wrong(path, &error))
}

/// What is wrong with the cases in a file.
pub fn wrong(path: &str, error: &KeptError) -> Failure {
    Failure::library_in(path, error)
}
