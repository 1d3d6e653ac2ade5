// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal of a flow file, as pairs `tests/errors/<case>.toml` and `<case>.txt`. With
//! `CORECAST_BLESS=1` the `.txt` files are rewritten; review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use corecast_core::Help as _;
use corecast_flow::{FileError, FlowFile};
use proptest::prelude::*;

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
        let error = match FlowFile::parse(&text, &file) {
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
        "BadName",
        "Exclusive",
        "Graph",
        "MissingKey",
        "OutOfRange",
        "Syntax",
        "UnknownKey",
        "UnknownName",
        "WrongType",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn huge_files_are_refused_before_they_are_read() {
    let error = FlowFile::parse(&"#".repeat((1 << 20) + 1), "huge.toml").expect_err("refused");
    assert!(matches!(error, FileError::TooLarge { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// An example with a piece cut out or doubled is a flow or an error with a place.
    #[test]
    fn damaged_files_are_read_or_refused(which in 0_usize..5, from in 0_usize..900, len in 0_usize..60, twice: bool) {
        let examples = ["jpeg-3", "jpeg-4", "fir", "custom", "costs"];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let path = folder.join(format!("{}.toml", examples[which]));
        let text = fs::read_to_string(path).expect("readable");
        let (from, to) = (from.min(text.len()), (from + len).min(text.len()));
        let piece = &text[from..to];
        let middle = if twice { piece.repeat(2) } else { String::new() };
        let damaged = format!("{}{middle}{}", &text[..from], &text[to..]);
        if let Err(error) = FlowFile::parse(&damaged, "damaged.toml") {
            prop_assert!(error.to_string().starts_with("damaged.toml:"), "{error}");
        }
    }
}
