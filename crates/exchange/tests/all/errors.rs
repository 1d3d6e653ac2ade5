// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal of a file, as pairs `tests/errors/<case>.<format's ending>` and `<case>.txt`.
//!
//! With `CORECAST_BLESS=1` the `.txt` files are rewritten; review the difference.

use std::path::Path;

use corecast_core::Help as _;
use corecast_exchange::{FORMATS, Format, read};

#[test]
fn messages_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".txt")).collect();
    names.sort();
    let mut cases = 0;
    for name in names {
        let text = std::fs::read(folder.join(&name)).expect("readable");
        let (case, ending) = name.rsplit_once('.').expect("an ending");
        // Of formats whose files end alike the case begins with the name.
        let mut formats = FORMATS
            .into_iter()
            .filter(|format| format.extension() == ending);
        let named = formats
            .clone()
            .find(|format| case.starts_with(format.name()));
        let format = named.or_else(|| formats.next());
        let found = match read(&name, &text, format) {
            Ok(_) => panic!("{name} was accepted"),
            Err(error) => format!("{}\n", error.with_help()),
        };
        let path = folder.join(format!("{case}.txt"));
        if std::env::var_os("CORECAST_BLESS").is_some() {
            std::fs::write(&path, found).expect("writable");
        } else {
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(found, expected, "{name}");
        }
        cases += 1;
    }
    assert!(cases >= 40, "only {cases} cases");
}

#[test]
fn unknown_files_are_refused_with_what_is_known() {
    let error = read("notes.txt", "hello\n", None).expect_err("no schedule");
    let names: Vec<&str> = FORMATS.into_iter().map(Format::name).collect();
    assert!(error.help().contains(&names.join(", ")), "{}", error.help());
}
