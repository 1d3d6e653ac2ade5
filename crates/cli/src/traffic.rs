//! `traffic`: what a mesh does under synthetic traffic.

use corecast_chip::NetworkSpec;
use corecast_machine_sim::mesh_spec;
use corecast_render::{LineChart, Scale, Series};
use corecast_sim::network::mesh::MeshSpec;
use corecast_sim::traffic::{
    self, Load, PATTERN_NAMES, Pattern, Point, TrafficError, parse_trace, run_trace,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::Traffic;
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::settings::Settings;
use crate::{input, picture, progress, run, scene, style};

/// Most bytes of a trace file.
const TRACE_BYTES_MAX: u64 = 1 << 28;
/// Step of the rates if none are given.
const STEP: f64 = 0.02;
/// Highest latency that is drawn, in latencies of the lowest load.
const SHOWN_MAX: f64 = 8.0;
/// Most rates of one sweep.
const RATES_MAX: usize = 1000;

/// The verb.
pub fn answer(traffic: &Traffic) -> Result<Answer, Failure> {
    let chip = scene::find_chip(&traffic.chip, &traffic.set)?;
    let NetworkSpec::Mesh(mesh) = chip.network() else {
        let message = format!("--chip: {} is a bus, and traffic needs a mesh", chip.name);
        return Err(Failure::input(message).help("use --chip booksim-mesh or tilepro64"));
    };
    let spec = mesh_spec(mesh);
    let mut settings = Settings {
        fidelity: Some("flit"),
        // They are about messages; every part of a router counts here.
        notes: Vec::new(),
        ..Settings::new(&chip, &traffic.set, "sim")
    };
    if let Some(path) = &traffic.trace_file {
        return from_file(&settings, &spec, path, traffic);
    }
    settings.seed = Some(traffic.seed);
    let pattern = pattern(&traffic.pattern)?;
    if let Some(why) = pattern.refusal(&spec) {
        let message = format!("--pattern: {why}");
        return Err(Failure::input(message).help("choose another pattern or another shape"));
    }
    let points = match &traffic.rate {
        Some(text) => sweep(&spec, &pattern, traffic, &rates(text)?)?,
        None => until_saturated(&spec, &pattern, traffic)?,
    };
    let saturation = saturation(&points);
    let grid = spec.grid;
    let mut text = style::heading(&format!(
        "{} traffic on {}: {} x {} routers, packets of {} flits",
        pattern.name(),
        chip.name,
        grid.width,
        grid.height,
        traffic.packet
    )) + "\n";
    text += &(run::with(&settings) + "\n");
    text += &points_table(&points);
    text += &match saturation {
        Some(point) => format!(
            "\nsaturated from {} flits per core and cycle offered, {:.4} accepted\n",
            point.offered, point.accepted
        ),
        None => "\nnot saturated\n".to_owned(),
    };
    if let Some(path) = &traffic.plot {
        let chart = chart(&points, saturation, &chip.name, pattern.name());
        text += &picture::write_svg(path, &chart.svg(), &settings)?;
    }
    if let Some(path) = &traffic.csv {
        text += &picture::write(path, &settings.on_csv(&csv(&points)))?;
    }
    if let Some(path) = &traffic.heat_map {
        // Of saturated loads the lowest, if there is nothing else.
        let limit = saturation.map_or(f64::INFINITY, |point| point.offered);
        let below = points.iter().rev().find(|point| point.offered < limit);
        if let Some(point) = below.or(points.first()) {
            let what = format!(
                "{} traffic on {} at {} flits per core and cycle",
                pattern.name(),
                chip.name,
                point.offered
            );
            let cycles = point.cycles as f64;
            let picture = picture::heat_map(&what, &spec.grid, &point.links, cycles);
            text += &picture::write_svg(path, &picture, &settings)?;
        }
    }
    let object = |point: &Point| settings.on(object(point, &pattern, traffic));
    Ok(Answer {
        text,
        json: points.iter().map(object).collect(),
        failed: Vec::new(),
    })
}

fn pattern(text: &str) -> Result<Pattern, Failure> {
    let (name, parameters) = match text.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (text, None),
    };
    let plain = match name {
        "uniform" => Pattern::Uniform,
        "transpose" => Pattern::Transpose,
        "bit-complement" => Pattern::BitComplement,
        "bit-reverse" => Pattern::BitReverse,
        "tornado" => Pattern::Tornado,
        "neighbour" => Pattern::Neighbour,
        "hotspot" => return hotspot(text, parameters.unwrap_or_default()),
        _ => {
            return Err(Failure::unknown(
                "pattern",
                "patterns",
                name,
                &PATTERN_NAMES,
            ));
        }
    };
    match parameters {
        None => Ok(plain),
        Some(_) => Err(
            Failure::input(format!("--pattern: {name} has no parameters"))
                .help(format!("write --pattern {name}")),
        ),
    }
}

