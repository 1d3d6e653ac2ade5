//! `convert`: a schedule file in another format.

use std::path::Path;

use corecast::size;
use corecast_exchange::{Format, format_of_name};
use corecast_study::{Converted, ScheduleFile};
use serde::Serialize;

use crate::args::Convert;
use crate::failure::Failure;
use crate::output::{self, Answer, json};

/// What was converted, and what was lost on the way.
#[derive(Serialize)]
struct ConvertRecord<'a> {
    from: &'a str,
    to: Option<&'a str>,
    format: &'static str,
    notes: &'a [String],
    /// The file, unless it was written.
    text: Option<&'a str>,
}

/// The verb.
pub fn answer(options: &Convert) -> Result<Answer, Failure> {
    let to = format(options)?;
    let from = options.from.map(Format::name);
    let mut file = ScheduleFile::load(&options.from_file, from)?;
    if let Some(bytes) = &options.bytes {
        file = file.with_bytes(size::one("--bytes", bytes)?)?;
    }
    let Converted { text, notes } = file.convert(to.name())?;
    notes.iter().for_each(|note| output::note(note));
    let path = options.to_file.as_deref();
    if let Some(path) = path {
        output::write_file(Path::new(path), &text)?;
    }
    Ok(Answer {
        json: json(ConvertRecord {
            from: &options.from_file,
            to: path,
            format: to.name(),
            notes: &notes,
            text: path.is_none().then_some(&*text),
        }),
        text: match path {
            Some("-") => String::new(),
            Some(path) => format!("wrote {path} ({})\n", to.name()),
            None => text,
        },
        failed: Vec::new(),
    })
}

/// The format to write.
fn format(options: &Convert) -> Result<&'static dyn Format, Failure> {
    let by_name = || options.to_file.as_deref().and_then(format_of_name);
    options.to.or_else(by_name).ok_or_else(|| {
        let wrong = match &options.to_file {
            Some(path) => format!("the name of `{path}` does not say which format it should have"),
            None => "which format to write is not said".to_owned(),
        };
        Failure::input(wrong).help("add --to FORMAT; `corecast list formats` lists them")
    })
}
