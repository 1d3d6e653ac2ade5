// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as files, and what is said about who decided.

use std::path::Path;

use corecast_study::Advice;
use corecast_tune::{Cell, FILE_BYTES_MAX, Table};

use crate::failure::Failure;
use crate::input;

/// One line: what was chosen for a request, and which cell decided.
pub fn line(advice: &Advice, cell: &Cell, request: (u32, u64)) -> String {
    let Cell { algorithm, .. } = cell;
    let nearest = match request == (cell.ranks, cell.bytes) {
        true => "",
        false => "the nearest, ",
    };
    let sizes = match sizes([cell.part_bytes, cell.piece_bytes]).as_str() {
        "-" => String::new(),
        sizes => format!(" with {sizes}"),
    };
    format!(
        "auto: {algorithm}{sizes}, by the cell of {} for {nearest}{}{}\n",
        advice.file,
        place((cell.ranks, cell.bytes)),
        reservations(advice)
    )
}

/// One line: which table decided.
pub fn source(advice: &Advice) -> String {
    format!(
        "auto: by the nearest cells of {}{}\n",
        advice.file,
        reservations(advice)
    )
}

fn reservations(advice: &Advice) -> String {
    match advice.notes[..] {
        [] => String::new(),
        _ => format!(" ({})", advice.notes.join("; ")),
    }
}

/// The table in a file.
pub fn load(file: &str) -> Result<Table, Failure> {
    let text = input::text_file(file, FILE_BYTES_MAX as u64).map_err(|why| {
        Failure::input(format!("cannot read the table `{file}`: {why}"))
            .help("`corecast tune COLLECTIVE -o FILE` writes one")
    })?;
    Table::parse(&text, file).map_err(|error| Failure::library(&error))
}

/// The table in a file that is to be written, if there is one.
pub fn load_existing(file: &str) -> Result<Option<Table>, Failure> {
    match Path::new(file).is_file() {
        true => load(file).map(Some),
        false => Ok(None),
    }
}

/// Where the cell for so many ranks and bytes is.
pub fn place((ranks, bytes): (u32, u64)) -> String {
    format!("{ranks} ranks and {bytes} bytes")
}

/// The sizes of parts and pieces in words; `-` if the algorithm chooses them.
pub fn sizes([parts, pieces]: [Option<u64>; 2]) -> String {
    let words = [("parts", parts), ("pieces", pieces)];
    let set = words
        .into_iter()
        .filter_map(|(what, bytes)| Some(format!("{what} of {} bytes", bytes?)));
    match set.collect::<Vec<_>>() {
        none if none.is_empty() => "-".to_owned(),
        set => set.join(" and "),
    }
}
