// SPDX-License-Identifier: MIT OR Apache-2.0
//! `replay`: a program from a file on a simulated chip.

use std::cell::OnceCell;
use std::rc::Rc;

use corecast_chip::Clock;
use corecast_machine::{Cause, RunError};
use corecast_replay::Read;
use corecast_study::{
    CallTime, CallsExplanation, ProgramPlan, ProgramTables, ReplayError, ReplayPlan, ReplayRun,
    ReplayStudy, Settings, StudyError,
};
use serde_json::Value;

use crate::args::Replay;
use crate::call_files::{self, CallFiles, check_matrix};
use crate::failure::Failure;
use crate::output::{self, Answer, Form, table};
use crate::{program, program_explain, run, scene, shares, style, surroundings};

/// The verb.
pub fn answer(options: &Replay) -> Result<Answer, Failure> {
    check_matrix(options.files.matrix.as_deref())?;
    let Read { graph, notes } = program::load(&options.file, options.flops)?;
    notes.iter().for_each(|note| output::note(note));
    let asked = &options.chip;
    let placed = asked.ranks_to_cores.as_deref();
    let chip = scene::noted_for_programs(&asked.name, &asked.set, placed)?;
    let ranks = graph.size();
    let tables = ProgramTables::find(options.table.as_deref(), &chip);
    let tables = tables.map_err(|error| Failure::library(&error))?;
    tables.notes.iter().for_each(|note| output::note(note));
    let on = ProgramPlan {
        fidelity: options.fidelity,
        surroundings: surroundings::read_beside(
            &options.skew,
            options.background.as_deref(),
            ranks.div_ceil(options.ranks_per_core.max(1)),
        )?,
        seed: options.seed,
        limits: options.limits.limits(),
        ..ProgramPlan::new(chip)
    };
    let plan = ReplayPlan {
        on,
        ranks_per_core: options.ranks_per_core,
        flops: options.flops,
        tables,
    };
    let study = ReplayStudy::new(plan, graph).map_err(|error| match error {
        StudyError::RankCount { ranks, chip, max } => {
            let wrong = format!("{}: {ranks} ranks do not fit on {chip}", options.file);
            Failure::input(wrong).help(room(options.ranks_per_core, (ranks, max), &chip))
        }
        error => error.into(),
    })?;
    let cores = ranks.div_ceil(options.ranks_per_core.max(1));
    let placement = study.machine.placement_note(cores);
    placement.iter().for_each(|note| output::note(note));
    let run = study.run().map_err(|error| stopped(&error))?;
    let shown = Rc::new(Shown {
        settings: study.settings(),
        study,
        run,
        explained: OnceCell::new(),
    });
    let what = call_files::What {
        name: "a program",
        machine: &*shown.study.machine,
        run: &shown.run.calls,
        settings: &shown.settings,
    };
    let outputs = &options.files;
    let files = CallFiles {
        report: outputs.report.as_deref(),
        svg: outputs.svg.as_deref(),
        trace: outputs.trace.as_deref(),
        matrix: outputs.matrix.as_deref(),
    };
    what.write(&files, || shown.record())?;
    let (for_text, spent) = (Rc::clone(&shown), Spent::asked(options));
    Ok(Answer::new(
        Form::later(move || for_text.text(spent)),
        Form::later(move || shown.record()),
    ))
}

/// What would be right where so many ranks do not fit, of which `max` would.
fn room(per_core: u32, (ranks, max): (u64, u32), chip: &str) -> String {
    let wanted = ranks.div_ceil(u64::from(max / per_core));
    let room = match per_core {
        1 => format!("{chip} has {max} cores for them, one for each rank"),
        _ => format!("{chip} has room for {max} ranks, {per_core} per core"),
    };
    format!("{room}; --ranks-per-core {wanted} lets all of them share its cores")
}

/// What a run has shown. The explanation of many calls takes long, so it is made only where somebody
/// asks for it.
struct Shown {
    study: ReplayStudy,
    settings: Settings,
    run: ReplayRun,
    explained: OnceCell<CallsExplanation>,
}

/// How the text says where the time went.
#[derive(Clone, Copy)]
enum Spent {
    /// By the kind of call.
    ByCall,
    /// With what made the program as long as it was.
    Explained { is_full: bool },
}

