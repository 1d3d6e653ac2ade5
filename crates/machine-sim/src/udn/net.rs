// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mesh of one run, its clock, and the packets on it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_chip::{Mesh, Udn};
use corecast_core::{Grid, Rank, Seats};
use corecast_machine::{Background, Cause, Header, LinkUse, Message, RunError, RunOptions, Time};
use corecast_sim::network::mesh::{
    CYCLES_MAX, Ejection, Interval, LinkWait, MeshSpec, Packet, RouterSpec, VcChoice,
};
use corecast_sim::traffic::UniformTraffic;
use corecast_sim::{Bells, Kernel, Latch, race};

use super::costs::Costs;
use super::network::{Network, Portion};
use super::static_net::StaticNet;
use crate::books::Books;
use crate::window::Window;
use crate::{Fidelity, mesh_spec};

/// How many words a core reads in one go that writes a packet meanwhile: it looks behind each whether it may
/// go on.
pub(super) const FRONT: u64 = 1;
/// Queue for data.
pub(super) const DATA: u32 = 0;
/// Tag of background traffic.
pub(super) const NOBODY: u64 = u64::MAX;
/// Queue for flow control.
pub(super) const CONTROL: u32 = 1;

/// What a packet is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PacketKind {
    /// It carries a message, or a part of one.
    Data,
    /// The receiver can take a packet.
    Ready,
    /// The receiver has a message.
    Done,
    /// The words of a header of tagged messages.
    Header,
}

/// What a packet says beside its words.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub from: Rank,
    pub kind: PacketKind,
    /// Words of payload.
    pub words: u64,
    /// The message, in its last packet.
    pub message: Option<Message>,
    /// When the sender began with the message, and when its first word left.
    pub posted: Time,
    pub start: Time,
}

/// When the last word of a packet has been taken from its core.
#[derive(Clone, Copy, Debug)]
pub(super) enum Injection {
    /// At this time.
    Until(Time),
    /// The mesh will tell: see [`Net::hear_injected`]. The packet has this tag, and its last word
    /// would be taken by then if nothing held it up.
    IsTold(u64, Time),
}

