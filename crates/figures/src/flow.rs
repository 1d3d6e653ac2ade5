// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs: where the time of every task went, and where tasks are.

use std::fmt::Write as _;

use corecast_flow::{FlowResult, Split, TaskResult};
use corecast_render::{Arrow, Bar, Layout, Placed, StackedBars};
use corecast_study::{FlowCase, FlowStudy, counted};

/// The picture of Kumar 2012, Figure 5: where the time of every task went.
#[must_use]
pub fn flow_bars(study: &FlowStudy, cases: &[FlowCase]) -> String {
    let name = cases.first().map_or("", |case| case.program.graph().name());
    let bar = |case: &FlowCase, task: &corecast_flow::TaskResult| {
        let mut group = flow_size(case);
        if let Some(word) = case.placement {
            write!(group, ", {word}").expect("a string grows");
        }
        Bar {
            label: task.name.clone(),
            group,
            percent: percent_of_time(&case.result, task),
        }
    };
    let bars = cases
        .iter()
        .flat_map(|case| case.result.tasks.iter().map(move |task| (case, task)));
    let bars = StackedBars {
        title: match cases {
            [case] => format!(
                "{name} on {}: {:.2} times as fast as one core",
                flow_place(study),
                case.speed_up()
            ),
            _ => format!(
                "{name} on {}: where the time of every task went",
                flow_place(study)
            ),
        },
        y_label: "share of the makespan (%)".to_owned(),
        parts: Split::PARTS.map(str::to_owned).to_vec(),
        bars: bars.map(|(case, task)| bar(case, task)).collect(),
    };
    bars.svg()
}

/// Tasks on the mesh, edges coloured by load. For machines that place tasks.
#[must_use]
pub fn flow_layout(study: &FlowStudy, case: &FlowCase) -> String {
    let tiles = &study.tiles;
    let at = |core: Option<u32>| core.map(|core| tiles.sites.cores[core as usize]);
    let mut boxes: Vec<Placed> = Vec::new();
    for task in &case.result.tasks {
        boxes.extend(at(task.core).map(|at| Placed {
            label: task.name.clone(),
            at,
            group: Some(task.flow),
        }));
    }
    for (label, at) in [("memory", tiles.sites.memory), ("host", tiles.host)] {
        boxes.push(Placed {
            label: label.to_owned(),
            at,
            group: None,
        });
    }
    let end = |task: Option<corecast_core::Rank>| match task {
        Some(rank) => at(case.result.tasks[rank.index()].core),
        None => Some(tiles.sites.memory),
    };
    let kilo_cycles = cycles_or_us(study, case.result.makespan.ns()) / 1000.0;
    let arrow = |edge: &corecast_flow::EdgeResult| {
        Some(Arrow {
            from: end(edge.from_task)?,
            to: end(edge.to_task)?,
            load: edge.bytes as f64 / kilo_cycles.max(f64::MIN_POSITIVE),
        })
    };
    let cost = case.cost.map_or(String::new(), |cost| {
        format!(", {} byte-hops", cost.byte_hops)
    });
    let layout = Layout {
        title: format!(
            "{} on {}, placed {}{cost}",
            case.program.graph().name(),
            study.plan.chip.chip.name,
            case.placement.unwrap_or("-")
        ),
        size: (tiles.grid.width, tiles.grid.height),
        boxes,
        arrows: case.result.edges.iter().filter_map(arrow).collect(),
        unit: "bytes per 1000 cycles".to_owned(),
    };
    layout.svg()
}

/// A time in cycles of the chip's reference clock, or in microseconds where times are not told in
/// cycles.
#[must_use]
pub fn cycles_or_us(study: &FlowStudy, ns: f64) -> f64 {
    match study.machine.clock() {
        Some(clock) => ns * 1000.0 / clock.period_ps as f64,
        None => ns / 1000.0,
    }
}

/// Where runs took place.
#[must_use]
pub fn flow_place(study: &FlowStudy) -> String {
    let machine = &study.machine;
    format!("{} ({})", machine.place(), machine.kind().name())
}

/// How many flows and tasks, in words.
#[must_use]
pub fn flow_size(case: &FlowCase) -> String {
    let program = &case.program;
    counted(program.flows(), "flow") + ", " + &counted(program.tasks(), "task")
}

/// Parts of a task's time in percent of the makespan.
#[must_use]
pub fn percent_of_time(result: &FlowResult, task: &TaskResult) -> Vec<f64> {
    let whole = result.makespan.ps().max(1) as f64;
    task.split
        .parts()
        .iter()
        .map(|part| 100.0 * part.ps() as f64 / whole)
        .collect()
}
