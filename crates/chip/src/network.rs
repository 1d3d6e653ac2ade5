// SPDX-License-Identifier: MIT OR Apache-2.0
//! What connects the cores of a chip.
//!
//! One variant per kind of network that the simulator can model; a chip file names the kind and
//! gives its numbers.
//!
//! ```
//! let chip = corecast_chip::Chip::builtin("chung2011-bus").unwrap();
//! let corecast_chip::NetworkSpec::Crossbar(bus) = chip.network() else { panic!() };
//! assert_eq!((bus.words(0), bus.words(5)), (0, 2));
//! ```

use crate::clock::Clock;
use crate::error::ChipError;
use crate::mesh::{self, Mesh};
use crate::provenance::Ledger;
use crate::read::{Choices, Count, Section};

/// Most bytes one port may move per cycle.
const WIDTH: Count = Count {
    unit: "bytes/cycle",
    min: 1,
    max: 1_000_000,
};

/// The network of a chip.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NetworkSpec {
    /// Any core reaches any other in one hop; the ports of the cores are the only shared thing.
    /// For buses of the AMBA and AXI kind with one channel per port.
    Crossbar(Crossbar),
    /// A mesh or torus of wormhole routers.
    Mesh(Mesh),
}

/// A crossbar: every core has one input and one output port, and any two transfers that share
/// neither proceed together.
///
/// Models the ports. Does not model a limit on the number of transfers under way at once or
/// arbitration of the address channel, because the papers that use such buses state none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crossbar {
    /// The clock of the ports.
    pub clock: Clock,
    /// Bytes that a port moves per cycle: one word.
    pub width_bytes: u64,
}

impl Crossbar {
    /// Words, and so cycles, that a message of `bytes` bytes occupies a port.
    #[must_use]
    pub fn words(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.width_bytes)
    }
}

#[derive(Clone, Copy)]
enum NetworkKind {
    Crossbar,
    Mesh { is_torus: bool },
}

const KINDS: Choices<NetworkKind> = &[
    ("crossbar", NetworkKind::Crossbar),
    ("mesh", NetworkKind::Mesh { is_torus: false }),
    ("torus", NetworkKind::Mesh { is_torus: true }),
];

impl NetworkSpec {
    /// The name of its kind in chip files.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Crossbar(_) => "crossbar",
            Self::Mesh(mesh) if mesh.grid.is_torus => "torus",
            Self::Mesh(_) => "mesh",
        }
    }

    /// Reads `[network]`.
    pub(crate) fn read(
        section: &Section<'_>,
        clocks: &[Clock],
        cores: u32,
        ledger: &mut Ledger,
    ) -> Result<Self, ChipError> {
        match section.choice("kind", KINDS)? {
            NetworkKind::Crossbar => {
                section.accept(&["kind", "clock", "width"])?;
                Ok(Self::Crossbar(Crossbar {
                    clock: section.clock("clock", clocks)?,
                    width_bytes: section.count("width", &WIDTH, ledger)?,
                }))
            }
            NetworkKind::Mesh { is_torus } => {
                mesh::read(section, is_torus, clocks, cores, ledger).map(Self::Mesh)
            }
        }
    }
}