/// Words that a core reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Of their packet.
    tag: u64,
    /// Whether it ends with them.
    is_end: bool,
    /// When they have been read, and how long the core is busy with them.
    pub end: Time,
    busy: Time,
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
    /// Where the ranks sit, and the whole mesh.
    pub(super) seats: Seats,
    pub(super) grid_of_mesh: Grid,
    period: Time,
    flit_interval: Interval,
    /// How many words a core that does nothing else reads in one go, of those that come without a pause: all,
    /// or fewer, which takes no other time.
    pub(super) all: u64,
    /// Core of every rank, ascending if they are in order.
    core_of: Vec<u32>,
    pub(super) mesh: RefCell<Network>,
    /// Labels of the packets under way, and places among them that are free.
    labels: RefCell<Vec<Option<Label>>>,
    free_labels: RefCell<Vec<u32>>,
    /// For cores that wait for a word in one of their queues, and for ranks whose packet is being
    /// injected; and when it is, for those that have not asked yet.
    heard: Bells,
    injected: Bells,
    injected_at: Vec<Cell<Option<Time>>>,
    /// Cycle in which the mesh is looked at next, and how cores ask for an earlier one.
    alarm: Cell<u64>,
    poke: Latch,
    /// Who waited for which link, by the tags of packets that have not been read.
    pub(super) waits: RefCell<BTreeMap<u64, Vec<LinkWait>>>,
    /// Traffic of others, and the queue that takes it.
    background: RefCell<Option<UniformTraffic>>,
    pub(super) others: Window,
    background_queue: u32,
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
        let costs = Costs::new(mesh, udn, ranks);
        let period = Time::from_ps(mesh.clock.to_ps(1));
        let busy = options.busy_bytes(ranks);
        let busy_of = |rank| {
            busy.get(rank as usize)
                .map_or(0, |&bytes| mesh.flits(bytes))
        };
        let spec = mesh_spec(mesh);
        let spec = MeshSpec {
            router: RouterSpec {
                // Messages are put together from packets that say nothing about their order.
                vc_choice: VcChoice::Receiver,
                ..spec.router
            },
            ejection: Ejection::Queues {
                count: udn.queues,
                flits: udn.queue_words,
            },
            ..spec
        };
        let mut network = Network::new(&spec, fidelity);
        let traffic = |options: &Background| {
            UniformTraffic::new(&spec, options.rate, options.packet_flits, options.seed)
        };
        let background = options.background.as_ref().map(traffic);
        let background_queue = udn.queues - 1;
        if background.is_some() {
            for core in 0..spec.cores() {
                network.watch(core, background_queue);
            }
        }
        Self {
            books: Books::new(ranks),
            costs,
            ranks,
            busy_until: (0..ranks)
                .map(|rank| costs.inject * busy_of(rank))
                .collect(),
            // At most 64: the chip's check.
            flit_interval: Interval::of(costs.inject.ps(), period.ps()),
            static_net: mesh
                .static_hop_cycles
                .map(|cycles| StaticNet::new(&kernel, period * u64::from(cycles))),
            seats: mesh.place(ranks),
            grid_of_mesh: mesh.grid,
            period,
            all: u64::MAX,
            core_of: mesh.cores(ranks),
            mesh: RefCell::new(network),
            labels: RefCell::default(),
            free_labels: RefCell::default(),
            heard: Bells::new(&kernel, mesh.grid.ranks_max() as usize),
            injected: Bells::new(&kernel, ranks as usize),
            injected_at: match fidelity {
                Fidelity::Flit => vec![Cell::new(None); ranks as usize],
                Fidelity::Packet => Vec::new(),
            },
            alarm: Cell::new(u64::MAX),
            poke: Latch::new(&kernel),
            waits: RefCell::default(),
            others: Window::new(background.as_ref().map_or(0, |_| spec.cores())),
            background: RefCell::new(background),
            background_queue,
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
            && self.poke.time().is_none()
        {
            self.poke.set_at(self.kernel.now());
        }
        result
    }

    /// Puts a packet into the network. What it returns says when the last word has been taken from
    /// the core, or that the mesh will tell.
    pub(super) fn send(&self, to: Rank, queue: u32, label: Label) -> Injection {
        let from = label.from;
        let flits = (label.words + self.costs.header_words) as u32; // at most 4096 + 64
        let place = self.free_labels.borrow_mut().pop();
        let mut labels = self.labels.borrow_mut();
        let place = match place {
            Some(place) => {
                labels[place as usize] = Some(label);
                place
            }
            None => {
                labels.push(Some(label));
                labels.len() as u32 - 1 // a label per packet, of which there are fewer than 2^32
            }
        };
        drop(labels);
        let packet = Packet {
            src: self.core_of[from.index()],
            dst: self.core_of[to.index()],
            flits,
            flit_interval: self.flit_interval,
            queue,
            reports_injection: true,
            tag: (u64::from(from.0) << 32) | u64::from(place),
        };
        match self.touch(|mesh| mesh.send(packet)) {
            Some(cycle) => Injection::Until(self.time(cycle)),
            None => {
                let alone = self.costs.inject * u64::from(flits);
                Injection::IsTold(packet.tag, self.kernel.now() + alone + self.period)
            }
        }
    }

    /// Waits until the mesh tells that the last word of a packet of `rank` has been taken from it
    /// (true), or that a queue of its core is full, if that was asked for.
    pub(super) async fn hear_injected(&self, rank: Rank) -> bool {
        let injected_at = &self.injected_at[rank.index()];
        let is_over = || {
            let is_over = injected_at
                .get()
                .is_some_and(|time| time <= self.kernel.now());
            if is_over {
                injected_at.set(None);
            }
            is_over
        };
        if is_over() {
            return true;
        }
        // The mesh may have told it ahead, and the queue be full before.
        let latest = injected_at.get().unwrap_or(Time::MAX);
        self.injected.wait_until(rank.index(), latest).await;
        is_over()
    }

    /// A queue of `rank` that is full and holds up words; if there is none, whoever waits for an
    /// injection is told when there is.
    pub(super) fn full_queue(&self, rank: Rank) -> Option<u32> {
        let core = self.core_of[rank.index()];
        let is_full = |&queue: &u32| self.touch(|mesh| mesh.watch_full(core, queue));
        [CONTROL, DATA].into_iter().find(is_full)
    }

    /// The next words in a queue of `rank`.
    pub(super) fn front(&self, rank: Rank, queue: u32) -> Option<Portion> {
        let core = self.core_of[rank.index()];
        self.touch(|mesh| mesh.front(core, queue))
    }

    /// The queue of `rank` whose first words come earliest, and these.
    ///
    /// A core that has read a part of a packet finds the rest, if that has come without a pause: both queues
    /// are behind one port of the mesh, so that nothing has come between.
    pub(super) fn earliest(&self, rank: Rank) -> Option<(u32, Portion)> {
        // Readies first: they are short, and let this core send.
        let fronts = [CONTROL, DATA].into_iter();
        let fronts = fronts.filter_map(|queue| Some((queue, self.front(rank, queue)?)));
        // Of equally early ones the first.
        fronts.min_by_key(|(_, portion)| portion.first)
    }

    /// The rank that has sent the packet with this tag.
    pub(super) fn sender(tag: u64) -> Rank {
        Rank((tag >> 32) as u32)
    }

    /// Takes the words at the front of a queue of `rank`, and up to `most` words with those behind them that
    /// come without a pause. The core reads them one by one: each takes `extract`, and none is read before it
    /// comes.
    pub(super) fn begin_reading(
        &self,
        rank: Rank,
        (queue, portion): (u32, Portion),
        most: u64,
    ) -> Reading {
        let place = (self.core_of[rank.index()], queue);
        let extract = self.costs.extract;
        let start = self.kernel.now().max(self.time(portion.first));
        // A word is begun in one cycle, and taken at the end of it or in the next one. Clocks are mostly such
        // that nothing is left to divide.
        let period = self.period.ps();
        let parts = |time: Time| (time.ps() / period, time.ps() % period);
        let (starts, extracts) = (parts(start), parts(extract));
        let cycles_of = |word: u64| {
            let cycle = starts.0 + extracts.0 * word;
            match starts.1 + extracts.1 * word {
                0 => cycle..=cycle,
                rest if rest < period => cycle..=cycle + 1,
                rest => cycle + rest / period..=cycle + rest.div_ceil(period),
            }
        };
        let (words, is_end) = self.touch(|mesh| mesh.take_many(place, &portion, most, cycles_of));
        let busy = extract * words;
        let last = self.time(portion.last) + extract;
        Reading {
            tag: portion.tag,
            is_end,
            end: (start + busy).max(last),
            busy,
        }
    }

    /// Accounts for the time of words that have been read, at their end, by a rank that has waited for
    /// `peer`. What they say if a packet ends with them.
    pub(super) fn end_reading(&self, rank: Rank, peer: Rank, reading: &Reading) -> Option<Label> {
        let &Reading {
            tag,
            is_end,
            end,
            busy,
        } = reading;
        self.account_arrival(rank, peer, tag);
        self.books.fill(rank, end - busy, Cause::WaitPeer(peer));
        self.books.fill(rank, end, Cause::Transfer);
        is_end.then(|| self.take_label(tag))
    }

    /// Whether a rank has ended before an envelope for it came.
    pub(crate) fn check_received(&self) -> Result<(), RunError> {
        for label in self.labels.borrow().iter().flatten() {
            let content = label.message.as_deref().unwrap_or_default();
            if let (PacketKind::Header, [content]) = (label.kind, content) {
                let header = Header::decode(content);
                let to = content[Header::BYTES..].try_into();
                let to = Rank(u32::from_le_bytes(to.expect("whom it is for")));
                let envelope = header.envelope(label.from);
                return Err(RunError::Unreceived { to, envelope });
            }
        }
        Ok(())
    }

    /// The rank on a core.
    pub(super) fn rank_at(&self, core: u32) -> Option<Rank> {
        if !self.seats.are_in_order() {
            return self.seats.rank_at(core);
        }
        let rank = self.core_of.binary_search(&core).ok()?;
        Some(Rank(rank as u32))
    }

    /// Takes the label of a packet whose last word has been read.
    fn take_label(&self, tag: u64) -> Label {
        let place = tag as u32; // its lower half
        self.waits.borrow_mut().remove(&tag);
        self.free_labels.borrow_mut().push(place);
        let label = self.labels.borrow_mut()[place as usize].take();
        label.expect("a packet under way has a label")
    }

    /// Waits until a word comes into one of the queues of `rank`, all of them empty.
    pub(super) async fn listen(&self, rank: Rank) {
        let core = self.core_of[rank.index()];
        self.touch(|mesh| {
            mesh.watch(core, DATA);
            mesh.watch(core, CONTROL);
        });
        self.heard.wait(core as usize).await;
    }

    /// Tells cores what has happened on the mesh.
    fn tell(&self) {
        let (arrivals, injected) = {
            let mut mesh = self.mesh.borrow_mut();
            mesh.forget_deliveries();
            (mesh.take_arrivals(), mesh.take_injected())
        };
        for arrival in arrivals {
            if arrival.queue == self.background_queue && self.background.borrow().is_some() {
                self.discard(arrival.core);
                continue;
            }
            // A core that listens to two queues hears the first word only.
            let time = self.time(arrival.cycle);
            let is_heard = self.heard.ring_at(arrival.core as usize, time);
            if !is_heard && let Some(rank) = self.rank_at(arrival.core) {
                // It writes, and its queue is full.
                self.injected.ring_at(rank.index(), time);
            }
        }
        for (tag, cycle) in injected {
            let rank = (tag >> 32) as usize;
            let time = self.time(cycle);
            let before = self.injected_at[rank].replace(Some(time));
            assert_eq!(
                before, None,
                "rank {rank} writes one packet after the other"
            );
            // A rank that is reading meanwhile asks when it has done so.
            self.injected.ring_at(rank, time);
        }
    }

    /// Takes the words of background traffic from a core's queue, as if somebody else read them
    /// when they come.
    fn discard(&self, core: u32) {
        let (mut mesh, queue) = (self.mesh.borrow_mut(), self.background_queue);
        while let Some(portion) = mesh.front(core, queue) {
            mesh.take(core, queue);
            if portion.is_end {
                self.others.arrived(portion.src);
            }
        }
        mesh.watch(core, queue);
    }

    /// What every link of both networks carried.
    pub(crate) fn links(&self) -> Vec<LinkUse> {
        let mut links = self.mesh.borrow().links();
        if let Some(static_net) = &self.static_net {
            links.extend(static_net.links());
        }
        links
    }

    /// Flits in = flits out, and every credit is back.
    pub(crate) fn assert_conservation(&self) {
        if self.background.borrow().is_some() {
            loop {
                let next = self.mesh.borrow().next_event();
                let Some(next) = next else { break };
                self.mesh.borrow_mut().run_to_news(next + 1);
                self.tell();
            }
        }
        let mut mesh = self.mesh.borrow_mut();
        let flits = mesh.conservation();
        assert!(flits.is_ok(), "{flits:?}");
        mesh.forget_deliveries();
        let is_read = self.labels.borrow().iter().all(Option::is_none);
        assert!(is_read, "packets were not read");
    }
}

