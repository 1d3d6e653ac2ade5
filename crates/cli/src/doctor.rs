//! `doctor`: what is found on this computer and in this build.

use corecast_core::algorithm;
use corecast_study::MACHINES;
use serde_json::json;

use crate::output::Answer;

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

/// The verb.
pub fn answer() -> Answer {
    let (version, cores, model) = (env!("CARGO_PKG_VERSION"), cores(), cpu_model());
    let chips: Vec<_> = corecast_chip::builtin_names().collect();
    let algorithms = algorithm::all().count();
    let machines = MACHINES.map(|machine| machine.name());
    let text = format!(
        "corecast    {version}\nprocessor   {model}, {cores} cores usable\nchips       {}\n\
         algorithms  {algorithms}\nmachines    {}\n",
        chips.join(", "),
        machines.join(", ")
    );
    let json = json!({
        "version": version,
        "cpu_model": model,
        "cores": cores,
        "chips": chips,
        "algorithms": algorithms,
        "machines": machines,
    });
    Answer {
        text,
        json,
        failed: Vec::new(),
    }
}
