// SPDX-License-Identifier: MIT OR Apache-2.0
//! The decision table: what it is, how it is written, how two become one.
//!
//! A table says for what it holds ([`Setting`]) and then, cell by cell, which algorithm won there
//! and how long it took. Its text has the cells in order of ranks and bytes, so equal tables have
//! equal texts.
//!
//! Models one winner per rank count and size, found while nothing else went on. Does not model
//! late ranks, transfers under way or other traffic, because a table is asked before any of them
//! is known.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use corecast_core::{Collective, ElementType, FlowControl};
use thiserror::Error;

/// The form of table that is written and read.
pub const FORMAT: u64 = 1;

/// The name of a way that is no algorithm: on a host, ranks that read each other's memory do without
/// messages, and so without a schedule.
pub const BOARDS: &str = "boards";

/// The name of another way that is no algorithm: below another MPI, calls that are left to that library.
pub const LIBRARY: &str = "library";

/// The machine of tables that name none: a chip whose own message layer carries schedules out.
pub const SIM: &str = "sim";

/// The machine of tables for programs on chips: the MPI library's plans over its packets.
pub const MPI: &str = "mpi";

/// The machine of tables for programs of another MPI: our plans over its messages, beside its own
/// collectives.
pub const PMPI: &str = "pmpi";

/// Elements of the reductions that such a table measures; `crates/coll/shim/tune.c` counts in them.
pub const PMPI_DTYPE: ElementType = ElementType::F64;

/// Most bytes of a buffer of a call that such a table measures.
pub const PMPI_BYTES_MAX: u64 = 1 << 28;

/// What a table holds for: everything that may change which algorithm wins, beside the number of
/// ranks and the size.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// Version of corecast that searched; algorithms and models may differ between versions.
    pub corecast: String,
    /// The machine that measured: the same chip under another layer takes other times.
    pub machine: String,
    /// The collective.
    pub collective: Collective,
    /// Name of the chip.
    pub chip: String,
    /// What tells the chip from others, also of the same name: 16 hexadecimal digits.
    pub fingerprint: String,
    /// The root; exactly for collectives that have one.
    pub root: Option<u32>,
    /// Type of the elements; exactly for reductions.
    pub dtype: Option<ElementType>,
    /// How exactly the chip's mesh was simulated; `None` where there is none.
    pub fidelity: Option<String>,
    /// Whether senders waited for their receivers.
    pub flow_control: FlowControl,
    /// Bits per rank of the status register.
    pub status_bits: u32,
    /// Most children per rank in k-ary trees.
    pub arity: u32,
    /// The algorithms that competed.
    pub algorithms: Vec<&'static str>,
}

/// The winner for one rank count and size.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Number of ranks.
    pub ranks: u32,
    /// Size in bytes; of what, [`Collective`] says per variant. 0 for a barrier.
    pub bytes: u64,
    /// The fastest algorithm, or [`BOARDS`] or [`LIBRARY`].
    pub algorithm: &'static str,
    /// The size of parts with which it is; `None`: its own choice.
    pub part_bytes: Option<u64>,
    /// The size of pieces with which it is; `None`: the machine's smallest unit.
    pub piece_bytes: Option<u64>,
    /// Its makespan in cycles of the chip's reference clock; `None` for times of a wall clock.
    pub cycles: Option<f64>,
    /// Its makespan in nanoseconds.
    pub ns: f64,
}

/// One thing that two settings say differently, in the words of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The key.
    pub key: &'static str,
    /// What the table says; `nothing` where it does not have the key.
    pub table: String,
    /// What is asked for.
    pub asked: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, not {}", self.key, self.table, self.asked)
    }
}

/// Cells of two tables that hold for different things cannot be in one.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the table holds for something else: {difference}")]
pub struct Mismatch {
    /// The first thing that differs.
    pub difference: Difference,
}

