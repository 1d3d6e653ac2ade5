// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet mesh against the flit mesh where nothing contends, and against the rules of its
//! links where something does.

use corecast_core::{DimensionOrder, Grid};
use corecast_sim::network::mesh::{
    Ejection, FlitMesh, Interval, MeshSpec, Packet, PacketMesh, QueueEvent, RouterSpec,
};
use proptest::prelude::*;

fn mesh(width: u32, height: u32, router: RouterSpec) -> MeshSpec {
    MeshSpec {
        grid: Grid::mesh(width, height),
        router,
        ejection: Ejection::Sink,
    }
}

/// Routers of all depths, with buffers that let a stream pass.
fn routers() -> Vec<RouterSpec> {
    let booksim = RouterSpec::booksim(1, 16);
    let speculative = RouterSpec {
        routing: 0,
        vc_allocation: 0,
        ..booksim
    };
    // The TilePro64's: a cycle per hop, one more for a turn.
    let tile = RouterSpec {
        switch: 1,
        link: 0,
        turn: 1,
        credit: 1,
        injection: 1,
        ejection: 1,
        ..speculative
    };
    let slow = RouterSpec {
        link_interval: 3,
        turn: 2,
        ..booksim
    };
    let deep = RouterSpec {
        vc_allocation: 2,
        routing: 2,
        ..booksim
    };
    let several = [booksim, tile, slow].map(|router| RouterSpec { vcs: 4, ..router });
    let mut routers = vec![booksim, speculative, tile, slow, deep];
    routers.extend(several);
    routers
}

#[test]
fn a_lone_packet_takes_exactly_as_long_as_its_flits() {
    let mut compared = 0;
    for router in routers() {
        for (order, is_torus) in [
            (DimensionOrder::Xy, false),
            (DimensionOrder::Yx, false),
            (DimensionOrder::Xy, true),
        ] {
            let router = RouterSpec {
                vcs: router.vcs.max(if is_torus { 2 } else { 1 }),
                ..router
            };
            let grid = Grid {
                per_node: 2,
                order,
                is_torus,
                ..Grid::mesh(4, 3)
            };
            let spec = MeshSpec {
                grid,
                ..mesh(4, 3, router)
            };
            let mut flits = FlitMesh::new(&spec).expect("is valid");
            let mut packets = PacketMesh::new(&spec).expect("is valid");
            for src in 0..spec.cores() {
                for dst in 0..spec.cores() {
                    for (len, flit_interval) in [(1, 2), (4, 2), (20, 2), (5, 8), (6, 3)] {
                        let start = flits.now() + 7;
                        let packet = Packet {
                            flit_interval: Interval::of(flit_interval, 2),
                            reports_injection: true,
                            ..Packet::new(src, dst, len)
                        };
                        flits.run_until(start);
                        flits.send(packet);
                        flits.run_until(start + 300);
                        packets.run_until(start);
                        let injected = packets.send(packet);
                        packets.run_until(start + 300);
                        assert_eq!(packets.take_deliveries(), flits.take_deliveries());
                        assert_eq!(flits.take_injected(), [(0, injected)]);
                        compared += 1;
                    }
                }
            }
            assert_eq!(packets.conservation(), flits.conservation());
            assert_eq!(packets.flit_hops(), flits.flit_hops());
            for router in 0..spec.routers() {
                for side in corecast_core::Side::ALL {
                    let ours = packets.link_flits(router, side);
                    assert_eq!(ours, flits.link_flits(router, side));
                }
            }
        }
    }
    assert!(compared > 50_000);
}

/// Ejection of packets of `flits` flits that cores 0, 1 ... of a row send to the last one in
/// `cycles`.
fn into_one_link(router: RouterSpec, flits: u32, cycles: &[u64]) -> Vec<u64> {
    let width = cycles.len() as u32 + 1;
    let spec = mesh(width, 1, router);
    let mut network = PacketMesh::new(&spec).expect("is valid");
    let mut order: Vec<usize> = (0..cycles.len()).collect();
    order.sort_by_key(|&core| cycles[core]);
    for core in order {
        network.run_until(cycles[core]);
        network.send(Packet::new(core as u32, width - 1, flits));
    }
    network.run_until(1_000_000);
    assert!(network.conservation().is_ok());
    let mut deliveries = network.take_deliveries();
    deliveries.sort_by_key(|delivery| delivery.packet.src);
    deliveries.iter().map(|delivery| delivery.ejected).collect()
}

