//! Where answers go: standard output or a file, as text or as one JSON document.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;

use crate::args::Sink;
use crate::failure::Failure;

/// What a verb has found out, in both forms, and whether every check passed.
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// Whether the exit code is 0.
    pub passed: bool,
}

/// A table with a header; columns after the first are aligned to the right as far as `numbers`.
pub fn table(header: &[&str], numbers: std::ops::Range<usize>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.to_string();
    let lines = lines.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// Prints an answer or writes it to the file asked for.
pub fn emit(answer: &Answer, sink: &Sink) -> Result<(), Failure> {
    let text = if sink.json {
        format!("{:#}\n", answer.json)
    } else {
        answer.text.clone()
    };
    match &sink.output {
        Some(path) => write_file(Path::new(path), &text),
        None => print(&text),
    }
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

/// Writes a file whole or not at all. Links are followed, and what is no file (a device, a pipe)
/// is written to, not replaced.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let outcome = match fs::canonicalize(path) {
        Ok(existing) if existing.is_file() => replace(&existing, text),
        Ok(existing) => fs::write(existing, text),
        Err(_) => replace(path, text),
    };
    outcome.map_err(|error| {
        Failure::input(format!("cannot write `{}`: {error}", path.display()))
            .help("give the path of a file in a folder that exists and can be written")
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(name);
    let mut file = fs::File::create_new(&temporary)?;
    let written = file.write_all(text.as_bytes());
    let outcome = written.and_then(|()| fs::rename(&temporary, path));
    if outcome.is_err() {
        // The message about the first error matters more than one about the left-over.
        let _ = fs::remove_file(&temporary);
    }
    outcome
}
