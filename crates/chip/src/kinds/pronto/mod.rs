// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tiles with hardware-managed message passing buffers (Pronto), and their cores.
//!
//! ```text
//! [endpoint]
//! kind = "pronto"
//! clock = "tile"
//! memory = "2,4"        # router of the external memory buffer
//! host = "3,4"          # router of the host, which runs no task
//! input, output, status, packet, header, envelope, acknowledgement,
//! setup, copy, request, access, word, external
//!
//! [core]
//! clock = "tile"
//! multiply, add, load, store, branch, parallel
//! ```

mod bound;

use corecast_core::{LinkCost, Request};

use super::kind::{CYCLES, Kind, PACKET, Source};
use crate::clock::Clock;
use crate::error::ChipError;
use crate::facts::{Places, Senders, Unused};
use crate::mesh::Mesh;
use crate::placement::Placement;
use crate::provenance::Ledger;
use crate::read::{Count, Section};

/// Its name in chip files.
pub(super) const NAME: &str = "pronto";

const NO_TREES: &str = "endpoints of kind pronto have no way into a static network";

/// The tiles and their mesh.
pub(super) struct OnMesh<'a> {
    pub mesh: &'a Mesh,
    pub pronto: &'a Pronto,
}

impl Kind for OnMesh<'_> {
    /// Set-up, envelope, acknowledgement and header.
    fn link_cost(&self, reference: &Clock) -> LinkCost {
        let Self { mesh, pronto } = self;
        let (setup, flit) = (pronto.clock.to_ps(pronto.setup_cycles), mesh.flit_ps());
        let flits = pronto.header_flits + pronto.envelope_flits;
        let flits = flit * (flits + pronto.acknowledgement_flits);
        // The envelope, its acknowledgement and the data cross the same hop.
        let hop = mesh.hop_cycles() + mesh.port_cycles();
        let sync = setup + flits + mesh.clock.to_ps(3 * hop);
        let copies = pronto.clock.to_ps(2 * pronto.copy_cycles_per_word);
        let word = reference.cycles_f64(copies + flit);
        LinkCost {
            sync_cycles: reference.cycles_f64(sync.max(1)),
            cycles_per_byte: word / mesh.flit_bytes as f64,
        }
    }

    fn bound_ps(&self, request: &Request) -> u64 {
        bound::ps(self.mesh, self.pronto, request)
    }

    fn defaults(&self) -> Vec<(&'static str, String)> {
        self.mesh.defaults()
    }

    fn unused(&self, _of: Senders) -> Vec<Unused> {
        match self.mesh.static_hop_cycles {
            Some(_) => Unused::because(NO_TREES, &["network.static_hop"]),
            None => Vec::new(),
        }
    }

    fn places(&self) -> Vec<Places> {
        let place = |key, what, at| Places {
            key,
            what,
            at: vec![at],
        };
        vec![
            place(
                "endpoint.memory",
                "the memory buffer stays",
                self.pronto.memory,
            ),
            place("endpoint.host", "the host stays", self.pronto.host),
        ]
    }
}

/// A tile's message passing interface: buffers, their manager, and the engine that moves data
/// between them and local memory.
///
/// A word is a flit. Cycles are those of `clock`.
///
/// # Source
/// Kumar et al. 2012, sections III and IV.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pronto {
    /// The clock of the interface.
    pub clock: Clock,
    /// Router of the external memory buffer, (x, y).
    pub memory: (u32, u32),
    /// Router of the host processor, which runs no task.
    pub host: (u32, u32),
    /// The buffer for messages that arrive, in bytes.
    pub input_bytes: u64,
    /// The buffer for messages that leave, in bytes.
    pub output_bytes: u64,
    /// Messages that the status table describes.
    pub status_entries: u32,
    /// Most words of payload in a packet.
    pub packet_words: u64,
    /// Flits in front of a packet's payload.
    pub header_flits: u64,
    /// Flits of the packet that asks for room.
    pub envelope_flits: u64,
    /// Flits of the packet that grants it, and of the one that says that memory is written.
    pub acknowledgement_flits: u64,
    /// For the core to give a command to the engine.
    pub setup_cycles: u64,
    /// For the engine to move a word between local memory and a buffer.
    pub copy_cycles_per_word: u64,
    /// Flits of a request to the external memory buffer.
    pub request_flits: u64,
    /// From the beginning of a request to its first word in the external memory buffer.
    pub access_cycles: u64,
    /// The external memory buffer's port per word.
    pub memory_cycles_per_word: u64,
    /// Capacity of the external memory buffer in bytes.
    pub external_bytes: u64,
    /// The cores.
    pub core: CoreCosts,
}

