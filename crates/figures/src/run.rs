// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run: when every rank did what, and what the links of the mesh carried.

use corecast_core::Grid;
use corecast_machine::{LinkUse, Time};
use corecast_render::TimeAxis;
use corecast_study::{Run, Settings, Study, case_size};

use crate::shown::Shown;

/// What every rank did when.
#[must_use]
pub fn timeline(study: &Study, run: &Run, settings: &Settings) -> String {
    let mut title = title(study, run, settings);
    let shown = Shown::of(&run.report);
    title += &shown.left_out(&run.report);
    corecast_render::timeline_svg(&title, &shown.report, &shown.labels, &axis(study))
}

/// What every link carried; none where there is no mesh.
#[must_use]
pub fn run_heat_map(study: &Study, run: &Run, settings: &Settings) -> Option<String> {
    let mesh = study.machine.mesh()?;
    let what = what(study, run, settings);
    let times = (Time::from_ps(mesh.flit_ps()), run.report.makespan);
    Some(heat_map(&what, &mesh.grid, &run.report.links, times))
}

/// What else goes over the links that a picture of a run shows, for its title.
#[must_use]
pub fn beside(settings: &Settings) -> String {
    let Some(of) = &settings.collective else {
        return String::new();
    };
    let traffic = of.background.as_ref().map(|text| {
        let rate = text.split(':').next().unwrap_or_default();
        format!("background traffic of {rate} flits per core and cycle")
    });
    let ongoing = match of.ongoing.len() {
        0 => None,
        1 => Some("a transfer under way".to_owned()),
        more => Some(format!("{more} transfers under way")),
    };
    let all: Vec<String> = traffic.into_iter().chain(ongoing).collect();
    match all[..] {
        [] => String::new(),
        _ => format!(" beside {}", all.join(" and ")),
    }
}

/// What was run, for the title of its pictures.
fn what(study: &Study, run: &Run, settings: &Settings) -> String {
    format!(
        "{} by {}{}: {}",
        study.collective(),
        run.algorithm,
        beside(settings),
        case_size(run.request.bytes, run.request.ranks)
    )
}

fn title(study: &Study, run: &Run, settings: &Settings) -> String {
    let what = what(study, run, settings);
    let makespan = run.report.makespan;
    let place = study.machine.place();
    match study.cycles(makespan) {
        Some(cycles) => format!("{what}, {cycles} cycles on {place}"),
        None => format!("{what}, {} us on {place}", makespan.ns() / 1e3),
    }
}

/// Draws what every link of a mesh carried, on which a flit takes so long, in so much time.
///
/// The title names the busiest link and how much of the time it was in use.
#[must_use]
pub fn heat_map(
    what: &str,
    grid: &Grid,
    links: &[LinkUse],
    (flit, duration): (Time, Time),
) -> String {
    let busiest = links.iter().max_by_key(|link| link.flits);
    let title = busiest.map_or(format!("{what}: no link is used"), |link| {
        let ((x, y), (to_x, to_y)) = (link.from, link.to);
        let busy_ps = link.flits as f64 * flit.ps() as f64;
        let share = 100.0 * busy_ps / duration.ps().max(1) as f64;
        format!(
            "{what}: the busiest link ({x},{y})->({to_x},{to_y}) carries {} flits, \
             busy {share:.1} % of the time",
            link.flits
        )
    });
    corecast_render::heat_map_svg(&title, grid, links, "flits")
}

/// In cycles of the chip, or in microseconds where times are not told in cycles.
fn axis(study: &Study) -> TimeAxis {
    match study.machine.clock() {
        Some(clock) => TimeAxis {
            label: format!("cycles of {} ps", clock.period_ps),
            unit_ps: clock.period_ps,
        },
        None => TimeAxis {
            label: "microseconds".to_owned(),
            unit_ps: 1_000_000,
        },
    }
}
