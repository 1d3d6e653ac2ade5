//! Printing tables and JSON, to the terminal or to a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent as Part, presets};
use serde::Serialize;

use crate::args::OutputArgs;
use crate::error::CliError;

/// Writes one finished text to where the user asked; a file appears whole or not at all.
pub fn emit(text: &str, output: &OutputArgs) -> Result<(), CliError> {
    match &output.file {
        Some(path) => write_whole(path, text)
            .map_err(|error| CliError::input(format!("cannot write {}: {error}", path.display()))),
        None => match io::stdout().lock().write_all(text.as_bytes()) {
            // A reader that has seen enough is no error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|error| CliError::input(format!("cannot print: {error}"))),
        },
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    fs::write(partial, text)?;
    fs::rename(partial, path).inspect_err(|_| drop(fs::remove_file(partial)))
}

/// Emits `value` as JSON, or `text` for people.
pub fn emit_either(
    value: &impl Serialize,
    text: impl FnOnce() -> String,
    output: &OutputArgs,
) -> Result<(), CliError> {
    if output.json {
        let json = serde_json::to_string_pretty(value);
        emit(
            &format!("{}\n", json.expect("results are plain data")),
            output,
        )
    } else {
        emit(&text(), output)
    }
}

/// A table whose columns from `numbers` on are right-aligned.
pub fn table(
    header: &[&str],
    numbers: std::ops::Range<usize>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    for part in [Part::HorizontalLines, Part::MiddleIntersections] {
        table.remove_style(part);
    }
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for index in numbers {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}