#[test]
fn the_second_packet_waits_for_the_tail_of_the_first_and_no_longer() {
    for interval in [1, 3] {
        let router = RouterSpec {
            vcs: 2,
            link_interval: interval,
            ..RouterSpec::booksim(1, 16)
        };
        let hop = u64::from(router.hop_cycles());
        let length = 10 * u64::from(interval);
        let alone = into_one_link(router, 10, &[0, 1_000])[0];
        // The head of core 0 is at the second router when that of core 1 leaves it: `late` cycles
        // later it would not be in the way.
        for late in 0..length + 3 {
            let times = into_one_link(router, 10, &[0, hop + late]);
            assert_eq!(times[0], alone, "first come first served");
            let behind = times[1] - alone;
            let expected = length.max(late);
            assert_eq!(behind, expected, "interval {interval}, {late} late");
        }
    }
}

#[test]
fn with_one_channel_the_next_head_is_allocated_the_link_behind_the_tail() {
    for vc_allocation in 0..4 {
        let router = RouterSpec {
            routing: 0, // of which the next head pays for its own at every input
            vc_allocation,
            ..RouterSpec::booksim(1, 16)
        };
        let hop = u64::from(router.hop_cycles());
        let times = into_one_link(router, 10, &[0, hop]);
        let expected = 9 + 1 + u64::from(vc_allocation);
        assert_eq!(times[1] - times[0], expected);
    }
}

#[test]
fn with_one_channel_the_next_head_is_routed_behind_the_tail() {
    // Core 0 writes one packet after the other to cores 1 and 2: the flit mesh does the same.
    for routing in 0..3 {
        let router = RouterSpec {
            routing,
            ..RouterSpec::booksim(1, 16)
        };
        let spec = mesh(4, 1, router);
        let mut packets = PacketMesh::new(&spec).expect("is valid");
        let mut flits = FlitMesh::new(&spec).expect("is valid");
        for dst in [1, 2, 1, 0, 3, 3] {
            packets.send(Packet::new(0, dst, 3));
            flits.send(Packet::new(0, dst, 3));
        }
        packets.run_until(1000);
        flits.run_until(1000);
        let mut ours = packets.take_deliveries();
        ours.sort_by_key(|delivery| delivery.ejected);
        let times = |deliveries: Vec<corecast_sim::network::mesh::Delivery>| {
            let ejected = deliveries.iter().map(|delivery| delivery.ejected);
            ejected.collect::<Vec<_>>()
        };
        assert_eq!(times(ours), times(flits.take_deliveries()), "{routing}");
    }
}

/// Heads that come from two sides, at the same time, to the same port: each has been routed when the
/// port is free again.
#[test]
fn with_one_channel_a_head_from_the_other_side_is_allocated_the_port() {
    for (vc_allocation, interval) in (0..4).flat_map(|cycles| [(cycles, 1), (cycles, 3)]) {
        let router = RouterSpec {
            vc_allocation,
            link_interval: interval,
            ..RouterSpec::booksim(1, 16)
        };
        let spec = mesh(3, 1, router);
        let mut packets = PacketMesh::new(&spec).expect("is valid");
        let mut flits = FlitMesh::new(&spec).expect("is valid");
        for src in [0, 2] {
            packets.send(Packet::new(src, 1, 10));
            flits.send(Packet::new(src, 1, 10));
        }
        packets.run_until(1000);
        flits.run_until(1000);
        for deliveries in [packets.take_deliveries(), flits.take_deliveries()] {
            let [first, second] = &deliveries[..] else {
                panic!("two packets");
            };
            let expected = 9 * interval + interval.max(1 + vc_allocation);
            let found = second.ejected.abs_diff(first.ejected);
            assert_eq!(found, u64::from(expected), "{vc_allocation} {interval}");
        }
    }
}

