// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file as a schedule.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{
    Arrival, ChunkId, ChunkList, Collective, FullCrossbar, Op, Rank, Schedule, ScheduleBuilder,
    StepRef, Violation, verify,
};
use corecast_text::{did_you_mean, quoted};

use super::document::{self, Element};
use super::known::{COLLECTIVES, SLOTS};
use super::remarks::{Remarks, Target};
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::Deliveries;
use crate::lines::{LineEnds, StepLines};
use crate::places::{Buffer, ChunkBytes, Layout};

/// What a step can be.
const TYPES: [&str; 9] = ["s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"];

pub(crate) fn parse(text: &str) -> Result<Imported, Fault> {
    parse_counted(text).map(|(imported, _)| imported)
}

/// A file, and whether runtimes count its steps as it does.
pub(super) fn parse_counted(text: &str) -> Result<(Imported, bool), Fault> {
    let document = document::parse(text)?;
    let algo = Element(document.root_element());
    let tag = algo.0.tag_name().name();
    if tag != "algo" {
        let wrong = format!("the file begins with `{}`", quoted(tag));
        return Err(algo.fault(wrong, "an MSCCL schedule is one `algo` element"));
    }
    let gpus = algo.children(&["gpu"])?;
    let layout = layout(algo, &gpus)?;
    let mut reader = Reader::new(algo, layout, Passing::CopyFirst)?;
    reader.gpus(algo, &gpus)?;
    let (has_copies, is_counted) = (reader.has_copies, reader.remarks.is_counted());
    let remarks = std::mem::take(&mut reader.remarks);
    let notes = remarks.notes(algo, layout.is_in_place);
    let (schedule, lines) = reader.finish();
    let mut imported = Imported {
        schedule,
        notes,
        lines,
    };
    if has_copies && let Some(other) = without_races(algo, &gpus, layout, &imported.schedule)? {
        (imported.schedule, imported.lines) = other;
    }
    Ok((imported, is_counted))
}

/// A file whose copies ahead of forwards race, with the steps of [`Passing::Apart`] in their place, if
/// then nothing is wrong. These may need fewer slots than the file does; so it must have completed with
/// the slots that there are as it was read first.
fn without_races(
    algo: Element<'_, '_>,
    gpus: &[Element<'_, '_>],
    layout: Layout,
    first: &Schedule,
) -> Result<Option<(Schedule, StepLines)>, Fault> {
    let certificate = verify(first, &FullCrossbar);
    let is_race = |violation: &Violation| matches!(violation, Violation::Race { .. });
    let has_slots = certificate.slots_needed.is_some_and(|slots| slots <= SLOTS);
    if !has_slots || !certificate.violations.iter().any(is_race) {
        return Ok(None);
    }
    let mut reader = Reader::new(algo, layout, Passing::Apart)?;
    reader.gpus(algo, gpus)?;
    let (schedule, lines) = reader.finish();
    let is_correct = verify(&schedule, &FullCrossbar).is_correct();
    Ok(is_correct.then_some((schedule, lines)))
}

/// What the attributes of `algo` and the sizes of buffers say.
fn layout(algo: Element<'_, '_>, gpus: &[Element<'_, '_>]) -> Result<Layout, Fault> {
    let ranks = algo.number("ngpus", 1, 1 << 20)? as u32;
    let chunks = algo.number("nchunksperloop", 1, 1 << 24)? as u32;
    let name = algo.text("coll")?;
    let known = COLLECTIVES.map(|(name, _)| name);
    let found = COLLECTIVES.iter().find(|(known, _)| *known == name);
    let Some(&(_, collective)) = found else {
        let wrong = format!("nothing is known of what `{}` promises", quoted(name));
        let right = format!("coll is {}{}", known.join(", "), did_you_mean(name, &known));
        return Err(algo.fault(wrong, right));
    };
    let flag = |name| match algo.get(name) {
        None => Ok(false),
        Some(_) => Ok(algo.number(name, 0, 1)? == 1),
    };
    let is_in_place = flag("inplace")?;
    flag("outofplace")?;
    let is_shared = !matches!(
        collective,
        Collective::Bcast | Collective::Reduce | Collective::Allreduce
    );
    if is_shared && !chunks.is_multiple_of(ranks) {
        let wrong = format!("{chunks} chunks are no equal blocks for {ranks} ranks");
        return Err(algo.fault(wrong, "nchunksperloop is a multiple of ngpus"));
    }
    let mut scratch = 0;
    for gpu in gpus {
        scratch = scratch.max(gpu.count("s_chunks", 1 << 24)?);
    }
    Ok(Layout {
        collective,
        ranks,
        chunks,
        is_in_place,
        root: match algo.get("root") {
            None => 0,
            Some(_) => algo.count("root", ranks - 1)?,
        },
        scratch,
        chunk_bytes: ChunkBytes::Any,
    })
}

