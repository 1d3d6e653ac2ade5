// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules of the flit mesh that keep it alive and honest: channels of the two classes of a torus,
//! credits of the cores' queues, and switches that serve one flit per port and take turns.

use corecast_core::Grid;
use corecast_sim::network::mesh::{
    Ejection, FlitMesh, Interval, LinkWait, MeshSpec, Packet, RouterSpec, VcChoice,
};

/// Routers of the ring.
const ROUTERS: u32 = 5;

/// A ring with `vcs + 1` cores at every router, which take nothing by themselves: so many can have a
/// packet stuck on one link at a time, and one more.
struct Ring {
    network: FlitMesh,
    per_node: u32,
}

impl Ring {
    fn new(vcs: u32) -> Self {
        let per_node = vcs + 1;
        let grid = Grid {
            is_torus: true,
            per_node,
            ..Grid::mesh(ROUTERS, 1)
        };
        let spec = MeshSpec {
            grid,
            router: RouterSpec::booksim(vcs, 4),
            ejection: Ejection::Queues { count: 2, flits: 2 },
        };
        let network = FlitMesh::new(&spec).expect("valid");
        Self { network, per_node }
    }

    /// Stuck packets from every core but the last of one router to the first of another: longer than
    /// all the buffers on their way, and nobody takes them.
    fn fill(&mut self, from: u32, to: u32) {
        for core in 0..self.per_node - 1 {
            let (src, dst) = (from * self.per_node + core, to * self.per_node);
            self.network.send(Packet::new(src, dst, 100));
        }
        self.network.run_until(2000);
    }

    /// Whether a packet from the last core of one router comes to that of another.
    fn lets_pass(&mut self, from: u32, to: u32) -> bool {
        let last = |router: u32| (router + 1) * self.per_node - 1;
        let (src, dst) = (last(from), last(to));
        self.network.send(Packet::new(src, dst, 2));
        self.network.run_until(self.network.now() + 2000);
        self.network.front(dst, 0).is_some()
    }
}

/// Packets that have crossed the wrap-around link keep to the upper half of the channels, and the
/// others to the lower half, or rings of waiting packets could close. So however many of one class
/// are stuck, those of the other find their channels free, and those of the same class do not.
#[test]
fn each_class_of_a_torus_leaves_the_other_its_channels() {
    let (last, first, second, third) = (ROUTERS - 1, 0, 1, 2);
    for vcs in [2, 3, 4] {
        // Over the wrap-around link and the one behind it, to the second router.
        let mut ring = Ring::new(vcs);
        ring.fill(last, second);
        assert!(ring.lets_pass(first, third), "{vcs} channels, lower half");
        assert!(!ring.lets_pass(last, second), "{vcs} channels, upper half");
        // Over that second link only.
        let mut ring = Ring::new(vcs);
        ring.fill(first, second);
        assert!(ring.lets_pass(last, second), "{vcs} channels, upper half");
        assert!(!ring.lets_pass(first, third), "{vcs} channels, lower half");
    }
}

/// A place in a core's queue can be used again a credit's time after the core has taken the flit: a
/// queue of one flit takes one every `ejection + credit` cycles, however fast the core is.
#[test]
fn a_queues_credit_takes_its_time() {
    for vcs in [1, 2] {
        for (ejection, credit) in [(1, 1), (1, 4), (3, 2), (2, 7)] {
            let spec = MeshSpec {
                grid: Grid::mesh(2, 1),
                router: RouterSpec {
                    ejection,
                    credit,
                    ..RouterSpec::booksim(vcs, 16)
                },
                ejection: Ejection::Queues { count: 1, flits: 1 },
            };
            let mut network = FlitMesh::new(&spec).expect("valid");
            network.send(Packet::new(0, 1, 10));
            let mut arrivals = Vec::new();
            while arrivals.len() < 10 {
                network.run_until(network.now() + 1);
                // The core takes every flit in the cycle in which it can.
                if let Some(flit) = network.front(1, 0)
                    && flit.arrival <= network.now()
                {
                    arrivals.push(flit.arrival);
                    network.take(1, 0);
                }
                assert!(network.now() < 1000, "{arrivals:?}");
            }
            let gaps = arrivals.windows(2).map(|pair| pair[1] - pair[0]);
            let gaps: Vec<u64> = gaps.collect();
            assert_eq!(gaps, [u64::from(ejection + credit); 9], "{vcs} channels");
        }
    }
}

/// 3 x 3 routers with a core each, which take every flit at once.
fn square(router: RouterSpec) -> FlitMesh {
    let spec = MeshSpec {
        grid: Grid::mesh(3, 3),
        router,
        ejection: Ejection::Sink,
    };
    FlitMesh::new(&spec).expect("valid")
}

