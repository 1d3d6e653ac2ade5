// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of 8x8 values and their form as messages.

use thiserror::Error;

use crate::words;

/// 64 values in rows of eight: coefficients (`8 * v + u`) or samples (`8 * y + x`).
pub type Block = [i32; 64];

/// Bytes of a block as a message: 64 words, the data block of Kumar 2012, section V.B.
pub const BLOCK_BYTES: usize = 256;

/// Bytes that are no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a block has {BLOCK_BYTES} bytes, this has {bytes}")]
pub struct BlockSizeError {
    /// How many there are.
    pub bytes: usize,
}

/// The block as a message: 64 words of four bytes, least significant byte first.
pub fn block_to_bytes(block: &Block) -> Vec<u8> {
    words::to_bytes(block)
}

/// The block in a message.
///
/// # Errors
/// It has not [`BLOCK_BYTES`] bytes.
pub fn block_from_bytes(bytes: &[u8]) -> Result<Block, BlockSizeError> {
    let words = words::from_bytes(bytes).ok();
    let block = words.and_then(|words| words.try_into().ok());
    block.ok_or(BlockSizeError { bytes: bytes.len() })
}
