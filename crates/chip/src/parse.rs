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
use crate::endpoint::EndpointSpec;
use crate::error::ChipError;
use crate::fingerprint;
use crate::memory;
use crate::network::NetworkSpec;
use crate::pronto;
use crate::provenance::Ledger;
use crate::rcce;
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

/// Reads a chip file. `file` is its name in errors.
pub(crate) fn parse(text: &str, file: &str) -> Result<Chip, ChipError> {
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
        let chip = parse(&whole, &over).map_err(|error| variant::relocate(error, text, file))?;
        let (base, variant) = variant::said(text);
        return Ok(Chip {
            base,
            variant: Some(variant),
            ..chip
        });
    }
    let chip = read(&Section::root(&places, document.get_ref()))?;
    let fingerprint = fingerprint::of(text, document.get_ref(), &chip.numbers);
    Ok(Chip {
        fingerprint,
        words: contents::words(text, document.get_ref()),
        ..chip
    })
}

fn read(root: &Section<'_>) -> Result<Chip, ChipError> {
    root.accept(&[
        "name",
        "summary",
        "source",
        "reference_clock",
        "clocks",
        "cores",
        "network",
        "memory",
        "endpoint",
        "core",
    ])?;
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
    let network = NetworkSpec::read(&network_section, &clocks, &mut ledger)?;
    let endpoint_section = root.table("endpoint")?;
    let endpoint = EndpointSpec::read(root, &endpoint_section, &clocks, &mut ledger)?;
    let accepted = match network {
        NetworkSpec::Crossbar(_) => vec!["mpe"],
        NetworkSpec::Mesh(_) => vec!["udn", "rcce", "pronto"],
    };
    if !accepted.contains(&endpoint.kind()) {
        return Err(ChipError::Mismatch {
            at: endpoint_section.place("kind"),
            endpoint: endpoint.kind(),
            network: network.kind(),
            accepted,
        });
    }
    if let NetworkSpec::Mesh(mesh) = &network {
        let (places, why) = match &endpoint {
            EndpointSpec::Pronto(pronto) => {
                let places = pronto::check(&network_section, &endpoint_section, mesh, pronto)?;
                (
                    places,
                    "as the network has places beside the memory and the host",
                )
            }
            _ => (mesh.grid.ranks_max(), "as the network has places"),
        };
        if cores_max != places {
            let accepted = format!("{places} cores, {why}");
            return Err(cores.refuse("max", accepted));
        }
    }
    if root.has("core") && !matches!(endpoint, EndpointSpec::Pronto(_)) {
        return Err(root.refuse("core", "no core: only endpoints of kind pronto have one"));
    }
    let memory = match (&network, &endpoint) {
        (NetworkSpec::Mesh(mesh), EndpointSpec::Rcce(rcce)) => {
            let memory = memory::read(&root.table("memory")?, mesh, &clocks, &mut ledger)?;
            rcce::check(&endpoint_section, rcce, &memory, cores_max)?;
            if mesh.static_hop_cycles.is_some() {
                let accepted = "no static network: endpoints of kind rcce have no use for one";
                return Err(root.table("network")?.refuse("static_hop", accepted));
            }
            Some(memory)
        }
        _ if root.has("memory") => {
            return Err(root.refuse("memory", "no memory: only endpoints of kind rcce have one"));
        }
        _ => None,
    };
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
