//! The chip: everything a machine, a report and a user need to know, and nothing that changes.
//!
//! A [`Chip`] exists only if its file was valid, so its methods never fail.
//!
//! ```
//! use corecast_chip::Chip;
//! let chip = Chip::builtin("chung2011-bus").unwrap();
//! let request = corecast_core::Request::new(corecast_core::Collective::Bcast, 2, 64);
//! assert_eq!(chip.bound_cycles(&request), 11 + 16);
//! ```

use corecast_core::{FullCrossbar, Grid, LinkId, Rank, Request, RouteTree, Routes};

use crate::bound;
use crate::builtin;
use crate::clock::Clock;
use crate::endpoint::{EndpointSpec, Mpe, Udn};
use crate::error::ChipError;
use crate::memory::Memory;
use crate::mesh::Mesh;
use crate::network::{Crossbar, NetworkSpec};
use crate::parse;
use crate::pronto::Pronto;
use crate::provenance::{Entry, Parameter, Provenance};
use crate::rcce::Rcce;

/// A validated chip description. On a bus rank `r` runs on core `r`, on a mesh at the place that
/// [`Mesh::place`] gives it.
#[derive(Clone, PartialEq, Debug)]
pub struct Chip {
    /// The name by which users ask for it.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// The publication that describes it.
    pub source: String,
    pub(crate) reference_clock: Clock,
    pub(crate) cores_max: u32,
    pub(crate) network: NetworkSpec,
    pub(crate) memory: Option<Memory>,
    pub(crate) endpoint: EndpointSpec,
    pub(crate) numbers: Vec<Entry>,
    /// Key and value of everything else.
    pub(crate) words: Vec<(String, String)>,
    /// The name of the chip from which its file differs.
    pub(crate) base: Option<String>,
    /// With a base: the keys that the file itself says.
    pub(crate) variant: Option<Vec<String>>,
    /// Keys changed on the command line, and those that followed.
    pub(crate) set: Vec<String>,
    pub(crate) fingerprint: u64,
}

impl Chip {
    /// Reads a chip from the text of its file; `file_name` is how errors call it.
    ///
    /// # Errors
    /// The first thing wrong with it, as a [`ChipError`].
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ChipError> {
        parse::parse(text, file_name)
    }

