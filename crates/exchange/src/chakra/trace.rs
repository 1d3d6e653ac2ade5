// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a trace, in and out: metadata and nodes of every rank, and nothing of what they mean
//! together.

use corecast_core::Collective;

use super::wire::{self, Fields, Value, push_bytes, push_field, push_number};
use crate::error::Fault;

/// Types of nodes.
pub const COMP: u64 = 4;
/// A message is sent.
pub const SEND: u64 = 5;
/// A message is received.
pub const RECV: u64 = 6;
/// A collective.
pub const COLL: u64 = 7;

/// The numbers of collectives; the first of a collective is written.
pub const COLLECTIVES: [(u64, Collective); 10] = [
    (0, Collective::Allreduce),
    (1, Collective::Reduce),
    (2, Collective::Allgather),
    (3, Collective::Gather),
    (4, Collective::Scatter),
    (5, Collective::Bcast),
    (6, Collective::Alltoall),
    (7, Collective::ReduceScatter),
    (8, Collective::ReduceScatter),
    (9, Collective::Barrier),
];

/// The schema whose messages are written.
const SCHEMA: &str = "1.0.2-chakra.0.0.4";

/// Fields of an attribute: its number as a `double`, `float`, `int32` or `int64`, a list of truths, its
/// text.
const DOUBLE: u64 = 3;
const FLOAT: u64 = 5;
const INT32: u64 = 7;
const INT64: u64 = 9;
const TRUTHS: u64 = 28;
const STRING: u64 = 29;

/// The attribute that names the process group of a collective.
pub const GROUP: &str = "pg_name";
/// The attribute that says of every dimension of a network whether a collective uses it.
const DIMENSIONS: &str = "involved_dim";

/// What one rank does.
#[derive(Debug, Default)]
pub struct OfRank {
    /// The text of the metadata attribute `input_file`.
    pub input: Option<String>,
    /// Its nodes in the order of the file.
    pub nodes: Vec<Node>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its number.
    pub id: u64,
    /// Its type: [`COMP`], [`SEND`], ...
    pub kind: u64,
    /// Nodes of the rank that must have ended.
    pub after: Vec<u64>,
    /// How long it takes, in microseconds.
    pub micros: u64,
    /// Attributes that are numbers; one that is not whole is rounded up.
    pub numbers: Vec<(String, u64)>,
    /// Attributes that are texts.
    pub texts: Vec<(String, String)>,
    /// Whether its collective leaves out dimensions of the network (`involved_dim`).
    pub is_partial: bool,
    /// Which message of the files it is, counted from 1.
    pub message: u32,
}

impl Node {
    /// An attribute that is a whole number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        let found = self.numbers.iter().find(|(known, _)| known == name);
        found.map(|&(_, number)| number)
    }

    /// An attribute that is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| &**text)
    }

    /// The process group of a collective: its name or number, or nothing where all ranks are meant.
    #[must_use]
    pub fn group(&self) -> String {
        let number = || Some(self.number(GROUP)?.to_string());
        match self.text(GROUP) {
            Some("world") => String::new(),
            Some(name) => name.to_owned(),
            None => number().unwrap_or_default(),
        }
    }
}

/// What is lost of collectives that leave out dimensions of the network, if there are any.
#[must_use]
pub fn partial_note(ranks: &[OfRank]) -> Option<String> {
    let nodes = ranks.iter().flat_map(|rank| &rank.nodes);
    let partial = nodes.filter(|node| node.is_partial).count();
    (partial > 0).then(|| {
        format!(
            "{DIMENSIONS} of {partial} nodes leaves out dimensions of the network, of which nothing is \
             known here: each of these collectives is one of all ranks of its group"
        )
    })
}

const RIGHT: &str =
    "a trace is messages of et_def.proto, each behind its length: metadata, then nodes";

/// Something wrong with a message.
#[must_use]
pub fn fault(message: u32, wrong: &str, right: &str) -> Fault {
    Fault::whole(format!("message {message}: {wrong}"), right)
}

/// What a message is: metadata have neither a number nor a type.
fn is_metadata(message: &[u8]) -> bool {
    Fields(message).all(|field| matches!(field, Some((1 | 2, Value::Bytes(_)))))
}

/// Whether contents begin like a trace.
#[must_use]
pub fn begins(mut contents: &[u8]) -> bool {
    let first = wire::number(&mut contents).and_then(|length| wire::bytes(&mut contents, length));
    first.is_some_and(|first| {
        // Empty metadata are metadata, but a file of zeroes is no trace.
        let names = |at: &[u8]| Fields(at).flatten().any(|(field, _)| field == 2);
        is_metadata(first) && (names(first) || contents.len() > 1) && !first.is_empty()
    })
}

