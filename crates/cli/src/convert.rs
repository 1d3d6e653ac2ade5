// SPDX-License-Identifier: MIT OR Apache-2.0
//! `convert`: a schedule file, or a program, in another format.

use corecast_exchange::{FORMATS, Format, find_format, format_of_name};
use corecast_replay::{self as programs, Format as ProgramFormat};
use corecast_study::{Converted, ScheduleFile};
use corecast_text::size;
use serde::Serialize;

use crate::args::Convert;
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::program;

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
    if let Some(to) = of_program(options)? {
        return of_programs(options, to);
    }
    let to = format(options)?;
    let from = options.from;
    let mut file = ScheduleFile::load(&options.from_file, from)?;
    if let Some(bytes) = &options.bytes {
        file = file.with_bytes(size::one("--bytes", bytes)?)?;
    }
    let converted = file.convert(to.name());
    let mut converted = converted.map_err(|error| match others_of_ending(options, to) {
        Some(others) => Failure::from(error).help(others),
        None => Failure::from(error),
    })?;
    let notes = &mut converted.exported.notes;
    notes.splice(0..0, what_is_wrong(&options.from_file, &file));
    written(options, converted, to.name())
}

/// What is wrong with a schedule, if anything is; it is written as it is.
fn what_is_wrong(path: &str, file: &ScheduleFile) -> Option<String> {
    let violations = file.verdict().certificate.violations;
    let first = violations.first()?;
    let count = violations.len();
    Some(format!(
        "{path} is not correct: {first}; `corecast verify {path}` has all {count}"
    ))
}

/// Which other formats have the ending that has decided for one.
fn others_of_ending(options: &Convert, to: &dyn Format) -> Option<String> {
    let others = FORMATS.into_iter().filter(|other| {
        other.name() != to.name() && other.extension() == to.extension() && options.to.is_none()
    });
    let others: Vec<String> = others
        .map(|other| format!("`--to {}`", other.name()))
        .collect();
    (!others.is_empty()).then(|| {
        let ending = to.extension();
        format!("names of {} end in .{ending}, too", others.join(" and "))
    })
}

/// Writes what was converted into a format of this name.
fn written(
    options: &Convert,
    converted: Converted,
    format: &'static str,
) -> Result<Answer, Failure> {
    let notes = converted.exported.notes.clone();
    let path = options.to_file.as_deref();
    if converted.exported.text().is_none() && matches!(path, None | Some("-")) {
        let wrong = format!("{format} is no text for a terminal");
        return Err(Failure::input(wrong).help("name the file to write"));
    }
    let whole = converted.exported.text().map(str::to_owned);
    let text = whole.filter(|_| path.is_none());
    notes.iter().for_each(|note| output::note(note));
    let mut said = String::new();
    if let Some(path) = path {
        let files = converted.write(path)?;
        said = match &files[..] {
            [first, .., last] => format!("wrote {first} to {last} ({format})\n"),
            _ if path == "-" => String::new(),
            _ => format!("wrote {path} ({format})\n"),
        };
    }
    Ok(Answer::new(
        text.clone().unwrap_or(said),
        json(ConvertRecord {
            from: &options.from_file,
            to: path,
            format,
            notes: &notes,
            text: text.as_deref(),
        }),
    ))
}

/// The format to write.
fn format(options: &Convert) -> Result<&'static dyn Format, Failure> {
    let by_name = || options.to_file.as_deref().and_then(format_of_name);
    options
        .to
        .and_then(find_format)
        .or_else(by_name)
        .ok_or_else(|| {
            let wrong = match &options.to_file {
                Some(path) => {
                    format!("the name of `{path}` does not say which format it should have")
                }
                None => "which format to write is not said".to_owned(),
            };
            Failure::input(wrong).help("add --to FORMAT; `corecast list formats` lists them")
        })
}

/// Whether what is in a format of programs is to be one, for a format to write.
fn is_program(from: &dyn ProgramFormat, to: Option<&dyn ProgramFormat>) -> bool {
    to.is_some() || only_of_programs(from.name()).is_some()
}

/// A format that only programs have.
fn only_of_programs(name: &str) -> Option<&'static dyn ProgramFormat> {
    programs::find_format(name).filter(|_| find_format(name).is_none())
}

/// The format to write if what is read or written is a program. GOAL and Chakra can be both: they are
/// programs where the other end can be one.
fn of_program(options: &Convert) -> Result<Option<&'static dyn ProgramFormat>, Failure> {
    let path = options.to_file.as_deref();
    let to = match options.to {
        Some(name) => programs::find_format(name),
        None => path.and_then(programs::format_of_name),
    };
    let reads_program = match options.from {
        Some(name) => programs::find_format(name).is_some_and(|from| is_program(from, to)),
        // Standard input can be read once only: there --from says it.
        None if options.from_file == "-" => false,
        None => {
            let contents = program::bytes(&options.from_file)?;
            let found = programs::FORMATS
                .into_iter()
                .find(|format| format.is(&contents));
            found.is_some_and(|from| is_program(from, to))
        }
    };
    match to {
        Some(to) if reads_program || only_of_programs(to.name()).is_some() => Ok(Some(to)),
        None if reads_program => {
            let known = programs::FORMATS.map(ProgramFormat::name).join(", ");
            let wrong = format!("`{}` is a program, and no schedule", options.from_file);
            Err(Failure::input(wrong).help(format!("add --to FORMAT: {known}")))
        }
        _ => Ok(None),
    }
}

/// A program in another format.
fn of_programs(options: &Convert, to: &'static dyn ProgramFormat) -> Result<Answer, Failure> {
    if options.bytes.is_some() {
        let failure =
            Failure::input("--bytes changes the size of a schedule, and this is a program");
        return Err(failure.help("leave --bytes away"));
    }
    let read = program::load(&options.from_file, options.flops)?;
    let mut exported = to
        .write(&read.graph)
        .map_err(|error| Failure::library(&error))?;
    exported.notes.splice(0..0, read.notes);
    let converted = Converted {
        exported,
        ending_per_rank: to.has_file_per_rank().then(|| to.extension()),
    };
    written(options, converted, to.name())
}
