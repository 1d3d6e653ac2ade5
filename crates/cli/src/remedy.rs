//! What would make a run faster: the first sentence of `explain`.
//!
//! Nothing here is a rule of thumb. Other algorithms and sizes are run as `tune` would run them; if
//! none of them is faster, the numbers of the chip file are halved (widths doubled) one by one, and
//! the one that saves most is named. A run longer than the one to be explained is ended early, so a
//! trial costs at most as much as the run itself; long runs are tried with fewer others, and the
//! sentence says so.

use std::collections::BTreeMap;

use corecast_machine::{PathSegment, Time};
use corecast_tune::search::{self, Best, Candidate};
use rayon::prelude::*;

use crate::failure::Failure;
use crate::run::{self, Run};
use crate::scene::Stage;

/// Runs with more events are not tried with other sizes, nor on other chips.
const EVENTS_TUNED_MAX: u64 = 200_000;
/// Runs with more events are not tried at all.
const EVENTS_MAX: u64 = 20_000_000;
/// What saves less than this share is no help.
const SAVED_MIN: f64 = 0.01;

/// The fastest way to serve a request that was found.
pub struct Fastest {
    best: Option<Best<Time>>,
    /// Whether sizes were searched, too.
    is_tuned: bool,
}

impl Fastest {
    /// Searches, with the effort that fits runs such as these.
    pub fn search(stage: &Stage<'_>, runs: &[Run]) -> Result<Self, Failure> {
        let events = runs.iter().map(|run| run.report.events).max().unwrap_or(0);
        let longest = runs.iter().map(|run| run.report.makespan).max();
        let (Some(run), Some(longest)) = (runs.first(), longest) else {
            return Ok(Self {
                best: None,
                is_tuned: false,
            });
        };
        let is_tuned = events <= EVENTS_TUNED_MAX;
        let mut request = run.request.clone();
        let measure = |candidate: &Candidate<'_>| {
            let report = stage.run_within(candidate.schedule, longest);
            let report = report.filter(|report| report.delivered());
            report.map(|report| report.makespan).ok_or(())
        };
        let algorithms = stage.distinct_algorithms();
        let best = if is_tuned {
            (request.tuning.part_bytes, request.tuning.piece_bytes) = (None, None);
            search::cell(&algorithms, &request, &measure, &|| ()).best
        } else if events <= EVENTS_MAX {
            let times = algorithms.par_iter().filter_map(|algorithm| {
                let schedule = stage.schedule(*algorithm, &request).ok()?;
                let report = stage.run_within(&schedule, longest)?;
                report.delivered().then_some(Best {
                    algorithm: algorithm.name(),
                    sizes: search::Sizes {
                        part_bytes: request.tuning.part_bytes,
                        piece_bytes: request.tuning.piece_bytes,
                    },
                    time: report.makespan,
                })
            });
            times
                .collect::<Vec<_>>()
                .into_iter()
                .min_by_key(|best| best.time)
        } else {
            None
        };
        Ok(Self { best, is_tuned })
    }
}

/// A number of the chip whose change saves most.
struct Knob {
    key: String,
    from: f64,
    to: f64,
    time: Time,
}

/// What to do, in one sentence.
pub fn sentence(
    stage: &Stage<'_>,
    run: &Run,
    path: &[PathSegment],
    fastest: &Fastest,
) -> Result<String, Failure> {
    let took = run.report.makespan;
    let cycles = |time| run::cycles(stage, time);
    let bound = run::bound_cycles(stage, &run.request);
    let saves = |time: Time| match took.ps() {
        0 => 0.0,
        took => 1.0 - time.ps() as f64 / took as f64,
    };
    let why = why(path, took);
    if let Some(best) = fastest.best.filter(|best| saves(best.time) >= SAVED_MIN) {
        let ratio = took.ps() as f64 / best.time.ps().max(1) as f64;
        return Ok(format!(
            "Use {}: {} cycles instead of {}, {ratio:.2} times as fast; here {why}.",
            choice(run, &best),
            cycles(best.time),
            cycles(took),
        ));
    }
    if cycles(took) <= bound as f64 * (1.0 + SAVED_MIN) {
        return Ok(format!(
            "Leave it as it is: no schedule on this chip takes less than {bound} cycles; {why}."
        ));
    }
    let others = match (fastest.best.is_some(), fastest.is_tuned) {
        (true, true) => "No other algorithm or size is faster",
        (true, false) => "No other algorithm is faster (sizes were not searched: the run is long)",
        _ => "Nothing else was tried, the run is long (`corecast tune` searches)",
    };
    let is_short = run.report.events <= EVENTS_TUNED_MAX;
    let knob = if is_short { knob(stage, run)? } else { None };
    Ok(match knob.filter(|knob| saves(knob.time) >= SAVED_MIN) {
        Some(knob) => format!(
            "{others}; {why}, and of the chip's numbers `{}` matters most: {} instead of {} would \
             save {:.0} %.",
            knob.key,
            knob.to,
            knob.from,
            100.0 * saves(knob.time),
        ),
        None if is_short => {
            format!("{others}, and no single number of the chip would help; {why}.")
        }
        None => format!("{others}; {why}."),
    })
}

