//! `doctor`: what is found on this computer and in this build.

use corecast_core::algorithm;
use corecast_study::MACHINES;
use serde::Serialize;

use crate::output::{Answer, json};

/// Model of this computer's processor, as far as the system tells.
pub fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(':'));
    model.map_or("unknown".to_owned(), |(_, model)| model.trim().to_owned())
}

/// Number of cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What was found.
#[derive(Serialize)]
struct Found {
    version: &'static str,
    cpu_model: String,
    cores: usize,
    chips: Vec<&'static str>,
    algorithms: usize,
    machines: Vec<&'static str>,
}

/// The verb.
pub fn answer() -> Answer {
    let found = Found {
        version: env!("CARGO_PKG_VERSION"),
        cpu_model: cpu_model(),
        cores: cores(),
        chips: corecast_chip::builtin_names().collect(),
        algorithms: algorithm::all().count(),
        machines: MACHINES.map(|machine| machine.name()).to_vec(),
    };
    let text = format!(
        "corecast    {}\nprocessor   {}, {} cores usable\nchips       {}\n\
         algorithms  {}\nmachines    {}\n",
        found.version,
        found.cpu_model,
        found.cores,
        found.chips.join(", "),
        found.algorithms,
        found.machines.join(", ")
    );
    Answer {
        text,
        json: json(found),
        failed: Vec::new(),
    }
}
