// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases of a sweep in a file, so that none is run twice: by who goes on where a sweep was
//! interrupted, and by who shares it among several machines.
//!
//! A file has one line of JSON for what its cases depend on, and one for every case. Files of the same
//! sweep, one after the other, are such a file again.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use corecast_core::Help;
use corecast_core::hash::fnv_1a;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::study::Study;
use crate::sweep::SweepCase;

/// The longest such file that is read.
pub const KEPT_BYTES_MAX: u64 = 1 << 30;

/// Who writes such files.
pub const KEEPS: &str = "`corecast compare --keep FILE` writes sweeps of a collective, and `corecast mpirun --vary \
     ... --keep FILE` those of a program";

/// A case of a sweep, as it is kept.
pub trait KeptCase: Serialize + DeserializeOwned {
    /// What tells it from the other cases.
    type Key: Ord;

    /// What such a sweep is of, by which its file is known: an entry of what its cases depend on.
    const OF: &'static str;

    /// Which case it is.
    fn key(&self) -> Self::Key;

    /// Why it cannot be one, whatever the sweep.
    fn wrong(&self) -> Option<String> {
        None
    }
}

impl KeptCase for SweepCase {
    /// Its rank count and its size.
    type Key = (u32, u64);

    const OF: &'static str = "collective";

    fn key(&self) -> (u32, u64) {
        (self.ranks, self.bytes)
    }

    /// Without a run it has no winner.
    fn wrong(&self) -> Option<String> {
        let (ranks, bytes) = self.key();
        let wrong = || format!("the case of {ranks} ranks and {bytes} bytes has no run");
        self.runs.is_empty().then(wrong)
    }
}

/// Cases that were found, with what they depend on.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept<C: KeptCase = SweepCase> {
    depends_on: Map<String, Value>,
    cases: BTreeMap<C::Key, C>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<C> {
    Sweep(Map<String, Value>),
    Case(C),
}

/// Why a file of cases cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum KeptError {
    /// A line that is neither.
    #[error("line {line}, column {column}: {reason}")]
    Line {
        /// From 1 on.
        line: usize,
        /// Where in it.
        column: usize,
        /// What the parser says.
        reason: String,
    },
    /// A case before it is said what it depends on, or nothing at all.
    #[error("line {line}: the sweep's settings are missing")]
    NoSettings {
        /// From 1 on.
        line: usize,
    },
    /// The cases of a sweep of something else.
    #[error("line {line}: this is no sweep of a {of}")]
    Kind {
        /// From 1 on.
        line: usize,
        /// What it was to be of.
        of: &'static str,
    },
    /// A case that cannot be one.
    #[error("line {line}: {why}")]
    Case {
        /// From 1 on.
        line: usize,
        /// Why not.
        why: String,
    },
    /// It holds for something else.
    #[error("it holds for something else: {key} is {kept}, not {asked}")]
    Other {
        /// The first thing that differs.
        key: String,
        /// What it is in the file.
        kept: String,
        /// What it is in what was asked for.
        asked: String,
    },
}

impl Help for KeptError {
    fn help(&self) -> String {
        match self {
            Self::Other { .. } => "name another file, or ask for the same".to_owned(),
            _ => KEEPS.to_owned(),
        }
    }
}

impl<C: KeptCase> Kept<C> {
    /// What the text of a file holds.
    ///
    /// # Errors
    /// [`KeptError`].
    pub fn parse(text: &str) -> Result<Self, KeptError> {
        let mut kept: Option<Self> = None;
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let parsed = serde_json::from_str::<Line<C>>(text);
            let parsed = parsed.map_err(|error| {
                let (column, reason) = (error.column(), error.to_string());
                // It counts lines from the begin of this one.
                let (reason, _) = reason.rsplit_once(" at line ").unwrap_or((&reason, ""));
                KeptError::Line {
                    line,
                    column,
                    reason: reason.to_owned(),
                }
            })?;
            if let Line::Sweep(depends_on) = &parsed
                && !depends_on.contains_key(C::OF)
            {
                return Err(KeptError::Kind { line, of: C::OF });
            }
            match (parsed, &mut kept) {
                (Line::Sweep(depends_on), None) => kept = Some(Self::of(depends_on)),
                (Line::Sweep(depends_on), Some(kept)) => kept.same(&depends_on)?,
                (Line::Case(_), None) => return Err(KeptError::NoSettings { line }),
                (Line::Case(case), Some(kept)) => match case.wrong() {
                    Some(why) => return Err(KeptError::Case { line, why }),
                    None => kept.add(case),
                },
            }
        }
        kept.ok_or(KeptError::NoSettings { line: 1 })
    }

    /// Without cases; they will depend on this.
    #[must_use]
    pub fn of(depends_on: Map<String, Value>) -> Self {
        Self {
            depends_on,
            cases: BTreeMap::new(),
        }
    }

    /// Whether it depends on the same.
    fn same(&self, depends_on: &Map<String, Value>) -> Result<(), KeptError> {
        let keys = self.depends_on.keys().chain(depends_on.keys());
        for key in keys {
            let value = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
            let (kept, asked) = (value(depends_on), value(&self.depends_on));
            if kept != asked {
                return Err(KeptError::Other {
                    key: key.clone(),
                    kept: kept.to_string(),
                    asked: asked.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Takes over the cases of another one; of two of the same case its own stays.
    ///
    /// # Errors
    /// [`KeptError::Other`], with nothing taken over.
    pub fn merge(&mut self, other: Self) -> Result<(), KeptError> {
        self.same(&other.depends_on)?;
        other.cases.into_values().for_each(|case| self.add(case));
        Ok(())
    }

    /// The case of this key.
    #[must_use]
    pub fn case(&self, key: &C::Key) -> Option<&C> {
        self.cases.get(key)
    }

    /// All cases, by their keys.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = &C> {
        self.cases.values()
    }

    /// Adds a case, which is not wrong, unless it is there.
    pub fn add(&mut self, case: C) {
        self.cases.entry(case.key()).or_insert(case);
    }
}

/// The text of its file: [`Kept::parse`] reads it again, to the last bit of every number.
impl<C: KeptCase> fmt::Display for Kept<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |line: &Line<&C>| serde_json::to_string(line).map_err(|_| fmt::Error);
        writeln!(f, "{}", line(&Line::Sweep(self.depends_on.clone()))?)?;
        let mut cases = self.cases.values();
        cases.try_for_each(|case| writeln!(f, "{}", line(&Line::Case(case))?))
    }
}

impl Study {
    /// An empty file for the cases of this study.
    #[must_use]
    pub fn keeps(&self) -> Kept {
        let names = self.algorithms.iter().map(|algorithm| algorithm.name());
        let hash = |text: &str| format!("{:016x}", fnv_1a(text.as_bytes()));
        let files = self.plan.files.iter().map(|file| {
            let text = file.convert("corecast").ok();
            let text = text.and_then(|converted| converted.exported.text().map(str::to_owned));
            format!("{} {}", file.name(), hash(&text.unwrap_or_default()))
        });
        let table = self.advice.as_ref().map(|advice| hash(&advice.text()));
        let more = [
            ("collective", self.collective().name().into()),
            ("algorithms", names.collect::<Vec<_>>().into()),
            ("files", files.collect::<Vec<_>>().into()),
            ("table", table.into()),
            ("runs", self.plan.repeat.into()),
        ];
        let Value::Object(mut depends_on) = self.settings().json() else {
            unreachable!("settings are an object")
        };
        depends_on.extend(more.map(|(key, value): (&str, Value)| (key.to_owned(), value)));
        Kept::of(depends_on)
    }
}

/// One of several parts that a sweep is divided into, so that each can be run elsewhere: every so
/// manieth case.
///
/// ```
/// use corecast_study::Shard;
/// let shard: Shard = "2/3".parse().unwrap();
/// let taken: Vec<usize> = (0..7).filter(|&case| shard.takes(case)).collect();
/// assert_eq!(taken, [1, 4]);
/// assert!("0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 0 on.
    index: usize,
    count: usize,
}

