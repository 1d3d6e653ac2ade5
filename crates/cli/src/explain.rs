//! `corecast explain`: where the time went.

use std::collections::BTreeMap;
use std::fmt::Write;

use corecast_core::Request;
use corecast_machine::{Cause, PathSegment, Report, critical_path};
use serde::Serialize;

use crate::args::{CollectiveArgs, OutputArgs};
use crate::error::CliError;
use crate::output;
use crate::run::heading;
use crate::setting::Setting;

/// One explanation, as `--json` prints it. Times are cycles of the chip's reference clock.
#[derive(Serialize)]
struct Explanation {
    collective: &'static str,
    algorithm: &'static str,
    chip: String,
    ranks: u32,
    bytes: u64,
    makespan_cycles: f64,
    bound_cycles: u64,
    gap_cycles: f64,
    /// Cycles per cause, one entry per rank; each sums to the makespan.
    causes_cycles: Vec<BTreeMap<&'static str, f64>>,
    critical_path: Vec<Segment>,
}

#[derive(Serialize)]
struct Segment {
    rank: u32,
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<u32>,
    start_cycles: f64,
    end_cycles: f64,
}

/// Explains every size and algorithm asked for; by default the fastest algorithm.
pub fn explain(args: &CollectiveArgs, output: &OutputArgs) -> Result<(), CliError> {
    let setting = Setting::new(args, "auto")?;
    let (mut all, mut text) = (Vec::new(), String::new());
    for request in &setting.requests {
        let mut runs: Vec<(&'static str, Report)> = Vec::new();
        for &algorithm in &setting.algorithms {
            match setting.schedule(algorithm, request) {
                Ok(schedule) => runs.push((algorithm.name(), setting.run(&schedule)?)),
                Err(reason) if !setting.is_auto => {
                    return Err(CliError::input(reason.to_string()));
                }
                Err(_) => {}
            }
        }
        runs.sort_by_key(|(_, report)| report.makespan);
        if setting.is_auto {
            runs.truncate(1);
        }
        for (algorithm, report) in &runs {
            let explanation = Explanation::new(&setting, request, algorithm, report);
            let _ = writeln!(
                text,
                "{algorithm}: {}",
                heading(&setting, request).trim_end()
            );
            text.push_str(&explanation.text());
            all.push(explanation);
        }
    }
    output::emit_either(&all, || text, output)
}

impl Explanation {
    fn new(setting: &Setting, request: &Request, algorithm: &'static str, report: &Report) -> Self {
        let makespan_cycles = setting.cycles(report.makespan);
        let bound_cycles = setting.chip().bound_cycles(request);
        let of_rank = |activity: &corecast_machine::Activity| {
            let of = |kind| setting.cycles(activity.total(|cause| cause.kind() == kind));
            Cause::KINDS
                .into_iter()
                .map(|kind| (kind, of(kind)))
                .collect()
        };
        let segment = |segment: PathSegment| Segment {
            rank: segment.rank.0,
            cause: segment.cause.kind(),
            peer: segment.cause.peer().map(|peer| peer.0),
            start_cycles: setting.cycles(segment.start),
            end_cycles: setting.cycles(segment.end),
        };
        Self {
            collective: setting.collective.name(),
            algorithm,
            chip: setting.chip().name.clone(),
            ranks: request.ranks,
            bytes: request.bytes,
            makespan_cycles,
            bound_cycles,
            gap_cycles: makespan_cycles - bound_cycles as f64,
            causes_cycles: report.activity.iter().map(of_rank).collect(),
            critical_path: critical_path(report).into_iter().map(segment).collect(),
        }
    }

    fn text(&self) -> String {
        let mut header = vec!["rank"];
        header.extend(Cause::KINDS);
        header.push("sum");
        let rows = self.causes_cycles.iter().enumerate().map(|(rank, causes)| {
            let mut row = vec![rank.to_string()];
            row.extend(Cause::KINDS.iter().map(|kind| causes[kind].to_string()));
            row.push(causes.values().sum::<f64>().to_string());
            row
        });
        let mut text = output::table(&header, 1..header.len(), rows);
        text.push_str("critical path (cycles)\n");
        let path = self.critical_path.iter().map(|segment| {
            let peer = segment
                .peer
                .map_or(String::new(), |peer| format!(" {peer}"));
            vec![
                segment.start_cycles.to_string(),
                segment.end_cycles.to_string(),
                format!("rank {}", segment.rank),
                format!("{}{peer}", segment.cause),
            ]
        });
        text.push_str(&output::table(
            &["from", "to", "where", "cause"],
            0..2,
            path,
        ));
        let (makespan, bound) = (self.makespan_cycles, self.bound_cycles);
        let gap = self.gap_cycles;
        let _ = writeln!(
            text,
            "makespan {makespan}, lower bound {bound}, gap {gap} cycles\n"
        );
        text
    }
}
