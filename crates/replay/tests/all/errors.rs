// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal of a program, as pairs `tests/errors/<case>.<format's ending>` and `<case>.<ending>.txt`.
//!
//! With `CORECAST_BLESS=1` the `.txt` files are rewritten; review the difference.

use std::path::Path;

use corecast_core::Help as _;
use corecast_replay::{FORMATS, Format, Options, check, read};

#[test]
fn messages_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".txt")).collect();
    names.sort();
    for name in &names {
        let text = std::fs::read(folder.join(name)).expect("readable");
        let (_, ending) = name.rsplit_once('.').expect("an ending");
        let format = FORMATS
            .into_iter()
            .find(|format| format.extension() == ending)
            .expect("a format");
        let read = format.read(name, &text, &Options::default());
        let found = match read.and_then(|read| check(&read.graph)) {
            Ok(()) => panic!("{name} was accepted"),
            Err(error) => format!("{}\n", error.with_help()),
        };
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("CORECAST_BLESS").is_some() {
            std::fs::write(&path, found).expect("writable");
        } else {
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(found, expected, "{name}");
        }
    }
    assert!(names.len() >= 60, "only {} cases", names.len());
}

#[test]
fn unknown_files_are_refused_with_what_is_known() {
    let error = read("notes.txt", b"hello\n", &Options::default()).expect_err("no program");
    let names: Vec<&str> = FORMATS.into_iter().map(Format::name).collect();
    assert!(error.help().contains(&names.join(", ")), "{}", error.help());
}
