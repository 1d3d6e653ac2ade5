// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON whose values know their lines.
//!
//! A value is kept as the text that it is, and taken apart level by level; so a file costs no more
//! memory than itself, every error names its line, and a key that is there twice is an error.
//!
//! ```text
//! {"a": [1, 2]}    Json::parse -> entries() -> [("a", `[1, 2]`)] -> items() -> [`1`, `2`]
//! ```

use std::fmt;
use std::marker::PhantomData;

use corecast_text::quoted;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Fault;
use crate::lines::LineEnds;

/// A file and where its lines end.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    text: &'a str,
    ends: LineEnds,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            ends: LineEnds::new(text),
        }
    }
}

/// A value of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'a> {
    file: &'a Text<'a>,
    value: &'a str,
}

impl<'a> Json<'a> {
    /// The whole file.
    pub(crate) fn parse(file: &'a Text<'a>) -> Result<Self, Fault> {
        match serde_json::from_str::<&RawValue>(file.text) {
            Ok(raw) => Ok(Self {
                file,
                value: raw.get(),
            }),
            Err(error) => {
                let line = error.line().max(1) as u32;
                let wrong = format!("this is no JSON: {error}");
                Err(Fault::at(line, wrong, "write the file again with its tool"))
            }
        }
    }

    /// Where it begins.
    pub(crate) fn line(&self) -> u32 {
        // The value is a part of the file, so the two addresses say where.
        let at = (self.value.as_ptr() as usize).saturating_sub(self.file.text.as_ptr() as usize);
        self.file.ends.line(at)
    }

    /// Something wrong with it.
    pub(crate) fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault::at(self.line(), wrong, right)
    }

    /// The first characters of its text.
    pub(crate) fn shown(&self) -> String {
        quoted(self.value.lines().next().unwrap_or_default())
    }

    fn as_type<T: Deserialize<'a>>(&self, right: &str) -> Result<T, Fault> {
        serde_json::from_str(self.value)
            .map_err(|_| self.fault(format!("here is `{}`", self.shown()), right))
    }

    /// The entries of an object, in the order of the file.
    pub(crate) fn entries(&self, right: &str) -> Result<Vec<(String, Self)>, Fault> {
        let entries: Entries<'a> = self.as_type(right)?;
        let file = self.file;
        let entries = entries.0.into_iter().map(|(key, raw)| {
            let value = raw.get();
            (key, Self { file, value })
        });
        let entries: Vec<_> = entries.collect();
        let mut seen: Vec<(&str, Self)> = entries.iter().map(|(key, at)| (&**key, *at)).collect();
        seen.sort_by_key(|(key, at)| (*key, at.value.as_ptr()));
        match seen.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let wrong = format!("`{}` is there a second time", quoted(pair[1].0));
                Err(pair[1].1.fault(wrong, "leave one of them"))
            }
            None => Ok(entries),
        }
    }

    /// The items of a list.
    pub(crate) fn items(&self, right: &str) -> Result<Vec<Self>, Fault> {
        let raws: Vec<&'a RawValue> = self.as_type(right)?;
        let file = self.file;
        let items = raws.into_iter().map(|raw| Self {
            file,
            value: raw.get(),
        });
        Ok(items.collect())
    }

    /// A text.
    pub(crate) fn text(&self, right: &str) -> Result<String, Fault> {
        self.as_type(right)
    }

    /// A finite number.
    pub(crate) fn number(&self, right: &str) -> Result<f64, Fault> {
        self.as_type(right)
    }
}

/// An object with its keys in order, none of which is lost.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for All<'a> {
            type Value = Entries<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries<'a>, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<String, &'de RawValue>()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(All(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines_and_no_key_is_lost() {
        let file = "\n{\"a\": [1,\n 2],\n \"b\": \"x\"}";
        let file = Text::new(file);
        let root = Json::parse(&file).expect("JSON");
        let entries = root.entries("an object").expect("one");
        let items = entries[0].1.items("a list").expect("one");
        assert_eq!(
            (root.line(), items[1].line(), entries[1].1.line()),
            (2, 3, 4)
        );
        assert!(root.items("a list").is_err());
        let twice = Text::new("{\"a\": 1,\n\"a\": 2}");
        let twice = Json::parse(&twice).expect("JSON");
        let error = twice.entries("an object").expect_err("refused");
        assert_eq!(
            (error.line, &*error.wrong),
            (Some(2), "`a` is there a second time")
        );
    }
}
