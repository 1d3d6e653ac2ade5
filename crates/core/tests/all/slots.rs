// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contention-free alltoall is proved on every mesh: link by link, by the verifier.

use corecast_core::{Collective, Grid, Request, algorithm, verify};

/// Verifies one mesh; returns the slots and the bound.
fn prove(grid: Grid, ranks: u32) -> (u32, u32) {
    let mut request = Request::new(Collective::Alltoall, ranks, 4);
    request.platform.grid = Some(grid);
    let name = "contention-free";
    let algorithm = algorithm::find(Collective::Alltoall, name).expect("registered");
    let schedule = algorithm::build(algorithm, &request).expect("fits");
    let certificate = verify(&schedule, &grid);
    let case = format!("{} x {}", grid.width, grid.height);
    assert!(certificate.is_correct(), "{case}: {certificate:?}");
    assert!(certificate.is_deadlock_free(), "{case}");
    assert!(
        certificate.is_contention_free(),
        "{case}: {:?}",
        certificate.busiest_link
    );
    let (w, h) = (grid.width, grid.height);
    let links = (w * w / 4 * h).max(h * h / 4 * w);
    let bound = links.max(ranks - 1);
    assert_eq!(certificate.link_bound_rounds, bound, "{case}");
    (certificate.rounds, bound)
}

/// Proves every mesh up to so many cores in either direction; how far each is above its bound, as a table.
fn prove_all(longest: u32) -> String {
    let mut table = format!("slots above the bound; rows: height 1 to {longest}, columns: width\n");
    for height in 1..=longest {
        for width in 1..=longest {
            let (slots, bound) = prove(Grid::mesh(width, height), width * height);
            assert!(slots >= bound, "{width} x {height}: the bound is wrong");
            let room = if width * height <= 64 { 2 } else { bound / 25 };
            assert!(
                slots <= bound + room.max(2),
                "{width} x {height}: {slots} for {bound}"
            );
            table += &format!("{:3}", slots - bound);
        }
        table += "\n";
    }
    table
}

#[test]
fn every_mesh_up_to_11_by_11_is_free_of_contention_and_close_to_its_bound() {
    prove_all(11);
}

#[test]
#[ignore = "half a minute: `cargo xtask night exhaustive`"]
fn every_mesh_up_to_16_by_16_is_free_of_contention_and_close_to_its_bound() {
    let table = prove_all(16);
    insta::assert_snapshot!("slots_above_the_bound", table);
}
