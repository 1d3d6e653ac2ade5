// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trace as a program: every rank one call after the other.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::Time;
use corecast_exchange::{Fault, FileError, text_of};

use super::actions::{Action, Sender};
use super::{collective, types};
use crate::format::{Options, Read};
use crate::graph::{
    COMPUTE_MAX, Call, CallGraph, Event, MESSAGE_BYTES_MAX, Origin, RANKS_MAX, WORLD, What,
};
use crate::roots::counts_of_roots;

/// Whether a text looks like a trace.
pub(super) fn is_trace(text: &str) -> bool {
    Action::begins(text)
}

/// The files that a text names, one in a line; none if it is no list of files with traces.
pub(super) fn listed(text: &str) -> Option<Vec<&str>> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_name = |name: &&str| {
        let is_one = !name.contains(char::is_whitespace);
        is_one && (name.contains('.') || name.contains('/')) && !name.contains(['{', '[', '<'])
    };
    let names = lines.map(|name| is_name(&name).then_some(name));
    let names = names.collect::<Option<Vec<&str>>>();
    names.filter(|names| !names.is_empty() && !is_trace(text))
}

/// Reads a trace, or those that a manifest names.
pub(super) fn read(file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
    let text = text_of(contents).map_err(|fault| fault.in_file(file))?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    match listed(text) {
        None => files.push((file.to_owned(), contents.to_vec())),
        Some(names) => {
            for (line, name) in numbered(text, &names) {
                let read = match options.read_file {
                    Some(read_file) => read_file(name),
                    None => Err("files that others name are not read here".to_owned()),
                };
                let contents = read.map_err(|why| {
                    let wrong = format!("cannot read `{}`: {why}", corecast_text::quoted(name));
                    let right =
                        "a manifest has the path of a trace in every line, seen from itself";
                    Fault::at(line, wrong, right).in_file(file)
                })?;
                files.push((name.to_owned(), contents));
            }
        }
    }
    let ranks = count(&files)?;
    let mut reader = Reader::new(file, ranks, options.flops);
    reader.graph.files = files.iter().map(|(name, _)| name.clone()).collect();
    for (index, (name, contents)) in (0..).zip(&files) {
        let read = text_of(contents).and_then(|text| reader.file(index, text));
        read.map_err(|fault| fault.in_file(name))?;
    }
    reader.finish()
}

/// Names with their lines.
fn numbered<'a>(text: &'a str, names: &[&'a str]) -> Vec<(u32, &'a str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| names.contains(line)).collect()
}

/// Number of ranks: one more than the highest.
fn count(files: &[(String, Vec<u8>)]) -> Result<u32, FileError> {
    let mut highest = 0;
    for (name, contents) in files {
        let lines = text_of(contents).map_err(|fault| fault.in_file(name))?;
        for (line, text) in (1..).zip(lines.lines()) {
            let action = Action::new(text, line).map_err(|fault| fault.in_file(name))?;
            let Some(action) = action else {
                continue;
            };
            if action.rank >= RANKS_MAX {
                let right = format!("a program has at most {RANKS_MAX} ranks");
                let wrong = format!("rank {} is out of range", action.rank);
                return Err(action.fault(wrong, right).in_file(name));
            }
            highest = highest.max(action.rank);
        }
    }
    Ok(highest + 1)
}

/// A request that is open: sender, receiver (none = nobody) and tag (none = any).
type Key = (Sender, Option<u32>, Option<u32>);

/// What is known of a rank while its trace is read.
#[derive(Default)]
struct OfRank {
    before: Option<Event>,
    /// Calls that can be waited for; none where nobody is at the other end.
    open: BTreeMap<Key, VecDeque<Option<u32>>>,
    /// The type of sizes that say none.
    usual: Option<u64>,
}

struct Reader {
    graph: CallGraph,
    ranks: Vec<OfRank>,
    flops: Option<f64>,
    /// What is left out, and how often.
    left_out: BTreeMap<&'static str, u64>,
}

