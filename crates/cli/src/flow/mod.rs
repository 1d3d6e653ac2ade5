// SPDX-License-Identifier: MIT OR Apache-2.0
//! `flow`: dataflow programs on a chip's tiles or on this computer's cores.

mod draw;
mod show;

use std::path::Path;

use corecast_flow::{FLOWS_MAX, TASKS_MAX};
use corecast_machine_sim::pronto::{Aim, Direction, Injectors};
use corecast_study::{FlowCase, FlowPlan, FlowStudy};
use corecast_text::file;
use corecast_text::size;
use serde_json::Value;

use crate::args::{Flow, LimitArgs};
use crate::failure::Failure;
use crate::output::Answer;
use crate::progress::Bar;
use crate::{input, scene};

/// Most bytes of a flow file that are read.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of an input file.
const INPUT_BYTES_MAX: u64 = 64 << 20;

impl Flow {
    /// What is to be run.
    fn plan(&self) -> Result<FlowPlan, Failure> {
        let chip = scene::noted_chip(&self.chip, &self.set, None)?;
        corecast_study::Tiles::of(&chip.chip).map_err(corecast_study::StudyError::from)?;
        let text = input::text_file(&self.file, FILE_BYTES_MAX).map_err(|why| {
            let message = format!("{}: cannot be read: {why}", self.file);
            Failure::input(message)
                .help("give the path of a flow file, such as examples/jpeg-3.toml")
        })?;
        let limits = LimitArgs {
            events: self.limit_events,
            ns: self.limit_ns,
        };
        Ok(FlowPlan {
            machine: self.machine,
            stages: list("--stages", self.stages.as_deref(), TASKS_MAX as u64)?,
            flows: list("--flows", self.flows.as_deref(), u64::from(FLOWS_MAX))?,
            placements: self.placement.clone(),
            acknowledges: self.flow_control,
            injectors: self.injectors()?,
            seed: self.seed,
            limits: limits.on(self.machine)?,
            ..FlowPlan::new(chip, &text, &self.file)
        })
    }

    /// `--injectors RATE[:DIRECTION]`.
    fn injectors(&self) -> Result<Option<Injectors>, Failure> {
        let Some(text) = &self.injectors else {
            return Ok(None);
        };
        let (rate, direction) = text.split_once(':').unwrap_or((text, "north-south"));
        let direction = match direction {
            "north-south" => Some(Direction::NorthToSouth),
            "west-east" => Some(Direction::WestToEast),
            _ => None,
        };
        let rate = rate.parse::<f64>().ok();
        let rate = rate.filter(|rate| (0.0..=1.0).contains(rate));
        let (Some(rate), Some(direction)) = (rate, direction) else {
            return Err(
                Failure::input(format!("--injectors: `{text}` is not understood")).help(
                    "write a share of time from 0 to 1 and a direction: 0.1, 0.1:north-south or \
                     0.1:west-east",
                ),
            );
        };
        Ok(Some(Injectors {
            rate,
            direction,
            aim: Aim::Opposite,
            seed: self.seed,
            ..Injectors::default()
        }))
    }
}

/// The verb.
pub fn answer(options: &Flow) -> Result<Answer, Failure> {
    let study = FlowStudy::new(options.plan()?)?;
    draw::check(options, &study)?;
    let input = study.input_file();
    let input = input.map(|name| input_file(&options.file, name));
    let programs = study.programs(input.transpose()?.as_deref())?;
    for programs in &programs {
        draw::check_picture(options, &programs.flow)?;
    }
    let progress = Bar::new(study.case_count(), "flow");
    let cases = study.run(&programs, &progress)?;
    progress.clear();
    let mut text = show::text(&study, &cases);
    text += &draw::draw(options, &study, &cases)?;
    let objects = cases.iter();
    let objects: Value = objects
        .map(|case| study.settings.on(study.record(case)))
        .collect();
    Ok(Answer {
        failed: cases.iter().flat_map(failures).collect(),
        ..Answer::new(text, objects)
    })
}

/// Checks that do not hold.
fn failures(case: &FlowCase) -> impl Iterator<Item = Failure> {
    let name = case.program.graph().name();
    let wrong = case.result.checks.iter().filter(|check| !check.is_equal);
    wrong.map(move |check| {
        let flow = check.flow + 1;
        Failure::check(format!("{name}, flow {flow}: not what {} has", check.what))
            .help("this is a mistake in corecast; please report it")
    })
}

/// The input file of a flow file, next to which it lies.
fn input_file(flow: &str, name: &str) -> Result<Vec<u8>, Failure> {
    let path = Path::new(flow).parent().unwrap_or(Path::new("")).join(name);
    let refuse = |why: String| {
        let message = format!(
            "{}: the input file of {flow} cannot be read: {why}",
            path.display()
        );
        Failure::input(message).help("`file` in [input] is relative to the flow file")
    };
    let path = path.to_string_lossy();
    file::read(&path, INPUT_BYTES_MAX).map_err(|error| refuse(error.to_string()))
}

/// Numbers from 1 to `most`.
fn list(option: &str, text: Option<&str>, most: u64) -> Result<Option<Vec<u32>>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let numbers = size::list(option, text)?;
    match numbers.iter().find(|number| !(1..=most).contains(*number)) {
        Some(number) => Err(
            Failure::input(format!("{option}: {number} is out of range"))
                .help(format!("accepted: 1 to {most}, such as 1,2,4 or 1..8:+1")),
        ),
        None => Ok(Some(
            numbers.into_iter().map(|number| number as u32).collect(),
        )),
    }
}
