// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a run's time the network is responsible for, how much the software, and whether there was
//! more other traffic than the network can carry.

use corecast_machine::{Report, Shares};
use corecast_study::{Run, Study};

/// The share of its packets that background traffic must send if nothing is to be said about it.
const SENT_MIN: f64 = 0.95;

/// Says so if there was more background traffic in a run than the network can carry.
pub fn background(report: &Report) -> Option<String> {
    let share = report.background.sent_share();
    let share = share.filter(|&share| share < SENT_MIN);
    share.map(|share| {
        format!(
            "the network is full: background traffic could send {:.0} % of its packets",
            100.0 * share
        )
    })
}

/// The same as a line of its own.
pub fn background_line(report: &Report) -> String {
    background(report).map_or(String::new(), |full| format!("note: {full}\n"))
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
