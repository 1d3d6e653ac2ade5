// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands between a core's program and the network: one module per kind of message layer.
//!
//! The protocol belongs to the kind and is code in the simulator; how long its parts take belongs to
//! the chip. A kind's module has all that a chip knows about it: its numbers and how they are read,
//! what a message costs, what no schedule can beat, and what `show chip` says about it.
//!
//! ```
//! let chip = corecast_chip::Chip::builtin("park2019-bus").unwrap();
//! let corecast_chip::EndpointSpec::Mpe(mpe) = chip.endpoint() else { panic!() };
//! assert_eq!(mpe.message_cycles(), 8);
//! ```

mod kind;
mod mpe;
mod pronto;
mod rcce;
mod udn;

pub use mpe::{AtomicLaunch, Mpe};
pub use pronto::{CoreCosts, Pronto};
pub use rcce::{Library, Rcce};
pub use udn::{Protocol, Udn};

use crate::error::ChipError;
use crate::memory::Memory;
use crate::mesh::Mesh;
use crate::network::{Crossbar, NetworkSpec};
use crate::provenance::Ledger;
use crate::read::Choices;
pub(crate) use kind::{Kind, Source};

/// Every kind by its name in chip files, in the order in which errors list them.
const KINDS: Choices<Row> = &[
    (
        mpe::NAME,
        Row {
            tables: &[],
            reader: Reader::OnBus(|_, source, ledger| {
                mpe::read(source, ledger)
                    .map(EndpointSpec::Mpe)
                    .map(Parts::of)
            }),
        },
    ),
    (
        udn::NAME,
        Row {
            tables: &[],
            reader: Reader::OnMesh(|mesh, source, ledger| {
                udn::read(mesh, source, ledger)
                    .map(EndpointSpec::Udn)
                    .map(Parts::of)
            }),
        },
    ),
    (
        rcce::NAME,
        Row {
            tables: &["memory"],
            reader: Reader::OnMesh(|mesh, source, ledger| {
                let (rcce, memory) = rcce::read(mesh, source, ledger)?;
                Ok(Parts {
                    endpoint: EndpointSpec::Rcce(rcce),
                    memory: Some(memory),
                })
            }),
        },
    ),
    (
        pronto::NAME,
        Row {
            tables: &["core"],
            reader: Reader::OnMesh(|mesh, source, ledger| {
                let pronto = pronto::read(mesh, source, ledger)?;
                Ok(Parts::of(EndpointSpec::Pronto(Box::new(pronto))))
            }),
        },
    ),
];

/// The message layer of a chip's cores.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndpointSpec {
    /// A message passing engine in hardware beside every core: the core gives a command and is
    /// told when it is done; the engine synchronises and moves the data.
    Mpe(Mpe),
    /// A core that writes words into a mesh and reads them from hardware queues itself, with a
    /// message layer in software.
    Udn(Udn),
    /// A core that copies lines between its memory and message passing buffers, which every core
    /// can read and write, with RCCE as its message layer.
    Rcce(Rcce),
    /// A tile whose messages go through buffers that the hardware manages.
    Pronto(Box<Pronto>),
}

impl EndpointSpec {
    /// The name of its kind in chip files.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Mpe(_) => mpe::NAME,
            Self::Udn(_) => udn::NAME,
            Self::Rcce(_) => rcce::NAME,
            Self::Pronto(_) => pronto::NAME,
        }
    }
}

/// Network and endpoint of a chip.
#[derive(Clone, Copy, Debug)]
pub enum System<'a> {
    /// A bus with a message passing engine per core.
    Bus {
        /// The network.
        bus: &'a Crossbar,
        /// The engines.
        mpe: &'a Mpe,
    },
    /// A mesh with a message layer in software.
    Mesh {
        /// The network.
        mesh: &'a Mesh,
        /// The message layer.
        udn: &'a Udn,
    },
    /// A mesh whose cores have caches, private memory and a message passing buffer each.
    Mpb {
        /// The network.
        mesh: &'a Mesh,
        /// Caches and memory controllers.
        memory: &'a Memory,
        /// The buffers, and the message layer.
        rcce: &'a Rcce,
    },
    /// A mesh of tiles whose message passing buffers the hardware manages.
    Pronto {
        /// The network.
        mesh: &'a Mesh,
        /// The tiles.
        pronto: &'a Pronto,
    },
}

