// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a file as operations with what they require, before anything is made of them: a
//! schedule here, or a program that is replayed.

use std::collections::HashMap;

use corecast_text::{did_you_mean, quoted};
use foldhash::fast::RandomState;

use crate::error::Fault;
use crate::few::Few;
use crate::limits::BYTES_MAX;

/// Operations of a rank by their names, which are only looked up.
type Labels<'a> = HashMap<&'a str, u32, RandomState>;

/// An operation of a rank.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Operations of the rank that must have ended.
    pub after: Few<u32>,
    /// Operations of the rank that must have begun.
    pub with: Few<u32>,
    /// Where it stands.
    pub line: u32,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationKind {
    /// Sends a message.
    Send {
        /// Its length.
        bytes: u64,
        /// The receiver.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// Receives a message.
    Recv {
        /// Its length.
        bytes: u64,
        /// The sender; none = anybody.
        from: Option<u32>,
        /// Its tag; none = any.
        tag: Option<u32>,
    },
    /// Computes.
    Calc {
        /// For so many nanoseconds.
        ns: u64,
    },
}

/// A file.
#[derive(Debug)]
pub struct Graph {
    /// The operations of every rank, in the order of the file.
    pub ranks: Vec<Vec<Operation>>,
    /// Operations on other cores and network interfaces of a rank than its first.
    pub units: Units,
}

/// What a file says of `cpu` and `nic`, which nothing here has several of per rank.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Units {
    /// How many operations name one other than 0.
    pub operations: u64,
    /// The largest of each.
    pub most: [u8; 2],
    /// Where the first of them stands.
    pub first: u32,
}

impl Units {
    /// Takes in the `cpu` and `nic` of an operation.
    pub(crate) fn see(&mut self, [cpu, nic]: [u8; 2], line: u32) {
        if cpu == 0 && nic == 0 {
            return;
        }
        if self.operations == 0 {
            self.first = line;
        }
        self.operations += 1;
        self.most = [self.most[0].max(cpu), self.most[1].max(nic)];
    }

    /// What is lost of them, if anything is; `place` is what a line is called in this format.
    #[must_use]
    pub fn note(&self, place: &str) -> Option<String> {
        let Self {
            operations,
            most: [cpu, nic],
            first,
        } = self;
        (*operations > 0).then(|| {
            format!(
                "cpu and nic are left out, of {operations} operations other than 0 (up to cpu {cpu} and \
                 nic {nic}, the first in {place} {first}): a rank is one core with one way into the network"
            )
        })
    }
}

