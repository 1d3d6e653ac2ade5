//! `corecast run`: run a collective and rank the algorithms.

use std::collections::BTreeMap;

use corecast_chip::Provenance;
use corecast_core::{Certificate, Request, verify};
use corecast_machine::Report;
use serde::Serialize;

use crate::args::{CollectiveArgs, OutputArgs};
use crate::error::CliError;
use crate::output;
use crate::setting::Setting;
use crate::verify::summary;

/// One run, as `--json` prints it.
#[derive(Serialize)]
struct RunRow {
    collective: &'static str,
    algorithm: &'static str,
    chip: String,
    machine: &'static str,
    ranks: u32,
    root: u32,
    bytes: u64,
    makespan_cycles: f64,
    makespan_ns: f64,
    bound_cycles: u64,
    bound_ns: f64,
    delivered: bool,
    correct: bool,
    deadlock_free: bool,
    contention_free: bool,
    finish_ns: Vec<f64>,
    /// Nanoseconds per cause, summed over all ranks.
    causes: BTreeMap<&'static str, f64>,
    events: u64,
    fitted_parameters: usize,
    assumed_parameters: usize,
    #[serde(skip)]
    certificate: String,
}

/// Runs every size and algorithm asked for.
pub fn run(args: &CollectiveArgs, output: &OutputArgs) -> Result<(), CliError> {
    let setting = Setting::new(args, "all")?;
    let mut rows: Vec<RunRow> = Vec::new();
    let mut text = String::new();
    for request in &setting.requests {
        let mut of_size = Vec::new();
        let mut refused = Vec::new();
        for &algorithm in &setting.algorithms {
            match setting.schedule(algorithm, request) {
                Ok(schedule) => {
                    let certificate = verify(&schedule, setting.chip());
                    let report = setting.run(&schedule)?;
                    let name = algorithm.name();
                    of_size.push(row(&setting, request, name, &report, &certificate));
                }
                Err(reason) => refused.push(format!("not run: {reason}\n")),
            }
        }
        of_size.sort_by(|a, b| a.makespan_cycles.total_cmp(&b.makespan_cycles));
        if setting.is_auto {
            of_size.truncate(1);
        }
        text.push_str(&heading(&setting, request));
        text.push_str(&table(&of_size));
        text.extend(refused);
        rows.extend(of_size);
    }
    if rows.is_empty() {
        return Err(CliError::input(format!(
            "nothing could be run\n{}",
            text.trim_end()
        )));
    }
    text.push_str(&footer(&setting));
    output::emit_either(&rows, || text, output)?;
    match rows.iter().find(|row| !(row.delivered && row.correct)) {
        Some(row) => Err(CliError::check(format!(
            "{} did not deliver",
            row.algorithm
        ))),
        None => Ok(()),
    }
}

fn row(
    setting: &Setting,
    request: &Request,
    algorithm: &'static str,
    report: &Report,
    certificate: &Certificate,
) -> RunRow {
    let chip = setting.chip();
    let bound_cycles = chip.bound_cycles(request);
    let bound_ps = chip.reference_clock().to_ps(bound_cycles);
    RunRow {
        collective: setting.collective.name(),
        algorithm,
        chip: chip.name.clone(),
        machine: report.machine,
        ranks: request.ranks,
        root: request.root.0,
        bytes: request.bytes,
        makespan_cycles: setting.cycles(report.makespan),
        makespan_ns: report.makespan.ns(),
        bound_cycles,
        bound_ns: bound_ps as f64 / 1e3,
        delivered: report.delivered(),
        correct: certificate.is_correct(),
        deadlock_free: certificate.is_deadlock_free(),
        contention_free: certificate.is_contention_free(),
        finish_ns: report.finish.iter().map(|finish| finish.ns()).collect(),
        causes: report
            .causes()
            .into_iter()
            .map(|(kind, time)| (kind, time.ns()))
            .collect(),
        events: report.events,
        fitted_parameters: chip.count(Provenance::Fitted),
        assumed_parameters: chip.count(Provenance::Assumed),
        certificate: summary(certificate),
    }
}

/// What was run, above a table.
pub fn heading(setting: &Setting, request: &Request) -> String {
    let (chip, collective) = (setting.chip(), setting.collective);
    let root = if collective.is_rooted() {
        format!(", root {}", request.root)
    } else {
        String::new()
    };
    let busy = setting.options.ongoing.iter().map(|ongoing| {
        let to = ongoing.dst.map_or(String::new(), |dst| format!(":{dst}"));
        format!(", ongoing {}{to}={} B", ongoing.src, ongoing.bytes)
    });
    let busy: String = busy.collect();
    let (ranks, bytes) = (request.ranks, request.bytes);
    format!(
        "{collective} of {bytes} B on {}, {ranks} ranks{root}{busy}\n",
        chip.name
    )
}

fn table(rows: &[RunRow]) -> String {
    let header = [
        "#",
        "algorithm",
        "cycles",
        "ns",
        "x bound",
        "delivered",
        "certificate",
    ];
    let cells = rows.iter().enumerate().map(|(index, row)| {
        let ratio = if row.bound_cycles == 0 {
            "-".to_owned()
        } else {
            format!("{:.2}", row.makespan_cycles / row.bound_cycles as f64)
        };
        vec![
            (index + 1).to_string(),
            row.algorithm.to_owned(),
            format!("{}", row.makespan_cycles),
            format!("{}", row.makespan_ns),
            ratio,
            if row.delivered { "yes" } else { "NO" }.to_owned(),
            row.certificate.clone(),
        ]
    });
    output::table(&header, 2..5, cells)
}

fn footer(setting: &Setting) -> String {
    let chip = setting.chip();
    let clock = chip.reference_clock();
    format!(
        "cycles of {} ps; {} fitted and {} assumed chip parameters (corecast show chip {})\n",
        clock.period_ps,
        chip.count(Provenance::Fitted),
        chip.count(Provenance::Assumed),
        chip.name
    )
}
