// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flit mesh against closed forms at zero load, and against a slow model that walks through
//! every cycle and every buffer.

use crate::naive;

use corecast_core::{DimensionOrder, Grid, Help as _, Side};
use corecast_sim::network::mesh::{
    Ejection, FlitMesh, Interval, MeshSpec, Packet, QueueEvent, RouterSpec, VcChoice,
};
use corecast_sim::traffic::{Load, Pattern, run};
use proptest::prelude::*;

fn mesh(width: u32, height: u32, router: RouterSpec) -> MeshSpec {
    MeshSpec {
        grid: Grid::mesh(width, height),
        router,
        ejection: Ejection::Sink,
    }
}

fn torus(width: u32, height: u32, router: RouterSpec) -> MeshSpec {
    let mut spec = mesh(width, height, router);
    spec.grid.is_torus = true;
    spec
}

/// BookSim2's pipelines by their cycles per hop.
fn pipelines() -> [RouterSpec; 4] {
    let p5 = RouterSpec::booksim(1, 8);
    let p4 = RouterSpec { routing: 0, ..p5 };
    let p3 = RouterSpec {
        vc_allocation: 0,
        ..p4
    };
    let p6 = RouterSpec {
        vc_allocation: 2,
        ..p5
    };
    [p3, p4, p5, p6]
}

#[test]
fn a_lone_packet_takes_exactly_its_hops() {
    for router in pipelines() {
        for vcs in [1, 4] {
            for (order, is_torus) in [
                (DimensionOrder::Xy, false),
                (DimensionOrder::Yx, false),
                (DimensionOrder::Xy, true),
            ] {
                let router = RouterSpec {
                    vcs: if is_torus { vcs.max(2) } else { vcs },
                    ..router
                };
                let spec = MeshSpec {
                    grid: Grid {
                        per_node: 2,
                        order,
                        is_torus,
                        ..Grid::mesh(4, 3)
                    },
                    ..mesh(4, 3, router)
                };
                let mut network = FlitMesh::new(&spec).expect("is valid");
                for src in 0..spec.cores() {
                    for dst in 0..spec.cores() {
                        for flits in [1, 4, 20] {
                            let start = network.now() + 7;
                            network.run_until(start);
                            network.send(Packet::new(src, dst, flits));
                            network.run_until(start + 200);
                            let [delivery] = network.take_deliveries()[..] else {
                                panic!("one packet, one delivery");
                            };
                            let routers = u64::from(delivery.hops) + 1;
                            // BookSim2's zero-load latency: T R + 2 + (L - 1).
                            let latency = u64::from(router.hop_cycles()) * routers + 1;
                            let latency = latency + u64::from(flits);
                            assert_eq!(delivery.ejected - start, latency, "{src}->{dst} {spec:?}");
                            assert!(network.is_idle());
                        }
                    }
                }
                assert!(network.conservation().is_ok());
            }
        }
    }
}

#[test]
fn the_shorter_way_around_a_torus_is_taken() {
    let spec = torus(5, 4, RouterSpec::booksim(2, 4));
    let mut network = FlitMesh::new(&spec).expect("is valid");
    for (src, dst, hops) in [
        (0, 4, 1),
        (0, 2, 2),
        (0, 3, 2),
        (4, 0, 1),
        (0, 15, 1),
        (0, 10, 2),
    ] {
        network.send(Packet::new(src, dst, 3));
        network.run_until(network.now() + 200);
        assert_eq!(network.take_deliveries()[0].hops, hops, "{src}->{dst}");
    }
}

#[test]
fn one_stream_gets_what_its_credits_allow() {
    // BookSim2, zero_load.csv: min(1, buffer / (5 + credit_delay)) flits per cycle.
    for buffer in 1..=8 {
        let spec = mesh(4, 1, RouterSpec::booksim(1, buffer));
        let mut network = FlitMesh::new(&spec).expect("is valid");
        network.send(Packet::new(0, 3, 1000));
        network.run_until(20_000);
        let delivery = network.take_deliveries()[0];
        let rate = 1000.0 / (delivery.ejected - delivery.sent) as f64;
        let expected = (f64::from(buffer) / 5.0).min(1.0);
        assert!((rate - expected).abs() < 0.03, "{buffer} flits: {rate}");
    }
}