/// What operations on words cost a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreCosts {
    /// The clock of the core.
    pub clock: Clock,
    /// A multiplication.
    pub multiply_cycles: u64,
    /// An addition, subtraction, shift, comparison or logic operation.
    pub add_cycles: u64,
    /// A word from local memory.
    pub load_cycles: u64,
    /// A word to local memory.
    pub store_cycles: u64,
    /// A branch.
    pub branch_cycles: u64,
    /// Operations that the core executes at once on average.
    pub parallel: u64,
}

impl Pronto {
    /// Words of `bytes` bytes; a message has at least one.
    #[must_use]
    pub fn words(&self, mesh: &Mesh, bytes: u64) -> u64 {
        mesh.flits(bytes).max(1)
    }

    /// Packets of a message of `words` words.
    #[must_use]
    pub fn packets(&self, words: u64) -> u64 {
        words.div_ceil(self.packet_words)
    }

    /// Flits of a message of `words` words: its packets with their headers.
    #[must_use]
    pub fn message_flits(&self, words: u64) -> u64 {
        words + self.header_flits * self.packets(words)
    }
}

const BUFFER: Count = Count {
    unit: "bytes",
    min: 4,
    max: 1 << 20,
};

const EXTERNAL: Count = Count {
    unit: "bytes",
    min: 4,
    max: 1 << 31,
};

const ENTRIES: Count = Count {
    unit: "messages",
    min: 1,
    max: 4096,
};

const FLITS: Count = Count {
    unit: "flits",
    min: 1,
    max: 64,
};

/// With the longest period and the largest buffers, times still fit into 64 bits.
const PER_WORD: Count = Count {
    unit: "cycles/word",
    min: 0,
    max: 1000,
};

const OPERATIONS: Count = Count {
    unit: "operations",
    min: 1,
    max: 64,
};

/// The mesh takes at most so slow a writer.
const INTERVAL_MAX: u32 = 64;

/// Reads `[endpoint]` and `[core]`, for this mesh.
pub(super) fn read(
    mesh: &Mesh,
    source: &Source<'_>,
    ledger: &mut Ledger,
) -> Result<Pronto, ChipError> {
    let core = source.root.table("core")?;
    let pronto = read_endpoint(source.endpoint, &core, source.clocks, ledger)?;
    let places = check(source.network, source.endpoint, mesh, &pronto)?;
    let why = "as the network has places beside the memory and the host";
    source.places(places, why)?;
    Ok(pronto)
}

