// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a mesh does for its traffic. The times of flits do not tell whether they were moved ahead
//! of the clock; these numbers do, and change with whatever makes the simulation cheaper or dearer.
//! Fewer are better: a number that has grown needs a reason.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, MeshSpec, RouterSpec, VcChoice};
use corecast_sim::traffic::UniformTraffic;

/// Turns and link crossings of `cycles` of uniform traffic, until nothing is left.
fn work(spec: &MeshSpec, flits: u32, rate: f64) -> (u64, u64) {
    let mut network = FlitMesh::new(spec).expect("is valid");
    let mut traffic = UniformTraffic::new(spec, rate, flits, 7);
    for now in 0..500 {
        while let Some(packet) = traffic.pop(now) {
            network.send(packet);
        }
        network.run_until(now + 1);
    }
    network.run_until(100_000);
    assert!(network.is_idle());
    (network.turns(), network.flit_hops())
}

/// Flits of a packet, and flits that each core injects in a cycle.
const LOADS: [(u32, f64); 4] = [(1, 0.1), (5, 0.1), (5, 0.4), (20, 0.1)];

fn check(name: &str, spec: &MeshSpec, expected: [u64; 4]) {
    let work = LOADS.map(|(flits, rate)| work(spec, flits, rate));
    let turns = work.map(|(turns, _)| turns);
    let hops = work.map(|(_, hops)| hops);
    assert_eq!(turns, expected, "{name}, for {hops:?} link crossings");
}

#[test]
fn a_mesh_does_no_more_than_before() {
    let booksim = |vcs| MeshSpec {
        grid: Grid::mesh(4, 4),
        router: RouterSpec::booksim(vcs, 6),
        ejection: Ejection::Sink,
    };
    let four = booksim(4);
    check("one channel", &booksim(1), [6659, 1507, 6439, 1109]);
    check("four channels", &four, [5936, 2470, 11671, 2713]);
    let mut by_receiver = four;
    by_receiver.router.vc_choice = VcChoice::Receiver;
    check(
        "channels by receiver",
        &by_receiver,
        [6345, 2389, 12609, 2552],
    );
    let mut turning = four;
    turning.router.turn = 2;
    check("turns that take time", &turning, [6659, 2581, 12098, 2767]);
    let mut slow = four;
    slow.router.link_interval = 2;
    check("slow links", &slow, [11953, 7496, 22095, 7123]);
    let mut short = four;
    short.router.routing = 0;
    short.router.vc_allocation = 0;
    short.router.switch = 1;
    check("short routers", &short, [6566, 4046, 14086, 4101]);
    let mut torus = four;
    torus.grid.is_torus = true;
    check("torus", &torus, [5091, 2094, 9988, 2122]);
    let mut shared = four;
    shared.grid = Grid {
        per_node: 3,
        ..Grid::mesh(3, 3)
    };
    check(
        "three cores at a router",
        &shared,
        [9941, 3080, 19737, 3155],
    );
    let mut small = four;
    small.router.buffer_flits = 2;
    check("small buffers", &small, [6013, 5462, 22383, 5785]);
}
