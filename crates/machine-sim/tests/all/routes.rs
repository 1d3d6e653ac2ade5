// SPDX-License-Identifier: MIT OR Apache-2.0
//! The routes that algorithms, certificates and bounds assume are those that packets take.

use std::collections::BTreeSet;

use corecast_chip::{Chip, find_changed};
use corecast_core::{Certificate, Collective, Rank, Request, algorithm, verify};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

/// A link by the coordinates of its ends.
type Link = ((u32, u32), (u32, u32));

fn chip(base: &str, changes: &[(&str, &str)]) -> Chip {
    let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    find_changed(base, &owned.collect::<Vec<_>>()).expect("valid")
}

/// Links on the way between any two ranks, by the grid that algorithms are given.
fn planned(chip: &Chip, ranks: u32) -> BTreeSet<Link> {
    let grid = chip.grid(ranks).expect("a mesh");
    let mut links = BTreeSet::new();
    for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
        let (src, dst) = (grid.node_of(Rank(from)), grid.node_of(Rank(to)));
        grid.visit_route(src, dst, &mut |node, hop| {
            let next = grid
                .neighbour(node, hop.side)
                .expect("a route stays on the grid");
            links.insert((grid.position(node), grid.position(next)));
        });
    }
    links
}

/// Links that a run of everybody with everybody has used.
fn used(machine: &SimMachine, ranks: u32) -> BTreeSet<Link> {
    let request = Request::new(Collective::Alltoall, ranks, 4);
    let request = machine.request(request, &RunOptions::default());
    let linear = algorithm::find(Collective::Alltoall, "linear").expect("registered");
    let schedule = linear.schedule(&request);
    let report = machine.run(&Job::new(&schedule)).expect("runs");
    assert!(report.delivered());
    let used = report.links.iter().filter(|link| link.flits > 0);
    used.map(|link| (link.from, link.to)).collect()
}

#[test]
fn packets_go_where_algorithms_think_on_tori_of_which_a_part_is_used() {
    for order in ["xy", "yx"] {
        let torus = [
            ("network.kind", "torus"),
            ("network.vcs", "2"),
            ("network.width", "5"),
            ("network.height", "4"),
            ("network.order", order),
        ];
        let chip = chip("booksim-mesh", &torus);
        let exact = SimMachine::new(&chip);
        for ranks in 2..=20 {
            for fidelity in [Fidelity::Flit, Fidelity::Packet] {
                let machine = exact.clone().with_fidelity(fidelity);
                assert_eq!(
                    used(&machine, ranks),
                    planned(&chip, ranks),
                    "{ranks} ranks, {order}"
                );
            }
        }
    }
}

/// Where cores have buffers, the lines take the same routes.
#[test]
fn lines_go_there_too() {
    let torus = [("network.kind", "torus"), ("network.width", "6")];
    let chip = chip("scc", &torus);
    for ranks in [4, 10, 12, 24, 30, 48] {
        let machine = SimMachine::new(&chip);
        assert_eq!(
            used(&machine, ranks),
            planned(&chip, ranks),
            "{ranks} ranks"
        );
    }
}

/// On a torus that its ranks do not fill, slots without contention are still without contention on
/// the ways that packets take, and go around: 5 x 3 ranks of 5 x 4 routers.
#[test]
fn slots_are_free_of_contention_on_a_part_of_a_torus() {
    let shape = [("network.width", "5"), ("network.height", "4")];
    let torus = [
        shape[0],
        shape[1],
        ("network.kind", "torus"),
        ("network.vcs", "2"),
    ];
    let certificate = |chip: &Chip, ranks: u32| {
        let machine = SimMachine::new(chip);
        let request = Request::new(Collective::Alltoall, ranks, 16);
        let request = machine.request(request, &RunOptions::default());
        let free = algorithm::find(Collective::Alltoall, "contention-free").expect("registered");
        verify(&free.schedule(&request), &chip.routes(ranks))
    };
    let (torus, mesh) = (chip("booksim-mesh", &torus), chip("booksim-mesh", &shape));
    for ranks in [12, 15, 16] {
        let certificate = certificate(&torus, ranks);
        assert!(
            certificate.is_correct() && certificate.is_contention_free(),
            "{ranks} ranks"
        );
    }
    let bounds = [&torus, &mesh].map(|chip| certificate(chip, 15).link_bound_rounds);
    assert!(bounds[0] < bounds[1], "whole rows go around: {bounds:?}");
}

/// A multicast is one message on a tree of links only where the machine sends it as one: on a static
/// network, which takes ranks in order.
#[test]
fn certificates_take_multicasts_as_the_machine_sends_them() {
    let certificate = |base: &str, changes: &[(&str, &str)], ranks: u32, root: u32| {
        let chip = chip(base, changes);
        let machine = SimMachine::new(&chip);
        let request = Request {
            root: Rank(root),
            ..Request::new(Collective::Bcast, ranks, 64)
        };
        let request = machine.request(request, &RunOptions::default());
        let tree = algorithm::find(Collective::Bcast, "static-route").expect("registered");
        let schedule = tree.schedule(&request);
        let certificate = verify(&schedule, &chip.routes(ranks));
        let sent = machine.run(&Job::new(&schedule)).expect("runs");
        let most = sent.links.iter().map(|link| link.flits).max();
        (certificate, most.expect("links are used"))
    };
    // In a row, from its end and from its middle, and mirrored.
    let row = [("network.width", "5"), ("network.height", "1")];
    let (one_by_one, from_end) = certificate("booksim-mesh", &row, 5, 0);
    assert_eq!(one_by_one.busiest_link.map(|share| share.messages), Some(4));
    for root in [0, 2] {
        let (plain, most) = certificate("booksim-mesh", &row, 5, root);
        let mirrored = [row[0], row[1], ("network.placement", "4 3 2 1 0")];
        let (mirrored, most_mirrored) = certificate("booksim-mesh", &mirrored, 5, root);
        assert!(!plain.is_contention_free(), "from {root}");
        assert_eq!(plain.link_bound_rounds, mirrored.link_bound_rounds);
        let shares = |of: &Certificate| of.busiest_link.map(|share| share.messages);
        assert_eq!(shares(&plain), shares(&mirrored), "from {root}");
        assert_eq!(most, most_mirrored, "from {root}");
    }
    let (tree, of_tree) = certificate("tilepro64", &row, 5, 0);
    assert!(tree.is_contention_free());
    assert_eq!(of_tree, 64 / 4, "every word crosses a link once");
    assert_eq!(from_end % 4, 0, "{from_end} flits of four messages");
}
