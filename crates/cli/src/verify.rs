// SPDX-License-Identifier: MIT OR Apache-2.0
//! `verify`: what is proven about the schedules, without running them.

use std::path::Path;

use corecast_core::Certificate;
use corecast_exchange::Repaired;
use corecast_study::{
    Claim, Detour, FileLine, MACHINES, ScheduleFile, Settings, Verdict, VerdictRecord, faults,
    verdicts,
};
use serde_json::Value;

use crate::args::Scene;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::subject::Subject;
use crate::{run, scene, style, table};

/// The verb.
pub fn answer(
    scene: &Scene,
    more: &[String],
    repair: Option<&str>,
    require: &[Claim],
) -> Result<Answer, Failure> {
    if let Some(to) = repair {
        refuse_what_does_nothing(scene)?;
        return verify_corpus(&[repaired(&scene.what, more, to)?], require);
    }
    if let Some(paths) = corpus(&scene.what, more)? {
        refuse_what_does_nothing(scene)?;
        return verify_corpus(&paths, require);
    }
    let mut study = scene.study("all")?;
    let mut required = vec![Claim::Correct];
    for claim in require {
        if !required.contains(claim) {
            required.push(*claim);
        }
    }
    let ranks = scene::one_rank_count(&study)?;
    let settings = Settings {
        // It is the chip's routes that are looked at, whatever the machine.
        chip: Some(study.chip().name.clone()),
        fingerprint: Some(study.chip().fingerprint()),
        ..study.settings()
    };
    let progress = Bar::of(&mut study);
    let (mut text, mut objects, mut failed) = (String::new(), Vec::new(), Vec::new());
    for &bytes in &study.plan.sizes {
        let proven = study.prove(ranks, bytes, &progress)?;
        if proven.certified.is_empty() {
            let failure = Failure::input("no algorithm can serve this request");
            let refused = proven.refused.iter().map(ToString::to_string);
            return Err(refused.fold(failure, Failure::help));
        }
        let title = scene::what(study.collective(), ranks, bytes);
        text += &format!("{}\n{}", style::heading(&title), run::with(&settings));
        text += &scene::placement_line(&study, ranks);
        let cell = proven.cell.as_ref();
        if let (Some(advice), Some(cell)) = (&study.advice, cell) {
            text += &table::line(advice, cell, (ranks, bytes));
        }
        for certified in &proven.certified {
            let certificate = &certified.certificate;
            let line = run::certified_line(&study, certified);
            text += &format!("  {:<24} {line}\n", certificate.algorithm);
            text += &violations(certificate, &certified.lines, "    ");
            text += &detours(&certified.detours);
            let faults = faults(&required, certificate, bytes);
            failed.extend(faults.map(|fault| run::failure(&fault)));
            objects.push(settings.on(study.certificate_record(certified, bytes, cell)));
        }
        text += &run::same_here(&study);
        for reason in &proven.refused {
            text += &format!("{}\n", style::dim(&format!("not verified: {reason}")));
        }
    }
    Ok(Answer {
        failed,
        ..Answer::new(text, Value::Array(objects))
    })
}

/// What speaks against a schedule, each with the lines of its file that it is about.
fn violations(certificate: &Certificate, lines: &[Vec<FileLine>], indent: &str) -> String {
    let mut text = String::new();
    for (number, violation) in certificate.violations.iter().enumerate() {
        text += &format!("{indent}{}\n", style::bad(&violation.to_string()));
        for line in lines.get(number).into_iter().flatten() {
            text += &format!("{indent}  {}\n", style::dim(&line.to_string()));
        }
    }
    text
}

/// Links of a schedule file that the chip does not have, a few of them by name.
fn detours(detours: &[Detour]) -> String {
    const SHOWN: usize = 8;
    let shown = detours.iter().take(SHOWN).map(ToString::to_string);
    let shown: Vec<String> = shown.collect();
    let more = match detours.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match detours.len() {
        0 => String::new(),
        count => {
            let line = format!(
                "{count} of its connections have no link of their own on this chip: {}{more}",
                shown.join(", ")
            );
            format!("    {}\n", style::near(&line))
        }
    }
}

/// The files to verify without a chip: several, or a folder of them; none for a single schedule.
fn corpus(what: &Subject, more: &[String]) -> Result<Option<Vec<String>>, Failure> {
    match what {
        Subject::Collective(_) if more.is_empty() => Ok(None),
        Subject::Collective(collective) => Err(Failure::input(format!(
            "`{}` is no schedule file, and beside it are some",
            collective.name()
        ))
        .help("name one collective, or schedule files and folders of them")),
        Subject::File(path) if more.is_empty() && !Path::new(path).is_dir() => Ok(None),
        Subject::File(path) => Ok(Some(std::iter::once(path).chain(more).cloned().collect())),
    }
}

