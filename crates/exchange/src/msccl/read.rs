// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file as a schedule.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{
    Arrival, ChunkId, ChunkList, Collective, Op, Rank, ScheduleBuilder, StepRef, verify,
};
use corecast_text::{did_you_mean, quoted};

use super::About;
use super::document::{self, Element};
use super::known::{COLLECTIVES, SLOTS};
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::Deliveries;
use crate::places::{Buffer, Layout};

/// Steps of a thread block that RCCL takes, and those that MSCCL takes.
const STEPS_MAX: [(&str, usize); 2] = [("RCCL", 64), ("MSCCL", 256)];

/// From so many chunks in one message on the runtimes refuse a step.
pub(super) const COUNT_MAX: u32 = 72;

/// What a step can be.
const TYPES: [&str; 9] = ["s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"];

pub(crate) fn parse(text: &str) -> Result<Imported, Fault> {
    let document = document::parse(text)?;
    let algo = Element(document.root_element());
    let tag = algo.0.tag_name().name();
    if tag != "algo" {
        let wrong = format!("the file begins with `{}`", quoted(tag));
        return Err(algo.fault(wrong, "an MSCCL schedule is one `algo` element"));
    }
    let gpus = algo.children(&["gpu"])?;
    let layout = layout(algo, &gpus)?;
    let line = document.text_pos_at(algo.0.range().start).row;
    let mut reader = Reader {
        builder: layout.builder(algo.get("name").unwrap_or("unnamed"), line)?,
        layout,
        lists: BTreeMap::new(),
        deliveries: Deliveries::default(),
        remarks: Remarks::default(),
    };
    reader.builder.set_slots(SLOTS);
    let mut seen = vec![false; layout.ranks as usize];
    for gpu in gpus {
        let rank = gpu.count("id", layout.ranks - 1)?;
        if std::mem::replace(&mut seen[rank as usize], true) {
            return Err(gpu.fault(
                format!("gpu {rank} is there a second time"),
                "number them from 0",
            ));
        }
        reader.gpu(Rank(rank), gpu)?;
    }
    if let Some(rank) = seen.iter().position(|&seen| !seen) {
        let right = format!("with ngpus=\"{}\" there are as many `gpu`", layout.ranks);
        return Err(algo.fault(format!("there is no gpu {rank}"), right));
    }
    Ok(Imported {
        schedule: verify::with_rounds(reader.builder.finish()),
        notes: reader.remarks.notes(algo),
    })
}

/// What a file says beside its schedule, and what it lacks.
pub(super) fn about(text: &str) -> (About, Vec<String>) {
    let mut lacks = Vec::new();
    let Ok(document) = document::parse(text) else {
        return (About::default(), lacks);
    };
    let algo = Element(document.root_element());
    let number = |name: &str| algo.get(name).and_then(|text| text.trim().parse().ok());
    let about = About {
        proto: algo.get("proto").unwrap_or("Simple").to_owned(),
        min_bytes: number("minBytes").unwrap_or(0),
        max_bytes: number("maxBytes").unwrap_or(0),
        redop: algo.get("redop").map(str::to_owned),
        out_of_place: number("outofplace").map(|flag| flag == 1),
    };
    for (name, value) in [
        ("proto", "Simple"),
        ("outofplace", "what inplace is not"),
        ("minBytes", "0, any size"),
        ("maxBytes", "0, any size"),
    ] {
        if algo.get(name).is_none() {
            lacks.push(format!("{name}: {value}"));
        }
    }
    let awaited: BTreeSet<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("step"))
        .filter_map(|step| {
            let gpu = step.ancestors().find(|node| node.has_tag_name("gpu"))?;
            let on = |name| step.attribute(name).filter(|&id| id != "-1");
            Some((gpu.attribute("id")?, on("depid")?, on("deps")?))
        })
        .collect();
    let unmarked = document.descendants().filter(|node| {
        let id = |name: &str| {
            let found = node.ancestors().find(|node| node.has_tag_name(name))?;
            found.attribute("id")
        };
        let place = || Some((id("gpu")?, id("tb")?, node.attribute("s")?));
        let is_marked = node.attribute("hasdep") == Some("1");
        node.has_tag_name("step")
            && !is_marked
            && place().is_some_and(|place| awaited.contains(&place))
    });
    match unmarked.count() {
        0 => {}
        steps => lacks.push(format!("hasdep of {steps} steps that others wait for")),
    }
    (about, lacks)
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
    })
}

