// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program's file, and those that it names beside itself.

use std::fs;
use std::path::Path;

use corecast_exchange::FileError;
use corecast_replay::{FILE_BYTES_MAX, Options, Read, format_of, read};
use corecast_text::unpack;

/// The program that the contents of the file at `path` are; of `flops` operations per second, where the
/// file says what is computed in operations.
///
/// # Errors
/// What is wrong in it, with its place.
pub fn read_program(path: &str, contents: &[u8], flops: Option<f64>) -> Result<Read, FileError> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let read_file = |name: &str| {
        let beside = folder.join(name);
        let beside = beside.to_str().ok_or("its name is not UTF-8")?;
        unpack::read(beside, FILE_BYTES_MAX).map_err(|error| error.to_string())
    };
    let options = Options {
        flops,
        read_file: Some(&read_file),
    };
    read(path, contents, &options)
}

/// Longest file, packed or not, in which names of others are looked for, in bytes.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// The paths of the files that the file at `path` names, if it is a program that has others beside it.
#[must_use]
pub fn files_named_in(path: &str) -> Vec<String> {
    let found = fs::metadata(path);
    if !found.is_ok_and(|found| found.is_file() && found.len() <= LIST_BYTES_MAX) {
        return Vec::new();
    }
    let contents = unpack::read(path, LIST_BYTES_MAX).unwrap_or_default();
    let named = format_of(&contents).map_or_else(Vec::new, |format| format.named(&contents));
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let beside = named.iter().map(|name| folder.join(name));
    beside
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect()
}
