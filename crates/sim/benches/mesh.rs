// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner loop of the flit mesh: link crossings per second under uniform traffic.
//!
//! `cargo bench -p corecast-sim`; for a flame graph, run the binary it builds under a profiler.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, MeshSpec, Packet, RouterSpec};
use corecast_sim::traffic::{Load, Pattern, run};

fn main() {
    divan::main();
}

fn spec(side: u32, vcs: u32) -> MeshSpec {
    MeshSpec {
        grid: Grid::mesh(side, side),
        router: RouterSpec::booksim(vcs, 8),
        ejection: Ejection::Sink,
    }
}

#[divan::bench(args = [(8, 1), (16, 1), (32, 1), (64, 1), (8, 4), (64, 4)], sample_count = 5)]
fn uniform_traffic_at_half_of_saturation(bencher: divan::Bencher, (side, vcs): (u32, u32)) {
    let load = Load {
        rate: 0.5 * 0.46 * 4.0 / f64::from(side),
        warmup: 0,
        measure: 2_000_000 / u64::from(side * side),
        ..Load::default()
    };
    let run = || run(&spec(side, vcs), &Pattern::Uniform, &load).expect("valid");
    bencher
        .counter(divan::counter::ItemsCount::new(run().flit_hops))
        .bench(run);
}

/// One packet on its way: the cost must not depend on the size of the mesh.
#[divan::bench(args = [4, 64])]
fn one_packet_of_64_flits_over_6_hops(bencher: divan::Bencher, side: u32) {
    let mut mesh = FlitMesh::new(&spec(side, 1)).expect("valid");
    let dst = mesh.spec().grid.node_at(3, 3);
    bencher.bench_local(|| {
        mesh.send(Packet::new(0, dst, 64));
        mesh.run_until(mesh.now() + 1000);
        mesh.take_deliveries()
    });
}