fn hotspot(text: &str, parameters: &str) -> Result<Pattern, Failure> {
    let parsed = parameters.split_once('=').and_then(|(cores, share)| {
        let cores: Result<Vec<u32>, _> = cores.split('+').map(str::parse).collect();
        Some((cores.ok()?, share.parse::<f64>().ok()?))
    });
    let (cores, share) = parsed.ok_or_else(|| {
        Failure::input(format!(
            "--pattern: `{text}` does not say which cores are hot, and how"
        ))
        .help("write hotspot:CORE[+CORE...]=SHARE, such as hotspot:0+63=0.2")
    })?;
    Ok(Pattern::Hotspot { cores, share })
}

/// Rates as users write them: `0.1`, `0.05,0.1`, `0.02..0.3:+0.02`.
fn rates(text: &str) -> Result<Vec<f64>, Failure> {
    let refuse = |why: &str| {
        Failure::input(format!("--rate: `{text}` {why}"))
            .help("write numbers from 0 to 1, such as 0.1, 0.05,0.1 or 0.02..0.3:+0.02")
    };
    let number = |text: &str| {
        let rate = text
            .trim()
            .parse::<f64>()
            .map_err(|_| refuse("is no number"))?;
        if (0.0..=1.0).contains(&rate) {
            Ok(rate)
        } else {
            Err(refuse(
                "is not from 0 to 1: a core injects at most one flit per cycle",
            ))
        }
    };
    let mut rates = Vec::new();
    for item in text.split(',') {
        let Some((first, rest)) = item.split_once("..") else {
            rates.push(number(item)?);
            continue;
        };
        let (last, step) = rest.split_once(":+").ok_or_else(|| refuse("has no step"))?;
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if step <= 0.0 || first > last {
            return Err(refuse("never reaches its end"));
        }
        let count = ((last - first) / step + 1e-9).floor() as usize + 1;
        if rates.len() + count > RATES_MAX {
            return Err(refuse("has more than 1000 rates"));
        }
        // Without the last digits of binary fractions.
        let rounded = |rate: f64| (rate * 1e9).round() / 1e9;
        rates.extend((0..count).map(|index| rounded(first + step * index as f64)));
    }
    Ok(rates)
}

/// Measures every rate, on all cores of this computer.
fn sweep(
    spec: &MeshSpec,
    pattern: &Pattern,
    traffic: &Traffic,
    rates: &[f64],
) -> Result<Vec<Point>, Failure> {
    let progress = progress::bar(rates.len(), "traffic");
    let measure = |&rate: &f64| {
        let load = Load {
            rate,
            packet_flits: traffic.packet,
            warmup: traffic.warmup,
            measure: traffic.measure,
            drain: traffic.drain,
            seed: traffic.seed,
        };
        let point = traffic::run(spec, pattern, &load);
        progress.inc(1);
        point
    };
    let points: Result<Vec<Point>, TrafficError> = rates.par_iter().map(measure).collect();
    points.map_err(|error| {
        Failure::library(&error).help("`corecast traffic --help` lists the options")
    })
}

/// Rates in steps until two in a row are saturated. They are measured a few at a time, as many as
/// there are threads, and what lies beyond the two is dropped: the threads do not show.
fn until_saturated(
    spec: &MeshSpec,
    pattern: &Pattern,
    traffic: &Traffic,
) -> Result<Vec<Point>, Failure> {
    let mut points: Vec<Point> = Vec::new();
    let width = rayon::current_num_threads().max(2);
    let all: Vec<f64> = (1..=50).map(|index| f64::from(index) * STEP).collect();
    for rates in all.chunks(width) {
        let rates: Vec<f64> = rates
            .iter()
            .map(|rate| (rate * 1e9).round() / 1e9)
            .collect();
        points.extend(sweep(spec, pattern, traffic, &rates)?);
        let is_second = |index: &usize| {
            let pair = &points[index - 1..=*index];
            pair.iter().all(|point| is_beyond(point, &points))
        };
        if let Some(second) = (1..points.len()).find(is_second) {
            points.truncate(second + 1);
            break;
        }
    }
    Ok(points)
}

