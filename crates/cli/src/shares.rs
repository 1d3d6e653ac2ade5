// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a run's time the network is responsible for, and how much the software.

use corecast_machine::Shares;
use corecast_study::{Run, Study};

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
