//! Reading tables of a chip file with errors that know their place.
//!
//! TOML gives tables with spans; this module turns them into texts, choices, counts and
//! quantities, and every refusal into a [`ChipError`] with line and key. It knows the form of a
//! number with unit and provenance, but no particular key; those are in the modules that call it:
//!
//! ```text
//! let width_bytes = section.count("width", &WIDTH, ledger)?;
//! ```

use corecast_text::{Location, type_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::clock::Clock;
use crate::error::ChipError;
use crate::provenance::{self, Ledger, Provenance};

/// Words with what each of them means.
pub(crate) type Choices<T> = &'static [(&'static str, T)];

/// The keys of a number.
const QUANTITY_KEYS: [&str; 5] = ["value", "unit", "kind", "source", "fitted_to"];

/// The text being read.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Text<'_> {
    /// The place of a byte offset, for `key`.
    pub(crate) fn at(&self, offset: usize, key: &str) -> Box<Location> {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let newlines = before.iter().filter(|&&byte| byte == b'\n').count();
        Box::new(Location {
            file: self.file.to_owned(),
            line: newlines as u32 + 1, // a file has at most `FILE_BYTES_MAX` lines
            key: key.to_owned(),
        })
    }

    /// Column of a byte offset in characters, counted from 1.
    pub(crate) fn column(&self, offset: usize) -> u32 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |p| p + 1);
        // Bytes that begin a character; the offset itself may lie inside one.
        let is_start = |&&byte: &&u8| byte & 0xC0 != 0x80;
        before[line_start..].iter().filter(is_start).count() as u32 + 1
    }
}

/// A rule for a number that counts something.
pub(crate) struct Count {
    pub(crate) unit: &'static str,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// A number as written.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    /// An integer; those beyond 128 bits are saturated and so out of every range.
    Integer(i128),
    /// With a decimal point, or `inf` or `nan`.
    Float(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Integer(integer) => {
                let saturated = if integer.as_str().starts_with('-') {
                    i128::MIN
                } else {
                    i128::MAX
                };
                let parsed = i128::from_str_radix(integer.as_str(), integer.radix());
                Some(Self::Integer(parsed.unwrap_or(saturated)))
            }
            DeValue::Float(float) => Some(Self::Float(float.as_str().parse().unwrap_or(f64::NAN))),
            _ => None,
        }
    }
}

/// A number with its unit and provenance.
pub(crate) struct Quantity<'a> {
    text: Text<'a>,
    value_span: std::ops::Range<usize>,
    pub(crate) offset: usize,
    pub(crate) path: String,
    pub(crate) value: Number,
    pub(crate) unit: &'static str,
    pub(crate) kind: Provenance,
    pub(crate) source: String,
    pub(crate) fitted_to: Option<String>,
}

impl Quantity<'_> {
    /// The place of the value.
    pub(crate) fn value_at(&self) -> Box<Location> {
        self.text.at(self.value_span.start, &self.path)
    }

    /// The value as written in the file.
    fn written(&self) -> String {
        let written = self.text.text.get(self.value_span.clone());
        written.unwrap_or_default().to_owned()
    }

    pub(crate) fn out_of_range(&self, accepted: impl Into<String>) -> ChipError {
        ChipError::OutOfRange {
            at: self.value_at(),
            found: self.written(),
            accepted: accepted.into(),
        }
    }

    fn whole(&self, rule: &Count) -> Result<u64, ChipError> {
        let accepted = format!("whole numbers from {} to {}", rule.min, rule.max);
        match self.value {
            Number::Integer(value) => u64::try_from(value)
                .ok()
                .filter(|value| (rule.min..=rule.max).contains(value))
                .ok_or_else(|| self.out_of_range(accepted)),
            Number::Float(value) if value.is_finite() && value >= 0.0 => Err(ChipError::NotWhole {
                at: self.value_at(),
                found: self.written(),
                accepted,
            }),
            Number::Float(_) => Err(self.out_of_range(accepted)),
        }
    }
}

