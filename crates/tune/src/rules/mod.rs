// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as the rules of MPI libraries: which of their own algorithms to use for which
//! number of ranks and which size.
//!
//! A table's algorithms are those of the registry; a library has some of them under names or numbers
//! of its own ([`openmpi`], [`mpich`]). Where the algorithm of a cell has no counterpart, the nearest
//! cell of the same number of ranks whose algorithm has one decides, and a note says so; where no cell
//! has one the library chooses itself. Between two cells the border is where [`Table::decide`] has it:
//! in the middle on a logarithmic scale.
//!
//! ```
//! use corecast_tune::{Library, Tables};
//! let text = r#"
//!     format = 1
//!     corecast = "0.1.0"
//!     chip = "host"
//!     fingerprint = "0123456789abcdef"
//!     collective = "bcast"
//!     root = 0
//!     flow_control = "auto"
//!     status_bits = 2
//!     arity = 3
//!     algorithms = ["binomial", "chain"]
//!     cell = [{ranks = 4, bytes = 64, algorithm = "binomial", ns = 100},
//!             {ranks = 4, bytes = 4096, algorithm = "chain", ns = 900}]
//! "#;
//! let tables = Tables::one("bcast.toml", corecast_tune::Table::parse(text, "bcast.toml")?);
//! let rules = Library::OpenMpi.rules(&tables).unwrap();
//! assert!(rules.text.contains("\n513 2 1 0"), "chain from 513 bytes on: {}", rules.text);
//! # Ok::<(), corecast_tune::TableError>(())
//! ```

mod mpich;
mod openmpi;

use corecast_core::{Collective, Help};
use thiserror::Error;

use crate::table::{Cell, Table};
use crate::tables::Tables;

/// A library that reads rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// The dynamic rules of Open MPI's component `coll_tuned`, versions 4 to 6.
    OpenMpi,
    /// The JSON selection file of MPICH, version 5.
    Mpich,
}

/// Rules as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// The file.
    pub text: String,
    /// What tables say and the file does not: one line each.
    pub notes: Vec<String>,
}

/// A library has none of the algorithms of the tables.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{library} has none of the algorithms in these tables")]
pub struct NoRules {
    /// The library.
    pub library: &'static str,
    /// What it has for each collective of the tables.
    has: String,
}

impl Help for NoRules {
    fn help(&self) -> String {
        self.has.clone()
    }
}

impl Library {
    /// Every library.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// Its name in texts.
    const fn title(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    /// How it is told of the file at `path`, as it is typed.
    #[must_use]
    pub fn usage(self, path: &str) -> String {
        match self {
            Self::OpenMpi => format!(
                "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_priority 100 --mca \
                 coll_tuned_dynamic_rules_filename {path}"
            ),
            // The device's own collectives would be asked first.
            Self::Mpich => format!(
                "MPIR_CVAR_DEVICE_COLLECTIVES=none MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={path}"
            ),
        }
    }

    /// The rules that follow from tables.
    ///
    /// # Errors
    /// If no algorithm of them has a counterpart.
    pub fn rules(self, tables: &Tables) -> Result<Rules, NoRules> {
        let has: fn(Collective, &Cell) -> bool = match self {
            Self::OpenMpi => openmpi::has,
            Self::Mpich => mpich::has,
        };
        let (mut sets, mut notes) = (Vec::new(), Vec::new());
        for (_, table) in tables.all() {
            let collective = table.setting().collective;
            let rows = rows(table, |cell| has(collective, cell), self, &mut notes);
            if !rows.is_empty() {
                sets.push((collective, rows));
            }
        }
        if sets.is_empty() {
            let lines = tables.all().map(|(_, table)| {
                let collective = table.setting().collective;
                let names = self.algorithms(collective);
                let names = if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                };
                format!("{} has for {collective}: {names}", self.title())
            });
            let lines: Vec<String> = lines.collect();
            return Err(NoRules {
                library: self.title(),
                has: lines.join("\n"),
            });
        }
        let text = match self {
            Self::OpenMpi => openmpi::text(&sets),
            Self::Mpich => mpich::text(&sets, &mut notes),
        };
        Ok(Rules { text, notes })
    }

