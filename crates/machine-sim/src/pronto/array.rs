// SPDX-License-Identifier: MIT OR Apache-2.0
//! The array of one run: the mesh with its clock, the tiles' interfaces, and what happens when.
//!
//! The mesh has a clock of its own. Its driver lets it run ahead of the cores until it has something
//! to tell, or until a core or an interface can act. What it tells is put into the agenda and acted
//! on at its time.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_chip::{Mesh, Pronto};
use corecast_core::{Grid, Rank};
use corecast_flow::{DataArrival, TileUse};
use corecast_machine::{LinkUse, RunError, Time};
use corecast_sim::network::mesh::{CYCLES_MAX, FlitMesh, Interval, MeshSpec, Packet};
use corecast_sim::{Bells, Kernel, Latch, race};

use super::costs::Costs;
use super::external::External;
use super::unit::{Content, Parcel, Transfer, TransferId, Unit};
use crate::books::Books;
use crate::mesh_spec;
use crate::window::Window;

/// What is acted on at its time.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    /// The last flit of a packet has been taken from this port of the mesh.
    Injected(u32),
    /// A packet has arrived as a whole.
    Arrived(u32),
    /// The memory has moved a packet's words, or written a block.
    Served,
}

/// Sizes of the chunks of a message.
pub(super) type Shape = Vec<usize>;

/// See the module's documentation.
pub(crate) struct Array {
    pub kernel: Rc<Kernel>,
    pub books: Books,
    pub(super) costs: Costs,
    pub(super) grid: Grid,
    /// Node of the external memory buffer.
    pub(super) memory_node: u32,
    /// Node on which every task runs.
    pub(super) homes: RefCell<Vec<u32>>,
    pub(super) units: RefCell<Vec<Unit>>,
    pub(super) external: RefCell<External>,
    pub(super) transfers: RefCell<BTreeMap<TransferId, Transfer>>,
    pub(super) arrivals: RefCell<Vec<DataArrival>>,
    /// Sizes of the chunks of messages of schedules, per pair, in order.
    pub(super) shapes: RefCell<BTreeMap<(Rank, Rank), VecDeque<Shape>>>,
    next_transfer: Cell<TransferId>,
    mesh: RefCell<FlitMesh>,
    period: Time,
    /// Packets under way, and places among them that are free.
    parcels: RefCell<Vec<Option<Parcel>>>,
    free_parcels: RefCell<Vec<u32>>,
    agenda: RefCell<BTreeMap<Time, VecDeque<News>>>,
    /// For tasks that wait for anything in their tile, and for injectors.
    bells: Bells,
    pub(super) injectors: Bells,
    /// Tasks that neither have finished nor wait for something in their tile.
    active: Cell<u32>,
    /// Packets of tiles and memory that are under way.
    own_packets: Cell<u32>,
    pub(super) others: Window,
    /// How the driver is told that something has been asked for.
    poke: Latch,
}

/// Port of a node's tile.
pub(super) const fn tile_port(node: u32) -> u32 {
    2 * node
}

/// Port of a node at the edge of the mesh, for traffic from outside.
pub(super) const fn edge_port(node: u32) -> u32 {
    2 * node + 1
}

impl Array {
    /// An array at rest; `nodes` says where every task runs, `contents` what the memory holds.
    pub(crate) fn new(
        mesh: &Mesh,
        pronto: &Pronto,
        kernel: Rc<Kernel>,
        nodes: Vec<u32>,
        contents: Vec<u8>,
    ) -> Self {
        let (grid, tasks) = (mesh.grid, nodes.len());
        let spec = MeshSpec {
            // A tile and a port to the outside each.
            grid: Grid {
                per_node: 2,
                ..grid
            },
            ..mesh_spec(mesh)
        };
        let network = FlitMesh::new(&spec).expect("the chip file was checked");
        let unit = |_| Unit::new(mesh, pronto, &nodes);
        let (x, y) = pronto.memory;
        Self {
            books: Books::new(tasks as u32),
            costs: Costs::new(mesh, pronto),
            memory_node: grid.node_at(x, y),
            units: RefCell::new((0..grid.nodes()).map(unit).collect()),
            homes: RefCell::new(nodes),
            external: RefCell::new(External::new(contents, pronto.external_bytes)),
            transfers: RefCell::default(),
            arrivals: RefCell::default(),
            shapes: RefCell::default(),
            next_transfer: Cell::new(0),
            mesh: RefCell::new(network),
            period: Time::from_ps(mesh.clock.to_ps(1)),
            parcels: RefCell::default(),
            free_parcels: RefCell::default(),
            agenda: RefCell::default(),
            bells: Bells::new(&kernel, tasks),
            injectors: Bells::new(&kernel, grid.nodes() as usize),
            active: Cell::new(tasks as u32), // at most one per core
            own_packets: Cell::new(0),
            others: Window::new(grid.nodes()),
            poke: Latch::new(&kernel),
            grid,
            kernel,
        }
    }

