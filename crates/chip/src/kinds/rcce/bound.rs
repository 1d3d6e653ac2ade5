// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bound where cores copy lines between their memory and message passing buffers.
//!
//! A line comes from one core's memory to another's only if the first writes it into a buffer and
//! the second reads it out of one, of its own or another's, and both do one thing at a time. Each of
//! these holds for every schedule, so the largest counts:
//!
//! * *Way out.* The lines that a rank must send to ranks `d` hops away and farther are written by
//!   its core. The last of them is then announced by a flag, written and read, and read itself; on
//!   its way it crosses `d` hops, there and back.
//! * *Way in.* Nothing of what a rank must hear from ranks `d` hops away can be read before a line
//!   and a flag have been written, the flag has been read and `d` hops have been crossed; from then
//!   on its core reads line by line.
//! * *Both.* What a rank must write and what it must read add up, with the flags that say so, and
//!   with the memory's time for all lines that no cache can hold at the start.
//! * *Everybody's work.* A broadcast is read by every rank but the root. In a reduction every rank
//!   but one writes every line, and every line is read and combined as often; for all to know the
//!   result, it is read as often again. Of blocks that are all different each line is written and
//!   read, and at most one of the two at home. The work is divided evenly at best.
//! * *Cuts.* What must go from one side of the mesh to the other crosses the links between, with a
//!   head per line, and something has been written before.

use corecast_core::bounds::{self, Crossing, Way};
use corecast_core::{Collective, Request, Seats};

use super::Rcce;
use crate::kinds::kind::shared;
use crate::memory::Memory;
use crate::mesh::Mesh;

/// Parts of the bound, in cycles of a core.
struct Buffers<'a> {
    mesh: &'a Mesh,
    memory: &'a Memory,
    rcce: &'a Rcce,
    request: &'a Request,
    /// To write and to read a line, in whichever buffer that is faster.
    write: u64,
    read: u64,
}

/// Fewest picoseconds of any schedule, among at least two ranks that have something to say.
pub(super) fn ps(mesh: &Mesh, memory: &Memory, rcce: &Rcce, request: &Request) -> u64 {
    let (own_read, own_write) = rcce.own_cycles();
    let buffers = Buffers {
        mesh,
        memory,
        rcce,
        request,
        write: own_write.min(rcce.mpb_write_cycles),
        read: own_read.min(rcce.mpb_read_cycles),
    };
    let seats = mesh.place(request.ranks);
    let witnesses = bounds::witnesses(request, &seats).into_iter();
    let of_ranks = witnesses.map(|rank| {
        let through = |way| bounds::through(request, &seats, rank, way);
        let (out, into) = (through(Way::Out), through(Way::In));
        let ways = out.iter().map(|crossing| buffers.way(*crossing, Way::Out));
        let ways = ways.chain(into.iter().map(|crossing| buffers.way(*crossing, Way::In)));
        ways.chain([buffers.both(&out, &into)]).max().unwrap_or(0)
    });
    let most = of_ranks.max().unwrap_or(0);
    let work = rcce.clock.to_ps(buffers.work());
    most.max(work).max(buffers.cut(&seats))
}

