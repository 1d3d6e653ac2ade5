// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synthetic traffic on a mesh: latency against load.
//!
//! Every core flips a coin per cycle (a Bernoulli process) and queues a packet in its unbounded
//! source queue; latency counts from then until the tail is ejected. A run warms up, measures the
//! packets created in a window, and drains until those have arrived, traffic going on all the time.
//!
//! ```
//! use corecast_core::Grid;
//! use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec};
//! use corecast_sim::traffic::{Load, Pattern, run};
//! let spec = MeshSpec {
//!     grid: Grid::mesh(4, 4),
//!     router: RouterSpec::booksim(1, 8),
//!     ejection: Ejection::Sink,
//! };
//! let point = run(&spec, &Pattern::Uniform, &Load { rate: 0.1, ..Load::default() }).unwrap();
//! assert!(point.latency_mean > 20.0 && !point.is_saturated);
//! ```

mod edge;
mod histogram;
mod pattern;
mod sources;
mod trace;

use corecast_core::{Help, LinkUse};

use crate::network::mesh::{FlitMesh, MeshError, MeshSpec, Packet};

pub use edge::{EdgeRequest, EdgeSource};
pub use histogram::Histogram;
pub use pattern::{NoPattern, PATTERN_NAMES, Pattern};
use sources::Sources;
pub use sources::UniformTraffic;
pub use trace::{TRACE_FORMATS, Trace, TraceError, TraceFormat, TracePlace, TraceRun, run_trace};

/// How much is sent, and for how long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Flits per core and cycle, 0 to 1.
    pub rate: f64,
    /// Flits per packet.
    pub packet_flits: u32,
    /// Cycles before the measurement.
    pub warmup: u64,
    /// Cycles of the measurement.
    pub measure: u64,
    /// Most cycles after the measurement until its packets have arrived.
    pub drain: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Load {
    /// Rate 0.1, packets of 4 flits, 3,000 cycles to warm up, 10,000 to measure, at most 100,000
    /// to drain.
    fn default() -> Self {
        Self {
            rate: 0.1,
            packet_flits: 4,
            warmup: 3_000,
            measure: 10_000,
            drain: 100_000,
            seed: 1,
        }
    }
}

/// What was measured at one load.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Flits per core and cycle asked for.
    pub offered: f64,
    /// Flits per core and cycle ejected during the measurement.
    pub accepted: f64,
    /// Packets measured.
    pub packets: u64,
    /// Mean cycles from creation to ejection of the tail.
    pub latency_mean: f64,
    /// Half of the packets took no longer.
    pub latency_p50: u64,
    /// 99 % of the packets took no longer.
    pub latency_p99: u64,
    /// The longest.
    pub latency_max: u64,
    /// Mean cycles from the injection of the head to the ejection of the tail.
    pub network_latency_mean: f64,
    /// Mean links crossed.
    pub hops_mean: f64,
    /// Whether packets of the measurement had not arrived when the drain ended, or the backlog
    /// reached its limit; then the latencies are those of the packets that did arrive.
    pub is_saturated: bool,
    /// Cycles simulated.
    pub cycles: u64,
    /// Link crossings of flits, all in all.
    pub flit_hops: u64,
    /// The same link by link; links without any are left out.
    pub links: Vec<LinkUse>,
}

/// Why traffic cannot be run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// The mesh cannot be built.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The pattern does not exist on the mesh.
    #[error(transparent)]
    Pattern(#[from] NoPattern),
    /// A number of the load is out of range.
    #[error("{name} = {value} is out of range")]
    Load {
        /// The number.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        accepted: &'static str,
    },
}

/// Packets under way or queued at which a run ends as saturated: about 300 MB.
const BACKLOG_MAX: u64 = 1 << 22;
/// Longest run.
const CYCLES_MAX: u64 = 1 << 36;

fn check(load: &Load) -> Result<(), TrafficError> {
    let refuse = |name, value: String, accepted| {
        Err(TrafficError::Load {
            name,
            value,
            accepted,
        })
    };
    if !(load.rate >= 0.0 && load.rate <= 1.0) {
        let accepted = "0 to 1 flits per core and cycle: a core injects at most one per cycle";
        return refuse("rate", load.rate.to_string(), accepted);
    }
    if !(1..=4096).contains(&load.packet_flits) {
        return refuse("packet", load.packet_flits.to_string(), "1 to 4096 flits");
    }
    if load.measure == 0 {
        return refuse("measure", "0".to_owned(), "at least 1 cycle");
    }
    let cycles = load
        .warmup
        .saturating_add(load.measure)
        .saturating_add(load.drain);
    if cycles > CYCLES_MAX {
        return refuse("cycles", cycles.to_string(), "at most 2^36 in all");
    }
    Ok(())
}

