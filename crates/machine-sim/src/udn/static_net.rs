// SPDX-License-Identifier: MIT OR Apache-2.0
//! The static network: a second mesh whose routes are configured in advance and may fork.
//!
//! Every core on the tree configures its part; a word that comes to a core that has not done so
//! waits there. From then on words pass at one per cycle, a hop later each. Routes past cores that are
//! not on the tree are there from the start.
//!
//! Models when each core has configured its part and the hops from there. Does not model
//! back-pressure: while one branch of a fork waits for its core, the other branches go on, as if
//! the waiting words were buffered.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_core::{Rank, RouteTree, Seats};
use corecast_machine::{LinkUse, Message, Time};
use corecast_sim::{Kernel, Latch};

/// Coordinates of a router.
type Coordinates = (u32, u32);

/// A message from the root, on its way to its receivers.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    pub message: Message,
    pub words: u64,
    pub posted: Time,
    pub start: Time,
}

/// What one core has of a multicast.
struct Part {
    /// The first word leaves the core's switch for its children and the core itself.
    head: Latch,
}

/// The static network of one run.
pub(super) struct StaticNet {
    kernel: Rc<Kernel>,
    hop: Time,
    parts: RefCell<BTreeMap<(usize, Rank), Rc<Part>>>,
    flows: RefCell<BTreeMap<usize, InFlight>>,
    /// Words over every link, by the coordinates of its ends.
    words: RefCell<BTreeMap<(Coordinates, Coordinates), u64>>,
}

impl StaticNet {
    pub(super) fn new(kernel: &Rc<Kernel>, hop: Time) -> Self {
        Self {
            kernel: Rc::clone(kernel),
            hop,
            parts: RefCell::default(),
            flows: RefCell::default(),
            words: RefCell::default(),
        }
    }

    fn part(&self, index: usize, rank: Rank) -> Rc<Part> {
        let mut parts = self.parts.borrow_mut();
        let part = parts.entry((index, rank)).or_insert_with(|| {
            Rc::new(Part {
                head: Latch::new(&self.kernel),
            })
        });
        Rc::clone(part)
    }

    /// The root has configured its part; its first word enters the network at `first`.
    pub(super) fn start(&self, index: usize, root: Rank, first: Time, flow: InFlight) {
        self.flows.borrow_mut().insert(index, flow);
        self.part(index, root).head.set_at(first);
    }

    /// `rank` has configured its part; waits for the first word and returns what comes, and when
    /// the first word was there.
    pub(super) async fn receive(
        &self,
        index: usize,
        tree: &RouteTree,
        rank: Rank,
        seats: &Seats,
    ) -> (InFlight, Time) {
        let configured = self.kernel.now();
        let parent = tree.parent(rank).expect("the root does not receive");
        let left = self.part(index, parent).head.wait().await;
        let (from, to) = (seats.node_of(parent), seats.node_of(rank));
        let hops = u64::from(seats.hops(parent, rank));
        let first = (left + self.hop * hops).max(configured);
        self.part(index, rank).head.set_at(first);
        self.kernel.sleep_until(first).await;
        let flow = self.flows.borrow()[&index].clone();
        let grid = seats.grid();
        let mut words = self.words.borrow_mut();
        grid.visit_route(from, to, &mut |node, hop| {
            let next = grid.neighbour(node, hop.side);
            let next = next.expect("a route stays on the grid");
            let link = (grid.position(node), grid.position(next));
            *words.entry(link).or_default() += flow.words;
        });
        drop(words);
        (flow, first)
    }

    /// What every link carried.
    pub(super) fn links(&self) -> Vec<LinkUse> {
        let words = self.words.borrow();
        let links = words
            .iter()
            .map(|(&(from, to), &flits)| LinkUse { from, to, flits });
        links.collect()
    }
}
