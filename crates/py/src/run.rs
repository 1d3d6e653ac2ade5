// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with all that it has shown.

use std::sync::Arc;

use corecast_study::{Choice, OtherSize, Remedy, Run as Inner, Study};
use corecast_viewer::Documents;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::refusal::Refusal;
use crate::report;
use crate::study::{keyword, signed};

/// See [`corecast_study::Run`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Run {
    study: Arc<Study>,
    inner: Inner,
}

impl Run {
    /// A run of a study.
    pub fn new(study: Arc<Study>, inner: Inner) -> Self {
        Self { study, inner }
    }
}

#[pymethods]
impl Run {
    /// What is said about it, with the settings, as JSON.
    fn record(&self) -> String {
        let record = self.study.record(&self.inner);
        self.study.settings().on(record).to_string()
    }

    /// What is proven about its schedule, with the settings, as JSON.
    fn certificate(&self) -> String {
        let (certified, bytes) = (&self.inner.certified, self.inner.request.bytes);
        let cell = self.inner.cell.as_ref();
        let record = self.study.certificate_record(certified, bytes, cell);
        self.study.settings().on(record).to_string()
    }

    /// What it should have shown and did not.
    fn faults(&self) -> Vec<String> {
        let faults = self.inner.faults();
        faults.iter().map(ToString::to_string).collect()
    }

    /// What each rank was promised and holds at the end, block after block.
    fn outputs<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let of_rank = |held: &corecast_machine::Held| {
            let parts: Vec<u8> = held.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
            PyBytes::new(py, &parts)
        };
        self.inner.report.outputs.iter().map(of_rank).collect()
    }

    /// Every message, in order of completion, as JSON.
    fn messages(&self, py: Python<'_>) -> String {
        py.detach(|| report::messages(&self.inner.report))
    }

    /// What every rank spent its time on, as JSON.
    fn spans(&self, py: Python<'_>) -> String {
        py.detach(|| report::spans(&self.inner.report))
    }

    /// What every link of a mesh has carried, as JSON.
    fn links(&self, py: Python<'_>) -> String {
        py.detach(|| report::links(&self.inner.report))
    }

    /// What every rank did when, as SVG.
    fn timeline(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let settings = self.study.settings();
            let picture = corecast_figures::timeline(&self.study, &self.inner, &settings);
            signed(&picture, &settings)
        })
    }

    /// What every link carried, as SVG; none where there is no mesh.
    fn heat_map(&self) -> Option<String> {
        let settings = self.study.settings();
        let picture = corecast_figures::run_heat_map(&self.study, &self.inner, &settings)?;
        Some(signed(&picture, &settings))
    }

    /// All of it as a document of the viewer, with what to do about its time, as JSON.
    fn view(&self, py: Python<'_>, advice: Option<String>) -> Result<String, Refusal> {
        py.detach(|| {
            let settings = self.study.settings();
            let view = corecast_viewer::run_view(&self.study, &self.inner, advice, &settings);
            Ok(Documents::from(vec![view]).json()?)
        })
    }

    /// A Chrome or Perfetto trace.
    fn trace(&self, py: Python<'_>) -> String {
        py.detach(|| {
            corecast_render::chrome_trace(&self.inner.report, &[], &self.study.settings().json())
        })
    }
}

/// What to do about a run's time, in the words of Python's callers.
pub fn advice(remedy: &Remedy) -> String {
    corecast_study::sentence(remedy, &choices)
}

/// The arguments that choose what was found, as the beginning of a sentence.
fn choices(algorithm: Option<&'static str>, sizes: &[OtherSize]) -> String {
    let named = algorithm.iter().map(|name| format!("algorithm=\"{name}\""));
    let sizes = sizes.iter().map(|(what, size)| match size {
        Some(size) => keyword(&Choice::new(what, size)),
        None => format!("{what}=None"),
    });
    let choices: Vec<String> = named.chain(sizes).collect();
    format!("Use {}", choices.join(", "))
}
