//! From the text of a table's file to a [`Table`], with errors that know their line.

use std::collections::BTreeMap;

use corecast_core::request::RANKS_MAX;
use corecast_core::{Algorithm, Collective, ElementType, FlowControl, algorithm, status};
use corecast_text::{Location, type_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::TableError;
use crate::table::{Cell, FORMAT, Setting, Table};

/// Most bytes of a table's file: 16 MiB, some hundred thousand cells.
pub const FILE_BYTES_MAX: usize = 16 << 20;

/// Largest time of a cell, in cycles or nanoseconds, and largest size in bytes: up to here every
/// whole number is exact as a floating-point one.
pub const NUMBER_MAX: u64 = 1 << 53;

const KEYS: &[&str] = &[
    "format",
    "corecast",
    "chip",
    "fingerprint",
    "collective",
    "root",
    "dtype",
    "fidelity",
    "flow_control",
    "status_bits",
    "arity",
    "algorithms",
    "cell",
];

const CELL_KEYS: &[&str] = &[
    "ranks",
    "bytes",
    "algorithm",
    "part_bytes",
    "piece_bytes",
    "cycles",
    "ns",
];

impl Table {
    /// Reads a table from the text of its file; `file` is how errors call it.
    ///
    /// # Errors
    /// The first thing wrong with it, as a [`TableError`].
    pub fn parse(text: &str, file: &str) -> Result<Self, TableError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(TableError::TooLarge {
                file: file.to_owned(),
                bytes_max: FILE_BYTES_MAX,
            });
        }
        let text = Text::new(file, text);
        let document = DeTable::parse(text.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            TableError::Syntax {
                at: text.at(offset, ""),
                column: text.column(offset),
                message: error.message().trim().replace('\n', "; "),
            }
        })?;
        let root = Section {
            text: &text,
            name: "",
            offset: 0,
            table: document.get_ref(),
        };
        read(&root)
    }
}

fn read(root: &Section<'_>) -> Result<Table, TableError> {
    // First of all, because other forms have other keys.
    let form = root.whole("format", FORMAT, NUMBER_MAX)?;
    if form != FORMAT {
        return Err(TableError::Format {
            at: root.place("format"),
            found: form.to_string(),
            accepted: FORMAT,
        });
    }
    root.accept(KEYS)?;
    let setting = setting(root)?;
    let collective = setting.collective;
    let mut table = Table::new(setting);
    let mut lines: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    for section in root.cells()? {
        let cell = cell(&section, collective)?;
        let (ranks, bytes) = (cell.ranks, cell.bytes);
        let at = section.text.at(section.offset, "cell");
        if let Some(&first_line) = lines.get(&(ranks, bytes)) {
            return Err(TableError::Duplicate {
                at,
                ranks,
                bytes,
                first_line,
            });
        }
        lines.insert((ranks, bytes), at.line);
        table.insert(cell);
    }
    Ok(table)
}

fn setting(root: &Section<'_>) -> Result<Setting, TableError> {
    let collectives = Collective::ALL.map(|collective| (collective.name(), collective));
    let dtypes = ElementType::ALL.map(|dtype| (dtype.name(), dtype));
    let collective = root.choice("collective", &collectives)?;
    let fingerprint = root.text("fingerprint")?;
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if fingerprint.len() != 16 || !fingerprint.chars().all(is_digit) {
        return Err(root.refuse("fingerprint", "16 of the characters 0-9 and a-f"));
    }
    let only_if = |key: &str, is_asked: bool| match root.has(key) && !is_asked {
        true => Err(TableError::Stray {
            at: root.place(key),
            collective: collective.name(),
        }),
        false => Ok(is_asked),
    };
    let root_rank = match only_if("root", collective.is_rooted())? {
        true => Some(root.whole("root", 0, u64::from(RANKS_MAX) - 1)? as u32),
        false => None,
    };
    let dtype = match only_if("dtype", collective.is_reduction())? {
        true => Some(root.choice("dtype", &dtypes)?),
        false => None,
    };
    let fidelity = match root.has("fidelity") {
        true => Some(root.text("fidelity")?.to_owned()),
        false => None,
    };
    Ok(Setting {
        corecast: root.text("corecast")?.to_owned(),
        chip: root.text("chip")?.to_owned(),
        fingerprint: fingerprint.to_owned(),
        collective,
        root: root_rank,
        dtype,
        fidelity,
        flow_control: root.choice("flow_control", &FlowControl::ALL)?,
        status_bits: root.whole("status_bits", 1, u64::from(status::BITS_MAX))? as u32,
        arity: root.whole("arity", 2, u64::from(u32::MAX))? as u32,
        algorithms: root.algorithms("algorithms", collective)?,
    })
}

