//! The elements of a file with their attributes, and nothing of what they mean.

use corecast_text::{did_you_mean, quoted};
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::Fault;

/// Most elements and texts of a file; a step is one of each.
const NODES_MAX: u32 = 1 << 24;

/// Parses a text; document types, and with them entities, are refused.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Fault> {
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

/// An element, for what is asked of it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a, 'input>(pub Node<'a, 'input>);

impl<'a, 'input: 'a> Element<'a, 'input> {
    /// Something wrong with it.
    pub(super) fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        let place = self.0.document().text_pos_at(self.0.range().start);
        Fault::at(place.row, wrong, right)
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
