// SPDX-License-Identifier: MIT OR Apache-2.0
//! Program files that users name, their formats, and the rate at which their computing is counted.

use corecast_replay::{FILE_BYTES_MAX, Read};
use corecast_study::file_contents;

use crate::failure::Failure;

/// Reads a program; a manifest names its files beside itself.
pub fn load(path: &str, flops: Option<f64>) -> Result<Read, Failure> {
    let contents = bytes(path)?;
    parse(path, &contents, flops)
}

/// The contents of a file, and of those of the other ranks where there is one per rank.
pub fn bytes(path: &str) -> Result<Vec<u8>, Failure> {
    file_contents(path, FILE_BYTES_MAX).map_err(|error| {
        Failure::input(error.to_string()).help("give the path of a file, or `-` for standard input")
    })
}

/// The same of contents that are there.
pub fn parse(path: &str, contents: &[u8], flops: Option<f64>) -> Result<Read, Failure> {
    let read = corecast_study::read_program(path, contents, flops);
    read.map_err(|error| Failure::library(&error))
}

/// Operations per second: a number that may end with K, M, G or T, powers of ten.
pub fn rate(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 4] = [("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let unit = UNITS
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)));
    let (number, unit) = unit.unwrap_or((text, 1.0));
    let rate = number.parse::<f64>().ok().map(|number| number * unit);
    let rate = rate.filter(|rate| (1.0..=1e18).contains(rate));
    rate.ok_or_else(|| {
        "write operations per second from 1 to 1e18, such as 2.5e9, 533M or 1G".to_owned()
    })
}

/// The names of all formats, of schedules and of programs.
pub fn names() -> Vec<&'static str> {
    let schedules = corecast_exchange::FORMATS.map(|format| format.name());
    let of_programs = corecast_replay::FORMATS
        .map(|format| format.name())
        .into_iter();
    let others = of_programs.filter(|name| !schedules.contains(name));
    schedules.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(rate("1G"), Ok(1e9));
        assert_eq!(rate("533M"), Ok(533e6));
        assert_eq!(rate("2.5e9"), Ok(2.5e9));
        for text in ["", "G", "-1G", "0", "nan", "inf", "1g", "1 G", "1e19"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
