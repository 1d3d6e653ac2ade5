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

mod buffers;
mod tiles;
mod words;

use corecast_core::{Collective, Rank, Request, bounds};

use crate::chip::{Chip, System};
use crate::endpoint::{Mpe, Udn};
use crate::mesh::Mesh;
use crate::network::Crossbar;

/// See [`Chip::bound_cycles`].
pub(crate) fn cycles(chip: &Chip, request: &Request) -> u64 {
    let is_silent =
        request.collective == Collective::Alltoallv && bounds::of(request).port_bytes == 0;
    if request.ranks <= 1 || is_silent {
        return 0;
    }
    let ps = match chip.system() {
        System::Bus { bus, mpe } => on_bus(bus, mpe, request),
        System::Mesh { mesh, udn } => words::ps(mesh, udn, request),
        System::Mpb { mesh, memory, rcce } => buffers::ps(mesh, memory, rcce, request),
        System::Pronto { mesh, pronto } => tiles::ps(mesh, pronto, request),
    };
    // Rounded down: a schedule that takes a fraction of a cycle more is then still not below.
    ps / chip.reference_clock().period_ps
}

/// The time in which a core moves a word: at best what its own instructions or the network allow.
pub(crate) fn word_ps(mesh: &Mesh, udn: &Udn) -> u64 {
    let core_cycles = udn.inject_cycles_per_word.min(udn.extract_cycles_per_word);
    let core = udn.clock.to_ps(core_cycles);
    core.max(mesh.clock.to_ps(1)) // ports take a word per cycle
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

/// Cycles from the injection of a flit at one core until another can have it, over `hops` hops.
fn transit_cycles(mesh: &Mesh, hops: u32) -> u64 {
    port_cycles(mesh).saturating_add(mesh.hop_cycles().saturating_mul(u64::from(hops)))
}

/// Cycles in which `flits` flits come from cores on one side of a cut to cores on the other over
/// `links` links: the first needs its route before it can cross; then each link takes one per
/// interval; the last crosses its link and leaves the network.
fn crossing_cycles(mesh: &Mesh, flits: u64, links: u64) -> u64 {
    let before = [
        mesh.injection_cycles,
        mesh.routing_cycles,
        mesh.vc_allocation_cycles,
    ];
    let after = [mesh.switch_cycles, mesh.link_cycles, mesh.ejection_cycles];
    let ends: u64 = before.into_iter().chain(after).map(u64::from).sum();
    let turns = flits.div_ceil(links.max(1)).saturating_sub(1);
    turns
        .saturating_mul(u64::from(mesh.link_interval_cycles))
        .saturating_add(ends)
}

/// The share of each of `ranks` ranks in work that they can divide.
fn shared(work: u64, ranks: u32) -> u64 {
    work / u64::from(ranks)
}

fn on_bus(bus: &Crossbar, mpe: &Mpe, request: &Request) -> u64 {
    let port_bytes = bounds::of(request).port_bytes;
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
    all_free_ps.max(busy_ps)
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
