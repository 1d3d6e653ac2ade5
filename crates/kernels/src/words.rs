// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words as messages: four bytes each, least significant byte first.

use thiserror::Error;

/// Bytes that are no whole number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a message of words has a multiple of 4 bytes, this has {bytes}")]
pub struct WordsError {
    /// How many there are.
    pub bytes: usize,
}

/// The words as a message.
pub fn to_bytes(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words in a message.
///
/// # Errors
/// The bytes are no whole number of words.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<i32>, WordsError> {
    let words = bytes.chunks_exact(4);
    if !words.remainder().is_empty() {
        return Err(WordsError { bytes: bytes.len() });
    }
    let word = |word: &[u8]| i32::from_le_bytes(word.try_into().expect("four bytes"));
    Ok(words.map(word).collect())
}
