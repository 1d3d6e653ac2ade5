// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the cores of one run share: buffers, flags, links, controllers, and the books.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use corecast_chip::{Memory, Mesh, Rcce};
use corecast_core::{Grid, Rank, Schedule, Seats, Side};
use corecast_machine::{BackgroundUse, LinkHold, LinkUse, RunOptions, Time};
use corecast_rcce::{Announcement, Flag, OTHER_FLAGS};
use corecast_sim::memory::{CachesSpec, Server};
use corecast_sim::{Bells, Kernel};

use super::others::Others;
use super::plan::Plan;
use crate::books::Books;

/// Messages of a pair that are on their way, and since when.
type Announced = VecDeque<(Announcement, Time)>;

/// See the module's documentation.
pub(crate) struct Tiles {
    pub kernel: Rc<Kernel>,
    pub books: Books,
    pub ranks: u32,
    /// Where the ranks are.
    seats: Seats,
    pub mesh: Mesh,
    pub memory: Memory,
    pub rcce: Rcce,
    /// The name of the chip.
    pub chip: String,
    pub is_cold: bool,
    /// Until when each core is busy with transfers from before the run: it puts what is left of
    /// them into its buffer.
    pub busy_until: Vec<Time>,
    /// Of where pages lie.
    pub seed: u64,
    /// Bytes of a buffer that messages may use.
    pub payload_bytes: usize,
    /// Payload of every core's buffer.
    pub buffers: RefCell<Vec<Vec<u8>>>,
    /// Per core its flags, which are read far more often than set, and since when each is what it is.
    flags: Vec<Cell<u8>>,
    set_at: Vec<Cell<Time>>,
    /// Rung when a flag of the core is set.
    pub bells: Bells,
    /// Messages that are announced and not delivered, in order, per pair.
    pub announced: RefCell<BTreeMap<(Rank, Rank), Announced>>,
    /// Whose flags are read again and again by which other rank.
    watchers: RefCell<BTreeSet<(Rank, Rank)>>,
    plan: RefCell<Option<Rc<Plan>>>,
    links: Vec<(Server, Cell<u64>)>,
    /// Ports of the buffers.
    ports: Vec<Server>,
    controllers: Vec<Server>,
    /// Other traffic, if there is any.
    others: Option<Others>,
}

/// When a transfer of lines ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub end: Time,
    /// What of it was waiting for traffic of others.
    pub held: Held,
}

/// How long a line waits for traffic of others.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Held {
    /// In all, and at its port alone.
    pub time: Time,
    at_port: Time,
    /// Where it waits longest, if it does.
    pub hold: Option<LinkHold>,
}

impl Held {
    /// Another line has waited, too.
    pub(crate) fn add(&mut self, other: Self) {
        self.time += other.time;
        self.hold = self.hold.or(other.hold);
    }
}

impl Tiles {
    pub(crate) fn new(
        (chip, mesh, memory, rcce): (&str, &Mesh, &Memory, &Rcce),
        kernel: Rc<Kernel>,
        ranks: u32,
        options: &RunOptions,
    ) -> Self {
        let seats = mesh.place(ranks);
        let cores = mesh.grid.ranks_max();
        let payload_bytes = rcce.payload_bytes(cores, memory.line_bytes) as usize;
        let (_, own_write) = rcce.own_cycles();
        let busy = |bytes: u64| {
            let lines = bytes.div_ceil(memory.line_bytes);
            Time::from_ps(rcce.clock.to_ps(own_write.saturating_mul(lines)))
        };
        let flags = ranks * (2 * ranks + OTHER_FLAGS);
        Self {
            bells: Bells::new(&kernel, ranks as usize),
            books: Books::new(ranks),
            ranks,
            links: vec![
                <(Server, Cell<u64>)>::default();
                seats.grid().routers() as usize * Side::ALL.len()
            ],
            ports: vec![Server::default(); ranks as usize],
            controllers: vec![Server::default(); memory.controllers.len()],
            others: options.background.and_then(|b| Others::new(mesh, b)),
            seats,
            kernel,
            chip: chip.to_owned(),
            is_cold: options.is_cold,
            busy_until: options.busy_bytes(ranks).into_iter().map(busy).collect(),
            seed: options.seed,
            payload_bytes,
            buffers: RefCell::new(vec![vec![0; payload_bytes]; ranks as usize]),
            flags: vec![Cell::new(0); flags as usize],
            set_at: vec![Cell::new(Time::ZERO); flags as usize],
            announced: RefCell::default(),
            watchers: RefCell::default(),
            plan: RefCell::default(),
            mesh: mesh.clone(),
            memory: memory.clone(),
            rcce: rcce.clone(),
        }
    }