struct Reader {
    builder: ScheduleBuilder,
    layout: Layout,
    lists: BTreeMap<(ChunkId, u32), ChunkList>,
    deliveries: Deliveries,
    remarks: Remarks,
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
    has_dep: bool,
}

impl Reader {
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
            self.remarks.block(id, index, steps.len());
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
                let first = self.next(block);
                self.step(block, step)?;
                let at = self.last(block);
                let has_dep = step.count("hasdep", 1)? == 1;
                known.insert((id, label), Known { at, has_dep });
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
            self.remarks.unmarked += u32::from(!target.has_dep);
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
            "rrc" => Op::Recv {
                from: from()?,
                chunks: self.combined(block, step)?,
                arrival: Arrival::Reduce,
            },
            "rcs" | "rrcs" | "rrs" => {
                let (chunks, arrival) = match kind {
                    "rcs" => (self.run(block, step, "dst")?, Arrival::Store),
                    "rrcs" => (self.combined(block, step)?, Arrival::Reduce),
                    _ => (self.run(block, step, "src")?, Arrival::PassOn),
                };
                Op::Forward {
                    from: from()?,
                    to: to()?,
                    chunks,
                    arrival,
                }
            }
            "cpy" | "re" => Op::Local {
                source: self.run(block, step, "src")?,
                target: self.run(block, step, "dst")?,
                arrival: if kind == "re" {
                    Arrival::Reduce
                } else {
                    Arrival::Store
                },
            },
            "nop" => Op::Local {
                source: ChunkList::EMPTY,
                target: ChunkList::EMPTY,
                arrival: Arrival::Store,
            },
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
        self.builder.push_on(0, (block.rank, block.stream), op);
        Ok(())
    }

    /// The target of a step that combines what arrives with its source: where the two differ, the
    /// source is copied there first.
    fn combined(&mut self, block: Block, step: Element<'_, '_>) -> Result<ChunkList, Fault> {
        let source = self.run(block, step, "src")?;
        let target = self.run(block, step, "dst")?;
        if source != target {
            let op = Op::Local {
                source,
                target,
                arrival: Arrival::Store,
            };
            self.builder.push_on(0, (block.rank, block.stream), op);
        }
        Ok(target)
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
        self.remarks.longest = self.remarks.longest.max(count);
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

/// What runtimes would say against a file, and what it says that a schedule does not.
#[derive(Default)]
struct Remarks {
    /// Waits for steps that are not marked.
    unmarked: u32,
    /// Chunks of the longest message.
    longest: u32,
    /// Steps of the longest thread block.
    steps: usize,
    is_sparse: bool,
}

impl Remarks {
    fn block(&mut self, id: u32, index: u32, steps: usize) {
        self.steps = self.steps.max(steps);
        self.is_sparse |= id != index;
    }

    fn notes(self, algo: Element<'_, '_>) -> Vec<String> {
        let mut notes = Vec::new();
        let said = ["proto", "minBytes", "maxBytes", "redop"];
        let said = said
            .into_iter()
            .filter_map(|name| Some(format!("{name}={}", algo.get(name)?)));
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            notes.push(format!("a schedule does not say {}", said.join(" ")));
        }
        let needed = ["outofplace", "minBytes", "maxBytes"];
        let missing: Vec<&str> = needed
            .into_iter()
            .filter(|name| algo.get(name).is_none())
            .collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            notes.push(format!(
                "RCCL and the MSCCL executor refuse a file without {missing}"
            ));
        }
        let both = ["inplace", "outofplace"].map(|name| algo.get(name) == Some("1"));
        if both == [true; 2] {
            notes.push("it may be used out of place, too; it was read as in place".to_owned());
        }
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
        notes
    }
}
