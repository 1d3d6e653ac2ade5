// SPDX-License-Identifier: MIT OR Apache-2.0
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

use corecast_core::{FullCrossbar, Grid, LinkId, Rank, RouteTree, Routes, Seats};

use crate::clock::Clock;
use crate::kinds::{EndpointSpec, System};
use crate::memory::Memory;
use crate::network::NetworkSpec;
use crate::provenance::{Entry, Parameter, Provenance};

/// A validated chip description. On a bus rank `r` runs on core `r`, on a mesh at the place that
/// [`crate::Mesh::place`] gives it.
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
    /// The clock whose cycles results are counted in.
    #[must_use]
    pub fn reference_clock(&self) -> &Clock {
        &self.reference_clock
    }

    /// Most cores the chip can have.
    #[must_use]
    pub fn cores_max(&self) -> u32 {
        self.cores_max
    }

    /// Most ranks: one per core, or per core that a placement lists.
    #[must_use]
    pub fn ranks_max(&self) -> u32 {
        match &self.network {
            NetworkSpec::Mesh(mesh) => mesh.ranks_max().min(self.cores_max),
            NetworkSpec::Crossbar(_) => self.cores_max,
        }
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
        System::of(&self.network, &self.endpoint, self.memory.as_ref())
    }

    /// Where `ranks` ranks sit, if the chip has a mesh.
    #[must_use]
    pub fn seats(&self, ranks: u32) -> Option<Seats> {
        match &self.network {
            NetworkSpec::Mesh(mesh) => Some(mesh.place(ranks)),
            NetworkSpec::Crossbar(_) => None,
        }
    }

    /// The grid that algorithms for `ranks` ranks are made for, if the chip has a mesh: that of ranks
    /// in order, wherever a placement puts them.
    #[must_use]
    pub fn grid(&self, ranks: u32) -> Option<Grid> {
        match &self.network {
            NetworkSpec::Mesh(mesh) => Some(mesh.part(ranks)),
            NetworkSpec::Crossbar(_) => None,
        }
    }

    /// Whether a multicast is one message on a tree of links: on a mesh with a static network and
    /// cores that write words into it. Everywhere else every receiver has a message of its own.
    #[must_use]
    pub fn carries_multicasts(&self) -> bool {
        match self.system() {
            System::Mesh { mesh, .. } => mesh.carries_multicasts(),
            _ => false,
        }
    }

    /// The links that messages between `ranks` ranks use: on a crossbar the output port of the
    /// sender and the input port of the receiver, on a mesh the ports of the cores and the links
    /// between.
    #[must_use]
    pub fn routes(&self, ranks: u32) -> ChipRoutes {
        match &self.network {
            NetworkSpec::Mesh(mesh) => ChipRoutes::Mesh {
                seats: mesh.place(ranks),
                carries_multicasts: self.carries_multicasts(),
            },
            NetworkSpec::Crossbar(_) => ChipRoutes::Crossbar,
        }
    }
}

/// See [`Chip::routes`].
#[derive(Clone, Debug)]
pub enum ChipRoutes {
    /// Link `2 from` and link `2 to + 1`.
    Crossbar,
    /// Links as [`Grid`] numbers them.
    Mesh {
        /// Where ranks sit.
        seats: Seats,
        /// See [`Chip::carries_multicasts`].
        carries_multicasts: bool,
    },
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
            Self::Mesh { seats, .. } => seats.describe(link),
        }
    }
}

impl Routes for ChipRoutes {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        match self {
            Self::Crossbar => FullCrossbar.visit_links(from, to, visit),
            Self::Mesh { seats, .. } => seats.visit_links(from, to, visit),
        }
    }

    fn carries_multicasts(&self) -> bool {
        match self {
            Self::Crossbar => false,
            Self::Mesh {
                carries_multicasts, ..
            } => *carries_multicasts,
        }
    }

    fn visit_tree(&self, tree: &RouteTree, visit: &mut dyn FnMut(LinkId)) {
        match self {
            Self::Crossbar => FullCrossbar.visit_tree(tree, visit),
            Self::Mesh {
                seats,
                carries_multicasts: true,
            } => seats.grid().visit_tree(tree, visit),
            Self::Mesh { seats, .. } => seats.visit_tree(tree, visit),
        }
    }
}
