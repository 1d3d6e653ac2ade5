//! The command line: parses, calls the libraries, prints. It holds no logic of its own.
//!
//! ```text
//! corecast run bcast --chip park2019-bus --ranks 8 --bytes 64 --algorithm all
//! ```

mod args;
mod error;
mod explain;
mod list;
mod output;
mod reproduce;
mod run;
mod setting;
mod size;
mod speed;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};
use error::CliError;

fn main() -> ExitCode {
    match dispatch(Cli::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{error}");
            ExitCode::from(error.code())
        }
    }
}

fn dispatch(verb: Verb) -> Result<(), CliError> {
    match verb {
        Verb::List { what, output } => list::list(what, &output),
        Verb::Show { what } => list::show(&what),
        Verb::Run { collective, output } => run::run(&collective, &output),
        Verb::Verify { collective, output } => verify::verify(&collective, &output),
        Verb::Explain { collective, output } => explain::explain(&collective, &output),
        Verb::Reproduce { paper, output } => reproduce::reproduce(paper.as_deref(), &output),
        Verb::Winners { chip, output } => {
            let known: Vec<&str> = corecast_chip::builtin_names().collect();
            let name = corecast_chip::builtin_names().find(|name| *name == chip);
            let name = name.ok_or_else(|| CliError::unknown("built-in chip", &chip, &known))?;
            reproduce::winners(name, &output)
        }
        Verb::Bench {
            what: args::Benchmark::Simulator,
            output,
        } => speed::simulator(&output),
    }
}
