// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `corecast` command: parses, calls the libraries, prints.

mod args;
mod bench;
mod call_files;
mod certificate;
mod coll;
mod compare;
mod convert;
mod csv;
mod doctor;
#[cfg(test)]
mod documented;
mod explain;
mod failure;
mod files;
mod flow;
mod generate;
mod input;
mod list;
mod merge;
mod mpirun;
mod mpirun_sim;
mod on_chip;
mod one_of;
mod output;
mod picture;
mod pingpong;
mod placement;
mod program;
mod program_explain;
mod progress;
mod refusals;
mod remedy;
mod replay;
mod reproduce;
mod rtl_vectors;
mod rules;
mod run;
mod scene;
mod shares;
mod show;
mod show_chip;
mod style;
mod subject;
mod surroundings;
mod table;
mod traffic;
mod tune;
mod vary;
mod verify;
mod view;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ErrorKind};

use args::{Cli, Measured, Sink, Verb};
use corecast_figures::Lines;
use failure::Failure;
use output::Answer;
use style::Stream;

const SEE_HELP: &str = "`corecast --help` lists the verbs, `corecast VERB --help` their options";

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(mpirun::usual(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Its output is that of the program, and so is its exit code.
    if let Verb::Mpirun(options) = &cli.verb {
        let checked = files::check(&cli.verb, &cli.sink);
        let ended = checked.and_then(|()| match options.on_chip.chip {
            None => mpirun::run(options, &cli.sink),
            Some(_) if !options.on_chip.vary.is_empty() => vary::run(options, &cli.sink),
            Some(_) => mpirun_sim::run(options, &cli.sink),
        });
        return ended.unwrap_or_else(|failure| fail(&failure));
    }
    let checked = files::check(&cli.verb, &cli.sink);
    let outcome = checked
        .and_then(|()| answer(&cli.verb, &cli.sink))
        .and_then(|answer| {
            let sink = match cli.verb {
                // Their `-o` names the table or the page, which is no answer.
                Verb::Tune(_) | Verb::View { .. } => Sink {
                    output: None,
                    ..cli.sink
                },
                _ => cli.sink,
            };
            output::emit(answer, &sink)
        });
    match outcome {
        Ok(failed) => failed
            .iter()
            .fold(ExitCode::SUCCESS, |_, failure| fail(failure)),
        Err(failure) => fail(&failure),
    }
}

fn answer(verb: &Verb, sink: &Sink) -> Result<Answer, Failure> {
    match verb {
        Verb::List { what } => Ok(list::answer(*what)),
        Verb::Show(what) => show::answer(what),
        Verb::Run {
            scene,
            repeat,
            pictures,
        } => run::answer(scene, repeat.runs, pictures),
        Verb::Verify {
            scene,
            more,
            repair,
            require,
        } => verify::answer(scene, more, repair.as_deref(), require),
        Verb::Explain {
            scene,
            full,
            pictures,
        } => explain::answer(scene, *full, pictures),
        Verb::Compare {
            scene,
            repeat,
            keeping,
            csv,
            plot,
            top,
            absolute,
            view,
        } => {
            let outputs = compare::Outputs {
                csv: csv.as_deref(),
                plot: plot.as_deref(),
                lines: (top.is_some() || *absolute).then(|| Lines {
                    top: top.map_or(Lines::default().top, |top| top as usize),
                    is_absolute: *absolute,
                }),
                view: view.as_deref(),
            };
            compare::answer(scene, repeat.runs, keeping, &outputs)
        }
        Verb::View { files } => view::answer(files, sink.output.as_deref()),
        Verb::Merge { parts } => merge::answer(parts),
        Verb::Reproduce(options) => reproduce::answer(options),
        Verb::Convert(options) => convert::answer(options),
        Verb::Rules(options) => rules::answer(options),
        Verb::Coll(options) => coll::answer(options),
        Verb::Tune(options) => tune::answer(options),
        Verb::Pingpong(options) => pingpong::answer(options),
        Verb::Traffic(traffic) => traffic::answer(traffic),
        Verb::Flow(options) => flow::answer(options),
        Verb::RtlVectors(options) => rtl_vectors::answer(options),
        Verb::Bench {
            what: Measured::Simulator,
        } => bench::answer(),
        Verb::Doctor => Ok(doctor::answer()),
        Verb::Generate { what, verb } => generate::answer(*what, verb.as_deref()),
        Verb::Replay(options) => replay::answer(options),
        Verb::Mpirun(_) => unreachable!("it has no answer: main runs it"),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    use std::io::Write as _;
    let text = failure.to_string();
    // Nobody is left to tell if standard error is closed.
    let _ = write!(std::io::stderr(), "{}", style::fit(&text, Stream::Err));
    ExitCode::from(failure.code)
}

/// A help text, or clap's complaint in the form of all the others.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let failure = Failure::input("something is missing after `corecast` or its verb");
        return fail(&failure.help(SEE_HELP));
    }
    if !error.use_stderr() {
        let text = error.render().ansi().to_string();
        let printed = output::print(&style::fit(&text, Stream::Out));
        return printed.map_or_else(|failure| fail(&failure), |()| ExitCode::SUCCESS);
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    let mut failure = Failure::input(message);
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            // Nothing here takes a value that looks like an option.
            if !tip.contains("as a value") {
                failure = failure.help(tip);
            }
        } else if line.starts_with(['<', '[']) || line.starts_with("--") {
            failure = failure.help(line.trim_matches(['[', ']']));
        } else if line.starts_with("--") {
            // An option that another one needs.
            failure = failure.help(line);
        }
    }
    if error.get(ContextKind::ValidValue).is_some() {
        return fail(&failure); // what is accepted has been said
    }
    fail(&failure.help(SEE_HELP))
}
