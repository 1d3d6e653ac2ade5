// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading tables of a TOML file with errors that know their place.
//!
//! TOML gives tables with spans; this turns their entries into texts, choices, whole numbers, lists
//! and tables, and every refusal into an [`EntryError`]. It knows no particular key.
//!
//! ```
//! use corecast_text::{Section, Text};
//! let text = Text::new("a.toml", "size = 40");
//! let document = text.parse("").unwrap();
//! let root = Section::root(&text, document.get_ref());
//! let error = root.whole("size", 1..=32).unwrap_err().to_string();
//! assert!(error.starts_with("a.toml:1: `size` = 40 is out of range"));
//! ```

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{EntryError, Location, quoted, type_name};

/// The text of a file.
pub struct Text<'a> {
    file: &'a str,
    text: &'a str,
    /// Offsets of its line feeds: a file may have many lines, and every entry asks for its own.
    newlines: Vec<usize>,
}

impl<'a> Text<'a> {
    /// The text of `file`, which is how errors call it.
    #[must_use]
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
        }
    }

    /// The text as tables; `help` is a line for errors that says where such files are described.
    ///
    /// # Errors
    /// [`EntryError::Syntax`] if it is not TOML.
    pub fn parse(&self, help: &'static str) -> Result<Spanned<DeTable<'a>>, EntryError> {
        DeTable::parse(self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.syntax(offset, error.message(), help)
        })
    }

    /// The refusal of a text that is not TOML from `offset` on.
    #[must_use]
    pub fn syntax(&self, offset: usize, message: &str, help: &'static str) -> EntryError {
        EntryError::Syntax {
            at: self.at(offset, ""),
            column: self.column(offset),
            message: message.trim().replace('\n', "; "),
            help,
        }
    }

    /// The place of a byte offset, for `key`.
    #[must_use]
    pub fn at(&self, offset: usize, key: &str) -> Box<Location> {
        let before = self.newlines.partition_point(|&newline| newline < offset);
        Box::new(Location {
            file: self.file.to_owned(),
            line: u32::try_from(before + 1).unwrap_or(u32::MAX),
            key: key.to_owned(),
        })
    }

    /// Column of a byte offset in characters, counted from 1.
    fn column(&self, offset: usize) -> u32 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.rsplit(|&byte| byte == b'\n').next();
        // Bytes that begin a character; the offset itself may lie inside one.
        let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
        line.unwrap_or_default().iter().filter(is_start).count() as u32 + 1
    }

    /// What is written there.
    #[must_use]
    pub fn written(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }
}

/// A value of the file, with the path that led to it.
#[derive(Clone)]
pub struct Item<'a> {
    text: &'a Text<'a>,
    path: String,
    value: &'a Spanned<DeValue<'a>>,
    /// What stands before the value in a form to write: `key = ` or nothing.
    prefix: String,
    /// Whether it is an element of a list, so that a table there begins with `[[path]]`.
    is_element: bool,
}

impl<'a> Item<'a> {
    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> Box<Location> {
        self.text.at(self.value.span().start, &self.path)
    }

    /// The value itself.
    #[must_use]
    pub fn value(&self) -> &'a DeValue<'a> {
        self.value.get_ref()
    }

    /// Which bytes of the file it is.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// As it is written.
    #[must_use]
    pub fn written(&self) -> &'a str {
        self.text.written(self.span())
    }

    /// The refusal of its type; `form` is what to write.
    #[must_use]
    pub fn wrong_type(&self, expected: &'static str, form: impl Into<String>) -> EntryError {
        EntryError::WrongType {
            at: self.place(),
            expected,
            found: type_name(self.value()),
            form: form.into(),
        }
    }

    /// The refusal of its value.
    #[must_use]
    pub fn refuse(&self, accepted: impl Into<String>) -> EntryError {
        EntryError::OutOfRange {
            at: self.place(),
            found: self.written().to_owned(),
            accepted: accepted.into(),
        }
    }

    /// The refusal of a name that is none of `accepted`.
    #[must_use]
    pub fn unknown_name(&self, found: &str, accepted: Vec<String>) -> EntryError {
        EntryError::UnknownName {
            at: self.place(),
            found: found.to_owned(),
            accepted,
        }
    }

    /// The value as a whole number.
    ///
    /// # Errors
    /// If it is none, or not in `range`.
    pub fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, EntryError> {
        let accepted = || format!("whole numbers from {} to {}", range.start(), range.end());
        match self.value() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|number| range.contains(number))
                .ok_or_else(|| self.refuse(accepted())),
            DeValue::Float(_) => Err(self.refuse(accepted())),
            _ => {
                let form = format!("{}{}", self.prefix, range.start());
                Err(self.wrong_type("a whole number", form))
            }
        }
    }

    /// The value as a text, which must say something.
    ///
    /// # Errors
    /// If it is none, or says nothing.
    pub fn text(&self) -> Result<&'a str, EntryError> {
        match self.value() {
            DeValue::String(text) if text.trim().is_empty() => {
                Err(self.refuse("a text that says something"))
            }
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a text in quotes", format!("{}\"...\"", self.prefix))),
        }
    }

    /// What the word means.
    ///
    /// # Errors
    /// If it is no text, or none of the words.
    pub fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Result<T, EntryError> {
        let found = self.text()?;
        let choice = choices.iter().find(|(word, _)| *word == found);
        choice.map(|(_, choice)| choice.clone()).ok_or_else(|| {
            let words = choices.iter().map(|&(word, _)| word.to_owned());
            self.unknown_name(found, words.collect())
        })
    }

    /// The value as a table.
    ///
    /// # Errors
    /// If it is none.
    pub fn section(&self) -> Result<Section<'a>, EntryError> {
        match self.value() {
            DeValue::Table(table) => Ok(Section {
                text: self.text,
                path: self.path.clone(),
                offset: self.span().start,
                is_element: self.is_element,
                table,
            }),
            _ => Err(self.wrong_type("a table", format!("[{}]", self.path))),
        }
    }

    /// The elements, if it is a list.
    #[must_use]
    pub fn elements(&self) -> Option<Vec<Item<'a>>> {
        let DeValue::Array(list) = self.value() else {
            return None;
        };
        let element = |value| Item {
            value,
            is_element: true,
            ..self.clone()
        };
        Some(list.iter().map(element).collect())
    }
}

