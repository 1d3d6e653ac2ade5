//! `show`: a chip, an algorithm or a schedule in full.

use corecast_chip::Provenance;
use corecast_core::{Collective, algorithm};
use serde_json::{Value, json};

use crate::args::{Scene, Show};
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::scene::{self, Stage};
use crate::style;

/// The verb.
pub fn answer(what: &Show) -> Result<Answer, Failure> {
    match what {
        Show::Chip { chip } => show_chip(chip),
        Show::Algorithm { name, collective } => show_algorithm(name, collective.as_deref()),
        Show::Schedule(scene) => show_schedule(scene),
    }
}

fn show_chip(name: &str) -> Result<Answer, Failure> {
    let chip = scene::chip(name)?;
    let clock = chip.reference_clock();
    let mut text = format!(
        "{}\nsource: {}\ncores: at most {}\ncycles are those of clock `{}`, {} ps\n\
         fingerprint: {}\n\n",
        style::heading(&format!("{}: {}", chip.name, chip.summary)),
        chip.source,
        chip.cores_max(),
        clock.name,
        clock.period_ps,
        chip.fingerprint()
    );
    let rows = chip.parameters().map(|p| {
        let source = match p.fitted_to {
            Some(points) => format!("{} (fitted to {points})", p.source),
            None => p.source.to_owned(),
        };
        vec![
            p.key.to_owned(),
            p.value.to_string(),
            p.unit.to_owned(),
            match p.kind {
                Provenance::Assumed | Provenance::Fitted => style::near(p.kind.name()),
                _ => p.kind.name().to_owned(),
            },
            source,
        ]
    });
    text += &table(
        &["parameter", "value", "unit", "kind", "source"],
        1..2,
        rows.collect(),
    );
    let parameters = chip.parameters().map(|p| {
        json!({
            "key": p.key,
            "value": p.value,
            "unit": p.unit,
            "kind": p.kind.name(),
            "source": p.source,
            "fitted_to": p.fitted_to,
        })
    });
    let json = json!({
        "name": chip.name,
        "summary": chip.summary,
        "source": chip.source,
        "cores_max": chip.cores_max(),
        "reference_clock": clock.name,
        "cycle_ps": clock.period_ps,
        "fingerprint": chip.fingerprint(),
        "parameters": parameters.collect::<Vec<_>>(),
    });
    Ok(Answer {
        text,
        json,
        failed: Vec::new(),
    })
}

fn show_algorithm(name: &str, collective: Option<&str>) -> Result<Answer, Failure> {
    let only = collective.map(scene::collective).transpose()?;
    let of_interest = |c: Collective| only.is_none_or(|only| only == c);
    let (mut text, mut objects) = (String::new(), Vec::new());
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
        objects.push(json!({
            "collective": algorithm.collective().name(),
            "name": name,
            "summary": algorithm.summary(),
            "source": algorithm.source(),
            "requires": algorithm.requires(),
        }));
    }
    if objects.is_empty() {
        known.sort_unstable();
        known.dedup();
        return Err(Failure::unknown("algorithm", "algorithms", name, &known));
    }
    let json = Value::Array(objects);
    Ok(Answer {
        text,
        json,
        failed: Vec::new(),
    })
}

fn show_schedule(scene: &Scene) -> Result<Answer, Failure> {
    let stage = Stage::new(scene, "all")?;
    let ranks = stage.one_rank_count()?;
    let [bytes] = stage.sizes[..] else {
        return Err(
            Failure::input("--bytes: `show schedule` shows one schedule").help("give one size"),
        );
    };
    let schedule = match (stage.decide(ranks, bytes)?, &stage.algorithms[..]) {
        (Some(decision), _) => decision.schedule,
        (None, [algorithm]) => stage
            .schedule(*algorithm, &stage.request(ranks, bytes)?)
            .map_err(|error| Failure::library(&error))?,
        _ => {
            return Err(
                Failure::input("--algorithm: `show schedule` shows one schedule")
                    .help("name one algorithm; `corecast list algorithms` lists them"),
            );
        }
    };
    let text = format!("{}\n", schedule.to_string().trim_end());
    let json = json!({
        "collective": stage.collective.name(),
        "algorithm": schedule.algorithm(),
        "ranks": ranks,
        "bytes": bytes,
        "schedule": text,
    });
    Ok(Answer {
        text,
        json,
        failed: Vec::new(),
    })
}
