// SPDX-License-Identifier: MIT OR Apache-2.0
//! `show`: an algorithm or a schedule in full; for a chip see [`show_chip`].

use corecast_core::{Collective, algorithm};
use corecast_exchange::Format;
use serde::Serialize;

use crate::args::{Scene, Show};
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::{scene, show_chip, style};

/// The verb.
pub fn answer(what: &Show) -> Result<Answer, Failure> {
    match what {
        Show::Chip { name, chip } => show_chip::answer(name.as_deref().unwrap_or(&chip.name), chip),
        Show::Algorithm { name, collective } => show_algorithm(name, *collective),
        Show::Schedule { scene, format } => show_schedule(scene, *format),
    }
}

/// What is said about one algorithm.
#[derive(Serialize)]
struct AlgorithmRecord {
    collective: &'static str,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    requires: &'static str,
}

/// A schedule as text, and of what it is one.
#[derive(Serialize)]
struct ScheduleRecord<'a> {
    collective: &'static str,
    algorithm: &'a str,
    ranks: u32,
    bytes: u64,
    schedule: &'a str,
}

fn show_algorithm(name: &str, only: Option<Collective>) -> Result<Answer, Failure> {
    let of_interest = |c: Collective| only.is_none_or(|only| only == c);
    let (mut text, mut records) = (String::new(), Vec::new());
    let mut known = Vec::new();
    for algorithm in algorithm::all().filter(|a| of_interest(a.collective())) {
        known.push(algorithm.name());
        if algorithm.name() != name {
            continue;
        }
        let requires = match algorithm.requires() {
            "" => "nothing",
            requires => requires,
        };
        text += &format!(
            "{}\n  {}\n  source: {}\n  requires: {requires}\n",
            style::heading(&format!("{} {name}", algorithm.collective())),
            algorithm.summary(),
            algorithm.source()
        );
        records.push(AlgorithmRecord {
            collective: algorithm.collective().name(),
            name: algorithm.name(),
            summary: algorithm.summary(),
            source: algorithm.source(),
            requires: algorithm.requires(),
        });
    }
    if records.is_empty() {
        known.sort_unstable();
        known.dedup();
        return Err(Failure::unknown("algorithm", "algorithms", name, &known));
    }
    Ok(Answer::new(text, json(records)))
}

fn show_schedule(scene: &Scene, format: Option<&dyn Format>) -> Result<Answer, Failure> {
    let study = scene.study("all")?;
    let ranks = scene::one_rank_count(&study)?;
    let [bytes] = study.plan.sizes[..] else {
        return Err(
            Failure::input("--bytes: `show schedule` shows one schedule").help("give one size"),
        );
    };
    let request = study.request(ranks, bytes)?;
    let (algorithms, files) = (&study.algorithms[..], &study.plan.files[..]);
    let schedule = match (study.decide(ranks, bytes)?, algorithms, files) {
        (Some(decision), ..) => decision.schedule,
        (None, [algorithm], []) => study
            .schedule(*algorithm, &request)
            .map_err(|error| Failure::library(&error))?,
        (None, [], [file]) => file
            .schedule_for(&request)
            .map_err(|error| Failure::library(&error))?,
        _ => {
            return Err(
                Failure::input("--algorithm: `show schedule` shows one schedule")
                    .help("name one algorithm; `corecast list algorithms` lists them"),
            );
        }
    };
    let text = match format {
        None => format!("{}\n", schedule.to_string().trim_end()),
        Some(format) => {
            let exported = format.write(&schedule);
            let exported = exported.map_err(|error| Failure::library(&error))?;
            exported.notes.iter().for_each(|note| output::note(note));
            exported.text().expect("a format of text").to_owned()
        }
    };
    let record = study.settings().on(ScheduleRecord {
        collective: study.collective().name(),
        algorithm: schedule.algorithm(),
        ranks,
        bytes,
        schedule: &text,
    });
    Ok(Answer::new(text, record))
}
