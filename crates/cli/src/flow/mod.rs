//! `flow`: dataflow programs on a chip's tiles or on this computer's cores.

mod case;
mod draw;
mod show;

use std::path::Path;

use corecast::size;
use corecast_flow::{
    Buffers, Changes, FLOWS_MAX, FlowFile, FlowProgram, Input, PLACEMENTS, Placement, TASKS_MAX,
};
use corecast_machine::{Limits, RunOptions, Time};
use corecast_machine_sim::pronto::{Aim, Direction, Injectors};
use corecast_text::file;
use rayon::prelude::*;

use crate::args::Flow;
use crate::failure::Failure;
use crate::output::Answer;
use crate::scene::MACHINES;
use crate::settings::Settings;
use crate::{input, progress, scene};

use case::{Case, Programs, Scene, Tiles};

/// Most bytes of a flow file that are read.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of an input file.
const INPUT_BYTES_MAX: u64 = 64 << 20;
/// Most runs of a sweep.
const CASES_MAX: usize = 1000;

/// The verb.
pub fn answer(options: &Flow) -> Result<Answer, Failure> {
    let chip = scene::changed_chip(&options.chip, &options.set)?;
    let tiles = Tiles::of(&chip)?;
    let is_simulated = is_simulated(options)?;
    let text = input::text_file(&options.file, FILE_BYTES_MAX).map_err(|why| {
        let message = format!("{}: cannot be read: {why}", options.file);
        Failure::input(message).help("give the path of a flow file, such as examples/jpeg-3.toml")
    })?;
    let stages = list("--stages", options.stages.as_deref(), TASKS_MAX as u64)?;
    let stages = stages.map_or(vec![None], |list| list.into_iter().map(Some).collect());
    let read = |changes| {
        let file = FlowFile::parse_with(&text, &options.file, changes);
        file.map_err(|error| Failure::library(&error))
    };
    let files = stages.into_iter().map(|stages| {
        // The second one is what one core would run.
        let changes = Changes {
            stages,
            is_sequential: false,
        };
        Ok((
            read(changes)?,
            read(Changes {
                is_sequential: true,
                ..changes
            })?,
        ))
    });
    let files = files.collect::<Result<Vec<(FlowFile, FlowFile)>, Failure>>()?;
    let (first, _) = files.first().expect("a list has at least one entry");
    let contents = match &first.input {
        Input::File(name) => Some(input_file(&options.file, name)?),
        Input::Random(_) => None,
    };
    let flows = list("--flows", options.flows.as_deref(), u64::from(FLOWS_MAX))?;
    let flows = flows.unwrap_or(vec![first.flows]);
    let placements = placements(options, first, is_simulated)?;
    let count = files.len() * flows.len() * placements.len();
    if count > CASES_MAX {
        let message = format!("{count} runs were asked for, at most {CASES_MAX} are accepted");
        return Err(Failure::input(message).help("shorten --flows, --stages or --placement"));
    }
    draw::check(options, count, is_simulated)?;
    let scene = Scene {
        chip: &chip,
        tiles: &tiles,
        is_simulated,
        seed: options.seed,
        options: run_options(options),
        injectors: injectors(options, is_simulated)?,
        settings: Settings {
            seed: Some(options.seed),
            ..Settings::new(&chip, &options.set, &options.machine)
        },
    };
    let buffers = Buffers {
        message_bytes: tiles.message_bytes(),
        input_bytes: has_acknowledgements(options, is_simulated)?.then_some(tiles.input_bytes),
    };
    let progress = progress::bar(count, "flow");
    let mut wanted = Vec::new();
    for (file, sequential) in &files {
        for &flows in &flows {
            let program = |file| {
                let program = FlowProgram::new(file, flows, contents.as_deref(), buffers);
                program.map_err(|error| {
                    Failure::library(&error).help("docs/cli.md describes flow files")
                })
            };
            let programs = Programs {
                flow: program(file)?,
                sequential: program(sequential)?,
            };
            draw::check_picture(options, &programs.flow)?;
            wanted.extend(placements.iter().map(|place| (programs.clone(), place)));
        }
    }
    let run = |(programs, placement): (Programs, &Placement)| {
        let case = case::run(&scene, programs, placement);
        progress.inc(1);
        case
    };
    // On the host a run has all cores for itself.
    let cases: Vec<Case> = match is_simulated {
        true => wanted.into_par_iter().map(run).collect::<Result<_, _>>()?,
        false => wanted.into_iter().map(run).collect::<Result<_, _>>()?,
    };
    progress.finish_and_clear();
    let mut text = show::text(&scene, &cases);
    text += &draw::draw(options, &scene, &cases)?;
    let wrong = cases.iter().flat_map(|case| {
        let checks = case.result.checks.iter().filter(|check| !check.is_equal);
        checks.map(|check| {
            let name = case.program.graph().name();
            let message = format!(
                "{name}, flow {}: not what {} has",
                check.flow + 1,
                check.what
            );
            Failure::check(message).help("this is a mistake in corecast; please report it")
        })
    });
    Ok(Answer {
        failed: wrong.collect(),
        json: cases
            .iter()
            .map(|case| scene.settings.on(show::object(&scene, case)))
            .collect(),
        text,
    })
}

