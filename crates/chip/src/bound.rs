//! What no schedule can beat on a given chip, in cycles.
//!
//! The reasoning term by term is at [`Chip::bound_cycles`]; here is only the arithmetic. Kept
//! apart from the chip because it grows with every kind of network and endpoint.
//!
//! ```
//! use corecast_core::{Collective, Request};
//! let chip = corecast_chip::Chip::builtin("park2019-bus").unwrap();
//! // Command, request, ready; 16 words, the last one doubling twice more; complete, notify.
//! let request = Request::new(Collective::Bcast, 8, 64);
//! assert_eq!(chip.bound_cycles(&request), 3 + 16 + 2 + 5);
//! ```

use corecast_core::{Collective, Grid, Rank, Request, bounds};

use crate::chip::{Chip, System};
use crate::endpoint::{Mpe, Udn};
use crate::memory::Memory;
use crate::mesh::Mesh;
use crate::network::Crossbar;
use crate::pronto::Pronto;
use crate::rcce::Rcce;

/// See [`Chip::bound_cycles`].
pub(crate) fn cycles(chip: &Chip, request: &Request) -> u64 {
    match chip.system() {
        System::Bus { bus, mpe } => on_bus(chip, bus, mpe, request),
        System::Mesh { mesh, udn } => on_mesh(chip, mesh, udn, request),
        System::Mpb { mesh, memory, rcce } => over_buffers(chip, mesh, memory, rcce, request),
        System::Pronto { mesh, pronto } => over_pronto(chip, mesh, pronto, request),
    }
}

/// The time in which a core moves a word: at best what its own instructions or the network allow.
pub(crate) fn word_ps(mesh: &Mesh, udn: &Udn) -> u64 {
    let core_cycles = udn.inject_cycles_per_word.min(udn.extract_cycles_per_word);
    let core = udn.clock.to_ps(core_cycles);
    core.max(mesh.clock.to_ps(1)) // ports take a word per cycle
}

fn on_mesh(chip: &Chip, mesh: &Mesh, udn: &Udn, request: &Request) -> u64 {
    let port_bytes = bounds::of(request).port_bytes;
    let is_silent = request.collective == Collective::Alltoallv && port_bytes == 0;
    if request.ranks <= 1 || is_silent {
        return 0;
    }
    let grid = mesh.place(request.ranks);
    let is_static = mesh.static_hop_cycles.is_some();
    let call = udn
        .call_cycles_per_rank
        .saturating_mul(u64::from(request.ranks))
        .saturating_add(udn.call_cycles);
    // A message over the dynamic network, or one over a static route, whichever is cheaper.
    let dynamic = udn.send_cycles.saturating_add(udn.recv_cycles);
    let software = if is_static {
        dynamic.min(udn.route_cycles)
    } else {
        dynamic
    };
    let hop = mesh.static_hop_cycles.map_or(mesh.hop_cycles(), |cycles| {
        mesh.hop_cycles().min(u64::from(cycles))
    });
    let hops = hop.saturating_mul(u64::from(farthest(&grid, request)));
    let words = mesh.flits(port_bytes).saturating_mul(word_ps(mesh, udn));
    let ps = udn
        .clock
        .to_ps(call.saturating_add(software))
        .saturating_add(mesh.clock.to_ps(hops))
        .saturating_add(words);
    ps / chip.reference_clock().period_ps
}