#[test]
fn slow_links_and_turns_cost_what_they_say() {
    let base = RouterSpec::booksim(1, 8);
    let latency = |router: RouterSpec, dst: u32| {
        let mut network = FlitMesh::new(&mesh(4, 4, router)).expect("is valid");
        network.send(Packet::new(0, dst, 10));
        network.run_until(1000);
        network.take_deliveries()[0].ejected
    };
    let slow = RouterSpec {
        link_interval: 3,
        ..base
    };
    assert_eq!(latency(slow, 3) - latency(base, 3), 9 * 2);
    let turning = RouterSpec { turn: 1, ..base };
    assert_eq!(latency(turning, 3), latency(base, 3), "no turn");
    assert_eq!(latency(turning, 15), latency(base, 15) + 1, "one turn");
}

/// Two packets for the same core meet where their routes do; the waits are all that the second one
/// takes longer than alone.
#[test]
fn waits_name_the_link_and_who_held_it() {
    for router in pipelines() {
        let spec = mesh(4, 4, router);
        let latency = |packets: &[(u32, u32, u32)]| {
            let mut mesh = FlitMesh::new(&spec).expect("valid");
            mesh.record_waits();
            for (tag, &(src, dst, flits)) in (0..).zip(packets) {
                mesh.send(Packet {
                    tag,
                    ..Packet::new(src, dst, flits)
                });
            }
            mesh.run_until(10_000);
            mesh.conservation().expect("all is back");
            let last = packets.len() as u64 - 1;
            let deliveries = mesh.take_deliveries();
            let found = deliveries.iter().find(|d| d.packet.tag == last);
            (found.expect("delivered").ejected, mesh.take_waits())
        };
        // Core 0 goes east along row 0, core 13 down column 1 to core 1: only its port is shared.
        let (alone, none) = latency(&[(13, 1, 8)]);
        assert_eq!(none, []);
        let (met, waits) = latency(&[(0, 1, 40), (13, 1, 8)]);
        if router.vcs == 1 {
            let of_second = waits.iter().filter(|wait| wait.packet.tag == 1);
            let waited: u64 = of_second.map(|wait| wait.until - wait.from).sum();
            assert_eq!(met - alone, waited, "{waits:?}");
            let wait = waits[0];
            assert_eq!((wait.packet.tag, wait.holder.tag, wait.router), (1, 0, 1));
            assert_eq!(wait.side, None, "the port of core 1");
        }
        // Both go over the link from router 1 to router 2.
        let (_, waits) = latency(&[(1, 3, 40), (0, 2, 8)]);
        if router.vcs == 1 {
            let wait = waits
                .iter()
                .find(|wait| wait.packet.tag == 1)
                .expect("held up");
            assert_eq!((wait.router, wait.side), (1, Some(Side::East)));
            assert_eq!(wait.holder.tag, 0);
        }
    }
}

/// A head that comes to its input before the tail ahead of it has gone waits for the link that this
/// tail takes, though it goes elsewhere itself. With several channels the same, if both packets must
/// have the same one.
#[test]
fn a_head_behind_a_packet_waits_for_its_link() {
    for vcs in [1, 2] {
        let router = RouterSpec {
            vc_choice: VcChoice::Receiver,
            ..RouterSpec::booksim(vcs, 8)
        };
        let mut network = FlitMesh::new(&mesh(4, 1, router)).expect("is valid");
        network.record_waits();
        // Core 1 sends 10 flits to the east and then 3 to the west.
        for (tag, dst, flits, queue) in [(0, 3, 10, 0), (1, 0, 3, 1)] {
            network.send(Packet {
                tag,
                queue, // so that both have the channel 1 of two
                ..Packet::new(1, dst, flits)
            });
        }
        network.run_until(1000);
        let [wait] = network.take_waits()[..] else {
            panic!("only one of the two has to wait");
        };
        assert_eq!((wait.packet.tag, wait.holder.tag), (1, 0));
        assert_eq!((wait.router, wait.side), (1, Some(Side::East)));
        // Injection, and ten flits one behind the other; the first of them is routed and has a
        // channel allocated before it can go, and the tail goes nine cycles later.
        assert_eq!((wait.from, wait.until), (2 + 10, 2 + 1 + 1 + 9 + 1));
        assert_eq!(network.take_waits(), []);
    }
}

