// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the text of a table's file to a [`Table`], with errors that know their line.

use std::collections::BTreeMap;

use corecast_core::request::RANKS_MAX;
use corecast_core::{Algorithm, Collective, ElementType, FlowControl, algorithm, tuning};
use corecast_text::{EntryError, Item, Section, Text};
use toml::de::DeValue;

use crate::error::TableError;
use crate::table::{BOARDS, Cell, FORMAT, LIBRARY, SIM, Setting, Table};

/// Most bytes of a table's file: 16 MiB, some hundred thousand cells.
pub const FILE_BYTES_MAX: usize = 16 << 20;

/// Largest time of a cell, in cycles or nanoseconds, and largest size in bytes: up to here every
/// whole number is exact as a floating-point one.
pub const NUMBER_MAX: u64 = 1 << 53;

const KEYS: &[&str] = &[
    "format",
    "corecast",
    "machine",
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
        let document = text.parse("`corecast tune -o FILE` writes tables")?;
        read(&Section::root(&text, document.get_ref()))
    }
}

fn read(root: &Section<'_>) -> Result<Table, TableError> {
    // First of all, because other forms have other keys.
    let form = root.whole("format", FORMAT..=NUMBER_MAX)?;
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
    for section in cells(root)? {
        let cell = cell(&section, collective)?;
        let (ranks, bytes) = (cell.ranks, cell.bytes);
        let at = section.begin();
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
        let accepted = "16 of the characters 0-9 and a-f";
        return Err(root
            .entry("fingerprint", "\"...\"")?
            .refuse(accepted)
            .into());
    }
    let only_if = |key: &str, is_asked: bool| match root.has(key) && !is_asked {
        true => Err(TableError::Stray {
            at: root.place(key),
            collective: collective.name(),
        }),
        false => Ok(is_asked),
    };
    let root_rank = match only_if("root", collective.is_rooted())? {
        true => Some(root.whole("root", 0..=u64::from(RANKS_MAX) - 1)? as u32),
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
    let machine = match root.has("machine") {
        true => root.text("machine")?,
        false => SIM,
    };
    Ok(Setting {
        corecast: root.text("corecast")?.to_owned(),
        machine: machine.to_owned(),
        chip: root.text("chip")?.to_owned(),
        fingerprint: fingerprint.to_owned(),
        collective,
        root: root_rank,
        dtype,
        fidelity,
        flow_control: root.choice("flow_control", &FlowControl::ALL)?,
        status_bits: root.whole("status_bits", 1..=u64::from(tuning::STATUS_BITS_MAX))? as u32,
        arity: root.whole("arity", 2..=u64::from(u32::MAX))? as u32,
        algorithms: algorithms(root, collective)?,
    })
}

fn cell(section: &Section<'_>, collective: Collective) -> Result<Cell, TableError> {
    section.accept(CELL_KEYS)?;
    let ways: Vec<_> = names(collective).map(|name| (name, name)).collect();
    let optional = |key| match section.has(key) {
        true => section.whole(key, 1..=NUMBER_MAX).map(Some),
        false => Ok(None),
    };
    Ok(Cell {
        ranks: section.whole("ranks", 1..=u64::from(RANKS_MAX))? as u32,
        bytes: section.whole("bytes", 0..=NUMBER_MAX)?,
        algorithm: section.choice("algorithm", &ways)?,
        part_bytes: optional("part_bytes")?,
        piece_bytes: optional("piece_bytes")?,
        cycles: match section.has("cycles") {
            true => Some(time(section, "cycles")?),
            false => None,
        },
        ns: time(section, "ns")?,
    })
}

/// The names of a collective's algorithms, and of ways that are none.
fn names(collective: Collective) -> impl Iterator<Item = &'static str> {
    let algorithms = algorithm::of(collective).map(Algorithm::name);
    algorithms.chain([BOARDS, LIBRARY])
}

/// The time under `key`, in whatever unit: not negative, with or without a decimal point.
fn time(section: &Section<'_>, key: &'static str) -> Result<f64, EntryError> {
    let item = section.entry(key, "0")?;
    let number = match item.value() {
        DeValue::Integer(_) => return item.whole(0..=NUMBER_MAX).map(|n| n as f64),
        DeValue::Float(float) => float.as_str().parse().unwrap_or(f64::NAN),
        _ => return Err(item.wrong_type("a number", format!("{key} = 0"))),
    };
    // NaN compares false, so this refuses it too; `-0.0` is no time anybody writes.
    let is_time = (0.0..=NUMBER_MAX as f64).contains(&number) && number.is_sign_positive();
    match is_time {
        true => Ok(number),
        false => Err(item.refuse(format!("numbers from 0 to {NUMBER_MAX}"))),
    }
}

/// The names of the algorithms that were compared.
fn algorithms(root: &Section<'_>, collective: Collective) -> Result<Vec<&'static str>, EntryError> {
    const FORM: &str = "algorithms = [\"...\"]";
    let refuse = |item: &Item<'_>| item.wrong_type("a list of names", FORM);
    let list = root.need("algorithms", FORM)?;
    let name = |item: Item<'_>| {
        let DeValue::String(found) = item.value() else {
            return Err(refuse(&item));
        };
        names(collective)
            .find(|name| name == found)
            .ok_or_else(|| item.unknown_name(found, names(collective).map(str::to_owned).collect()))
    };
    let items = list.elements().ok_or_else(|| refuse(&list))?;
    items.into_iter().map(name).collect()
}

/// Every `[[cell]]`; a table may have none.
fn cells<'a>(root: &Section<'a>) -> Result<Vec<Section<'a>>, EntryError> {
    let Some(list) = root.item("cell") else {
        return Ok(Vec::new());
    };
    let refuse = |item: &Item<'_>| item.wrong_type("a list of tables", "[[cell]]");
    let section = |item: &Item<'a>| item.section().map_err(|_| refuse(item));
    let items = list.elements().ok_or_else(|| refuse(&list))?;
    items.iter().map(section).collect()
}