/// Core 1 writes to core 2 for long. What core 0 sends there waits, and what it sends to core 1 behind
/// that waits, too: the flit mesh does the same.
#[test]
fn with_one_channel_a_packet_waits_behind_one_that_waits() {
    let spec = mesh(3, 1, RouterSpec::booksim(1, 32));
    let mut packets = PacketMesh::new(&spec).expect("is valid");
    let mut flits = FlitMesh::new(&spec).expect("is valid");
    for (src, dst, len) in [(1, 2, 40), (0, 2, 5), (0, 1, 3)] {
        packets.send(Packet::new(src, dst, len));
        flits.send(Packet::new(src, dst, len));
    }
    packets.run_until(1000);
    flits.run_until(1000);
    let [ours, theirs] = [packets.take_deliveries(), flits.take_deliveries()].map(|mut all| {
        all.sort_by_key(|delivery| delivery.ejected);
        all
    });
    assert_eq!(ours, theirs);
}

/// Both meshes stop in time, and at the first news.
#[test]
fn a_mesh_stops_where_it_is_told() {
    macro_rules! check {
        ($mesh:ident) => {
            let spec = mesh(4, 1, RouterSpec::booksim(1, 16));
            let mut network = $mesh::new(&spec).expect("is valid");
            network.send(Packet::new(0, 3, 9));
            let mut stepped = network.clone();
            for end in 1..60 {
                stepped.run_until(end);
                assert_eq!(stepped.now(), end);
                assert!(stepped.next_event().is_none_or(|cycle| cycle >= end));
            }
            assert_eq!(stepped.take_deliveries().len(), 1);
            // It does not go on to news beyond the end.
            for end in 1..60 {
                let mut early = network.clone();
                early.run_to_news(end);
                assert!(early.now() <= end);
                let is_told = early.take_deliveries().len() == 1;
                assert!(is_told || early.next_event().is_some_and(|cycle| cycle >= end));
            }
            let mut earlier = network.clone();
            network.run_to_news(1000);
            let now = network.now();
            assert_eq!(network.take_deliveries().len(), 1);
            earlier.run_until(now - 1);
            assert!(earlier.take_deliveries().is_empty());
            earlier.run_until(now);
            assert_eq!(earlier.take_deliveries().len(), 1);
        };
    }
    check!(FlitMesh);
    check!(PacketMesh);
}

fn watched_twice() -> PacketMesh {
    let spec = MeshSpec {
        ejection: Ejection::Queues { count: 1, flits: 6 },
        ..mesh(2, 1, RouterSpec::booksim(1, 8))
    };
    let mut network = PacketMesh::new(&spec).expect("is valid");
    network.watch(1, 0);
    network.watch(1, 0);
    network.send(Packet::new(0, 1, 2));
    network.run_to_news(1000);
    assert_eq!(network.take_arrivals().len(), 1);
    network
}

#[test]
fn an_empty_queue_may_be_watched_twice() {
    watched_twice();
}

#[test]
#[should_panic(expected = "only an empty queue is watched")]
fn a_queue_with_packets_is_not_watched() {
    watched_twice().watch(1, 0);
}