    pub(crate) fn caches(&self) -> CachesSpec {
        let size = |cache: corecast_chip::CacheSize| (cache.bytes, cache.ways);
        CachesSpec {
            line_bytes: self.memory.line_bytes,
            page_bytes: self.memory.page_bytes,
            l1: size(self.memory.l1),
            l2: size(self.memory.l2),
        }
    }

    /// What has to be known of the run's schedule, worked out by whoever asks first. A run has one
    /// schedule: the flags of a second one would begin to count anew.
    pub(crate) fn plan(&self, schedule: &Schedule) -> Rc<Plan> {
        let mut plan = self.plan.borrow_mut();
        let plan = plan.get_or_insert_with(|| {
            let line = self.memory.line_bytes as usize;
            Rc::new(Plan::new(
                schedule,
                self.rcce.library,
                self.payload_bytes,
                line,
            ))
        });
        Rc::clone(plan)
    }

    fn flag_place(&self, at: Rank, flag: Flag) -> usize {
        (at.0 * (2 * self.ranks + OTHER_FLAGS) + flag.0) as usize
    }

    /// A flag's value, and since when it has it.
    pub(crate) fn flag(&self, at: Rank, flag: Flag) -> (u8, Time) {
        let place = self.flag_place(at, flag);
        (self.flags[place].get(), self.set_at[place].get())
    }

    /// A flag's value.
    pub(crate) fn flag_value(&self, at: Rank, flag: Flag) -> u8 {
        self.flags[self.flag_place(at, flag)].get()
    }

    /// Sets a flag now.
    pub(crate) fn set_flag(&self, at: Rank, flag: Flag, value: u8) {
        let now = self.kernel.now();
        let place = self.flag_place(at, flag);
        self.flags[place].set(value);
        self.set_at[place].set(now);
        self.bells.ring_at(at.index(), now);
        let watchers = self.watchers.borrow();
        for &(_, watcher) in watchers.range((at, Rank(0))..=(at, Rank(u32::MAX))) {
            self.bells.ring_at(watcher.index(), now);
        }
    }

    /// From now on `watcher` hears of the flags in these buffers, or does no longer.
    pub(crate) fn watch(&self, watcher: Rank, owners: impl Iterator<Item = Rank>, is_on: bool) {
        let mut watchers = self.watchers.borrow_mut();
        for owner in owners {
            match is_on {
                true => watchers.insert((owner, watcher)),
                false => watchers.remove(&(owner, watcher)),
            };
        }
    }

    /// Core cycles as time.
    pub(crate) fn cycles(&self, cycles: u64) -> Time {
        Time::from_ps(self.rcce.clock.to_ps(cycles))
    }

    /// Over so many hops and back.
    pub(crate) fn round_trip(&self, hops: u32) -> Time {
        let cycles = 2 * u64::from(hops) * self.mesh.hop_cycles();
        Time::from_ps(self.mesh.clock.to_ps(cycles))
    }

    /// To read a line of the buffer of `at`, or to write it.
    pub(crate) fn line_time(&self, me: Rank, at: Rank, is_read: bool) -> Time {
        let rcce = &self.rcce;
        let (own_read, own_write) = rcce.own_cycles();
        if me == at {
            return self.cycles(if is_read { own_read } else { own_write });
        }
        let cycles = if is_read {
            rcce.mpb_read_cycles
        } else {
            rcce.mpb_write_cycles
        };
        self.cycles(cycles) + self.round_trip(self.seats.hops(me, at))
    }

    /// The grid in which they are.
    const fn grid(&self) -> &Grid {
        self.seats.grid()
    }

    /// Node of a rank.
    fn node(&self, rank: Rank) -> u32 {
        self.seats.node_of(rank)
    }

    /// The controller of a core, and the hops to it.
    pub(crate) fn controller(&self, me: Rank) -> (usize, u32) {
        let at = self.seats.position(me);
        self.memory.controller(self.grid(), at)
    }

