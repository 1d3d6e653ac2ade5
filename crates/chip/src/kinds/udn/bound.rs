// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bound where cores write words into a mesh and read them themselves.
//!
//! Let `call` be the software on entering the collective, `send` and `recv` that of one message at
//! either end, and take the words of packets' headers along with those of the payload. Each of
//! these holds for every schedule, so the largest counts:
//!
//! * *Way out.* What a rank must send to ranks `d` hops away and farther leaves its core word by
//!   word. The last of these words still has `d` hops to go, is read, and its message ends with
//!   `recv`; before the first there was `call` and `send`. For every distance `d`: near ranks may
//!   be served last, so that their words and the farthest hops do not add up. Only the head of a
//!   packet looks for its way at every hop; a word that is written long after it just follows.
//! * *Way in.* Nothing of what a rank must hear from ranks `d` hops away arrives before `call`,
//!   `send` and `d` hops; from then on its core reads the words one by one.
//! * *Both.* A core writes and reads its words itself, never two at once: what it must send and
//!   what it must receive add up.
//! * *Everybody's work.* The words that all ranks together receive have been written as often, and
//!   contributions have been combined; no schedule can do better than to divide this work evenly.
//! * *Cuts.* What must go from one side of the mesh to the other crosses the links between, one flit
//!   per link and interval; `call` and `send` come before, the reading of a word and `recv` after.
//!
//! With a static network a word may go over either, without a header, forked on its way and at the
//! faster network's hop time. Writing a word then serves many, there are twice as many links, and
//! of the software only the cheaper of a message's sending and a route's configuring is certain.

use corecast_core::bounds::{self, Crossing, Way};
use corecast_core::{Request, Seats};

use super::Udn;
use crate::kinds::kind::shared;
use crate::mesh::Mesh;

/// Parts of the bound, in picoseconds.
struct Words<'a> {
    mesh: &'a Mesh,
    udn: &'a Udn,
    request: &'a Request,
    /// Before anything is sent: entering the collective.
    call: u64,
    /// The software of a message before its first word and after its last one.
    send: u64,
    recv: u64,
    /// To write and to read a word.
    inject: u64,
    extract: u64,
}

/// Fewest picoseconds of any schedule, among at least two ranks that have something to say.
pub(super) fn ps(mesh: &Mesh, udn: &Udn, request: &Request) -> u64 {
    let ranks = u64::from(request.ranks);
    let core = |cycles| udn.clock.to_ps(cycles);
    let per_rank = |cycles: u64, each: u64| core(cycles.saturating_add(each.saturating_mul(ranks)));
    let payload = match bounds::of(request).port_bytes {
        0 => 0,
        _ => core(udn.payload_cycles),
    };
    let send = core(udn.send_cycles).saturating_add(payload);
    let recv = per_rank(udn.recv_cycles, udn.recv_cycles_per_rank).saturating_add(payload);
    let (send, recv) = match mesh.static_hop_cycles {
        Some(_) => (send.min(core(udn.route_cycles)), 0),
        None => (send, recv),
    };
    let words = Words {
        mesh,
        udn,
        request,
        call: per_rank(udn.call_cycles, udn.call_cycles_per_rank),
        send,
        recv,
        inject: core(udn.inject_cycles_per_word).max(mesh.clock.to_ps(1)),
        extract: core(udn.extract_cycles_per_word),
    };
    let seats = mesh.place(request.ranks);
    let witnesses = bounds::witnesses(request, &seats).into_iter();
    let of_ranks = witnesses.map(|rank| {
        let through = |way| bounds::through(request, &seats, rank, way);
        let (out, into) = (through(Way::Out), through(Way::In));
        let ways = out.iter().map(|crossing| words.way_out(*crossing));
        let ways = ways.chain(into.iter().map(|crossing| words.way_in(*crossing)));
        ways.chain([words.both(&out, &into)]).max().unwrap_or(0)
    });
    let most = of_ranks.max().unwrap_or(0);
    let after_call = most.max(words.work()).max(words.cut(&seats));
    words.call.saturating_add(after_call)
}