/// Saturation as the literature has it: twice the latency of the lowest load, or packets that do
/// not arrive (Dally and Towles 2004, section 23.1).
fn is_beyond(point: &Point, points: &[Point]) -> bool {
    point.is_saturated || point.latency_mean > 2.0 * points[0].latency_mean
}

/// The first point beyond saturation.
fn saturation(points: &[Point]) -> Option<&Point> {
    points.iter().find(|point| is_beyond(point, points))
}

fn points_table(points: &[Point]) -> String {
    let rows = points.iter().map(|point| {
        let beyond = is_beyond(point, points);
        let mean = format!("{:.2}", point.latency_mean);
        vec![
            point.offered.to_string(),
            format!("{:.4}", point.accepted),
            if beyond { style::near(&mean) } else { mean },
            point.latency_p50.to_string(),
            point.latency_p99.to_string(),
            point.latency_max.to_string(),
            format!("{:.3}", point.hops_mean),
            point.packets.to_string(),
            match (point.is_saturated, beyond) {
                (true, _) => style::bad("saturated: not all packets arrived"),
                (false, true) => style::near("saturated"),
                (false, false) => String::new(),
            },
        ]
    });
    let header = [
        "offered", "accepted", "mean", "p50", "p99", "max", "hops", "packets", "",
    ];
    table(&header, 0..8, rows.collect())
}

fn chart(points: &[Point], saturation: Option<&Point>, chip: &str, pattern: &str) -> LineChart {
    // Beyond saturation latency grows with the length of the run and says nothing.
    let shown: Vec<&Point> = match saturation {
        Some(first) => points
            .iter()
            .filter(|point| point.offered <= first.offered)
            .collect(),
        None => points.iter().collect(),
    };
    let zero_load = points.first().map_or(0.0, |point| point.latency_mean);
    let line = |name: &str, value: &dyn Fn(&Point) -> f64| Series {
        name: name.to_owned(),
        // Higher values would squeeze the part of the curve that says something.
        points: (shown.iter())
            .map(|point| (point.offered, value(point)))
            .filter(|point| point.1 <= SHOWN_MAX * zero_load)
            .collect(),
    };
    let what = format!("{pattern} traffic on {chip}");
    LineChart {
        title: match saturation {
            Some(point) => format!("{what} saturates at {:.3} accepted", point.accepted),
            None => format!("{what} stays below saturation"),
        },
        x_label: "offered load (flits per core and cycle)".to_owned(),
        y_label: "packet latency (cycles)".to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        marks: saturation
            .map(|point| (point.offered, "saturation".to_owned()))
            .into_iter()
            .collect(),
        series: vec![
            line("mean", &|point| point.latency_mean),
            line("median", &|point| point.latency_p50 as f64),
            line("99 %", &|point| point.latency_p99 as f64),
        ],
    }
}

fn csv(points: &[Point]) -> String {
    let mut lines = "offered,accepted,latency_mean,latency_p50,latency_p99,latency_max,\
                     network_latency_mean,hops_mean,packets,saturated,cycles,flit_hops\n"
        .to_owned();
    for point in points {
        lines += &format!(
            "{},{},{},{},{},{},{},{},{},{},{},{}\n",
            point.offered,
            point.accepted,
            point.latency_mean,
            point.latency_p50,
            point.latency_p99,
            point.latency_max,
            point.network_latency_mean,
            point.hops_mean,
            point.packets,
            point.is_saturated,
            point.cycles,
            point.flit_hops
        );
    }
    lines
}

fn object(point: &Point, pattern: &Pattern, traffic: &Traffic) -> Value {
    json!({
        "pattern": pattern.name(),
        "packet_flits": traffic.packet,
        "offered": point.offered,
        "accepted": point.accepted,
        "latency_mean": point.latency_mean,
        "latency_p50": point.latency_p50,
        "latency_p99": point.latency_p99,
        "latency_max": point.latency_max,
        "network_latency_mean": point.network_latency_mean,
        "hops_mean": point.hops_mean,
        "packets": point.packets,
        "saturated": point.is_saturated,
        "cycles": point.cycles,
        "flit_hops": point.flit_hops,
    })
}

