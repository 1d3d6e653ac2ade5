//! `convert`: a schedule file in another format.

use std::path::Path;

use corecast::size;
use corecast_exchange::{Format, format_of_name};
use corecast_study::ScheduleFile;
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
    let converted = file.convert(to.name())?;
    let notes = converted.exported.notes.clone();
    let path = options.to_file.as_deref();
    if converted.has_file_per_rank && matches!(path, None | Some("-")) {
        let wrong = format!("{} is no text for a terminal", to.name());
        return Err(Failure::input(wrong).help("name the file to write"));
    }
    let whole = converted.exported.text().map(str::to_owned);
    let text = whole.filter(|_| path.is_none());
    notes.iter().for_each(|note| output::note(note));
    let mut said = String::new();
    if let Some(path) = path {
        let files = converted.files(path);
        for (name, contents) in &files {
            output::write_bytes(Path::new(name), contents)?;
        }
        said = match &files[..] {
            [(first, _), .., (last, _)] => format!("wrote {first} to {last} ({})\n", to.name()),
            _ if path == "-" => String::new(),
            _ => format!("wrote {path} ({})\n", to.name()),
        };
    }
    Ok(Answer {
        json: json(ConvertRecord {
            from: &options.from_file,
            to: path,
            format: to.name(),
            notes: &notes,
            text: text.as_deref(),
        }),
        text: text.clone().unwrap_or(said),
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