/// The words of a file with their lines, without comments; two of them ahead. A file may have some
/// hundred million, so they are not kept.
struct Words<'a> {
    rest: &'a str,
    line: u32,
    ahead: [(&'a str, u32); 2],
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Result<Self, Fault> {
        check_comments(text)?;
        let mut words = Self {
            rest: text,
            line: 1,
            ahead: [("", 1); 2],
        };
        words.ahead = [words.next(), words.next()];
        Ok(words)
    }

    /// The next word behind those ahead; empty at the end.
    fn next(&mut self) -> (&'a str, u32) {
        let bytes = self.rest.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | 0x0B | 0x0C => {}
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let inside = &self.rest[at + 2..];
                    let end = inside.find("*/").expect("comments end");
                    self.line += inside[..end].bytes().filter(|&byte| byte == b'\n').count() as u32;
                    at += end + 3;
                }
                _ => break,
            }
            at += 1;
        }
        let ends = |at: usize| match bytes.get(at) {
            None => true,
            Some(b'/') => bytes.get(at + 1) == Some(&b'*'),
            Some(byte) => byte.is_ascii_whitespace() || [b'{', b'}', b':', 0x0B].contains(byte),
        };
        let is_sign = bytes.get(at).is_some_and(|byte| b"{}:".contains(byte));
        let mut end = at + usize::from(is_sign);
        while !is_sign && !ends(end) {
            end += 1;
        }
        let word = &self.rest[at..end];
        self.rest = &self.rest[end..];
        (word, self.line)
    }

    /// A word without taking it; empty at the end.
    fn peek(&self, ahead: usize) -> &'a str {
        self.ahead[ahead].0
    }

    fn line(&self) -> u32 {
        self.ahead[0].1
    }

    fn take(&mut self) -> &'a str {
        let next = self.next();
        let [(word, _), second] = std::mem::replace(&mut self.ahead, [("", 0), next]);
        self.ahead[0] = second;
        word
    }

    fn fault(&self, wrong: impl Into<String>, right: &str) -> Fault {
        Fault::at(self.line(), wrong, right)
    }

    fn found(&self) -> String {
        match self.peek(0) {
            "" => "the end of the file".to_owned(),
            word => format!("`{}`", quoted(word)),
        }
    }

    fn need(&mut self, word: &str, right: &str) -> Result<(), Fault> {
        if self.peek(0) == word {
            self.take();
            return Ok(());
        }
        Err(self.fault(
            format!("here should be `{word}`, and is {}", self.found()),
            right,
        ))
    }

    fn number(&mut self, what: &str, most: u64) -> Result<u64, Fault> {
        let word = self.peek(0);
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let number = word
            .parse()
            .ok()
            .filter(|&number: &u64| is_number && number <= most);
        let Some(number) = number else {
            let right = format!("{what} is a number from 0 to {most}");
            return Err(self.fault(format!("{} is no {what}", self.found()), &right));
        };
        self.take();
        Ok(number)
    }

    /// Takes `-1`, which stands for any rank or tag.
    fn any(&mut self) -> bool {
        let is_any = self.peek(0) == "-1";
        if is_any {
            self.take();
        }
        is_any
    }

    /// `64b`, `64 b`
    fn bytes(&mut self) -> Result<u64, Fault> {
        const RIGHT: &str = "write a number of bytes like 64b";
        let word = self.peek(0);
        let digits = word.strip_suffix('b').unwrap_or(word);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let bytes = digits
            .parse()
            .ok()
            .filter(|&bytes: &u64| is_number && bytes <= BYTES_MAX);
        let Some(bytes) = bytes else {
            return Err(self.fault(format!("{} is no number of bytes", self.found()), RIGHT));
        };
        self.take();
        if digits.len() == word.len() {
            self.need("b", RIGHT)?;
        }
        Ok(bytes)
    }
}

/// Refuses a comment that does not end.
fn check_comments(text: &str) -> Result<(), Fault> {
    let mut rest = text;
    // By its slash alone, of which most files have none: that is several times faster.
    while let Some((_, behind)) = rest.split_once('/') {
        rest = behind;
        let Some(inside) = behind.strip_prefix('*') else {
            continue;
        };
        let Some((_, behind)) = inside.split_once("*/") else {
            let until = &text[..text.len() - inside.len() - "/*".len()];
            let line = 1 + until.matches('\n').count() as u32;
            return Err(Fault::at(
                line,
                "a comment does not end",
                "end it with `*/`",
            ));
        };
        rest = behind;
    }
    Ok(())
}

/// Parses a file.
///
/// # Errors
/// What is wrong with it, and in which line.
pub fn parse(text: &str) -> Result<Graph, Fault> {
    let mut words = Words::new(text)?;
    words.need("num_ranks", "a GOAL file begins with `num_ranks NUMBER`")?;
    let ranks = words.number("number of ranks", 1 << 20)?;
    if ranks == 0 {
        return Err(words.fault("a file of no ranks", "`num_ranks` is 1 at least"));
    }
    let mut graph = Graph {
        ranks: vec![Vec::new(); ranks as usize],
        units: Units::default(),
    };
    let mut seen = vec![false; ranks as usize];
    let mut names = 0;
    while !words.peek(0).is_empty() {
        words.need("rank", "write `rank NUMBER { ... }`")?;
        let line = words.line();
        let rank = words.number("rank", ranks - 1)?;
        if std::mem::replace(&mut seen[rank as usize], true) {
            let wrong = format!("rank {rank} is there a second time");
            return Err(Fault::at(line, wrong, "put its operations together"));
        }
        words.need("{", "the operations of a rank are in braces")?;
        // Most ranks have as many names as the one before.
        let mut labels = Labels::with_capacity_and_hasher(names, RandomState::default());
        while words.peek(0) != "}" {
            item(&mut words, rank as u32, &mut graph, &mut labels)?;
        }
        words.take();
        names = labels.len();
    }
    Ok(graph)
}