/// Writes a file with what can be repaired in it; returns the path of what is to be verified.
fn repaired(what: &Subject, more: &[String], to: &str) -> Result<String, Failure> {
    let from = match what {
        Subject::File(path) if more.is_empty() && path != "-" && !Path::new(path).is_dir() => path,
        _ => {
            let failure = Failure::input("--repair: what is repaired is one schedule file");
            return Err(failure.help("name one file"));
        }
    };
    match ScheduleFile::repair(from)? {
        None => output::note("what is wrong cannot be repaired without knowing what was meant"),
        Some(repaired) if repaired.changes.is_empty() => output::note("nothing is to be repaired"),
        Some(Repaired { exported, changes }) => {
            let [contents] = &exported.files[..] else {
                let failure = Failure::input("--repair: what is repaired is one file");
                return Err(failure.help("formats with a file per rank are not repaired"));
            };
            output::write_bytes(Path::new(to), contents)?;
            changes.iter().for_each(|change| output::note(change));
            return Ok(to.to_owned());
        }
    }
    Ok(from.clone())
}

/// Refuses options that would change nothing: several files are as they are, on any chip.
fn refuse_what_does_nothing(scene: &Scene) -> Result<(), Failure> {
    let place = &scene.place;
    let given = [
        ("--chip", place.chip.is_given()),
        ("--set", !place.chip.set.is_empty()),
        ("--ranks-to-cores", place.chip.ranks_to_cores.is_some()),
        ("--machine", place.machine.name() != MACHINES[0].name()),
        ("--fidelity", scene.fidelity.is_some()),
        ("--ranks", scene.ranks.is_some()),
        ("--root", scene.root.is_some()),
        ("--bytes", scene.bytes.is_some()),
        ("--algorithm", scene.algorithm.is_some()),
        ("--table", scene.table.is_some()),
        ("--part-bytes", scene.part_bytes.is_some()),
        ("--piece-bytes", scene.piece_bytes.is_some()),
        ("--ongoing", !scene.ongoing.is_empty()),
        ("--skew", !scene.skew.is_empty()),
        ("--background", scene.background.is_some()),
        ("--cold", scene.cold),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(format!(
            "{option}: several files are verified as they are, for any chip"
        ))
        .help("verify one file")),
    }
}

/// A table of what holds for every file on any chip.
fn verify_corpus(paths: &[String], require: &[Claim]) -> Result<Answer, Failure> {
    let on_a_chip = [Claim::ContentionFree, Claim::RoundOptimal];
    if let Some(claim) = require.iter().find(|claim| on_a_chip.contains(claim)) {
        let message =
            format!("--require: several files are verified without a chip, which `{claim}` needs");
        return Err(Failure::input(message).help("verify one file"));
    }
    let mut required = vec![Claim::Correct];
    required.extend(require.iter().filter(|claim| **claim != Claim::Correct));
    let outcomes = verdicts(paths)?;
    if outcomes.is_empty() {
        return Err(
            Failure::input(format!("no schedule file in `{}`", paths.join("`, `")))
                .help("`corecast list formats` says how names of schedule files end"),
        );
    }
    let (mut rows, mut objects, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut below = String::new();
    for (name, outcome) in &outcomes {
        objects.push(output::json(VerdictRecord::of(name, outcome)));
        match outcome {
            Err(error) => {
                rows.push(vec![name.clone(), style::bad("NO SCHEDULE")]);
                failed.push(Failure::from(error.clone()));
            }
            Ok((file, verdict)) => {
                rows.push(row(name, file.schedule().algorithm(), verdict));
                let certificate = &verdict.certificate;
                if !certificate.is_correct() {
                    below += &format!("{}\n", style::heading(name));
                }
                below += &violations(certificate, &verdict.lines, "  ");
                let bytes = file.schedule().spec().bytes();
                let faults = faults(&required, certificate, bytes);
                failed.extend(faults.map(|fault| Failure::check(format!("{name}: {fault}"))));
            }
        }
    }
    let header = [
        "file",
        "verdict",
        "slots",
        "collective",
        "name",
        "ranks",
        "streams",
        "steps",
        "messages",
        "rounds",
    ];
    let correct = outcomes.iter().filter(|(_, outcome)| {
        outcome
            .as_ref()
            .is_ok_and(|(_, verdict)| verdict.certificate.is_correct())
    });
    let sum = format!(
        "{} of {} files are correct schedules\n",
        correct.count(),
        outcomes.len()
    );
    Ok(Answer {
        failed,
        ..Answer::new(
            output::table(&header, 5..10, rows) + &sum + &below,
            Value::Array(objects),
        )
    })
}

fn row(name: &str, algorithm: &str, verdict: &Verdict) -> Vec<String> {
    let certificate = &verdict.certificate;
    vec![
        name.to_owned(),
        match certificate.is_correct() {
            true => "correct".to_owned(),
            false => style::bad("NOT CORRECT"),
        },
        certificate
            .slots_needed
            .map_or("-".to_owned(), |slots| slots.to_string()),
        certificate.collective.name().to_owned(),
        algorithm.to_owned(),
        certificate.ranks.to_string(),
        verdict.streams_max.to_string(),
        verdict.steps.to_string(),
        certificate.messages.to_string(),
        certificate.rounds.to_string(),
    ]
}
