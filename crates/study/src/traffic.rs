// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a mesh does under synthetic traffic: latency against load, and where it saturates.
//!
//! ```
//! use corecast_study::{ChipChoice, TrafficPlan};
//! let plan = TrafficPlan {
//!     rates: Some(vec![0.02]),
//!     ..TrafficPlan::new(ChipChoice::find("booksim-mesh", &[]).expect("built in"))
//! };
//! let measured = plan.measure(&())?;
//! assert!(measured.points[0].latency_mean > 10.0 && measured.saturation().is_none());
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

use corecast_chip::{Mesh, NetworkSpec};
use corecast_machine::Time;
use corecast_machine_sim::mesh_spec;
use corecast_sim::network::mesh::MeshSpec;
use corecast_sim::traffic::{self, Histogram, Load, Pattern, Point, Trace, TraceRun, run_trace};
use corecast_text::unpack::unpacked;
use rayon::prelude::*;
use serde::Serialize;

use crate::chips::ChipChoice;
use crate::error::{StudyError, TrafficStudyError};
use crate::machines::MACHINES;
use crate::progress::Progress;
use crate::settings::{Settings, TrafficSettings};

/// Step of the rates if none are given.
const STEP: f64 = 0.02;
/// Routers along a side of a mesh that is far from saturation at such a rate.
const SIDE_USUAL: f64 = 8.0;
/// Most rates that are measured if none are given.
pub const RATES_TRIED_MAX: u32 = 50;

/// The load of a plan that nobody has changed.
pub(crate) fn usual_load() -> Load {
    Load {
        packet_flits: 4,
        drain: 30_000,
        ..Load::default()
    }
}

/// Which traffic on which mesh.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// The chip.
    pub chip: ChipChoice,
    /// Who sends to whom.
    pub pattern: Pattern,
    /// Flits per core and cycle; none = in steps of 0.02 until the mesh is saturated.
    pub rates: Option<Vec<f64>>,
    /// Everything else about the load; its rate is not read.
    pub load: Load,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct TrafficSweep {
    /// What the points depend on.
    pub settings: Settings,
    /// The mesh.
    pub mesh: Mesh,
    /// Who sends to whom.
    pub pattern: Pattern,
    /// The mean latency at next to no load, in cycles, whichever loads were asked for; none where
    /// nothing was sent.
    pub zero_load: Option<f64>,
    /// One per rate.
    pub points: Vec<Point>,
}

/// A point as a record; loads in flits per core and cycle, times in cycles.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrafficRecord {
    /// Load asked for.
    pub offered: f64,
    /// Load that arrived.
    pub accepted: f64,
    /// Mean latency of packets; none, as in all that follow of latencies and hops, if there were no packets.
    pub latency_mean: Option<f64>,
    /// Half of the packets took no longer.
    pub latency_p50: Option<u64>,
    /// 99 % of the packets took no longer.
    pub latency_p99: Option<u64>,
    /// The longest.
    pub latency_max: Option<u64>,
    /// Mean latency from the injection of the head on.
    pub network_latency_mean: Option<f64>,
    /// Mean links crossed.
    pub hops_mean: Option<f64>,
    /// Packets measured.
    pub packets: u64,
    /// Mean latency at next to no load; none if there were no packets.
    pub zero_load_latency: Option<f64>,
    /// Whether it lies beyond saturation: the mean is more than twice that, or not all arrived.
    pub saturated: bool,
    /// Whether all packets of the measurement arrived.
    pub all_arrived: bool,
    /// Cycles simulated.
    pub cycles: u64,
    /// Link crossings of flits.
    pub flit_hops: u64,
}

/// A trace's run as a record; times in cycles.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceRecord {
    /// Always `trace-file`.
    pub pattern: &'static str,
    /// How often a packet waits for another.
    pub waits: usize,
    /// How much later than in the file packets left, because they waited for others: the mean.
    pub held_mean: f64,
    /// The longest.
    pub held_max: u64,
    /// Mean latency of packets.
    pub latency_mean: f64,
    /// Half of the packets took no longer.
    pub latency_p50: u64,
    /// 99 % of the packets took no longer.
    pub latency_p99: u64,
    /// The longest.
    pub latency_max: u64,
    /// Packets.
    pub packets: u64,
    /// Cycles simulated.
    pub cycles: u64,
    /// Link crossings of flits.
    pub flit_hops: u64,
}

