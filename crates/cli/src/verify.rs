//! `verify`: what is proven about the schedules, without running them.

use corecast_study::{Claim, Settings, faults};
use serde_json::Value;

use crate::args::Scene;
use crate::failure::Failure;
use crate::output::Answer;
use crate::progress::Bar;
use crate::{run, scene, style, table};

/// The verb.
pub fn answer(scene: &Scene, require: &[Claim]) -> Result<Answer, Failure> {
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
            for violation in &certificate.violations {
                text += &format!("    {}\n", style::bad(&violation.to_string()));
            }
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
        text,
        json: Value::Array(objects),
        failed,
    })
}