impl Buffers<'_> {
    fn lines(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.memory.line_bytes)
    }

    /// The memory's part in moving `lines` different lines: those that no cache can hold at the
    /// start come from memory or go there. What is combined may stay in a cache.
    fn misses(&self, lines: u64) -> u64 {
        if self.request.collective.is_reduction() {
            return 0;
        }
        let missed = lines.saturating_sub(self.cached_lines());
        self.per_miss().saturating_mul(missed)
    }

    fn cached_lines(&self) -> u64 {
        (self.memory.l1.bytes + self.memory.l2.bytes) / self.memory.line_bytes
    }

    fn per_miss(&self) -> u64 {
        let stored = self.memory.store_cycles;
        let stored = stored.saturating_mul(self.memory.line_words());
        self.memory.read_cycles.min(stored)
    }

    fn way(&self, crossing: Crossing, way: Way) -> u64 {
        let lines = self.lines(crossing.bytes);
        let (here, there) = match way {
            Way::Out => (self.write, self.read),
            Way::In => (self.read, self.write),
        };
        let busy = here.saturating_mul(lines);
        let other_end = if lines > 0 { there } else { 0 };
        let flag = self.write + self.read;
        let core = busy
            .saturating_add(self.misses(lines))
            .saturating_add(other_end)
            .saturating_add(flag);
        let hops = self
            .mesh
            .hop_cycles()
            .saturating_mul(u64::from(crossing.hops));
        let hops = self.mesh.clock.to_ps(hops.saturating_mul(2));
        self.rcce.clock.to_ps(core).saturating_add(hops)
    }

    fn both(&self, out: &[Crossing], into: &[Crossing]) -> u64 {
        let lines =
            |crossings: &[Crossing]| crossings.last().map(|crossing| self.lines(crossing.bytes));
        let (out, into) = (lines(out), lines(into));
        // With the flag that says that they are there.
        let busy = |lines: Option<u64>, each: u64| {
            lines.map_or(0, |lines| each.saturating_mul(lines.saturating_add(1)))
        };
        let moved = busy(out, self.write).saturating_add(busy(into, self.read));
        let lines = out.unwrap_or(0).saturating_add(into.unwrap_or(0));
        let cycles = moved.saturating_add(self.misses(lines));
        self.rcce.clock.to_ps(cycles)
    }

    /// Each rank's share of what all ranks together have to do.
    fn work(&self) -> u64 {
        use Collective as C;
        let (request, rcce) = (self.request, self.rcce);
        let (own_read, own_write) = rcce.own_cycles();
        // To read a line out of another's buffer, or to write it there and to read it out of the
        // own one, which takes two ranks longer; and the same with what comes before, a write.
        let other_write = rcce.mpb_write_cycles.saturating_add(own_read);
        let taken = rcce.mpb_read_cycles.min(other_write);
        let sent = other_write.min(own_write.saturating_add(rcce.mpb_read_cycles));
        let shared = |work: u64| shared(work, request.ranks);
        let all_lines = self.lines(bounds::volume_bytes(request));
        let (lines, others) = (self.lines(request.bytes), u64::from(request.ranks) - 1);
        let misses = |lines: u64| {
            self.per_miss()
                .saturating_mul(lines.saturating_sub(self.cached_lines()))
        };
        match request.collective {
            C::Bcast => {
                let each = taken.saturating_mul(lines).saturating_add(misses(lines));
                shared(each.saturating_mul(others))
            }
            C::Reduce | C::Allreduce => {
                let result = match request.collective {
                    C::Allreduce => taken,
                    _ => 0,
                };
                let words = request.bytes / crate::WORD_BYTES;
                let moved = lines.saturating_mul(sent + result);
                let combined = words.saturating_mul(rcce.combine_cycles_per_word);
                let work = moved.saturating_add(combined).saturating_mul(others);
                // Every rank reads all of its own vector.
                shared(work).saturating_add(misses(lines))
            }
            C::Scatter | C::Gather | C::Alltoall | C::Alltoallv => {
                shared(sent.saturating_mul(all_lines))
            }
            C::Allgather | C::ReduceScatter => shared(taken.saturating_mul(all_lines)),
            C::Barrier => 0,
        }
    }

    /// In picoseconds.
    fn cut(&self, seats: &Seats) -> u64 {
        let line = 1 + self.memory.line_bytes.div_ceil(self.mesh.flit_bytes);
        let cuts = bounds::cuts(self.request, seats).into_iter();
        let flits = cuts.map(|cut| {
            let flits = self.lines(cut.bytes).saturating_mul(line);
            flits.div_ceil(cut.links.max(1))
        });
        let Some(flits) = flits.max() else {
            return 0; // no payload
        };
        let interval = u64::from(self.mesh.link_interval_cycles);
        let links = self.mesh.clock.to_ps(flits.saturating_mul(interval));
        let before = self.rcce.clock.to_ps(self.write.min(self.read));
        links.saturating_add(before)
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::{Collective, Request};

    use crate::find_changed;

    fn bound(changes: &[(&str, &str)], request: &Request) -> u64 {
        let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
        let chip = find_changed("scc", &owned.collect::<Vec<_>>()).expect("valid");
        chip.bound_cycles(request)
    }

    /// Lines and flags are written and read at home, 50 cycles each. Of three lines the two for the
    /// other tile can be written first, and the hop's 8 mesh cycles do not count.
    #[test]
    fn a_line_is_written_told_and_read() {
        let request = |ranks| Request::new(Collective::Scatter, ranks, 32);
        assert_eq!(bound(&[], &request(2)), 4 * 50);
        assert_eq!(bound(&[], &request(4)), 3 * 50 + 50 + 2 * 50);
        // A broadcast reaches both tiles: 5 cycles and a third for the hop, there and back.
        let bcast = Request::new(Collective::Bcast, 4, 32);
        assert_eq!(bound(&[], &bcast), 4 * 50 + 5);
    }

    /// 47 blocks of 8 lines, written into a buffer and read out of another's: 50 and 58 cycles each.
    #[test]
    fn a_core_writes_and_reads_in_an_alltoall() {
        let request = Request::new(Collective::Alltoall, 48, 256);
        assert_eq!(bound(&[], &request), 47 * 8 * (50 + 58));
    }

    /// With buffers and memory that take next to no time: 24 by 24 blocks of 512 lines over four
    /// links, three flits of a cycle of 800 MHz each.
    #[test]
    fn the_middle_limits_an_alltoall() {
        let fast = [
            ("endpoint.mpb_read", "1"),
            ("endpoint.mpb_write", "1"),
            ("endpoint.own_read", "1"),
            ("endpoint.own_write", "1"),
            ("memory.read", "0"),
            ("memory.store", "0"),
        ];
        let request = Request::new(Collective::Alltoall, 48, 16_384);
        let mesh_ps = 24 * 24 * 512 * 3 / 4 * 1250;
        let core_ps = 1876; // 533 MHz
        assert_eq!(bound(&fast, &request), (mesh_ps + core_ps) / core_ps);
    }
}