/// Only links that were used are told, each with its ends and its flits.
#[test]
fn links_tell_what_they_have_carried() {
    let mut network = FlitMesh::new(&mesh(3, 2, RouterSpec::booksim(2, 4))).expect("is valid");
    for (src, dst, flits) in [(0, 5, 7), (2, 1, 3)] {
        network.send(Packet::new(src, dst, flits));
    }
    network.send(Packet::new(0, 1, 2));
    assert_eq!((network.waiting(0), network.waiting(2)), (2, 1));
    network.run_until(1000);
    assert_eq!((network.waiting(0), network.waiting(2)), (0, 0));
    let links = network.links();
    let found: Vec<_> = links.map(|link| (link.from, link.to, link.flits)).collect();
    let expected = [
        ((0, 0), (1, 0), 7 + 2),
        ((1, 0), (2, 0), 7),
        ((2, 0), (1, 0), 3),
        ((2, 0), (2, 1), 7),
    ];
    assert_eq!(found, expected);
    assert_eq!(network.flit_hops(), 9 + 7 + 3 + 7);
    assert_eq!(network.link_flits(0, Side::West), 0, "there is none");
}

/// Where all of a core's channels are full, its next packet waits at the one behind the last, which
/// was filled before it: that is free first.
#[test]
fn a_core_with_full_channels_waits_for_the_next_one() {
    let spec = MeshSpec {
        ejection: Ejection::Queues { count: 2, flits: 1 },
        ..mesh(2, 1, RouterSpec::booksim(2, 4))
    };
    let mut network = FlitMesh::new(&spec).expect("is valid");
    // The first two fill a queue of core 1 and a channel of both routers each.
    let flits = 1 + 2 * 4;
    for queue in [0, 1, 0] {
        let packet = Packet::new(0, 1, flits);
        network.send(Packet { queue, ..packet });
    }
    network.run_until(100);
    assert_eq!(network.waiting(0), 1);
    let mut taken = 0;
    for cycle in 101..400 {
        if network.front(1, 0).is_some_and(|flit| flit.arrival < cycle) {
            network.take(1, 0);
            taken += 1;
        }
        network.run_until(cycle);
    }
    assert_eq!((taken, network.waiting(0)), (2 * flits, 0));
}

/// A flit has crossed a slow link when it has left for it, not when the next one may.
#[test]
fn a_slow_link_has_carried_what_has_left() {
    let slow = RouterSpec {
        link_interval: 20,
        ..RouterSpec::booksim(2, 4)
    };
    let mut network = FlitMesh::new(&mesh(2, 1, slow)).expect("is valid");
    network.send(Packet::new(0, 1, 2));
    // Injected, routed and given a channel; the second flit follows 20 cycles later.
    let leaves = 2 + 1 + 1;
    for (cycle, crossed) in [
        (leaves, 0),
        (leaves + 1, 1),
        (leaves + 20, 1),
        (leaves + 21, 2),
    ] {
        network.run_until(cycle);
        assert_eq!(network.link_flits(0, Side::East), crossed, "{cycle}");
        assert_eq!(network.flit_hops(), crossed);
    }
}

/// A core that watches a queue is told when it is full and a flit finds no place, which lies ahead.
#[test]
fn a_full_queue_is_told_of() {
    // The first flit comes in three hops and two cycles, and those in a buffer behind it one by one:
    // 17 to 20. Two more come as places are given back to the core, 22 and 23, or as it writes them, 23
    // and 26. The seventh would be next, and asks for its place three cycles before; that is told in the cycle
    // behind it.
    for (vcs, flit_interval, told) in [
        (1, 1, 24 - 2),
        (2, 1, 24 - 2),
        (1, 3, 29 - 2),
        (2, 3, 29 - 2),
    ] {
        let spec = MeshSpec {
            ejection: Ejection::Queues { count: 2, flits: 6 },
            ..mesh(3, 1, RouterSpec::booksim(vcs, 4))
        };
        let mut network = FlitMesh::new(&spec).expect("is valid");
        assert!(!network.watch_full(2, 1));
        network.send(Packet {
            queue: 1,
            flit_interval: Interval::cycles(flit_interval),
            ..Packet::new(0, 2, 30)
        });
        assert!(!network.has_news());
        network.run_to_news(1000);
        assert!(network.has_news());
        let [event] = network.take_arrivals()[..] else {
            panic!("it is told once");
        };
        assert_eq!((event.core, event.queue), (2, 1));
        assert_eq!(event.cycle, told, "{vcs} {flit_interval}");
        assert!(network.now() <= event.cycle);
        assert!(!network.has_news() && !network.is_idle());
        network.run_until(200);
        assert!(network.watch_full(2, 1), "and is full still");
        assert!(network.take_arrivals().is_empty());
    }
}

