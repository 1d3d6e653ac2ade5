// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chips that come with corecast, and how a user's word becomes a chip.
//!
//! Built-in chips are the files of the `chips` folder, embedded so that the command line works
//! from anywhere. Adding one is a file and a line in [`BUILTIN`]; a test walks the folder.
//!
//! ```
//! let names: Vec<_> = corecast_chip::builtin_names().collect();
//! assert!(names.contains(&"park2019-bus"));
//! ```

use corecast_text::Location;
use corecast_text::file::ReadError;

use crate::chip::Chip;
use crate::error::ChipError;
use crate::parse::FILE_BYTES_MAX;

/// Name and text of every built-in chip, in alphabetical order.
pub const BUILTIN: &[(&str, &str)] = &[
    (
        "booksim-mesh",
        include_str!("../../../chips/booksim-mesh.toml"),
    ),
    (
        "chung2011-bus",
        include_str!("../../../chips/chung2011-bus.toml"),
    ),
    ("nagam", include_str!("../../../chips/nagam.toml")),
    (
        "park2019-bus",
        include_str!("../../../chips/park2019-bus.toml"),
    ),
    ("scc", include_str!("../../../chips/scc.toml")),
    ("scc-800", include_str!("../../../chips/scc-800.toml")),
    ("tilepro64", include_str!("../../../chips/tilepro64.toml")),
    (
        "tilepro64-operampi",
        include_str!("../../../chips/tilepro64-operampi.toml"),
    ),
];

/// The names of the built-in chips, in alphabetical order.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|&(name, _)| name)
}

impl Chip {
    /// The built-in chip called `name`, if there is one.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        let &(name, text) = BUILTIN.iter().find(|(builtin, _)| *builtin == name)?;
        let chip = Self::parse(text, &format!("chips/{name}.toml"));
        Some(chip.expect("built-in chips are valid; `tests/builtin.rs` reads them all"))
    }
}

/// The chip a user means: the name of a built-in chip, or else the path of a chip file, which
/// contains a `/` or ends in `.toml`; `-` is standard input.
///
/// # Errors
/// [`ChipError::UnknownChip`] if it is neither; [`ChipError::NotFound`],
/// [`ChipError::Unreadable`], [`ChipError::TooLarge`] or [`ChipError::NotUtf8`] if the file cannot
/// be had; otherwise what is wrong with its contents.
pub fn find(name_or_path: &str) -> Result<Chip, ChipError> {
    let (text, file) = text(name_or_path)?;
    Chip::parse(&text, &file)
}

/// The text of a chip's file, by a built-in chip's name or a path, and how errors call the file.
///
/// # Errors
/// [`ChipError`] for a name that no chip has, and for a file that cannot be read.
pub fn text(name_or_path: &str) -> Result<(String, String), ChipError> {
    if let Some(&(name, text)) = BUILTIN.iter().find(|(name, _)| *name == name_or_path) {
        return Ok((text.to_owned(), format!("chips/{name}.toml")));
    }
    let is_path = name_or_path.contains('/') || name_or_path.ends_with(".toml");
    if !is_path && name_or_path != "-" {
        return Err(ChipError::UnknownChip {
            name: name_or_path.to_owned(),
            known: builtin_names().collect(),
        });
    }
    Ok((read_file(name_or_path)?, name_or_path.to_owned()))
}

/// The text of a file of at most [`FILE_BYTES_MAX`] bytes.
fn read_file(path: &str) -> Result<String, ChipError> {
    let file = path.to_owned();
    let bytes = corecast_text::file::read(path, FILE_BYTES_MAX as u64).map_err(|error| {
        let file = path.to_owned();
        match error {
            ReadError::NotFound => ChipError::NotFound { file },
            ReadError::TooLarge { .. } => ChipError::TooLarge {
                file,
                bytes_max: FILE_BYTES_MAX,
            },
            error => ChipError::Unreadable {
                file,
                reason: error.to_string(),
            },
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let newlines = error.as_bytes()[..good]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        ChipError::NotUtf8 {
            at: Box::new(Location {
                file,
                line: newlines as u32 + 1, // at most `FILE_BYTES_MAX` lines
                key: String::new(),
            }),
        }
    })
}