/// How a forward is read that combines what arrives with another place than the one that it fills. No
/// step of a schedule does, and the two ways err on different sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// A copy, then the forward: the slots that it needs, but the target is written early.
    CopyFirst,
    /// A receive, a local step and a send: what is written when, but maybe fewer slots.
    Apart,
}

fn local(source: ChunkList, target: ChunkList, arrival: Arrival) -> Op {
    Op::Local {
        source,
        target,
        arrival,
    }
}

struct Reader {
    builder: ScheduleBuilder,
    layout: Layout,
    passing: Passing,
    /// Whether a copy was put ahead of a forward.
    has_copies: bool,
    lists: BTreeMap<(ChunkId, u32), ChunkList>,
    deliveries: Deliveries,
    remarks: Remarks,
    ends: LineEnds,
    lines: StepLines,
    /// The line of the step that is being read.
    line: u32,
}

/// A thread block: its stream, and its peers.
#[derive(Clone, Copy)]
struct Block {
    rank: Rank,
    stream: u32,
    send: Option<Rank>,
    recv: Option<Rank>,
    /// Scratch entries of the rank.
    scratch: u32,
}

/// A step that another one may wait for.
struct Known {
    at: StepRef,
    target: Target,
}

impl Reader {
    fn new(algo: Element<'_, '_>, layout: Layout, passing: Passing) -> Result<Self, Fault> {
        let mut builder = layout.builder(algo.get("name").unwrap_or("unnamed"), algo.line())?;
        builder.set_slots(SLOTS);
        Ok(Self {
            builder,
            layout,
            passing,
            has_copies: false,
            lists: BTreeMap::new(),
            deliveries: Deliveries::default(),
            remarks: Remarks::default(),
            ends: LineEnds::new(algo.0.document().input_text()),
            lines: StepLines::default(),
            line: 0,
        })
    }

    /// The schedule, and where its steps are.
    fn finish(self) -> (Schedule, StepLines) {
        (verify::with_rounds(self.builder.finish()), self.lines)
    }

    fn gpus(&mut self, algo: Element<'_, '_>, gpus: &[Element<'_, '_>]) -> Result<(), Fault> {
        let ranks = self.layout.ranks;
        let mut seen = vec![false; ranks as usize];
        for &gpu in gpus {
            let rank = gpu.count("id", ranks - 1)?;
            if std::mem::replace(&mut seen[rank as usize], true) {
                return Err(gpu.fault(
                    format!("gpu {rank} is there a second time"),
                    "number them from 0",
                ));
            }
            self.gpu(Rank(rank), gpu)?;
        }
        match seen.iter().position(|&seen| !seen) {
            Some(rank) => {
                let right = format!("with ngpus=\"{ranks}\" there are as many `gpu`");
                Err(algo.fault(format!("there is no gpu {rank}"), right))
            }
            None => Ok(()),
        }
    }

