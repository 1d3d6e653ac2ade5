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

use corecast_core::{FullCrossbar, LinkCost, LinkId, Rank, Request, Routes};

use crate::bound;
use crate::builtin;
use crate::clock::Clock;
use crate::endpoint::EndpointSpec;
use crate::error::ChipError;
use crate::network::NetworkSpec;
use crate::parse;
use crate::provenance::{Entry, Parameter, Provenance};

/// A validated chip description. Rank `r` is placed on core `r`.
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
    pub(crate) endpoint: EndpointSpec,
    pub(crate) numbers: Vec<Entry>,
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

    /// What a message costs in cycles of the reference clock, for algorithms that choose their
    /// part count by a closed form.
    ///
    /// `sync_cycles` is everything but the data: command, request, ready, complete and notify.
    #[must_use]
    pub fn link_cost(&self) -> LinkCost {
        let EndpointSpec::Mpe(mpe) = &self.endpoint;
        let NetworkSpec::Crossbar(bus) = &self.network;
        let reference = &self.reference_clock;
        let cycle = reference.cycles_f64(bus.clock.to_ps(1));
        LinkCost {
            sync_cycles: reference.cycles_f64(mpe.clock.to_ps(mpe.message_cycles())),
            cycles_per_byte: cycle / bus.width_bytes as f64,
        }
    }

    /// Fewest cycles of the reference clock in which any algorithm can serve `request` on this
    /// chip, from the first rank's start to the last rank's finish.
    ///
    /// A sum of terms, each of which every schedule pays:
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

/// Routing on the chip's network; on a crossbar, the output port of the sender (link `2 from`) and
/// the input port of the receiver (link `2 to + 1`).
impl Routes for Chip {
    fn visit_links(&self, from: Rank, to: Rank, visit: &mut dyn FnMut(LinkId)) {
        match self.network {
            NetworkSpec::Crossbar(_) => FullCrossbar.visit_links(from, to, visit),
        }
    }
}