    /// Moves `lines` lines between the buffer of `at` and a core, over the links between `from` and
    /// `to`, from now on; if they were alone that would end at `end`.
    pub(crate) fn move_lines(
        &self,
        (from, to): (Rank, Rank),
        at: Rank,
        lines: u64,
        end: Time,
    ) -> Moved {
        let now = self.kernel.now();
        let held = self.held((from, to), at);
        let end = end + held.time;
        let duration = end.saturating_sub(now);
        let port = self.mesh.clock.to_ps(self.rcce.mpb_port_cycles * lines);
        let port = Time::from_ps(port) + held.at_port;
        let mut moved = Moved {
            end: self.ports[at.index()].serve(now, duration, port),
            held,
        };
        // A head and the line. Within a router there are no links, with the bypass or without.
        let flits = lines * (1 + self.memory.line_bytes.div_ceil(self.mesh.flit_bytes));
        let work = self
            .mesh
            .clock
            .to_ps(flits * u64::from(self.mesh.link_interval_cycles));
        let work = Time::from_ps(work);
        let (from, to) = (self.node(from), self.node(to));
        self.grid().visit_route(from, to, &mut |node, hop| {
            let (server, carried) =
                &self.links[node as usize * Side::ALL.len() + hop.side as usize];
            carried.set(carried.get() + flits);
            let others = self.wait_at(node, hop.side);
            moved.end = moved.end.max(server.serve(now, duration, work + others));
        });
        moved
    }

    fn wait_at(&self, node: u32, side: Side) -> Time {
        let wait = |others: &Others| {
            let at = self.grid().position(node);
            others.wait_at_link(at, side, self.kernel.now())
        };
        self.others.as_ref().map_or(Time::ZERO, wait)
    }

    /// What a line waits now for others on its way, one link after the other, and at its port.
    fn held(&self, (from, to): (Rank, Rank), at: Rank) -> Held {
        let mut held = Held::default();
        let Some(others) = &self.others else {
            return held;
        };
        let now = self.kernel.now();
        others.advance(now);
        let place = self.seats.position(at);
        let index = self.seats.core_of(at) % self.grid().per_node;
        let hold = |from_router, to_router| LinkHold {
            from: from_router,
            to: to_router,
            message: (from, to),
            holder: None,
        };
        let mut longest = Time::ZERO;
        let mut add = |wait: Time, hold: LinkHold| {
            held.time += wait;
            if wait > longest {
                (longest, held.hold) = (wait, Some(hold));
            }
        };
        let at_port = others.wait_at_port(place, index, now);
        add(at_port, hold(place, place));
        let (from, to) = (self.node(from), self.node(to));
        self.grid().visit_route(from, to, &mut |node, hop| {
            let next = self.grid().neighbour(node, hop.side).unwrap_or(node);
            let ends = [node, next].map(|node| self.grid().position(node));
            add(self.wait_at(node, hop.side), hold(ends[0], ends[1]));
        });
        Held { at_port, ..held }
    }

    /// What other traffic has sent.
    pub(crate) fn background_used(&self) -> BackgroundUse {
        let used = self.others.as_ref().map(Others::used);
        used.unwrap_or_default()
    }

    /// Whether lines have to be looked at one by one.
    pub(crate) fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// The end of a transfer that begins now, as far as a controller is concerned.
    pub(crate) fn use_controller(&self, me: Rank, lines: u64, end: Time) -> Time {
        if lines == 0 {
            return end;
        }
        let now = self.kernel.now();
        let work = Time::from_ps(self.memory.clock.to_ps(self.memory.port_cycles * lines));
        let (controller, _) = self.controller(me);
        self.controllers[controller].serve(now, end.saturating_sub(now), work)
    }

