//! The mesh of one run, its clock, and the packets on it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_chip::{Mesh, Udn};
use corecast_core::{Grid, Rank, Side};
use corecast_machine::{LinkUse, Message, RunOptions, Time};
use corecast_sim::network::mesh::{Ejection, MeshSpec, Packet};
use corecast_sim::{Kernel, Latch, race};

use super::network::{Network, Portion};
use super::static_net::StaticNet;
use crate::books::Books;
use crate::{Fidelity, mesh_spec};

/// Queue for data.
pub(super) const DATA: u32 = 0;
/// Queue for flow control.
pub(super) const CONTROL: u32 = 1;

/// What a packet says beside its words.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub from: Rank,
    /// Words of payload.
    pub words: u64,
    /// Whether no more packets of the same message follow.
    pub is_last: bool,
    /// The message, in its last packet.
    pub message: Option<Message>,
    /// When the sender began with the message, and when its first word left.
    pub posted: Time,
    pub start: Time,
}

/// Costs of the software as times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub call: Time,
    pub send: Time,
    pub recv: Time,
    pub extract: Time,
    pub inject: Time,
    pub route: Time,
    pub combine: Time,
    pub flit_bytes: u64,
    pub header_words: u64,
    /// Most words of payload in a packet with flow control: all of it fits into a queue.
    pub packet_words: u64,
    /// Most words of payload in any packet.
    pub packet_words_max: u64,
}

/// See the module's documentation.
pub(crate) struct Net {
    pub kernel: Rc<Kernel>,
    pub books: Books,
    pub(super) costs: Costs,
    pub(super) ranks: u32,
    /// Until when the ports of each rank are in use by a transfer from before the run.
    pub(super) busy_until: Vec<Time>,
    /// The second network, if the chip has one.
    pub(super) static_net: Option<StaticNet>,
    pub(super) grid: Grid,
    period: Time,
    flit_interval: u32,
    /// Core of every rank, and rank of every core in use.
    core_of: Vec<u32>,
    mesh: RefCell<Network>,
    labels: RefCell<BTreeMap<u64, Label>>,
    next_tag: Cell<u64>,
    /// Cores that wait for a word in one of their queues.
    listening: RefCell<BTreeMap<(u32, u32), Rc<Latch>>>,
    injecting: RefCell<BTreeMap<u64, Rc<Latch>>>,
    /// Cycle in which the mesh is looked at next, and how cores ask for an earlier one.
    alarm: Cell<u64>,
    poke: RefCell<Option<Rc<Latch>>>,
}

impl Net {
    pub(crate) fn new(
        mesh: &Mesh,
        udn: &Udn,
        fidelity: Fidelity,
        kernel: Rc<Kernel>,
        ranks: u32,
        options: &RunOptions,
    ) -> Self {
        let core = |cycles| Time::from_ps(udn.clock.to_ps(cycles));
        let period = Time::from_ps(mesh.clock.to_ps(1));
        let inject_ps = udn.clock.to_ps(udn.inject_cycles_per_word);
        let queue_words = u64::from(udn.queue_words);
        let word = Time::from_ps(inject_ps.max(period.ps()));
        let busy = options.busy_bytes(ranks);
        let busy_of = |rank| {
            busy.get(rank as usize)
                .map_or(0, |&bytes| mesh.flits(bytes))
        };
        let spec = MeshSpec {
            ejection: Ejection::Queues {
                count: udn.queues,
                flits: udn.queue_words,
            },
            ..mesh_spec(mesh)
        };
        Self {
            books: Books::new(ranks),
            costs: Costs {
                call: core(udn.call_cycles) + core(udn.call_cycles_per_rank) * u64::from(ranks),
                send: core(udn.send_cycles),
                recv: core(udn.recv_cycles),
                extract: core(udn.extract_cycles_per_word),
                inject: word,
                route: core(udn.route_cycles),
                combine: core(udn.combine_cycles_per_word),
                flit_bytes: mesh.flit_bytes,
                header_words: udn.header_words,
                packet_words_max: udn.packet_words,
                packet_words: udn
                    .packet_words
                    .min(queue_words.saturating_sub(udn.header_words))
                    .max(1),
            },
            ranks,
            busy_until: (0..ranks).map(|rank| word * busy_of(rank)).collect(),
            flit_interval: word.ps().div_ceil(period.ps()) as u32, // at most 64: the chip's check
            static_net: mesh
                .static_hop_cycles
                .map(|cycles| StaticNet::new(&kernel, period * u64::from(cycles))),
            grid: mesh.place(ranks),
            period,
            core_of: (0..ranks).map(|rank| mesh.core_of(rank, ranks)).collect(),
            mesh: RefCell::new(Network::new(&spec, fidelity)),
            labels: RefCell::default(),
            next_tag: Cell::new(0),
            listening: RefCell::default(),
            injecting: RefCell::default(),
            alarm: Cell::new(u64::MAX),
            poke: RefCell::default(),
            kernel,
        }
    }

    /// The first cycle that begins now or later.
    fn cycle(&self, time: Time) -> u64 {
        time.ps().div_ceil(self.period.ps())
    }

    pub(super) fn time(&self, cycle: u64) -> Time {
        self.period * cycle
    }