/// All ranks, in order.
///
/// # Errors
/// Which message is damaged.
pub fn parse(contents: &[u8]) -> Result<Vec<OfRank>, Fault> {
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
            (10, Value::Bytes(found)) => attribute(found, &mut node)?,
            // Names, start times and what else a version may add change nothing here.
            _ => {}
        }
    }
    (node.kind > 0).then_some(node)
}

/// Enters an attribute, if it is a number or a text; none if it is damaged.
fn attribute(attribute: &[u8], node: &mut Node) -> Option<()> {
    let (mut name, mut number, mut word) = (None, None, None);
    let mut has_false = false;
    for field in Fields(attribute) {
        match field? {
            (1, value) => name = Some(text(value)?.to_owned()),
            (7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, Value::Number(value)) => {
                number = Some(value)
            }
            (DOUBLE, Value::Number(bits)) => number = rounded(f64::from_bits(bits)),
            (FLOAT, Value::Number(bits)) => number = rounded(f32::from_bits(bits as u32).into()),
            (TRUTHS, Value::Bytes(list)) => has_false = Fields(list).flatten().any(is_false),
            // Signed numbers: the lowest bit is the sign.
            (15 | 17, Value::Number(value)) if value & 1 == 0 => number = Some(value >> 1),
            (STRING, value) => word = text(value).map(str::to_owned),
            _ => {}
        }
    }
    node.is_partial |= has_false && name.as_deref() == Some(DIMENSIONS);
    node.numbers.extend(name.clone().zip(number));
    node.texts.extend(name.zip(word));
    Some(())
}

/// A number that is not negative as a whole one.
fn rounded(number: f64) -> Option<u64> {
    (number >= 0.0 && number < u64::MAX as f64).then_some(number.ceil() as u64)
}

/// Whether one of the truths in this field of a list is false.
fn is_false((_, value): (u64, Value<'_>)) -> bool {
    match value {
        Value::Bytes(packed) => packed.contains(&0),
        Value::Number(truth) => truth == 0,
    }
}

/// The attributes of a message: its bytes, who its peer is and what that is called, and its tag.
#[must_use]
pub fn of_message(
    kind: u64,
    (bytes, peer_name, peer, tag): (u64, &str, u32, u32),
) -> Vec<(String, u64)> {
    let all = [
        ("comm_type", kind),
        ("comm_size", bytes),
        (peer_name, u64::from(peer)),
        ("comm_tag", u64::from(tag)),
    ];
    all.map(|(name, number)| (name.to_owned(), number)).to_vec()
}

/// The file of a rank; `about` are attributes of its metadata.
#[must_use]
pub fn file(about: &[(&str, &str)], nodes: &[Node]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut metadata = Vec::new();
    for &(name, text) in [("schema", SCHEMA)].iter().chain(about) {
        push_bytes(&mut metadata, 2, &text_attribute(name, text));
    }
    push_message(&mut file, &metadata);
    nodes
        .iter()
        .for_each(|node| push_message(&mut file, &message(node)));
    file
}

fn push_message(out: &mut Vec<u8>, message: &[u8]) {
    push_number(out, message.len() as u64);
    out.extend_from_slice(message);
}

fn text_attribute(name: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    push_bytes(&mut out, 1, name.as_bytes());
    push_bytes(&mut out, STRING, text.as_bytes());
    out
}

fn message(node: &Node) -> Vec<u8> {
    let name = match node.kind {
        SEND => "COMM_SEND_NODE",
        RECV => "COMM_RECV_NODE",
        COLL => "COMM_COLL_NODE",
        _ => "COMP_NODE",
    };
    let id = node.id;
    let mut out = Vec::new();
    push_field(&mut out, 1, id);
    push_bytes(&mut out, 2, format!("{name}_{id}").as_bytes());
    push_field(&mut out, 3, node.kind);
    let mut after = Vec::new();
    node.after
        .iter()
        .for_each(|&on| push_number(&mut after, on));
    if !after.is_empty() {
        push_bytes(&mut out, 5, &after);
    }
    if node.micros > 0 {
        push_field(&mut out, 7, node.micros);
    }
    for (name, number) in &node.numbers {
        let is_long = matches!(&**name, "comm_type" | "comm_size");
        let mut attribute = Vec::new();
        push_bytes(&mut attribute, 1, name.as_bytes());
        push_field(&mut attribute, if is_long { INT64 } else { INT32 }, *number);
        push_bytes(&mut out, 10, &attribute);
    }
    for (name, text) in &node.texts {
        push_bytes(&mut out, 10, &text_attribute(name, text));
    }
    out
}