/// What the packets of a trace did.
#[derive(Debug)]
pub struct TraceStudy {
    /// What the run depends on.
    pub settings: Settings,
    /// The mesh.
    pub mesh: Mesh,
    /// How often a packet waits for another.
    pub waits: usize,
    /// The run.
    pub run: TraceRun,
}

/// The mesh of a chip.
fn network(chip: &ChipChoice) -> Result<&Mesh, TrafficStudyError> {
    match chip.chip.network() {
        NetworkSpec::Mesh(mesh) => Ok(mesh),
        _ => {
            let chip = chip.chip.name.clone();
            Err(TrafficStudyError::Bus { chip })
        }
    }
}

/// How it is simulated, and what its results depend on.
fn mesh(chip: &ChipChoice) -> Result<(&Mesh, MeshSpec, Settings), StudyError> {
    let mesh = network(chip)?;
    let machine = MACHINES[0].on(&chip.chip, None)?;
    let settings = Settings {
        fidelity: Some("flit"),
        // They are about messages; every part of a router counts here.
        notes: Vec::new(),
        ..Settings::new(chip, &*machine)
    };
    Ok((mesh, mesh_spec(mesh), settings))
}

impl TrafficPlan {
    /// Uniform traffic in packets of four flits, until the mesh is saturated.
    #[must_use]
    pub fn new(chip: ChipChoice) -> Self {
        Self {
            chip,
            pattern: Pattern::Uniform,
            rates: None,
            load: usual_load(),
        }
    }

    /// Measures every rate, on all cores of this computer.
    ///
    /// # Errors
    /// A chip without a mesh, a pattern that does not exist on it, a number out of range.
    pub fn measure(&self, progress: &dyn Progress) -> Result<TrafficSweep, StudyError> {
        let (mesh, spec, settings) = mesh(&self.chip)?;
        if let Some(why) = self.pattern.refusal(&spec) {
            return Err(TrafficStudyError::Pattern(why).into());
        }
        let zero_load = self.zero_load(&spec, progress)?;
        let mut points = match &self.rates {
            Some(rates) => self.sweep(&spec, rates, progress)?,
            None => self.until_saturated(&spec, zero_load, progress)?,
        };
        points.sort_by(|a, b| a.offered.total_cmp(&b.offered));
        Ok(TrafficSweep {
            settings: Settings {
                seed: Some(self.load.seed),
                traffic: Some(TrafficSettings::new(&self.pattern, &self.load)),
                ..settings
            },
            mesh: mesh.clone(),
            pattern: self.pattern.clone(),
            zero_load,
            points,
        })
    }

    /// The mean latency at a load that is far from saturation, and does not depend on the rates asked
    /// for: [`STEP`], or less where a mesh is wide, since its middle carries the traffic of more cores,
    /// and where cores are hot. None if no packet was sent.
    fn zero_load(
        &self,
        spec: &MeshSpec,
        progress: &dyn Progress,
    ) -> Result<Option<f64>, TrafficStudyError> {
        let side = spec.grid.width.max(spec.grid.height);
        let crowd = match &self.pattern {
            Pattern::Hotspot { cores, share } => {
                f64::from(spec.cores()) * share / cores.len().max(1) as f64
            }
            _ => 1.0,
        };
        let rate = STEP / f64::max(f64::from(side) / SIDE_USUAL, crowd).max(1.0);
        let load = Load { rate, ..self.load };
        let is_wanted = || !progress.is_stopped();
        let point = traffic::run_while(spec, &self.pattern, &load, &is_wanted)?;
        let point = point.ok_or(TrafficStudyError::Stopped)?;
        Ok((point.packets > 0).then_some(point.latency_mean))
    }

    fn sweep(
        &self,
        spec: &MeshSpec,
        rates: &[f64],
        progress: &dyn Progress,
    ) -> Result<Vec<Point>, TrafficStudyError> {
        let measure = |&rate: &f64| {
            let load = Load { rate, ..self.load };
            let is_wanted = || !progress.is_stopped();
            let point = traffic::run_while(spec, &self.pattern, &load, &is_wanted)?;
            progress.done();
            point.ok_or(TrafficStudyError::Stopped)
        };
        rates.par_iter().map(measure).collect()
    }

