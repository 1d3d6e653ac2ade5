// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of all formats, and the way from a file to its program.
//!
//! ```
//! use corecast_replay::{FORMATS, find_format};
//! assert_eq!(find_format("goal").unwrap().extension(), "goal");
//! assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
//! ```

use corecast_exchange::{Fault, FileError};

use crate::allprof::Allprof;
use crate::chakra::Chakra;
use crate::check::check;
use crate::format::{Format, Options, Read};
use crate::goal::{Goal, GoalBinary};
use crate::smpi::Smpi;
use crate::text::Text;

/// Every format. A manifest of SMPI is a list of words, so what is known by its words comes before it.
pub static FORMATS: [&dyn Format; 6] = [&Text, &Goal, &GoalBinary, &Allprof, &Smpi, &Chakra];

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

/// Reads a program in the format that its contents show, and checks it.
///
/// # Errors
/// What is wrong with the file, and where; or with the program in it.
pub fn read(file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
    let Some(format) = format_of(contents) else {
        return Err(unknown(file, contents).in_file(file));
    };
    let mut read = format.read(file, contents, options)?;
    check(&read.graph)?;
    if options.flops.is_some() && !format.counts_operations() {
        let name = format.name();
        let note =
            format!("{name} files have computing as times: a rate of operations changes nothing");
        read.notes.push(note);
    }
    Ok(read)
}

/// Why contents are no program: a schedule has commands of its own.
fn unknown(file: &str, contents: &[u8]) -> Fault {
    if let Some(format) = corecast_exchange::format_of(contents) {
        let wrong = format!("this is a schedule ({}), not a program", format.name());
        let right = format!("`corecast verify {file}` proves it, `corecast run {file}` times it");
        return Fault::whole(wrong, right);
    }
    let formats = FORMATS.map(Format::name).join(", ");
    let wrong = "this is no program in a format that is known here";
    let right = format!("formats: {formats}; `corecast calls 1` begins one of our own");
    Fault::whole(wrong, right)
}
