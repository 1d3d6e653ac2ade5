// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of several collectives, as a library reads them that is told where they are.
//!
//! A path names one table's file, or a folder in which every file that ends in `.toml` is one. In the
//! place of a path may stand the name of a chip for whose programs tables come with corecast, or
//! [`NONE`].

use std::fs;
use std::path::Path;

use corecast_core::{Collective, Help};
use corecast_text::file::{self, ReadError};
use thiserror::Error;

use crate::error::TableError;
use crate::read::FILE_BYTES_MAX;
use crate::shipped;
use crate::table::Table;

/// In the place of a path: no tables.
pub const NONE: &str = "none";

/// At most one table per collective, each with its file.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Tables {
    tables: Vec<(String, Table)>,
    /// The chip whose tables, of those that come with corecast, have the collectives that are not above.
    shipped: Option<&'static str>,
}

/// Why tables could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TablesError {
    /// A file or folder that cannot be read.
    #[error("cannot read the table `{path}`: {why}")]
    Unread {
        /// Which.
        path: String,
        /// Why not.
        why: String,
    },
    /// A file that is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A folder without tables.
    #[error("the folder `{path}` has no table")]
    Empty {
        /// Which.
        path: String,
    },
    /// Two tables for the same collective.
    #[error("`{first}` and `{second}` are both tables of {collective}")]
    Twice {
        /// The first file.
        first: String,
        /// The second.
        second: String,
        /// The collective.
        collective: Collective,
    },
}

impl Help for TablesError {
    fn help(&self) -> String {
        match self {
            Self::Unread { .. } | Self::Empty { .. } => {
                "`corecast tune COLLECTIVE --machine host -o FILE.toml` writes one (`--machine mpi` for \
                 programs on a simulated chip; below another MPI `corecast coll PROGRAM --tune` does)"
                    .to_owned()
            }
            Self::Table(error) => error.help(),
            Self::Twice { .. } => "keep one of them".to_owned(),
        }
    }
}

impl Tables {
    /// One table, with the name of its file.
    #[must_use]
    pub fn one(file: &str, table: Table) -> Self {
        Self {
            tables: vec![(file.to_owned(), table)],
            shipped: None,
        }
    }

    /// The collectives of which tables come with corecast.
    pub const SHIPPED_COLLECTIVES: [Collective; 9] = shipped::COLLECTIVES;

    /// The names of the chips for whose programs tables come with corecast.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        shipped::names()
    }

    /// Those that come with corecast for programs on the chip of this name.
    #[must_use]
    pub fn shipped(chip: &str) -> Option<Self> {
        let shipped = shipped::of(chip)?;
        Some(Self {
            tables: Vec::new(),
            shipped: Some(shipped.chip),
        })
    }

    /// All of them, each with its file: those that were read, in the order in which they were, and those
    /// that come with corecast.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Table)> {
        let read = self.tables.iter().map(|(file, table)| (&file[..], table));
        let shipped = shipped::COLLECTIVES.iter().filter_map(|&one| {
            let is_read = self
                .tables
                .iter()
                .any(|(_, table)| table.setting().collective == one);
            self.of(one).filter(|_| !is_read)
        });
        read.chain(shipped)
    }

    /// Those that were read from files.
    pub fn read(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().map(|(_, table)| table)
    }

    /// Those in a file or a folder, or those that a word means.
    ///
    /// # Errors
    /// See [`TablesError`].
    pub fn load(path: &str) -> Result<Self, TablesError> {
        let mut all = Self::default();
        if path == NONE {
            return Ok(all);
        }
        if let Some(shipped) = Self::shipped(path) {
            return Ok(shipped);
        }
        if !Path::new(path).is_dir() {
            all.add(path.to_owned())?;
            return Ok(all);
        }
        let unread = |error: std::io::Error| TablesError::Unread {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(unread)? {
            let file = entry.map_err(unread)?.path();
            if file
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                files.push(file.to_string_lossy().into_owned());
            }
        }
        // Whatever the order in which the system names them.
        files.sort();
        for file in files {
            all.add(file)?;
        }
        match all.tables.is_empty() {
            true => Err(TablesError::Empty {
                path: path.to_owned(),
            }),
            false => Ok(all),
        }
    }

    fn add(&mut self, path: String) -> Result<(), TablesError> {
        let unread = |why: String| TablesError::Unread {
            path: path.clone(),
            why,
        };
        let bytes = file::read(&path, FILE_BYTES_MAX as u64);
        let bytes = bytes.map_err(|error: ReadError| unread(error.to_string()))?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| unread("it is not UTF-8 text".to_owned()))?;
        let table = Table::parse(&text, &path)?;
        let collective = table.setting().collective;
        if let Some((first, _)) = self.of(collective) {
            return Err(TablesError::Twice {
                first: first.to_owned(),
                second: path,
                collective,
            });
        }
        self.tables.push((path, table));
        Ok(())
    }

    /// The table of a collective, and its file.
    #[must_use]
    pub fn of(&self, collective: Collective) -> Option<(&str, &Table)> {
        let mut tables = self.tables.iter();
        let found = tables.find(|(_, table)| table.setting().collective == collective);
        let found = found.map(|(file, table)| (&file[..], table));
        let shipped = || self.shipped.and_then(shipped::of);
        found.or_else(|| shipped()?.table(collective))
    }
}