impl Setting {
    /// Every key with its value, both as written in a file.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let names: Vec<String> = self.algorithms.iter().map(|name| quoted(name)).collect();
        let entries = [
            ("corecast", Some(quoted(&self.corecast))),
            ("machine", Some(quoted(&self.machine))),
            ("collective", Some(quoted(self.collective.name()))),
            ("chip", Some(quoted(&self.chip))),
            ("fingerprint", Some(quoted(&self.fingerprint))),
            ("root", self.root.map(|root| root.to_string())),
            ("dtype", self.dtype.map(|dtype| quoted(dtype.name()))),
            ("fidelity", self.fidelity.as_deref().map(quoted)),
            ("flow_control", Some(quoted(self.flow_control.name()))),
            ("status_bits", Some(self.status_bits.to_string())),
            ("arity", Some(self.arity.to_string())),
            ("algorithms", Some(format!("[{}]", names.join(", ")))),
        ];
        let written = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        written.collect()
    }

    /// What this setting, that of a table, says differently from the one `asked` for.
    #[must_use]
    pub fn differences(&self, asked: &Self) -> Vec<Difference> {
        let (ours, theirs) = (self.entries(), asked.entries());
        let value = |entries: &[(&str, String)], key: &str| {
            let entry = entries.iter().find(|(name, _)| *name == key);
            entry.map_or("nothing".to_owned(), |(_, value)| value.clone())
        };
        let mut keys: Vec<&'static str> = ours.iter().map(|&(key, _)| key).collect();
        for &(key, _) in &theirs {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let both = keys.into_iter().map(|key| Difference {
            key,
            table: value(&ours, key),
            asked: value(&theirs, key),
        });
        both.filter(|both| both.table != both.asked).collect()
    }
}

/// A decision table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    setting: Setting,
    cells: BTreeMap<(u32, u64), Cell>,
}

impl Table {
    /// A table without cells.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        Self {
            setting,
            cells: BTreeMap::new(),
        }
    }

    /// What it holds for.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Its cells in order of ranks and bytes.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.values()
    }

    /// The cell of exactly this rank count and size.
    #[must_use]
    pub fn cell(&self, ranks: u32, bytes: u64) -> Option<&Cell> {
        self.cells.get(&(ranks, bytes))
    }

    /// Adds a cell; one for the same ranks and bytes is replaced and returned.
    pub fn insert(&mut self, cell: Cell) -> Option<Cell> {
        self.cells.insert((cell.ranks, cell.bytes), cell)
    }

    /// Adds the cells of `other` for which this table has none. The chip may have another name
    /// there; its fingerprint counts.
    ///
    /// # Errors
    /// [`Mismatch`], with this table unchanged, if the other holds for something else.
    pub fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        let differences = other.setting.differences(&self.setting).into_iter();
        let mut differences = differences.filter(|difference| difference.key != "chip");
        if let Some(difference) = differences.next() {
            return Err(Mismatch { difference });
        }
        for (key, cell) in other.cells {
            self.cells.entry(key).or_insert(cell);
        }
        Ok(())
    }
}

/// The text of its file: [`Table::parse`] reads it again.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "# The fastest algorithm for every number of ranks and size, by `corecast tune`.\n\
             # Absent sizes of parts and pieces mean the algorithm's own. Times are makespans.\n",
        )?;
        writeln!(f, "format = {FORMAT}")?;
        for (key, value) in self.setting.entries() {
            // What most tables are for is not said.
            if (key, self.setting.machine.as_str()) == ("machine", SIM) {
                continue;
            }
            writeln!(f, "{key} = {value}")?;
        }
        for cell in self.cells.values() {
            writeln!(
                f,
                "\n[[cell]]\nranks = {}\nbytes = {}",
                cell.ranks, cell.bytes
            )?;
            writeln!(f, "algorithm = {}", quoted(cell.algorithm))?;
            let sizes = [
                ("part_bytes", cell.part_bytes),
                ("piece_bytes", cell.piece_bytes),
            ];
            for (key, size) in sizes {
                if let Some(size) = size {
                    writeln!(f, "{key} = {size}")?;
                }
            }
            // Whole numbers without a decimal point; `{}` of an f64 is exact either way.
            if let Some(cycles) = cell.cycles {
                writeln!(f, "cycles = {cycles}")?;
            }
            writeln!(f, "ns = {}", cell.ns)?;
        }
        Ok(())
    }
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a `String` cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