impl Shard {
    /// Whether the case of this number, from 0 on, is in it.
    #[must_use]
    pub fn takes(self, case: usize) -> bool {
        case % self.count == self.index
    }
}

/// What is no part.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is no part: it is written I/N, such as 3/16, with I from 1 to N")]
pub struct ShardError {
    text: String,
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let index: usize = index.parse().ok()?;
            let count: usize = count.parse().ok()?;
            (1..=count).contains(&index).then(|| (index - 1, count))
        });
        let (index, count) = numbers.ok_or_else(|| ShardError {
            text: text.to_owned(),
        })?;
        Ok(Self { index, count })
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::Collective;

    use super::*;
    use crate::chips::ChipChoice;
    use crate::plan::Plan;

    fn study(seed: u64) -> Study {
        let chip = ChipChoice::find("park2019-bus", &[]).expect("built in");
        let plan = Plan {
            sizes: vec![4, 64, 1000],
            ranks: vec![3, 4],
            seed,
            ..Plan::new(chip, Collective::Allreduce)
        };
        Study::new(plan).expect("a plan")
    }

    /// The parts of a sweep, one after the other, kept and read again, are the sweep.
    #[test]
    fn parts_are_the_whole() {
        let study = study(1);
        let whole = study.sweep(&()).expect("runs");
        let mut text = String::new();
        for shard in ["1/4", "2/4", "3/4", "4/4"] {
            let shard = Some(shard.parse().expect("a part"));
            let mut kept = study.keeps();
            let mut saved = 0;
            let part = study.sweep_kept(
                shard,
                &mut kept,
                &mut |_| {
                    saved += 1;
                    Ok::<_, crate::StudyError>(())
                },
                &(),
            );
            assert_eq!(part.expect("runs").cases().count(), saved);
            text += &kept.to_string();
        }
        let mut kept = Kept::parse(&text).expect("what was written");
        assert_eq!(kept.cases().len(), 6);
        let all = study.sweep_kept(
            None,
            &mut kept,
            &mut |_| -> Result<(), crate::StudyError> { panic!("every case was there") },
            &(),
        );
        assert_eq!(all.expect("all cases"), whole);
    }

    #[test]
    fn what_holds_for_something_else_is_refused() {
        let mut kept = study(1).keeps();
        let error = kept.merge(study(2).keeps()).expect_err("another seed");
        assert_eq!(
            error.to_string(),
            "it holds for something else: seed is 2, not 1"
        );
        for (text, wrong) in [
            ("", "line 1: the sweep's settings are missing"),
            ("\n{}\n", "line 2, column 2: expected value"),
            (
                "{\"case\":{\"ranks\":1,\"bytes\":1,\"runs\":[],\"refused\":[],\"unended\":[]}}",
                "line 1: the sweep's settings are missing",
            ),
            (
                "{\"sweep\":{\"collective\":\"bcast\"}}\n{\"case\":{\"ranks\":1,\"bytes\":9,\"runs\":[],\"refused\":[],\"unended\":[]}}",
                "line 2: the case of 1 ranks and 9 bytes has no run",
            ),
            (
                "{\"sweep\":{\"program\":[]}}\n{\"case\":{}}",
                "line 1: this is no sweep of a collective",
            ),
        ] {
            let error = Kept::<SweepCase>::parse(text).expect_err(wrong);
            assert_eq!(error.to_string(), wrong);
        }
    }
}
