// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose values are a closed set: clap lists them in helps, refuses others, and proposes the
//! nearest; what is read is the value itself.
//!
//! The sets are those of the libraries, which know nothing of clap; so none of them derives
//! `ValueEnum`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use corecast_study::Claim;

/// Reads one of the values by its name.
#[derive(Clone)]
pub struct OneOf<T>(Vec<(&'static str, T)>);

/// One of these values, by their names.
pub fn one_of<T>(known: impl IntoIterator<Item = (&'static str, T)>) -> OneOf<T> {
    OneOf(known.into_iter().collect())
}

/// The same of values that know their names.
pub fn one<T: Copy>(
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
) -> OneOf<T> {
    one_of(all.into_iter().map(|value| (name(value), value)))
}

impl<T> OneOf<T> {
    fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|&(name, _)| name)
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        // An entry of a list may have a space before it.
        let trimmed = value.to_str().map_or(value, |text| OsStr::new(text.trim()));
        let name = PossibleValuesParser::new(self.names()).parse_ref(cmd, arg, trimmed)?;
        let known = self.0.iter().find(|(known, _)| *known == name);
        Ok(known.expect("clap accepts known names only").1.clone())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().map(PossibleValue::new)))
    }
}
/// Reads claims: a closed set, and one of a number.
#[derive(Clone)]
pub struct Claims;

impl TypedValueParser for Claims {
    type Value = Claim;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Claim, Error> {
        let claim = value
            .to_str()
            .and_then(|text| Claim::find(text.trim()).ok());
        claim.map_or_else(
            || one(Claim::ALL, Claim::name).parse_ref(cmd, arg, value),
            Ok,
        )
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Claim::ALL.into_iter().map(Claim::name);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}
