// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said about runs of a flow, as tables.

use corecast_figures::{cycles_or_us, flow_place, flow_size, percent_of_time};
use corecast_flow::Split;
use corecast_study::{FlowCase, FlowStudy};

use crate::output::table;
use crate::style;

/// The unit of times: cycles of the chip's reference clock, or microseconds.
pub fn unit(study: &FlowStudy) -> &'static str {
    study.machine.clock().map_or("us", |_| "cycles")
}

fn time(study: &FlowStudy, ns: f64) -> String {
    let value = cycles_or_us(study, ns);
    if value == value.round() {
        format!("{value}")
    } else {
        format!("{value:.1}")
    }
}

fn optional(study: &FlowStudy, ns: Option<f64>) -> String {
    ns.map_or("-".to_owned(), |ns| time(study, ns))
}

/// All runs: one in full, several with a line each.
pub fn text(study: &FlowStudy, cases: &[FlowCase]) -> String {
    match cases {
        [case] => whole(study, case),
        cases => lines(study, cases),
    }
}

fn lines(study: &FlowStudy, cases: &[FlowCase]) -> String {
    let name = cases.first().map_or("", |case| case.program.graph().name());
    let mut text = style::heading(&format!("{name} on {}", flow_place(study))) + "\n\n";
    let rows = cases.iter().map(|case| {
        let optimum = case.cost.and_then(|cost| cost.optimal);
        vec![
            case.program.flows().to_string(),
            case.program.tasks().to_string(),
            case.placement.unwrap_or("-").to_owned(),
            case.cost
                .map_or("-".to_owned(), |cost| cost.byte_hops.to_string()),
            optimum.map_or("-".to_owned(), |best| best.to_string()),
            time(study, case.result.makespan.ns()),
            format!("{:.1}", case.result.iterations_per_second(&case.program)),
            optional(study, case.result.latency.map(|latency| latency.mean_ns)),
            format!("{:.2}", case.speed_up()),
            if case.result.is_right() {
                style::good("yes")
            } else {
                style::bad("NO")
            },
        ]
    });
    let unit = unit(study);
    let header = [
        "flows",
        "tasks",
        "placement",
        "byte-hops",
        "optimum",
        unit,
        "iterations/s",
        &format!("latency ({unit})"),
        "speed-up",
        "right",
    ];
    text += &table(&header, 0..9, rows.collect());
    text
}

fn whole(study: &FlowStudy, case: &FlowCase) -> String {
    let (program, result) = (&case.program, &case.result);
    let unit = unit(study);
    let mut text = style::heading(&format!(
        "{} on {}: {}, {} iterations",
        program.graph().name(),
        flow_place(study),
        flow_size(case),
        program.iterations(),
    )) + "\n\n";
    let mut facts = vec![
        (
            "makespan",
            format!("{} {unit}", time(study, result.makespan.ns())),
        ),
        (
            "throughput",
            format!(
                "{:.1} iterations/s, {:.3} MB/s written",
                result.iterations_per_second(program),
                result.written_bytes as f64 * 1e3 / result.makespan.ns().max(1.0),
            ),
        ),
    ];
    if let Some(latency) = &result.latency {
        let [mean, p99, max] =
            [latency.mean_ns, latency.p99.ns(), latency.max.ns()].map(|ns| time(study, ns));
        facts.push((
            "latency",
            format!("mean {mean}, p99 {p99}, max {max} {unit}"),
        ));
    }
    let one = time(study, case.one_core.ns());
    facts.push((
        "one core",
        format!("{one} {unit}: speed-up {:.2}", case.speed_up()),
    ));
    if let (Some(word), Some(cost)) = (case.placement, case.cost) {
        let optimum = match cost.optimal {
            Some(best) => {
                let ratio = cost.byte_hops as f64 / best.max(1) as f64;
                format!("the optimum of all placements is {best}, ratio {ratio:.3}")
            }
            None => "too many placements to try them all".to_owned(),
        };
        facts.push((
            "placement",
            format!(
                "{word}: {} byte-hops an iteration; {optimum}",
                cost.byte_hops
            ),
        ));
    }
    for (what, are_equal) in case.compared() {
        let verdict = if are_equal {
            style::good("equal")
        } else {
            style::bad("DIFFERENT")
        };
        facts.push(("results", format!("{verdict} to {what}")));
    }
    let facts = facts
        .into_iter()
        .map(|(name, fact)| vec![style::dim(name), fact])
        .collect::<Vec<_>>();
    text += table(&[], 0..0, facts).trim_start_matches('\n');
    text += "\n";
    text += &tasks(study, case);
    text += "\n";
    text += &edges(study, case);
    text
}

fn tasks(study: &FlowStudy, case: &FlowCase) -> String {
    let rows = case.result.tasks.iter().map(|task| {
        let at = task.core.map(|core| study.tiles.sites.cores[core as usize]);
        let mut row = vec![
            task.name.clone(),
            at.map_or("-".to_owned(), |(x, y)| format!("{x},{y}")),
            task.firings.to_string(),
        ];
        row.extend(
            percent_of_time(&case.result, task)
                .iter()
                .map(|part| format!("{part:.1}")),
        );
        for usage in [task.input, task.output] {
            row.push(usage.map_or("-".to_owned(), |usage| {
                format!(
                    "{:.1} / {} / {}",
                    usage.mean_words, usage.max_words, usage.words
                )
            }));
        }
        row
    });
    let mut header = vec!["task", "at", "firings"];
    let parts = Split::PARTS.map(|part| format!("{part} %"));
    header.extend(parts.iter().map(String::as_str));
    header.extend(["input buffer (words)", "output buffer (words)"]);
    let text = table(&header, 2..8, rows.collect());
    text + &style::dim("buffers: mean / most / size") + "\n"
}

fn edges(study: &FlowStudy, case: &FlowCase) -> String {
    let displacements = case.displacements_ns.as_deref();
    let rows = case.result.edges.iter().enumerate().map(|(index, edge)| {
        let mut row = vec![
            edge.from.clone(),
            edge.to.clone(),
            edge.arrivals.len().to_string(),
            edge.bytes.to_string(),
            optional(study, edge.interval_ns),
            optional(study, edge.jitter_ns),
            optional(study, edge.interval_max_ns),
        ];
        row.extend(displacements.map(|all| optional(study, all[index])));
        row
    });
    let unit = unit(study);
    let mut header = ["from", "to", "arrivals", "bytes"]
        .map(str::to_owned)
        .to_vec();
    header.extend(["interval", "jitter", "longest"].map(|name| format!("{name} ({unit})")));
    header.extend(displacements.map(|_| format!("displaced ({unit})")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&header, 2..8, rows.collect())
}