    /// What every link carried, between buffers and cores and for others.
    pub(crate) fn link_uses(&self) -> Vec<LinkUse> {
        if let Some(others) = &self.others {
            others.advance(self.kernel.now());
        }
        let of_others = |at, side| {
            let others = self.others.as_ref();
            others.map_or(0, |others| others.carried(at, side))
        };
        let nodes = (0..self.grid().routers()).flat_map(|node| Side::ALL.map(|side| (node, side)));
        let uses = nodes
            .zip(&self.links)
            .filter_map(|((node, side), (_, flits))| {
                let to = self.grid().neighbour(node, side)?;
                let (from, to) = (self.grid().position(node), self.grid().position(to));
                let flits = flits.get() + of_others(from, side);
                let flits = Some(flits).filter(|&flits| flits > 0)?;
                Some(LinkUse { from, to, flits })
            });
        uses.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{beside, ns, tiles};
    use super::*;

    #[test]
    fn every_flag_has_a_place_of_its_own() {
        let (_, tiles) = tiles(&RunOptions::default(), |_, _, _| {});
        let flags = 2 * tiles.ranks + OTHER_FLAGS;
        let all = || (0..tiles.ranks).flat_map(|at| (0..flags).map(move |flag| (at, flag)));
        // Neighbouring numbers in one flag would show.
        let value = |(at, flag): (u32, u32)| (7 * at + flag) as u8;
        for (at, flag) in all() {
            tiles.set_flag(Rank(at), Flag(flag), value((at, flag)));
        }
        for (at, flag) in all() {
            let found = tiles.flag(Rank(at), Flag(flag));
            assert_eq!(found, (value((at, flag)), Time::ZERO), "{flag} of {at}");
        }
    }

    /// A line is three flits: a head and two of 16 bytes.
    #[test]
    fn lines_take_the_links_of_their_way() {
        let interval = 10;
        let (_, tiles) = tiles(&RunOptions::default(), |mesh, _, _| {
            mesh.link_interval_cycles = interval as u32;
        });
        let (lines, flits) = (4, 3 * 4);
        // Ranks 0 and 1 share a router; rank 4 is two hops away.
        let moved = |from, to, lines| {
            let moved = tiles.move_lines((Rank(from), Rank(to)), Rank(to), lines, ns(1));
            moved.end
        };
        assert_eq!([moved(0, 0, 7), moved(0, 1, 7)], [ns(1); 2]);
        assert_eq!(moved(0, 4, lines), ns(flits * interval));
        assert_eq!(moved(2, 4, lines), ns(2 * flits * interval));
        let hop = |from: u32, flits| LinkUse {
            from: (from, 0),
            to: (from + 1, 0),
            flits,
        };
        assert_eq!(tiles.link_uses(), [hop(0, flits), hop(1, 2 * flits)]);
    }

    /// A core goes to the nearest controller, the first of those; each serves one after the other.
    #[test]
    fn controllers_serve_who_has_lines_for_them() {
        let line = 7;
        let (_, tiles) = tiles(&RunOptions::default(), |_, memory, _| {
            memory.port_cycles = line;
        });
        let of = |(x, y): (u32, u32)| tiles.controller(Rank(12 * y + 2 * x));
        assert_eq!(
            [of((0, 0)), of((1, 0)), of((2, 1))],
            [(0, 0), (0, 1), (0, 3)]
        );
        assert_eq!(
            [of((5, 0)), of((5, 1)), of((4, 3))],
            [(1, 0), (1, 1), (3, 2)]
        );
        let end = |rank, lines, end| tiles.use_controller(Rank(rank), lines, end);
        assert_eq!(end(0, 3, ns(1)), ns(3 * line));
        assert_eq!(end(2, 2, ns(1)), ns((3 + 2) * line));
        assert_eq!(end(2, 0, ns(1)), ns(1), "it wants nothing of it");
        assert_eq!(end(10, 1, ns(1)), ns(line));
    }

    /// A line waits at its port and at every link of its way; the longest of these waits is named, the
    /// first of equal ones, and none where there is none.
    #[test]
    fn lines_wait_for_others_at_their_port_and_at_every_link() {
        let [mut without, mut with_ties] = [0, 0];
        // Beside few packets most waits are zero; beside too many they are as long as they can be.
        for rate in [0.02, 1.0] {
            let (mut executor, tiles) = tiles(&beside(rate), |_, _, _| {});
            let kernel = Rc::clone(&tiles.kernel);
            executor.spawn(async move { kernel.sleep_until(ns(2000)).await });
            assert!(executor.run().is_complete());
            for (from, to) in (0..48).flat_map(|from| (0..48).map(move |to| (from, to))) {
                let ends = (Rank(from), Rank(to));
                let held = tiles.held(ends, ends.1);
                let (now, place) = (tiles.kernel.now(), tiles.seats.position(ends.1));
                let others = tiles.others.as_ref().expect("there are others");
                let at_port = others.wait_at_port(place, to % 2, now);
                assert_eq!(held.at_port, at_port);
                let mut waits = vec![(at_port, (place, place))];
                let grid = tiles.grid();
                grid.visit_route(from / 2, to / 2, &mut |node, hop| {
                    let next = grid.neighbour(node, hop.side).expect("inside");
                    let wait = others.wait_at_link(grid.position(node), hop.side, now);
                    waits.push((wait, (grid.position(node), grid.position(next))));
                });
                let sum = waits.iter().fold(Time::ZERO, |sum, &(wait, _)| sum + wait);
                assert_eq!(held.time, sum, "{from} to {to}");
                let longest = waits.iter().map(|&(wait, _)| wait).max();
                let longest = longest.filter(|&wait| wait > Time::ZERO);
                let mut first = waits.iter().filter(|&&(wait, _)| Some(wait) == longest);
                let named = held.hold.map(|hold| (hold.from, hold.to));
                assert_eq!(named, first.next().map(|&(_, link)| link), "{from} to {to}");
                without += usize::from(named.is_none());
                with_ties += first.count();
            }
        }
        assert!(without > 0 && with_ties > 0, "{without}, {with_ties}");
    }
}
