// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runtimes would say against a file that is a schedule all the same, and what else it says.
//!
//! Most of it one of them refuses, or hangs on, when a program starts; what a schedule does tells
//! nothing of it. Each kind is noted once, with the first line that it is about.

use corecast_text::quoted;

use super::about::missing;
use super::document::Element;
use crate::error::Fault;

/// Steps of a thread block that RCCL takes, and those that MSCCL takes.
const STEPS_MAX: [(&str, usize); 2] = [("RCCL", 64), ("MSCCL", 256)];

/// From so many chunks in one message on the runtimes refuse a step.
pub(super) const COUNT_MAX: u32 = 72;

/// The protocols of runtimes.
const PROTOCOLS: [&str; 3] = ["Simple", "LL", "LL128"];

/// What runtimes know of a step that others may wait for.
#[derive(Clone, Copy)]
pub(super) struct Target {
    has_dep: bool,
    /// Its number as they count, which is what they signal; none of a step that only waits.
    number: Option<u32>,
}

/// The lines about which there is one thing to say.
#[derive(Default)]
struct Lines {
    first: Option<u32>,
    count: u32,
}

impl Lines {
    fn add(&mut self, element: Element<'_, '_>) {
        self.first.get_or_insert_with(|| element.line());
        self.count += 1;
    }

    fn note(&self, what: &str) -> Option<String> {
        let first = self.first?;
        Some(match self.count {
            1 => format!("line {first}: {what}"),
            count => format!("line {first}, and {} more: {what}", count - 1),
        })
    }
}

/// What was seen so far, and of the thread block that is read how far runtimes have counted.
#[derive(Default)]
pub(super) struct Remarks {
    /// Waits for steps that are not marked.
    unmarked: u32,
    /// Chunks of the longest message.
    longest: u32,
    /// Steps of the longest thread block.
    steps: usize,
    is_sparse: bool,
    /// Thread blocks whose peer is their own rank.
    own_peer: Lines,
    /// Steps beyond `i_chunks` or `o_chunks`.
    beyond: Lines,
    /// Steps that write an input buffer.
    input: Lines,
    /// Steps that wait for nothing themselves, behind some that only wait.
    loose: Lines,
    /// Waits for steps that only wait.
    for_wait: Lines,
    /// Waits for steps that have another number to runtimes.
    misnumbered: Lines,
    /// The number of the next step of the thread block to runtimes, and how many only wait before it.
    next: u32,
    pending: u32,
}

impl Remarks {
    pub(super) fn block(
        &mut self,
        tb: Element<'_, '_>,
        (rank, id): (u32, u32),
        index: u32,
        steps: usize,
    ) {
        self.steps = self.steps.max(steps);
        self.is_sparse |= id != index;
        let is_own = |name| tb.optional(name).ok().flatten() == Some(rank);
        if is_own("send") || is_own("recv") {
            self.own_peer.add(tb);
        }
        (self.next, self.pending) = (0, 0);
    }

    /// A message of so many chunks.
    pub(super) fn message(&mut self, chunks: u32) {
        self.longest = self.longest.max(chunks);
    }

    /// A step of the thread block that was begun last.
    pub(super) fn step(
        &mut self,
        gpu: Element<'_, '_>,
        step: Element<'_, '_>,
    ) -> Result<Target, Fault> {
        let has_dep = step.count("hasdep", 1)? == 1;
        let waits = step.optional("depid")?.is_some();
        let kind = step.text("type")?;
        if kind == "nop" {
            self.pending += u32::from(waits);
            let number = None;
            return Ok(Target { has_dep, number });
        }
        if self.pending > 0 && !waits {
            self.loose.add(step);
        }
        let (reads, writes) = match kind {
            "s" | "rrs" => (true, false),
            "r" | "rcs" => (false, true),
            _ => (true, true),
        };
        let is_beyond = |end: [&str; 2]| {
            let size = match step.get(end[0]) {
                Some("i") => "i_chunks",
                Some("o") => "o_chunks",
                _ => return false,
            };
            let number = |text: Option<&str>| text?.trim().parse::<u64>().ok();
            let (at, count) = (number(step.get(end[1])), number(step.get("cnt")));
            let last = at.zip(count).map(|(at, count)| at.saturating_add(count));
            let size = number(gpu.get(size));
            last.zip(size).is_some_and(|(last, size)| last > size)
        };
        if (reads && is_beyond(["srcbuf", "srcoff"])) || (writes && is_beyond(["dstbuf", "dstoff"]))
        {
            self.beyond.add(step);
        }
        if writes && step.get("dstbuf") == Some("i") {
            self.input.add(step);
        }
        // All that a step waits for counts, but for one.
        let number = self.next + (self.pending + u32::from(waits)).saturating_sub(1);
        (self.next, self.pending) = (number + 1, 0);
        let number = Some(number);
        Ok(Target { has_dep, number })
    }

