//! What a format is, and the list of all.
//!
//! ```
//! use corecast_exchange::{FORMATS, find_format};
//! assert_eq!(find_format("msccl").unwrap().extension(), "xml");
//! assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
//! ```

use std::fmt::Debug;

use corecast_core::Schedule;

use crate::error::{Fault, FileError, Unsayable};
use crate::goal::Goal;
use crate::msccl::Msccl;
use crate::own::Own;

/// A schedule that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The schedule.
    pub schedule: Schedule,
    /// What the file says and the schedule does not, or does not say and was chosen: one line each.
    pub notes: Vec<String>,
}

/// A schedule as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The file.
    pub text: String,
    /// What the schedule says and the file does not: one line each.
    pub notes: Vec<String>,
}

/// One way to write a schedule into a file.
pub trait Format: Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// How names of its files end.
    fn extension(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Where it is described.
    fn source(&self) -> &'static str;

    /// Whether a text looks like a file of this format.
    fn is(&self, text: &str) -> bool;

    /// The schedule in a file, whose name is for messages.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn read(&self, file: &str, text: &str) -> Result<Imported, FileError>;

    /// A schedule as a file of this format.
    ///
    /// # Errors
    /// What the format cannot say.
    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable>;
}

/// Every format.
pub static FORMATS: [&dyn Format; 3] = [&Own, &Msccl, &Goal];

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

/// Reads a schedule in the format given, or in that which the text looks like; `file` is its name for
/// messages.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn read(
    file: &str,
    text: &str,
    format: Option<&'static dyn Format>,
) -> Result<Imported, FileError> {
    match format.or_else(|| FORMATS.into_iter().find(|format| format.is(text))) {
        Some(format) => format.read(file, text),
        None => {
            let formats = FORMATS.map(Format::name).join(", ");
            let wrong = "this is no schedule in a format that is known here";
            let right = format!("formats: {formats}; `corecast schedule 1` begins one of our own");
            Err(Fault::whole(wrong, right).in_file(file))
        }
    }
}
