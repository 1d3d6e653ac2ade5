// SPDX-License-Identifier: MIT OR Apache-2.0
//! What messages are made of.

use std::sync::Arc;

/// Bytes of one chunk.
pub type Payload = Arc<[u8]>;

/// Contents of a message: one payload per chunk.
pub type Message = Vec<Payload>;

/// Payload of a message in bytes.
#[must_use]
pub fn message_bytes(message: &[Payload]) -> u64 {
    message.iter().map(|payload| payload.len() as u64).sum()
}
