// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a file says beside its schedule, which is kept where it is written again.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use super::document::{self, Element};

/// What a file says to its runtimes and a schedule does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct About {
    pub proto: String,
    /// The bytes for which the file is meant; 0 = any.
    pub min_bytes: u64,
    pub max_bytes: u64,
    pub redop: Option<String>,
    /// Whether it may be used out of place; none if it is whatever in place is not.
    pub out_of_place: Option<bool>,
}

impl Default for About {
    fn default() -> Self {
        Self {
            proto: "Simple".to_owned(),
            min_bytes: 0,
            max_bytes: 0,
            redop: None,
            out_of_place: None,
        }
    }
}

/// Attributes of `algo` that readers insist on, and what they are where a file lacks them.
const NEEDED: [(&str, &str); 4] = [
    ("proto", "Simple"),
    ("outofplace", "what inplace is not"),
    ("minBytes", "0, any size"),
    ("maxBytes", "0, any size"),
];

/// Those of them that a file lacks.
pub(super) fn missing(algo: Element<'_, '_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = NEEDED.into_iter();
    all.filter(move |(name, _)| algo.get(name).is_none())
}

/// What a file says beside its schedule, and what it lacks.
pub(super) fn about(text: &str) -> (About, Vec<String>) {
    let Ok(document) = document::parse(text) else {
        return (About::default(), Vec::new());
    };
    let algo = Element(document.root_element());
    let about = of(algo);
    let mut lacks: Vec<String> = missing(algo)
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    match unmarked(&document).len() {
        0 => {}
        steps => lacks.push(format!("hasdep of {steps} steps that others wait for")),
    }
    (about, lacks)
}

/// The file with what [`about`] says that it lacks, and otherwise as it is.
pub(super) fn complete(text: &str) -> Option<String> {
    let document = document::parse(text).ok()?;
    let algo = Element(document.root_element());
    let about = of(algo);
    let is_in_place = algo.get("inplace") == Some("1");
    let added = missing(algo).map(|(name, _)| match name {
        "proto" => format!(" proto=\"{}\"", about.proto),
        "outofplace" => format!(" outofplace=\"{}\"", u32::from(!is_in_place)),
        other => format!(" {other}=\"0\""),
    });
    let behind_name = algo.0.range().start + "<algo".len();
    let mut changes = vec![(behind_name..behind_name, added.collect::<String>())];
    for step in unmarked(&document) {
        let mark = step.attribute_node("hasdep")?;
        changes.push((mark.range_value(), "1".to_owned()));
    }
    changes.sort_by_key(|(range, _)| range.start);
    let (mut out, mut at) = (String::with_capacity(text.len() + 64), 0);
    for (range, new) in changes {
        out += text.get(at..range.start)?;
        out += &new;
        at = range.end;
    }
    out += &text[at..];
    Some(out)
}

fn of(algo: Element<'_, '_>) -> About {
    let number = |name: &str| algo.get(name).and_then(|text| text.trim().parse().ok());
    About {
        proto: algo.get("proto").unwrap_or("Simple").to_owned(),
        min_bytes: number("minBytes").unwrap_or(0),
        max_bytes: number("maxBytes").unwrap_or(0),
        redop: algo.get("redop").map(str::to_owned),
        out_of_place: number("outofplace").map(|flag| flag == 1),
    }
}

/// The steps for which others wait, and which do not say so.
fn unmarked<'a>(document: &'a Document<'_>) -> Vec<Node<'a, 'a>> {
    let steps = || {
        let all = document.descendants();
        all.filter(|node| node.has_tag_name("step"))
    };
    let outside = |node: Node<'a, 'a>, name| {
        let found = node.ancestors().find(|node| node.has_tag_name(name))?;
        found.attribute("id")
    };
    let awaited: BTreeSet<_> = steps()
        .filter_map(|step| {
            let on = |name| step.attribute(name).filter(|&id| id != "-1");
            Some((outside(step, "gpu")?, on("depid")?, on("deps")?))
        })
        .collect();
    let is_awaited = |step: &Node<'a, 'a>| {
        let place = (
            outside(*step, "gpu"),
            outside(*step, "tb"),
            step.attribute("s"),
        );
        match place {
            (Some(gpu), Some(tb), Some(number)) => awaited.contains(&(gpu, tb, number)),
            _ => false,
        }
    };
    let unmarked = steps().filter(|step| step.attribute("hasdep") != Some("1"));
    unmarked.filter(is_awaited).collect()
}
