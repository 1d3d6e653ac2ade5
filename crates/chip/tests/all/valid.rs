// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chip file may say: the borders of what is accepted.

use corecast_chip::{Chip, ChipError, EntryError};

/// The file that the cases in `tests/errors` start from.
const VALID: &str = include_str!("../valid.toml");

fn parse(text: &str) -> Result<Chip, ChipError> {
    Chip::parse(text, "valid.toml")
}

fn with(from: &str, to: &str) -> Result<Chip, ChipError> {
    assert!(VALID.contains(from), "{from} is not in the file");
    parse(&VALID.replacen(from, to, 1))
}

fn period_ps(value_and_unit: &str, more: &str) -> Result<u64, ChipError> {
    let to = format!("{value_and_unit}, kind = \"assumed\", source = \"test\" }}{more}\n");
    let from = "value = 10, unit = \"ns\", kind = \"assumed\", source = \"test\" }\n";
    with(from, &to).map(|chip| chip.reference_clock().period_ps)
}

#[test]
fn the_file_itself() {
    let chip = parse(VALID).expect("valid");
    assert_eq!(chip.parameters().count(), 11);
    assert_eq!(parse(&VALID.replace('\n', "\r\n")), Ok(chip));
}

#[test]
fn periods_in_every_unit() {
    for (written, expected) in [
        ("value = 1, unit = \"ps\"", 1),
        ("value = 2.3, unit = \"ns\"", 2300),
        ("value = 0.001, unit = \"ns\"", 1),
        ("value = 800, unit = \"MHz\"", 1250),
        ("value = 0.001, unit = \"MHz\"", 1_000_000_000),
        ("value = 1.6, unit = \"GHz\"", 625),
        ("value = 1e3, unit = \"GHz\"", 1),
        ("value = 0x10, unit = \"ps\"", 16),
    ] {
        assert_eq!(period_ps(written, ""), Ok(expected), "{written}");
    }
}

#[test]
fn periods_are_rounded_only_when_asked() {
    let accept = "\nrounding = \"accept\"";
    for (written, expected) in [
        ("value = 333, unit = \"MHz\"", 3003),
        ("value = 533, unit = \"MHz\"", 1876),
        ("value = 1.5, unit = \"ps\"", 2),
    ] {
        assert!(matches!(
            period_ps(written, ""),
            Err(ChipError::PartialPicosecond { .. })
        ));
        assert_eq!(period_ps(written, accept), Ok(expected), "{written}");
    }
    // Rounding does not make a period out of nothing.
    for written in ["value = 0.9, unit = \"ps\"", "value = 1001, unit = \"GHz\""] {
        let refused = period_ps(written, accept);
        assert!(matches!(
            refused,
            Err(ChipError::Entry(EntryError::OutOfRange { .. }))
        ));
    }
}

#[test]
fn counts_at_their_borders() {
    let max = |value: &str| {
        with(
            "value = 8, unit = \"cores\"",
            &format!("value = {value}, unit = \"cores\""),
        )
    };
    assert_eq!(max("1").map(|chip| chip.cores_max()), Ok(1));
    assert_eq!(max("1_048_576").map(|chip| chip.cores_max()), Ok(1 << 20));
    for outside in ["0", "1_048_577", "-8", "inf", "-0.5"] {
        assert!(
            matches!(
                max(outside),
                Err(ChipError::Entry(EntryError::OutOfRange { .. }))
            ),
            "{outside}"
        );
    }
    // Work inside an engine may be free; a message across the bus is not.
    let free = |key: &str| {
        with(
            &format!("{key} = {{ value = 1"),
            &format!("{key} = {{ value = 0"),
        )
    };
    for (key, may_be_free) in [
        ("command", true),
        ("order", true),
        ("notify", true),
        ("combine", true),
        ("request", false),
        ("ready", false),
        ("complete", false),
    ] {
        assert_eq!(free(key).is_ok(), may_be_free, "{key}");
    }
}

#[test]
fn several_clocks_meet_in_the_reference_clock() {
    let core = "[clocks.core]\n\
        period = { value = 5, unit = \"ns\", kind = \"assumed\", source = \"test\" }\n[cores]";
    let text = VALID
        .replace("[cores]", core)
        .replace("reference_clock = \"bus\"", "reference_clock = \"core\"");
    let chip = parse(&text).expect("valid");
    assert_eq!(chip.reference_clock().name, "core");
    let cost = chip.platform(1).link_cost;
    assert_eq!((cost.sync_cycles, cost.cycles_per_byte), (10.0, 0.5));
    let request = corecast_core::Request::new(corecast_core::Collective::Bcast, 2, 40);
    assert_eq!(chip.bound_cycles(&request), 2 * (5 + 10));
}

#[test]
fn tables_may_be_written_either_way() {
    let inline = "max = { value = 8, unit = \"cores\", kind = \"assumed\", source = \"test\" }";
    let long = "[cores.max]\nvalue = 8\nunit = \"cores\"\nkind = \"assumed\"\nsource = \"test\"";
    assert_eq!(with(inline, long).map(|chip| chip.cores_max()), Ok(8));
}
