//! Reading tables of a flow file with errors that know their place; it knows no particular key.

use std::ops::RangeInclusive;

use corecast_text::{Location, type_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::FileError;

/// The text being read.
pub(crate) struct Text<'a> {
    file: &'a str,
    text: &'a str,
    /// Offsets of its line feeds.
    newlines: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        let newlines = text.match_indices('\n').map(|(at, _)| at).collect();
        Self {
            file,
            text,
            newlines,
        }
    }

    /// The place of a byte offset, for `key`.
    pub(crate) fn at(&self, offset: usize, key: &str) -> Box<Location> {
        let before = self.newlines.partition_point(|&newline| newline < offset);
        Box::new(Location {
            file: self.file.to_owned(),
            line: before as u32 + 1, // a file has at most `FILE_BYTES_MAX` lines
            key: key.to_owned(),
        })
    }

    /// Column of a byte offset in characters, counted from 1.
    pub(crate) fn column(&self, offset: usize) -> u32 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.rsplit(|&byte| byte == b'\n').next();
        // Bytes that begin a character; the offset itself may lie inside one.
        let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
        line.unwrap_or_default().iter().filter(is_start).count() as u32 + 1
    }
}

/// A value of the file, with the path that led to it.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    text: &'a Text<'a>,
    path: String,
    value: &'a Spanned<DeValue<'a>>,
}

/// A table of the file, with the path that led to it.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    text: &'a Text<'a>,
    /// Empty for the whole file.
    path: String,
    offset: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Item<'a> {
    /// Where it stands.
    pub(crate) fn place(&self) -> Box<Location> {
        self.text.at(self.value.span().start, &self.path)
    }

    /// As it is written.
    fn written(&self) -> String {
        let written = self.text.text.get(self.value.span());
        written.unwrap_or_default().to_owned()
    }

    pub(crate) fn wrong_type(&self, expected: &'static str, form: impl Into<String>) -> FileError {
        FileError::WrongType {
            at: self.place(),
            expected,
            found: type_name(self.value.get_ref()),
            form: form.into(),
        }
    }

    /// The refusal of the value.
    pub(crate) fn refuse(&self, accepted: impl Into<String>) -> FileError {
        FileError::OutOfRange {
            at: self.place(),
            found: self.written(),
            accepted: accepted.into(),
        }
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    /// The value as a whole number.
    pub(crate) fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, FileError> {
        let accepted = || format!("whole numbers from {} to {}", range.start(), range.end());
        match self.value.get_ref() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|number| range.contains(number))
                .ok_or_else(|| self.refuse(accepted())),
            DeValue::Float(_) => Err(self.refuse(accepted())),
            _ => Err(self.wrong_type("a whole number", range.start().to_string())),
        }
    }

    /// The value as a text, which must say something.
    pub(crate) fn text(&self) -> Result<&'a str, FileError> {
        match self.value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                Err(self.refuse("a text that says something"))
            }
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a text in quotes", "\"...\"")),
        }
    }

    /// What the word means.
    pub(crate) fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Result<T, FileError> {
        let found = self.text()?;
        let choice = choices.iter().find(|(word, _)| *word == found);
        choice
            .map(|(_, choice)| choice.clone())
            .ok_or_else(|| FileError::UnknownName {
                at: self.place(),
                found: found.to_owned(),
                accepted: choices.iter().map(|&(word, _)| word.to_owned()).collect(),
            })
    }

    /// The value as a table.
    pub(crate) fn section(&self) -> Result<Section<'a>, FileError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Section {
                text: self.text,
                path: self.path.clone(),
                offset: self.value.span().start,
                table,
            }),
            _ => Err(self.wrong_type("a table", format!("[{}]", self.path))),
        }
    }

    /// The values of a list.
    pub(crate) fn list(&self) -> Result<Vec<Item<'a>>, FileError> {
        let DeValue::Array(list) = self.value.get_ref() else {
            return Err(self.wrong_type("a list", "[...]"));
        };
        let (text, path) = (self.text, &self.path);
        let item = |value| Item {
            text,
            path: path.clone(),
            value,
        };
        Ok(list.iter().map(item).collect())
    }
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(crate) fn root(text: &'a Text<'a>, table: &'a DeTable<'a>) -> Self {
        Self {
            text,
            path: String::new(),
            offset: 0,
            table,
        }
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// The place of the value of `key`, or of the table if it is not written.
    pub(crate) fn place(&self, key: &str) -> Box<Location> {
        self.item(key).map_or_else(
            || self.text.at(self.offset, &self.path_of(key)),
            |item| item.place(),
        )
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value under `key`, if there is one.
    pub(crate) fn item(&self, key: &str) -> Option<Item<'a>> {
        let value = self.table.get(key)?;
        Some(Item {
            text: self.text,
            path: self.path_of(key),
            value,
        })
    }

    /// The value under `key`; `form` is what to write if there is none.
    pub(crate) fn need(&self, key: &'static str, form: &str) -> Result<Item<'a>, FileError> {
        self.item(key).ok_or_else(|| FileError::MissingKey {
            at: self.place(key),
            table: self.path.clone(),
            key,
            form: form.to_owned(),
        })
    }

    /// The whole number under `key`, or `default` if there is none.
    pub(crate) fn whole_or(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, FileError> {
        self.item(key).map_or(Ok(default), |item| item.whole(range))
    }

    /// Refuses every key that is not in `keys`.
    pub(crate) fn accept(&self, keys: &[&'static str]) -> Result<(), FileError> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !keys.contains(&key.get_ref().as_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else {
            return Ok(());
        };
        Err(FileError::UnknownKey {
            at: self
                .text
                .at(first.span().start, &self.path_of(first.get_ref())),
            table: self.path.clone(),
            found: first.get_ref().to_string(),
            accepted: keys.to_vec(),
        })
    }

    /// Every entry with its name, in file order; names are checked.
    pub(crate) fn named(&self) -> Result<Vec<(&'a str, Item<'a>)>, FileError> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let named = entries.into_iter().map(|(key, value)| {
            let name: &'a str = key.get_ref();
            let path = self.path_of(name);
            if !is_name(name) {
                let (at, found) = (self.text.at(key.span().start, &path), name.to_owned());
                return Err(FileError::BadName { at, found });
            }
            Ok((
                name,
                Item {
                    text: self.text,
                    path,
                    value,
                },
            ))
        });
        named.collect()
    }
}

/// Whether a text can be the name of a flow or a task.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&text.len()) && text.chars().all(is_part) && text != crate::graph::MEMORY
}
