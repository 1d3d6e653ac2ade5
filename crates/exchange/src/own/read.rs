// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file as a schedule.

use std::collections::BTreeMap;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, Schedule, ScheduleBuilder, StepRef, verify,
};
use corecast_text::did_you_mean;

use super::header::Header;
use super::{MAGIC, VERSION};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::{self, Deliveries, ROUND_MAX};
use crate::lines::StepLines;

/// What a step can be.
pub(super) const VERBS: [&str; 8] = [
    "send", "recv", "xchg", "fwd", "mcast", "copy", "combine", "wait",
];

pub(super) fn parse(text: &str) -> Result<Imported, Fault> {
    let mut lines = (1..)
        .zip(text.lines())
        .map(|(number, line)| Cursor::new(line, number));
    let mut lines = lines.by_ref().filter(|line| !line.is_empty()).peekable();
    begin(lines.next())?;
    let mut header = Header::default();
    let mut last = 1;
    while let Some(line) = lines.peek() {
        last = line.line();
        if !header.line(&mut line.clone())? {
            break;
        }
        lines.next();
    }
    let mut body = Body::new(header.finish(last)?);
    for mut line in lines {
        last = line.line();
        body.line(&mut line)?;
    }
    let (schedule, lines) = body.finish(last)?;
    Ok(Imported {
        schedule,
        notes: Vec::new(),
        lines,
    })
}

/// The first line says what the file is.
fn begin(line: Option<Cursor<'_>>) -> Result<(), Fault> {
    let right = format!("the first line is `{MAGIC} {VERSION}`");
    let Some(mut line) = line else {
        return Err(Fault::whole("the file has no line", right));
    };
    let is_ours = MAGIC.split(' ').all(|word| line.eat_word(word));
    if !is_ours {
        return Err(line.fault("this is no schedule of corecast", right));
    }
    let version = line.small("version", u32::MAX)?;
    if version != VERSION {
        return Err(line.fault(format!("version {version} is not known here"), right));
    }
    line.end(&right)
}

/// The steps as far as they have been read.
struct Body {
    builder: ScheduleBuilder,
    ranks: u32,
    places: u64,
    /// Receivers of every multicast.
    receivers: Vec<u64>,
    /// Whose steps are being read.
    at: Option<(Rank, u32)>,
    /// Streams that every rank has so far.
    streams: Vec<u32>,
    labels: BTreeMap<(Rank, String), StepRef>,
    waits: Vec<(StepRef, String, u32)>,
    /// Lists that there are already.
    lists: BTreeMap<Vec<ChunkId>, ChunkList>,
    deliveries: Deliveries,
    /// The line of the first step with a round and of the first without.
    rounds: [Option<u32>; 2],
    lines: StepLines,
}

impl Body {
    fn new(builder: ScheduleBuilder) -> Self {
        let empty = builder.clone().finish();
        let receivers = empty.multicasts().iter();
        Self {
            ranks: empty.ranks(),
            places: empty.places_total(),
            receivers: receivers.map(|tree| tree.edges().count() as u64).collect(),
            streams: vec![0; empty.ranks() as usize],
            builder,
            at: None,
            labels: BTreeMap::new(),
            waits: Vec::new(),
            lists: BTreeMap::new(),
            deliveries: Deliveries::default(),
            rounds: [None; 2],
            lines: StepLines::default(),
        }
    }

    fn line(&mut self, line: &mut Cursor<'_>) -> Result<(), Fault> {
        match line.peek() {
            "rank" => self.begin_stream(line),
            _ => self.step(line),
        }
    }

    /// `rank R [stream S] [channel C]`
    fn begin_stream(&mut self, line: &mut Cursor<'_>) -> Result<(), Fault> {
        const RIGHT: &str = "write `rank R`, `rank R channel C` or `rank R stream S channel C`";
        line.word();
        let rank = self.rank(line)?;
        let stream = match line.eat_word("stream") {
            true => line.small("stream", u32::MAX)?,
            false => 0,
        };
        let channel = match line.eat_word("channel") {
            true => line.small("channel", u32::MAX)?,
            false => 0,
        };
        line.end(RIGHT)?;
        let next = self.streams[rank.index()];
        if stream != next {
            let wrong = match stream < next {
                true => format!("stream {stream} of rank {rank} has begun before"),
                false => format!("rank {rank} has no stream {next} yet"),
            };
            return Err(line.fault(wrong, "the streams of a rank are 0, 1, 2, ..., each once"));
        }
        self.streams[rank.index()] += 1;
        if stream > 0 {
            self.builder.add_stream(rank, channel);
        } else if channel > 0 {
            self.builder.set_first_channel(rank, channel);
        }
        self.at = Some((rank, stream));
        Ok(())
    }

