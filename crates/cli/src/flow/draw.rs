// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that `flow` writes: stacked bars, tasks on the mesh, a CSV, the decoded picture.

use std::fmt::Write as _;

use corecast_flow::FlowProgram;
use corecast_kernels::picture::Picture;

use corecast_study::{FlowCase, FlowStudy};

use crate::args::Flow;
use crate::csv::Csv;
use crate::failure::Failure;
use crate::{output, picture};

/// Refuses, before anything runs, what cannot be drawn.
pub fn check(options: &Flow, study: &FlowStudy) -> Result<(), Failure> {
    let cases = study.case_count();
    if options.layout.is_some() && study.machine.mesh().is_none() {
        return Err(Failure::input("--layout: this computer has no mesh").help("use --machine sim"));
    }
    let one = options.layout.is_some() || options.picture.is_some();
    match one && cases > 1 {
        true => Err(
            Failure::input("--layout and --picture show one run, several were asked for")
                .help("name one number of flows and of stages, and one placement"),
        ),
        false => Ok(()),
    }
}

/// Refuses to write the picture of a flow that decodes none.
pub fn check_picture(options: &Flow, program: &FlowProgram) -> Result<(), Failure> {
    match options.picture.is_some() && program.setup().picture().is_none() {
        true => Err(Failure::input(format!(
            "--picture: {} decodes no picture",
            program.graph().name()
        ))
        .help("leave it out, or use a flow with a task of kernel jpeg-colour")),
        false => Ok(()),
    }
}

/// Writes what was asked for; returns a line for each file.
pub fn draw(options: &Flow, study: &FlowStudy, cases: &[FlowCase]) -> Result<String, Failure> {
    let mut text = String::new();
    if let Some(path) = &options.plot {
        text += &picture::write_figure(
            path,
            &corecast_figures::flow_bars(study, cases),
            &study.settings,
        )?;
    }
    if let (Some(path), Some(case)) = (&options.layout, cases.first()) {
        text += &picture::write_figure(
            path,
            &corecast_figures::flow_layout(study, case),
            &study.settings,
        )?;
    }
    if let Some(path) = &options.csv {
        text += &picture::write(path, &csv(study, cases))?;
    }
    if let (Some(path), Some(case)) = (&options.picture, cases.first()) {
        let decoded = decoded(case).expect("checked before the run");
        output::write_bytes(path.as_ref(), &decoded.to_ppm())?;
        writeln!(text, "wrote {path}").expect("a string grows");
    }
    Ok(text)
}

/// The picture that the first flow has left in the memory buffer.
fn decoded(case: &FlowCase) -> Option<Picture> {
    let expected = case.program.setup().picture()?;
    let (width, height) = (expected.width, expected.height);
    let edges = case.program.graph().edges();
    let into = edges
        .iter()
        .rposition(|edge| edge.to == corecast_flow::End::Memory)?;
    let mut rgb = case
        .memory
        .get(case.program.range(0, into).start..)?
        .to_vec();
    rgb.resize(expected.rgb.len(), 0);
    Some(Picture { width, height, rgb })
}

/// One line per task of every run.
fn csv(study: &FlowStudy, cases: &[FlowCase]) -> String {
    let mut csv = Csv::new(&[
        "name",
        "machine",
        "stages",
        "flows",
        "tasks",
        "placement",
        "makespan_ns",
        "iterations_per_s",
        "speed_up",
        "task",
        "core",
        "firings",
        "computing_ns",
        "communicating_ns",
        "stalled_input_ns",
        "stalled_output_ns",
        "idle_ns",
    ]);
    let machine = study.machine.kind().name();
    for case in cases {
        for task in &case.result.tasks {
            let [computing, communicating, input, output, idle] = task.split.parts();
            csv.line(&[
                &case.program.graph().name(),
                &machine,
                &case
                    .stages
                    .map_or(String::new(), |stages| stages.to_string()),
                &case.program.flows(),
                &case.program.tasks(),
                &case.placement.unwrap_or_default(),
                &case.result.makespan.ns(),
                &case.result.iterations_per_second(&case.program),
                &case.speed_up(),
                &task.name,
                &task.core.map_or(String::new(), |core| core.to_string()),
                &task.firings,
                &computing.ns(),
                &communicating.ns(),
                &input.ns(),
                &output.ns(),
                &idle.ns(),
            ]);
        }
    }
    csv.with(&study.settings)
}
