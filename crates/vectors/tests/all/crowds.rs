// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of disjoint groups that come with the hardware are those that the simulator writes
//! today, and their groups do get in each other's way.

use std::path::Path;

use corecast_vectors::{Suite, Vector, crowds, to_json};
use serde_json::Value;

/// Engines of the hardware. With ten, roots have more than three bits and no power of two is full.
const NODES: [u32; 3] = [4, 8, 10];

fn vectors() -> Vec<Vector> {
    let suites = NODES.map(|nodes| Suite {
        nodes,
        random: 6,
        seed: 1,
    });
    let vectors = suites.iter().map(|suite| crowds(suite).expect("runs"));
    vectors.flatten().collect()
}

/// `CORECAST_BLESS=1` writes them.
#[test]
fn the_hardware_is_compared_with_todays_simulator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl/tb/vectors/snoop.json");
    let now = to_json(&vectors());
    if std::env::var_os("CORECAST_BLESS").is_some() {
        std::fs::write(&path, &now).expect("the folder is there");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == committed,
        "write them anew (CORECAST_BLESS=1) and replay them (`make -C rtl lockstep`)"
    );
}

/// The bus names one group at a time, one member a clock: launches of different groups are as many
/// clocks apart as the first of them has members, and two for the launch.
#[test]
fn groups_wait_for_each_other() {
    let file: Value = serde_json::from_str(&to_json(&vectors())).expect("JSON");
    let programs = file["programs"].as_array().expect("programs");
    for program in programs.iter().filter(|program| program["nodes"] != 4) {
        let events = program["expected"]["events"].as_array().expect("events");
        let launches = events.iter().filter(|event| event[1] == "launch");
        let mut clocks: Vec<u64> = launches.filter_map(|event| event[0].as_u64()).collect();
        clocks.sort_unstable();
        let groups: Vec<&[u64]> = clocks.chunk_by(|one, other| one == other).collect();
        let apart = |pair: &[&[u64]]| (pair[1][0] - pair[0][0], pair[0].len() as u64 + 2);
        let waited = groups.windows(2).map(apart);
        let waited = waited.filter(|(clocks, least)| clocks == least).count();
        let (name, mut pairs) = (&program["name"], groups.windows(2).map(apart));
        assert!(
            pairs.all(|(clocks, least)| clocks >= least),
            "{name}: {clocks:?}"
        );
        assert!(waited >= 3, "{name}: {clocks:?}");
    }
}