    /// The built-in chip called `name`, if there is one.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        builtin::chip(name)
    }

    /// The clock whose cycles results are counted in.
    #[must_use]
    pub fn reference_clock(&self) -> &Clock {
        &self.reference_clock
    }

    /// Most cores the chip can have, and so most ranks.
    #[must_use]
    pub fn cores_max(&self) -> u32 {
        self.cores_max
    }

    /// The chip from which its file says only the differences, if it has one.
    #[must_use]
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// What connects the cores.
    #[must_use]
    pub fn network(&self) -> &NetworkSpec {
        &self.network
    }

    /// What stands between a core's program and the network.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointSpec {
        &self.endpoint
    }

    /// Every number of the chip file, in file order.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        self.numbers.iter().map(Entry::parameter)
    }

    /// How many numbers have this provenance.
    #[must_use]
    pub fn count(&self, kind: Provenance) -> usize {
        self.parameters().filter(|p| p.kind == kind).count()
    }

    /// 16 hexadecimal digits that are the same for two chips only if the same things take the same
    /// time on both: a hash over every word and number of the chip file, but not over its name,
    /// summary, sources and comments.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }

    /// Network and endpoint together, as they belong together.
    ///
    /// # Panics
    /// Never: a chip file whose parts do not go together is refused.
    #[must_use]
    pub fn system(&self) -> System<'_> {
        match (&self.network, &self.endpoint) {
            (NetworkSpec::Crossbar(bus), EndpointSpec::Mpe(mpe)) => System::Bus { bus, mpe },
            (NetworkSpec::Mesh(mesh), EndpointSpec::Udn(udn)) => System::Mesh { mesh, udn },
            (NetworkSpec::Mesh(mesh), EndpointSpec::Rcce(rcce)) => {
                let memory = self.memory.as_ref();
                System::Mpb {
                    mesh,
                    memory: memory.expect("the chip file was checked"),
                    rcce,
                }
            }
            (NetworkSpec::Mesh(mesh), EndpointSpec::Pronto(pronto)) => {
                System::Pronto { mesh, pronto }
            }
            _ => unreachable!("the chip file was checked"),
        }
    }

    /// Where `ranks` ranks sit, if the chip has a mesh.
    #[must_use]
    pub fn grid(&self, ranks: u32) -> Option<Grid> {
        match &self.network {
            NetworkSpec::Mesh(mesh) => Some(mesh.place(ranks)),
            NetworkSpec::Crossbar(_) => None,
        }
    }

    /// The links that messages between `ranks` ranks use: on a crossbar the output port of the
    /// sender and the input port of the receiver, on a mesh the ports of the cores and the links
    /// between.
    #[must_use]
    pub fn routes(&self, ranks: u32) -> ChipRoutes {
        self.grid(ranks)
            .map_or(ChipRoutes::Crossbar, ChipRoutes::Grid)
    }

    /// Fewest cycles of the reference clock in which any algorithm can serve `request` on this
    /// chip, from the first rank's start to the last rank's finish.
    ///
    /// On a mesh the largest of several bounds, each of which holds for every schedule: what must
    /// leave or enter a rank, by how far away its other end is; what a core must send and receive,
    /// one after the other; each rank's share of everybody's work; what must cross the links between
    /// two halves of the mesh, or around a router ([`corecast_core::bounds::cuts`]). What counts as
    /// work and as a way depends on the endpoint; the arguments are in the documentation of the
    /// modules in `bound/`: `words` for a message layer in software, `buffers` where cores have
    /// message passing buffers, `tiles` where hardware manages these.
    ///
    /// On a bus with engines, a sum of terms that every schedule pays:
    ///
    /// - `command + request + ready` before any data can move: some message is the first, and its
    ///   sender must have been told, have asked and have been answered;
    /// - the words of the most loaded port ([`corecast_core::bounds::Bounds::port_bytes`]), one
    ///   per cycle; messages are rounded up to words each, so cutting them never needs fewer. In
    ///   a broadcast `words - 1 + ceil(log2 ranks)` ([`corecast_core::bounds::bcast_word_times`]):
    ///   before cycle `words` some byte has not yet left the root, and the ranks that hold it at
    ///   most double per cycle;
    /// - `complete + notify` after the last word: no rank continues before it has been told.
    ///
    /// Every message carries at least the first and the last term, so this also bounds requests
    /// without payload. If rank `r` is busy ([`Request::busy_bytes`]) and has to receive `m`
    /// bytes, it cannot finish before `words(busy) + words(m) + complete + notify`, as its port
    /// serves one transfer at a time; the result is the larger of both.
    ///
    /// Not counted, so that the bound holds for every algorithm: combining in reductions (it may
    /// overlap with receiving), ordering by status (an algorithm may do without), and the hops of
    /// control messages along a chain (an algorithm may use a tree).
    ///
    /// 0 for a single rank, and for an alltoallv in which nobody sends anything. The request
    /// should pass [`Request::check`]. Rounded down where clocks differ.
    #[must_use]
    pub fn bound_cycles(&self, request: &Request) -> u64 {
        bound::cycles(self, request)
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

/// See [`Chip::routes`].
#[derive(Clone, Copy, Debug)]
pub enum ChipRoutes {
    /// Link `2 from` and link `2 to + 1`.
    Crossbar,
    /// Links as [`Grid`] numbers them.
    Grid(Grid),
}

impl ChipRoutes {
    /// A link in words.
    #[must_use]
    pub fn describe(&self, link: LinkId) -> String {
        match self {
            Self::Crossbar if link.0.is_multiple_of(2) => {
                format!("output port of rank {}", link.0 / 2)
            }
            Self::Crossbar => format!("input port of rank {}", link.0 / 2),
            Self::Grid(grid) => grid.describe(link),
        }
    }
}

impl Routes for ChipRoutes {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        match self {
            Self::Crossbar => FullCrossbar.visit_links(from, to, visit),
            Self::Grid(grid) => grid.visit_links(from, to, visit),
        }
    }

    fn visit_tree(&self, tree: &RouteTree, visit: &mut dyn FnMut(LinkId)) {
        match self {
            Self::Crossbar => FullCrossbar.visit_tree(tree, visit),
            Self::Grid(grid) => grid.visit_tree(tree, visit),
        }
    }
}
