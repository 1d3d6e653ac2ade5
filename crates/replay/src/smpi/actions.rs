// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of a trace: its words, taken one after the other.

use corecast_exchange::Fault;
use corecast_text::{did_you_mean, quoted};

use super::types;
use crate::graph::MESSAGE_BYTES_MAX;

/// Every action.
pub(super) const ACTIONS: [&str; 30] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "compute",
    "sleep",
    "location",
    "barrier",
    "send",
    "isend",
    "recv",
    "irecv",
    "sendRecv",
    "test",
    "wait",
    "waitall",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "scan",
    "exscan",
];

/// The one whose name is another's with a word more.
pub(super) const REDUCE_SCATTER: &str = "reducescatter";

/// SimGrid's number of nobody (`MPI_PROC_NULL`).
const NOBODY: i64 = -666;
/// What SimGrid writes for a rank that has no number (`MPI_UNDEFINED`): nobody, or any.
const UNDEFINED: i64 = -333;

/// Whom a message is from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sender {
    One(u32),
    Any,
    /// There is no message.
    Nobody,
}

/// A line.
#[derive(Clone, Copy)]
pub(super) struct Action<'a> {
    pub rank: u32,
    pub name: &'a str,
    words: &'a str,
    pub line: u32,
}

/// The words of a line without its comment.
fn plain(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim()
}

