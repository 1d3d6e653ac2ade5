// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rules`: decision tables as the rules of an MPI library, or as schedules for those of MSCCL.

use std::path::Path;

use corecast_study::{ListedFile, ListedFiles, Reader};
use corecast_tune::{Library, Rules, Tables};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::{scene, style};

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
    /// The files of a folder.
    files: &'a [ListedFile],
}

/// The verb.
pub fn answer(options: &args::Rules) -> Result<Answer, Failure> {
    let tables = Tables::load(&options.tables).map_err(|error| Failure::library(&error))?;
    match options.to {
        Reader::Library(library) => rules(options, library, &tables),
        Reader::Msccl => schedules(options, &tables),
    }
}

/// Rules of a library, as one file.
fn rules(options: &args::Rules, library: Library, tables: &Tables) -> Result<Answer, Failure> {
    if options.chip.is_some() {
        let wrong = format!("--chip: {} has algorithms of its own", library.name());
        return Err(Failure::input(wrong).help("leave it out, or use --to msccl"));
    }
    let rules = library.rules(tables);
    let Rules { text, notes } = rules.map_err(|error| Failure::library(&error))?;
    notes.iter().for_each(|note| output::note(note));
    let path = options.to_file.as_deref();
    if let Some(path) = path {
        output::write_file(Path::new(path), &text)?;
    }
    let usage = options.to.usage(path.unwrap_or("FILE"));
    let record = json(RulesRecord {
        from: &options.tables,
        to: path,
        library: options.to.name(),
        usage: usage.clone(),
        notes: &notes,
        text: path.is_none().then_some(&*text),
        files: &[],
    });
    Ok(Answer::new(
        match path {
            Some("-") => String::new(),
            Some(path) => format!("wrote {path}\n{}\n", style::dim(&usage)),
            None => text,
        },
        record,
    ))
}

/// Schedules, as the files of a folder.
fn schedules(options: &args::Rules, tables: &Tables) -> Result<Answer, Failure> {
    let chip = options.chip.as_deref().map(|name| {
        let placement = options.ranks_to_cores.as_deref();
        scene::noted_chip(name, &options.set, placement)
    });
    let listed = ListedFiles::of(tables, chip.transpose()?.as_ref());
    let ListedFiles { files, notes } = listed.map_err(|error| Failure::library(&error))?;
    notes.iter().for_each(|note| output::note(note));
    let path = options.to_file.as_deref();
    if let Some(path) = path {
        let contents = files.iter().map(|file| (&*file.name, file.text.as_bytes()));
        output::write_folder(Path::new(path), &contents.collect::<Vec<_>>())?;
    }
    let usage = options.to.usage(path.unwrap_or("FOLDER"));
    let told = match path {
        Some(path) => format!(
            "\nwrote {} files into {path}\n{}\n",
            files.len(),
            style::dim(&usage)
        ),
        None => format!("\n{}\n", style::dim("name a folder to write them into")),
    };
    let record = json(RulesRecord {
        from: &options.tables,
        to: path,
        library: options.to.name(),
        usage,
        notes: &notes,
        text: None,
        files: &files,
    });
    Ok(Answer::new(table(&files) + &told, record))
}

fn table(files: &[ListedFile]) -> String {
    let rows = files.iter().map(|file| {
        vec![
            file.ranks.to_string(),
            file.min_bytes.to_string(),
            file.max_bytes
                .map_or("-".to_owned(), |bytes| bytes.to_string()),
            file.collective.to_owned(),
            file.algorithm.to_owned(),
            file.name.clone(),
        ]
    });
    let header = [
        "ranks",
        "from bytes",
        "to",
        "collective",
        "algorithm",
        "file",
    ];
    output::table(&header, 0..3, rows.collect())
}
