// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of all formats, and the way from a text to its schedule.
//!
//! ```
//! use corecast_exchange::{FORMATS, find_format};
//! assert_eq!(find_format("msccl").unwrap().extension(), "xml");
//! assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
//! ```

use crate::chakra::Chakra;
use crate::error::{Fault, FileError};
use crate::format::{Format, Imported};
use crate::goal::{Goal, GoalBinary};
use crate::msccl::Msccl;
use crate::mscclpp::Mscclpp;
use crate::own::Own;
use crate::teccl::Teccl;

/// Every format.
pub static FORMATS: [&dyn Format; 7] =
    [&Own, &Msccl, &Goal, &GoalBinary, &Teccl, &Mscclpp, &Chakra];

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

/// The format that contents look like.
#[must_use]
pub fn format_of(contents: &[u8]) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|format| format.is(contents))
}

/// Reads a schedule in the format given, or in that which the contents look like; `file` is its name
/// for messages. Of a format with a file per rank the contents are those of all, in order.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn read(
    file: &str,
    contents: impl AsRef<[u8]>,
    format: Option<&'static dyn Format>,
) -> Result<Imported, FileError> {
    let contents = contents.as_ref();
    match format.or_else(|| format_of(contents)) {
        Some(format) => format.read(file, contents),
        None => {
            let formats = FORMATS.map(Format::name).join(", ");
            let wrong = "this is no schedule in a format that is known here";
            let right = format!("formats: {formats}; `corecast schedule 1` begins one of our own");
            Err(Fault::whole(wrong, right).in_file(file))
        }
    }
}