    /// `[LABEL:] [rROUND] STEP [after LABEL, LABEL]`
    fn step(&mut self, line: &mut Cursor<'_>) -> Result<(), Fault> {
        let at = self
            .at
            .expect("the header ends where the first rank begins");
        let mut ahead = *line;
        let label = ahead.word();
        let label = (!label.is_empty() && ahead.eat(':')).then_some(label);
        if label.is_some() {
            *line = ahead;
        }
        let round = self.round(line)?;
        let op = self.op(line)?;
        let step = self.builder.push_on(round, at, op);
        self.lines.push(step, line.line());
        if let Some(label) = label {
            let known = self.labels.insert((at.0, label.to_owned()), step);
            if known.is_some() {
                let wrong = format!("rank {} has two steps called `{label}`", at.0);
                return Err(line.fault(wrong, "give every step that others wait for its own name"));
            }
        }
        if line.eat_word("after") {
            loop {
                let found = line.found();
                let on = line.word();
                if on.is_empty() {
                    let wrong = format!("{found} is no name of a step");
                    return Err(line.fault(wrong, "write `after NAME, NAME`"));
                }
                self.waits.push((step, on.to_owned(), line.line()));
                if !line.eat(',') {
                    break;
                }
            }
        }
        line.end("a step is `[NAME:] [rROUND] VERB ... [after NAME, NAME]`")
    }

    /// The label of the round, if there is one.
    fn round(&mut self, line: &mut Cursor<'_>) -> Result<u32, Fault> {
        let word = line.peek();
        let digits = word.strip_prefix('r').unwrap_or_default();
        let is_round = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let [with, without] = &mut self.rounds;
        let (mine, other) = if is_round {
            (with, without)
        } else {
            (without, with)
        };
        mine.get_or_insert(line.line());
        if let Some(other) = *other {
            let wrong = match is_round {
                true => format!("this step has a round, and that of line {other} has none"),
                false => format!("this step has no round, and that of line {other} has one"),
            };
            let right = "give all steps a round, or none: then rounds are worked out";
            return Err(line.fault(wrong, right));
        }
        if !is_round {
            return Ok(0);
        }
        line.word();
        let round = digits.parse().ok().filter(|&round| round <= ROUND_MAX);
        let wrong = || format!("round {digits} is out of range");
        round.ok_or_else(|| line.fault(wrong(), format!("rounds are 0 to {ROUND_MAX}")))
    }

    fn op(&mut self, line: &mut Cursor<'_>) -> Result<Op, Fault> {
        let found = line.found();
        let verb = line.word();
        match verb {
            "send" => {
                let to = self.rank(line)?;
                let chunks = self.list(line, 1)?;
                Ok(Op::Send { to, chunks })
            }
            "recv" => {
                let from = self.rank(line)?;
                let chunks = self.list(line, 1)?;
                if line.eat_word("mcast") {
                    let number = self.multicast(line)?;
                    return Ok(Op::RecvMulticast {
                        from,
                        number,
                        chunks,
                    });
                }
                let arrival = arrival(line);
                Ok(Op::Recv {
                    from,
                    chunks,
                    arrival,
                })
            }
            "xchg" => {
                const RIGHT: &str = "write `xchg >TO [CHUNKS] <FROM [CHUNKS]`";
                line.need('>', RIGHT)?;
                let to = self.rank(line)?;
                let send = self.list(line, 1)?;
                line.need('<', RIGHT)?;
                let from = self.rank(line)?;
                let recv = self.list(line, 1)?;
                let arrival = arrival(line);
                Ok(Op::Exchange {
                    to,
                    send,
                    from,
                    recv,
                    arrival,
                })
            }
            "fwd" => {
                let from = self.rank(line)?;
                line.need('>', "write `fwd FROM>TO [CHUNKS]`")?;
                let to = self.rank(line)?;
                let chunks = self.list(line, 1)?;
                let arrival = arrival(line);
                Ok(Op::Forward {
                    from,
                    to,
                    chunks,
                    arrival,
                })
            }
            "mcast" => {
                let number = self.multicast(line)?;
                let chunks = self.list(line, self.receivers[number as usize])?;
                Ok(Op::Multicast { number, chunks })
            }
            "copy" | "combine" => self.local(verb, line),
            "wait" => Ok(Op::Local {
                source: ChunkList::EMPTY,
                target: ChunkList::EMPTY,
                arrival: Arrival::Store,
            }),
            _ => {
                let right = format!(
                    "a step is {}{}",
                    VERBS.join(", "),
                    did_you_mean(verb, &VERBS)
                );
                Err(line.fault(format!("{found} is no step"), right))
            }
        }
    }

