// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading tables of a chip file with errors that know their place.
//!
//! TOML gives tables with spans; this module turns them into texts, choices, counts and
//! quantities, and every refusal into a [`ChipError`] with line and key. It knows the form of a
//! number with unit and provenance, but no particular key; those are in the modules that call it:
//!
//! ```text
//! let width_bytes = section.count("width", &WIDTH, ledger)?;
//! ```

use corecast_text::{EntryError, Item, Location, Section as Entries, Text};
use toml::de::{DeTable, DeValue};

use crate::clock::Clock;
use crate::error::ChipError;
use crate::form::{Form, Seen};
use crate::provenance::{self, Ledger, Provenance};

/// Words with what each of them means.
pub(crate) type Choices<T> = &'static [(&'static str, T)];

/// The keys of a number.
const QUANTITY_KEYS: [&str; 5] = ["value", "unit", "kind", "source", "fitted_to"];

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
    written: Item<'a>,
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
        under(&self.path, &self.written)
    }

    pub(crate) fn out_of_range(&self, accepted: impl Into<String>) -> ChipError {
        let error = EntryError::OutOfRange {
            at: self.value_at(),
            found: self.written.written().to_owned(),
            accepted: accepted.into(),
        };
        error.into()
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
                found: self.written.written().to_owned(),
                accepted,
            }),
            Number::Float(_) => Err(self.out_of_range(accepted)),
        }
    }
}

