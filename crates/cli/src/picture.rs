//! Pictures of one run: a timeline, a trace.

use std::path::Path;

use corecast_core::Grid;
use corecast_machine::LinkUse;
use corecast_render::TimeAxis;
use corecast_study::{Run, Settings, Study};

use crate::args::Pictures;
use crate::failure::Failure;
use crate::output::write_file;
use crate::remedy;

impl Pictures {
    /// Refuses, before anything runs, to draw several runs into one file.
    pub fn check(&self, study: &Study) -> Result<(), Failure> {
        let is_one = study.plan.sizes.len() == 1 && (study.is_auto() || study.contestants() == 1);
        if self.heat_map.is_some() && study.machine.mesh().is_none() {
            let kind = study.machine.kind().name();
            let what = match study.machine.identity() {
                Some(chip) => chip.name,
                None => format!("the {kind}"),
            };
            return Err(Failure::input(format!("--heat-map: {what} has no mesh"))
                .help("use a chip with a mesh, such as --chip tilepro64"));
        }
        let is_unused = self.svg.is_none() && self.trace.is_none() && self.heat_map.is_none();
        if is_one || is_unused {
            return Ok(());
        }
        Err(
            Failure::input("--svg, --trace and --heat-map draw one run, several were asked for")
                .help("name one algorithm, or `--algorithm auto` for the fastest, and one size"),
        )
    }

    /// Writes what was asked for; returns one line for each file.
    pub fn draw(&self, study: &Study, run: &Run, settings: &Settings) -> Result<String, Failure> {
        let mut text = String::new();
        if let Some(path) = &self.svg {
            let picture = corecast_render::timeline_svg(
                &title(study, run, settings),
                &run.report,
                &axis(study),
            );
            text += &write_svg(path, &picture, settings)?;
        }
        if let (Some(path), Some(mesh)) = (&self.heat_map, study.machine.mesh()) {
            let beside = beside(settings);
            let what = format!("{} by {}{beside}", study.collective(), run.algorithm);
            let cycles = study.cycles(run.report.makespan).unwrap_or_default();
            let picture = heat_map(&what, &mesh.grid, &run.report.links, cycles);
            text += &write_svg(path, &picture, settings)?;
        }
        if let Some(path) = &self.trace {
            let trace = corecast_render::chrome_trace(&run.report, &settings.json());
            text += &write(path, &trace)?;
        }
        Ok(text)
    }
}

/// What else goes over the links that a picture of a run shows, for its title.
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

/// Writes a picture with its settings at its foot; returns the line that says so.
pub fn write_svg(
    path: impl AsRef<Path>,
    picture: &str,
    settings: &Settings,
) -> Result<String, Failure> {
    write(
        path,
        &corecast_render::with_footer(picture, &settings.line(remedy::option)),
    )
}

/// Writes one file; returns the line that says so.
pub fn write(path: impl AsRef<Path>, picture: &str) -> Result<String, Failure> {
    let path = path.as_ref();
    write_file(path, picture)?;
    Ok(format!("wrote {}\n", path.display()))
}

fn title(study: &Study, run: &Run, settings: &Settings) -> String {
    let (request, makespan) = (&run.request, run.report.makespan);
    let what = format!(
        "{} by {}{}: {} bytes, {} ranks",
        study.collective(),
        run.algorithm,
        beside(settings),
        request.bytes,
        request.ranks
    );
    let place = study.machine.place();
    match study.cycles(makespan) {
        Some(cycles) => format!("{what}, {cycles} cycles on {place}"),
        None => format!("{what}, {} us on {place}", makespan.ns() / 1e3),
    }
}

/// Draws what every link of a mesh carried in `cycles` cycles.
///
/// The title names the busiest link and how much of the time it was in use.
pub fn heat_map(what: &str, grid: &Grid, links: &[LinkUse], cycles: f64) -> String {
    let busiest = links.iter().max_by_key(|link| link.flits);
    let title = busiest.map_or(format!("{what}: no link is used"), |link| {
        let ((x, y), (to_x, to_y)) = (link.from, link.to);
        let share = 100.0 * link.flits as f64 / cycles.max(1.0);
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
