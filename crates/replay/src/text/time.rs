// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times as people write them: `5us`, `2.5ns`, `0ps`.

use corecast_core::Time;

/// Units with their picoseconds, the longest first.
const UNITS: [(&str, u64); 5] = [
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1000),
    ("ps", 1),
];

/// A time in the longest unit of which it is a whole number.
pub(super) fn written(time: Time) -> String {
    let ps = time.ps();
    let whole = UNITS
        .iter()
        .find(|(_, unit)| ps > 0 && ps.is_multiple_of(*unit));
    let (name, unit) = whole.unwrap_or(&UNITS[4]);
    format!("{}{name}", ps / unit)
}

/// The time that a word says; none if it says none, or less than whole picoseconds.
pub(super) fn read(word: &str) -> Option<Time> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, name) = word.split_at(end);
    let (_, unit) = UNITS.iter().find(|(known, _)| *known == name)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.contains('.') || part.len() > 12 {
        return None;
    }
    let scale = 10_u64.pow(part.len() as u32);
    let part = part.parse::<u64>().ok()?.checked_mul(*unit);
    // At most 12 digits of seconds: the product may need more than 64 bits only if it is no whole number.
    let part = part.filter(|part| part % scale == 0)? / scale;
    let whole = whole.parse::<u64>().ok()?.checked_mul(*unit)?;
    whole.checked_add(part).map(Time::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_meant() {
        let cases = [
            ("5us", 5_000_000),
            ("2.5ns", 2500),
            ("0ps", 0),
            ("1s", 1_000_000_000_000),
            ("0.25ms", 250_000_000),
        ];
        for (word, ps) in cases {
            assert_eq!(read(word), Some(Time::from_ps(ps)), "{word}");
        }
        for word in [
            "", "5", "us", "5 us", "-1ns", "0.5ps", "1.2.3ns", "5h", ".5ns", "5.ns",
        ] {
            assert_eq!(read(word), None, "{word}");
        }
        assert_eq!(read("99999999999999999999ps"), None);
        assert_eq!(read("99999999s"), None);
    }

    #[test]
    fn what_is_written_is_read() {
        for ps in [0, 1, 999, 1000, 2500, 5_000_000, 7_000_000_000, u64::MAX] {
            let time = Time::from_ps(ps);
            assert_eq!(read(&written(time)), Some(time));
        }
        assert_eq!(written(Time::from_ps(2500)), "2500ps");
        assert_eq!(written(Time::from_ps(3_000_000_000)), "3ms");
    }
}
