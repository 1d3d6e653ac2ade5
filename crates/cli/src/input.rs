// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text files that users name.

use corecast_text::file;

/// The text of a file of at most `most` bytes, or why it cannot be had; `-` is standard input.
pub fn text_file(path: &str, most: u64) -> Result<String, String> {
    let bytes = file::read(path, most).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}
