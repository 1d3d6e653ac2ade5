// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where answers go: standard output or a file, as text or as one JSON document.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use console::{Alignment, measure_text_width, pad_str};
use corecast_text::file;
use serde::Serialize;
use serde_json::Value;

use crate::args::Sink;
use crate::failure::Failure;
use crate::style::{self, Stream};

/// What a verb has found out, in two forms of which one is asked for, and what should have been
/// otherwise.
pub struct Answer {
    /// For people, with styles.
    pub text: Form<String>,
    /// For programs.
    pub json: Form<Value>,
    /// The checks that failed; if there are none the exit code is 0.
    pub failed: Vec<Failure>,
}

impl Answer {
    /// One without failed checks.
    pub fn new(text: impl Into<Form<String>>, json: impl Into<Form<Value>>) -> Self {
        Self {
            text: text.into(),
            json: json.into(),
            failed: Vec::new(),
        }
    }
}

/// A form of an answer: there already, or made only if it is asked for, where that takes long.
pub struct Form<T>(Box<dyn FnOnce() -> T>);

impl<T> Form<T> {
    /// One that `make` makes.
    pub fn later(make: impl FnOnce() -> T + 'static) -> Self {
        Self(Box::new(make))
    }

    /// The form itself.
    fn made(self) -> T {
        (self.0)()
    }
}

impl<T: 'static> From<T> for Form<T> {
    fn from(made: T) -> Self {
        Self::later(|| made)
    }
}

/// A record as JSON.
///
/// # Panics
/// If it is no plain data.
pub fn json(record: impl Serialize) -> Value {
    serde_json::to_value(record).expect("results are plain data")
}

/// A table with a header; the columns of `numbers` are aligned to the right. Cells may carry
/// styles.
pub fn table(header: &[&str], numbers: std::ops::Range<usize>, rows: Vec<Vec<String>>) -> String {
    let header = header.iter().map(|name| style::heading(name)).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let mut widths = Vec::new();
    for row in &rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (index, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let alignment = if numbers.contains(&index) {
                Alignment::Right
            } else {
                Alignment::Left
            };
            line += &pad_str(cell, width, alignment, None);
            line += "  ";
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Prints an answer or writes it to the file asked for; tells which checks failed.
pub fn emit(answer: Answer, sink: &Sink) -> Result<Vec<Failure>, Failure> {
    let path = sink.output.as_deref().map(Path::new);
    if sink.json {
        // JSON has no styles to begin with: it is a value, not a text.
        let document = format!("{:#}\n", answer.json.made());
        path.map_or_else(|| print(&document), |path| write_file(path, &document))?;
    } else {
        let text = answer.text.made();
        match path {
            Some(path) => write_file(path, &style::plain(&text))?,
            None => print(&style::fit(&text, Stream::Out))?,
        }
    }
    Ok(answer.failed)
}

/// Prints to standard output; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says on standard error what is no error and may still surprise.
pub fn note(text: &str) {
    let text = format!("{} {text}\n", style::near("note:"));
    // Nobody is left to tell if standard error is closed.
    let _ = write!(io::stderr(), "{}", style::fit(&text, Stream::Err));
}

/// Writes a file whole or not at all; see [`file::write`].
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// The same for what is no text.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    file::write(path, bytes).map_err(|error| unwritable(path, &error))
}

/// Makes a folder with these files, whole or not at all; see [`file::write_folder`].
pub fn write_folder(path: &Path, files: &[(&str, &[u8])]) -> Result<(), Failure> {
    file::write_folder(path, files).map_err(|error| unmakeable(path, &error))
}

/// Refuses a path at which no folder could be made at the end of a run.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    file::check_folder(path).map_err(|error| unmakeable(path, &error))
}

fn unmakeable(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot make `{}`: {error}", path.display()))
        .help("give the path of a new folder, or of an empty one: everything in it is read")
}

/// Refuses a path to which nothing could be written at the end of a run.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    if !file::is_replaced(path) {
        return Ok(());
    }
    file::check(path).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot write `{}`: {error}", path.display()))
        .help("give the path of a file in a folder that exists and can be written")
}
