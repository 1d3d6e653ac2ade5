// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bound where hardware manages the buffers through which messages go.
//!
//! A word comes from one tile to another by a command to the engine, which copies a block with it
//! into a buffer; an envelope, its acknowledgement and a packet, each of which is there when its last
//! flit is; and the other engine's copying it out. Each of these holds for every schedule, so the
//! largest counts:
//!
//! * *Port out.* What a rank must send to ranks `d` hops away and farther leaves by its port, flit
//!   by flit, with the headers. The first flit comes after a command, a word's copy, an envelope and
//!   an acknowledgement over one hop at least; the last one has `d` hops to go, and is copied.
//! * *Port in.* Nothing of what a rank must hear from ranks `d` hops away arrives before a command, a
//!   copy, and envelope, acknowledgement and packet over `d` hops; from then on flit by flit, and
//!   the last word is copied.
//! * *Engines.* The same with the engine's copying of all words instead of the port: it comes before
//!   the last block's envelope, or after the first packet has arrived as a whole.
//! * *Both.* The engine copies one block at a time: what it must copy in and out adds up, with a
//!   command for each.
//! * *Everybody's work.* The words that all ranks together receive are copied in and copied out; no
//!   schedule can do better than to divide this evenly.
//! * *Cuts.* What must go from one side of the mesh to the other crosses the links between.

use corecast_core::bounds::{self, Crossing, Way};
use corecast_core::{Request, Seats};

use super::Pronto;
use crate::kinds::kind::shared;
use crate::mesh::Mesh;

/// Parts of the bound, in picoseconds.
struct Tiles<'a> {
    mesh: &'a Mesh,
    pronto: &'a Pronto,
    request: &'a Request,
    setup: u64,
    /// A word through an engine.
    copy: u64,
    /// A flit through a port.
    flit: u64,
}

/// Fewest picoseconds of any schedule, among at least two ranks that have something to say.
pub(super) fn ps(mesh: &Mesh, pronto: &Pronto, request: &Request) -> u64 {
    let tiles = Tiles {
        mesh,
        pronto,
        request,
        setup: pronto.clock.to_ps(pronto.setup_cycles),
        copy: pronto.clock.to_ps(pronto.copy_cycles_per_word),
        flit: mesh.flit_ps(),
    };
    let seats = mesh.place(request.ranks);
    let witnesses = bounds::witnesses(request, &seats).into_iter();
    let of_ranks = witnesses.map(|rank| {
        let through = |way| bounds::through(request, &seats, rank, way);
        let (out, into) = (through(Way::Out), through(Way::In));
        let ports = out.iter().map(|crossing| tiles.port_out(*crossing));
        let ports = ports.chain(into.iter().map(|crossing| tiles.port_in(*crossing)));
        let engines = out
            .iter()
            .chain(&into)
            .map(|crossing| tiles.engine(*crossing));
        let ways = ports.chain(engines);
        ways.chain([tiles.both(&out, &into)]).max().unwrap_or(0)
    });
    let most = of_ranks.max().unwrap_or(0);
    most.max(tiles.work()).max(tiles.cut(&seats))
}