    fn gpu(&mut self, rank: Rank, gpu: Element<'_, '_>) -> Result<(), Fault> {
        let scratch = gpu.count("s_chunks", 1 << 24)?;
        // A `copy` says once more which part of the output the input is.
        let blocks = gpu.children(&["tb", "copy"])?.into_iter();
        let blocks: Vec<_> = blocks
            .filter(|element| element.0.has_tag_name("tb"))
            .collect();
        let mut known: BTreeMap<(u32, u32), Known> = BTreeMap::new();
        let mut waits = Vec::new();
        let mut seen = BTreeMap::new();
        for (index, tb) in (0..).zip(&blocks) {
            let id = tb.count("id", u32::MAX)?;
            if seen.insert(id, index).is_some() {
                let wrong = format!("gpu {rank} has two thread blocks {id}");
                return Err(tb.fault(wrong, "number them from 0"));
            }
            let channel = tb.count("chan", u32::MAX)?;
            let stream = match index {
                0 => {
                    if channel > 0 {
                        self.builder.set_first_channel(rank, channel);
                    }
                    0
                }
                _ => self.builder.add_stream(rank, channel),
            };
            let peer = |name| -> Result<Option<Rank>, Fault> {
                let peer = tb.optional(name)?;
                let most = self.layout.ranks - 1;
                match peer.filter(|&peer| peer > most) {
                    Some(peer) => Err(tb.fault(
                        format!("{name}=\"{peer}\" is no gpu"),
                        format!("they are 0 to {most}"),
                    )),
                    None => Ok(peer.map(Rank)),
                }
            };
            let block = Block {
                rank,
                stream,
                send: peer("send")?,
                recv: peer("recv")?,
                scratch,
            };
            let steps = tb.children(&["step"])?;
            self.remarks.block(*tb, (rank.0, id), index, steps.len());
            let mut last = None;
            for step in steps {
                let label = step.count("s", u32::MAX)?;
                if last.is_some_and(|last| last >= label) {
                    return Err(step.fault(
                        format!("step {label} is out of order"),
                        "the steps of a thread block are in order of `s`",
                    ));
                }
                last = Some(label);
                self.line = self.ends.line(step.0.range().start);
                let first = self.next(block);
                self.step(block, step)?;
                let at = self.last(block);
                let target = self.remarks.step(gpu, step)?;
                known.insert((id, label), Known { at, target });
                if let (Some(tb), Some(on)) = (step.optional("depid")?, step.optional("deps")?) {
                    waits.push((step, first, (tb, on)));
                }
            }
        }
        for (step, at, on) in waits {
            let Some(target) = known.get(&on) else {
                let wrong = format!("gpu {rank} has no step {} in thread block {}", on.1, on.0);
                return Err(step.fault(wrong, "depid and deps name a thread block of the same gpu and the `s` of one of its steps"));
            };
            self.remarks.wait(step, target.target, on);
            self.builder.wait(at, target.at);
        }
        Ok(())
    }

    /// Where the next step of a thread block will be.
    fn next(&mut self, block: Block) -> StepRef {
        let steps = self.builder.stream_mut(block.rank, block.stream).len();
        StepRef {
            rank: block.rank,
            stream: block.stream,
            step: steps as u32,
        }
    }

    /// Where its last one is.
    fn last(&mut self, block: Block) -> StepRef {
        let next = self.next(block);
        StepRef {
            step: next.step - 1,
            ..next
        }
    }

    fn step(&mut self, block: Block, step: Element<'_, '_>) -> Result<(), Fault> {
        let kind = step.text("type")?;
        let from = || {
            let wrong =
                format!("a step of type {kind} in a thread block that receives from nobody");
            block
                .recv
                .ok_or_else(|| step.fault(wrong, "give `recv` of the `tb` a gpu"))
        };
        let to = || {
            let wrong = format!("a step of type {kind} in a thread block that sends to nobody");
            block
                .send
                .ok_or_else(|| step.fault(wrong, "give `send` of the `tb` a gpu"))
        };
        let op = match kind {
            "s" => Op::Send {
                to: to()?,
                chunks: self.run(block, step, "src")?,
            },
            "r" => Op::Recv {
                from: from()?,
                chunks: self.run(block, step, "dst")?,
                arrival: Arrival::Store,
            },
            "rrc" => self.combined(block, step, from()?)?,
            "rrcs" => self.combined_on(block, step, [from()?, to()?])?,
            "rcs" | "rrs" => {
                let (end, arrival) = match kind {
                    "rcs" => ("dst", Arrival::Store),
                    _ => ("src", Arrival::PassOn),
                };
                Op::Forward {
                    from: from()?,
                    to: to()?,
                    chunks: self.run(block, step, end)?,
                    arrival,
                }
            }
            "cpy" | "re" => {
                let source = self.run(block, step, "src")?;
                let target = self.run(block, step, "dst")?;
                let arrival = match kind {
                    "re" => Arrival::Reduce,
                    _ => Arrival::Store,
                };
                local(source, target, arrival)
            }
            "nop" => local(ChunkList::EMPTY, ChunkList::EMPTY, Arrival::Store),
            _ => {
                let wrong = format!("`{}` is no type of a step", quoted(kind));
                let right = format!(
                    "types are {}{}",
                    TYPES.join(", "),
                    did_you_mean(kind, &TYPES)
                );
                return Err(step.fault(wrong, right));
            }
        };
        self.push(block, op);
        Ok(())
    }

    fn push(&mut self, block: Block, op: Op) {
        let step = self.builder.push_on(0, (block.rank, block.stream), op);
        self.lines.push(step, self.line);
    }