/// Runs a trace file.
fn from_file(
    settings: &Settings,
    spec: &MeshSpec,
    path: &str,
    traffic: &Traffic,
) -> Result<Answer, Failure> {
    let chip = settings.chip.as_deref().unwrap_or_default();
    let text = read(path)?;
    let packets = parse_trace(&text, spec.cores()).map_err(|error| {
        Failure::input(format!("{path}: {error}"))
            .help("one packet per line, `cycle src dst flits`, in order of the cycles")
    })?;
    let run = run_trace(spec, &packets)
        .map_err(|error| Failure::library(&error).help("check the chip's network"))?;
    let latency = &run.latency;
    let mean = latency.sum() as f64 / latency.count().max(1) as f64;
    let mut text = format!(
        "{}\n\n{} packets in {} cycles, {} flit-hops\nlatency in cycles: mean {mean:.2}, p50 {}, \
         p99 {}, max {}\n",
        style::heading(&format!("{path} on {chip}")),
        latency.count(),
        run.cycles,
        run.flit_hops,
        latency.quantile(0.5),
        latency.quantile(0.99),
        latency.max()
    );
    if let Some(csv) = &traffic.csv {
        let mut lines = "src,dst,flits,sent,injected,ejected,hops\n".to_owned();
        for delivery in &run.deliveries {
            lines += &format!(
                "{},{},{},{},{},{},{}\n",
                delivery.packet.src,
                delivery.packet.dst,
                delivery.packet.flits,
                delivery.sent,
                delivery.injected,
                delivery.ejected,
                delivery.hops
            );
        }
        text += &picture::write(csv, &settings.on_csv(&lines))?;
    }
    if let Some(heat) = &traffic.heat_map {
        let links: Vec<_> = run.mesh.links().collect();
        let what = format!("{path} on {chip}");
        let picture = picture::heat_map(&what, &spec.grid, &links, run.cycles as f64);
        text += &picture::write_svg(heat, &picture, settings)?;
    }
    let json = settings.on(json!({
        "pattern": "trace-file",
        "latency_mean": mean,
        "latency_p50": latency.quantile(0.5),
        "latency_p99": latency.quantile(0.99),
        "latency_max": latency.max(),
        "packets": latency.count(),
        "cycles": run.cycles,
        "flit_hops": run.flit_hops,
    }));
    Ok(Answer {
        text,
        json: Value::Array(vec![json]),
        failed: Vec::new(),
    })
}

fn read(path: &str) -> Result<String, Failure> {
    let refuse = |why: String| {
        Failure::input(format!("cannot read `{path}`: {why}"))
            .help("give the path of a text file with lines `cycle src dst flits`")
    };
    input::text_file(path, TRACE_BYTES_MAX).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Verb};

    #[test]
    fn rates_are_lists_and_ranges() {
        let parsed = |text| rates(text).expect("valid");
        assert_eq!(parsed("0.1"), [0.1]);
        assert_eq!(parsed("0.1..0.3:+0.1,1"), [0.1, 0.2, 0.3, 1.0]);
        for text in [
            "",
            "x",
            "1.1",
            "-0.1",
            "nan",
            "inf",
            "0.1..0.2",
            "0.2..0.1:+0.1",
            "0..1:+0",
        ] {
            assert!(rates(text).is_err(), "{text}");
        }
        assert!(rates("0..1:+0.0000001").is_err());
    }

    /// The loads that are measured side by side must not show in how many there are.
    #[test]
    fn the_number_of_threads_does_not_change_the_result() {
        let arguments = "corecast traffic --set network.vcs=4 --set network.width=4 \
                         --set network.height=4 --warmup 100 --measure 300 --drain 1000";
        let cli = Cli::parse_from(arguments.split_whitespace());
        let Verb::Traffic(traffic) = &cli.verb else {
            panic!("the verb is traffic");
        };
        let of_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads");
            pool.install(|| answer(traffic).expect("runs").json)
        };
        let one = of_threads(1);
        let points = one.as_array().expect("points").len();
        assert!(points > 8, "{points} loads are no sweep");
        for threads in [2, 3, 4, 7, 16] {
            assert_eq!(of_threads(threads), one, "{threads} threads");
        }
    }

    #[test]
    fn patterns_are_found_by_name() {
        for name in PATTERN_NAMES.iter().filter(|name| **name != "hotspot") {
            assert_eq!(pattern(name).expect("known").name(), *name);
        }
        let hot = pattern("hotspot:1+5=0.25").expect("valid");
        assert_eq!(
            hot,
            Pattern::Hotspot {
                cores: vec![1, 5],
                share: 0.25
            }
        );
        for text in ["hotspot", "hotspot:=1", "hotspot:1", "uniform:3", "nearest"] {
            assert!(pattern(text).is_err(), "{text}");
        }
    }
}
