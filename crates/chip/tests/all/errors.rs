// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal of a chip file, as pairs `tests/errors/<case>.toml` and `<case>.txt`.
//!
//! The cases are [`tests/valid.toml`](../valid.toml) or [`tests/valid_mesh.toml`](../valid_mesh.toml)
//! with one thing wrong. With `CORECAST_BLESS=1`
//! the `.txt` files are rewritten; review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use corecast_chip::{Chip, ChipError, FILE_BYTES_MAX, find};
use corecast_core::Help as _;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")
}

/// The error of every case, with the case's name.
fn cases() -> Vec<(String, ChipError)> {
    let entries = fs::read_dir(folder()).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.into_string().expect("UTF-8"))
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no cases found");
    let read = |name: String| {
        let file = format!("{name}.toml");
        let text = fs::read_to_string(folder().join(&file)).expect("readable");
        match Chip::parse(&text, &file) {
            Ok(_) => panic!("{file} was accepted"),
            Err(error) => (name, error),
        }
    };
    names.into_iter().map(read).collect()
}

#[test]
fn messages_are_as_recorded() {
    let is_blessing = std::env::var_os("CORECAST_BLESS").is_some_and(|value| value == "1");
    for (name, error) in cases() {
        let path = folder().join(format!("{name}.txt"));
        let actual = format!("{}\n", error.with_help());
        if is_blessing {
            fs::write(&path, &actual).expect("writable");
        }
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(actual, recorded, "{name}: rewrite with CORECAST_BLESS=1");
    }
}

#[test]
fn no_message_without_a_case() {
    let entries = fs::read_dir(folder()).expect("the folder is there");
    for entry in entries.map(|entry| entry.expect("readable").path()) {
        let case = entry.with_extension("toml");
        assert!(case.exists(), "{} has no case", entry.display());
    }
}

#[test]
fn every_kind_of_error_in_a_file_has_a_case() {
    let debug = |error: &ChipError| format!("{error:?}");
    let kind = |text: String| {
        let variant = text.trim_start_matches("Entry(");
        variant
            .split([' ', '{'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let seen: BTreeSet<String> = cases().iter().map(|(_, e)| kind(debug(e))).collect();
    let expected = [
        "BadName",
        "Empty",
        "Mismatch",
        "MissingKey",
        "NoClock",
        "NoProvenance",
        "NoUnit",
        "NotFittedTo",
        "NotWhole",
        "OutOfRange",
        "PartialPicosecond",
        "RoutingDeadlock",
        "StrayFittedTo",
        "Syntax",
        "UnknownClock",
        "UnknownKey",
        "UnknownName",
        "WrongType",
        "WrongUnit",
    ];
    assert_eq!(
        seen.iter().collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
}

#[test]
fn messages_point_at_a_line_and_hold_no_control_characters() {
    for (name, error) in cases() {
        let text = error.with_help().to_string();
        assert!(text.starts_with(&format!("{name}.toml:")), "{text}");
        assert!(
            !text.chars().any(|c| c.is_control() && c != '\n'),
            "{text:?}"
        );
        assert!((1..=3).contains(&text.lines().count()), "{text}");
    }
}

/// Writes `bytes` to a file of its own and returns the error of reading it, with the folder
/// removed from the message.
fn error_of_file(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).expect("writable");
    let path = path.to_str().expect("UTF-8").to_owned();
    let error = find(&path).expect_err("must refuse");
    error.with_help().to_string().replace(&path, name)
}

#[test]
fn files_that_are_no_text() {
    assert_eq!(
        error_of_file("bytes.toml", b"name = \"x\"\nsource = \"\xff\"\n"),
        "bytes.toml:2: not UTF-8 text\n  a chip file is TOML, encoded in UTF-8"
    );
    assert_eq!(
        error_of_file("large.toml", &vec![b'\n'; FILE_BYTES_MAX + 1]),
        "large.toml: too large\n  a chip file has at most 1048576 bytes"
    );
    assert!(matches!(
        Chip::parse(&"\n".repeat(FILE_BYTES_MAX + 1), "large.toml"),
        Err(ChipError::TooLarge { .. })
    ));
    // The largest accepted file is refused for what it says, not for its size.
    assert!(
        error_of_file("limit.toml", &vec![b'\n'; FILE_BYTES_MAX]).contains("missing key `name`")
    );
}

#[test]
fn files_that_are_not_there() {
    let refuse = |name| find(name).expect_err("must refuse");
    assert_eq!(
        refuse("no/such/chip.toml").with_help().to_string(),
        "no/such/chip.toml: no such file\n  \
         give the path of a chip file or the name of a built-in chip"
    );
    assert!(matches!(refuse("chip.toml"), ChipError::NotFound { .. }));
    assert!(matches!(refuse("./"), ChipError::Unreadable { .. }));
}

#[test]
fn names_that_are_no_chip() {
    let refuse = |name| find(name).expect_err("must refuse").with_help().to_string();
    assert_eq!(
        refuse("park-bus"),
        "no chip is called `park-bus`\n  \
         built-in chips: booksim-mesh, chung2011-bus, nagam, park2019-bus, scc, scc-800, \
         tilepro64, tilepro64-operampi\n  \
         a file is given by its path, such as `./park-bus.toml`\n  \
         did you mean `park2019-bus`?"
    );
    assert!(!refuse("tofu").contains("did you mean"));
    assert!(refuse("").starts_with("no chip is called ``"));
}
