// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a run's time the network is responsible for, and how much the software.

use corecast_machine::Shares;
use corecast_study::{Run, Study};

/// The share of its packets that background traffic must send if nothing is to be said about it.
const SENT_MIN: f64 = 0.95;

/// A line that says so if there was more background traffic in a run than the network can carry.
pub fn background_line<'a>(runs: impl IntoIterator<Item = &'a Run>) -> String {
    let shares = runs
        .into_iter()
        .filter_map(|run| run.report.background.sent_share());
    let least = shares.fold(1.0, f64::min);
    match least < SENT_MIN {
        true => format!(
            "note: the network is full: background traffic could send {:.0} % of its packets\n",
            100.0 * least
        ),
        false => String::new(),
    }
}

/// A sentence about a run; nothing where the machine does not tell.
pub fn line(study: &Study, run: &Run) -> String {
    let Some(shares) = study.shares(run) else {
        return String::new();
    };
    let Shares {
        network_percent,
        software_percent,
    } = shares;
    format!(
        "critical path of {}: network {network_percent:.1} %, software {software_percent:.1} %\n",
        run.algorithm
    )
}
