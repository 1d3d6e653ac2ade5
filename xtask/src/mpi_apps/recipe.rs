// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an application is built and what of it is run: `xtask/mpi-apps/NAME.toml`.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::mpi::Abi;

/// One application or library of others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Of the file, without its end.
    #[serde(skip)]
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Where it comes from; none = it is only built from a folder that is given.
    pub from: Option<Origin>,
    /// Debian's packages without which it cannot be built.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The one interface that it can be built for, if it is one.
    pub abi: Option<Abi>,
    /// Commands of a shell, run in the folder of the sources with `MPICC` and `MPICXX` set, of an
    /// [`Origin::Sdist`] with `PACKAGE`, too.
    #[serde(default)]
    pub build: String,
    pub check: Vec<Check>,
}

/// What is fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Debian's source package of this name.
    Debian(String),
    /// The sources of a crate, from Rust's package index.
    Crate(Pinned),
    /// An environment of Python with this package as others have built it.
    Wheel(Python),
    /// An environment of Python in which the recipe builds this package.
    Sdist(Python),
}

/// A package of Python's index, and what its environment has beside it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    pub package: Pinned,
    /// Wheels, as `pip install` names them.
    pub beside: Vec<String>,
}

/// One version of a package: `NAME==VERSION`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pinned {
    pub name: String,
    pub version: String,
}

impl TryFrom<String> for Pinned {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (name, version) = text
            .split_once("==")
            .ok_or_else(|| format!("{text:?} is not NAME==VERSION"))?;
        Ok(Self {
            name: name.to_owned(),
            version: version.to_owned(),
        })
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=={}", self.name, self.version)
    }
}

/// Something to run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    /// Each is a run.
    pub ranks: Vec<u32>,
    /// Those that also run on a simulated chip; what is left out takes too long there, or cannot run.
    #[serde(default)]
    pub ranks_on_chips: Vec<u32>,
    /// A command of a shell in the folder of the sources; `$MPIRUN $RANKS PROGRAM` starts the ranks, and
    /// `$RECIPES` is the folder of this file.
    pub run: String,
    /// What a run that is right prints.
    pub says: Option<String>,
    /// What one that is right does not print.
    pub never: Option<String>,
}

impl Recipe {
    /// All recipes of a folder, by name.
    ///
    /// # Errors
    /// What is wrong with one, with its file.
    pub fn load(folder: &Path) -> Result<Vec<Self>, String> {
        let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut recipes = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_none_or(|end| end != "toml") {
                continue;
            }
            let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
            let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
            let mut recipe: Self = toml::from_str(&text).map_err(|error| wrong(&error))?;
            let name = path.file_stem().unwrap_or_default();
            recipe.name = name.to_string_lossy().into_owned();
            recipes.push(recipe);
        }
        recipes.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(recipes)
    }
}

impl Check {
    /// What is wrong with a run, if anything is.
    pub fn fault(&self, exit: Option<i32>, said: &str) -> Option<String> {
        if exit != Some(0) {
            let last = said.trim_end().lines().last().unwrap_or_default();
            return Some(match exit {
                Some(code) => format!("exit code {code}: {last}"),
                None => format!("a signal ended it: {last}"),
            });
        }
        if let Some(line) = self
            .never
            .as_ref()
            .and_then(|never| said.lines().find(|line| line.contains(&**never)))
        {
            return Some(format!("says `{}`", line.trim()));
        }
        let missing = self.says.as_ref().filter(|says| !said.contains(&***says));
        missing.map(|says| format!("does not say `{says}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recipes_can_be_read_and_run_something() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mpi-apps");
        let recipes = Recipe::load(&folder).unwrap();
        assert!(recipes.len() > 5);
        for recipe in recipes {
            assert!(!recipe.check.is_empty(), "{}", recipe.name);
            for check in recipe.check {
                assert!(!check.ranks.is_empty(), "{}: {}", recipe.name, check.name);
            }
        }
    }

    #[test]
    fn a_package_has_one_version() {
        let pinned = |text: &str| Pinned::try_from(text.to_owned());
        assert_eq!(pinned("mpi==0.8.2").unwrap().to_string(), "mpi==0.8.2");
        assert_eq!(pinned("mpi").unwrap_err(), "\"mpi\" is not NAME==VERSION");
    }

    #[test]
    fn a_run_is_right_if_it_ends_as_it_should_and_says_what_it_should() {
        let check = Check {
            name: "a".to_owned(),
            ranks: vec![1],
            ranks_on_chips: Vec::new(),
            run: "true".to_owned(),
            says: Some("passed".to_owned()),
            never: Some("FAILED".to_owned()),
        };
        let fault = |exit, said| check.fault(exit, said).unwrap_or_default();
        assert_eq!(fault(Some(0), "all passed\n"), "");
        assert_eq!(fault(Some(0), "all\n"), "does not say `passed`");
        assert_eq!(fault(Some(0), "passed\n 1 FAILED\n"), "says `1 FAILED`");
        assert_eq!(fault(Some(1), "passed\noh\n"), "exit code 1: oh");
        assert_eq!(fault(None, ""), "a signal ended it: ");
    }
}
