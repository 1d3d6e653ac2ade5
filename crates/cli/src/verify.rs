//! `verify`: what is proven about the schedules, without running them.

use corecast_tune::Cell;
use serde_json::{Value, json};

use crate::args::Scene;
use crate::claim::{self, Claim};
use crate::failure::Failure;
use crate::output::Answer;
use crate::scene::{Certified, Stage};
use crate::settings::Settings;
use crate::{run, style, table};

/// The verb.
pub fn answer(scene: &Scene, require: Option<&str>) -> Result<Answer, Failure> {
    let mut stage = Stage::new(scene, "all")?;
    let mut required = vec![Claim::Correct];
    for claim in require.map(Claim::list).transpose()?.unwrap_or_default() {
        if !required.contains(&claim) {
            required.push(claim);
        }
    }
    let ranks = stage.one_rank_count()?;
    let settings = Settings {
        // It is the chip's routes that are looked at, whatever the machine.
        chip: Some(stage.chip.name.clone()),
        fingerprint: Some(stage.chip.fingerprint()),
        ..stage.settings()?
    };
    let progress = stage.progress();
    let (mut text, mut objects, mut failed) = (String::new(), Vec::new(), Vec::new());
    for &bytes in &stage.sizes {
        let certificates: Vec<Certified>;
        let refused;
        let mut cell = None;
        if let Some(decision) = stage.decide(ranks, bytes)? {
            certificates = vec![stage.certify(&decision.schedule)];
            let passed = table::passed(&decision).into_iter();
            refused = passed.map(|(_, reason)| reason).collect();
            cell = Some(decision.cell.clone());
            progress.inc(1);
        } else if stage.is_auto {
            let (runs, reasons) = run::rank(&stage, ranks, bytes, &progress)?;
            certificates = runs.into_iter().map(|run| run.certified).collect();
            refused = reasons.into_iter().map(|(_, reason)| reason).collect();
        } else {
            let request = stage.request(ranks, bytes)?;
            let (mut proven, mut reasons) = (Vec::new(), Vec::new());
            for algorithm in &stage.algorithms {
                progress.inc(1);
                match stage.schedule(*algorithm, &request) {
                    Ok(schedule) => proven.push(stage.certify(&schedule)),
                    Err(error) => reasons.push(error.to_string()),
                }
            }
            (certificates, refused) = (proven, reasons);
        }
        if certificates.is_empty() {
            let failure = Failure::input("no algorithm can serve this request");
            return Err(refused.into_iter().fold(failure, Failure::help));
        }
        let title = stage.what(ranks, bytes);
        text += &format!("{}\n{}", style::heading(&title), run::with(&settings));
        text += &stage.placement_line(ranks);
        if let (Some(advice), Some(cell)) = (&stage.advice, &cell) {
            text += &advice.line(cell, (ranks, bytes));
        }
        for certified in &certificates {
            let certificate = &certified.certificate;
            let line = run::certificate(&stage, certified);
            text += &format!("  {:<24} {line}\n", certificate.algorithm);
            for violation in &certificate.violations {
                text += &format!("    {}\n", style::bad(&violation.to_string()));
            }
            failed.extend(claim::failures(&required, certificate, bytes));
            objects.push(settings.on(object(&stage, certified, bytes, cell.as_ref())));
        }
        text += &run::same_here(&stage);
        for reason in &refused {
            text += &format!("{}\n", style::dim(&format!("not verified: {reason}")));
        }
    }
    Ok(Answer {
        text,
        json: Value::Array(objects),
        failed,
    })
}

fn object(stage: &Stage<'_>, certified: &Certified, bytes: u64, cell: Option<&Cell>) -> Value {
    let certificate = &certified.certificate;
    let worst_cycles = certified.worst_case.map(|time| run::cycles(stage, time));
    let violations = certificate.violations.iter().map(ToString::to_string);
    json!({
        "collective": certificate.collective.name(),
        "algorithm": certificate.algorithm,
        "ranks": certificate.ranks,
        "placement_note": stage.placement_note(certificate.ranks),
        "bytes": bytes,
        "table_ranks": cell.map(|cell| cell.ranks),
        "table_bytes": cell.map(|cell| cell.bytes),
        "correct": certificate.is_correct(),
        "deadlock_free": certificate.is_deadlock_free(),
        "slots_needed": certificate.slots_needed,
        "contention_free": certificate.is_contention_free(),
        "max_buffer_bytes": certificate.max_buffer_bytes,
        "flow_control": certificate.has_flow_control,
        "max_unread_bytes": certificate.max_unread_bytes,
        "worst_case_cycles": worst_cycles.map(run::number),
        "worst_case_ns": certified.worst_case.map(|time| time.ns()),
        "rounds": certificate.rounds,
        "bound_rounds": certificate.bound_rounds,
        "link_bound_rounds": certificate.link_bound_rounds,
        "messages": certificate.messages,
        "payload_bytes": certificate.payload_bytes,
        "redundant_bytes": certificate.redundant_bytes,
        "violations": violations.collect::<Vec<_>>(),
    })
}