#[test]
fn flits_stay_in_their_queue_until_taken_and_stop_the_mesh() {
    let spec = MeshSpec {
        ejection: Ejection::Queues { count: 2, flits: 6 },
        ..mesh(3, 1, RouterSpec::booksim(1, 4))
    };
    let mut network = FlitMesh::new(&spec).expect("is valid");
    network.watch(2, 1);
    let packet = Packet {
        queue: 1,
        tag: 9,
        reports_injection: true,
        ..Packet::new(0, 2, 30)
    };
    network.send(packet);
    network.run_to_news(1000);
    // Three hops of five cycles and two more: the head is there, and it was known before.
    let arrival = QueueEvent {
        core: 2,
        queue: 1,
        cycle: 5 * 3 + 2,
    };
    assert_eq!(network.take_arrivals(), [arrival]);
    assert!(network.now() <= arrival.cycle);
    network.run_until(1000);
    // Six flits in the queue, three routers' buffers of four.
    assert_eq!(network.flits(), (6 + 3 * 4, 0));
    assert!(network.take_injected().is_empty());
    let mut taken = 0;
    while let Some(flit) = network.front(2, 1) {
        assert_eq!(flit.is_tail, taken == 29);
        network.take(2, 1);
        taken += 1;
        network.run_until(network.now() + 20);
    }
    assert_eq!(taken, 30);
    assert_eq!(network.take_injected()[0].0, 9);
    assert_eq!(network.conservation(), Ok(30));
}