/// Reads `[endpoint]` and `[core]`.
fn read_endpoint(
    section: &Section<'_>,
    core: &Section<'_>,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<Pronto, ChipError> {
    section.accept(&[
        "kind",
        "clock",
        "memory",
        "host",
        "input",
        "output",
        "status",
        "packet",
        "header",
        "envelope",
        "acknowledgement",
        "setup",
        "copy",
        "request",
        "access",
        "word",
        "external",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let router = |key| {
        section.parsed(key, "a router as \"x,y\"", |text| {
            let (x, y) = text.split_once(',')?;
            Some((x.trim().parse().ok()?, y.trim().parse().ok()?))
        })
    };
    let (memory, host) = (router("memory")?, router("host")?);
    let mut count = |key, rule| section.count(key, rule, ledger);
    Ok(Pronto {
        clock,
        memory,
        host,
        input_bytes: count("input", &BUFFER)?,
        output_bytes: count("output", &BUFFER)?,
        status_entries: count("status", &ENTRIES)? as u32, // at most 4096
        packet_words: count("packet", &PACKET)?,
        header_flits: count("header", &FLITS)?,
        envelope_flits: count("envelope", &FLITS)?,
        acknowledgement_flits: count("acknowledgement", &FLITS)?,
        setup_cycles: count("setup", &CYCLES)?,
        copy_cycles_per_word: count("copy", &PER_WORD)?,
        request_flits: count("request", &FLITS)?,
        access_cycles: count("access", &CYCLES)?,
        memory_cycles_per_word: count("word", &PER_WORD)?,
        external_bytes: count("external", &EXTERNAL)?,
        core: read_core(core, clocks, ledger)?,
    })
}

fn read_core(
    section: &Section<'_>,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<CoreCosts, ChipError> {
    section.accept(&[
        "clock", "multiply", "add", "load", "store", "branch", "parallel",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let mut count = |key, rule| section.count(key, rule, ledger);
    Ok(CoreCosts {
        clock,
        multiply_cycles: count("multiply", &CYCLES)?,
        add_cycles: count("add", &CYCLES)?,
        load_cycles: count("load", &CYCLES)?,
        store_cycles: count("store", &CYCLES)?,
        branch_cycles: count("branch", &CYCLES)?,
        parallel: count("parallel", &OPERATIONS)?,
    })
}

/// Refuses what does not go together with the mesh; returns how many cores can run tasks.
fn check(
    network: &Section<'_>,
    section: &Section<'_>,
    mesh: &Mesh,
    pronto: &Pronto,
) -> Result<u32, ChipError> {
    let grid = &mesh.grid;
    if mesh.vcs != 1 {
        let accepted = "1: packets of a message must not overtake each other";
        return Err(network.refuse("vcs", accepted));
    }
    if grid.per_node != 1 {
        let accepted = "1: a router has one tile";
        return Err(network.refuse("cores_per_router", accepted));
    }
    if mesh.placement == Placement::Square {
        let accepted =
            "not \"square\": cores are numbered as their routers are, such as by \"rows\"";
        return Err(network.refuse("placement", accepted));
    }
    if mesh.link_interval_cycles > INTERVAL_MAX {
        let accepted = format!("a clock with at most {INTERVAL_MAX} router cycles per period");
        return Err(network.refuse("link_clock", accepted));
    }
    let nodes = grid.nodes();
    if nodes < 3 {
        return Err(network.refuse("width", "a mesh of at least 3 routers"));
    }
    // Ranks of schedules fill the routers in rows, so what runs none comes last.
    let last = [nodes - 2, nodes - 1].map(|node| grid.position(node));
    let [(ax, ay), (bx, by)] = last;
    for (key, at, other) in [
        ("memory", pronto.memory, pronto.host),
        ("host", pronto.host, pronto.memory),
    ] {
        if !last.contains(&at) || at == other {
            let accepted = format!(
                "one of the last two routers, \"{ax},{ay}\" and \"{bx},{by}\"; the memory and the \
                 host are at different ones"
            );
            return Err(section.refuse(key, accepted));
        }
    }
    for (key, bytes) in [
        ("input", pronto.input_bytes),
        ("output", pronto.output_bytes),
    ] {
        if !bytes.is_multiple_of(mesh.flit_bytes) || bytes < mesh.flit_bytes {
            let accepted = format!("whole words of {} bytes", mesh.flit_bytes);
            return Err(section.refuse(key, accepted));
        }
    }
    if pronto.output_bytes > pronto.input_bytes {
        let accepted = format!(
            "at most the {} bytes of the input buffer, so that every message fits there",
            pronto.input_bytes
        );
        return Err(section.refuse("output", accepted));
    }
    Ok(nodes - 2)
}
