//! What a format of programs is, and the list of all.
//!
//! ```
//! use corecast_replay::{FORMATS, find_format};
//! assert_eq!(find_format("goal").unwrap().extension(), "goal");
//! assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
//! ```

use std::fmt::Debug;

use corecast_exchange::{Fault, FileError, Unsayable};

use crate::check::check;
use crate::goal::Goal;
use crate::graph::CallGraph;
use crate::smpi::Smpi;
use crate::text::Text;

/// Every format.
pub static FORMATS: [&dyn Format; 3] = [&Text, &Goal, &Smpi];

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

/// A program as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The file.
    pub text: String,
    /// What the program says and the file does not: one line each.
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

    /// Whether contents look like a file of this format.
    fn is(&self, contents: &[u8]) -> bool;

    /// The program in a file, whose name is for messages. It is not checked.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn read(&self, file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError>;

    /// A program as a file of this format.
    ///
    /// # Errors
    /// What the format cannot say.
    fn write(&self, graph: &CallGraph) -> Result<Written, Unsayable>;
}

/// The format of this name.
#[must_use]
pub fn find_format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|format| format.name() == name)
}

/// The format that a file of this name should have.
#[must_use]
pub fn format_of_name(path: &str) -> Option<&'static dyn Format> {
    let (_, extension) = path.rsplit_once('.')?;
    FORMATS
        .into_iter()
        .find(|format| format.extension() == extension)
}

/// Reads a program in the format that its contents show, and checks it.
///
/// # Errors
/// What is wrong with the file, and where; or with the program in it.
pub fn read(file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
    let format = FORMATS.into_iter().find(|format| format.is(contents));
    let Some(format) = format else {
        let formats = FORMATS.map(Format::name).join(", ");
        let wrong = "this is no program in a format that is known here";
        let right = format!("formats: {formats}; `corecast calls 1` begins one of our own");
        return Err(Fault::whole(wrong, right).in_file(file));
    };
    let read = format.read(file, contents, options)?;
    check(&read.graph)?;
    Ok(read)
}