impl Tiles<'_> {
    /// A message without payload has a word.
    fn words(&self, bytes: u64) -> u64 {
        self.pronto.words(self.mesh, bytes)
    }

    /// A packet's head over so many hops, and so many flits behind it.
    fn packet(&self, hops: u32, behind: u64) -> u64 {
        let head = self.mesh.clock.to_ps(self.mesh.transit_cycles(hops));
        head.saturating_add(self.flit.saturating_mul(behind))
    }

    /// An envelope and its acknowledgement.
    fn handshake(&self, hops: u32) -> u64 {
        // Both have a flit at least: the chip's check.
        let envelope = self.packet(hops, self.pronto.envelope_flits - 1);
        let acknowledgement = self.packet(hops, self.pronto.acknowledgement_flits - 1);
        envelope.saturating_add(acknowledgement)
    }

    /// Flits of `bytes` bytes behind the first one.
    fn flits_behind(&self, bytes: u64) -> u64 {
        self.pronto.message_flits(self.words(bytes)) - 1
    }

    /// A command and a word's copy before anything else, and a word's copy at the end.
    fn ends(&self) -> u64 {
        self.setup.saturating_add(self.copy.saturating_mul(2))
    }

    fn port_out(&self, crossing: Crossing) -> u64 {
        let data = self.packet(crossing.hops, self.flits_behind(crossing.bytes));
        let handshake = self.handshake(crossing.hops.min(1));
        self.ends().saturating_add(handshake).saturating_add(data)
    }

    fn port_in(&self, crossing: Crossing) -> u64 {
        let data = self.packet(crossing.hops, self.flits_behind(crossing.bytes));
        let handshake = self.handshake(crossing.hops);
        self.ends().saturating_add(handshake).saturating_add(data)
    }

    fn engine(&self, crossing: Crossing) -> u64 {
        let others = self.copy.saturating_mul(self.words(crossing.bytes) - 1);
        // The smallest packet: a header and a word.
        let data = self.packet(crossing.hops, self.pronto.header_flits);
        let handshake = self.handshake(crossing.hops);
        let way = handshake.saturating_add(data);
        self.ends().saturating_add(others).saturating_add(way)
    }

    fn both(&self, out: &[Crossing], into: &[Crossing]) -> u64 {
        let part = |crossings: &[Crossing]| {
            let all = crossings.last().map(|crossing| self.words(crossing.bytes));
            all.map_or(0, |words| {
                self.setup.saturating_add(self.copy.saturating_mul(words))
            })
        };
        part(out).saturating_add(part(into))
    }

    fn work(&self) -> u64 {
        let words = self.mesh.flits(bounds::volume_bytes(self.request));
        let copied = self.copy.saturating_mul(words).saturating_mul(2);
        self.setup
            .saturating_add(shared(copied, self.request.ranks))
    }

    fn cut(&self, seats: &Seats) -> u64 {
        let cuts = bounds::cuts(self.request, seats).into_iter();
        let most = cuts.map(|cut| {
            let flits = self.flits_behind(cut.bytes) + 1;
            self.mesh.crossing_cycles(flits, cut.links)
        });
        let Some(most) = most.max() else {
            return 0; // no payload
        };
        let before = self.ends().saturating_add(self.handshake(1));
        before.saturating_add(self.mesh.clock.to_ps(most))
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::{Collective, Request};

    use crate::{Chip, find_changed};

    fn nagam(changes: &[(&str, &str)]) -> Chip {
        let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
        find_changed("nagam", &owned.collect::<Vec<_>>()).expect("valid")
    }

    /// Over one hop a head takes 3 + 1 + 1 + 1 = 6 cycles, every flit behind it 2: set-up 5, a word
    /// in 2, envelope 6 + 2, acknowledgement 6, header and word 6 + 2, a word out 2.
    #[test]
    fn a_word_between_neighbours_is_exactly_its_parts() {
        let request = Request::new(Collective::Bcast, 2, 4);
        assert_eq!(nagam(&[]).bound_cycles(&request), 5 + 2 + 8 + 6 + 8 + 2);
        // A flit each of envelope and acknowledgement: nothing is behind the heads.
        let chip = nagam(&[("endpoint.envelope", "1"), ("endpoint.copy", "0")]);
        assert_eq!(chip.bound_cycles(&request), 5 + 6 + 6 + 8);
    }

    /// The engine copies 17 blocks of 16 words out of local memory and as many into it.
    #[test]
    fn an_engine_does_one_thing_at_a_time() {
        let request = Request::new(Collective::Alltoall, 18, 64);
        assert_eq!(nagam(&[]).bound_cycles(&request), 2 * (5 + 2 * 17 * 16));
    }

    /// With an engine that takes no time: 8 of 18 ranks have two rows of four routers and send 10
    /// blocks of 16 words each to the others, with a header per packet, over four links.
    #[test]
    fn the_middle_limits_an_alltoall() {
        let request = Request::new(Collective::Alltoall, 18, 64);
        let flits = 8 * 10 * 17 / 4;
        // Set-up, envelope, acknowledgement; into the first router, its route; over and out.
        let ends = 5 + (6 + 2) + 6 + (1 + 1) + (1 + 1 + 1);
        let chip = nagam(&[("endpoint.copy", "0")]);
        assert_eq!(chip.bound_cycles(&request), 2 * (flits - 1) + ends);
    }
}