/// A table of the file, with the path that led to it.
pub(crate) struct Section<'a> {
    entries: Entries<'a>,
    /// What is asked for, for the list of all keys.
    seen: &'a Seen,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(crate) fn root(text: &'a Text<'a>, table: &'a DeTable<'a>, seen: &'a Seen) -> Self {
        let entries = Entries::root(text, table);
        Self { entries, seen }
    }

    fn under(&self, entries: Entries<'a>) -> Self {
        let seen = self.seen;
        Self { entries, seen }
    }

    /// Notes what may stand under a key.
    fn note(&self, key: &str, form: impl FnOnce() -> Form) {
        self.seen.note(self.entries.path_of(key), form);
    }

    /// The path of the table's key; empty for the whole file.
    pub(crate) fn path(&self) -> &str {
        self.entries.path()
    }

    /// Refuses every key that is not in `keys`.
    pub(crate) fn accept(&self, keys: &[&'static str]) -> Result<(), ChipError> {
        Ok(self.entries.accept(keys)?)
    }

    /// The table under `key`.
    pub(crate) fn table(&self, key: &'static str) -> Result<Section<'a>, ChipError> {
        let form = format!("[{}]", self.entries.path_of(key));
        Ok(self.under(self.entries.need(key, &form)?.section()?))
    }

    /// The refusal of a file without any clock.
    pub(crate) fn no_clock(&self) -> ChipError {
        ChipError::NoClock {
            at: self.place("clocks"),
        }
    }

    /// Every entry as a table, with its name, in file order.
    pub(crate) fn tables(&self) -> Result<Vec<(&'a str, Section<'a>)>, ChipError> {
        let named = self.entries.entries().map(|(mut at, name, item)| {
            if !is_name(name) {
                self.path().clone_into(&mut at.key);
                let found = name.to_owned();
                return Err(ChipError::BadName { at, found });
            }
            Ok((name, self.under(item.section()?)))
        });
        named.collect()
    }

    /// The text under `key`, which must say something.
    pub(crate) fn text(&self, key: &'static str) -> Result<String, ChipError> {
        match self.optional_text(key)? {
            Some((text, _)) => Ok(text.to_owned()),
            None => Err(self.entries.missing(key, format!("{key} = \"...\"")).into()),
        }
    }

    /// The text under `key` that is used as a name.
    pub(crate) fn name(&self, key: &'static str) -> Result<String, ChipError> {
        let name = self.text(key)?;
        if is_name(&name) {
            return Ok(name);
        }
        let at = self.place(key);
        Err(ChipError::BadName { at, found: name })
    }

    pub(crate) fn optional_text(
        &self,
        key: &str,
    ) -> Result<Option<(&'a str, Item<'a>)>, ChipError> {
        self.note(key, || Form::Text);
        let Some(item) = self.entries.item(key) else {
            return Ok(None);
        };
        let form = || format!("{key} = \"...\"");
        let DeValue::String(text) = item.value() else {
            return Err(item.wrong_type("a text in quotes", form()).into());
        };
        if text.trim().is_empty() {
            let (at, form) = (item.place(), form());
            return Err(ChipError::Empty { at, form });
        }
        Ok(Some((text, item)))
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
            let form = format!("{key} = {}", words.join(" or "));
            self.entries.missing(key, form).into()
        })
    }

    /// What the word under `key` means, if there is one.
    pub(crate) fn optional_choice<T: Copy>(
        &self,
        key: &str,
        choices: Choices<T>,
    ) -> Result<Option<T>, ChipError> {
        self.note(key, || Form::words(choices));
        match self.optional_text(key)? {
            Some((_, item)) => Ok(Some(item.choice(choices)?)),
            None => Ok(None),
        }
    }

    /// The texts in the list under `key`, each as `read` understands it; `accepted` says how.
    pub(crate) fn list<T>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Option<T>,
        accepted: &str,
    ) -> Result<Vec<T>, ChipError> {
        self.note(key, || Form::Texts);
        let form = format!("{key} = [\"...\", \"...\"]");
        let list = self.entries.need(key, &form)?;
        let items = list
            .elements()
            .ok_or_else(|| list.wrong_type("a list of texts", form))?;
        let found: Option<Vec<T>> = items
            .iter()
            .map(|item| item.value().as_str().and_then(&read))
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
        self.entries.has(key)
    }

    /// The place of the value of `key`, or of its table if it is not written.
    pub(crate) fn place(&self, key: &str) -> Box<Location> {
        self.entries.place(key)
    }

    /// The refusal of what is written under `key`; of a number, of its value.
    pub(crate) fn refuse(&self, key: &str, accepted: impl Into<String>) -> ChipError {
        let item = self.entries.item(key);
        let written = item.map_or("", |item| {
            let value = item.section().ok().and_then(|table| table.item("value"));
            value.unwrap_or(item).written()
        });
        let error = EntryError::OutOfRange {
            at: self.place(key),
            found: written.to_owned(),
            accepted: accepted.into(),
        };
        error.into()
    }

    /// The clock named under `key`.
    pub(crate) fn clock(&self, key: &'static str, clocks: &[Clock]) -> Result<Clock, ChipError> {
        self.note(key, || Form::Clock);
        let Some((found, item)) = self.optional_text(key)? else {
            let name = clocks.first().map_or("...", |clock| &clock.name);
            return Err(self
                .entries
                .missing(key, format!("{key} = \"{name}\""))
                .into());
        };
        let clock = clocks.iter().find(|clock| clock.name == found);
        clock.cloned().ok_or_else(|| ChipError::UnknownClock {
            at: item.place(),
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
        self.note(key, || Form::Whole {
            unit: rule.unit,
            min: rule.min,
            max: rule.max,
        });
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
        self.note(key, || Form::Number { units });
        let form = format!("{key} = {}", quantity_form("...", units));
        let item = self.entries.need(key, &form)?;
        if Number::read(item.value()).is_some() {
            return Err(ChipError::NoProvenance {
                at: item.place(),
                missing: "",
                form: format!("{key} = {}", quantity_form(item.written(), units)),
            });
        }
        let DeValue::Table(_) = item.value() else {
            return Err(item.wrong_type("a number with its provenance", form).into());
        };
        let fields = self.under(item.section()?);
        fields.accept(&QUANTITY_KEYS)?;
        fields.as_quantity(key, item.span().start, units)
    }

    /// This table as a number. `offset` is where it begins.
    fn as_quantity(
        &self,
        key: &'static str,
        offset: usize,
        units: &'static [&'static str],
    ) -> Result<Quantity<'a>, ChipError> {
        let value = self.entries.need("value", "value = ...")?;
        let Some(number) = Number::read(value.value()) else {
            return Err(value.wrong_type("a number", "value = ...").into());
        };
        let no_provenance = |missing| ChipError::NoProvenance {
            at: self.entries.begin(),
            missing,
            form: format!("{key} = {}", quantity_form(value.written(), units)),
        };
        let Some((unit, unit_item)) = self.optional_text("unit")? else {
            return Err(ChipError::NoUnit {
                at: self.entries.begin(),
                accepted: units,
            });
        };
        let Some(&unit) = units.iter().find(|&&accepted| accepted == unit) else {
            return Err(ChipError::WrongUnit {
                at: under(self.path(), &unit_item),
                found: unit.to_owned(),
                accepted: units,
            });
        };
        let kind = self.optional_choice("kind", provenance::KINDS)?;
        let kind = kind.ok_or_else(|| no_provenance(": `kind` is missing"))?;
        let source = self.optional_text("source")?;
        let (source, _) = source.ok_or_else(|| no_provenance(": `source` is missing"))?;
        let fitted_to = self.optional_text("fitted_to")?;
        let at = || self.entries.begin();
        match (kind, &fitted_to) {
            (Provenance::Fitted, None) => return Err(ChipError::NotFittedTo { at: at() }),
            (Provenance::Fitted, Some(_)) | (_, None) => {}
            (kind, Some(_)) => return Err(ChipError::StrayFittedTo { at: at(), kind }),
        }
        Ok(Quantity {
            written: value,
            offset,
            path: self.path().to_owned(),
            value: number,
            unit,
            kind,
            source: source.to_owned(),
            fitted_to: fitted_to.map(|(points, _)| points.to_owned()),
        })
    }
}

/// The place of one of a number's fields, called by the number's path.
fn under(path: &str, field: &Item<'_>) -> Box<Location> {
    let mut at = field.place();
    path.clone_into(&mut at.key);
    at
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