impl Reader {
    fn new(file: &str, ranks: u32, flops: Option<f64>) -> Self {
        Self {
            graph: CallGraph::new(file, ranks),
            ranks: (0..ranks).map(|_| OfRank::default()).collect(),
            flops,
            left_out: BTreeMap::new(),
        }
    }

    fn file(&mut self, file: u32, text: &str) -> Result<(), Fault> {
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(action) = Action::new(text, line)? {
                self.action(file, action)?;
            }
        }
        Ok(())
    }

    /// Adds a call behind those that its rank waits for; the next waits for its end, or its start.
    fn push(&mut self, action: &Action<'_>, file: u32, what: What, is_started: bool) -> u32 {
        let of_rank = &mut self.ranks[action.rank as usize];
        let calls = &mut self.graph.ranks[action.rank as usize];
        let index = calls.len() as u32;
        calls.push(Call {
            what,
            group: WORLD,
            after: of_rank.before.into_iter().collect(),
            at: Origin {
                file,
                line: action.line,
            },
        });
        of_rank.before = Some(match is_started {
            true => Event::Start(index),
            false => Event::End(index),
        });
        index
    }

    fn leave_out(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    fn action(&mut self, file: u32, mut action: Action<'_>) -> Result<(), Fault> {
        let usual = self.ranks[action.rank as usize]
            .usual
            .unwrap_or(types::BYTE);
        match action.name {
            "init" => {
                let is_double = action.left() > 0;
                if is_double {
                    action.real("flag")?;
                    self.ranks[action.rank as usize].usual = Some(types::DOUBLE);
                }
            }
            "finalize" => {}
            "comm_size" | "comm_split" | "comm_dup" => {
                self.leave_out("communicators");
                return Ok(());
            }
            "location" => return Ok(()),
            "test" => {
                self.leave_out("tests");
                return Ok(());
            }
            "compute" => {
                let flops = action.real("number of operations")?;
                let time = self.computing(&action, flops)?;
                self.push(&action, file, What::Compute(time), false);
            }
            "sleep" => {
                let seconds = action.real("number of seconds")?;
                let time = in_ps(&action, seconds * 1e12)?;
                self.push(&action, file, What::Compute(time), false);
            }
            "send" | "isend" | "recv" | "irecv" => self.message(file, &mut action, usual)?,
            "sendRecv" => self.exchange(file, &mut action, usual)?,
            "wait" => self.wait(file, &mut action)?,
            "waitall" => {
                // How many they were in the program; SimGrid, too, waits for all that are open.
                if action.left() > 0 {
                    action.count("count")?;
                }
                let open = std::mem::take(&mut self.ranks[action.rank as usize].open);
                let mut calls: Vec<u32> = open.into_values().flatten().flatten().collect();
                calls.sort_unstable();
                self.wait_for(file, &action, &calls);
            }
            _ => self.collective(file, &mut action, usual)?,
        }
        action.end()
    }

    /// How long operations take.
    fn computing(&self, action: &Action<'_>, flops: f64) -> Result<Time, Fault> {
        let Some(rate) = self.flops else {
            let right = "give the rate of a core: `--flops 1G`";
            return Err(action.fault("computing is counted in operations here", right));
        };
        in_ps(action, flops / rate * 1e12)
    }

    fn message(&mut self, file: u32, action: &mut Action<'_>, usual: u64) -> Result<(), Fault> {
        let is_send = action.name.ends_with("send");
        let (from, to, tag) = match is_send {
            true => (
                Sender::One(action.rank),
                action.receiver()?,
                Some(action.one("tag")?),
            ),
            false => (action.sender()?, Some(action.rank), action.tag()?),
        };
        let count = match is_send {
            true => Some(action.count("count")?),
            false => action.count_if_known("count")?,
        };
        let element = action.element(usual)?;
        let bytes = action.bytes(count.unwrap_or(0), element)?;
        let what = match is_send {
            true => sent(to, tag, bytes),
            false => received(from, tag, bytes),
        };
        let is_started = action.name.starts_with('i');
        let call = what.map(|what| self.push(action, file, what, is_started));
        if is_started {
            let open = &mut self.ranks[action.rank as usize].open;
            open.entry((from, to, tag)).or_default().push_back(call);
        }
        Ok(())
    }

    /// `sendRecv SC DST RC SRC ST RT`
    fn exchange(&mut self, file: u32, action: &mut Action<'_>, usual: u64) -> Result<(), Fault> {
        let count = action.count("count")?;
        let to = action.receiver()?;
        let most = action.count_if_known("count")?;
        let from = action.sender()?;
        let element = action.element(usual)?;
        let bytes = action.bytes(count, element)?;
        let element = action.element(usual)?;
        let most = action.bytes(most.unwrap_or(0), element)?;
        let send = sent(to, Some(0), bytes).map(|send| self.push(action, file, send, true));
        if let Some(recv) = received(from, Some(0), most) {
            self.push(action, file, recv, false);
        }
        self.wait_for(file, action, send.as_slice());
        Ok(())
    }

    /// `wait SRC DST TAG`: the first that is open.
    fn wait(&mut self, file: u32, action: &mut Action<'_>) -> Result<(), Fault> {
        let key = (action.sender()?, action.receiver()?, action.tag()?);
        let open = &mut self.ranks[action.rank as usize].open;
        let Some(call) = open.get_mut(&key).and_then(VecDeque::pop_front) else {
            let wrong = format!("rank {} has begun no such message", action.rank);
            let right = "`wait SENDER RECEIVER TAG` follows an `isend` or `irecv` of this rank";
            return Err(action.fault(wrong, right));
        };
        self.wait_for(file, action, call.as_slice());
        Ok(())
    }

    fn wait_for(&mut self, file: u32, action: &Action<'_>, calls: &[u32]) {
        let index = self.push(action, file, What::Wait, false);
        let call = &mut self.graph.ranks[action.rank as usize][index as usize];
        call.after
            .extend(calls.iter().map(|&call| Event::End(call)));
    }

    fn collective(&mut self, file: u32, action: &mut Action<'_>, usual: u64) -> Result<(), Fault> {
        let (collective, flops) = collective::of_line(action, usual, self.graph.ranks.len())?;
        let what = What::Collective(Box::new(collective));
        self.push(action, file, what, false);
        if flops > 0.0 {
            let time = self.computing(action, flops)?;
            self.push(action, file, What::Compute(time), false);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Read, FileError> {
        counts_of_roots(&mut self.graph)?;
        let mut notes = Vec::new();
        for (what, count) in self.left_out {
            notes.push(match what {
                "tests" => {
                    format!("tests are left out ({count} lines): when they succeed depends on time")
                }
                _ => format!(
                    "communicators are left out ({count} lines): all calls are of all ranks"
                ),
            });
        }
        Ok(Read {
            graph: self.graph,
            notes,
        })
    }
}

/// A message to a rank, if there is one.
fn sent(to: Option<u32>, tag: Option<u32>, bytes: u64) -> Option<What> {
    let (to, tag) = to.zip(tag)?;
    Some(What::Send { to, tag, bytes })
}

/// A receive from somebody. One of no bytes is of a length that nobody knew.
fn received(from: Sender, tag: Option<u32>, bytes: u64) -> Option<What> {
    let from = match from {
        Sender::One(rank) => Some(rank),
        Sender::Any => None,
        Sender::Nobody => return None,
    };
    let bytes = match bytes {
        0 => MESSAGE_BYTES_MAX,
        bytes => bytes,
    };
    Some(What::Recv { from, tag, bytes })
}

/// A time that computing can take.
fn in_ps(action: &Action<'_>, ps: f64) -> Result<Time, Fault> {
    if ps <= COMPUTE_MAX.ps() as f64 {
        return Ok(Time::from_ps(ps.round() as u64));
    }
    let right = format!("computing takes at most {COMPUTE_MAX}");
    Err(action.fault("this takes too long", right))
}