    /// Rates in steps until two in a row are saturated. They are measured a few at a time, as many
    /// as there are threads, and what lies beyond the two is dropped: the threads do not show.
    fn until_saturated(
        &self,
        spec: &MeshSpec,
        zero_load: Option<f64>,
        progress: &dyn Progress,
    ) -> Result<Vec<Point>, TrafficStudyError> {
        let mut points: Vec<Point> = Vec::new();
        let width = rayon::current_num_threads().max(2);
        let all: Vec<f64> = (1..=RATES_TRIED_MAX)
            .map(|index| f64::from(index) * STEP)
            .collect();
        for rates in all.chunks(width) {
            let rates: Vec<f64> = rates
                .iter()
                .map(|rate| (rate * 1e9).round() / 1e9)
                .collect();
            points.extend(self.sweep(spec, &rates, progress)?);
            let is_second = |index: &usize| {
                let pair = &points[index - 1..=*index];
                pair.iter().all(|point| is_beyond(point, zero_load))
            };
            if let Some(second) = (1..points.len()).find(is_second) {
                points.truncate(second + 1);
                break;
            }
        }
        Ok(points)
    }
}

/// Saturation as the literature has it: twice the latency at zero load, or packets that do not
/// arrive (Dally and Towles 2004, section 23.1).
fn is_beyond(point: &Point, zero_load: Option<f64>) -> bool {
    let is_late = |least| point.latency_mean > 2.0 * least;
    point.is_saturated || zero_load.is_some_and(is_late)
}

/// How long cycles of a mesh are.
fn duration(mesh: &Mesh, cycles: u64) -> Time {
    Time::from_ps(mesh.clock.to_ps(cycles))
}

impl TrafficSweep {
    /// How long a flit is on a link.
    #[must_use]
    pub fn flit(&self) -> Time {
        Time::from_ps(self.mesh.flit_ps())
    }

    /// How long the simulation of a point was.
    #[must_use]
    pub fn duration(&self, point: &Point) -> Time {
        duration(&self.mesh, point.cycles)
    }

    /// Whether a point lies beyond saturation.
    #[must_use]
    pub fn is_beyond(&self, point: &Point) -> bool {
        is_beyond(point, self.zero_load)
    }

    /// The first point beyond saturation.
    #[must_use]
    pub fn saturation(&self) -> Option<&Point> {
        self.points.iter().find(|point| self.is_beyond(point))
    }

    /// The highest load below saturation; if there is none, the lowest.
    #[must_use]
    pub fn highest(&self) -> Option<&Point> {
        let limit = self
            .saturation()
            .map_or(f64::INFINITY, |point| point.offered);
        let below = self.points.iter().rev();
        let below = below.clone().find(|point| point.offered < limit);
        below.or(self.points.first())
    }

    /// A point as a record.
    #[must_use]
    pub fn record(&self, point: &Point) -> TrafficRecord {
        /// What is known of packets, if there were any.
        fn of_packets<T>(point: &Point, value: T) -> Option<T> {
            (point.packets > 0).then_some(value)
        }
        TrafficRecord {
            offered: point.offered,
            accepted: point.accepted,
            latency_mean: of_packets(point, point.latency_mean),
            latency_p50: of_packets(point, point.latency_p50),
            latency_p99: of_packets(point, point.latency_p99),
            latency_max: of_packets(point, point.latency_max),
            network_latency_mean: of_packets(point, point.network_latency_mean),
            hops_mean: of_packets(point, point.hops_mean),
            packets: point.packets,
            zero_load_latency: self.zero_load,
            saturated: self.is_beyond(point),
            all_arrived: !point.is_saturated,
            cycles: point.cycles,
            flit_hops: point.flit_hops,
        }
    }
}

/// Most bytes of a trace, packed and unpacked.
pub const TRACE_BYTES_MAX: u64 = 1 << 28;

/// Sends the packets of a trace, whose contents are from `file`, packed or not; without what packets
/// wait for if `is_open` (an open loop).
///
/// # Errors
/// A chip without a mesh; a trace that is none.
pub fn run_trace_file(
    chip: &ChipChoice,
    file: &str,
    contents: Vec<u8>,
    is_open: bool,
) -> Result<TraceStudy, StudyError> {
    let (mesh, spec, settings) = mesh(chip)?;
    let contents = unpacked(contents, TRACE_BYTES_MAX).map_err(|error| {
        let file = file.to_owned();
        TrafficStudyError::Packed { file, error }
    })?;
    let trace = Trace::read(&contents, spec.cores(), mesh.flit_bytes).map_err(|error| {
        let file = file.to_owned();
        TrafficStudyError::Trace { file, error }
    })?;
    let trace = match is_open {
        true => trace.without_waits(),
        false => trace,
    };
    let run = run_trace(&spec, &trace);
    let run = run.map_err(|error| TrafficStudyError::Mesh(error.into()))?;
    Ok(TraceStudy {
        settings,
        mesh: mesh.clone(),
        waits: trace.waits().len(),
        run,
    })
}

