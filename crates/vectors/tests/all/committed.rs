// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vectors that come with the hardware are those that the simulator writes today.

use std::path::Path;

use corecast_vectors::{Suite, suite, to_json};

/// As `corecast rtl-vectors rtl/tb/vectors/lockstep.json` writes them.
#[test]
fn the_hardware_is_compared_with_todays_simulator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl/tb/vectors/lockstep.json");
    let vectors: Vec<_> = [2, 3, 4, 5, 8]
        .into_iter()
        .flat_map(|nodes| {
            let of_nodes = Suite {
                nodes,
                random: 8,
                seed: 1,
            };
            suite(&of_nodes).expect("runs")
        })
        .collect();
    let now = to_json(&vectors);
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = now.lines().zip(committed.lines());
    let differs = lines.position(|(now, committed)| now != committed);
    assert!(
        now == committed,
        "write them anew (`corecast rtl-vectors rtl/tb/vectors/lockstep.json`) and replay them \
         (`make -C rtl lockstep`); first difference in line {differs:?}"
    );
}