/// Sends the packets of the background traffic, each in the cycle in which it is created unless its core
/// has as many under way as it may.
///
/// Ends with the run, or when the next packet would come later than a mesh can count cycles.
pub(crate) async fn disturb(net: Rc<Net>) {
    loop {
        let next = net
            .background
            .borrow()
            .as_ref()
            .map(UniformTraffic::next_cycle);
        let Some(cycle) = next.filter(|&cycle| cycle < CYCLES_MAX) else {
            return;
        };
        net.kernel.sleep_until(net.time(cycle)).await;
        loop {
            let packet = net
                .background
                .borrow_mut()
                .as_mut()
                .and_then(|b| b.pop(cycle));
            let Some(packet) = packet else { break };
            if !net.others.admits(packet.src, packet.flits) {
                continue;
            }
            let queue = net.background_queue;
            let tag = NOBODY;
            net.touch(|mesh| {
                mesh.send(Packet {
                    queue,
                    tag,
                    ..packet
                })
            });
        }
    }
}

/// Moves the mesh along with the kernel's clock until the run ends.
///
/// At an instant just after the beginning of a cycle, everything that cores do in that cycle has
/// been done. The mesh may then run on to the next instant at which a core can act, or until it
/// has something to tell a core.
pub(crate) async fn drive(net: Rc<Net>) {
    let kernel = Rc::clone(&net.kernel);
    loop {
        let next = net.mesh.borrow().next_event();
        net.alarm.set(next.unwrap_or(u64::MAX));
        net.poke.reset();
        let Some(cycle) = next else {
            net.poke.wait().await;
            continue;
        };
        let alarm = net.time(cycle) + Time::from_ps(1);
        if kernel.now() < alarm {
            race(kernel.sleep_until(alarm), net.poke.wait()).await;
            continue;
        }
        let end = kernel.next_wake().map_or(u64::MAX, |wake| net.cycle(wake));
        net.mesh.borrow_mut().run_to_news(end);
        net.tell();
    }
}
