// SPDX-License-Identifier: MIT OR Apache-2.0
//! Published numbers beside ours.

use corecast_papers::{PAPERS, Paper as Inner, PaperSettings};
use corecast_study::Progress as _;
use pyo3::prelude::*;
use serde_json::Value;

use crate::listing::json;
use crate::refusal::Refusal;
use crate::work::{Meter, wait_for};

/// See [`corecast_papers::Paper`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Paper {
    inner: &'static Inner,
}

#[pymethods]
impl Paper {
    /// By name.
    #[new]
    fn new(name: &str) -> Result<Self, Refusal> {
        let found = PAPERS.iter().find(|paper| paper.name == name);
        let inner = found.ok_or_else(|| {
            let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
            Refusal::unknown("paper", "papers", name, &known)
        })?;
        Ok(Self { inner })
    }

    /// Author, year, title.
    #[getter]
    fn citation(&self) -> &'static str {
        self.inner.citation
    }

    /// What is not reproduced or not explained, and why.
    #[getter]
    fn open(&self) -> &'static str {
        self.inner.open
    }

    /// How much of `rows`, `winners` or `figures` is done once so many messages have arrived, as a
    /// length to compare with those of other papers; the whole length if none are given.
    #[pyo3(signature = (what, messages = None))]
    fn done(&self, what: &str, messages: Option<u64>) -> u64 {
        let work = self.inner.work;
        let messages = messages.unwrap_or(u64::MAX);
        match what {
            "rows" => work.rows.done(messages),
            "winners" => work.winners.done(messages),
            // They show who wins, which comes first.
            _ => {
                let [.., of_winners] = work.winners.messages;
                let further = messages.saturating_sub(of_winners);
                work.winners.done(messages) + work.figures.done(further)
            }
        }
    }

    /// Every published number beside ours, as JSON.
    fn rows(&self, py: Python<'_>, progress: &Bound<'_, PyAny>) -> PyResult<String> {
        let paper = self.inner;
        let rows = wait_for(py, Meter::new(), progress, move |meter| {
            let rows = paper.rows(&meter.watch);
            meter.done();
            rows
        })?;
        let settings = PaperSettings::of(self.inner);
        let rows = rows.map_err(Refusal::from)?;
        let records = rows
            .iter()
            .map(|row| serde_json::to_value(settings.on(row)).expect("rows are plain data"));
        Ok(Value::Array(records.collect()).to_string())
    }

    /// Who wins where on its chip, as JSON.
    fn winners(&self, py: Python<'_>, progress: &Bound<'_, PyAny>) -> PyResult<String> {
        let paper = self.inner;
        let winners = wait_for(py, Meter::new(), progress, move |meter| {
            let winners = paper.contest.winners(&meter.watch);
            meter.done();
            winners
        })?;
        Ok(json(winners.map_err(Refusal::from)?))
    }

    /// Its figures: names and SVG.
    fn figures(
        &self,
        py: Python<'_>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(String, String)>> {
        let paper = self.inner;
        let figures = wait_for(py, Meter::new(), progress, move |meter| {
            let winners = paper.contest.winners(&meter.watch);
            let figures = winners.and_then(|winners| paper.figures(&winners, &meter.watch));
            meter.done();
            figures
        })?;
        let foot = PaperSettings::of(paper).line();
        let figures = figures.map_err(Refusal::from)?.into_iter();
        let signed = figures.map(|(name, svg)| (name, corecast_render::with_footer(&svg, &foot)));
        Ok(signed.collect())
    }
}
