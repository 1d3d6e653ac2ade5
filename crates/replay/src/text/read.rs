// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file as a program.

use std::collections::BTreeMap;

use corecast_exchange::{Cursor, Fault, Few};
use corecast_text::did_you_mean;

use super::{MAGIC, VERSION, collective, time};
use crate::graph::{
    Call, CallGraph, CollectiveKind, Event, Group, KINDS, MESSAGE_BYTES_MAX, Origin, RANKS_MAX,
    WORLD, What,
};

/// Words that stand between a call and what it waits for.
const RESERVED: [&str; 3] = ["in", "after", "start"];

const NO_RANK: &str = "begin the calls of a rank with `rank R`";

pub(super) fn parse(file: &str, text: &str) -> Result<CallGraph, Fault> {
    let mut lines = (1..)
        .zip(text.lines())
        .map(|(number, line)| Cursor::new(line, number))
        .filter(|line| !line.is_empty());
    begin(lines.next())?;
    let mut graph = CallGraph::new(file, ranks(lines.next())?);
    let mut block: Option<Block<'_>> = None;
    let mut seen = vec![false; graph.ranks.len()];
    for mut line in lines {
        match line.peek() {
            "group" if block.is_none() => group(&mut line, &mut graph)?,
            "rank" => {
                if let Some(block) = block.take() {
                    block.finish(&mut graph)?;
                }
                block = Some(Block::begin(&mut line, &mut seen)?);
            }
            _ => match &mut block {
                Some(block) => block.line(&mut line, &graph.groups)?,
                None => {
                    let wrong = format!("{} stands in front of all ranks", line.found());
                    return Err(line.fault(wrong, NO_RANK));
                }
            },
        }
    }
    if let Some(block) = block {
        block.finish(&mut graph)?;
    }
    Ok(graph)
}

/// The first line says what the file is.
fn begin(line: Option<Cursor<'_>>) -> Result<(), Fault> {
    let right = format!("the first line is `{MAGIC} {VERSION}`");
    let Some(mut line) = line else {
        return Err(Fault::whole("the file has no line", right));
    };
    if !MAGIC.split(' ').all(|word| line.eat_word(word)) {
        return Err(line.fault("this is no program of corecast", right));
    }
    let version = line.small("version", u32::MAX)?;
    if version != VERSION {
        return Err(line.fault(format!("version {version} is not known here"), right));
    }
    line.end(&right)
}

fn ranks(line: Option<Cursor<'_>>) -> Result<u32, Fault> {
    let right = "the second line is `ranks NUMBER`";
    let Some(mut line) = line else {
        return Err(Fault::whole(
            "the file ends before the number of ranks",
            right,
        ));
    };
    if !line.eat_word("ranks") {
        let wrong = format!("here should be `ranks`, and is {}", line.found());
        return Err(line.fault(wrong, right));
    }
    let ranks = line.small("number of ranks", RANKS_MAX)?;
    if ranks == 0 {
        let right = format!("write a number from 1 to {RANKS_MAX}");
        return Err(line.fault("a program of no ranks", right));
    }
    line.end(right)?;
    Ok(ranks)
}

/// `group NAME RANK RANK ...`
fn group(line: &mut Cursor<'_>, graph: &mut CallGraph) -> Result<(), Fault> {
    line.word();
    let name = line.text("name")?;
    if graph.groups.iter().any(|group| group.name == name) {
        let wrong = format!(
            "there is a group called `{}` already",
            corecast_text::quoted(&name)
        );
        return Err(line.fault(wrong, "give every group its own name; `world` is all ranks"));
    }
    let mut ranks = Vec::new();
    while !line.is_empty() {
        ranks.push(line.small("rank", graph.size() - 1)?);
    }
    let mut sorted = ranks.clone();
    sorted.sort_unstable();
    if ranks.is_empty() || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        let right = "write `group NAME RANK RANK ...`, every rank once";
        return Err(line.fault(
            "a group has one rank at least, and each of them once",
            right,
        ));
    }
    graph.groups.push(Group { name, ranks });
    Ok(())
}

/// The calls of a rank as far as they have been read.
struct Block<'a> {
    rank: usize,
    /// Whether a call waits for nothing but what it names.
    is_free: bool,
    calls: Vec<Call>,
    /// What a call of the next line waits for.
    before: Option<Event>,
    labels: BTreeMap<&'a str, u32>,
    /// Names that calls wait for: which call, its place among what it waits for, the name, the line.
    waits: Vec<(u32, usize, &'a str, u32)>,
}

impl<'a> Block<'a> {
    fn begin(line: &mut Cursor<'a>, seen: &mut [bool]) -> Result<Self, Fault> {
        line.word();
        let rank = line.small("rank", seen.len() as u32 - 1)? as usize;
        if std::mem::replace(&mut seen[rank], true) {
            let wrong = format!("rank {rank} is there a second time");
            return Err(line.fault(wrong, "put its calls together"));
        }
        let is_free = line.eat_word("free");
        line.end("write `rank R`, or `rank R free` for calls that wait only for what they name")?;
        Ok(Self {
            rank,
            is_free,
            calls: Vec::new(),
            before: None,
            labels: BTreeMap::new(),
            waits: Vec::new(),
        })
    }

