// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual channels where cores have queues: all that goes to one queue keeps its order, a queue
//! takes one packet after the other, and what that costs.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, MeshSpec, Packet, RouterSpec, VcChoice};
use proptest::prelude::*;

const QUEUES: u32 = 3;

fn mesh(grid: Grid, vcs: u32, buffer: u32, vc_choice: VcChoice) -> MeshSpec {
    MeshSpec {
        grid,
        router: RouterSpec {
            vc_choice,
            ..RouterSpec::booksim(vcs, buffer)
        },
        ejection: Ejection::Queues {
            count: QUEUES,
            flits: 5,
        },
    }
}

/// Sends packets at their cycles and takes every flit as soon as it is there; per core and queue
/// the tags of the flits as they were taken.
fn taken(spec: &MeshSpec, packets: &[(u64, Packet)]) -> Vec<Vec<u64>> {
    let mut network = FlitMesh::new(spec).expect("is valid");
    let mut queues = vec![Vec::new(); (spec.cores() * QUEUES) as usize];
    let (mut next, mut now) = (0, 0);
    while next < packets.len() || !network.is_idle() {
        while next < packets.len() && packets[next].0 == now {
            network.send(packets[next].1);
            next += 1;
        }
        now += 1;
        network.run_until(now);
        for (at, queue) in (0..).zip(&mut queues) {
            let (core, index) = (at / QUEUES, at % QUEUES);
            while network.front(core, index).is_some_and(|f| f.arrival <= now) {
                queue.push(network.take(core, index).packet.tag);
            }
        }
        assert!(now < 1_000_000, "the mesh has stopped");
    }
    assert!(network.conservation().is_ok());
    queues
}

/// Tags of packets in the order in which their first flits came, and whether no packet's flits
/// came between another's.
fn packets_of(flits: &[u64]) -> (Vec<u64>, bool) {
    let mut packets = flits.to_vec();
    packets.dedup();
    let mut seen = packets.clone();
    seen.sort_unstable();
    seen.dedup();
    let is_whole = seen.len() == packets.len();
    (packets, is_whole)
}

/// Pairs of packets from one core to one queue of another of which the second came first.
fn overtakings(spec: &MeshSpec, packets: &[(u64, Packet)]) -> u32 {
    let mut overtakings = 0;
    for flits in taken(spec, packets) {
        let (order, is_whole) = packets_of(&flits);
        assert!(is_whole, "{flits:?}");
        for (at, &first) in order.iter().enumerate() {
            let src = packets[first as usize].1.src;
            let later = order[at + 1..].iter();
            let of_pair = later.filter(|&&tag| packets[tag as usize].1.src == src);
            overtakings += of_pair.filter(|&&tag| tag < first).count() as u32;
        }
    }
    overtakings
}

type Traffic = Vec<(u64, u32, u32, u32, u32)>;

fn traffic() -> impl Strategy<Value = Traffic> {
    let packet = (0_u64..60, 0_u32..32, 0_u32..3, 1_u32..12, 0..QUEUES);
    prop::collection::vec(packet, 1..120)
}

fn packets(traffic: &Traffic, cores: u32) -> Vec<(u64, Packet)> {
    let mut packets: Vec<(u64, Packet)> = traffic
        .iter()
        .map(|&(at, src, dst, flits, queue)| {
            // Few receivers, so that packets of a pair meet.
            let (src, dst) = (src % cores, (dst * 5 + 1) % cores);
            (
                at,
                Packet {
                    queue,
                    ..Packet::new(src, dst, flits)
                },
            )
        })
        .collect();
    packets.sort_by_key(|&(at, _)| at);
    for (tag, (_, packet)) in (0..).zip(&mut packets) {
        packet.tag = tag;
    }
    packets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn packets_for_a_queue_keep_their_order(
        vcs in 1_u32..=5,
        buffer in 1_u32..=8,
        (width, height, per_node) in (1_u32..=4, 1_u32..=4, 1_u32..=2),
        is_torus in any::<bool>(),
        traffic in traffic(),
    ) {
        let grid = Grid { is_torus, per_node, ..Grid::mesh(width, height) };
        let vcs = vcs.max(if is_torus { 2 } else { 1 });
        let spec = mesh(grid, vcs, buffer, VcChoice::Receiver);
        prop_assert_eq!(overtakings(&spec, &packets(&traffic, spec.cores())), 0);
        // Whoever chooses, a queue takes one packet after the other: asserted there.
        overtakings(&mesh(grid, vcs, buffer, VcChoice::Any), &packets(&traffic, spec.cores()));
    }
}

#[test]
fn with_any_channel_packets_of_a_pair_overtake() {
    // A long packet of core 1 holds one channel of the link between routers 1 and 2; of core 0's
    // packets the first one waits behind it or not, and the second finds the other channel.
    let spec = |choice| mesh(Grid::mesh(5, 1), 2, 4, choice);
    let mut all = vec![(0, Packet::new(1, 3, 60))];
    all.extend((0..20).map(|at| (at, Packet::new(0, 3, 7))));
    all.sort_by_key(|&(at, _)| at);
    for (tag, (_, packet)) in (0..).zip(&mut all) {
        packet.tag = tag;
    }
    assert_eq!(overtakings(&spec(VcChoice::Receiver), &all), 0);
    assert!(overtakings(&spec(VcChoice::Any), &all) > 0);
}

/// Cycles until the only flit that core 0 sends to `dst` is there, while core 1 sends 40 flits to
/// core 4.
fn beside_a_long_packet(choice: VcChoice, dst: u32) -> u64 {
    let spec = MeshSpec {
        ejection: Ejection::Sink,
        ..mesh(Grid::mesh(6, 1), 2, 8, choice)
    };
    let mut network = FlitMesh::new(&spec).expect("is valid");
    network.send(Packet::new(1, 4, 40));
    network.send(Packet {
        tag: 1,
        ..Packet::new(0, dst, 1)
    });
    network.run_until(1000);
    let deliveries = network.take_deliveries();
    let found = deliveries.iter().find(|delivery| delivery.packet.tag == 1);
    found.expect("delivered").ejected
}

#[test]
fn the_price_is_that_packets_wait_for_the_channel_of_their_receiver() {
    let router = RouterSpec::booksim(2, 8);
    let alone = |routers: u64| u64::from(router.hop_cycles()) * routers + 2;
    // Cores 3 and 5 have one channel, core 4 the other: the flit for core 3 takes turns with the
    // long packet, and the one for core 4 waits for its tail.
    assert!(beside_a_long_packet(VcChoice::Receiver, 3) < alone(4) + 4);
    assert!(beside_a_long_packet(VcChoice::Receiver, 4) >= alone(5) + 30);
    assert!(beside_a_long_packet(VcChoice::Any, 4) < alone(5) + 4);
}
