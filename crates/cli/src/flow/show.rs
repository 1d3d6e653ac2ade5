//! What is said about runs of a flow: tables, and one JSON object per run.

use corecast_flow::{EdgeResult, FlowResult, Split, TaskResult};
use corecast_machine::Time;
use serde_json::{Value, json};

use super::case::{Case, Scene};
use crate::output::table;
use crate::style;

/// The unit of times: cycles of the chip's reference clock, or microseconds.
pub fn unit(scene: &Scene<'_>) -> &'static str {
    if scene.is_simulated { "cycles" } else { "us" }
}

/// A time in [`unit`]s.
pub fn in_units(scene: &Scene<'_>, ns: f64) -> f64 {
    match scene.is_simulated {
        true => ns * 1000.0 / scene.chip.reference_clock().period_ps as f64,
        false => ns / 1000.0,
    }
}

fn time(scene: &Scene<'_>, ns: f64) -> String {
    let value = in_units(scene, ns);
    if value == value.round() {
        format!("{value}")
    } else {
        format!("{value:.1}")
    }
}

fn optional(scene: &Scene<'_>, ns: Option<f64>) -> String {
    ns.map_or("-".to_owned(), |ns| time(scene, ns))
}

/// Where runs took place.
pub fn machine(scene: &Scene<'_>) -> String {
    match scene.is_simulated {
        true => format!("{} (sim)", scene.chip.name),
        false => "this computer (host)".to_owned(),
    }
}

/// How many flows and tasks, in words.
pub fn size(case: &Case) -> String {
    let count = |count: u32, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let program = &case.program;
    count(program.flows(), "flow") + ", " + &count(program.tasks(), "task")
}

/// All runs: one in full, several with a line each.
pub fn text(scene: &Scene<'_>, cases: &[Case]) -> String {
    match cases {
        [case] => whole(scene, case),
        cases => lines(scene, cases),
    }
}

fn lines(scene: &Scene<'_>, cases: &[Case]) -> String {
    let name = cases.first().map_or("", |case| case.program.graph().name());
    let mut text = style::heading(&format!("{name} on {}", machine(scene))) + "\n\n";
    let rows = cases.iter().map(|case| {
        let optimum = case.cost.and_then(|cost| cost.optimal);
        vec![
            case.program.flows().to_string(),
            case.program.tasks().to_string(),
            case.placement.unwrap_or("-").to_owned(),
            case.cost
                .map_or("-".to_owned(), |cost| cost.byte_hops.to_string()),
            optimum.map_or("-".to_owned(), |best| best.to_string()),
            time(scene, case.result.makespan.ns()),
            format!("{:.1}", case.result.iterations_per_second(&case.program)),
            optional(scene, case.result.latency.map(|latency| latency.mean_ns)),
            format!("{:.2}", case.speed_up()),
            if case.result.is_right() {
                style::good("yes")
            } else {
                style::bad("NO")
            },
        ]
    });
    let unit = unit(scene);
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

fn whole(scene: &Scene<'_>, case: &Case) -> String {
    let (program, result) = (&case.program, &case.result);
    let unit = unit(scene);
    let mut text = style::heading(&format!(
        "{} on {}: {}, {} iterations",
        program.graph().name(),
        machine(scene),
        size(case),
        program.iterations(),
    )) + "\n\n";
    let mut facts = vec![
        (
            "makespan",
            format!("{} {unit}", time(scene, result.makespan.ns())),
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
            [latency.mean_ns, latency.p99.ns(), latency.max.ns()].map(|ns| time(scene, ns));
        facts.push((
            "latency",
            format!("mean {mean}, p99 {p99}, max {max} {unit}"),
        ));
    }
    let one = time(scene, case.one_core.ns());
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
    for (what, are_equal) in compared(result) {
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
    text += &tasks(scene, case);
    text += "\n";
    text += &edges(scene, case);
    text
}

/// With what results were compared, and whether all flows are equal to it.
fn compared(result: &FlowResult) -> Vec<(&'static str, bool)> {
    let mut all: Vec<(&'static str, bool)> = Vec::new();
    for check in &result.checks {
        match all.iter_mut().find(|(what, _)| *what == check.what) {
            Some((_, are_equal)) => *are_equal &= check.is_equal,
            None => all.push((check.what, check.is_equal)),
        }
    }
    all
}

/// Parts of a task's time in percent of the makespan.
pub fn percent(result: &FlowResult, task: &TaskResult) -> Vec<f64> {
    let whole = result.makespan.ps().max(1) as f64;
    task.split
        .parts()
        .iter()
        .map(|part| 100.0 * part.ps() as f64 / whole)
        .collect()
}

fn tasks(scene: &Scene<'_>, case: &Case) -> String {
    let rows = case.result.tasks.iter().map(|task| {
        let at = task.core.map(|core| scene.tiles.sites.cores[core as usize]);
        let mut row = vec![
            task.name.clone(),
            at.map_or("-".to_owned(), |(x, y)| format!("{x},{y}")),
            task.firings.to_string(),
        ];
        row.extend(
            percent(&case.result, task)
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

fn edges(scene: &Scene<'_>, case: &Case) -> String {
    let displacements = case.displacements_ns.as_deref();
    let rows = case.result.edges.iter().enumerate().map(|(index, edge)| {
        let mut row = vec![
            edge.from.clone(),
            edge.to.clone(),
            edge.arrivals.len().to_string(),
            edge.bytes.to_string(),
            optional(scene, edge.interval_ns),
            optional(scene, edge.jitter_ns),
            optional(scene, edge.interval_max_ns),
        ];
        row.extend(displacements.map(|all| optional(scene, all[index])));
        row
    });
    let unit = unit(scene);
    let mut header = ["from", "to", "arrivals", "bytes"]
        .map(str::to_owned)
        .to_vec();
    header.extend(["interval", "jitter", "longest"].map(|name| format!("{name} ({unit})")));
    header.extend(displacements.map(|_| format!("displaced ({unit})")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&header, 2..8, rows.collect())
}

/// One run for programs.
pub fn object(scene: &Scene<'_>, case: &Case) -> Value {
    let (program, result) = (&case.program, &case.result);
    let cycles = |time: Time| {
        let period = scene.chip.reference_clock().period_ps as f64;
        scene.is_simulated.then_some(time.ps() as f64 / period)
    };
    let task = |task: &TaskResult| {
        let [computing, communicating, input, output, idle] = task.split.parts().map(Time::ns);
        json!({
            "task": task.name,
            "flow": task.flow,
            "core": task.core,
            "firings": task.firings,
            "finish_ns": task.finish.ns(),
            "computing_ns": computing,
            "communicating_ns": communicating,
            "stalled_input_ns": input,
            "stalled_output_ns": output,
            "idle_ns": idle,
            "input_words": task.input.map(|usage| usage.words),
            "input_words_mean": task.input.map(|usage| usage.mean_words),
            "input_words_max": task.input.map(|usage| usage.max_words),
            "output_words": task.output.map(|usage| usage.words),
            "output_words_mean": task.output.map(|usage| usage.mean_words),
            "output_words_max": task.output.map(|usage| usage.max_words),
        })
    };
    let edge = |(index, edge): (usize, &EdgeResult)| {
        json!({
            "flow": edge.flow,
            "from": edge.from,
            "to": edge.to,
            "arrivals": edge.arrivals.len(),
            "bytes": edge.bytes,
            "interval_mean_ns": edge.interval_ns,
            "interval_max_ns": edge.interval_max_ns,
            "jitter_ns": edge.jitter_ns,
            "displacement_ns": case.displacements_ns.as_ref().and_then(|all| all[index]),
        })
    };
    json!({
        "name": program.graph().name(),
        "flows": program.flows(),
        "tasks": program.tasks(),
        "iterations": program.iterations(),
        "placement": case.placement,
        "byte_hops": case.cost.map(|cost| cost.byte_hops),
        "byte_hops_optimal": case.cost.and_then(|cost| cost.optimal),
        "makespan_cycles": cycles(result.makespan),
        "makespan_ns": result.makespan.ns(),
        "iterations_per_s": result.iterations_per_second(program),
        "written_bytes": result.written_bytes,
        "latency_mean_ns": result.latency.map(|latency| latency.mean_ns),
        "latency_p99_ns": result.latency.map(|latency| latency.p99.ns()),
        "latency_max_ns": result.latency.map(|latency| latency.max.ns()),
        "one_core_ns": case.one_core.ns(),
        "speed_up": case.speed_up(),
        "right": result.is_right(),
        "checks": compared(result)
            .iter()
            .map(|(what, are_equal)| json!({ "compared_with": what, "equal": are_equal }))
            .collect::<Vec<_>>(),
        "injector_rate": scene.injectors.map(|injectors| injectors.rate),
        "events": case.events,
        "trace_hash": format!("{:016x}", case.trace_hash),
        "per_task": result.tasks.iter().map(task).collect::<Vec<_>>(),
        "per_edge": result.edges.iter().enumerate().map(edge).collect::<Vec<_>>(),
    })
}