impl Spent {
    fn asked(options: &Replay) -> Self {
        match options.explain {
            true => Self::Explained {
                is_full: options.full,
            },
            false => Self::ByCall,
        }
    }
}

/// Why there is no result.
fn stopped(error: &ReplayError) -> Failure {
    match error {
        ReplayError::File(error) => Failure::library(error),
        ReplayError::Run { error: ended, .. } => {
            let help = corecast_core::Help::help(ended);
            let mut failure = Failure::input(error.to_string());
            if ended.is_limit() {
                failure.code = 3;
            }
            match ended {
                RunError::Deadlock { .. } => failure.help(
                    "a send may wait until its message is received: let ranks that send to each other \
                     use `isend`, or receive first",
                ),
                _ if ended.is_limit() => {
                    failure.help("raise --limit-ns or --limit-events if the program needs longer")
                }
                _ => help.lines().fold(failure, Failure::help),
            }
        }
    }
}

impl Shown {
    fn explained(&self) -> &CallsExplanation {
        self.explained.get_or_init(|| self.run.calls.explain())
    }

    /// For programs.
    fn record(&self) -> Value {
        let record = self.study.record(&self.run, self.explained());
        self.settings.on(record)
    }

    /// For people.
    fn text(&self, spent: Spent) -> String {
        let Self {
            study,
            settings,
            run,
            ..
        } = self;
        let (calls, clock) = (&run.calls, study.plan.on.chip.chip.reference_clock());
        let (ranks, place) = (study.graph.size(), study.machine.place());
        let title = format!(
            "{}: {} on {place}, {} cycles, {} us",
            study.graph.name,
            scene::counted(ranks, "rank"),
            calls.cycles(clock),
            calls.report.makespan.ps() as f64 / 1e6,
        );
        let mut text = format!("{}\n{}\n", style::heading(&title), run::with(settings));
        text += &shares::background_line(&calls.report);
        text += &match spent {
            Spent::ByCall => of_calls(run, clock),
            Spent::Explained { is_full } => {
                program_explain::show(calls, clock, self.explained(), is_full)
            }
        };
        text += &format!(
            "\n{} calls, {} messages of {} bytes\n",
            study.graph.calls_total(),
            calls.report.messages.len(),
            calls.bytes(),
        );
        for taken in &run.taken {
            let of = match taken.bytes {
                Some(0) => String::new(),
                Some(bytes) => format!(" of {bytes} bytes"),
                None => " of several sizes".to_owned(),
            };
            let (ranks, algorithm) = (taken.ranks, &taken.algorithm);
            text += &format!("{}{of} over {ranks} ranks: {algorithm}\n", taken.collective);
        }
        text
    }
}

/// The table of where the time went, all ranks together.
fn of_calls(run: &ReplayRun, clock: &Clock) -> String {
    let report = &run.calls.report;
    let whole = report.makespan.ps() as f64 * report.finish.len() as f64;
    let share = |ps: u64| match whole > 0.0 {
        true => format!("{:.1} %", 100.0 * ps as f64 / whole),
        false => "-".to_owned(),
    };
    let row = |of: &CallTime| {
        let total = of.total();
        let causes = of.causes.iter().zip(Cause::KINDS);
        let most = causes.max_by_key(|(time, _)| **time);
        let most = most.filter(|(time, _)| time.ps() > 0);
        vec![
            run.calls
                .call_name(of.call)
                .unwrap_or("between calls")
                .to_owned(),
            of.count.to_string(),
            format!("{:.0}", clock.cycles_f64(total.ps())),
            share(total.ps()),
            most.map_or(String::new(), |(time, cause)| {
                format!("{cause} {}", share(time.ps()))
            }),
        ]
    };
    let mut rows: Vec<Vec<String>> = run.calls.calls().iter().map(row).collect();
    let waits = report
        .finish
        .iter()
        .map(|&finish| (report.makespan - finish).ps());
    let ended = waits.fold(0_u64, u64::saturating_add);
    if ended > 0 {
        rows.push(vec![
            "at its end".to_owned(),
            String::new(),
            format!("{:.0}", clock.cycles_f64(ended)),
            share(ended),
            String::new(),
        ]);
    }
    table(&["call", "calls", "cycles", "of all", "mostly"], 1..4, rows)
}
