// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program's file, and those that it names beside itself.

use std::path::Path;

use corecast_exchange::FileError;
use corecast_replay::{FILE_BYTES_MAX, Options, Read, read};
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
