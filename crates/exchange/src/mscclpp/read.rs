// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan as a schedule: operations as steps, and what reaches into another rank's memory as messages.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{Arrival, ChunkId, ChunkList, Op, Rank, ScheduleBuilder, StepRef, verify};

use super::document::{self, Operation, Plan, Span};
use super::ends::Ends;
use super::layout::{layout, parts};
use super::names::{ChannelKind, Name};
use super::waits::Waits;
use crate::error::Fault;
use crate::format::Imported;
use crate::limits::Deliveries;
use crate::lines::StepLines;
use crate::places::{Buffer, Layout};

pub(super) fn parse(text: &str) -> Result<Imported, Fault> {
    let plan = document::parse(text)?;
    let parts = parts(&plan)?;
    let layout = layout(&plan, parts)?;
    let mut reader = Reader {
        builder: layout.builder(&plan.name, plan.line)?,
        layout,
        parts,
        plan: &plan,
        agents: BTreeMap::new(),
        memories: BTreeMap::new(),
        lists: BTreeMap::new(),
        deliveries: Deliveries::default(),
        packed: BTreeMap::new(),
        written: BTreeSet::new(),
        waits: Waits::default(),
        lines: StepLines::default(),
        line: plan.line,
    };
    for rank in 0..plan.gpus.len() as u32 {
        for block in 0..plan.gpus[rank as usize].blocks.len() as u32 {
            reader.agent(rank, Agent::Block(block));
        }
    }
    for (rank, gpu) in (0..).zip(&plan.gpus) {
        for (block, operations) in (0..).zip(&gpu.blocks) {
            for operation in operations {
                reader.line = operation.line;
                reader.operation(rank, block, operation)?;
            }
        }
    }
    let Reader {
        mut builder,
        waits,
        lines,
        ..
    } = reader;
    for (step, on) in waits.resolve(&plan)? {
        builder.wait(step, on);
    }
    let mut notes = Vec::new();
    if !plan.said.is_empty() {
        notes.push(format!("a schedule does not say {}", plan.said.join(" ")));
    }
    if let Some(bytes) = plan.chunk_bytes {
        notes.push(format!(
            "pipelines are read for chunks of {bytes} bytes, at which each takes two turns or more: other \
             sizes have other steps"
        ));
    }
    let gpus = plan.gpus.iter();
    let mut operations = gpus.flat_map(|gpu| gpu.blocks.iter().flatten());
    if operations.any(|operation| operation.is_of_switch) {
        notes.push(
            "what a switch does is read as messages between the gpus of its group".to_owned(),
        );
    }
    Ok(Imported {
        schedule: verify::with_rounds(builder.finish()),
        notes,
        lines,
    })
}

/// Who does things one after the other for a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Agent {
    Block(u32),
    /// What is asked for over a channel to the proxy.
    Port(u32),
}

/// How data lie in scratch memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Plain,
    /// With a flag per word, which takes twice the room.
    Packets,
}

/// A stream of a rank.
type Stream = (Rank, u32);

struct Reader<'a> {
    plan: &'a Plan,
    builder: ScheduleBuilder,
    layout: Layout,
    parts: u32,
    /// The stream of every agent, and the channel of its messages.
    agents: BTreeMap<(u32, Agent), (u32, u32)>,
    /// The stream of what an agent of another rank does in a rank's memory.
    memories: BTreeMap<(u32, u32, Agent), u32>,
    lists: BTreeMap<Vec<ChunkId>, ChunkList>,
    deliveries: Deliveries,
    /// How scratch memory of a rank is used.
    packed: BTreeMap<u32, Form>,
    /// Thread blocks that have written something.
    written: BTreeSet<(u32, u32)>,
    waits: Waits,
    lines: StepLines,
    /// The line of the operation that is being read.
    line: u32,
}

