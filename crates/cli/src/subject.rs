// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a verb is about: a collective, or a schedule in a file.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use corecast_core::Collective;

use crate::one_of::OneOf;

/// A collective, or a schedule that somebody has written down.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The collective.
    Collective(Collective),
    /// The path of a schedule file.
    File(String),
}

/// Whether a word names a file where a collective or an algorithm could stand: no name of these has
/// such signs.
pub fn is_file(word: &str) -> bool {
    word == "-" || word.contains(['.', '/'])
}

/// Reads a [`Subject`]: what looks like a path is one, and so is what is no collective and there.
#[derive(Clone)]
pub struct Subjects(pub OneOf<Collective>);

impl TypedValueParser for Subjects {
    type Value = Subject;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Subject, Error> {
        let collective = self.0.parse_ref(cmd, arg, value);
        let is_there = collective.is_err() && Path::new(value).exists();
        match value.to_str().filter(|word| is_there || is_file(word)) {
            Some(path) => Ok(Subject::File(path.to_owned())),
            None => collective.map(Subject::Collective),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}
