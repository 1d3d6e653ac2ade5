// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency curves and saturation throughput against BookSim2 (`tests/booksim/*.csv`: measured with
//! the input-queued router, iSLIP allocators of one iteration, three seeds a point).
//!
//! Alignment of the two routers: `RouterSpec::booksim`. What differs, and stays: BookSim's
//! speculative router has an allocator of its own for speculative requests and can waste a cycle
//! that ours cannot; our sources draw the gap between packets instead of a coin per cycle.

use std::collections::BTreeMap;

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec};
use corecast_sim::traffic::{Load, Pattern, run};

/// A line of curves.csv.
struct Reference {
    curve: &'static str,
    spec: MeshSpec,
    pattern: Pattern,
    packet_flits: u32,
    rate: f64,
    latency: f64,
    /// Standard error of the latency, relative: BookSim2's own spread over its three seeds.
    noise: f64,
    accepted: f64,
    /// 1 = compare the latency, 2 = compare the saturation throughput.
    compare: u32,
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().ok().expect("the file holds numbers")
}

fn router(pipeline: &str, vcs: u32, buffer: u32) -> RouterSpec {
    let base = RouterSpec::booksim(vcs, buffer);
    let (routing, vc_allocation) = match pipeline {
        "p3" => (0, 0),
        "p4" => (0, 1),
        "p5" => (1, 1),
        "p6" => (1, 2),
        _ => panic!("unknown pipeline {pipeline}"),
    };
    RouterSpec {
        routing,
        vc_allocation,
        ..base
    }
}

fn curves() -> Vec<Reference> {
    let lines = include_str!("../booksim/curves.csv").lines().skip(1);
    let reference = |line: &'static str| {
        let fields: Vec<&str> = line.split(',').collect();
        let side = number(fields[1].split('x').next().unwrap_or_default());
        let or_zero = |text: &str| if text.is_empty() { 0.0 } else { number(text) };
        Reference {
            curve: fields[0],
            spec: MeshSpec {
                grid: Grid::mesh(side, side),
                router: router(fields[3], number(fields[5]), number(fields[6])),
                ejection: Ejection::Sink,
            },
            pattern: match fields[2] {
                "uniform" => Pattern::Uniform,
                _ => Pattern::Transpose,
            },
            packet_flits: number(fields[7]),
            rate: number(fields[8]),
            latency: or_zero(fields[11]),
            // Of three normal samples, the range is 1.69 standard deviations on average.
            noise: or_zero(fields[12]) / 100.0 / 1.69 / 3_f64.sqrt(),
            accepted: or_zero(fields[16]),
            compare: number(fields[17]),
        }
    };
    lines.map(reference).collect()
}

/// The rate up to which a curve's latency stays below twice its zero-load latency, which is how
/// saturation is usually defined (Dally and Towles 2004, section 23.1).
fn saturation_rates() -> BTreeMap<&'static str, f64> {
    let mut zero_load = BTreeMap::new();
    let mut rates = BTreeMap::new();
    for reference in curves().iter().filter(|reference| reference.compare < 2) {
        let zero = *zero_load
            .entry(reference.curve)
            .or_insert(reference.latency);
        if reference.latency < 2.0 * zero {
            rates.insert(reference.curve, reference.rate);
        }
    }
    rates
}

#[test]
fn mean_latency_is_within_3_percent_up_to_80_percent_of_saturation() {
    let saturation = saturation_rates();
    let (mut checked, mut beyond) = (0, 0);
    for reference in curves() {
        let limit = 0.8 * saturation[reference.curve];
        if reference.compare != 1 || reference.rate > limit {
            continue;
        }
        let load = Load {
            rate: reference.rate,
            packet_flits: reference.packet_flits,
            // Enough packets for a standard error well below the tolerance.
            measure: (150_000.0 / (reference.rate * f64::from(reference.spec.cores()))) as u64,
            ..Load::default()
        };
        let point = run(&reference.spec, &reference.pattern, &load).expect("is valid");
        let error = point.latency_mean / reference.latency - 1.0;
        assert!(
            error.abs() < 0.03 + reference.noise,
            "{} at {}: {:.2} against {:.2} cycles",
            reference.curve,
            reference.rate,
            point.latency_mean,
            reference.latency
        );
        assert!((point.accepted / reference.accepted - 1.0).abs() < 0.03);
        checked += 1;
        beyond += u32::from(error.abs() > 0.03);
    }
    assert!(checked > 150, "{checked} points");
    assert!(
        beyond <= 1,
        "{beyond} points of {checked} are off by more than 3 %"
    );
}

#[test]
fn saturation_throughput_is_within_5_percent() {
    let references = curves();
    let mut checked = 0;
    for reference in references.iter().filter(|reference| reference.compare == 2) {
        let load = Load {
            rate: reference.rate,
            packet_flits: reference.packet_flits,
            measure: 4_000,
            drain: 0,
            ..Load::default()
        };
        let point = run(&reference.spec, &reference.pattern, &load).expect("is valid");
        let error = point.accepted / reference.accepted - 1.0;
        assert!(
            error.abs() < 0.05,
            "{}: {:.4} against {:.4} flits per core and cycle",
            reference.curve,
            point.accepted,
            reference.accepted
        );
        checked += 1;
    }
    assert_eq!(checked, 40);
}

#[test]
fn zero_load_latency_is_equal_to_the_cycle() {
    // Their closed form, which their measurement meets: T R + 2 + (L - 1) over the routers R.
    let lines = include_str!("../booksim/zero_load.csv").lines().skip(1);
    let mut checked = 0;
    for line in lines.filter(|line| line.starts_with("zero_load_latency")) {
        let fields: Vec<&str> = line.split(',').collect();
        let (vcs, buffer) = (number(fields[7]), number(fields[8]));
        let spec = MeshSpec {
            grid: Grid::mesh(4, 4),
            router: router(fields[1], vcs, buffer),
            ejection: Ejection::Sink,
        };
        let pattern = match fields[10] {
            "bitcomp" => Pattern::BitComplement,
            _ => Pattern::Neighbour,
        };
        let load = Load {
            rate: 1e-4,
            packet_flits: number(fields[9]),
            measure: 3_000_000,
            ..Load::default()
        };
        let point = run(&spec, &pattern, &load).expect("is valid");
        let per_hop = f64::from(spec.router.hop_cycles());
        let ours = point.network_latency_mean - per_hop * (point.hops_mean + 1.0);
        let theirs: f64 = number(fields[13]);
        let theirs = theirs - per_hop * number::<f64>(fields[12]);
        assert!(
            (ours - theirs).abs() < 0.05,
            "{line}: {ours} against {theirs}"
        );
        checked += 1;
    }
    assert_eq!(checked, 48);
}