impl Words<'_> {
    fn is_static(&self) -> bool {
        self.mesh.carries_multicasts()
    }

    /// Words of `bytes` bytes on a port; a message without payload is a header.
    fn words(&self, bytes: u64) -> u64 {
        let words = self.mesh.flits(bytes);
        match self.is_static() {
            true => words,
            false => self.udn.message_words(words),
        }
    }

    /// From the writing of a word behind a head that has found the way until it can be read.
    fn follow(&self, hops: u32) -> u64 {
        if self.is_static() {
            return self.transit(hops);
        }
        let mesh = self.mesh;
        let hop = u64::from(mesh.switch_cycles + mesh.link_cycles);
        let ends = u64::from(mesh.injection_cycles + mesh.ejection_cycles);
        let hops = hop.saturating_mul(u64::from(hops));
        mesh.clock.to_ps(ends.saturating_add(hops))
    }

    /// From a head's being written until it can be read, `hops` hops away.
    fn transit(&self, hops: u32) -> u64 {
        let cycles = match self.mesh.static_hop_cycles {
            Some(cycles) => u64::from(cycles)
                .min(self.mesh.hop_cycles())
                .saturating_mul(u64::from(hops)),
            None => self.mesh.transit_cycles(hops),
        };
        self.mesh.clock.to_ps(cycles)
    }

    /// The last word is behind a head that found the way, or the head's packet ends with it: in
    /// longer packets less has been written before the head.
    fn way_out(&self, crossing: Crossing) -> u64 {
        let words = self.words(crossing.bytes);
        let longest = words.min(self.udn.header_words.saturating_add(self.udn.packet_words));
        let written = |words| self.inject.saturating_mul(words);
        let behind = self.mesh.clock.to_ps(longest.saturating_sub(1));
        let of_head = written(words - longest).saturating_add(behind);
        let of_head = of_head.saturating_add(self.transit(crossing.hops));
        let of_last = written(words.saturating_sub(1)).saturating_add(self.follow(crossing.hops));
        let read = if words > 0 { self.extract } else { 0 };
        let ends = self.send.saturating_add(read).saturating_add(self.recv);
        ends.saturating_add(of_head.max(of_last))
    }

    fn way_in(&self, crossing: Crossing) -> u64 {
        let words = self.words(crossing.bytes);
        let read = self.extract.saturating_mul(words);
        // The port lets a word through per cycle.
        let port = match self.is_static() {
            true => 0,
            false => self.mesh.clock.to_ps(words.saturating_sub(1)),
        };
        let read = read.max(port.saturating_add(self.extract));
        let read = if words > 0 { read } else { 0 };
        let ends = self.send.saturating_add(self.recv);
        ends.saturating_add(read)
            .saturating_add(self.transit(crossing.hops))
    }

    /// What one core writes and reads, to and from whomever.
    fn both(&self, out: &[Crossing], into: &[Crossing]) -> u64 {
        let part = |crossings: &[Crossing], software: u64, word: u64| {
            let all = crossings.last().map(|crossing| self.words(crossing.bytes));
            all.map_or(0, |words| {
                software.saturating_add(word.saturating_mul(words))
            })
        };
        let written = part(out, self.send, self.inject);
        written.saturating_add(part(into, self.recv, self.extract))
    }

    /// Each rank's share of what all ranks together have to do.
    fn work(&self) -> u64 {
        let request = self.request;
        let words = self.words(bounds::volume_bytes(request));
        let per_word = match self.is_static() {
            true => self.extract, // written once for many
            false => self.inject.saturating_add(self.extract),
        };
        let moved = per_word.saturating_mul(words);
        let combine = self.udn.clock.to_ps(self.udn.combine_cycles_per_word);
        let combined = self.mesh.flits(bounds::combined_bytes(request));
        let work = moved.saturating_add(combine.saturating_mul(combined));
        shared(work, request.ranks)
    }

    fn cut(&self, seats: &Seats) -> u64 {
        let cuts = bounds::cuts(self.request, seats).into_iter();
        let most = cuts.map(|cut| match self.is_static() {
            true => self.words(cut.bytes).div_ceil(2 * cut.links.max(1)),
            false => self.mesh.crossing_cycles(self.words(cut.bytes), cut.links),
        });
        let Some(most) = most.max() else {
            return 0; // no payload
        };
        let ends = self.send.saturating_add(self.recv);
        ends.saturating_add(self.mesh.clock.to_ps(most))
            .saturating_add(self.extract)
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::{Collective, Rank, Request};

    use crate::{Chip, find_changed};

    fn row(ranks: u32) -> Chip {
        let changes = [
            ("network.width", ranks.to_string().as_str()),
            ("network.height", "1"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        find_changed("booksim-mesh", &changes).expect("valid")
    }

    /// On the BookSim mesh a hop takes 5 cycles (3 for what follows a head), injection, the last
    /// router's allocation and ejection 7 (5), a word 1 to write and 1 to read; packets have 16
    /// words and a header, a word 16 bytes.
    #[test]
    fn a_message_between_neighbours_is_exactly_its_parts() {
        for words in 1..16 {
            let request = Request::new(Collective::Bcast, 2, 16 * words);
            // Its words and the header follow each other; the last one is read.
            assert_eq!(row(2).bound_cycles(&request), 5 + 7 + words + 1);
        }
    }

    /// The root at the end of a row of 64 sends a packet of 5 words to each of 63 ranks. The ranks
    /// `d` hops away and farther are 64 - d: (64 - d) * 4 words, a header per 16 of them, and `d`
    /// hops. The sum is largest for d = 63, and the nearest may be served last: 451 cycles are
    /// possible.
    #[test]
    fn near_ranks_may_be_served_last() {
        let request = Request::new(Collective::Scatter, 64, 64).with_root(Rank(63));
        let way = |d: u64| {
            let words = (64 - d) * 4;
            words + words.div_ceil(16) - 1 + 5 * d + 7 + 1
        };
        let bound = row(64).bound_cycles(&request);
        assert_eq!(bound, (1..64).map(way).max().expect("63 distances"));
        assert_eq!(bound, 4 + 1 - 1 + 5 * 63 + 7 + 1);
        assert!(bound <= 451);
    }

    /// 8 ranks on each side of a link of a row of 16: 64 blocks of 2 words, 8 headers, one flit per
    /// cycle; 2 + 1 + 1 cycles before the first and 2 + 1 + 3 after the last, which is read.
    #[test]
    fn the_middle_of_a_row_limits_an_alltoall() {
        let request = Request::new(Collective::Alltoall, 16, 32);
        let expected = 128 + 8 - 1 + 4 + 6 + 1;
        assert_eq!(row(16).bound_cycles(&request), expected);
        // 24 by 24 blocks of 1024 words over the 4 links of 6 x 4 routers with 2 cores each.
        let shape = [("width", "6"), ("height", "4"), ("cores_per_router", "2")];
        let changes = shape.map(|(key, value)| (format!("network.{key}"), value.to_owned()));
        let chip = find_changed("booksim-mesh", &changes).expect("valid");
        let request = Request::new(Collective::Alltoall, 48, 16_384);
        let flits = 24 * 24 * (1024 + 64) / 4;
        assert_eq!(chip.bound_cycles(&request), flits - 1 + 4 + 6 + 1);
    }

    /// A core writes what it sends and reads what it receives: 15 blocks of 16 words and a header
    /// each way.
    #[test]
    fn a_core_does_one_thing_at_a_time() {
        let request = Request::new(Collective::Alltoall, 16, 256);
        let chip = Chip::builtin("booksim-mesh").expect("is built in");
        assert_eq!(chip.bound_cycles(&request), 2 * 15 * 17);
    }

    /// 63 of 64 ranks receive 1000 words with 63 headers, each written and read once.
    #[test]
    fn everybody_works_on_a_broadcast() {
        let request = Request::new(Collective::Bcast, 64, 16_000);
        let words = 63 * 1000;
        let work = 2 * (words + u64::div_ceil(words, 16)) / 64;
        let chip = Chip::builtin("booksim-mesh").expect("is built in");
        assert_eq!(chip.bound_cycles(&request), work);
    }

    /// On the TilePro64 a static route: 1595 + 90 per rank on entering, 140 for the route, the root's
    /// words but one, 14 hops, and the last word is read.
    #[test]
    fn a_static_route_needs_no_header() {
        let chip = Chip::builtin("tilepro64").expect("is built in");
        let request = Request::new(Collective::Bcast, 64, 4000);
        assert_eq!(
            chip.bound_cycles(&request),
            1595 + 90 * 64 + 140 + 999 + 14 + 1
        );
    }
}