    /// The last step of one that combines what arrives with its source. Where its target is elsewhere,
    /// that is written when the message is there: it is kept, and the source is combined with it.
    fn combined(&mut self, block: Block, step: Element<'_, '_>, from: Rank) -> Result<Op, Fault> {
        let (source, chunks) = (self.run(block, step, "src")?, self.run(block, step, "dst")?);
        if self.is_apart(source, chunks) {
            return Ok(self.kept(block, from, source, chunks));
        }
        if source != chunks {
            self.push(block, local(source, chunks, Arrival::Store));
        }
        let arrival = Arrival::Reduce;
        Ok(Op::Recv {
            from,
            chunks,
            arrival,
        })
    }

    /// The last step of one that combines what arrives with its source, and passes that on.
    fn combined_on(
        &mut self,
        block: Block,
        step: Element<'_, '_>,
        [from, to]: [Rank; 2],
    ) -> Result<Op, Fault> {
        let (source, chunks) = (self.run(block, step, "src")?, self.run(block, step, "dst")?);
        if self.passing == Passing::Apart && self.is_apart(source, chunks) {
            let combined = self.kept(block, from, source, chunks);
            self.push(block, combined);
            return Ok(Op::Send { to, chunks });
        }
        if source != chunks {
            self.has_copies = true;
            self.push(block, local(source, chunks, Arrival::Store));
        }
        let arrival = Arrival::Reduce;
        Ok(Op::Forward {
            from,
            to,
            chunks,
            arrival,
        })
    }

    /// Keeps what arrives, and returns the step that combines a source with it.
    fn kept(&mut self, block: Block, from: Rank, source: ChunkList, chunks: ChunkList) -> Op {
        let arrival = Arrival::Store;
        let kept = Op::Recv {
            from,
            chunks,
            arrival,
        };
        self.push(block, kept);
        local(source, chunks, Arrival::Reduce)
    }

    /// Whether no place is in both lists.
    fn is_apart(&self, one: ChunkList, other: ChunkList) -> bool {
        let one: BTreeSet<ChunkId> = self.builder.chunks(one).iter().copied().collect();
        let mut other = self.builder.chunks(other).iter();
        !other.any(|place| one.contains(place))
    }

    /// `cnt` neighbouring entries of the buffer at one end of a step.
    fn run(&mut self, block: Block, step: Element<'_, '_>, end: &str) -> Result<ChunkList, Fault> {
        let (buffer_name, offset_name) = match end {
            "src" => ("srcbuf", "srcoff"),
            _ => ("dstbuf", "dstoff"),
        };
        let word = step.text(buffer_name)?;
        let found = Buffer::ALL.iter().find(|(name, _)| *name == word);
        let Some(&(_, buffer)) = found else {
            let wrong = format!("`{}` is no buffer", quoted(word));
            return Err(step.fault(wrong, "buffers are i (input), o (output) and s (scratch)"));
        };
        let offset = step.count(offset_name, 1 << 24)?;
        let count = step.number("cnt", 1, 1 << 24)? as u32;
        self.remarks.message(count);
        let layout = self.layout;
        let place = |offset| {
            let is_there = buffer != Buffer::Scratch || offset < block.scratch;
            let place = layout.place(block.rank.0, buffer, offset);
            place.filter(|_| is_there)
        };
        let (Some(first), Some(_)) = (place(offset), place(offset + count - 1)) else {
            let last = offset + count - 1;
            let wrong = format!("gpu {} has no {word}[{last}]", block.rank);
            let right = "offsets are below nchunksperloop, and below s_chunks in scratch memory; an \
                         input or output that is one block of a rank has the share of one rank";
            return Err(step.fault(wrong, right));
        };
        // In an alltoall neighbours of a buffer are not neighbours by name.
        let key = (first, count);
        let is_plain = layout.collective != Collective::Alltoall || count == 1;
        if let Some(&list) = self.lists.get(&key).filter(|_| is_plain) {
            return self.count(count, step).map(|()| list);
        }
        self.count(count, step)?;
        let places = (offset..offset + count).filter_map(place);
        let places: Vec<ChunkId> = places.collect();
        let list = self.builder.list(&places);
        if is_plain {
            self.lists.insert(key, list);
        }
        Ok(list)
    }

    fn count(&mut self, count: u32, step: Element<'_, '_>) -> Result<(), Fault> {
        let added = self.deliveries.add(u64::from(count), 1, 0);
        added.map_err(|fault| step.fault(fault.wrong, fault.right))
    }
}
