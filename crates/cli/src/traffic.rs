// SPDX-License-Identifier: MIT OR Apache-2.0
//! `traffic`: what a mesh does under synthetic traffic.

use corecast_sim::traffic::{Load, PATTERN_NAMES, Pattern};
use corecast_study::{
    RATES_TRIED_MAX, TRACE_BYTES_MAX, TraceStudy, TrafficPlan, TrafficSweep, run_trace_file,
};
use corecast_text::file;
use serde_json::Value;

use crate::args::Traffic;
use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::progress::Bar;
use crate::scene::counted;
use crate::{picture, run, scene, style};

/// Most rates of one sweep.
const RATES_MAX: usize = 1000;

/// The verb.
pub fn answer(options: &Traffic) -> Result<Answer, Failure> {
    let chip = scene::find_chip(&options.chip, &options.set)?;
    if let Some(path) = &options.trace_file {
        let study = run_trace_file(&chip, path, read(path)?, options.open_loop)?;
        return of_trace(&study, path, options);
    }
    let plan = TrafficPlan {
        pattern: pattern(&options.pattern)?,
        rates: options.rate.as_deref().map(rates).transpose()?,
        load: Load {
            rate: 0.0,
            packet_flits: options.packet,
            warmup: options.warmup,
            measure: options.measure,
            drain: options.drain,
            seed: options.seed,
        },
        chip,
    };
    let steps = plan.rates.as_ref();
    let steps = steps.map_or(RATES_TRIED_MAX as usize, Vec::len);
    let sweep = plan.measure(&Bar::new(steps, "traffic"))?;
    let (settings, grid) = (&sweep.settings, sweep.mesh.grid);
    let chip = &plan.chip.chip.name;
    let mut text = style::heading(&format!(
        "{} traffic on {chip}: {} x {} routers, packets of {} flits, cycles of {} ps",
        sweep.pattern, grid.width, grid.height, options.packet, sweep.mesh.clock.period_ps
    )) + "\n";
    text += &(run::with(settings) + "\n");
    text += &points_table(&sweep);
    if let Some(latency) = sweep.zero_load {
        text += &format!("\nlatency at zero load: mean {latency:.2} cycles\n");
    }
    text += &match sweep.saturation() {
        Some(point) => format!(
            "\nsaturated from {} flits per core and cycle offered, {:.4} accepted\n",
            point.offered, point.accepted
        ),
        None => "\nnot saturated\n".to_owned(),
    };
    text += &draw(&sweep, chip, options)?;
    let points = sweep.points.iter();
    let points: Value = points
        .map(|point| settings.on(sweep.record(point)))
        .collect();
    Ok(Answer::new(text, points))
}