impl<'a> System<'a> {
    /// What belongs together.
    ///
    /// # Panics
    /// If it does not: a chip file whose parts do not go together is refused.
    pub(crate) fn of(
        network: &'a NetworkSpec,
        endpoint: &'a EndpointSpec,
        memory: Option<&'a Memory>,
    ) -> Self {
        match (network, endpoint) {
            (NetworkSpec::Crossbar(bus), EndpointSpec::Mpe(mpe)) => Self::Bus { bus, mpe },
            (NetworkSpec::Mesh(mesh), EndpointSpec::Udn(udn)) => Self::Mesh { mesh, udn },
            (NetworkSpec::Mesh(mesh), EndpointSpec::Rcce(rcce)) => Self::Mpb {
                mesh,
                memory: memory.expect("the chip file was checked"),
                rcce,
            },
            (NetworkSpec::Mesh(mesh), EndpointSpec::Pronto(pronto)) => {
                Self::Pronto { mesh, pronto }
            }
            _ => unreachable!("the chip file was checked"),
        }
    }

    /// Everything else that depends on the kind.
    pub(crate) fn kind(self) -> Box<dyn Kind + 'a> {
        match self {
            Self::Bus { bus, mpe } => Box::new(mpe::OnBus { bus, mpe }),
            Self::Mesh { mesh, udn } => Box::new(udn::OnMesh { mesh, udn }),
            Self::Mpb { mesh, memory, rcce } => Box::new(rcce::OnMesh { mesh, memory, rcce }),
            Self::Pronto { mesh, pronto } => Box::new(pronto::OnMesh { mesh, pronto }),
        }
    }
}

/// A kind in chip files.
#[derive(Clone, Copy)]
struct Row {
    /// Tables of the file that only chips with this kind have.
    tables: &'static [&'static str],
    reader: Reader,
}

/// How a kind is read, on the network that it goes with.
#[derive(Clone, Copy)]
enum Reader {
    OnBus(fn(&Crossbar, &Source<'_>, &mut Ledger) -> Result<Parts, ChipError>),
    OnMesh(fn(&Mesh, &Source<'_>, &mut Ledger) -> Result<Parts, ChipError>),
}

impl Reader {
    const fn is_for(self, network: &NetworkSpec) -> bool {
        matches!(
            (self, network),
            (Self::OnBus(_), NetworkSpec::Crossbar(_)) | (Self::OnMesh(_), NetworkSpec::Mesh(_))
        )
    }
}

/// What reading a kind gives.
pub(crate) struct Parts {
    /// The endpoint.
    pub endpoint: EndpointSpec,
    /// Caches and memory controllers, where the kind has them.
    pub memory: Option<Memory>,
}

impl Parts {
    fn of(endpoint: EndpointSpec) -> Self {
        let memory = None;
        Self { endpoint, memory }
    }
}

/// Tables at the top level of a chip file that belong to kinds.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|(_, row)| row.tables).copied()
}

/// Reads `[endpoint]`, and what belongs to its kind.
pub(crate) fn read(
    source: &Source<'_>,
    network: &NetworkSpec,
    ledger: &mut Ledger,
) -> Result<Parts, ChipError> {
    let row = source.endpoint.choice("kind", KINDS)?;
    let parts = match (row.reader, network) {
        (Reader::OnBus(read), NetworkSpec::Crossbar(bus)) => read(bus, source, ledger)?,
        (Reader::OnMesh(read), NetworkSpec::Mesh(mesh)) => read(mesh, source, ledger)?,
        _ => {
            let accepted = KINDS.iter().filter(|(_, row)| row.reader.is_for(network));
            return Err(ChipError::Mismatch {
                at: source.endpoint.place("kind"),
                endpoint: source.endpoint.text("kind")?,
                network: network.kind(),
                accepted: accepted.map(|(name, _)| *name).collect(),
            });
        }
    };
    for (name, other) in KINDS {
        for table in other.tables {
            if *name != parts.endpoint.kind() && source.root.has(table) {
                let accepted = format!("no {table}: only endpoints of kind {name} have one");
                return Err(source.root.refuse(table, accepted));
            }
        }
    }
    Ok(parts)
}
