// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every schedule as text, for a person to compare with the paper's figure.
//!
//! One snapshot per algorithm, over 4 and 5 ranks (where supported), in
//! `src/algorithms/snapshots/<collective>__<algorithm>.snap`. After a deliberate change run the
//! test with `INSTA_UPDATE=always` and read the difference.

use corecast_core::{Help as _, Rank, Request, algorithm};

#[test]
fn every_algorithm_looks_as_it_should() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../src/algorithms/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut drawn = 0;
    for algorithm in algorithm::all() {
        let collective = algorithm.collective();
        let mut text = format!("{}\n", algorithm.summary());
        for ranks in [4, 5] {
            let mut request = Request::new(collective, ranks, 64);
            if ranks == 5 && collective.is_rooted() {
                request = request.with_root(Rank(1));
            }
            text += "\n";
            text += &match algorithm::build(algorithm, &request) {
                Ok(schedule) => schedule.to_string(),
                Err(refused) => format!("{}\n", refused.with_help()),
            };
        }
        let name = format!("{collective}__{}", algorithm.name());
        settings.bind(|| insta::assert_snapshot!(name, text));
        drawn += 1;
    }
    assert!(drawn > 0, "no algorithm is registered");
}