    /// The first cycle of the mesh that begins now or later.
    fn cycle(&self, time: Time) -> u64 {
        time.ps().div_ceil(self.period.ps())
    }

    pub(super) fn time(&self, cycle: u64) -> Time {
        self.period * cycle
    }

    /// The time so many cycles of the mesh from now; none if it cannot count them.
    pub(super) fn time_in(&self, cycles: u64) -> Option<Time> {
        let cycle = self.cycle(self.kernel.now()).saturating_add(cycles);
        (cycle < CYCLES_MAX).then(|| self.time(cycle))
    }

    pub(super) fn node_of(&self, task: Rank) -> u32 {
        self.homes.borrow()[task.index()]
    }

    /// Enters a transfer into the books; returns its number.
    pub(super) fn begin(&self, transfer: Transfer) -> TransferId {
        let id = self.next_transfer.replace(self.next_transfer.get() + 1);
        self.transfers.borrow_mut().insert(id, transfer);
        id
    }

    /// Acts on `news` at `time`.
    pub(super) fn plan(&self, time: Time, news: News) {
        let mut agenda = self.agenda.borrow_mut();
        agenda.entry(time).or_default().push_back(news);
        drop(agenda);
        self.poke();
    }

    fn poke(&self) {
        if self.poke.time().is_none() {
            self.poke.set_at(self.kernel.now());
        }
    }

    /// Puts a packet into the network at `port`; it must have ended its packet before.
    pub(super) fn inject(&self, port: u32, to_port: u32, parcel: Parcel) {
        let flits = parcel.flits;
        if !matches!(parcel.content, Content::Foreign(_)) {
            self.own_packets.set(self.own_packets.get() + 1);
        }
        let place = self.free_parcels.borrow_mut().pop();
        let mut parcels = self.parcels.borrow_mut();
        let place = match place {
            Some(place) => {
                parcels[place as usize] = Some(parcel);
                place
            }
            None => {
                parcels.push(Some(parcel));
                parcels.len() as u32 - 1 // one per packet under way
            }
        };
        let packet = Packet {
            flit_interval: Interval::cycles(self.costs.flit_cycles),
            reports_injection: true,
            tag: (u64::from(port) << 32) | u64::from(place),
            ..Packet::new(port, to_port, flits)
        };
        let mut mesh = self.mesh.borrow_mut();
        mesh.run_until(self.cycle(self.kernel.now()));
        mesh.send(packet);
        drop(mesh);
        self.poke();
    }

    /// Lets a task look again at what it waits for.
    pub(super) fn ring(&self, task: Rank) {
        if self.bells.ring_at(task.index(), self.kernel.now()) {
            self.active.set(self.active.get() + 1);
        }
    }

    /// As [`Array::ring`], for whoever runs at a node.
    pub(super) fn ring_at(&self, node: u32) {
        let homes = self.homes.borrow();
        if let Some(task) = homes.iter().position(|&of| of == node) {
            self.ring(Rank(task as u32));
        }
    }

    /// Waits until something has happened in the tile of `task`.
    pub(super) async fn listen(&self, task: Rank) {
        self.active.set(self.active.get() - 1);
        self.bells.wait(task.index()).await;
    }

    /// A task has finished.
    pub(super) fn retire(&self) {
        self.active.set(self.active.get() - 1);
    }

    /// Whether no task will ever go on, whatever traffic passes by.
    pub(super) fn is_stuck(&self) -> bool {
        let is_silent = self.active.get() == 0 && self.own_packets.get() == 0;
        let units = self.units.borrow();
        let is_injecting = || units.iter().any(|unit| unit.injecting.is_some());
        is_silent && !self.external.borrow().is_serving && !is_injecting()
    }

    /// A time limit that nothing but other traffic went on to is a deadlock.
    pub(crate) fn deadlock_behind(&self, error: RunError) -> RunError {
        match error {
            RunError::TimeLimit { blocked, .. } if self.is_stuck() => {
                let at = self.kernel.now();
                RunError::Deadlock { at, blocked }
            }
            error => error,
        }
    }

