// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a format of programs is.

use std::fmt::Debug;

use corecast_exchange::{Exported, FileError, Unsayable};

use crate::graph::CallGraph;

/// Longest file of a program that is read, in bytes: some ten million calls.
pub const FILE_BYTES_MAX: u64 = 1 << 30;

/// How another file is read that a file names: its bytes, or what is wrong in one line.
pub type ReadFile<'a> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'a;

/// What reading needs beside the file.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Operations per second of a rank, for formats that count computing in operations.
    pub flops: Option<f64>,
    /// Reads files that a manifest names, by their paths beside it; none if there is no way to.
    pub read_file: Option<&'a ReadFile<'a>>,
}

impl Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Options({:?} flops)", self.flops)
    }
}

/// A program that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Read {
    /// The program.
    pub graph: CallGraph,
    /// What the file says and the program does not: one line each.
    pub notes: Vec<String>,
}

/// One way to write a program into a file.
pub trait Format: Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// How names of its files end.
    fn extension(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Where it is described.
    fn source(&self) -> &'static str;

    /// Whether there is one file per rank, `NAME.RANK.ENDING`. They are read one behind the other.
    fn has_file_per_rank(&self) -> bool {
        false
    }

    /// Whether computing is counted in operations, so that [`Options::flops`] changes something.
    fn counts_operations(&self) -> bool {
        false
    }

    /// Whether contents look like a file of this format.
    fn is(&self, contents: &[u8]) -> bool;

    /// Files that the contents name, by their paths beside the file.
    fn named<'a>(&self, contents: &'a [u8]) -> Vec<&'a str> {
        let _ = contents;
        Vec::new()
    }

    /// The program in a file, whose name is for messages. It is not checked.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn read(&self, file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError>;

    /// A program as a file of this format.
    ///
    /// # Errors
    /// What the format cannot say.
    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable>;
}