impl Reader<'_> {
    /// The stream of an agent.
    fn agent(&mut self, rank: u32, agent: Agent) -> Stream {
        // Channels are different everywhere: a connection has one agent.
        let channel = self.agents.len() as u32;
        let builder = &mut self.builder;
        let (stream, _) = *self.agents.entry((rank, agent)).or_insert_with(|| {
            let stream = match agent {
                Agent::Block(0) => {
                    builder.set_first_channel(Rank(rank), channel);
                    0
                }
                _ => builder.add_stream(Rank(rank), channel),
            };
            (stream, channel)
        });
        (Rank(rank), stream)
    }

    /// The stream of what an agent does in the memory of `rank`.
    fn memory(&mut self, rank: u32, of: u32, agent: Agent) -> Stream {
        self.agent(of, agent);
        let (_, channel) = self.agents[&(of, agent)];
        let builder = &mut self.builder;
        let stream = self.memories.entry((rank, of, agent));
        let stream = stream.or_insert_with(|| builder.add_stream(Rank(rank), channel));
        (Rank(rank), *stream)
    }

    fn push(&mut self, stream: Stream, op: Op) -> StepRef {
        let step = self.builder.push_on(0, stream, op);
        self.lines.push(step, self.line);
        step
    }

    /// A step that only waits, or is waited for.
    fn mark(&mut self, stream: Stream) -> StepRef {
        self.local(stream, ChunkList::EMPTY, ChunkList::EMPTY, Arrival::Store)
    }

    fn local(
        &mut self,
        stream: Stream,
        source: ChunkList,
        target: ChunkList,
        arrival: Arrival,
    ) -> StepRef {
        self.push(
            stream,
            Op::Local {
                source,
                target,
                arrival,
            },
        )
    }

    /// An agent writes into the memory of `to`; gives the steps at both ends.
    fn put(
        &mut self,
        (from, agent): (u32, Agent),
        to: u32,
        [source, target]: [ChunkList; 2],
    ) -> [StepRef; 2] {
        let sender = self.agent(from, agent);
        let receiver = self.memory(to, from, agent);
        let send = Op::Send {
            to: Rank(to),
            chunks: source,
        };
        let recv = Op::Recv {
            from: Rank(from),
            chunks: target,
            arrival: Arrival::Store,
        };
        [self.push(sender, send), self.push(receiver, recv)]
    }

    /// A thread block reads the memory of `of`: it asks, and what is there is sent.
    fn read(
        &mut self,
        (rank, block): (u32, u32),
        of: u32,
        [source, target]: [ChunkList; 2],
        arrival: Arrival,
    ) {
        let agent = Agent::Block(block);
        self.put((rank, agent), of, [ChunkList::EMPTY; 2]);
        let (reader, memory) = (self.agent(rank, agent), self.memory(of, rank, agent));
        let send = Op::Send {
            to: Rank(rank),
            chunks: source,
        };
        self.push(memory, send);
        let recv = Op::Recv {
            from: Rank(of),
            chunks: target,
            arrival,
        };
        self.push(reader, recv);
    }

    /// The places of the part of a piece that a thread block of `rank` takes.
    fn places(
        &mut self,
        rank: u32,
        span: Span,
        (number, sharers): (u32, u32),
        form: Form,
    ) -> Result<ChunkList, Fault> {
        let owner = span.peer.unwrap_or(rank);
        let is_scratch = span.buffer == Buffer::Scratch;
        if form == Form::Packets && !is_scratch {
            let wrong = "packets lie elsewhere than in scratch memory";
            return Err(Fault::at(
                span.line,
                wrong,
                "the executor looks for packets there alone",
            ));
        }
        if is_scratch && *self.packed.entry(owner).or_insert(form) != form {
            let wrong = format!("scratch memory of gpu {owner} has packets and plain data");
            let right =
                "packets take twice the room, so that the two would overlap: use one of them";
            return Err(Fault::at(span.line, wrong, right));
        }
        let whole = u64::from(span.size) * u64::from(self.parts);
        let share = whole / u64::from(sharers);
        let first = u64::from(span.first) * u64::from(self.parts) + u64::from(number) * share;
        let scratch = u64::from(self.plan.gpus[owner as usize].chunks[2]) * u64::from(self.parts);
        self.deliveries.add(share, 1, span.line)?;
        let mut places = Vec::with_capacity(share as usize);
        for at in first..first + share {
            let is_there = !is_scratch || at < scratch;
            let at = u32::try_from(at).ok().filter(|_| is_there);
            let place = at.and_then(|at| self.layout.place(owner, span.buffer, at));
            let Some(place) = place else {
                let names = Buffer::ALL.iter().find(|(_, known)| *known == span.buffer);
                let name = names.map_or("", |(name, _)| name);
                let last = u64::from(span.first) + u64::from(span.size) - 1;
                let wrong = format!("gpu {owner} has no {name}[{last}]");
                let right = "pieces lie within the buffer; an input or output that is one block of a \
                             rank has the share of one rank";
                return Err(Fault::at(span.line, wrong, right));
            };
            places.push(place);
        }
        if let Some(&list) = self.lists.get(&places) {
            return Ok(list);
        }
        let list = self.builder.list(&places);
        self.lists.insert(places, list);
        Ok(list)
    }

    fn operation(&mut self, rank: u32, block: u32, does: &Operation) -> Result<(), Fault> {
        let stream = self.agent(rank, Agent::Block(block));
        let agent = Agent::Block(block);
        let one = Ends::new(does);
        if !does.target.is_empty() {
            self.written.insert((rank, block));
        }
        match does.name {
            Name::Nop => one.has(0, 0)?,
            Name::Copy | Name::CopyPackets | Name::CopyOfPackets | Name::UnpackPackets => {
                one.has(1, 1)?;
                let forms = match does.name {
                    Name::CopyPackets => [Form::Plain, Form::Packets],
                    Name::CopyOfPackets => [Form::Packets; 2],
                    Name::UnpackPackets => [Form::Packets, Form::Plain],
                    _ => [Form::Plain; 2],
                };
                let source = self.own(rank, does, does.source[0], forms[0])?;
                let target = self.own(rank, does, does.target[0], forms[1])?;
                self.fits(source, target, does)?;
                let step = self.local(stream, source, target, Arrival::Store);
                if forms[0] == Form::Packets {
                    self.reads_packets(step, source, does);
                }
                if forms[1] == Form::Packets {
                    self.writes_packets(step, target, does)?;
                }
            }
            Name::Reduce { sends } => {
                one.has_least(2, 1)?;
                one.ends_at(1, sends)?;
                let sources = does.source.iter();
                let sources = sources.map(|&span| self.own(rank, does, span, Form::Plain));
                let sources: Vec<ChunkList> = sources.collect::<Result<_, _>>()?;
                let target = self.own(rank, does, does.target[0], Form::Plain)?;
                self.combine(stream, &sources, target, does)?;
                self.send_on(rank, block, does, 1, target, Form::Plain)?;
            }
            Name::ReducePackets { sends } | Name::ReduceCopyPackets { sends } => {
                let has_copy = matches!(does.name, Name::ReduceCopyPackets { .. });
                let first = 1 + usize::from(has_copy);
                one.has_least(2, first)?;
                one.ends_at(first, sends)?;
                let mut sources = vec![self.own(rank, does, does.source[0], Form::Plain)?];
                for &span in &does.source[1..] {
                    sources.push(self.own(rank, does, span, Form::Packets)?);
                }
                let target = self.own(rank, does, does.target[0], Form::Plain)?;
                let steps = self.combine(stream, &sources, target, does)?;
                for (step, &source) in steps.into_iter().zip(&sources).skip(1) {
                    self.reads_packets(step, source, does);
                }
                if has_copy {
                    let copy = self.own(rank, does, does.target[1], Form::Packets)?;
                    let step = self.local(stream, target, copy, Arrival::Store);
                    self.writes_packets(step, copy, does)?;
                }
                self.send_on(rank, block, does, first, target, Form::Packets)?;
            }
            Name::ReadReduce { sends } => {
                one.over(ChannelKind::Memory)?;
                one.has_least(2, 1)?;
                one.ends_at(1, sends)?;
                let source = self.own(rank, does, does.source[0], Form::Plain)?;
                let target = self.own(rank, does, does.target[0], Form::Plain)?;
                self.combine(stream, &[source], target, does)?;
                for &span in &does.source[1..] {
                    let peer = one.peer(span)?;
                    let theirs = self.places(rank, span, does.share, Form::Plain)?;
                    self.fits(theirs, target, does)?;
                    self.read((rank, block), peer, [theirs, target], Arrival::Reduce);
                }
                self.send_on(rank, block, does, 1, target, Form::Plain)?;
            }
            Name::Get => {
                one.over(ChannelKind::Memory)?;
                one.has_pairs()?;
                for (&span, &own) in does.source.iter().zip(&does.target) {
                    let peer = one.peer(span)?;
                    let theirs = self.places(rank, span, does.share, Form::Plain)?;
                    let target = self.own(rank, does, own, Form::Plain)?;
                    self.fits(theirs, target, does)?;
                    self.read((rank, block), peer, [theirs, target], Arrival::Store);
                }
            }
            Name::Put | Name::PutSignal | Name::PutSignalFlush | Name::PutPackets => {
                self.puts(rank, block, does)?;
            }
            Name::ReadPutPackets => {
                one.has_least(1, 1)?;
                let source = self.own(rank, does, does.source[0], Form::Packets)?;
                let seen = self.mark(stream);
                self.reads_packets(seen, source, does);
                for (at, &span) in does.target.iter().enumerate() {
                    let agent = self.over(rank, block, does, at)?;
                    let theirs = self.places(rank, span, does.share, Form::Packets)?;
                    self.fits(source, theirs, does)?;
                    let peer = one.peer(span)?;
                    let [sent, got] = self.put((rank, agent), peer, [source, theirs]);
                    if agent != Agent::Block(block) {
                        self.waits.push(sent, seen);
                    }
                    self.writes_packets(got, theirs, does)?;
                }
            }
            Name::Signal { is_relaxed } => {
                let kind = one.some_channels()?;
                let is_own = kind == ChannelKind::Memory;
                if is_relaxed && is_own && self.written.contains(&(rank, block)) {
                    let wrong = "a relaxed signal behind what its thread block has written";
                    let right = "it says nothing of that: use `signal`; `rlxsignal` is read where its \
                                 thread block has written nothing";
                    return Err(one.fault(wrong, right));
                }
                let asked = self.mark_unless(stream, is_own);
                for &channel in &does.channels {
                    let agent = match kind {
                        ChannelKind::Memory => agent,
                        ChannelKind::Port => Agent::Port(channel),
                    };
                    self.signal((rank, block), agent, (kind, channel), asked, does)?;
                }
            }
            Name::Wait => {
                let kind = one.some_channels()?;
                for &channel in &does.channels {
                    let step = self.mark(stream);
                    let key = (rank, kind, channel);
                    self.waits.wait(key, block, step, does.line);
                }
            }
            Name::Flush => {
                one.over(ChannelKind::Port)?;
                for &channel in &does.channels {
                    self.waits.asks((rank, channel), block, does.line)?;
                    self.flush(stream, channel);
                }
            }
            Name::SwitchReduce | Name::SwitchStore | Name::SwitchStorePackets | Name::Pipeline => {
                unreachable!("{:?} is read as others", does.name)
            }
            Name::Barrier => {
                let Some((barrier, blocks)) = does.barrier else {
                    let right = "add barrier_id and num_threadblocks";
                    return Err(one.fault("a barrier without its number", right));
                };
                let (came, goes) = (self.mark(stream), self.mark(stream));
                let visit = (came, goes, does.line);
                self.waits.barrier((rank, barrier), block, visit, blocks)?;
            }
            Name::Acquire | Name::Release => {
                for &semaphore in &does.semaphores {
                    if semaphore as usize >= self.plan.gpus[rank as usize].semaphores.len() {
                        let wrong = format!("gpu {rank} has no semaphore {semaphore}");
                        return Err(one.fault(wrong, "they are entries of `semaphores`"));
                    }
                    let step = self.mark(stream);
                    let is_release = does.name == Name::Release;
                    let key = (rank, semaphore);
                    self.waits
                        .semaphore(key, is_release, block, step, does.line);
                }
            }
        }
        Ok(())
    }

    /// A piece that must be the rank's own.
    fn own(
        &mut self,
        rank: u32,
        does: &Operation,
        span: Span,
        form: Form,
    ) -> Result<ChunkList, Fault> {
        if span.peer.is_some() {
            let right = "write `type` instead of `buffer_id`";
            return Err(Fault::at(
                span.line,
                "here is a piece of another gpu's memory",
                right,
            ));
        }
        self.places(rank, span, does.share, form)
    }

    fn fits(&self, one: ChunkList, other: ChunkList, does: &Operation) -> Result<(), Fault> {
        match one.len() == other.len() {
            true => Ok(()),
            false => Err(Fault::at(
                does.line,
                "its pieces have different sizes",
                "`size` is the same everywhere in an operation",
            )),
        }
    }

    /// Combines sources in a target; gives a step for every source that reads it.
    fn combine(
        &mut self,
        stream: Stream,
        sources: &[ChunkList],
        target: ChunkList,
        does: &Operation,
    ) -> Result<Vec<StepRef>, Fault> {
        for &source in sources {
            self.fits(source, target, does)?;
            let lists = [source, target].map(|list| self.builder.chunks(list).to_vec());
            let [ours, theirs] = lists.clone().map(BTreeSet::from_iter);
            if lists[0] != lists[1] && !ours.is_disjoint(&theirs) {
                let right = "a target is one of the sources, or apart from all of them";
                return Err(Fault::at(
                    does.line,
                    "source and target overlap in part",
                    right,
                ));
            }
        }
        let kept = sources.iter().position(|&source| source == target);
        let mut steps = Vec::new();
        for (at, &source) in sources.iter().enumerate() {
            let step = if kept == Some(at) {
                self.mark(stream) // its values are there already
            } else {
                let arrival = match at == 0 && kept.is_none() {
                    true => Arrival::Store,
                    false => Arrival::Reduce,
                };
                self.local(stream, source, target, arrival)
            };
            steps.push(step);
        }
        Ok(steps)
    }

    /// What was combined goes to the remote targets from `first` on.
    fn send_on(
        &mut self,
        rank: u32,
        block: u32,
        does: &Operation,
        first: usize,
        source: ChunkList,
        form: Form,
    ) -> Result<(), Fault> {
        let ends = Ends::new(does);
        for &span in does.target.iter().skip(first) {
            ends.over(ChannelKind::Memory)?;
            let peer = ends.peer(span)?;
            let theirs = self.places(rank, span, does.share, form)?;
            self.fits(source, theirs, does)?;
            let [_, got] = self.put((rank, Agent::Block(block)), peer, [source, theirs]);
            match form {
                Form::Packets => self.writes_packets(got, theirs, does)?,
                Form::Plain => self.waits.put(got, does.line),
            }
        }
        Ok(())
    }

    /// Who carries out a put of the piece at `at`: the thread block, or the proxy.
    fn over(&mut self, rank: u32, block: u32, does: &Operation, at: usize) -> Result<Agent, Fault> {
        let ends = Ends::new(does);
        if ends.kind()? == ChannelKind::Memory {
            return Ok(Agent::Block(block));
        }
        let peer = ends.peer(does.target[at])?;
        let channels = &self.plan.gpus[rank as usize].channels[ChannelKind::Port as usize];
        let channel = does.channels.get(at).copied();
        let channel = channel.filter(|&channel| channels[channel as usize] == peer);
        let Some(channel) = channel else {
            let wrong =
                format!("piece {at} goes to gpu {peer}, and no channel of the operation does");
            return Err(ends.fault(wrong, "channel_ids have a channel for every piece"));
        };
        self.waits.asks((rank, channel), block, does.line)?;
        Ok(Agent::Port(channel))
    }

    fn puts(&mut self, rank: u32, block: u32, does: &Operation) -> Result<(), Fault> {
        let ends = Ends::new(does);
        ends.has_pairs()?;
        let stream = self.agent(rank, Agent::Block(block));
        let is_port = ends.kind()? == ChannelKind::Port;
        let signals = matches!(does.name, Name::PutSignal | Name::PutSignalFlush);
        if signals && !is_port {
            let right = "use put and signal: the executor puts over memory without the signal";
            return Err(ends.fault("a put with a signal over a memory channel", right));
        }
        let is_packets = does.name == Name::PutPackets;
        // The proxy copies packets as they are; threads make them.
        let forms = match (is_packets, is_port) {
            (false, _) => [Form::Plain; 2],
            (true, false) => [Form::Plain, Form::Packets],
            (true, true) => [Form::Packets; 2],
        };
        let asked = self.mark_unless(stream, !is_port);
        for (at, &span) in does.target.iter().enumerate() {
            let peer = ends.peer(span)?;
            let source = self.own(rank, does, does.source[at], forms[0])?;
            let theirs = self.places(rank, span, does.share, forms[1])?;
            self.fits(source, theirs, does)?;
            let agent = self.over(rank, block, does, at)?;
            let [sent, got] = self.put((rank, agent), peer, [source, theirs]);
            if let Some(asked) = asked {
                self.waits.push(sent, asked);
            }
            match is_packets {
                true => self.writes_packets(got, theirs, does)?,
                false => self.waits.put(got, does.line),
            }
            if signals {
                let channel = (ChannelKind::Port, does.channels[at]);
                self.signal((rank, block), agent, channel, asked, does)?;
            }
        }
        if does.name == Name::PutSignalFlush {
            for &channel in &does.channels {
                self.flush(stream, channel);
            }
        }
        Ok(())
    }

    /// A thread block waits until the proxy has done what it was asked for over a channel.
    fn flush(&mut self, stream: Stream, channel: u32) {
        let done = self.mark(stream);
        let (rank, port) = self.agent(stream.0.0, Agent::Port(channel));
        let steps = self.builder.stream_mut(rank, port).len() as u32;
        if let Some(step) = steps.checked_sub(1) {
            let last = StepRef {
                rank,
                stream: port,
                step,
            };
            self.waits.push(done, last);
        }
    }

    /// A step at which a thread block asks another agent for something.
    fn mark_unless(&mut self, stream: Stream, is_own: bool) -> Option<StepRef> {
        (!is_own).then(|| self.mark(stream))
    }

    fn signal(
        &mut self,
        (rank, block): (u32, u32),
        agent: Agent,
        (kind, channel): (ChannelKind, u32),
        asked: Option<StepRef>,
        does: &Operation,
    ) -> Result<(), Fault> {
        if kind == ChannelKind::Port {
            self.waits.asks((rank, channel), block, does.line)?;
        }
        let (peer, theirs) = self.other_end(rank, kind, channel);
        let Some(theirs) = theirs else {
            let wrong = format!("gpu {peer} has no channel on which gpu {rank} could signal");
            let right = "both ends have a channel of this type to each other";
            return Err(Fault::at(does.line, wrong, right));
        };
        let [sent, got] = self.put((rank, agent), peer, [ChunkList::EMPTY; 2]);
        if let Some(asked) = asked {
            self.waits.push(sent, asked);
        }
        let key = (peer, kind, theirs);
        self.waits.signal(key, (rank, block), got, does.line);
        Ok(())
    }

    /// Where a channel leads, and its number there: the n-th of a kind from one rank to another is the
    /// n-th back.
    fn other_end(&self, rank: u32, kind: ChannelKind, channel: u32) -> (u32, Option<u32>) {
        let of = |rank: u32| &self.plan.gpus[rank as usize].channels[kind as usize];
        let peer = of(rank)[channel as usize];
        let before = &of(rank)[..channel as usize];
        let number = before.iter().filter(|&&other| other == peer).count();
        let back = (0..).zip(of(peer)).filter(|&(_, &other)| other == rank);
        (peer, back.map(|(at, _)| at).nth(number))
    }

    fn writes_packets(
        &mut self,
        step: StepRef,
        places: ChunkList,
        does: &Operation,
    ) -> Result<(), Fault> {
        let places = self.builder.chunks(places).to_vec();
        self.waits.write_packets(step, &places, does.line)
    }

    fn reads_packets(&mut self, step: StepRef, places: ChunkList, does: &Operation) {
        let places = self.builder.chunks(places).to_vec();
        self.waits.read_packets(step, places, does.line);
    }
}
