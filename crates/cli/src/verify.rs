//! `corecast verify`: the certificate of each schedule.

use corecast_core::{Certificate, Request, verify as certify};
use serde::Serialize;

use crate::args::{CollectiveArgs, OutputArgs};
use crate::error::CliError;
use crate::output;
use crate::run::heading;
use crate::setting::Setting;

/// One certificate, as `--json` prints it.
#[derive(Serialize)]
struct CertificateRow {
    collective: &'static str,
    algorithm: &'static str,
    chip: String,
    ranks: u32,
    root: u32,
    bytes: u64,
    correct: bool,
    deadlock_free: bool,
    contention_free: bool,
    max_link_share: u32,
    max_buffer_bytes: u64,
    rounds: u32,
    bound_rounds: u32,
    messages: u64,
    payload_bytes: u64,
    redundant_bytes: u64,
    violations: Vec<String>,
}

impl CertificateRow {
    fn new(
        setting: &Setting,
        request: &Request,
        algorithm: &'static str,
        certificate: &Certificate,
    ) -> Self {
        Self {
            collective: setting.collective.name(),
            algorithm,
            chip: setting.chip().name.clone(),
            ranks: request.ranks,
            root: request.root.0,
            bytes: request.bytes,
            correct: certificate.is_correct(),
            deadlock_free: certificate.is_deadlock_free(),
            contention_free: certificate.is_contention_free(),
            max_link_share: certificate.busiest_link.map_or(0, |share| share.messages),
            max_buffer_bytes: certificate.max_buffer_bytes,
            rounds: certificate.rounds,
            bound_rounds: certificate.bound_rounds,
            messages: certificate.messages,
            payload_bytes: certificate.payload_bytes,
            redundant_bytes: certificate.redundant_bytes,
            violations: certificate
                .violations
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }
}

/// A certificate in a few words.
pub fn summary(certificate: &Certificate) -> String {
    if let Some(violation) = certificate.violations.first() {
        return format!("WRONG: {violation}");
    }
    let mut words = vec!["correct", "deadlock-free"];
    if certificate.is_contention_free() {
        words.push("contention-free");
    }
    let shared = certificate.busiest_link.map_or(0, |share| share.messages);
    let sharing = if shared > 1 {
        format!(", {shared} share a link")
    } else {
        String::new()
    };
    let (rounds, bound) = (certificate.rounds, certificate.bound_rounds);
    format!(
        "{}{sharing}, rounds {rounds} (bound {bound})",
        words.join(", ")
    )
}

/// Certifies every size and algorithm asked for.
pub fn verify(args: &CollectiveArgs, output: &OutputArgs) -> Result<(), CliError> {
    let setting = Setting::new(args, "all")?;
    let (mut rows, mut text) = (Vec::new(), String::new());
    for request in &setting.requests {
        let first = rows.len();
        let mut refused = Vec::new();
        for &algorithm in &setting.algorithms {
            match setting.schedule(algorithm, request) {
                Ok(schedule) => {
                    let certificate = certify(&schedule, setting.chip());
                    let name = algorithm.name();
                    rows.push(CertificateRow::new(&setting, request, name, &certificate));
                }
                Err(reason) => refused.push(format!("no schedule: {reason}\n")),
            }
        }
        text.push_str(&heading(&setting, request));
        text.push_str(&table(&rows[first..]));
        text.extend(refused);
    }
    output::emit_either(&rows, || text, output)?;
    match rows.iter().find(|row| !row.violations.is_empty()) {
        Some(row) => Err(CliError::check(format!(
            "{}: {}",
            row.algorithm, row.violations[0]
        ))),
        None => Ok(()),
    }
}

fn table(rows: &[CertificateRow]) -> String {
    let yes = |holds: bool| if holds { "yes" } else { "NO" }.to_owned();
    let header = [
        "algorithm",
        "correct",
        "deadlock-free",
        "contention-free",
        "rounds",
        "bound",
        "messages",
        "payload B",
        "redundant B",
        "buffer B",
    ];
    let cells = rows.iter().map(|row| {
        vec![
            row.algorithm.to_owned(),
            yes(row.correct),
            yes(row.deadlock_free),
            yes(row.contention_free),
            row.rounds.to_string(),
            row.bound_rounds.to_string(),
            row.messages.to_string(),
            row.payload_bytes.to_string(),
            row.redundant_bytes.to_string(),
            row.max_buffer_bytes.to_string(),
        ]
    });
    output::table(&header, 4..10, cells)
}