    fn line(&mut self, line: &mut Cursor<'a>, groups: &[Group]) -> Result<(), Fault> {
        let index = self.calls.len() as u32;
        let mut behind = *line;
        let label = behind.word();
        if !label.is_empty() && behind.eat(':') {
            *line = behind;
            if RESERVED.contains(&label) {
                let wrong = format!("no call can be named `{label}`");
                return Err(line.fault(wrong, "these words have a meaning: in, after, start"));
            }
            if self.labels.insert(label, index).is_some() {
                let wrong = format!(
                    "rank {} has two calls named `{}`",
                    self.rank,
                    corecast_text::quoted(label)
                );
                return Err(line.fault(wrong, "give every call its own name"));
            }
        }
        let (what, is_started) = self.what(line)?;
        let has_group = !matches!(what, What::Compute(_) | What::Wait);
        let group = match has_group && line.eat_word("in") {
            true => find_group(line, groups)?,
            false => WORLD,
        };
        let mut after: Few<Event> = self.before.into_iter().filter(|_| !self.is_free).collect();
        let has_names = match what {
            What::Wait => !line.is_empty(),
            _ => line.eat_word("after"),
        };
        if has_names {
            self.names(line, index, &mut after)?;
        }
        line.end("a call is `[NAME:] WHAT [in GROUP] [after NAME, start NAME, ...]`")?;
        self.before = Some(match is_started {
            true => Event::Start(index),
            false => Event::End(index),
        });
        let at = Origin {
            file: 0,
            line: line.line(),
        };
        self.calls.push(Call {
            what,
            group,
            after,
            at,
        });
        Ok(())
    }

    /// What a call does, and whether the next line need only wait for its start.
    fn what(&self, line: &mut Cursor<'a>) -> Result<(What, bool), Fault> {
        let found = line.found();
        let start = *line;
        let word = line.word();
        let plain = word
            .strip_prefix('i')
            .filter(|plain| KINDS.contains(plain) && !["compute", "wait"].contains(plain));
        if plain.is_some() && self.is_free {
            let wrong = format!("{found} where nothing waits for the line above");
            let right = format!("write `{}`", plain.unwrap_or_default());
            return Err(start.fault(wrong, right));
        }
        let what = match plain.unwrap_or(word) {
            "compute" => {
                let found = line.found();
                let time = time::read(line.word());
                What::Compute(time.ok_or_else(|| {
                    let wrong = format!("{found} is no time");
                    start.fault(wrong, "write a time in s, ms, us, ns or ps, such as 2.5us")
                })?)
            }
            "wait" => What::Wait,
            "send" => What::Send {
                to: line.small("rank", u32::MAX)?,
                bytes: line.number("number of bytes", MESSAGE_BYTES_MAX)?,
                tag: tag(line)?,
            },
            "recv" => What::Recv {
                from: match line.eat_word("any") {
                    true => None,
                    false => Some(line.small("rank", u32::MAX)?),
                },
                bytes: line.number("number of bytes", MESSAGE_BYTES_MAX)?,
                tag: match line.peek() {
                    "tag" if after_tag(line) == "any" => {
                        line.word();
                        line.word();
                        None
                    }
                    _ => Some(tag(line)?),
                },
            },
            word => match CollectiveKind::from_name(word) {
                Some(kind) => What::Collective(Box::new(collective::read(line, kind)?)),
                None => {
                    let right =
                        format!("calls: {}{}", KINDS.join(", "), did_you_mean(word, &KINDS));
                    return Err(start.fault(format!("{found} is no call"), right));
                }
            },
        };
        Ok((what, plain.is_some()))
    }

    /// `a, start b`
    fn names(
        &mut self,
        line: &mut Cursor<'a>,
        index: u32,
        after: &mut Few<Event>,
    ) -> Result<(), Fault> {
        const RIGHT: &str = "write names of calls of this rank: `after a, start b`";
        if line.is_empty() {
            return Err(line.fault("it does not say after what", RIGHT));
        }
        loop {
            let mut name = line.word();
            // Numbers follow when all names are known.
            let mut event = Event::End(0);
            if name == "start" && !line.peek().is_empty() {
                name = line.word();
                event = Event::Start(0);
            }
            if name.is_empty() {
                return Err(line.fault(format!("{} is no name", line.found()), RIGHT));
            }
            self.waits.push((index, after.len(), name, line.line()));
            after.push(event);
            if !line.eat(',') {
                return Ok(());
            }
        }
    }

    fn finish(mut self, graph: &mut CallGraph) -> Result<(), Fault> {
        for (call, at, name, line) in self.waits {
            let Some(&on) = self.labels.get(name) else {
                let wrong = format!(
                    "rank {} has no call named `{}`",
                    self.rank,
                    corecast_text::quoted(name)
                );
                let right = "begin the call that is waited for with its name and a colon";
                return Err(Fault::at(line, wrong, right));
            };
            let event = &mut self.calls[call as usize].after[at];
            *event = match event {
                Event::Start(_) => Event::Start(on),
                Event::End(_) => Event::End(on),
            };
        }
        graph.ranks[self.rank] = self.calls;
        Ok(())
    }
}

/// `tag 7`, or 0 where there is none.
fn tag(line: &mut Cursor<'_>) -> Result<u32, Fault> {
    match line.eat_word("tag") {
        true => line.small("tag", u32::MAX),
        false => Ok(0),
    }
}

/// The word behind the next one.
fn after_tag<'a>(line: &Cursor<'a>) -> &'a str {
    let mut behind = *line;
    behind.word();
    behind.peek()
}

fn find_group(line: &mut Cursor<'_>, groups: &[Group]) -> Result<u32, Fault> {
    let name = line.text("name")?;
    let found = groups.iter().position(|group| group.name == name);
    found.map(|index| index as u32).ok_or_else(|| {
        let known: Vec<&str> = groups.iter().map(|group| &*group.name).collect();
        let shown = corecast_text::quoted(&known.join(", "));
        let right = format!("groups: {shown}{}", did_you_mean(&name, &known));
        let wrong = format!(
            "there is no group called `{}`",
            corecast_text::quoted(&name)
        );
        line.fault(wrong, right)
    })
}