impl TraceStudy {
    /// How long a flit is on a link.
    #[must_use]
    pub fn flit(&self) -> Time {
        Time::from_ps(self.mesh.flit_ps())
    }

    /// How long the run was.
    #[must_use]
    pub fn duration(&self) -> Time {
        duration(&self.mesh, self.run.cycles)
    }

    /// The run as a record.
    #[must_use]
    pub fn record(&self) -> TraceRecord {
        let (latency, held) = (&self.run.latency, &self.run.held);
        let mean = |of: &Histogram| of.sum() as f64 / of.count().max(1) as f64;
        TraceRecord {
            pattern: "trace-file",
            waits: self.waits,
            held_mean: mean(held),
            held_max: held.max(),
            latency_mean: mean(latency),
            latency_p50: latency.quantile(0.5),
            latency_p99: latency.quantile(0.99),
            latency_max: latency.max(),
            packets: latency.count(),
            cycles: self.run.cycles,
            flit_hops: self.run.flit_hops,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is saturated follows from the loads, and not from the order in which they were named.
    #[test]
    fn the_order_of_loads_does_not_change_the_result() {
        let chip = ChipChoice::find("tilepro64", &[]).expect("a mesh");
        let saturation = |rates: &[f64]| {
            let mut plan = TrafficPlan::new(chip.clone());
            (plan.load.warmup, plan.load.measure) = (200, 500);
            plan.rates = Some(rates.to_vec());
            let sweep = plan.measure(&()).expect("runs");
            let offered: Vec<f64> = sweep.points.iter().map(|point| point.offered).collect();
            assert!(offered.is_sorted(), "{offered:?}");
            sweep.saturation().map(|point| point.offered)
        };
        let least = saturation(&[0.05, 0.1, 0.3]);
        assert_eq!(least, Some(0.3));
        assert_eq!(saturation(&[0.3, 0.1, 0.05]), least);
        // Nothing is sent at a load of 0, and so nothing takes long beside it.
        assert_eq!(saturation(&[0.0, 0.05, 0.1]), None);
    }

    /// Whether a load saturates a mesh does not depend on which others are measured.
    #[test]
    fn other_loads_do_not_change_what_is_saturated() {
        let changes = [("network.width", "4"), ("network.height", "4")];
        let changes = changes.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let chip = ChipChoice::find("booksim-mesh", &changes).expect("a mesh");
        let beyond = |rates: &[f64]| {
            let mut plan = TrafficPlan::new(chip.clone());
            plan.rates = Some(rates.to_vec());
            let sweep = plan.measure(&()).expect("runs");
            let point = sweep.points.iter().find(|point| point.offered == 0.4);
            let record = sweep.record(point.expect("measured"));
            assert!(record.all_arrived);
            record.saturated
        };
        let lists = [&[0.4][..], &[0.02, 0.4], &[0.38, 0.4, 0.42]];
        for list in lists {
            assert!(beyond(list), "{list:?}");
        }
    }

    /// The loads that are measured side by side must not show in how many there are.
    #[test]
    fn the_number_of_threads_does_not_change_the_result() {
        let changes = [
            ("network.vcs", "4"),
            ("network.width", "4"),
            ("network.height", "4"),
        ];
        let changes = changes.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let chip = ChipChoice::find("booksim-mesh", &changes).expect("a mesh");
        let mut plan = TrafficPlan::new(chip);
        (plan.load.warmup, plan.load.measure, plan.load.drain) = (100, 300, 1000);
        let of_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads");
            pool.install(|| plan.measure(&()).expect("runs").points)
        };
        let one = of_threads(1);
        assert!(one.len() > 8, "{} loads are no sweep", one.len());
        for threads in [2, 3, 4, 7, 16] {
            assert_eq!(of_threads(threads), one, "{threads} threads");
        }
    }
}