/// Offers a load to a mesh.
///
/// # Errors
/// A mesh that cannot be built, a pattern that does not exist on it, a number out of range.
pub fn run(spec: &MeshSpec, pattern: &Pattern, load: &Load) -> Result<Point, TrafficError> {
    let point = run_while(spec, pattern, load, &|| true)?;
    Ok(point.expect("it is wanted"))
}

/// The same, which ends soon without a result once `is_wanted` says no.
///
/// # Errors
/// As [`run`].
pub fn run_while(
    spec: &MeshSpec,
    pattern: &Pattern,
    load: &Load,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Option<Point>, TrafficError> {
    check(load)?;
    if let Some(why) = pattern.refusal(spec) {
        return Err(TrafficError::Pattern(why));
    }
    let mut mesh = FlitMesh::new(spec)?;
    let mut sources = Sources::new(spec.cores(), load.rate, load.packet_flits, load.seed);
    let (from, to) = (load.warmup, load.warmup + load.measure);
    let end = to + load.drain;
    let mut window = Window::default();
    let mut deliveries = Vec::new();
    let (mut outstanding, mut under_way) = (0_u64, 0_u64);
    loop {
        // Drawing the next packet first, so that the mesh may run on to its creation.
        let creation = sources.next_creation();
        let stop = creation.min(mesh.now() + 64).min(end);
        let stop = if mesh.now() < from {
            stop.min(from)
        } else {
            stop
        };
        let stop = if mesh.now() < to { stop.min(to) } else { stop };
        mesh.run_until(stop);
        if stop == from {
            window.ejected_before = mesh.flits().1;
        }
        if stop == to {
            window.ejected_after = mesh.flits().1;
        }
        mesh.drain_deliveries(&mut deliveries);
        for delivery in deliveries.drain(..) {
            under_way -= 1;
            if (from..to).contains(&delivery.sent) {
                outstanding -= 1;
                window.enter(&delivery);
            }
        }
        if !is_wanted() {
            return Ok(None);
        }
        let now = mesh.now();
        if now >= end || under_way > BACKLOG_MAX || (now >= to && outstanding == 0) {
            break;
        }
        while let Some(src) = sources.pop(now) {
            let dst = pattern.destination(spec, src, &mut sources.random);
            let flits = load.packet_flits;
            mesh.send(Packet::new(src, dst, flits));
            under_way += 1;
            if (from..to).contains(&now) {
                outstanding += 1;
            }
        }
    }
    let measured_cycles = mesh.now().min(to).saturating_sub(from).max(1);
    if mesh.now() < to {
        window.ejected_after = mesh.flits().1;
    }
    let latency = &window.latency;
    let mean = |sum: u64| sum as f64 / latency.count().max(1) as f64;
    let core_cycles = measured_cycles as f64 * f64::from(spec.cores());
    Ok(Some(Point {
        offered: load.rate,
        accepted: (window.ejected_after - window.ejected_before) as f64 / core_cycles,
        packets: latency.count(),
        latency_mean: mean(latency.sum()),
        latency_p50: latency.quantile(0.5),
        latency_p99: latency.quantile(0.99),
        latency_max: latency.max(),
        network_latency_mean: mean(window.network_latency),
        hops_mean: mean(window.hops),
        is_saturated: outstanding > 0 || under_way > BACKLOG_MAX,
        cycles: mesh.now(),
        flit_hops: mesh.flit_hops(),
        links: mesh.links().collect(),
    }))
}

/// What is measured of the packets created in the window.
#[derive(Default)]
struct Window {
    latency: Histogram,
    network_latency: u64,
    hops: u64,
    ejected_before: u64,
    ejected_after: u64,
}

impl Window {
    fn enter(&mut self, delivery: &crate::network::mesh::Delivery) {
        self.latency.enter(delivery.ejected - delivery.sent);
        self.network_latency += delivery.ejected - delivery.injected;
        self.hops += u64::from(delivery.hops);
    }
}

impl Help for TrafficError {
    fn help(&self) -> String {
        match self {
            Self::Mesh(error) => error.help(),
            Self::Load { accepted, .. } => format!("it must be {accepted}"),
            _ => String::new(),
        }
    }
}