/// When the tails of packets `(source, receiver, flits)` that are sent at once are there.
fn ends(mut network: FlitMesh, packets: &[(u32, u32, u32)]) -> Vec<u64> {
    for (tag, &(src, dst, flits)) in (0..).zip(packets) {
        network.send(Packet {
            tag,
            ..Packet::new(src, dst, flits)
        });
    }
    network.run_until(10_000);
    network.conservation().expect("all is back");
    let mut deliveries = network.take_deliveries();
    deliveries.sort_by_key(|delivery| delivery.packet.tag);
    deliveries.iter().map(|of| of.ejected).collect()
}

/// Streams that meet at a port take turns, one flit per cycle: all of them end when the port has
/// carried all flits, a round apart.
#[test]
fn streams_that_meet_share_a_port_evenly() {
    let flits = 50;
    // Into the middle from two, three and four sides; from two cores over one link to one core or to
    // two.
    let meetings: [&[(u32, u32)]; 5] = [
        &[(3, 4), (5, 4)],
        &[(3, 4), (5, 4), (1, 4)],
        &[(3, 4), (5, 4), (1, 4), (7, 4)],
        &[(3, 5), (4, 5)],
        &[(3, 5), (4, 8)],
    ];
    for (streams, vcs) in meetings.iter().flat_map(|of| [(of, 4), (of, 8)]) {
        let packets: Vec<_> = streams
            .iter()
            .map(|&(src, dst)| (src, dst, flits))
            .collect();
        let ends = ends(square(RouterSpec::booksim(vcs, 16)), &packets);
        let all = u64::from(flits) * streams.len() as u64;
        let (first, last) = (ends.iter().min(), ends.iter().max());
        let (first, last) = (*first.expect("some"), *last.expect("some"));
        let way = 3 * 5 + 5; // of a head, at most
        assert!((all..all + way).contains(&last), "{streams:?}: {ends:?}");
        assert!(last - first <= 3 * 5, "{streams:?}: {ends:?}");
    }
}

/// A head that is still on the link when the tail ahead of it leaves is not held up by it.
#[test]
fn a_slow_stream_of_packets_is_not_held_up() {
    let router = RouterSpec {
        vc_choice: VcChoice::Receiver,
        ..RouterSpec::booksim(2, 8)
    };
    let mut network = square(router);
    for _ in 0..5 {
        network.send(Packet {
            flit_interval: Interval::cycles(2),
            ..Packet::new(3, 5, 4)
        });
    }
    network.run_until(1000);
    let deliveries = network.take_deliveries();
    let ends: Vec<u64> = deliveries.iter().map(|of| of.ejected).collect();
    // At the routers, where heads take longer, the flits behind them catch up.
    let alone = 5 * 3 + 2 + 3;
    let expected: Vec<u64> = (0..5).map(|packet| alone + packet * 4 * 2).collect();
    assert_eq!(ends, expected);
}

/// Of three packets for one core the last waits for the first and then for the second.
#[test]
fn who_goes_on_waiting_waits_for_the_next_holder() {
    let mut network = square(RouterSpec::booksim(1, 8));
    network.record_waits();
    for (tag, src) in [(0, 3), (1, 5), (2, 1)] {
        network.send(Packet {
            tag,
            ..Packet::new(src, 4, 20)
        });
    }
    network.run_until(1000);
    let deliveries = network.take_deliveries();
    let order: Vec<u64> = deliveries.iter().map(|of| of.packet.tag).collect();
    let waits = network.take_waits();
    let of = |tag| waits.iter().filter(move |wait| wait.packet.tag == tag);
    let holders = |tag| of(tag).map(|wait| wait.holder.tag).collect::<Vec<u64>>();
    assert_eq!(holders(order[0]), []);
    assert_eq!(holders(order[1]), [order[0]]);
    assert_eq!(holders(order[2]), [order[0], order[1]]);
    let last: Vec<&LinkWait> = of(order[2]).collect();
    assert_eq!(last[0].until, last[1].from);
    assert!(
        waits
            .iter()
            .all(|wait| (wait.router, wait.side) == (4, None))
    );
}

/// A core whose next channel is full uses another one: of three cores at one router, core 2 fills a
/// queue of core 1, so that core 0 has one channel full of flits for it.
#[test]
fn a_core_uses_the_channel_with_room() {
    let spec = MeshSpec {
        grid: Grid {
            per_node: 3,
            ..Grid::mesh(1, 1)
        },
        router: RouterSpec::booksim(2, 4),
        ejection: Ejection::Queues { count: 2, flits: 2 },
    };
    let mut network = FlitMesh::new(&spec).expect("valid");
    network.send(Packet::new(2, 1, 100));
    network.run_until(100);
    network.send(Packet::new(0, 1, 4));
    // The second channel takes all that follow, also when its places have all been used before.
    for _ in 0..3 {
        for queue in [0, 1] {
            let free = Packet::new(0, 2, 2);
            network.send(Packet { queue, ..free });
        }
        network.run_until(network.now() + 100);
        for (queue, is_tail) in [(0, false), (0, true), (1, false), (1, true)] {
            assert!(network.front(2, queue).is_some(), "queue {queue}");
            assert_eq!(network.take(2, queue).is_tail, is_tail);
        }
    }
}