fn over_buffers(chip: &Chip, mesh: &Mesh, memory: &Memory, rcce: &Rcce, request: &Request) -> u64 {
    use Collective as C;
    let port_bytes = bounds::of(request).port_bytes;
    let is_silent = request.collective == C::Alltoallv && port_bytes == 0;
    if request.ranks <= 1 || is_silent {
        return 0;
    }
    let (own_read, own_write) = rcce.own_cycles();
    let read = own_read.min(rcce.mpb_read_cycles);
    let write = own_write.min(rcce.mpb_write_cycles);
    let lines = port_bytes.div_ceil(memory.line_bytes);
    let per_line = match request.collective {
        C::Bcast | C::Scatter => write,
        C::Gather | C::Reduce => read,
        _ => read.min(write),
    };
    // What is moved once and does not fit into the caches comes from memory or goes there.
    let cached = (memory.l1.bytes + memory.l2.bytes) / memory.line_bytes;
    let missed = match request.collective.is_reduction() {
        true => 0,
        false => lines.saturating_sub(cached),
    };
    let stored = memory.store_cycles.saturating_mul(memory.line_words());
    let per_miss = memory.read_cycles.min(stored);
    let stream = |per_line: u64| {
        let misses = per_miss.saturating_mul(missed);
        per_line.saturating_mul(lines).saturating_add(misses)
    };
    let mut busiest = stream(per_line);
    // To read a line out of another's buffer, or to write it there and to read it out of the own
    // one, which takes two ranks longer; and the same with what comes before, a write.
    let other_write = rcce.mpb_write_cycles + own_read;
    let taken = rcce.mpb_read_cycles.min(other_write);
    let sent = other_write.min(own_write + rcce.mpb_read_cycles);
    // Work that all ranks share: `work` cycles for every rank but one.
    let ranks = u64::from(request.ranks);
    let shared = |work: u64| work.saturating_mul(ranks - 1) / ranks;
    match request.collective {
        // Every rank but the root reads every line.
        C::Bcast => busiest = busiest.max(shared(stream(taken))),
        // Every rank but one writes every line, and every line is read and combined as often. For
        // all to know the result it is read as often again: 2 (p - 1) messages are the fewest by
        // which all can hear from all (Harary and Schwenk 1974, for calls in one direction). Every rank
        // reads all of its own vector.
        C::Reduce | C::Allreduce => {
            let lines = request.bytes.div_ceil(memory.line_bytes);
            let words = request.bytes / crate::WORD_BYTES;
            let result = match request.collective {
                C::Allreduce => taken,
                _ => 0,
            };
            let moved = lines.saturating_mul(sent + result);
            let combined = words.saturating_mul(rcce.combine_cycles_per_word);
            let misses = per_miss.saturating_mul(lines.saturating_sub(cached));
            let work = shared(moved.saturating_add(combined));
            busiest = busiest.max(work.saturating_add(misses));
        }
        _ => {}
    }
    // The flag that says so, and the other end of the last line.
    let other_end = if lines > 0 { read.min(write) } else { 0 };
    let core = busiest.saturating_add(write + read + other_end);
    let hops = u64::from(farthest(&mesh.place(request.ranks), request));
    let hops = mesh.hop_cycles().saturating_mul(hops);
    let ps = rcce
        .clock
        .to_ps(core)
        .saturating_add(mesh.clock.to_ps(hops));
    ps / chip.reference_clock().period_ps
}

/// The time in which a link or a port takes a flit.
pub(crate) fn flit_ps(mesh: &Mesh) -> u64 {
    mesh.clock.to_ps(u64::from(mesh.link_interval_cycles))
}

/// Cycles of a head flit that are no hop: into the first router, through the last, and out of it.
pub(crate) fn port_cycles(mesh: &Mesh) -> u64 {
    let stages = [
        mesh.injection_cycles,
        mesh.routing_cycles,
        mesh.vc_allocation_cycles,
        mesh.ejection_cycles,
    ];
    stages.into_iter().map(u64::from).sum()
}

