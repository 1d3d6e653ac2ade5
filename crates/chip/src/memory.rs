// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core's way to its private memory: two caches and, through the mesh, a memory controller.
//!
//! ```text
//! [memory]
//! clock = "ddr"                                # of the controllers
//! controllers = ["0,0", "5,0", "0,2", "5,2"]   # their routers, as x,y
//! line, l1, l1_ways, l2, l2_ways, page, private,
//! l2_read, read, write_back, l2_store, store, port
//! ```
//!
//! Both caches are filled by reads only: a store to a line that neither holds goes to memory, word
//! by word. A store to a line that one of them holds makes the line dirty: it is written back to
//! memory when its place is needed.

use std::collections::BTreeSet;

use corecast_core::Grid;

use crate::clock::Clock;
use crate::error::ChipError;
use crate::mesh::Mesh;
use crate::provenance::Ledger;
use crate::read::{Count, Section};

const BYTES: Count = Count {
    unit: "bytes",
    min: 4,
    max: 1 << 40,
};

const LINE: Count = Count { max: 4096, ..BYTES };

const WAYS: Count = Count {
    unit: "ways",
    min: 1,
    max: 64,
};

const CYCLES: Count = Count {
    unit: "cycles/line",
    min: 0,
    max: 1_000_000,
};

const STORE: Count = Count {
    unit: "cycles/word",
    ..CYCLES
};

/// Most lines of a cache; the simulator keeps 8 bytes for each, per core.
const CACHE_LINES_MAX: u64 = 1 << 20;

/// Bytes that a core stores at once.
pub const WORD_BYTES: u64 = 4;

/// Capacity and associativity of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheSize {
    /// Capacity in bytes.
    pub bytes: u64,
    /// Lines per set.
    pub ways: u64,
}

/// The private memory of the cores. Cycles are those of the core unless said otherwise; what the
/// mesh adds is not in them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The clock of the controllers.
    pub clock: Clock,
    /// Bytes of a line, of caches and buffers.
    pub line_bytes: u64,
    /// The first-level data cache.
    pub l1: CacheSize,
    /// The second-level cache.
    pub l2: CacheSize,
    /// Bytes of a page; where pages lie in memory is random.
    pub page_bytes: u64,
    /// Memory that a core has for itself, in bytes.
    pub private_bytes: u64,
    /// To read a line from the second level.
    pub l2_read_cycles: u64,
    /// To read a line from memory.
    pub read_cycles: u64,
    /// To write a line back to memory.
    pub write_back_cycles: u64,
    /// To store a word of a line that only the second level holds.
    pub l2_store_cycles: u64,
    /// To store a word of a line that no cache holds.
    pub store_cycles: u64,
    /// Cycles of the controller per line.
    pub port_cycles: u64,
    /// Routers of the controllers, (x, y).
    pub controllers: Vec<(u32, u32)>,
}

impl Memory {
    /// Words of a line.
    #[must_use]
    pub fn line_words(&self) -> u64 {
        self.line_bytes / WORD_BYTES
    }

    /// The controller of the cores at router `at` of `grid`, and the hops to it: the nearest, the
    /// first of those.
    #[must_use]
    pub fn controller(&self, grid: &Grid, at: (u32, u32)) -> (usize, u32) {
        let hops = |&to: &(u32, u32)| grid.distance(at, to);
        let all = self.controllers.iter().map(hops).enumerate();
        all.min_by_key(|&(_, hops)| hops).unwrap_or((0, 0))
    }
}

/// Reads `[memory]` of a chip with this mesh.
pub(crate) fn read(
    section: &Section<'_>,
    mesh: &Mesh,
    clocks: &[Clock],
    ledger: &mut Ledger,
) -> Result<Memory, ChipError> {
    section.accept(&[
        "clock",
        "controllers",
        "line",
        "l1",
        "l1_ways",
        "l2",
        "l2_ways",
        "page",
        "private",
        "l2_read",
        "read",
        "write_back",
        "l2_store",
        "store",
        "port",
    ])?;
    let clock = section.clock("clock", clocks)?;
    let (width, height) = (mesh.grid.width, mesh.grid.height);
    let accepted = format!("routers as \"x,y\" with x below {width} and y below {height}");
    let position = |text: &str| {
        let (x, y) = text.split_once(',')?;
        let (x, y) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        (x < width && y < height).then_some((x, y))
    };
    let controllers = section.list("controllers", position, &accepted)?;
    let mut seen = BTreeSet::new();
    if !controllers.iter().all(|at| seen.insert(at)) {
        // Cores go to the first of the nearest, so that nobody would use the other one.
        return Err(section.refuse("controllers", format!("{accepted}, each once")));
    }
    let mut count = |key, rule| section.count(key, rule, ledger);
    let memory = Memory {
        clock,
        line_bytes: count("line", &LINE)?,
        l1: CacheSize {
            bytes: count("l1", &BYTES)?,
            ways: count("l1_ways", &WAYS)?,
        },
        l2: CacheSize {
            bytes: count("l2", &BYTES)?,
            ways: count("l2_ways", &WAYS)?,
        },
        page_bytes: count("page", &BYTES)?,
        private_bytes: count("private", &BYTES)?,
        l2_read_cycles: count("l2_read", &CYCLES)?,
        read_cycles: count("read", &CYCLES)?,
        write_back_cycles: count("write_back", &CYCLES)?,
        l2_store_cycles: count("l2_store", &STORE)?,
        store_cycles: count("store", &STORE)?,
        port_cycles: count("port", &CYCLES)?,
        controllers,
    };
    check(section, &memory)?;
    Ok(memory)
}

/// Refuses caches that cannot be built.
fn check(section: &Section<'_>, memory: &Memory) -> Result<(), ChipError> {
    let line = memory.line_bytes;
    if !line.is_power_of_two() {
        let accepted = format!("a power of two from {} to {}", LINE.min, LINE.max);
        return Err(section.refuse("line", accepted));
    }
    if !memory.page_bytes.is_power_of_two() || memory.page_bytes < line {
        return Err(section.refuse("page", "a power of two, at least a line"));
    }
    for (key, cache) in [("l1", memory.l1), ("l2", memory.l2)] {
        let way = cache.ways.saturating_mul(line);
        let sets = cache.bytes / way;
        let is_whole = cache.bytes.is_multiple_of(way) && sets.is_power_of_two();
        if !is_whole || cache.bytes / line > CACHE_LINES_MAX {
            let accepted = format!(
                "ways times {line}-byte lines times a power of two, at most {CACHE_LINES_MAX} \
                 lines"
            );
            return Err(section.refuse(key, accepted));
        }
    }
    Ok(())
}