    fn local(&mut self, verb: &str, line: &mut Cursor<'_>) -> Result<Op, Fault> {
        let source = self.list(line, 1)?;
        line.need('>', &format!("write `{verb} [CHUNKS]>[CHUNKS]`"))?;
        let target = self.list(line, 1)?;
        let arrival = match verb {
            "copy" => Arrival::Store,
            _ if line.eat_word("unkept") => Arrival::PassOn,
            _ => Arrival::Reduce,
        };
        Ok(Op::Local {
            source,
            target,
            arrival,
        })
    }

    fn rank(&self, line: &mut Cursor<'_>) -> Result<Rank, Fault> {
        let rank = line.small("rank", u32::MAX)?;
        if rank >= self.ranks {
            let right = format!("the ranks are 0 to {}", self.ranks - 1);
            return Err(line.fault(format!("there is no rank {rank}"), right));
        }
        Ok(Rank(rank))
    }

    fn multicast(&self, line: &mut Cursor<'_>) -> Result<u32, Fault> {
        let number = line.small("multicast", u32::MAX)?;
        if number as usize >= self.receivers.len() {
            let right = "give its routes above the first rank: `mcast NUMBER root RANK FROM>TO`";
            return Err(line.fault(format!("there is no multicast {number}"), right));
        }
        Ok(number)
    }

    /// `[0-3,7]`, which goes to so many receivers.
    fn list(&mut self, line: &mut Cursor<'_>, receivers: u64) -> Result<ChunkList, Fault> {
        const RIGHT: &str = "write chunks like [0], [0-3,7] or []";
        line.need('[', RIGHT)?;
        let mut chunks = Vec::new();
        if !line.eat(']') {
            loop {
                // `0-3` is one word.
                let found = line.found();
                let word = line.word();
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                let number = |text: &str| {
                    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                    text.parse::<u32>().ok().filter(|_| is_number)
                };
                let (Some(first), Some(last)) = (number(first), number(last)) else {
                    return Err(line.fault(format!("{found} is no chunk"), RIGHT));
                };
                if last < first {
                    return Err(line.fault(format!("`{word}` runs backwards"), RIGHT));
                }
                if u64::from(last) >= self.places {
                    let right = format!("chunks and places are 0 to {}", self.places - 1);
                    return Err(line.fault(format!("there is no chunk {last}"), right));
                }
                let named = u64::from(last - first) + 1;
                self.deliveries.add(named, receivers.max(1), line.line())?;
                chunks.extend((first..=last).map(ChunkId));
                if !line.eat(',') {
                    break;
                }
            }
            line.need(']', RIGHT)?;
        }
        if let Some(&list) = self.lists.get(&chunks) {
            return Ok(list);
        }
        let list = self.builder.list(&chunks);
        self.lists.insert(chunks, list);
        Ok(list)
    }

    fn finish(mut self, last: u32) -> Result<(Schedule, StepLines), Fault> {
        for (step, on, line) in std::mem::take(&mut self.waits) {
            let Some(&found) = self.labels.get(&(step.rank, on.clone())) else {
                let wrong = format!("rank {} has no step called `{on}`", step.rank);
                let right = format!("begin the step that is waited for with `{on}:`");
                return Err(Fault::at(line, wrong, right));
            };
            self.builder.wait(step, found);
        }
        let schedule = self.builder.finish();
        if self.rounds[1].is_none() {
            return Ok((schedule, self.lines));
        }
        let places = schedule.places().len() as u64;
        limits::check_places(schedule.spec(), places, true, Some(last))?;
        Ok((verify::with_rounds(schedule), self.lines))
    }
}

/// What is done with what arrives: `reduce` or `reduce unkept` behind the chunks, else it is stored.
fn arrival(line: &mut Cursor<'_>) -> Arrival {
    match line.eat_word("reduce") {
        true if line.eat_word("unkept") => Arrival::PassOn,
        true => Arrival::Reduce,
        false => Arrival::Store,
    }
}
