// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip as it was asked for: by name or as the text of a file, with changes. It can be asked for
//! again with one more.

use std::path::Path;
use std::sync::Arc;

use corecast_chip::{Chip, ChipError};
use corecast_text::file;

/// A chip, and how it was found.
#[derive(Clone, Debug)]
pub struct ChipChoice {
    name: String,
    changes: Vec<(String, String)>,
    /// The text of its file, where that was given instead of a name or path.
    text: Option<Arc<str>>,
    /// The chip.
    pub chip: Chip,
}

impl ChipChoice {
    /// A built-in chip by its name, or a chip in a file by its path, with changes of its numbers and
    /// words by their keys. A file is read once, as a pipe can be.
    ///
    /// ```
    /// let changes = [("network.link".to_owned(), "2".to_owned())];
    /// let choice = corecast_study::ChipChoice::find("tilepro64", &changes)?;
    /// assert_eq!(choice.changes(), ["network.link=2"]);
    /// # Ok::<(), corecast_chip::ChipError>(())
    /// ```
    ///
    /// # Errors
    /// Whatever is wrong with the name, the file or a change.
    pub fn find(name: &str, changes: &[(String, String)]) -> Result<Self, ChipError> {
        Ok(Self {
            chip: corecast_chip::find_changed(name, changes)?,
            name: name.to_owned(),
            changes: changes.to_vec(),
            text: None,
        })
    }

    /// The chip that this text of a chip file describes, with changes; errors call the text `name`.
    ///
    /// # Errors
    /// Whatever is wrong with the text or a change.
    pub fn read(name: &str, text: &str, changes: &[(String, String)]) -> Result<Self, ChipError> {
        Ok(Self {
            chip: corecast_chip::parse_changed(text, name, changes)?,
            name: name.to_owned(),
            changes: changes.to_vec(),
            text: Some(text.into()),
        })
    }

    /// The name or path, or how errors call the text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The changes, as `KEY=VALUE`.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let changes = self.changes.iter();
        changes
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    }

    /// The unit of the number that has this key, as changes take it; none if it is no number.
    #[must_use]
    pub fn unit(&self, key: &str) -> Option<&str> {
        let number = self.chip.parameters().find(|number| number.key == key);
        number.map(|number| number.unit)
    }

    /// The same with another value of one number; none if that is refused, or if the chip's file
    /// cannot be read again.
    #[must_use]
    pub fn with_number(&self, key: &str, value: f64) -> Option<Self> {
        if !self.can_be_read_again() {
            return None;
        }
        self.changed(&[(key.to_owned(), value.to_string())]).ok()
    }

    /// Whether the chip can be asked for again, with other changes: a pipe cannot be read twice.
    #[must_use]
    pub fn can_be_read_again(&self) -> bool {
        let is_stream = self.name == "-" || !file::is_replaced(Path::new(&self.name));
        !is_stream || self.text.is_some()
    }

    /// The same with further changes.
    ///
    /// # Errors
    /// Whatever is wrong with one of them, or with the file by now.
    pub fn changed(&self, more: &[(String, String)]) -> Result<Self, ChipError> {
        let changes = [&self.changes[..], more].concat();
        match &self.text {
            Some(text) => Self::read(&self.name, text, &changes),
            None => Self::find(&self.name, &changes),
        }
    }

    /// The text that was given instead of a name or path.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_changed_like_a_file() {
        let text = "base = \"scc\"\nname = \"mine\"\nsummary = \"Mine.\"\nsource = \"me\"\n";
        let mine = ChipChoice::read("mine.toml", text, &[]).expect("a chip");
        let change = ("network.width".to_owned(), "12".to_owned());
        let wide = mine.changed(&[change]).expect("wider");
        assert_eq!((wide.chip.cores_max(), wide.changes().len()), (96, 1));
        let wider = wide.with_number("network.height", 8.0).expect("higher");
        assert_eq!((wider.chip.cores_max(), wider.text()), (192, Some(text)));
        let wrong = ChipChoice::read("mine.toml", "x = 1", &[]).expect_err("no chip");
        assert!(wrong.to_string().starts_with("mine.toml:1"), "{wrong}");
    }
}