    /// The algorithms of a collective that it has, too, by our names.
    fn algorithms(self, collective: Collective) -> Vec<&'static str> {
        match self {
            Self::OpenMpi => openmpi::algorithms(collective),
            Self::Mpich => mpich::algorithms(collective),
        }
    }
}

/// What decides from some number of ranks on.
struct Row<'a> {
    /// The fewest ranks for which it does.
    from_ranks: u32,
    /// Cells with the smallest size for which each decides; the first is 0.
    cells: Vec<(u64, &'a Cell)>,
}

/// What decides from where on, in order, with the cells alone that `has` keeps.
fn rows<'a>(
    table: &'a Table,
    has: impl Fn(&Cell) -> bool,
    library: Library,
    notes: &mut Vec<String>,
) -> Vec<Row<'a>> {
    let collective = table.setting().collective;
    let mut missing: Vec<(&'static str, u32)> = Vec::new();
    for cell in table.cells().filter(|cell| !has(cell)) {
        match missing.iter_mut().find(|(name, _)| *name == cell.algorithm) {
            Some((_, count)) => *count += 1,
            None => missing.push((cell.algorithm, 1)),
        }
    }
    for (name, count) in missing {
        let cells = if count == 1 { "cell" } else { "cells" };
        notes.push(format!(
            "{} cannot be told of {name} as it is in {count} {cells} of {collective}: the nearest \
             others decide",
            library.title()
        ));
    }
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut ranks_before = None;
    for (ranks, cells) in table.ranges(has) {
        let from_ranks = match ranks_before {
            None => 0,
            Some(before) => border(u64::from(before), u64::from(ranks)) as u32,
        };
        ranks_before = Some(ranks);
        rows.push(Row { from_ranks, cells });
    }
    rows
}

impl Table {
    /// For every number of ranks the cells that `keeps` keeps, in order of sizes, each with the smallest
    /// size for which it decides among them; the first is 0.
    #[must_use]
    pub fn ranges(&self, keeps: impl Fn(&Cell) -> bool) -> Vec<(u32, Vec<(u64, &Cell)>)> {
        let kept: Vec<&Cell> = self.cells().filter(|cell| keeps(cell)).collect();
        let of_ranks = kept.chunk_by(|a, b| a.ranks == b.ranks).map(|of_ranks| {
            let mut cells: Vec<(u64, &Cell)> = Vec::new();
            for &cell in of_ranks {
                let from = match cells.last() {
                    None => 0,
                    Some((_, before)) => border(before.bytes, cell.bytes),
                };
                cells.push((from, cell));
            }
            (of_ranks[0].ranks, cells)
        });
        of_ranks.collect()
    }
}

/// The smallest number that is nearer to `above` than to `below` on a logarithmic scale.
fn border(below: u64, above: u64) -> u64 {
    let product = u128::from(below.max(1)) * u128::from(above);
    // The root of a product of two such numbers is one again.
    let root = product.isqrt() as u64;
    root.saturating_add(1).min(above)
}

#[cfg(test)]
mod tests {
    use super::border;
    use crate::decide::nearer;

    /// What a library reads decides as the table does, for every size.
    #[test]
    fn ranges_are_what_is_nearest() {
        let all = [0, 1, 2, 3, 8, 9, 40];
        for chosen in 1..1_u32 << all.len() {
            let sizes = (0..).zip(all).filter(|(at, _)| chosen & (1 << at) != 0);
            let sizes: Vec<u64> = sizes.map(|(_, bytes)| bytes).collect();
            let from = sizes.windows(2).map(|pair| border(pair[0], pair[1]));
            let from: Vec<u64> = std::iter::once(0).chain(from).collect();
            for bytes in 0..60 {
                let of_range = from.iter().rposition(|&from| from <= bytes);
                let nearest = sizes
                    .iter()
                    .min_by(|a, b| nearer(bytes, **a, **b).then(a.cmp(b)));
                assert_eq!(
                    of_range.map(|at| &sizes[at]),
                    nearest,
                    "{bytes} of {sizes:?}"
                );
            }
        }
    }

    #[test]
    fn borders_are_where_tables_decide() {
        assert_eq!(border(6, 24), 13, "12 is as near: the smaller");
        assert_eq!([border(0, 1), border(0, 2), border(1, 2)], [1, 2, 2]);
        assert_eq!(border(u64::MAX - 1, u64::MAX), u64::MAX);
    }
}
