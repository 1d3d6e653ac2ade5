// SPDX-License-Identifier: MIT OR Apache-2.0
//! The elements of a file with their attributes, and nothing of what they mean.

use corecast_text::{did_you_mean, quoted};
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::Fault;

/// Most elements and texts of a file; a step is one of each.
const NODES_MAX: u32 = 1 << 24;

/// Most elements inside one another; a file has four. The parser goes one level deeper on its stack for
/// each.
const LEVELS_MAX: u32 = 64;

/// Parses a text; document types, and with them entities, are refused.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Fault> {
    if let Some(at) = too_deep(text) {
        let line = 1 + text[..at].matches('\n').count() as u32;
        let wrong = format!("more than {LEVELS_MAX} elements are inside one another");
        return Err(Fault::at(
            line,
            wrong,
            "a step is inside `tb` inside `gpu` inside `algo`",
        ));
    }
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: NODES_MAX,
    };
    Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row;
        Fault::at(
            line,
            format!("this is no XML: {error}"),
            "write the file again with its tool",
        )
    })
}

/// Where an element begins that is inside too many others. As far as a text is XML every element is
/// seen; what is not, the parser refuses there.
fn too_deep(text: &str) -> Option<usize> {
    const SKIPPED: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    let (mut at, mut level) = (0, 0_u32);
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        if let Some((begin, end)) = SKIPPED.iter().find(|(begin, _)| rest.starts_with(begin)) {
            at += begin.len() + rest[begin.len()..].find(end)?;
            continue;
        }
        let length = tag_bytes(rest)?;
        if rest.starts_with("</") {
            level = level.saturating_sub(1);
        } else if !rest[..length].ends_with("/>") {
            level += 1;
            if level > LEVELS_MAX {
                return Some(at);
            }
        }
        at += length;
    }
}

/// Bytes of a tag up to its end, which is no sign inside quotes; none if it has no end.
fn tag_bytes(tag: &str) -> Option<usize> {
    let mut quote = None;
    let end = tag.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None => {
            if byte == b'"' || byte == b'\'' {
                quote = Some(byte);
            }
            byte == b'>'
        }
    });
    end.map(|end| end + 1)
}

/// An element, for what is asked of it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a, 'input>(pub Node<'a, 'input>);

impl<'a, 'input: 'a> Element<'a, 'input> {
    /// Something wrong with it.
    pub(super) fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault::at(self.line(), wrong, right)
    }

    /// The line in which it begins, looked for from the file's first one on.
    pub(super) fn line(&self) -> u32 {
        let start = self.0.range().start;
        self.0.document().text_pos_at(start).row
    }

    /// An attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.attribute(name)
    }

    /// An attribute that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&'a str, Fault> {
        self.get(name).ok_or_else(|| {
            let tag = self.0.tag_name().name();
            let wrong = format!("`{tag}` has no `{name}`");
            self.fault(wrong, format!("add {name}=\"...\""))
        })
    }

    /// A number from `least` to `most`.
    pub(super) fn number(&self, name: &str, least: i64, most: u32) -> Result<i64, Fault> {
        let text = self.text(name)?;
        let number = text.trim().parse::<i64>().ok();
        let number = number.filter(|&number| number >= least && number <= i64::from(most));
        number.ok_or_else(|| {
            let wrong = format!("{name}=\"{}\" is out of range", quoted(text));
            self.fault(wrong, format!("{name} is a number from {least} to {most}"))
        })
    }

    /// A number that may be -1, for none.
    pub(super) fn optional(&self, name: &str) -> Result<Option<u32>, Fault> {
        let number = self.number(name, -1, u32::MAX)?;
        Ok(u32::try_from(number).ok())
    }

    /// A number from 0 on.
    pub(super) fn count(&self, name: &str, most: u32) -> Result<u32, Fault> {
        Ok(self.number(name, 0, most)? as u32)
    }

    /// The elements inside, all of which have one of these names.
    pub(super) fn children(&self, names: &'static [&'static str]) -> Result<Vec<Self>, Fault> {
        let inside = self.0.children().filter(Node::is_element).map(Element);
        let checked = inside.map(|element| {
            let tag = element.0.tag_name().name();
            if names.contains(&tag) {
                return Ok(element);
            }
            let outside = self.0.tag_name().name();
            let wrong = format!("`{}` cannot be inside `{outside}`", quoted(tag));
            let right = format!(
                "there can be {}{}",
                names.join(", "),
                did_you_mean(tag, names)
            );
            Err(element.fault(wrong, right))
        });
        checked.collect()
    }
}
