// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal of a table, as pairs `tests/errors/<case>.toml` and `<case>.txt`. With
//! `CORECAST_BLESS=1` the `.txt` files are rewritten; review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use corecast_core::Help as _;
use corecast_tune::{FILE_BYTES_MAX, Table, TableError};

#[test]
fn messages_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let is_blessing = std::env::var_os("CORECAST_BLESS").is_some_and(|value| value == "1");
    let mut kinds = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let expected = path.with_extension("txt");
        let path = path.with_extension("toml");
        let file = path.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&path).expect("a case for every message");
        let error = match Table::parse(&text, &file) {
            Ok(_) => panic!("{file} was accepted"),
            Err(error) => error,
        };
        let actual = format!("{}\n", error.with_help());
        if is_blessing {
            fs::write(&expected, &actual).expect("writable");
        }
        let recorded = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(actual, recorded, "{file}: rewrite with CORECAST_BLESS=1");
        let debug = format!("{error:?}");
        let variant = debug.trim_start_matches("Entry(");
        kinds.extend(variant.split([' ', '{']).next().map(str::to_owned));
    }
    let expected = [
        "Duplicate",
        "Format",
        "MissingKey",
        "OutOfRange",
        "Stray",
        "Syntax",
        "UnknownKey",
        "UnknownName",
        "WrongType",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn huge_files_are_refused_before_they_are_read() {
    let text = "#".repeat(FILE_BYTES_MAX + 1);
    let error = Table::parse(&text, "huge.toml").expect_err("refused");
    assert!(matches!(error, TableError::TooLarge { .. }));
    assert!(
        error.with_help().to_string().contains("16777216 bytes"),
        "{error}"
    );
}
