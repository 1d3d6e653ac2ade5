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

/// The bytes of a message one after the other.
pub(crate) fn joined(mut message: Message) -> Payload {
    match message.len() {
        1 => message.remove(0),
        _ => message.concat().into(),
    }
}

/// The other way round: payloads of these sizes; nothing if they do not make up the whole.
pub(crate) fn divided(payload: &Payload, sizes: &[usize]) -> Option<Message> {
    if sizes.iter().sum::<usize>() != payload.len() {
        return None;
    }
    if sizes.len() == 1 {
        return Some(vec![Payload::clone(payload)]);
    }
    let mut rest = &payload[..];
    let chunks = sizes.iter().map(|&size| {
        let (chunk, others) = rest.split_at(size);
        rest = others;
        Payload::from(chunk)
    });
    Some(chunks.collect())
}