/// A table of the file, with the path that led to it.
pub(crate) struct Section<'a> {
    text: Text<'a>,
    path: String,
    offset: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(crate) fn root(text: Text<'a>, table: &'a DeTable<'a>) -> Self {
        Self {
            text,
            path: String::new(),
            offset: 0,
            table,
        }
    }

    /// The path of the table's key; empty for the whole file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The place where the table begins, for `key` inside it.
    fn begin(&self, key: &str) -> Box<Location> {
        self.text.at(self.offset, &self.path_of(key))
    }

    fn at(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Box<Location> {
        self.text.at(value.span().start, &self.path_of(key))
    }

    fn missing(&self, key: &'static str, form: String) -> ChipError {
        ChipError::MissingKey {
            at: self.begin(key),
            table: self.path.clone(),
            key,
            form,
        }
    }

    /// Refuses every key that is not in `keys`.
    pub(crate) fn accept(&self, keys: &'static [&'static str]) -> Result<(), ChipError> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !keys.contains(&key.get_ref().as_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else {
            return Ok(());
        };
        Err(ChipError::UnknownKey {
            at: self
                .text
                .at(first.span().start, &self.path_of(first.get_ref())),
            table: self.path.clone(),
            found: first.get_ref().to_string(),
            accepted: keys,
        })
    }

    /// The table under `key`.
    pub(crate) fn table(&self, key: &'static str) -> Result<Section<'a>, ChipError> {
        let form = format!("[{}]", self.path_of(key));
        let Some(value) = self.table.get(key) else {
            return Err(self.missing(key, form));
        };
        self.enter(key, value, form)
    }

    /// The refusal of a file without any clock.
    pub(crate) fn no_clock(&self) -> ChipError {
        let at = self
            .table
            .get("clocks")
            .map(|value| self.at(value, "clocks"));
        ChipError::NoClock {
            at: at.unwrap_or_else(|| self.begin("clocks")),
        }
    }

    /// Every entry as a table, with its name, in file order.
    pub(crate) fn tables(&self) -> Result<Vec<(&'a str, Section<'a>)>, ChipError> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let named = entries.into_iter().map(|(key, value)| {
            let name: &'a str = key.get_ref();
            if !is_name(name) {
                return Err(ChipError::BadName {
                    at: self.text.at(key.span().start, &self.path),
                    found: name.to_owned(),
                });
            }
            let form = format!("[{}]", self.path_of(name));
            Ok((name, self.enter(name, value, form)?))
        });
        named.collect()
    }

    fn enter(
        &self,
        key: &str,
        value: &'a Spanned<DeValue<'a>>,
        form: String,
    ) -> Result<Section<'a>, ChipError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(value, key, "a table", form));
        };
        Ok(Section {
            text: self.text,
            path: self.path_of(key),
            offset: value.span().start,
            table,
        })
    }

    fn wrong_type(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        expected: &'static str,
        form: String,
    ) -> ChipError {
        ChipError::WrongType {
            at: self.at(value, key),
            expected,
            found: type_name(value.get_ref()),
            form,
        }
    }

    /// The text under `key`, which must say something.
    pub(crate) fn text(&self, key: &'static str) -> Result<String, ChipError> {
        match self.optional_text(key)? {
            Some((text, _)) => Ok(text.to_owned()),
            None => Err(self.missing(key, format!("{key} = \"...\""))),
        }
    }

    /// The text under `key` that is used as a name.
    pub(crate) fn name(&self, key: &'static str) -> Result<String, ChipError> {
        let name = self.text(key)?;
        if is_name(&name) {
            return Ok(name);
        }
        let at = self
            .table
            .get(key)
            .map_or(self.begin(key), |value| self.at(value, key));
        Err(ChipError::BadName { at, found: name })
    }

    fn optional_text(&self, key: &str) -> Result<Option<(&'a str, Box<Location>)>, ChipError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let form = || format!("{key} = \"...\"");
        let DeValue::String(text) = value.get_ref() else {
            return Err(self.wrong_type(value, key, "a text in quotes", form()));
        };
        let at = self.at(value, key);
        if text.trim().is_empty() {
            return Err(ChipError::Empty { at, form: form() });
        }
        Ok(Some((text, at)))
    }

    /// What the word under `key` means.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: Choices<T>,
    ) -> Result<T, ChipError> {
        self.optional_choice(key, choices)?.ok_or_else(|| {
            let words: Vec<_> = choices
                .iter()
                .map(|(word, _)| format!("\"{word}\""))
                .collect();
            self.missing(key, format!("{key} = {}", words.join(" or ")))
        })
    }

    /// What the word under `key` means, if there is one.
    pub(crate) fn optional_choice<T: Copy>(
        &self,
        key: &str,
        choices: Choices<T>,
    ) -> Result<Option<T>, ChipError> {
        let Some((found, at)) = self.optional_text(key)? else {
            return Ok(None);
        };
        match choices.iter().find(|(word, _)| *word == found) {
            Some(&(_, choice)) => Ok(Some(choice)),
            None => Err(ChipError::UnknownKind {
                at,
                found: found.to_owned(),
                accepted: choices.iter().map(|&(word, _)| word).collect(),
            }),
        }
    }

    /// The texts in the list under `key`, each as `read` understands it; `accepted` says how.
    pub(crate) fn list<T>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Option<T>,
        accepted: &str,
    ) -> Result<Vec<T>, ChipError> {
        let form = || format!("{key} = [\"...\", \"...\"]");
        let Some(value) = self.table.get(key) else {
            return Err(self.missing(key, form()));
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(value, key, "a list of texts", form()));
        };
        let found: Option<Vec<T>> = items
            .iter()
            .map(|item| item.get_ref().as_str().and_then(&read))
            .collect();
        let found = found.filter(|found| !found.is_empty());
        found.ok_or_else(|| self.refuse(key, accepted))
    }

    /// The text under `key` as `read` understands it; `accepted` says how.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        accepted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ChipError> {
        let text = self.text(key)?;
        read(&text).ok_or_else(|| self.refuse(key, accepted))
    }

    /// Whether `key` is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The place of the value of `key`, or of its table if it is not written.
    pub(crate) fn place(&self, key: &str) -> Box<Location> {
        let value = self.table.get(key);
        value.map_or_else(|| self.begin(key), |value| self.at(value, key))
    }

    /// The refusal of what is written under `key`.
    pub(crate) fn refuse(&self, key: &str, accepted: impl Into<String>) -> ChipError {
        let value = self.table.get(key);
        let value = value.map(|value| match value.get_ref() {
            DeValue::Table(table) => table.get("value").unwrap_or(value),
            _ => value,
        });
        let written = value.and_then(|value| self.text.text.get(value.span()));
        ChipError::OutOfRange {
            at: self.place(key),
            found: written.unwrap_or_default().to_owned(),
            accepted: accepted.into(),
        }
    }

    /// The clock named under `key`.
    pub(crate) fn clock(&self, key: &'static str, clocks: &[Clock]) -> Result<Clock, ChipError> {
        let Some((found, at)) = self.optional_text(key)? else {
            let name = clocks.first().map_or("...", |clock| &clock.name);
            return Err(self.missing(key, format!("{key} = \"{name}\"")));
        };
        let clock = clocks.iter().find(|clock| clock.name == found);
        clock.cloned().ok_or_else(|| ChipError::UnknownClock {
            at,
            found: found.to_owned(),
            clocks: clocks.iter().map(|clock| clock.name.clone()).collect(),
        })
    }

    /// The number under `key` that counts something, entered into the ledger.
    pub(crate) fn count(
        &self,
        key: &'static str,
        rule: &'static Count,
        ledger: &mut Ledger,
    ) -> Result<u64, ChipError> {
        let quantity = self.quantity(key, std::slice::from_ref(&rule.unit))?;
        let value = quantity.whole(rule)?;
        ledger.enter(&quantity);
        Ok(value)
    }

    /// The number under `key` with unit and provenance; its range is up to the caller.
    pub(crate) fn quantity(
        &self,
        key: &'static str,
        units: &'static [&'static str],
    ) -> Result<Quantity<'a>, ChipError> {
        let Some(value) = self.table.get(key) else {
            return Err(self.missing(key, format!("{key} = {}", quantity_form("...", units))));
        };
        if Number::read(value.get_ref()).is_some() {
            let written = self.text.text.get(value.span()).unwrap_or("...");
            return Err(ChipError::NoProvenance {
                at: self.at(value, key),
                missing: "",
                form: format!("{key} = {}", quantity_form(written, units)),
            });
        }
        let form = format!("{key} = {}", quantity_form("...", units));
        let fields = match value.get_ref() {
            DeValue::Table(_) => self.enter(key, value, form)?,
            _ => return Err(self.wrong_type(value, key, "a number with its provenance", form)),
        };
        fields.accept(&QUANTITY_KEYS)?;
        fields.as_quantity(key, value.span().start, units)
    }

    /// This table as a number. `offset` is where it begins.
    fn as_quantity(
        &self,
        key: &'static str,
        offset: usize,
        units: &'static [&'static str],
    ) -> Result<Quantity<'a>, ChipError> {
        let whole = || self.text.at(offset, &self.path);
        let Some(value) = self.table.get("value") else {
            return Err(self.missing("value", "value = ...".to_owned()));
        };
        let Some(number) = Number::read(value.get_ref()) else {
            return Err(self.wrong_type(value, "value", "a number", "value = ...".to_owned()));
        };
        let written = self.text.text.get(value.span()).unwrap_or("...");
        let no_provenance = |missing| ChipError::NoProvenance {
            at: whole(),
            missing,
            form: format!("{key} = {}", quantity_form(written, units)),
        };
        let Some((unit, unit_at)) = self.optional_text("unit")? else {
            return Err(ChipError::NoUnit {
                at: whole(),
                accepted: units,
            });
        };
        let Some(&unit) = units.iter().find(|&&accepted| accepted == unit) else {
            return Err(ChipError::WrongUnit {
                at: Box::new(Location {
                    key: self.path.clone(),
                    ..*unit_at
                }),
                found: unit.to_owned(),
                accepted: units,
            });
        };
        let kind = self.optional_choice("kind", provenance::KINDS)?;
        let kind = kind.ok_or_else(|| no_provenance(": `kind` is missing"))?;
        let source = self.optional_text("source")?;
        let (source, _) = source.ok_or_else(|| no_provenance(": `source` is missing"))?;
        let fitted_to = self.optional_text("fitted_to")?;
        match (kind, &fitted_to) {
            (Provenance::Fitted, None) => return Err(ChipError::NotFittedTo { at: whole() }),
            (Provenance::Fitted, Some(_)) | (_, None) => {}
            (kind, Some(_)) => return Err(ChipError::StrayFittedTo { at: whole(), kind }),
        }
        Ok(Quantity {
            text: self.text,
            value_span: value.span(),
            offset,
            path: self.path.clone(),
            value: number,
            unit,
            kind,
            source: source.to_owned(),
            fitted_to: fitted_to.map(|(points, _)| points.to_owned()),
        })
    }
}

/// What a number with unit and provenance looks like.
fn quantity_form(value: &str, units: &[&str]) -> String {
    let unit = units.first().unwrap_or(&"...");
    format!(r#"{{ value = {value}, unit = "{unit}", kind = "...", source = "..." }}"#)
}

/// Whether `text` can be typed on a command line and stand in a path of keys.
fn is_name(text: &str) -> bool {
    let accepted = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=64).contains(&text.len()) && text.chars().all(accepted)
}
