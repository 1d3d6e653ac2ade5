// SPDX-License-Identifier: MIT OR Apache-2.0
//! `generate`: what shells and `man` want to know of the options.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use serde::Serialize;

use crate::args::{Cli, Generated};
use crate::failure::Failure;
use crate::output::{Answer, json};

#[derive(Serialize)]
struct Page {
    what: &'static str,
    text: String,
}

/// The verb.
pub fn answer(what: Generated, verb: Option<&str>) -> Result<Answer, Failure> {
    let (name, shell) = match what {
        Generated::Bash => ("bash", Shell::Bash),
        Generated::Elvish => ("elvish", Shell::Elvish),
        Generated::Fish => ("fish", Shell::Fish),
        Generated::Powershell => ("powershell", Shell::PowerShell),
        Generated::Zsh => ("zsh", Shell::Zsh),
        Generated::Man => return page(verb).map(|text| generated("man", text)),
    };
    if let Some(verb) = verb {
        let what = format!("generate: completions are for all verbs at once, not for `{verb}`");
        return Err(Failure::input(what).help("leave it out"));
    }
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "corecast", &mut text);
    Ok(generated(name, utf8(text)))
}

fn generated(what: &'static str, text: String) -> Answer {
    let page = Page { what, text };
    let record = json(&page);
    Answer::new(page.text, record)
}

/// The manual page of one verb, or of all.
fn page(verb: Option<&str>) -> Result<String, Failure> {
    let mut all = Cli::command();
    all.build();
    let command = match verb {
        None => all,
        Some(verb) => of_verb(&all, verb)?,
    };
    let mut text = Vec::new();
    let rendered = Man::new(command).render(&mut text);
    rendered.expect("a buffer takes everything");
    Ok(utf8(text))
}

/// Its description, by the name that its page has.
fn of_verb(all: &Command, verb: &str) -> Result<Command, Failure> {
    let mut found = all.find_subcommand(verb).cloned().ok_or_else(|| {
        Failure::input(format!("generate man: there is no verb `{verb}`"))
            .help("`corecast --help` lists them")
    })?;
    found.set_bin_name(format!("corecast {verb}"));
    Ok(found)
}

fn utf8(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("options are described in text")
}