/// Options that choose what was found.
fn choice(run: &Run, best: &Best<Time>) -> String {
    let mut options = Vec::new();
    if best.algorithm != run.algorithm {
        options.push(format!("--algorithm {}", best.algorithm));
    }
    let sizes = [
        (
            "--part-bytes",
            best.sizes.part_bytes,
            run.request.tuning.part_bytes,
        ),
        (
            "--piece-bytes",
            best.sizes.piece_bytes,
            run.request.tuning.piece_bytes,
        ),
    ];
    for (option, size, was) in sizes {
        match (size, was) {
            (Some(size), was) if was != Some(size) => options.push(format!("{option} {size}")),
            (None, Some(_)) => options.push(format!("no {option}")),
            _ => {}
        }
    }
    options.join(" ")
}

/// What most of the critical path is.
fn why(path: &[PathSegment], took: Time) -> String {
    let mut shares: BTreeMap<&'static str, u64> = BTreeMap::new();
    for segment in path {
        let time = segment.end.ps() - segment.start.ps();
        *shares.entry(segment.cause.kind()).or_default() += time;
    }
    // Of equal shares the first in the alphabet.
    let most = shares.into_iter().rev().max_by_key(|&(_, time)| time);
    let Some((kind, time)) = most else {
        return "there is nothing to do".to_owned();
    };
    let percent = 100.0 * time as f64 / took.ps().max(1) as f64;
    format!("{percent:.0} % of the critical path is {}", words(kind))
}

/// A kind of cause as a reader of the sentence knows it.
fn words(kind: &str) -> String {
    match kind {
        "compute" => "computing and late arrival".to_owned(),
        "wait_peer" => "waiting for ranks that are not there yet".to_owned(),
        "port_busy" => "ports that are busy with earlier transfers".to_owned(),
        "link_busy" => "links that other messages use".to_owned(),
        "buffer_full" => "buffers that are full".to_owned(),
        "memory" => "memory that has not answered".to_owned(),
        "software" => "software: what every call and message costs a core".to_owned(),
        "handshake" => "commands, flags and handshakes".to_owned(),
        "transfer" => "words that move".to_owned(),
        "ordering" => "reading and ordering the ranks' status".to_owned(),
        other => other.replace('_', " "),
    }
}

/// The number whose halving (of a width: doubling) saves most, each tried alone with the same
/// schedule.
fn knob(stage: &Stage<'_>, run: &Run) -> Result<Option<Knob>, Failure> {
    let Some(algorithm) = stage.algorithm(run.algorithm) else {
        return Ok(None);
    };
    let Ok(schedule) = stage.schedule(algorithm, &run.request) else {
        return Ok(None);
    };
    let unused = stage.chip.unused();
    let numbers = stage.chip.parameters().filter_map(|number| {
        let to = match number.unit {
            unit if unit.starts_with("cycles") => (number.value / 2.0).floor(),
            "bytes/cycle" => number.value * 2.0,
            _ => return None,
        };
        let is_used = unused.iter().all(|unused| unused.key != number.key);
        (is_used && to != number.value).then(|| (number.key.to_owned(), number.value, to))
    });
    let numbers: Vec<(String, f64, f64)> = numbers.collect();
    let took = run.report.makespan;
    let knobs = numbers.into_par_iter().filter_map(|(key, from, to)| {
        // What is refused (a stage of the router that takes a cycle at least) is no help.
        let changed = stage.with_number(&key, to)?;
        let report = changed.run_within(&schedule, took)?;
        Some(Knob {
            key,
            from,
            to,
            time: report.makespan,
        })
    });
    let knobs: Vec<Knob> = knobs.collect();
    Ok(knobs.into_iter().min_by_key(|knob| knob.time)) // of equal ones the first of the file
}
