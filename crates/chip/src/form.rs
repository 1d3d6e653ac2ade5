// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may stand under a key of a chip file, as the parser notes it while it reads ([`Seen`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// What may stand under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A whole number with unit and provenance.
    Whole {
        /// Its unit.
        unit: &'static str,
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A number with one of these units, and provenance.
    Number {
        /// The units.
        units: &'static [&'static str],
    },
    /// One of these words.
    Words(Vec<&'static str>),
    /// The name of one of the file's clocks.
    Clock,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

impl Form {
    pub(crate) fn words<T>(choices: &[(&'static str, T)]) -> Self {
        Self::Words(choices.iter().map(|(word, _)| *word).collect())
    }

    /// The unit of a number; of one with several, all of them; else nothing.
    #[must_use]
    pub fn unit(&self) -> String {
        match self {
            Self::Whole { unit, .. } => (*unit).to_owned(),
            Self::Number { units } => units.join(", "),
            _ => String::new(),
        }
    }
}

/// What is accepted, in words.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { min, max, .. } => write!(f, "{min} to {max}"),
            Self::Number { .. } => write!(f, "a number"),
            Self::Words(words) => write!(f, "{}", words.join(", ")),
            Self::Clock => write!(f, "a clock"),
            Self::Text => write!(f, "text"),
            Self::Texts => write!(f, "list of texts"),
        }
    }
}

/// What the parser has asked for: of every key that which says most.
#[derive(Default, Debug)]
pub(crate) struct Seen(RefCell<BTreeMap<String, Form>>);

impl Seen {
    /// Notes what may stand under a key. A choice or a number is read as a text first, or as a number
    /// of any size: what is noted first knows more.
    pub(crate) fn note(&self, path: String, form: impl FnOnce() -> Form) {
        self.0.borrow_mut().entry(path).or_insert_with(form);
    }

    /// All of it, by path.
    pub(crate) fn into_forms(self) -> BTreeMap<String, Form> {
        self.0.into_inner()
    }
}