/// A table of the file, with the path that led to it.
#[derive(Clone)]
pub struct Section<'a> {
    text: &'a Text<'a>,
    /// Empty for the whole file.
    path: String,
    offset: usize,
    is_element: bool,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// The whole file.
    #[must_use]
    pub fn root(text: &'a Text<'a>, table: &'a DeTable<'a>) -> Self {
        Self {
            text,
            path: String::new(),
            offset: 0,
            is_element: false,
            table,
        }
    }

    /// The text that it is part of.
    #[must_use]
    pub fn file(&self) -> &'a Text<'a> {
        self.text
    }

    /// The path of the table; empty for the whole file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path of an entry.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// The table's header as it is written; empty for the whole file.
    #[must_use]
    pub fn header(&self) -> String {
        match (self.path.as_str(), self.is_element) {
            ("", _) => String::new(),
            (path, false) => format!("[{}]", quoted(path)),
            (path, true) => format!("[[{}]]", quoted(path)),
        }
    }

    /// The place where the table begins.
    #[must_use]
    pub fn begin(&self) -> Box<Location> {
        self.text.at(self.offset, &self.path)
    }

    /// The place of the value of `key`, or of the table if it is not written.
    #[must_use]
    pub fn place(&self, key: &str) -> Box<Location> {
        self.item(key).map_or_else(
            || self.text.at(self.offset, &self.path_of(key)),
            |item| item.place(),
        )
    }

    /// Whether `key` is written.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value under `key`, if there is one.
    #[must_use]
    pub fn item(&self, key: &str) -> Option<Item<'a>> {
        let value = self.table.get(key)?;
        Some(Item {
            text: self.text,
            path: self.path_of(key),
            value,
            prefix: String::new(),
            is_element: false,
        })
    }

    /// The value under `key`; `form` is what to write if there is none.
    ///
    /// # Errors
    /// [`EntryError::MissingKey`].
    pub fn need(&self, key: &'static str, form: &str) -> Result<Item<'a>, EntryError> {
        self.item(key)
            .ok_or_else(|| self.missing(key, form.to_owned()))
    }

    /// The same; errors show `key = form` as what to write.
    ///
    /// # Errors
    /// [`EntryError::MissingKey`].
    pub fn entry(&self, key: &'static str, form: &str) -> Result<Item<'a>, EntryError> {
        let prefix = format!("{key} = ");
        let item = self.need(key, &format!("{prefix}{form}"))?;
        Ok(Item { prefix, ..item })
    }

    /// The refusal of a table without `key`.
    #[must_use]
    pub fn missing(&self, key: &'static str, form: String) -> EntryError {
        EntryError::MissingKey {
            at: self.text.at(self.offset, &self.path_of(key)),
            table: self.header(),
            key,
            form,
        }
    }

    /// The whole number under `key`.
    ///
    /// # Errors
    /// If there is none in `range`.
    pub fn whole(&self, key: &'static str, range: RangeInclusive<u64>) -> Result<u64, EntryError> {
        self.entry(key, &range.start().to_string())?.whole(range)
    }

    /// The whole number under `key`, or `default` if there is none.
    ///
    /// # Errors
    /// If there is one that is not in `range`.
    pub fn whole_or(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, EntryError> {
        self.item(key).map_or(Ok(default), |item| item.whole(range))
    }

    /// The text under `key`, which must say something.
    ///
    /// # Errors
    /// If there is none, or it says nothing.
    pub fn text(&self, key: &'static str) -> Result<&'a str, EntryError> {
        self.entry(key, "\"...\"")?.text()
    }

    /// What the word under `key` means.
    ///
    /// # Errors
    /// If there is no text, or it is none of the words.
    pub fn choice<T: Clone>(
        &self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, EntryError> {
        self.entry(key, "\"...\"")?.choice(choices)
    }

    /// Refuses every key that is not in `keys`.
    ///
    /// # Errors
    /// [`EntryError::UnknownKey`] for the first one.
    pub fn accept(&self, keys: &[&'static str]) -> Result<(), EntryError> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !keys.contains(&key.get_ref().as_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else {
            return Ok(());
        };
        Err(EntryError::UnknownKey {
            at: self
                .text
                .at(first.span().start, &self.path_of(first.get_ref())),
            table: self.header(),
            found: first.get_ref().to_string(),
            accepted: keys.to_vec(),
        })
    }

    /// Every entry in file order: where its key is, the key and the value.
    pub fn entries(&self) -> impl Iterator<Item = (Box<Location>, &'a str, Item<'a>)> + '_ {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries.into_iter().map(|(key, value)| {
            let name: &'a str = key.get_ref();
            let path = self.path_of(name);
            let at = self.text.at(key.span().start, &path);
            let item = Item {
                text: self.text,
                path,
                value,
                prefix: String::new(),
                is_element: false,
            };
            (at, name, item)
        })
    }
}
