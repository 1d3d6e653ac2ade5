//! Two rules of the flit mesh that keep it alive and honest: channels of the two classes of a torus,
//! and credits of the cores' queues.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, MeshSpec, Packet, RouterSpec};

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
