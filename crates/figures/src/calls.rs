// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program on a chip: when every rank did what, however long it ran.

use corecast_render::{Stretch, TimeAxis};
use corecast_study::{CallRun, StudyMachine, counted};
use serde_json::Value;

use crate::shown::Shown;

/// What every rank did when; `what` ran on the machine, which is a simulated one.
///
/// # Panics
/// If the machine is none in virtual time.
#[must_use]
pub fn calls_timeline(what: &str, machine: &dyn StudyMachine, run: &CallRun) -> String {
    let shown = Shown::of(&run.report);
    let clock = machine.clock().expect("a chip has a clock");
    let cycles = run.cycles(clock);
    let (ranks, place) = (counted(run.logs.len() as u64, "rank"), machine.place());
    let mut title = format!("{what} over {ranks}, {cycles} cycles on {place}");
    title += &shown.left_out(&run.report);
    let axis = TimeAxis {
        label: format!("cycles of {} ps", clock.period_ps),
        unit_ps: clock.period_ps,
    };
    corecast_render::timeline_svg(&title, &shown.report, &shown.labels, &axis)
}

/// The run as Chrome trace JSON, with the ranks' calls.
#[must_use]
pub fn calls_trace(run: &CallRun, settings: &Value) -> String {
    let calls = (0..).zip(&run.logs).flat_map(|(rank, log)| {
        log.spans.iter().map(move |span| Stretch {
            rank,
            name: run.call_name(span.call).unwrap_or_default(),
            start: span.start,
            end: span.end,
        })
    });
    corecast_render::chrome_trace(&run.report, &calls.collect::<Vec<_>>(), settings)
}
