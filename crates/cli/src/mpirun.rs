// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corecast mpirun`: starts an MPI program; its output and exit code are the program's.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use corecast_launch::{Bind, Ending, LaunchError, MpiJob, Part};
use corecast_study::{ProgramTables, TABLES_VARIABLE};

use crate::args::Sink;
use crate::failure::Failure;
use crate::on_chip::{self, OnChip};
use crate::one_of::one_of;

/// What to start, and how.
#[derive(Args)]
pub struct Mpirun {
    /// Number of ranks
    #[arg(short = 'n', long = "np", value_name = "N", default_value_t = 1)]
    pub ranks: u32,
    /// Which cores a rank may run on: share (an equal part of them each, if there are at least as
    /// many as ranks), core (one each, in a circle) or none (all)
    #[arg(
        long,
        value_name = "HOW",
        default_value = "share",
        hide_possible_values = true,
        value_parser = one_of([("share", Bind::Share), ("core", Bind::Core), ("none", Bind::None)])
    )]
    pub bind_to: Bind,
    /// Set a variable for the ranks; without a value, insist that it is set (repeatable)
    #[arg(short = 'x', value_name = "VAR[=VALUE]")]
    pub export: Vec<String>,
    /// Take the collectives' algorithms from a decision table that `tune --machine host` has written (with
    /// --chip: `tune --machine mpi`), or from a folder of such tables; with --chip also the name of a
    /// built-in chip, or none for what is best on hosts [default: with --chip that chip's, if it has some]
    #[arg(long, value_name = "PATH")]
    pub table: Option<String>,
    /// Begin every line of output with its rank, as in `[3] `
    #[arg(long)]
    pub tag_output: bool,
    /// End all ranks after this many seconds
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
    /// In virtual time.
    #[command(flatten)]
    pub on_chip: OnChip,
    /// The program and its arguments; more programs follow as `: -n N PROGRAM ARGS...`
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub words: Vec<OsString>,
}

/// Options of other launchers, and what they are here.
const USUAL: [(&str, &str); 2] = [("-np", "-n"), ("-bind-to", "--bind-to")];

/// The arguments of this process with the options that other launchers know written as ours.
pub fn usual(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.get(1).is_some_and(|verb| verb == "mpirun") {
        // Behind the program's name everything is the program's.
        let mut index = 2;
        while let Some(option) = arguments.get_mut(index).filter(|word| {
            let word = word.as_encoded_bytes();
            word.starts_with(b"-") && word != b"--"
        }) {
            if let Some((_, ours)) = USUAL.iter().find(|(usual, _)| option == usual) {
                *option = OsString::from(ours);
            }
            let has_value = ["-n", "-x", "--np", "--bind-to", "--table", "--timeout"];
            let mut has_value = has_value.iter().chain(on_chip::OPTIONS);
            index += if has_value.any(|name| option == name) {
                2
            } else {
                1
            };
        }
    }
    arguments
}

/// Refuses to put anywhere else what the program prints.
pub fn refuse_sink(sink: &Sink) -> Result<(), Failure> {
    if sink.json || sink.output.is_some() {
        let failure =
            Failure::input("mpirun passes on what the program prints and has no other answer");
        return Err(
            failure.help("leave --json and -o away, or write them behind the program's name")
        );
    }
    Ok(())
}

/// Runs the program to its end.
pub fn run(options: &Mpirun, sink: &Sink) -> Result<ExitCode, Failure> {
    refuse_sink(sink)?;
    let mut job = job(options)?;
    if let Some(word) = &options.table {
        // Refused here once, and not by every rank.
        ProgramTables::check_here(word).map_err(|error| Failure::library(&error))?;
        job.environment.push((TABLES_VARIABLE.into(), word.into()));
    }
    let ended = corecast_launch::run(&job, &mut io::stdout(), &mut io::stderr());
    let ending = ended.map_err(|error| refused(&error))?;
    match ended_badly(&ending) {
        None => Ok(ExitCode::SUCCESS),
        Some(failure) => Err(failure),
    }
}

/// What went wrong, with the exit code of the rank.
pub fn ended_badly(ending: &Ending) -> Option<Failure> {
    ending.cause.as_ref()?;
    let mut failure = Failure::check(ending.to_string());
    failure.code = ending.code();
    Some(failure)
}

/// What to start.
pub fn job(options: &Mpirun) -> Result<MpiJob, Failure> {
    let timeout = match options.timeout {
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
            Failure::input(format!(
                "--timeout takes seconds, such as 30 or 0.5, not {seconds}"
            ))
        })?),
        None => None,
    };
    let mut environment = Vec::new();
    for text in &options.export {
        environment.push(variable(text)?);
    }
    let executable = env::current_exe().ok();
    Ok(MpiJob {
        parts: Part::list(options.ranks, &options.words).map_err(|error| refused(&error))?,
        bind: options.bind_to,
        is_tagged: options.tag_output,
        timeout,
        environment,
        libraries: executable.and_then(|file| corecast_launch::libraries(&file)),
        halt: None,
    })
}

/// What cannot be started.
pub fn refused(error: &LaunchError) -> Failure {
    Failure::library(error)
}

/// A variable for the ranks, with its value; they get all of ours anyway.
fn variable(text: &str) -> Result<(OsString, OsString), Failure> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(OsString::from(value))),
        None => (text, env::var_os(text)),
    };
    match value {
        Some(value) if !name.is_empty() => Ok((name.into(), value)),
        Some(_) => Err(Failure::input(format!("`-x {text}` names no variable"))),
        None => {
            let failure = Failure::input(format!("the variable {name} is not set"));
            Err(failure.help(format!("`-x {name}=VALUE` sets it for the ranks")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn np_is_n_before_the_program_and_its_own_behind() {
        let line = "corecast mpirun -x np=1 -np 4 -bind-to none --tag-output ./a -np 3";
        let words = usual(line.split(' ').map(Into::into));
        let expected = "corecast mpirun -x np=1 -n 4 --bind-to none --tag-output ./a -np 3";
        assert!(words.iter().eq(expected.split(' ')));
        let other = "corecast run -np 4";
        assert!(
            usual(other.split(' ').map(Into::into))
                .iter()
                .eq(other.split(' '))
        );
    }
}
