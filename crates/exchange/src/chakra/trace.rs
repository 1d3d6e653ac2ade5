//! The messages of a trace: metadata and nodes of every rank, and nothing of what they mean together.

use super::wire::{self, Fields, Value};
use crate::error::Fault;

/// What one rank does.
#[derive(Debug, Default)]
pub(super) struct OfRank {
    /// The text of the metadata attribute `input_file`.
    pub input: Option<String>,
    pub nodes: Vec<Node>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub id: u64,
    pub kind: u64,
    pub after: Vec<u64>,
    pub micros: u64,
    /// Attributes that are whole numbers; of a node those that are asked for are few.
    numbers: Vec<(String, u64)>,
    /// Which message of the files it is, counted from 1.
    pub message: u32,
}

impl Node {
    /// An attribute that is a whole number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let mut numbers = self.numbers.iter();
        numbers
            .find(|(known, _)| known == name)
            .map(|&(_, number)| number)
    }
}

const RIGHT: &str = "a trace is messages of et_def.proto, each behind its length: metadata, then nodes; \
                     unpack a compressed one before";

/// Something wrong with a message.
pub(super) fn fault(message: u32, wrong: &str, right: &str) -> Fault {
    Fault::whole(format!("message {message}: {wrong}"), right)
}

/// What a message is: metadata have neither a number nor a type.
fn is_metadata(message: &[u8]) -> bool {
    Fields(message).all(|field| matches!(field, Some((1 | 2, Value::Bytes(_)))))
}

/// Whether contents begin like a trace.
pub(super) fn begins(mut contents: &[u8]) -> bool {
    let first = wire::number(&mut contents).and_then(|length| wire::bytes(&mut contents, length));
    first.is_some_and(|first| {
        // Empty metadata are metadata, but a file of zeroes is no trace.
        let names = |at: &[u8]| Fields(at).flatten().any(|(field, _)| field == 2);
        is_metadata(first) && (names(first) || contents.len() > 1) && !first.is_empty()
    })
}

/// All ranks, in order.
pub(super) fn parse(contents: &[u8]) -> Result<Vec<OfRank>, Fault> {
    let mut rest = contents;
    let mut ranks: Vec<OfRank> = Vec::new();
    let mut message = 0;
    while !rest.is_empty() {
        message += 1;
        let found = wire::number(&mut rest).and_then(|length| wire::bytes(&mut rest, length));
        let Some(found) = found else {
            return Err(fault(message, "the file ends inside it", RIGHT));
        };
        if is_metadata(found) {
            ranks.push(OfRank {
                input: input(found),
                nodes: Vec::new(),
            });
            continue;
        }
        let node = node(found, message);
        let node = node.ok_or_else(|| fault(message, "this is no node of a trace", RIGHT))?;
        match ranks.last_mut() {
            Some(rank) => rank.nodes.push(node),
            None => return Err(fault(message, "there are no metadata before it", RIGHT)),
        }
    }
    Ok(ranks)
}

fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        Value::Number(_) => None,
    }
}

/// The attribute `input_file`.
fn input(metadata: &[u8]) -> Option<String> {
    let attributes = Fields(metadata).flatten().filter(|(field, _)| *field == 2);
    attributes.into_iter().find_map(|(_, value)| {
        let Value::Bytes(attribute) = value else {
            return None;
        };
        let fields = || Fields(attribute).flatten();
        let is_input =
            fields().any(|(field, value)| field == 1 && text(value) == Some("input_file"));
        let found = fields().find(|(field, _)| *field == 29 && is_input);
        found.and_then(|(_, value)| text(value)).map(str::to_owned)
    })
}

fn node(message: &[u8], number: u32) -> Option<Node> {
    let mut node = Node {
        message: number,
        ..Node::default()
    };
    for field in Fields(message) {
        match field? {
            (1, Value::Number(id)) => node.id = id,
            (3, Value::Number(kind)) => node.kind = kind,
            (4 | 5, Value::Number(on)) => node.after.push(on),
            (4 | 5, Value::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    node.after.push(wire::number(&mut packed)?);
                }
            }
            (7, Value::Number(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => node.numbers.extend(attribute_number(attribute)?),
            // Names, start times and what else a version may add change nothing here.
            _ => {}
        }
    }
    (node.kind > 0).then_some(node)
}

/// An attribute, if it is a whole number; none if it is damaged.
fn attribute_number(attribute: &[u8]) -> Option<Option<(String, u64)>> {
    let (mut name, mut number) = (None, None);
    for field in Fields(attribute) {
        match field? {
            (1, value) => name = Some(text(value)?.to_owned()),
            (7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, Value::Number(value)) => {
                number = Some(value)
            }
            // Signed numbers: the lowest bit is the sign.
            (15 | 17, Value::Number(value)) if value & 1 == 0 => number = Some(value >> 1),
            _ => {}
        }
    }
    Some(name.zip(number))
}
