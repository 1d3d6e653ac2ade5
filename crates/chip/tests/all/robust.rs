// SPDX-License-Identifier: MIT OR Apache-2.0
//! No text, however damaged, makes the parser panic, and every refusal can be shown.

use corecast_chip::{BUILTIN, Chip};
use proptest::prelude::*;

/// Reads anything; a refusal must render to short clean text, an acceptance must be usable.
fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Chip::parse(&text, "any.toml") {
        Ok(chip) => {
            let request = corecast_core::Request::new(corecast_core::Collective::Bcast, 8, 64);
            let _ = (chip.bound_cycles(&request), chip.platform(1).link_cost);
            assert!(
                chip.parameters()
                    .all(|p| p.value.is_finite() && !p.source.is_empty())
            );
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("any.toml"), "{message:?}");
            assert!(
                !message.chars().any(|c| c.is_control() && c != '\n'),
                "{message:?}"
            );
            assert!(message.len() < 4096, "{message}");
        }
    }
}

/// One damage to a file. Places are fractions of its length in 1/65536.
#[derive(Clone, Debug)]
enum Damage {
    Flip { at: u16, bit: u8 },
    Delete { at: u16, bytes: u8 },
    Insert { at: u16, text: String },
    SwapLines { a: u16, b: u16 },
    RepeatLine { from: u16, to: u16 },
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<u16>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, bytes)| Damage::Delete { at, bytes }),
        (any::<u16>(), "[-0-9.einfa\"{}\\[\\]=,\n_ é]{1,8}")
            .prop_map(|(at, text)| Damage::Insert { at, text }),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| Damage::SwapLines { a, b }),
        (any::<u16>(), any::<u16>()).prop_map(|(from, to)| Damage::RepeatLine { from, to }),
    ]
}

fn place(fraction: u16, length: usize) -> usize {
    (usize::from(fraction) * length) >> 16
}

fn apply(bytes: Vec<u8>, damage: &Damage) -> Vec<u8> {
    let mut bytes = bytes;
    let length = bytes.len();
    match damage {
        _ if length == 0 => {}
        Damage::Flip { at, bit } => bytes[place(*at, length)] ^= 1 << bit,
        Damage::Delete { at, bytes: count } => {
            let start = place(*at, length);
            bytes.drain(start..(start + usize::from(*count)).min(length));
        }
        Damage::Insert { at, text } => {
            let at = place(*at, length);
            bytes.splice(at..at, text.bytes());
        }
        Damage::SwapLines { a, b } => {
            let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            let count = lines.len();
            lines.swap(place(*a, count), place(*b, count));
            return lines.join(&b'\n');
        }
        Damage::RepeatLine { from, to } => {
            let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            let count = lines.len();
            lines.insert(place(*to, count), lines[place(*from, count)]);
            return lines.join(&b'\n');
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
    }

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        read(text.as_bytes());
    }

    #[test]
    fn text_that_looks_like_toml(text in "([a-z]{0,3}[.=\\[\\]{}\"' \n0-9,#-]{0,4}){0,20}") {
        read(text.as_bytes());
    }

    #[test]
    fn damaged_chips(
        index in 0..BUILTIN.len(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let intact = BUILTIN[index].1.as_bytes().to_vec();
        read(&damages.iter().fold(intact, apply));
    }

    #[test]
    fn any_number_anywhere(
        index in 0..BUILTIN.len(),
        position in any::<u16>(),
        number in prop_oneof![
            any::<i128>().prop_map(|n| n.to_string()),
            any::<f64>().prop_map(|n| format!("{n:?}").to_lowercase()),
            "-?[0-9]{1,60}(\\.[0-9]{1,30})?(e[0-9]{1,5})?",
        ],
    ) {
        let text = BUILTIN[index].1;
        let values: Vec<usize> = text.match_indices("value = ").map(|(at, _)| at + 8).collect();
        let start = values[place(position, values.len())];
        let end = start + text[start..].find(',').expect("a number is followed by its unit");
        read(format!("{}{number}{}", &text[..start], &text[end..]).as_bytes());
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("name = {}1{}", open.repeat(100_000), close.repeat(100_000));
        read(text.as_bytes());
    }
    read(format!("{}name = 1", "a.".repeat(100_000)).as_bytes());
}