fn over_pronto(chip: &Chip, mesh: &Mesh, pronto: &Pronto, request: &Request) -> u64 {
    let port_bytes = bounds::of(request).port_bytes;
    let is_silent = request.collective == Collective::Alltoallv && port_bytes == 0;
    if request.ranks <= 1 || is_silent {
        return 0;
    }
    let flit = flit_ps(mesh);
    let copy = pronto.clock.to_ps(pronto.copy_cycles_per_word);
    let words = pronto.words(mesh, port_bytes);
    // A port takes every word and the headers; the engine takes every word.
    let port = flit.saturating_mul(pronto.message_flits(words));
    let busiest = copy.saturating_mul(words).max(port);
    // One word at least has gone through the engine of the other end before or after.
    let control = pronto.envelope_flits + pronto.acknowledgement_flits;
    let heads = mesh
        .clock
        .to_ps(3 * (port_cycles(mesh) + mesh.hop_cycles()));
    // The flits of a packet but the first, whose time is in the head's.
    let control = flit
        .saturating_mul(control.saturating_sub(3))
        .saturating_add(heads);
    // Where every rank has as much to send or receive as the busiest, the last word still has to go
    // all the way; elsewhere a near one may be the last.
    let far = match request.collective {
        Collective::Bcast | Collective::Reduce | Collective::Allreduce | Collective::Barrier => {
            u64::from(farthest(&mesh.place(request.ranks), request).saturating_sub(1))
        }
        _ => 0,
    };
    let hops = mesh.clock.to_ps(mesh.hop_cycles().saturating_mul(far));
    let ps = pronto
        .clock
        .to_ps(pronto.setup_cycles)
        .saturating_add(busiest)
        .saturating_add(copy)
        .saturating_add(control)
        .saturating_add(hops);
    ps / chip.reference_clock().period_ps
}

/// Hops that the farthest rank is away from one that it must hear from.
fn farthest(grid: &Grid, request: &Request) -> u32 {
    use Collective as C;
    let ranks = || (0..request.ranks).map(Rank);
    let from_root = || {
        ranks()
            .map(|rank| grid.hops(request.root, rank))
            .max()
            .unwrap_or(0)
    };
    match request.collective {
        C::Bcast | C::Scatter | C::Gather | C::Reduce => from_root(),
        C::Alltoallv => 1, // depends on the counts
        // Everyone must hear from everyone: the corners from each other. The last row may not be
        // full, so its last rank counts instead of the corner.
        _ => {
            let (first, last) = (Rank(0), Rank(request.ranks - 1));
            grid.hops(first, last)
        }
    }
}

fn on_bus(chip: &Chip, bus: &Crossbar, mpe: &Mpe, request: &Request) -> u64 {
    let port_bytes = bounds::of(request).port_bytes;
    let is_silent = request.collective == Collective::Alltoallv && port_bytes == 0;
    if request.ranks <= 1 || is_silent {
        return 0;
    }
    let word_times = match request.collective {
        Collective::Bcast => bounds::bcast_word_times(request.ranks, bus.words(port_bytes)),
        _ => bus.words(port_bytes),
    };
    let ps = |engine_cycles, word_times| {
        let engine_ps = mpe.clock.to_ps(engine_cycles);
        engine_ps.saturating_add(bus.clock.to_ps(word_times))
    };
    let all_free_ps = ps(mpe.message_cycles(), word_times);
    let ending_cycles = mpe.complete_cycles.saturating_add(mpe.notify_cycles);
    let busy_ranks = (0..request.ranks)
        .map(Rank)
        .filter(|&rank| request.busy_bytes_of(rank) > 0);
    let busy_ps = busy_ranks
        .filter_map(|rank| Some((rank, received_bytes(request, rank)?)))
        .map(|(rank, bytes)| {
            let busy_words = bus.words(request.busy_bytes_of(rank));
            ps(ending_cycles, busy_words.saturating_add(bus.words(bytes)))
        })
        .max()
        .unwrap_or(0);
    // Rounded down: a schedule that takes a fraction of a cycle more is then still not below.
    all_free_ps.max(busy_ps) / chip.reference_clock().period_ps
}