/// The next word and the rest.
fn split(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

impl<'a> Action<'a> {
    /// A line; none if it says nothing.
    pub(super) fn new(text: &'a str, line: u32) -> Result<Option<Self>, Fault> {
        let text = plain(text);
        if text.is_empty() {
            return Ok(None);
        }
        let (first, rest) = split(text);
        let (name, words) = split(rest);
        let right = "a line is `RANK ACTION ARGUMENTS`";
        let Some(rank) = rank(first) else {
            return Err(Fault::at(
                line,
                format!("`{}` is no rank", quoted(first)),
                right,
            ));
        };
        if !ACTIONS.contains(&name) && name != REDUCE_SCATTER {
            let known: Vec<&str> = ACTIONS.into_iter().chain([REDUCE_SCATTER]).collect();
            let right = format!(
                "actions: {}{}",
                known.join(", "),
                did_you_mean(name, &known)
            );
            return Err(Fault::at(
                line,
                format!("`{}` is no action", quoted(name)),
                right,
            ));
        }
        Ok(Some(Self {
            rank,
            name,
            words,
            line,
        }))
    }

    /// Whether a text begins with such a line.
    pub(super) fn begins(text: &str) -> bool {
        let first = text.lines().map(plain).find(|line| !line.is_empty());
        first.is_some_and(|first| {
            let (rank_word, rest) = split(first);
            let (name, _) = split(rest);
            rank(rank_word).is_some() && (ACTIONS.contains(&name) || name == REDUCE_SCATTER)
        })
    }

    pub(super) fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault::at(self.line, wrong, right)
    }

    /// How many words are left.
    pub(super) fn left(&self) -> usize {
        self.words.split_whitespace().count()
    }

    /// The next word.
    fn word(&mut self, what: &str) -> Result<&'a str, Fault> {
        let (word, rest) = split(self.words);
        if word.is_empty() {
            let wrong = format!("`{}` ends before its {what}", self.name);
            return Err(self.fault(wrong, "`docs/replay.md` has the arguments of every action"));
        }
        self.words = rest;
        Ok(word)
    }

    /// The next number of at least 0, which may be written like `5e4`.
    pub(super) fn real(&mut self, what: &str) -> Result<f64, Fault> {
        let word = self.word(what)?;
        let number = word
            .parse::<f64>()
            .ok()
            .filter(|number| (0.0..=1e18).contains(number));
        number.ok_or_else(|| {
            let wrong = format!("`{}` is no {what}", quoted(word));
            self.fault(
                wrong,
                format!("write the {what} as a number from 0 to 1e18"),
            )
        })
    }

    /// The same without what is behind its point.
    pub(super) fn count(&mut self, what: &str) -> Result<u64, Fault> {
        Ok(self.real(what)? as u64)
    }

    /// The same; none if it is negative: a length that nobody knew.
    pub(super) fn count_if_known(&mut self, what: &str) -> Result<Option<u64>, Fault> {
        let mut ahead = *self;
        let number = ahead.word(what)?.parse::<f64>();
        if number.is_ok_and(|number| number < 0.0) {
            *self = ahead;
            return Ok(None);
        }
        self.count(what).map(Some)
    }

    /// So many counts.
    pub(super) fn counts(&mut self, many: usize, what: &str) -> Result<Vec<u64>, Fault> {
        (0..many).map(|_| self.count(what)).collect()
    }

    /// A rank or a tag, which may be negative.
    fn number(&mut self, what: &str) -> Result<i64, Fault> {
        let word = self.word(what)?;
        let number = word.parse::<i64>().ok();
        let number = number.filter(|&number| number <= i64::from(u32::MAX));
        number.ok_or_else(|| {
            let wrong = format!("`{}` is no {what}", quoted(word));
            self.fault(
                wrong,
                format!("write a {what}, or a negative number for any"),
            )
        })
    }

    /// A tag; none if it is negative, which stands for any.
    pub(super) fn tag(&mut self) -> Result<Option<u32>, Fault> {
        Ok(u32::try_from(self.number("tag")?).ok())
    }

    /// Whom a message is from.
    pub(super) fn sender(&mut self) -> Result<Sender, Fault> {
        let number = self.number("rank")?;
        Ok(match u32::try_from(number) {
            Ok(rank) => Sender::One(rank),
            Err(_) if number == NOBODY => Sender::Nobody,
            Err(_) => Sender::Any,
        })
    }

    /// Whom a message is for; none if nobody.
    pub(super) fn receiver(&mut self) -> Result<Option<u32>, Fault> {
        let mut ahead = *self;
        if [NOBODY, UNDEFINED].contains(&ahead.number("rank")?) {
            *self = ahead;
            return Ok(None);
        }
        self.one("rank").map(Some)
    }

    /// A rank or a tag that stands for one.
    pub(super) fn one(&mut self, what: &str) -> Result<u32, Fault> {
        let number = self.number(what)?;
        u32::try_from(number).map_err(|_| {
            let wrong = format!("`{number}` is no {what}");
            self.fault(wrong, format!("write a {what}: only receives take any"))
        })
    }

    /// A root, which may be missing.
    pub(super) fn root(&mut self) -> Result<u32, Fault> {
        match self.words.is_empty() {
            true => Ok(0),
            false => self.one("root"),
        }
    }

    /// Bytes of an element of the type that comes next, or of the usual one where there is none.
    pub(super) fn element(&mut self, usual: u64) -> Result<u64, Fault> {
        let number = match self.words.is_empty() {
            true => usual,
            false => self.count("type")?,
        };
        self.bytes_of(number)
    }

    /// Bytes of an element of a type.
    pub(super) fn bytes_of(&self, number: u64) -> Result<u64, Fault> {
        types::bytes(number).ok_or_else(|| {
            let right = format!("types are 0 (double) to {}", types::most());
            self.fault(format!("there is no type {number}"), right)
        })
    }

    /// So many bytes, if they are not too many.
    pub(super) fn bytes(&self, count: u64, element: u64) -> Result<u64, Fault> {
        let bytes = count
            .checked_mul(element)
            .filter(|&bytes| bytes <= MESSAGE_BYTES_MAX);
        bytes.ok_or_else(|| {
            let wrong = format!("{count} elements of {element} bytes are too many");
            self.fault(
                wrong,
                format!("a message has at most {MESSAGE_BYTES_MAX} bytes"),
            )
        })
    }

    /// Refuses what is left.
    pub(super) fn end(&self) -> Result<(), Fault> {
        if self.words.is_empty() {
            return Ok(());
        }
        let wrong = format!("`{}` should end before `{}`", self.name, quoted(self.words));
        Err(self.fault(wrong, "`docs/replay.md` has the arguments of every action"))
    }
}

/// A rank, which some traces write as `p3`.
fn rank(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('p').unwrap_or(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}
