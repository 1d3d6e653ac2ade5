// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the text of a chip file to a [`Chip`].
//!
//! The top level of the format; every table is read by the module that owns its values.
//!
//! ```
//! use corecast_chip::{Chip, ChipError, EntryError};
//! let error = Chip::parse("name = 'mine'\n[clock]\n", "mine.toml").unwrap_err();
//! assert!(matches!(error, ChipError::Entry(EntryError::UnknownKey { .. })));
//! assert!(error.to_string().starts_with("mine.toml:2: unknown key `clock`"));
//! ```

use corecast_core::request::RANKS_MAX;
use corecast_text::Text;

use crate::chip::Chip;
use crate::clock::Clock;
use crate::contents;
use crate::error::ChipError;
use crate::fingerprint;
use crate::form::Seen;
use crate::kinds::{self, Parts, Source};
use crate::network::NetworkSpec;
use crate::provenance::Ledger;
use crate::read::{Count, Section};
use crate::variant;

/// Most bytes of a chip file: 1 MiB, a thousand times what the built-in chips need.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// One rank per core, so no more than a communicator can have.
const CORES: Count = Count {
    unit: "cores",
    min: 1,
    max: RANKS_MAX as u64,
};

impl Chip {
    /// Reads a chip from the text of its file; `file_name` is how errors call it.
    ///
    /// # Errors
    /// The first thing wrong with it, as a [`ChipError`].
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ChipError> {
        parse(text, file_name, &Seen::default())
    }
}

/// Reads a chip file. `file` is its name in errors, and `seen` learns which keys there are.
pub(crate) fn parse(text: &str, file: &str, seen: &Seen) -> Result<Chip, ChipError> {
    if text.len() > FILE_BYTES_MAX {
        return Err(ChipError::TooLarge {
            file: file.to_owned(),
            bytes_max: FILE_BYTES_MAX,
        });
    }
    let places = Text::new(file, text);
    let document = places.parse("")?;
    if document.get_ref().contains_key("base") {
        let (whole, over) = variant::resolve(text.to_owned(), file.to_owned())?;
        let chip =
            parse(&whole, &over, seen).map_err(|error| variant::relocate(error, text, file))?;
        let (base, variant) = variant::said(text);
        if !variant.iter().any(|key| key == "name") {
            return Err(variant::without_name(file));
        }
        return Ok(Chip {
            base,
            variant: Some(variant),
            ..chip
        });
    }
    let chip = read(&Section::root(&places, document.get_ref(), seen))?;
    let fingerprint = fingerprint::of(text, document.get_ref(), &chip.numbers);
    Ok(Chip {
        fingerprint,
        words: contents::words(text, document.get_ref()),
        ..chip
    })
}

fn read(root: &Section<'_>) -> Result<Chip, ChipError> {
    let mut keys = vec![
        "name",
        "summary",
        "source",
        "reference_clock",
        "clocks",
        "cores",
        "network",
        "endpoint",
    ];
    keys.extend(kinds::tables());
    root.accept(&keys)?;
    let (name, summary, source) = (
        root.name("name")?,
        root.text("summary")?,
        root.text("source")?,
    );
    let mut ledger = Ledger::default();
    let mut clocks = Vec::new();
    for (name, section) in root.table("clocks")?.tables()? {
        clocks.push(Clock::read(name, &section, &mut ledger)?);
    }
    if clocks.is_empty() {
        return Err(root.no_clock());
    }
    let reference_clock = root.clock("reference_clock", &clocks)?;
    let cores = root.table("cores")?;
    cores.accept(&["max"])?;
    let cores_max = cores.count("max", &CORES, &mut ledger)? as u32; // at most `RANKS_MAX`
    let network_section = root.table("network")?;
    let network = NetworkSpec::read(&network_section, &clocks, cores_max, &mut ledger)?;
    let source_of_kind = Source {
        root,
        network: &network_section,
        endpoint: &root.table("endpoint")?,
        clocks: &clocks,
        cores: cores_max,
    };
    let Parts { endpoint, memory } = kinds::read(&source_of_kind, &network, &mut ledger)?;
    Ok(Chip {
        name,
        summary,
        source,
        reference_clock,
        cores_max,
        network,
        memory,
        endpoint,
        numbers: ledger.into_file_order(),
        words: Vec::new(), // by the caller, as all that follow
        base: None,
        variant: None,
        set: Vec::new(),
        fingerprint: 0,
    })
}
