// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs on tiles.

use std::sync::Arc;

use corecast_flow::PLACEMENTS;
use corecast_machine_sim::pronto::{Aim, Direction, Injectors};
use corecast_study::{FlowCase, FlowPlan, FlowStudy, StudyError, machine};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::chip::Chip;
use crate::plan;
use crate::refusal::Refusal;
use crate::study::signed;
use crate::work::{Meter, wait_for};

/// What to run, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    machine: String,
    stages: Option<Vec<u32>>,
    flows: Option<Vec<u32>>,
    placement: Option<Vec<String>>,
    flow_control: Option<bool>,
    injectors: Option<(f64, String)>,
    seed: u64,
    limit_events: Option<u64>,
    limit_ns: Option<u64>,
}

/// A study of a flow, and its runs once it has been run.
#[pyclass(frozen, module = "corecast._core")]
pub struct Flow {
    study: Arc<FlowStudy>,
    cases: Vec<FlowCase>,
}

#[pymethods]
impl Flow {
    /// `text` is that of the flow file `file`.
    #[new]
    fn new(chip: &Chip, text: &str, file: &str, arguments: &str) -> Result<Self, Refusal> {
        let of: Arguments = plan::parse(arguments)?;
        let placement = |name: &String| {
            let known = PLACEMENTS.iter().find(|(known, _)| known == name);
            known
                .map(|(_, placement)| placement.clone())
                .ok_or_else(|| {
                    let known = PLACEMENTS.each_ref().map(|&(known, _)| known);
                    Refusal::unknown("placement", "placements", name, &known)
                })
        };
        let placements = of
            .placement
            .map(|names| names.iter().map(placement).collect());
        let directions = [
            ("north-south", Direction::NorthToSouth),
            ("west-east", Direction::WestToEast),
        ];
        let injectors = of.injectors.map(|(rate, direction)| {
            let (_, direction) = plan::one(
                ("direction", "directions"),
                directions,
                |(name, _)| name,
                &direction,
            )?;
            Ok::<_, Refusal>(Injectors {
                rate,
                direction,
                aim: Aim::Opposite,
                seed: of.seed,
                ..Injectors::default()
            })
        });
        let study = FlowStudy::new(FlowPlan {
            machine: machine(&of.machine)?,
            stages: of.stages,
            flows: of.flows,
            placements: placements.transpose()?,
            acknowledges: of.flow_control,
            injectors: injectors.transpose()?,
            seed: of.seed,
            limits: plan::limits(of.limit_events, of.limit_ns),
            ..FlowPlan::new(chip.choice.clone(), text, file)
        })?;
        let (study, cases) = (Arc::new(study), Vec::new());
        Ok(Self { study, cases })
    }

    /// The file that the input is in, seen from the flow file.
    #[getter]
    fn input_file(&self) -> Option<&str> {
        self.study.input_file()
    }

    /// How many runs there will be.
    #[getter]
    fn case_count(&self) -> usize {
        self.study.case_count()
    }

    /// The same with its runs.
    #[pyo3(signature = (input, progress))]
    fn run(
        &self,
        py: Python<'_>,
        input: Option<Vec<u8>>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let meter = Meter::new();
        let mut study = (*self.study).clone();
        study.plan.watch = meter.watch.clone();
        let (study, cases) = wait_for(py, meter, progress, move |meter| {
            let run = || {
                let programs = study.programs(input.as_deref())?;
                study.run(&programs, meter)
            };
            let cases: Result<_, StudyError> = run();
            (study, cases)
        })?;
        let (study, cases) = (Arc::new(study), cases.map_err(Refusal::from)?);
        Ok(Self { study, cases })
    }

    /// What is said about the runs, as JSON.
    fn records(&self) -> String {
        let cases = self.cases.iter();
        let records = cases.map(|case| self.study.settings.on(self.study.record(case)));
        Value::Array(records.collect()).to_string()
    }

    /// Where the time of every task went, as SVG.
    fn bars(&self) -> String {
        let picture = corecast_figures::flow_bars(&self.study, &self.cases);
        signed(&picture, &self.study.settings)
    }

    /// Tasks of a run on the mesh, as SVG; none where tasks are not placed.
    fn layout(&self, case: usize) -> Option<String> {
        self.study.machine.mesh()?;
        let picture = corecast_figures::flow_layout(&self.study, self.cases.get(case)?);
        Some(signed(&picture, &self.study.settings))
    }
}