/// Fewest bytes that `rank` must receive; `None` if it need not receive any message.
fn received_bytes(request: &Request, rank: Rank) -> Option<u64> {
    use Collective as C;
    if !bounds::must_receive(request, rank) {
        return None;
    }
    let others = u64::from(request.ranks) - 1;
    let bytes = request.bytes;
    match request.collective {
        C::Bcast | C::Scatter | C::Reduce | C::Allreduce | C::ReduceScatter => Some(bytes),
        C::Gather | C::Allgather | C::Alltoall => Some(others.saturating_mul(bytes)),
        C::Barrier => Some(0),
        C::Alltoallv => {
            let counts = request.counts.as_ref()?;
            let sent_by = |from: u32| {
                counts
                    .get((from * request.ranks + rank.0) as usize)
                    .copied()
            };
            let received = (0..request.ranks)
                .filter(|&from| from != rank.0)
                .filter_map(sent_by)
                .fold(0, u64::saturating_add);
            (received > 0).then_some(received) // nothing to receive: no message is needed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn park() -> Chip {
        Chip::builtin("park2019-bus").expect("is built in")
    }

    fn bound(request: &Request) -> u64 {
        park().bound_cycles(request)
    }

    #[test]
    fn a_message_between_two_ranks_is_exactly_its_parts() {
        for words in 0..40 {
            let request = Request::new(Collective::Bcast, 2, 4 * words);
            assert_eq!(bound(&request), 1 + 1 + 1 + words + 1 + 4);
        }
    }

    #[test]
    fn never_above_the_atomic_chain() {
        let chip = park();
        // Without ongoing transfers the chain takes 7 + 2 (N - 1) + (words - 1) cycles.
        for ranks in 2..=32 {
            for bytes in 1..=2048 {
                let chain = 7 + 2 * (u64::from(ranks) - 1) + u64::div_ceil(bytes, 4) - 1;
                let request = Request::new(Collective::Bcast, ranks, bytes);
                let bound = chip.bound_cycles(&request);
                assert!(
                    bound <= chain,
                    "{ranks} ranks, {bytes} bytes: {bound} > {chain}"
                );
                assert!(ranks > 2 || bound == chain, "two ranks have one way");
            }
        }
    }

    #[test]
    fn never_above_parks_times() {
        // Park 2019, Table 2, the visible rows: P1 busy with 32 bytes, 4 bytes are broadcast.
        for (ranks, best_cycles) in [(4, 19), (8, 23)] {
            let mut request = Request::new(Collective::Bcast, ranks, 4);
            request.busy_bytes = vec![0; ranks as usize];
            request.busy_bytes[1] = 32;
            assert!(bound(&request) <= best_cycles);
            assert_eq!(bound(&request), 8 + 1 + 1 + 4);
        }
    }

    #[test]
    fn never_above_chungs_times() {
        // Chung 2011, 4.1: 2 kB are broadcast to 3 leaves in 7750 ns at best.
        let chip = Chip::builtin("chung2011-bus").expect("is built in");
        let request = Request::new(Collective::Bcast, 4, 2048);
        assert!(chip.bound_cycles(&request) * 5 <= 7750);
    }

    #[test]
    fn single_ranks_and_silence_are_free() {
        for collective in Collective::ALL {
            assert_eq!(bound(&Request::new(collective, 1, 64)), 0);
            assert_eq!(
                bound(&Request::new(collective, 5, 0)),
                match collective {
                    Collective::Alltoallv => 0,
                    _ => 8,
                }
            );
        }
    }

    #[test]
    fn ports_and_busy_receivers_count() {
        let gather = |busy_rank: usize| {
            let mut request = Request::new(Collective::Gather, 4, 10);
            request.busy_bytes = vec![0; 4];
            request.busy_bytes[busy_rank] = 4000;
            request
        };
        assert_eq!(bound(&Request::new(Collective::Gather, 4, 10)), 8 + 8);
        assert_eq!(bound(&gather(0)), 1000 + 8 + 5, "the root receives");
        assert_eq!(bound(&gather(1)), 8 + 8, "the others do not");
        let mut request = Request::new(Collective::Alltoallv, 2, 0);
        request.counts = Some(vec![0, 40, 0, 0].into());
        request.busy_bytes = vec![4000, 0];
        assert_eq!(bound(&request), 8 + 10, "rank 0 receives nothing");
        request.busy_bytes = vec![0, 4000];
        assert_eq!(bound(&request), 1000 + 10 + 5);
    }

    #[test]
    fn the_largest_requests_do_not_overflow() {
        let mut request = Request::new(Collective::Bcast, 1 << 20, (1 << 43) - 1);
        request.busy_bytes = vec![u64::MAX; 1 << 20];
        assert!(request.check().is_ok());
        assert!(bound(&request) > 1 << 40);
    }
}
