//! Pictures of one run: a timeline, a trace.

use std::path::Path;

use corecast_render::TimeAxis;

use crate::args::Pictures;
use crate::failure::Failure;
use crate::output::write_file;
use crate::run::{self, Run};
use crate::scene::Stage;

impl Pictures {
    /// Refuses, before anything runs, to draw several runs into one file.
    pub fn check(&self, stage: &Stage<'_>) -> Result<(), Failure> {
        let is_one = stage.sizes.len() == 1 && (stage.is_auto || stage.algorithms.len() == 1);
        if is_one || (self.svg.is_none() && self.trace.is_none()) {
            return Ok(());
        }
        Err(
            Failure::input("--svg and --trace draw one run, several were asked for")
                .help("name one algorithm, or `--algorithm auto` for the fastest, and one size"),
        )
    }

    /// Writes what was asked for; returns one line for each file.
    pub fn draw(&self, stage: &Stage<'_>, run: &Run) -> Result<String, Failure> {
        let mut text = String::new();
        if let Some(path) = &self.svg {
            let picture =
                corecast_render::timeline_svg(&title(stage, run), &run.report, &axis(stage));
            text += &write(path, &picture)?;
        }
        if let Some(path) = &self.trace {
            text += &write(path, &corecast_render::chrome_trace(&run.report))?;
        }
        Ok(text)
    }
}

/// Writes one picture; returns the line that says so.
pub fn write(path: impl AsRef<Path>, picture: &str) -> Result<String, Failure> {
    let path = path.as_ref();
    write_file(path, picture)?;
    Ok(format!("wrote {}\n", path.display()))
}

fn title(stage: &Stage<'_>, run: &Run) -> String {
    let (request, makespan) = (&run.request, run.report.makespan);
    let what = format!(
        "{} by {}: {} bytes, {} ranks",
        stage.collective, run.algorithm, request.bytes, request.ranks
    );
    if stage.is_simulated() {
        let cycles = run::cycles(stage, makespan);
        format!("{what}, {cycles} cycles on {}", stage.chip.name)
    } else {
        format!("{what}, {} us on this computer", makespan.ns() / 1e3)
    }
}

/// Cycles mean nothing on this computer.
fn axis(stage: &Stage<'_>) -> TimeAxis {
    if stage.is_simulated() {
        let cycle_ps = stage.chip.reference_clock().period_ps;
        TimeAxis {
            label: format!("cycles of {cycle_ps} ps"),
            unit_ps: cycle_ps,
        }
    } else {
        TimeAxis {
            label: "microseconds".to_owned(),
            unit_ps: 1_000_000,
        }
    }
}