#[test]
fn packets_stay_in_their_queue_until_taken() {
    let spec = MeshSpec {
        ejection: Ejection::Queues { count: 2, flits: 6 },
        ..mesh(3, 1, RouterSpec::booksim(1, 8))
    };
    let mut network = PacketMesh::new(&spec).expect("is valid");
    network.watch(2, 1);
    let packet = |tag| Packet {
        queue: 1,
        tag,
        ..Packet::new(0, 2, 30)
    };
    assert_eq!(network.send(packet(8)), 30);
    assert_eq!(network.send(packet(9)), 60);
    network.run_to_news(1000);
    // Three hops of five cycles and two more: the head is there, and it was known before.
    let arrival = QueueEvent {
        core: 2,
        queue: 1,
        cycle: 5 * 3 + 2,
    };
    assert_eq!(network.take_arrivals(), [arrival]);
    assert!(network.now() <= arrival.cycle);
    let first = network.front(2, 1).expect("is known");
    assert_eq!((first.first, first.last), (17, 17 + 29));
    assert_eq!(network.front(2, 0), None);
    network.run_until(1000);
    assert!(network.conservation().is_err());
    assert_eq!([8, 9], [0; 2].map(|_| network.take(2, 1).packet.tag));
    assert_eq!(network.front(2, 1), None);
    assert_eq!(network.conservation(), Ok(60));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Nothing is lost, no packet is faster than alone, and runs repeat however the clock is moved.
    #[test]
    fn everything_arrives_and_nothing_is_too_early(
        (width, height, per_node, vcs) in (1_u32..=5, 1_u32..=5, 1_u32..=2, 1_u32..=3),
        is_torus in any::<bool>(),
        packets in prop::collection::vec((0_u64..50, 0_u32..50, 0_u32..50, 1_u32..30), 1..200),
        steps in 1_u64..40,
    ) {
        let router = RouterSpec::booksim(if is_torus { vcs.max(2) } else { vcs }, 16);
        let mut spec = mesh(width, height, router);
        spec.grid.is_torus = is_torus;
        spec.grid.per_node = per_node;
        let cores = spec.cores();
        let mut packets = packets;
        packets.sort_unstable();
        let mut whole = PacketMesh::new(&spec).expect("is valid");
        let mut stepped = whole.clone();
        for &(at, src, dst, flits) in &packets {
            let packet = Packet::new(src % cores, dst % cores, flits);
            whole.run_until(at);
            whole.send(packet);
            while stepped.now() < at {
                let to = at.min(stepped.now() + steps);
                stepped.run_until(to);
            }
            stepped.send(packet);
        }
        whole.run_until(100_000);
        stepped.run_to_news(100_000);
        let mut taken = Vec::new();
        while stepped.next_event().is_some() {
            taken.extend(stepped.take_deliveries());
            stepped.run_to_news(100_000);
        }
        taken.extend(stepped.take_deliveries());
        let flits = packets.iter().map(|packet| u64::from(packet.3)).sum();
        prop_assert_eq!(whole.conservation(), Ok(flits));
        let deliveries = whole.take_deliveries();
        prop_assert_eq!(deliveries.len(), packets.len());
        for delivery in &deliveries {
            let hops = u64::from(router.hop_cycles()) * (u64::from(delivery.hops) + 1);
            let alone = hops + 1 + u64::from(delivery.packet.flits);
            prop_assert!(delivery.ejected - delivery.injected >= alone);
        }
        prop_assert_eq!(taken, deliveries);
    }
}

/// Only links that were used are told, each with its ends and its flits; nothing is under way before
/// and after.
#[test]
fn links_tell_what_they_have_carried() {
    let spec = mesh(3, 2, RouterSpec::booksim(2, 4));
    let mut network = PacketMesh::new(&spec).expect("is valid");
    assert!(network.is_idle());
    for (src, dst, flits) in [(0, 5, 7), (2, 1, 3)] {
        network.send(Packet::new(src, dst, flits));
    }
    assert!(!network.is_idle());
    network.run_until(1000);
    assert!(network.is_idle());
    assert_eq!(*network.spec(), spec);
    let links = network.links();
    let found: Vec<_> = links.map(|link| (link.from, link.to, link.flits)).collect();
    let expected = [
        ((0, 0), (1, 0), 7),
        ((1, 0), (2, 0), 7),
        ((2, 0), (1, 0), 3),
        ((2, 0), (2, 1), 7),
    ];
    assert_eq!(found, expected);
    assert_eq!(network.flit_hops(), 7 + 7 + 3 + 7);
    assert_eq!(network.conservation(), Ok(10));
}

/// Queues are told apart by core and number, and keep the order in which packets come.
#[test]
fn a_packet_comes_into_its_queue() {
    let spec = MeshSpec {
        ejection: Ejection::Queues { count: 3, flits: 8 },
        ..mesh(3, 2, RouterSpec::booksim(1, 4))
    };
    let mut network = PacketMesh::new(&spec).expect("is valid");
    let to = |core, queue, tag| Packet {
        queue,
        tag,
        ..Packet::new(0, core, 2)
    };
    for (tag, (core, queue)) in (0..).zip([(5, 2), (5, 2), (4, 0), (5, 1), (5, 2)]) {
        network.send(to(core, queue, tag));
    }
    network.run_until(1000);
    for (core, queue) in (0..6).flat_map(|core| (0..3).map(move |queue| (core, queue))) {
        let mut tags = Vec::new();
        while let Some(queued) = network.front(core, queue) {
            assert_eq!(network.take(core, queue), queued);
            assert!(!network.is_idle() || queued.packet.tag == 4);
            tags.push(queued.packet.tag);
        }
        let expected: &[u64] = match (core, queue) {
            (5, 2) => &[0, 1, 4],
            (4, 0) => &[2],
            (5, 1) => &[3],
            _ => &[],
        };
        assert_eq!(tags, expected, "core {core}, queue {queue}");
    }
    assert_eq!(network.conservation(), Ok(10));
    assert!(network.take_deliveries().is_empty());
}
