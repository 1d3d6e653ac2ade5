//! How much of a run's time the network is responsible for, and how much the software.

use corecast_machine::{Shares, critical_path};
use serde_json::{Value, json};

use crate::run::Run;
use crate::scene::Stage;

/// None on the host, which does not tell what is network and what is not.
fn of(stage: &Stage<'_>, run: &Run) -> Option<Shares> {
    let shares = stage.is_simulated().then(|| critical_path(&run.report));
    Shares::of(&shares?)
}

/// A sentence about a run.
pub fn line(stage: &Stage<'_>, run: &Run) -> String {
    let Some(shares) = of(stage, run) else {
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

/// Adds the fields about it to a run's object.
pub fn add(stage: &Stage<'_>, run: &Run, object: &mut Value) {
    let shares = of(stage, run);
    object["network_percent"] = json!(shares.map(|shares| shares.network_percent));
    object["software_percent"] = json!(shares.map(|shares| shares.software_percent));
}
