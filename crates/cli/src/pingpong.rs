//! `pingpong`: how long a message takes between two cores, there and back.

use corecast::size;
use corecast_core::Rank;
use corecast_machine::Time;
use corecast_machine::pingpong::there_and_back;
use corecast_machine_host::HostMachine;
use corecast_machine_sim::{Fidelity, SimMachine};
use corecast_render::{LineChart, Scale, Series};
use serde_json::{Value, json};

use crate::args::Pingpong;
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::scene::TOTAL_BYTES_MAX;
use crate::settings::Settings;
use crate::{picture, progress, run, style};

/// Round trips on the host, of which the shortest counts.
const HOST_TIMES: u32 = 100;
/// On chips; the first may find caches empty.
const SIM_TIMES: u32 = 2;
/// Targets if none are given.
const TARGETS: usize = 5;

/// One size between one pair of cores.
struct Point {
    to: u32,
    hops: Option<u32>,
    bytes: u64,
    /// Half of there and back.
    one_way: Time,
}

/// The verb.
pub fn answer(options: &Pingpong) -> Result<Answer, Failure> {
    let chip = options.place.chip()?;
    let is_simulated = options.place.is_simulated();
    let cores = chip.cores_max();
    let sizes = size::list("--bytes", &options.bytes)?;
    if let Some(bytes) = sizes.iter().find(|&&bytes| bytes > TOTAL_BYTES_MAX) {
        return Err(
            Failure::input(format!("--bytes: {bytes} bytes exceed 1 GiB"))
                .help("use smaller messages"),
        );
    }
    let targets = targets(options, cores)?;
    let grid = chip.grid(cores).filter(|_| is_simulated);
    let simulated = SimMachine::new(&chip);
    let progress = progress::bar(targets.len() * sizes.len(), "pingpong");
    let mut points = Vec::new();
    for &to in &targets {
        for &bytes in &sizes {
            let pair = [Rank(options.from), Rank(to)];
            let there_and_back = if is_simulated {
                there_and_back(&simulated, cores, pair, bytes, SIM_TIMES)
            } else {
                let ranks = options.from.max(to) + 1;
                there_and_back(&HostMachine, ranks, pair, bytes, HOST_TIMES)
            };
            let there_and_back = there_and_back.map_err(|error| Failure::library(&error))?;
            progress.inc(1);
            points.push(Point {
                to,
                hops: grid.map(|grid| grid.hops(pair[0], pair[1])),
                bytes,
                one_way: Time::from_ps(there_and_back.ps() / 2),
            });
        }
    }
    let settings = Settings {
        fidelity: (simulated.fidelity().filter(|_| is_simulated)).map(Fidelity::name),
        ..Settings::new(&chip, &options.place.chip.set, &options.place.machine)
    };
    let place = if is_simulated {
        format!("{} (sim)", chip.name)
    } else {
        "this computer (host)".to_owned()
    };
    let title = format!("half a round trip from core {} on {place}", options.from);
    let mut text = format!("{}\n{}\n", style::heading(&title), run::with(&settings));
    let clock = chip.reference_clock();
    let rows = points.iter().map(|point| {
        let cycles = (clock.cycles_f64(point.one_way.ps()) * 1e3).round() / 1e3;
        vec![
            point.to.to_string(),
            point.hops.map_or("-".to_owned(), |hops| hops.to_string()),
            point.bytes.to_string(),
            if is_simulated {
                cycles.to_string()
            } else {
                "-".to_owned()
            },
            point.one_way.ns().to_string(),
            format!("{:.3}", bandwidth(point)),
        ]
    });
    let header = ["to", "hops", "bytes", "cycles", "ns", "bytes/ns"];
    text += &table(&header, 0..6, rows.collect());
    let fits: Vec<(u32, Fit)> = targets
        .iter()
        .filter_map(|&to| Some((to, fit(&points, to)?)))
        .collect();
    if !fits.is_empty() {
        let title = "LogGP, by least squares over the sizes: ns = L + 2 o + G bytes";
        text += &format!("\n{}\n\n", style::heading(title));
        let rows = fits.iter().map(|(to, fit)| {
            let start = format!("{:.3}", fit.start_ns);
            vec![to.to_string(), start, format!("{:.6}", fit.ns_per_byte)]
        });
        text += &table(&["to", "L + 2 o (ns)", "G (ns/byte)"], 0..3, rows.collect());
    }
    if let Some(path) = &options.plot {
        let picture = chart(&points, &targets, &title).svg();
        text += &picture::write_svg(path, &picture, &settings)?;
    }
    let fit_of = |to: u32| fits.iter().find(|(of, _)| *of == to).map(|(_, fit)| fit);
    let object = |point: &Point| -> Value {
        let fit = fit_of(point.to);
        settings.on(json!({
            "from": options.from,
            "to": point.to,
            "hops": point.hops,
            "bytes": point.bytes,
            "latency_cycles": is_simulated
                .then(|| run::number(clock.cycles_f64(point.one_way.ps()))),
            "latency_ns": point.one_way.ns(),
            "bytes_per_ns": bandwidth(point),
            "start_ns": fit.map(|fit| fit.start_ns),
            "ns_per_byte": fit.map(|fit| fit.ns_per_byte),
        }))
    };
    Ok(Answer {
        text,
        json: points.iter().map(object).collect(),
        failed: Vec::new(),
    })
}