    /// Takes what the mesh has to tell into the agenda.
    fn hear(&self) {
        let mut mesh = self.mesh.borrow_mut();
        let (delivered, injected) = (mesh.take_deliveries(), mesh.take_injected());
        drop(mesh);
        let mut agenda = self.agenda.borrow_mut();
        for (tag, cycle) in injected {
            let port = (tag >> 32) as u32;
            let at = agenda.entry(self.time(cycle)).or_default();
            at.push_back(News::Injected(port));
        }
        for delivery in delivered {
            let place = delivery.packet.tag as u32; // its lower half
            let at = agenda.entry(self.time(delivery.ejected)).or_default();
            at.push_back(News::Arrived(place));
        }
    }

    /// Acts on everything that is due.
    fn act(&self) {
        loop {
            let due = {
                let mut agenda = self.agenda.borrow_mut();
                let Some(mut first) = agenda.first_entry() else {
                    return;
                };
                if *first.key() > self.kernel.now() {
                    return;
                }
                let news = first.get_mut().pop_front();
                if first.get().is_empty() {
                    first.remove();
                }
                news
            };
            match due {
                Some(News::Injected(port)) if port % 2 == 1 => {
                    let node = port as usize / 2;
                    self.injectors.ring_at(node, self.kernel.now());
                }
                Some(News::Injected(port)) => self.injected(port / 2),
                Some(News::Arrived(place)) => {
                    self.free_parcels.borrow_mut().push(place);
                    let parcel = self.parcels.borrow_mut()[place as usize].take();
                    let parcel = parcel.expect("a packet under way is known");
                    match parcel.content {
                        Content::Foreign(from) => {
                            from.into_iter().for_each(|node| self.others.arrived(node));
                        }
                        content => {
                            self.own_packets.set(self.own_packets.get() - 1);
                            self.arrived(parcel.to, content);
                        }
                    }
                }
                Some(News::Served) => self.served(),
                None => {}
            }
        }
    }

    /// What every link carried.
    pub(crate) fn links(&self) -> Vec<LinkUse> {
        self.mesh.borrow().links().collect()
    }

    /// The buffers of the cores that can run tasks, up to `end`.
    pub(crate) fn usage(&self, cores: u32, end: Time) -> Vec<TileUse> {
        let mut units = self.units.borrow_mut();
        let units = (0..cores).zip(units.iter_mut());
        units
            .map(|(core, unit)| TileUse {
                core,
                input: unit.input.usage(end),
                output: unit.output.usage(end),
            })
            .collect()
    }

    /// Flits in = flits out, every credit is back, and no interface has anything left to send.
    /// Traffic from outside that is still in the mesh leaves it first.
    pub(crate) fn assert_conservation(&self) {
        let mut mesh = self.mesh.borrow_mut();
        while let Some(next) = mesh.next_event() {
            mesh.run_until(next + 1);
        }
        let flits = mesh.conservation();
        assert!(flits.is_ok(), "{flits:?}");
        for (node, unit) in self.units.borrow().iter().enumerate() {
            let is_silent = unit.outgoing.is_empty() && unit.control.is_empty();
            assert!(is_silent, "node {node} has something left to send");
        }
    }
}

/// Moves the mesh along with the kernel's clock, and acts on what it tells, until the run ends.
///
/// At an instant just after the beginning of a cycle, everything that cores and interfaces do in that
/// cycle has been done. The mesh may then run on to the next instant at which one of them can act,
/// or until it has something to tell.
pub(crate) async fn drive(array: Rc<Array>) {
    let kernel = Rc::clone(&array.kernel);
    loop {
        array.hear();
        array.act();
        array.poke.reset();
        let next = array.mesh.borrow().next_event();
        let mesh = next.map(|cycle| array.time(cycle) + Time::from_ps(1));
        let due = array.agenda.borrow().keys().next().copied();
        let Some(alarm) = mesh.into_iter().chain(due).min() else {
            array.poke.wait().await;
            continue;
        };
        if kernel.now() < alarm {
            race(kernel.sleep_until(alarm), array.poke.wait()).await;
            continue;
        }
        let wakes = kernel.next_wake().into_iter().chain(due);
        let end = wakes.min().map_or(u64::MAX, |wake| array.cycle(wake));
        array.mesh.borrow_mut().run_to_news(end.min(CYCLES_MAX));
    }
}