    /// A step that waits for another one, of which the file has thread block and number.
    pub(super) fn wait(&mut self, step: Element<'_, '_>, target: Target, (_, label): (u32, u32)) {
        match target.number {
            None => self.for_wait.add(step),
            Some(_) if !target.has_dep => self.unmarked += 1,
            Some(number) if number != label => self.misnumbered.add(step),
            Some(_) => {}
        }
    }

    /// Whether runtimes count steps, and so waits for them, as the file does.
    pub(super) fn is_counted(&self) -> bool {
        let wrong = [&self.loose, &self.for_wait, &self.misnumbered];
        !self.is_sparse && wrong.iter().all(|lines| lines.count == 0)
    }

    pub(super) fn notes(self, algo: Element<'_, '_>, is_in_place: bool) -> Vec<String> {
        let mut notes = of_attributes(algo);
        if self.unmarked > 0 {
            notes.push(format!(
                "{} waits are for steps without hasdep=\"1\", which runtimes never signal",
                self.unmarked
            ));
        }
        for (runtime, most) in STEPS_MAX {
            if self.steps > most {
                notes.push(format!(
                    "{runtime} takes {most} steps per thread block, here are {}",
                    self.steps
                ));
            }
        }
        if self.longest >= COUNT_MAX {
            notes.push(format!(
                "runtimes take messages of less than {COUNT_MAX} chunks, here are {}",
                self.longest
            ));
        }
        if self.is_sparse {
            notes.push("runtimes want thread blocks numbered from 0 in order".to_owned());
        }
        let in_lines = [
            (
                self.own_peer,
                "runtimes refuse a thread block that sends to its own gpu or receives from it",
            ),
            (
                self.beyond,
                "what is beyond i_chunks or o_chunks of its gpu runtimes refuse",
            ),
            (
                self.loose,
                "runtimes refuse a step that waits for nothing behind a `nop` that waits",
            ),
            (
                self.for_wait,
                "it waits for a `nop`, of which runtimes never signal the end",
            ),
            (
                self.misnumbered,
                "it waits for a step that has another number to runtimes, which count steps from 0 \
                 whatever `s` says, and no `nop` that waits for nothing",
            ),
        ];
        notes.extend(in_lines.iter().filter_map(|(lines, what)| lines.note(what)));
        if !is_in_place {
            let what = "it writes the input, so that a call out of place finds its send buffer \
                        overwritten";
            notes.extend(self.input.note(what));
        }
        notes
    }
}

/// What is to be said of the attributes of `algo`.
fn of_attributes(algo: Element<'_, '_>) -> Vec<String> {
    let mut notes = Vec::new();
    let said = ["proto", "minBytes", "maxBytes", "redop"];
    let said = said
        .into_iter()
        .filter_map(|name| Some(format!("{name}={}", algo.get(name)?)));
    let said: Vec<String> = said.collect();
    if !said.is_empty() {
        notes.push(format!("a schedule does not say {}", said.join(" ")));
    }
    let missing: Vec<&str> = missing(algo).map(|(name, _)| name).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        notes.push(format!(
            "RCCL and the MSCCL executor refuse a file without {missing}"
        ));
    }
    let line = || algo.line();
    if let Some(proto) = algo.get("proto").filter(|name| !PROTOCOLS.contains(name)) {
        notes.push(format!(
            "line {}: runtimes know no protocol `{}`; they are {}",
            line(),
            quoted(proto),
            PROTOCOLS.join(", ")
        ));
    }
    let bytes = |name| algo.get(name)?.trim().parse::<u64>().ok();
    // To some runtimes 0 is no upper end.
    if let (Some(min), Some(max)) = (bytes("minBytes"), bytes("maxBytes"))
        && max > 0
        && min > max
    {
        notes.push(format!(
            "line {}: no call has from minBytes={min} to maxBytes={max} bytes, so that runtimes never \
             take the file",
            line()
        ));
    }
    let both = ["inplace", "outofplace"].map(|name| algo.get(name) == Some("1"));
    if both == [true; 2] {
        notes.push("it may be used out of place, too; it was read as in place".to_owned());
    }
    notes
}
