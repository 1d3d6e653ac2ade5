// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rules`: decision tables as the rules of an MPI library.

use std::path::Path;

use corecast_tune::{Rules, Tables};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::style;

/// What was written, and what was lost on the way.
#[derive(Serialize)]
struct RulesRecord<'a> {
    from: &'a str,
    to: Option<&'a str>,
    library: &'static str,
    /// How the library is told of the file.
    usage: String,
    notes: &'a [String],
    /// The file, unless it was written.
    text: Option<&'a str>,
}

/// The verb.
pub fn answer(options: &args::Rules) -> Result<Answer, Failure> {
    let tables = Tables::load(&options.tables).map_err(|error| Failure::library(&error))?;
    let rules = options.to.rules(&tables);
    let Rules { text, notes } = rules.map_err(|error| Failure::library(&error))?;
    notes.iter().for_each(|note| output::note(note));
    let path = options.to_file.as_deref();
    if let Some(path) = path {
        output::write_file(Path::new(path), &text)?;
    }
    let usage = options.to.usage(path.unwrap_or("FILE"));
    Ok(Answer {
        json: json(RulesRecord {
            from: &options.tables,
            to: path,
            library: options.to.name(),
            usage: usage.clone(),
            notes: &notes,
            text: path.is_none().then_some(&*text),
        }),
        text: match path {
            Some("-") => String::new(),
            Some(path) => format!("wrote {path}\n{}\n", style::dim(&usage)),
            None => text,
        },
        failed: Vec::new(),
    })
}
