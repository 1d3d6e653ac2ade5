// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures of one run: a timeline, a trace.

use std::path::Path;

use corecast_core::Help;
use corecast_render::Form;
use corecast_study::{Run, Settings, Study};

use crate::args::Pictures;
use crate::failure::Failure;
use crate::output::{write_bytes, write_file};
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
            let picture = corecast_figures::timeline(study, run, settings);
            text += &write_figure(path, &picture, settings)?;
        }
        if let Some(path) = &self.heat_map
            && let Some(picture) = corecast_figures::run_heat_map(study, run, settings)
        {
            text += &write_figure(path, &picture, settings)?;
        }
        if let Some(path) = &self.trace {
            let trace = corecast_render::chrome_trace(&run.report, &[], &settings.json());
            text += &write(path, &trace)?;
        }
        Ok(text)
    }
}

/// Writes a picture with its settings at its foot, as SVG, PDF or PNG as its name says; returns the line
/// that says so.
pub fn write_figure(
    path: impl AsRef<Path>,
    picture: &str,
    settings: &Settings,
) -> Result<String, Failure> {
    let path = path.as_ref();
    write_form(path, form(path)?, picture, &settings.line(remedy::option))
}

/// Writes a picture in a form, with a line at its foot; returns the line that says so.
pub fn write_form(path: &Path, form: Form, picture: &str, foot: &str) -> Result<String, Failure> {
    let file = form.file(&corecast_render::with_footer(picture, foot));
    write_bytes(path, &file.map_err(|error| Failure::library(&error))?)?;
    Ok(wrote(path))
}

/// As what a picture is to be written.
fn form(path: &Path) -> Result<Form, Failure> {
    let form = Form::of_name(&path.to_string_lossy());
    form.map_err(|error| Failure::library(&error))
}

/// Refuses, before anything runs, a picture in a form that there is not; `option` names the file.
pub fn check_form(option: &str, path: &str) -> Result<(), Failure> {
    let form = Form::of_name(path);
    form.map(drop)
        .map_err(|error| Failure::input(format!("{option}: {error}")).help(Help::help(&error)))
}

/// Writes one file; returns the line that says so.
pub fn write(path: impl AsRef<Path>, text: &str) -> Result<String, Failure> {
    write_file(path.as_ref(), text)?;
    Ok(wrote(path.as_ref()))
}

fn wrote(path: &Path) -> String {
    format!("wrote {}\n", path.display())
}