const ITEMS: [&str; 3] = ["send", "recv", "calc"];

/// An operation, or what requires what.
fn item<'a>(
    words: &mut Words<'a>,
    rank: u32,
    graph: &mut Graph,
    labels: &mut Labels<'a>,
) -> Result<(), Fault> {
    let operations = &mut graph.ranks[rank as usize];
    if ["requires", "irequires"].contains(&words.peek(1)) {
        let find = |words: &mut Words<'_>| {
            let Some(&found) = labels.get(words.peek(0)) else {
                let wrong = format!("rank {rank} has no operation called {} yet", words.found());
                return Err(words.fault(wrong, "give an operation a name before: `name: send ...`"));
            };
            words.take();
            Ok(found)
        };
        let step = find(words)?;
        let kind = words.take();
        let on = find(words)?;
        let operation = &mut operations[step as usize];
        match kind {
            "requires" => operation.after.push(on),
            _ => operation.with.push(on),
        }
        return Ok(());
    }
    let line = words.line();
    if words.peek(1) == ":" {
        let label = words.take();
        words.take();
        if labels.insert(label, operations.len() as u32).is_some() {
            let wrong = format!("rank {rank} has two operations called `{}`", quoted(label));
            return Err(Fault::at(line, wrong, "give every operation its own name"));
        }
    }
    let ranks = graph.ranks.len() as u64;
    let kind = match words.peek(0) {
        "send" => {
            words.take();
            let bytes = words.bytes()?;
            words.need("to", "write `send BYTESb to RANK`")?;
            let to = words.number("rank", ranks - 1)? as u32;
            let Some(tag) = tag(words)? else {
                let right = "a message has one tag; a receive may take any";
                return Err(Fault::at(line, "a message with any tag", right));
            };
            OperationKind::Send { bytes, to, tag }
        }
        "recv" => {
            words.take();
            let bytes = words.bytes()?;
            words.need("from", "write `recv BYTESb from RANK`")?;
            let from = match words.any() {
                true => None,
                false => Some(words.number("rank", ranks - 1)? as u32),
            };
            let tag = tag(words)?;
            OperationKind::Recv { bytes, from, tag }
        }
        "calc" => {
            words.take();
            OperationKind::Calc {
                ns: words.number("number of nanoseconds", u64::MAX)?,
            }
        }
        word => {
            let right = format!(
                "an item is {}, or `a requires b`{}",
                ITEMS.join(", "),
                did_you_mean(word, &ITEMS)
            );
            let wrong = format!("{} is no operation", words.found());
            return Err(words.fault(wrong, &right));
        }
    };
    let mut units = [0; 2];
    for (unit, number) in ["cpu", "nic"].into_iter().zip(&mut units) {
        if words.peek(0) == unit {
            words.take();
            *number = words.number(unit, u64::from(u8::MAX))? as u8;
        }
    }
    graph.units.see(units, line);
    graph.ranks[rank as usize].push(Operation {
        kind,
        after: Few::default(),
        with: Few::default(),
        line,
    });
    Ok(())
}

/// A tag; none = any.
fn tag(words: &mut Words<'_>) -> Result<Option<u32>, Fault> {
    if words.peek(0) != "tag" {
        return Ok(Some(0));
    }
    words.take();
    if words.any() {
        return Ok(None);
    }
    Ok(Some(words.number("tag", u64::from(u32::MAX))? as u32))
}