/// Writes what was asked for; returns a line for each file.
fn draw(sweep: &TrafficSweep, chip: &str, options: &Traffic) -> Result<String, Failure> {
    let (settings, mut text) = (&sweep.settings, String::new());
    if let Some(path) = &options.plot {
        text += &picture::write_figure(
            path,
            &corecast_figures::latency_chart(sweep, chip),
            settings,
        )?;
    }
    if let Some(path) = &options.csv {
        text += &picture::write(path, &csv(sweep))?;
    }
    if let Some(path) = &options.heat_map
        && let Some(picture) = corecast_figures::traffic_heat_map(sweep, chip)
    {
        text += &picture::write_figure(path, &picture, settings)?;
    }
    Ok(text)
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

fn points_table(sweep: &TrafficSweep) -> String {
    let rows = sweep.points.iter().map(|point| {
        let beyond = sweep.is_beyond(point);
        let record = sweep.record(point);
        let whole = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
        let rounded = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let mean = rounded(record.latency_mean, 2);
        vec![
            point.offered.to_string(),
            format!("{:.4}", point.accepted),
            if beyond { style::near(&mean) } else { mean },
            whole(record.latency_p50),
            whole(record.latency_p99),
            whole(record.latency_max),
            rounded(record.hops_mean, 3),
            point.packets.to_string(),
            match (point.is_saturated, beyond) {
                (true, _) => style::bad("saturated: not all packets arrived"),
                (false, true) => style::near("saturated: more than twice the latency at zero load"),
                (false, false) => String::new(),
            },
        ]
    });
    let header = [
        "offered", "accepted", "mean", "p50", "p99", "max", "hops", "packets", "",
    ];
    table(&header, 0..8, rows.collect())
}

/// What was measured; an empty cell if there was nothing.
fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A line per point.
fn csv(sweep: &TrafficSweep) -> String {
    let mut csv = Csv::new(&[
        "offered",
        "accepted",
        "latency_mean",
        "latency_p50",
        "latency_p99",
        "latency_max",
        "network_latency_mean",
        "hops_mean",
        "packets",
        "zero_load_latency",
        "saturated",
        "all_arrived",
        "cycles",
        "flit_hops",
    ]);
    for point in &sweep.points {
        let record = sweep.record(point);
        csv.line(&[
            &record.offered,
            &record.accepted,
            &or_empty(record.latency_mean),
            &or_empty(record.latency_p50),
            &or_empty(record.latency_p99),
            &or_empty(record.latency_max),
            &or_empty(record.network_latency_mean),
            &or_empty(record.hops_mean),
            &record.packets,
            &or_empty(record.zero_load_latency),
            &record.saturated,
            &record.all_arrived,
            &record.cycles,
            &record.flit_hops,
        ]);
    }
    csv.with(&sweep.settings)
}

/// The answer about the packets of a file.
fn of_trace(study: &TraceStudy, path: &str, options: &Traffic) -> Result<Answer, Failure> {
    let (settings, run) = (&study.settings, &study.run);
    let chip = settings.chip.as_deref().unwrap_or_default();
    let record = study.record();
    let cycle_ps = study.mesh.clock.period_ps;
    let what = format!("{path} on {chip}, cycles of {cycle_ps} ps");
    let mut text = format!(
        "{}\n\n{} in {}, {}\nlatency in cycles: mean {:.2}, p50 {}, \
         p99 {}, max {}\n",
        style::heading(&what),
        counted(record.packets, "packet"),
        counted(record.cycles, "cycle"),
        counted(record.flit_hops, "flit-hop"),
        record.latency_mean,
        record.latency_p50,
        record.latency_p99,
        record.latency_max
    );
    if record.waits > 0 {
        text += &format!(
            "packets wait {} times for others, and leave mean {:.2}, max {} cycles later than in the \
             file\n",
            record.waits, record.held_mean, record.held_max
        );
    }
    if let Some(path) = &options.csv {
        let header = [
            "packet", "src", "dst", "flits", "sent", "injected", "ejected", "hops",
        ];
        let mut csv = Csv::new(&header);
        for delivery in &run.deliveries {
            csv.line(&[
                &delivery.packet.tag,
                &delivery.packet.src,
                &delivery.packet.dst,
                &delivery.packet.flits,
                &delivery.sent,
                &delivery.injected,
                &delivery.ejected,
                &delivery.hops,
            ]);
        }
        text += &picture::write(path, &csv.with(settings))?;
    }
    if let Some(path) = &options.heat_map {
        let links: Vec<_> = run.mesh.links().collect();
        let times = (study.flit(), study.duration());
        let picture = corecast_figures::heat_map(&what, &study.mesh.grid, &links, times);
        text += &picture::write_figure(path, &picture, settings)?;
    }
    Ok(Answer::new(text, Value::Array(vec![settings.on(record)])))
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    file::read(path, TRACE_BYTES_MAX).map_err(|error| {
        Failure::input(format!("cannot read `{path}`: {error}"))
            .help("give the path of a file with lines `cycle src dst flits`, or of a netrace trace")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