fn specs() -> impl Strategy<Value = MeshSpec> {
    let router = (
        1_u32..=9,
        0_u32..=2,
        0_u32..=2,
        1_u32..=2,
        0_u32..=2,
        1_u32..=3,
    );
    let shape = (1_u32..=4, 1_u32..=4, 1_u32..=2, any::<bool>());
    (router, shape).prop_map(|(router, shape)| {
        let (buffer_flits, routing, vc_allocation, switch, link, credit) = router;
        let (width, height, per_node, is_yx) = shape;
        let order = if is_yx {
            DimensionOrder::Yx
        } else {
            DimensionOrder::Xy
        };
        MeshSpec {
            grid: Grid {
                per_node,
                order,
                ..Grid::mesh(width, height)
            },
            ..mesh(
                width,
                height,
                RouterSpec {
                    routing,
                    vc_allocation,
                    switch,
                    link,
                    credit,
                    ..RouterSpec::booksim(1, buffer_flits)
                },
            )
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Moving flits ahead of the clock changes nothing: every packet is injected and ejected in
    /// the same cycle as in a model that looks at every buffer in every cycle.
    #[test]
    fn equals_the_model_that_walks_every_cycle(
        spec in specs(),
        packets in prop::collection::vec((0_u64..150, 0_u32..32, 0_u32..32, 1_u32..12), 1..60),
    ) {
        let cores = spec.cores();
        let mut packets: Vec<(u64, Packet)> = packets
            .into_iter()
            .map(|(at, src, dst, flits)| (at, Packet::new(src % cores, dst % cores, flits)))
            .collect();
        packets.sort_by_key(|&(at, _)| at);
        for (index, (_, packet)) in packets.iter_mut().enumerate() {
            packet.tag = index as u64;
        }
        let mut network = FlitMesh::new(&spec).expect("is valid");
        for &(at, packet) in &packets {
            network.run_until(at);
            network.send(packet);
        }
        network.run_until(100_000);
        prop_assert!(network.conservation().is_ok(), "{:?}", network.conservation());
        let mut ours: Vec<(u64, u64, u64)> = network
            .take_deliveries()
            .iter()
            .map(|delivery| (delivery.packet.tag, delivery.injected, delivery.ejected))
            .collect();
        ours.sort_unstable();
        prop_assert_eq!(ours, naive::run(&spec, &packets));
    }

    /// Nothing is lost, nothing stops, with any number of virtual channels and on tori.
    #[test]
    fn everything_arrives(
        spec in specs(),
        vcs in 1_u32..=5,
        is_torus in any::<bool>(),
        link_interval in 1_u32..=3,
        turn in 0_u32..=2,
        packets in prop::collection::vec((0_u64..50, 0_u32..32, 0_u32..32, 1_u32..30), 1..200),
    ) {
        let mut spec = spec;
        spec.grid.is_torus = is_torus;
        spec.router.vcs = if is_torus { vcs.max(2) } else { vcs };
        spec.router.link_interval = link_interval;
        spec.router.turn = turn;
        let cores = spec.cores();
        let mut network = FlitMesh::new(&spec).expect("is valid");
        let mut packets = packets;
        packets.sort_unstable();
        for &(at, src, dst, flits) in &packets {
            network.run_until(at);
            network.send(Packet::new(src % cores, dst % cores, flits));
        }
        network.run_until(1_000_000);
        let flits = packets.iter().map(|packet| u64::from(packet.3)).sum();
        prop_assert_eq!(network.conservation(), Ok(flits));
        prop_assert_eq!(network.take_deliveries().len(), packets.len());
    }
}

#[test]
fn a_saturated_torus_moves_on() {
    let spec = torus(6, 5, RouterSpec::booksim(2, 8));
    for pattern in [Pattern::Uniform, Pattern::Tornado, Pattern::BitComplement] {
        let load = Load {
            rate: 1.0,
            warmup: 2000,
            measure: 4000,
            drain: 0,
            ..Load::default()
        };
        let point = run(&spec, &pattern, &load).expect("is valid");
        assert!(point.is_saturated && point.accepted > 0.05, "{point:?}");
    }
}

#[test]
fn equal_seeds_give_equal_points_and_others_do_not() {
    let spec = mesh(8, 8, RouterSpec::booksim(2, 4));
    let point = |seed| {
        let load = Load {
            rate: 0.2,
            measure: 1000,
            seed,
            ..Load::default()
        };
        run(&spec, &Pattern::Uniform, &load).expect("is valid")
    };
    assert_eq!(point(3), point(3));
    assert_ne!(point(3), point(4));
}

#[test]
fn refusals_name_the_number_and_the_range() {
    let base = mesh(4, 4, RouterSpec::booksim(1, 8));
    let refuse = |spec: MeshSpec| {
        FlitMesh::new(&spec)
            .expect_err("is refused")
            .with_help()
            .to_string()
    };
    assert_eq!(
        refuse(mesh(0, 4, base.router)),
        "width = 0 is out of range\n  it must be 1 to 4096 routers"
    );
    assert!(refuse(torus(4, 4, base.router)).contains("at least 2 on a torus"));
    let mut many = base;
    many.router.vcs = 0;
    assert!(refuse(many).contains("vcs = 0"));
    many.router.vcs = 12;
    assert_eq!(many.check(), Ok(()));
    many.router.vcs = 13;
    assert!(refuse(many).contains("vcs of a router = 65"));
    for (routing, switch, told) in [
        (
            201,
            1,
            "routing = 201 is out of range\n  it must be 0 to 200 cycles",
        ),
        (
            200,
            0,
            "switch = 0 is out of range\n  it must be 1 to 200 cycles",
        ),
    ] {
        let mut slow = base;
        (slow.router.routing, slow.router.switch) = (routing, switch);
        assert_eq!(refuse(slow), told);
    }
    let huge = mesh(4096, 4096, RouterSpec::booksim(1, 64));
    assert!(refuse(huge).contains("1 GiB"));
    // 2048 x 1024 routers, eight ports with eight channels of one flit each: as many as there may be.
    let mut most = mesh(2048, 1024, RouterSpec::booksim(8, 1));
    most.grid.per_node = 4;
    assert_eq!(most.check(), Ok(()));
    most.grid.height += 1;
    assert!(refuse(most).contains("1 GiB"));
}