    /// What cores do now takes effect in the cycle that begins now or next.
    fn touch<T>(&self, action: impl FnOnce(&mut Network) -> T) -> T {
        let mut mesh = self.mesh.borrow_mut();
        mesh.run_until(self.cycle(self.kernel.now()));
        let result = action(&mut mesh);
        if mesh
            .next_event()
            .is_some_and(|cycle| cycle < self.alarm.get())
            && let Some(poke) = self.poke.take()
        {
            poke.set_at(self.kernel.now());
        }
        result
    }

    /// Puts a packet into the network, and waits until its last word has been taken from the core.
    pub(super) async fn send(&self, to: Rank, queue: u32, label: Label) {
        let tag = self.next_tag.get();
        self.next_tag.set(tag + 1);
        let packet = Packet {
            src: self.core_of[label.from.index()],
            dst: self.core_of[to.index()],
            flits: (label.words + self.costs.header_words) as u32, // at most 4096 + 64
            flit_interval: self.flit_interval,
            queue,
            reports_injection: true,
            tag,
        };
        self.labels.borrow_mut().insert(tag, label);
        if let Some(cycle) = self.touch(|mesh| mesh.send(packet)) {
            self.kernel.sleep_until(self.time(cycle)).await;
            return;
        }
        let injected = Rc::new(Latch::new(&self.kernel));
        self.injecting
            .borrow_mut()
            .insert(tag, Rc::clone(&injected));
        injected.wait().await;
    }

    /// The next words in a queue of `rank` and the time from which on they can be read.
    pub(super) fn front(&self, rank: Rank, queue: u32) -> Option<(Portion, Time)> {
        let core = self.core_of[rank.index()];
        let portion = self.touch(|mesh| mesh.front(core, queue))?;
        Some((portion, self.time(portion.first)))
    }

    /// Takes the next words of a queue, `portion`. With the last word of a packet, its label comes
    /// too.
    pub(super) fn take(&self, rank: Rank, queue: u32, portion: &Portion) -> Option<Label> {
        let core = self.core_of[rank.index()];
        self.touch(|mesh| mesh.take(core, queue));
        portion.ended.map(|tag| {
            let label = self.labels.borrow_mut().remove(&tag);
            label.expect("a packet under way has a label")
        })
    }

    /// Sets `heard` when a word comes into an empty queue of `rank`.
    pub(super) fn listen(&self, rank: Rank, queue: u32, heard: &Rc<Latch>) {
        let core = self.core_of[rank.index()];
        self.touch(|mesh| mesh.watch(core, queue));
        let before = self
            .listening
            .borrow_mut()
            .insert((core, queue), Rc::clone(heard));
        debug_assert!(before.is_none_or(|latch| latch.time().is_some()));
    }

    /// Tells cores what has happened on the mesh.
    fn tell(&self) {
        let (arrivals, injected) = {
            let mut mesh = self.mesh.borrow_mut();
            mesh.forget_deliveries();
            (mesh.take_arrivals(), mesh.take_injected())
        };
        for arrival in arrivals {
            let heard = self
                .listening
                .borrow_mut()
                .remove(&(arrival.core, arrival.queue));
            // A core that listens to two queues hears the first word only.
            if let Some(heard) = heard.filter(|heard| heard.time().is_none()) {
                heard.set_at(self.time(arrival.cycle));
            }
        }
        for (tag, cycle) in injected {
            let latch = self.injecting.borrow_mut().remove(&tag);
            latch.expect("its core waits").set_at(self.time(cycle));
        }
    }

    /// What every link of both networks carried.
    pub(crate) fn links(&self) -> Vec<LinkUse> {
        let mesh = self.mesh.borrow();
        let grid = mesh.spec().grid;
        let mut links = Vec::new();
        for node in 0..grid.nodes() {
            for side in Side::ALL {
                let flits = mesh.link_flits(node, side);
                if let Some(next) = grid.neighbour(node, side).filter(|_| flits > 0) {
                    links.push(LinkUse {
                        from: grid.position(node),
                        to: grid.position(next),
                        flits,
                    });
                }
            }
        }
        if let Some(static_net) = &self.static_net {
            links.extend(static_net.links());
        }
        links
    }

    /// Flits in = flits out, and every credit is back.
    pub(crate) fn assert_conservation(&self) {
        let mut mesh = self.mesh.borrow_mut();
        let flits = mesh.conservation();
        assert!(flits.is_ok(), "{flits:?}");
        mesh.forget_deliveries();
        assert!(self.labels.borrow().is_empty(), "packets were not read");
    }
}

/// Moves the mesh along with the kernel's clock, for ever.
///
/// At an instant just after the beginning of a cycle, everything that cores do in that cycle has
/// been done. The mesh may then run on to the next instant at which a core can act, or until it
/// has something to tell a core.
pub(crate) async fn drive(net: Rc<Net>) {
    let kernel = Rc::clone(&net.kernel);
    loop {
        let next = net.mesh.borrow().next_event();
        net.alarm.set(next.unwrap_or(u64::MAX));
        let poke = Rc::new(Latch::new(&kernel));
        *net.poke.borrow_mut() = Some(Rc::clone(&poke));
        let Some(cycle) = next else {
            poke.wait().await;
            continue;
        };
        let alarm = net.time(cycle) + Time::from_ps(1);
        if kernel.now() < alarm {
            race(kernel.sleep_until(alarm), poke.wait()).await;
            continue;
        }
        let end = kernel.next_wake().map_or(u64::MAX, |wake| net.cycle(wake));
        net.mesh.borrow_mut().run_to_news(end);
        net.tell();
    }
}