fn is_simulated(options: &Flow) -> Result<bool, Failure> {
    let known = MACHINES.map(|(name, _)| name);
    match options.machine.as_str() {
        "sim" => Ok(true),
        "host" => Ok(false),
        name => Err(Failure::unknown("machine", "machines", name, &known)),
    }
}

/// On the host every sender has a queue of its own, which nobody else can fill.
fn has_acknowledgements(options: &Flow, is_simulated: bool) -> Result<bool, Failure> {
    match options.flow_control.as_deref() {
        Some(_) if !is_simulated => Err(Failure::input(
            "--flow-control: threads have a queue for every sender and need none",
        )
        .help("leave it out, or use --machine sim")),
        None | Some("auto") => Ok(is_simulated),
        Some("off") => Ok(false),
        Some(name) => Err(Failure::unknown(
            "flow control",
            "choices",
            name,
            &["auto", "off"],
        )),
    }
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

fn placements(
    options: &Flow,
    file: &FlowFile,
    is_simulated: bool,
) -> Result<Vec<Placement>, Failure> {
    let Some(text) = &options.placement else {
        return Ok(vec![file.placement.clone()]);
    };
    if !is_simulated {
        return Err(
            Failure::input("--placement: threads are placed by the operating system")
                .help("leave it out, or use --machine sim"),
        );
    }
    let placement = |name: &str| {
        let known = PLACEMENTS.iter().find(|(word, _)| *word == name);
        known
            .map(|(_, placement)| placement.clone())
            .ok_or_else(|| {
                Failure::unknown(
                    "placement",
                    "placements",
                    name,
                    &PLACEMENTS.map(|(word, _)| word),
                )
            })
    };
    text.split(',').map(|name| placement(name.trim())).collect()
}

fn run_options(options: &Flow) -> RunOptions {
    let default = Limits::default();
    RunOptions {
        limits: Limits {
            time: options
                .limit_ns
                .map_or(default.time, |ns| Time::from_ps(ns.saturating_mul(1000))),
            events: options.limit_events.unwrap_or(default.events),
        },
        seed: options.seed,
        ..RunOptions::default()
    }
}

/// `--injectors RATE[:ns|we]`.
fn injectors(options: &Flow, is_simulated: bool) -> Result<Option<Injectors>, Failure> {
    let Some(text) = &options.injectors else {
        return Ok(None);
    };
    if !is_simulated {
        return Err(
            Failure::input("--injectors: this computer has no mesh to disturb")
                .help("use --machine sim"),
        );
    }
    let (rate, direction) = text.split_once(':').unwrap_or((text, "north-south"));
    let direction = match direction {
        "north-south" => Some(Direction::NorthToSouth),
        "west-east" => Some(Direction::WestToEast),
        _ => None,
    };
    let rate = rate
        .parse::<f64>()
        .ok()
        .filter(|rate| (0.0..=1.0).contains(rate));
    let (Some(rate), Some(direction)) = (rate, direction) else {
        return Err(Failure::input(format!("--injectors: `{text}` is not understood"))
            .help("write a share of time from 0 to 1 and a direction: 0.1, 0.1:north-south or 0.1:west-east"));
    };
    Ok(Some(Injectors {
        rate,
        direction,
        aim: Aim::Opposite,
        seed: options.seed,
        ..Injectors::default()
    }))
}
