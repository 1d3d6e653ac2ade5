// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flits that are moved ahead of the clock cross every link in the cycle in which they would have
//! been moved otherwise: a mesh that records waits moves none ahead, and is the reference.

use corecast_core::{Grid, LinkUse};
use corecast_sim::network::mesh::{
    Delivery, Ejection, FlitMesh, Interval, MeshSpec, Packet, RouterSpec, VcChoice,
};
use proptest::prelude::*;

/// What can be seen of a mesh in a cycle.
#[derive(PartialEq, Debug)]
struct Seen {
    deliveries: Vec<Delivery>,
    flits_ejected: u64,
    flit_hops: u64,
    links: Vec<LinkUse>,
    is_idle: bool,
}

fn seen(network: &mut FlitMesh) -> Seen {
    let mut deliveries = network.take_deliveries();
    deliveries.sort_by_key(|delivery| delivery.packet.tag);
    Seen {
        deliveries,
        flits_ejected: network.flits().1,
        flit_hops: network.flit_hops(),
        links: network.links().collect(),
        is_idle: network.is_idle(),
    }
}

/// Compares the mesh with the reference after every `step` cycles.
fn assert_equal(spec: &MeshSpec, packets: &[(u64, Packet)], step: u64) {
    let mut network = FlitMesh::new(spec).expect("is valid");
    let mut reference = network.clone();
    reference.record_waits();
    let (mut next, mut now) = (0, 0);
    while next < packets.len() || !reference.is_idle() {
        while next < packets.len() && packets[next].0 <= now {
            network.send(packets[next].1);
            reference.send(packets[next].1);
            next += 1;
        }
        now += step;
        network.run_until(now);
        reference.run_until(now);
        let (seen, expected) = (seen(&mut network), seen(&mut reference));
        assert_eq!(seen, expected, "before cycle {now}: {spec:?}");
        assert!(now < 1_000_000, "the mesh has stopped");
    }
    network.run_until(now + 1000);
    assert!(network.conservation().is_ok());
    let waits = reference.take_waits();
    assert!(waits.iter().all(|wait| wait.from < wait.until), "{spec:?}");
}

pub(crate) fn router() -> impl Strategy<Value = RouterSpec> {
    let buffer = (1_u32..=8, 2_u32..=6);
    let cycles = (0_u32..=2, 0_u32..=2, 1_u32..=3, 0_u32..=2, 0_u32..=2);
    let ends = (
        1_u32..=4,
        1_u32..=3,
        1_u32..=4,
        prop_oneof![4 => Just(1_u32), 1 => Just(2)],
    );
    (buffer, cycles, ends, any::<bool>()).prop_map(|(buffer, cycles, ends, is_any)| RouterSpec {
        vc_choice: match is_any {
            true => VcChoice::Any,
            false => VcChoice::Receiver,
        },
        routing: cycles.0,
        vc_allocation: cycles.1,
        switch: cycles.2,
        link: cycles.3,
        turn: cycles.4,
        credit: ends.0,
        injection: ends.1,
        ejection: ends.2,
        link_interval: ends.3,
        ..RouterSpec::booksim(buffer.1, buffer.0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_moves_at_another_time_than_without(
        router in router(),
        (width, height, per_node) in (1_u32..=5, 1_u32..=4, 1_u32..=2),
        (is_torus, is_booksim) in (any::<bool>(), any::<bool>()),
        step in 1_u64..=7,
        traffic in prop::collection::vec((0_u64..200, 0_u32..40, 0_u32..40, 1_u32..12, 1_u32..=3), 1..150),
    ) {
        let router = match is_booksim {
            true => RouterSpec::booksim(router.vcs, router.buffer_flits),
            false => router,
        };
        let grid = Grid { is_torus, per_node, ..Grid::mesh(width, height) };
        let spec = MeshSpec { grid, router, ejection: Ejection::Sink };
        let cores = spec.cores();
        let packet = |(tag, (at, src, dst, flits, flit_interval)): (u64, (u64, u32, u32, u32, u32))| {
            let flit_interval = Interval::of(1 + u64::from(flit_interval), 2);
            let packet = Packet { tag, flit_interval, ..Packet::new(src % cores, dst % cores, flits) };
            (at, packet)
        };
        let mut packets: Vec<_> = (0..).zip(traffic).map(packet).collect();
        packets.sort_by_key(|&(at, _)| at);
        assert_equal(&spec, &packets, step);
    }
}