/// The cores to play with: those given, or some from near to far.
fn targets(options: &Pingpong, cores: u32) -> Result<Vec<u32>, Failure> {
    let refuse = |option: &str, core: &str| {
        Failure::input(format!("{option}: there is no core `{core}`"))
            .help(format!("the cores are 0 to {}", cores.saturating_sub(1)))
    };
    if options.from >= cores {
        return Err(refuse("--from", &options.from.to_string()));
    }
    let others = cores - 1;
    let Some(text) = &options.to else {
        let mut targets: Vec<u32> = (1..=TARGETS as u64)
            .map(|n| (u64::from(others) * n / TARGETS as u64) as u32)
            .filter(|&core| core != options.from)
            .collect();
        targets.dedup();
        if targets.is_empty() {
            return Err(Failure::input("--chip: it has one core only")
                .help("a message needs two; see `corecast list chips`"));
        }
        return Ok(targets);
    };
    let target = |word: &str| {
        let core = word.trim().parse::<u32>().ok().filter(|&core| core < cores);
        let core = core.ok_or_else(|| refuse("--to", word.trim()))?;
        if core == options.from {
            return Err(
                Failure::input(format!("--to: core {core} plays with itself"))
                    .help("name another core than --from"),
            );
        }
        Ok(core)
    };
    text.split(',').map(target).collect()
}

fn bandwidth(point: &Point) -> f64 {
    match point.one_way.ns() {
        0.0 => 0.0,
        ns => point.bytes as f64 / ns,
    }
}

/// A line through the points of one pair.
struct Fit {
    start_ns: f64,
    ns_per_byte: f64,
}

/// None with fewer than two sizes.
fn fit(points: &[Point], to: u32) -> Option<Fit> {
    let of_pair = || {
        let points = points.iter().filter(move |point| point.to == to);
        points.map(|point| (point.bytes as f64, point.one_way.ns()))
    };
    let count = of_pair().count() as f64;
    let (sum_x, sum_y) = of_pair().fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (xy, xx) = of_pair().fold((0.0, 0.0), |(xy, xx), (x, y)| {
        let dx = x - mean_x;
        (xy + dx * (y - mean_y), xx + dx * dx)
    });
    (xx > 0.0).then(|| Fit {
        start_ns: mean_y - xy / xx * mean_x,
        ns_per_byte: xy / xx,
    })
}

/// Half a round trip against the size, a line per target.
fn chart(points: &[Point], targets: &[u32], title: &str) -> LineChart {
    let line = |&to: &u32| {
        let of_pair = points
            .iter()
            .filter(|point| point.to == to && point.bytes > 0);
        let hops = points.iter().find(|point| point.to == to);
        let hops = hops.and_then(|point| point.hops);
        Series {
            name: match hops {
                Some(1) => format!("to core {to}, 1 hop"),
                Some(hops) => format!("to core {to}, {hops} hops"),
                None => format!("to core {to}"),
            },
            points: of_pair
                .map(|point| (point.bytes as f64, point.one_way.ns()))
                .collect(),
        }
    };
    let ns: Vec<f64> = points.iter().map(|point| point.one_way.ns()).collect();
    let largest = ns.iter().copied().fold(0.0, f64::max);
    let smallest = ns.iter().copied().fold(f64::INFINITY, f64::min);
    LineChart {
        title: format!("{title}: {smallest:.0} to {largest:.0} ns"),
        x_label: "size (bytes)".to_owned(),
        y_label: "half a round trip (ns)".to_owned(),
        x_scale: Scale::Log2,
        y_scale: Scale::spanning(ns),
        marks: Vec::new(),
        series: targets.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points_on_a_line_is_that_line() {
        let point = |bytes: u64| Point {
            to: 3,
            hops: None,
            bytes,
            one_way: Time::from_ps(100_000 + 250 * bytes),
        };
        let fit = fit(&[point(0), point(64), point(4096)], 3).expect("several sizes");
        assert!((fit.start_ns - 100.0).abs() < 1e-9);
        assert!((fit.ns_per_byte - 0.25).abs() < 1e-12);
        assert!(super::fit(&[point(64)], 3).is_none());
    }
}
