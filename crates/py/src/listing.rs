// SPDX-License-Identifier: MIT OR Apache-2.0
//! What there is, and which names are known.

use corecast_core::{Collective, ElementType, FlowControl, ReduceOp, algorithm};
use corecast_exchange::{FORMATS, Format};
use corecast_machine_sim::Fidelity;
use corecast_papers::PAPERS;
use corecast_sim::traffic::PATTERN_NAMES;
use corecast_study::{MACHINES, StudyError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::chip::Chip;
use crate::plan;
use crate::refusal::Refusal;

/// Records as JSON.
pub fn json(records: impl Serialize) -> String {
    serde_json::to_string(&records).expect("results are plain data")
}

/// The built-in chips.
#[pyfunction]
pub fn list_chips() -> String {
    json(corecast_study::list_chips().collect::<Vec<_>>())
}

/// The algorithms, by collective.
#[pyfunction]
pub fn list_algorithms() -> String {
    json(corecast_study::list_algorithms().collect::<Vec<_>>())
}

/// The machines.
#[pyfunction]
pub fn list_machines() -> String {
    json(corecast_study::list_machines().collect::<Vec<_>>())
}

/// The formats of schedule files.
#[pyfunction]
pub fn list_formats() -> String {
    json(corecast_study::list_formats().collect::<Vec<_>>())
}

/// The keys of chip files.
#[pyfunction]
pub fn list_keys() -> String {
    json(corecast_study::list_keys().collect::<Vec<_>>())
}

/// The papers.
#[pyfunction]
pub fn list_papers() -> String {
    json(corecast_papers::list_papers().collect::<Vec<_>>())
}

/// The names of a kind.
#[pyfunction]
pub fn names(kind: &str) -> PyResult<Vec<&'static str>> {
    Ok(match kind {
        "collective" => Collective::ALL.map(Collective::name).to_vec(),
        "algorithm" => algorithm::all().map(|algorithm| algorithm.name()).collect(),
        "machine" => MACHINES.map(|machine| machine.name()).to_vec(),
        "dtype" => ElementType::ALL.map(ElementType::name).to_vec(),
        "op" => ReduceOp::ALL.map(ReduceOp::name).to_vec(),
        "fidelity" => Fidelity::ALL.map(Fidelity::name).to_vec(),
        "flow_control" => FlowControl::ALL.map(|(name, _)| name).to_vec(),
        "format" => FORMATS.map(Format::name).to_vec(),
        "program_format" => corecast_replay::FORMATS
            .map(corecast_replay::Format::name)
            .to_vec(),
        "paper" => PAPERS.iter().map(|paper| paper.name).collect(),
        "pattern" => PATTERN_NAMES.to_vec(),
        _ => return Err(Refusal::unknown("kind", "kinds", kind, &["collective"]).into()),
    })
}

/// The rank counts and the sizes that are searched by default.
#[pyfunction]
pub fn tuned_cells(
    chip: &Chip,
    collective: &str,
    dtype: &str,
    machine: &str,
) -> Result<(Vec<u64>, Vec<u64>), Refusal> {
    let of = (plan::collective(collective)?, plan::element(dtype)?);
    let chip = &chip.choice.chip;
    let machine = corecast_study::machine(machine)?.on(chip, None);
    let cores = machine.map_err(StudyError::from)?.cores();
    Ok(corecast_study::tuned_cells(chip, cores, of))
}

/// The nearest of some names, as errors propose it.
#[pyfunction]
pub fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    corecast_text::nearest(name, &known).map(str::to_owned)
}