fn cell(section: &Section<'_>, collective: Collective) -> Result<Cell, TableError> {
    section.accept(CELL_KEYS)?;
    let algorithms = names(collective).map(|name| (name, name));
    let optional = |key| match section.has(key) {
        true => section.whole(key, 1, NUMBER_MAX).map(Some),
        false => Ok(None),
    };
    Ok(Cell {
        ranks: section.whole("ranks", 1, u64::from(RANKS_MAX))? as u32,
        bytes: section.whole("bytes", 0, NUMBER_MAX)?,
        algorithm: section.choice("algorithm", &algorithms.collect::<Vec<_>>())?,
        part_bytes: optional("part_bytes")?,
        piece_bytes: optional("piece_bytes")?,
        cycles: section.time("cycles")?,
        ns: section.time("ns")?,
    })
}

/// The names of a collective's algorithms.
fn names(collective: Collective) -> impl Iterator<Item = &'static str> {
    algorithm::of(collective).map(Algorithm::name)
}

/// The text being read.
struct Text<'a> {
    file: &'a str,
    text: &'a str,
    /// Offsets of its line feeds; a table has many lines, and every cell asks for its own.
    newlines: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
        }
    }

    /// The place of a byte offset, for `key`.
    fn at(&self, offset: usize, key: &str) -> Box<Location> {
        let before = self.newlines.partition_point(|&newline| newline < offset);
        Box::new(Location {
            file: self.file.to_owned(),
            line: before as u32 + 1, // a file has at most `FILE_BYTES_MAX` lines
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
}

/// A table of the file.
struct Section<'a> {
    text: &'a Text<'a>,
    /// Empty for the whole file.
    name: &'static str,
    offset: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    fn path(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    fn at(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Box<Location> {
        self.text.at(value.span().start, &self.path(key))
    }

    /// The place of the value of `key`, or of its table if it is not written.
    fn place(&self, key: &str) -> Box<Location> {
        let value = self.table.get(key);
        value.map_or_else(
            || self.text.at(self.offset, &self.path(key)),
            |value| self.at(value, key),
        )
    }

    fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Refuses every key that is not in `keys`.
    fn accept(&self, keys: &'static [&'static str]) -> Result<(), TableError> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !keys.contains(&key.get_ref().as_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else {
            return Ok(());
        };
        Err(TableError::UnknownKey {
            at: self
                .text
                .at(first.span().start, &self.path(first.get_ref())),
            table: self.name,
            found: first.get_ref().to_string(),
            accepted: keys,
        })
    }

    /// The value under `key`; `form` is what to write if there is none.
    fn value(&self, key: &'static str, form: &str) -> Result<&'a Spanned<DeValue<'a>>, TableError> {
        self.table.get(key).ok_or_else(|| TableError::MissingKey {
            at: self.place(key),
            table: self.name,
            key,
            form: form.to_owned(),
        })
    }

    fn wrong_type(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        expected: &'static str,
        form: String,
    ) -> TableError {
        TableError::WrongType {
            at: self.at(value, key),
            expected,
            found: type_name(value.get_ref()),
            form,
        }
    }

    /// The refusal of what is written under `key`.
    fn refuse(&self, key: &str, accepted: impl Into<String>) -> TableError {
        let value = self.table.get(key);
        let written = value.and_then(|value| self.text.text.get(value.span()));
        TableError::OutOfRange {
            at: self.place(key),
            found: written.unwrap_or_default().to_owned(),
            accepted: accepted.into(),
        }
    }

    /// The whole number under `key`.
    fn whole(&self, key: &'static str, min: u64, max: u64) -> Result<u64, TableError> {
        let form = format!("{key} = {min}");
        let value = self.value(key, &form)?;
        let accepted = || format!("whole numbers from {min} to {max}");
        match value.get_ref() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|number| (min..=max).contains(number))
                .ok_or_else(|| self.refuse(key, accepted())),
            DeValue::Float(_) => Err(self.refuse(key, accepted())),
            _ => Err(self.wrong_type(value, key, "a whole number", form)),
        }
    }

    /// The time under `key`, in whatever unit: not negative, with or without a decimal point.
    fn time(&self, key: &'static str) -> Result<f64, TableError> {
        let value = self.value(key, &format!("{key} = 0"))?;
        let number = match value.get_ref() {
            DeValue::Integer(_) => return self.whole(key, 0, NUMBER_MAX).map(|n| n as f64),
            DeValue::Float(float) => float.as_str().parse().unwrap_or(f64::NAN),
            _ => return Err(self.wrong_type(value, key, "a number", format!("{key} = 0"))),
        };
        // NaN compares false, so this refuses it too; `-0.0` is no time anybody writes.
        let is_time = (0.0..=NUMBER_MAX as f64).contains(&number) && number.is_sign_positive();
        match is_time {
            true => Ok(number),
            false => Err(self.refuse(key, format!("numbers from 0 to {NUMBER_MAX}"))),
        }
    }

    /// The text under `key`, which must say something.
    fn text(&self, key: &'static str) -> Result<&'a str, TableError> {
        let form = format!("{key} = \"...\"");
        let value = self.value(key, &form)?;
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                Err(self.refuse(key, "a text that says something"))
            }
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type(value, key, "a text in quotes", form)),
        }
    }

    /// What the word under `key` means.
    fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, TableError> {
        let found = self.text(key)?;
        let choice = choices.iter().find(|(word, _)| *word == found);
        choice
            .map(|&(_, choice)| choice)
            .ok_or_else(|| TableError::UnknownName {
                at: self.place(key),
                found: found.to_owned(),
                accepted: choices.iter().map(|&(word, _)| word).collect(),
            })
    }

    /// The list of algorithms under `key`.
    fn algorithms(
        &self,
        key: &'static str,
        collective: Collective,
    ) -> Result<Vec<&'static str>, TableError> {
        let form = format!("{key} = [\"...\"]");
        let value = self.value(key, &form)?;
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.wrong_type(value, key, "a list of names", form));
        };
        let name = |value: &Spanned<DeValue<'_>>| {
            let DeValue::String(found) = value.get_ref() else {
                return Err(self.wrong_type(value, key, "a list of names", form.clone()));
            };
            names(collective)
                .find(|name| name == found)
                .ok_or_else(|| TableError::UnknownName {
                    at: self.at(value, key),
                    found: found.to_string(),
                    accepted: names(collective).collect(),
                })
        };
        list.iter().map(name).collect()
    }

    /// Every `[[cell]]`; a table may have none.
    fn cells(&self) -> Result<Vec<Section<'a>>, TableError> {
        let Some(value) = self.table.get("cell") else {
            return Ok(Vec::new());
        };
        let refuse = |value| {
            let form = "[[cell]]".to_owned();
            self.wrong_type(value, "cell", "a list of tables", form)
        };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(refuse(value));
        };
        let section = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::Table(table) => Ok(Section {
                text: self.text,
                name: "cell",
                offset: value.span().start,
                table,
            }),
            _ => Err(refuse(value)),
        };
        list.iter().map(section).collect()
    }
}
