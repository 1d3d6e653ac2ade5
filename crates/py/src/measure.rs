// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips and synthetic traffic.

use corecast_sim::traffic::{Load, PATTERN_NAMES, Pattern};
use corecast_study::{Played, TraceStudy, TrafficPlan, TrafficSweep, machine, run_trace_file};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::plan;
use crate::refusal::Refusal;
use crate::study::signed;
use crate::work::{Meter, wait_for};

/// What was played.
#[pyclass(frozen, module = "corecast._core")]
pub struct Pingpong {
    played: Played,
}

/// Which messages, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Messages {
    machine: String,
    start: u32,
    to: Option<Vec<u32>>,
    bytes: Vec<u64>,
    limit_events: Option<u64>,
    limit_ns: Option<u64>,
}

#[pymethods]
impl Pingpong {
    /// Plays.
    #[new]
    fn new(
        py: Python<'_>,
        chip: &Chip,
        arguments: &str,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let of: Messages = plan::parse(arguments)?;
        let plan = corecast_study::Pingpong {
            chip: chip.choice.clone(),
            machine: machine(&of.machine).map_err(Refusal::from)?,
            from: of.start,
            to: of.to,
            sizes: of.bytes,
            limits: plan::limits(of.limit_events, of.limit_ns),
        };
        let played = wait_for(py, Meter::new(), progress, move |meter| plan.play(meter))?;
        let played = played.map_err(Refusal::from)?;
        Ok(Self { played })
    }

    /// Every point, as JSON.
    fn records(&self) -> String {
        let points = self.played.points.iter();
        let records = points.map(|of| self.played.settings.on(self.played.record(of)));
        Value::Array(records.collect()).to_string()
    }

    /// LogGP of every core that answers, as JSON.
    fn fits(&self) -> String {
        let targets = self.played.targets.iter();
        let fits = targets.filter_map(|&to| {
            let fit = self.played.fit(to)?;
            Some(json!({
                "to": to, "start_ns": fit.start_ns, "ns_per_byte": fit.ns_per_byte,
            }))
        });
        Value::Array(fits.collect()).to_string()
    }

    /// Half a round trip against the size, as SVG.
    fn chart(&self) -> String {
        let picture = corecast_figures::round_trips(&self.played);
        signed(&picture, &self.played.settings)
    }
}

/// What was measured: of synthetic traffic, or of a trace.
#[pyclass(frozen, module = "corecast._core")]
pub struct Traffic {
    chip: String,
    found: Found,
}

enum Found {
    Sweep(Box<TrafficSweep>),
    Trace(Box<TraceStudy>),
}

/// Which traffic, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    hot_cores: Vec<u32>,
    hot_share: f64,
    rates: Option<Vec<f64>>,
    packet_flits: u32,
    warmup: u64,
    measure: u64,
    drain: u64,
    seed: u64,
}

fn pattern(of: &Arguments) -> Result<Pattern, Refusal> {
    Ok(match of.pattern.as_str() {
        "uniform" => Pattern::Uniform,
        "transpose" => Pattern::Transpose,
        "bit-complement" => Pattern::BitComplement,
        "bit-reverse" => Pattern::BitReverse,
        "tornado" => Pattern::Tornado,
        "neighbour" => Pattern::Neighbour,
        "hotspot" => Pattern::Hotspot {
            cores: of.hot_cores.clone(),
            share: of.hot_share,
        },
        name => {
            return Err(Refusal::unknown(
                "pattern",
                "patterns",
                name,
                &PATTERN_NAMES,
            ));
        }
    })
}

#[pymethods]
impl Traffic {
    /// Measures.
    #[new]
    fn new(
        py: Python<'_>,
        chip: &Chip,
        arguments: &str,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let of: Arguments = plan::parse(arguments)?;
        let plan = TrafficPlan {
            chip: chip.choice.clone(),
            pattern: pattern(&of)?,
            rates: of.rates.clone(),
            load: Load {
                rate: 0.0,
                packet_flits: of.packet_flits,
                warmup: of.warmup,
                measure: of.measure,
                drain: of.drain,
                seed: of.seed,
            },
        };
        let sweep = wait_for(py, Meter::new(), progress, move |meter| plan.measure(meter))?;
        Ok(Self {
            chip: chip.choice.chip.name.clone(),
            found: Found::Sweep(Box::new(sweep.map_err(Refusal::from)?)),
        })
    }

    /// Sends the packets of a trace.
    #[staticmethod]
    fn trace(
        py: Python<'_>,
        chip: &Chip,
        file: String,
        contents: Vec<u8>,
        open_loop: bool,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let choice = chip.choice.clone();
        let study = wait_for(py, Meter::new(), progress, move |_| {
            run_trace_file(&choice, &file, contents, open_loop)
        })?;
        Ok(Self {
            chip: chip.choice.chip.name.clone(),
            found: Found::Trace(Box::new(study.map_err(Refusal::from)?)),
        })
    }

    /// Every point, as JSON.
    fn records(&self) -> String {
        let records: Vec<Value> = match &self.found {
            Found::Sweep(sweep) => {
                let points = sweep.points.iter();
                points
                    .map(|point| sweep.settings.on(sweep.record(point)))
                    .collect()
            }
            Found::Trace(trace) => vec![trace.settings.on(trace.record())],
        };
        Value::Array(records).to_string()
    }

    /// The offered and the accepted load of the first point beyond saturation.
    fn saturation(&self) -> Option<(f64, f64)> {
        let Found::Sweep(sweep) = &self.found else {
            return None;
        };
        let point = sweep.saturation()?;
        Some((point.offered, point.accepted))
    }

    /// Latency against offered load, as SVG; none of a trace.
    fn chart(&self) -> Option<String> {
        let Found::Sweep(sweep) = &self.found else {
            return None;
        };
        let picture = corecast_figures::latency_chart(sweep, &self.chip);
        Some(signed(&picture, &sweep.settings))
    }

    /// What every link carries, as SVG.
    fn heat_map(&self) -> Option<String> {
        match &self.found {
            Found::Sweep(sweep) => {
                let picture = corecast_figures::traffic_heat_map(sweep, &self.chip)?;
                Some(signed(&picture, &sweep.settings))
            }
            Found::Trace(trace) => {
                let links: Vec<_> = trace.run.mesh.links().collect();
                let (what, grid) = (format!("a trace on {}", self.chip), &trace.mesh.grid);
                let times = (trace.flit(), trace.duration());
                let picture = corecast_figures::heat_map(&what, grid, &links, times);
                Some(signed(&picture, &trace.settings))
            }
        }
    }
}
