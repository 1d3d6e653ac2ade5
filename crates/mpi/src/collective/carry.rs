// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is left of a run is given away to be carried on ([`super::carried`]), and comes back.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::call::{Call, RunningCall, gone};
use super::carried::{Carried, Part, Stage, Task, Terms, UnderWay, carried_bytes, early_bytes};
use super::program::{Act, Program, Region, Span};
use super::run::Run;
use crate::engine::Engine;
use crate::error::Result;
use crate::process::Process;

/// Where the bytes of a program's regions lie in an image: one after the other.
#[derive(Clone, Copy, Debug)]
struct Image {
    recv: usize,
    scratch: usize,
    end: usize,
}

impl Image {
    /// That of a program whose messages are no longer than that, and of the machine's own means none.
    fn of(program: &Program, longest: usize) -> Option<Self> {
        if program.broadcasts() || program.longest() > longest {
            return None;
        }
        let reach = [Region::Send, Region::Recv, Region::Scratch];
        let reach = reach.map(|region| program.reach(region));
        // Elements of all of them lie as they did.
        let [send, recv, scratch] = reach.map(|bytes| bytes.checked_next_multiple_of(8));
        let (recv, bytes) = (send?, recv?);
        let scratch_at = recv.checked_add(bytes)?;
        Some(Self {
            recv,
            scratch: scratch_at,
            end: scratch_at.checked_add(scratch?)?,
        })
    }

    fn part(self, span: Span) -> Part {
        let start = match span.region {
            Region::Send => 0,
            Region::Recv => self.recv,
            Region::Scratch => self.scratch,
        };
        Part {
            offset: (start + span.offset) as u32,
            bytes: span.bytes as u32,
        }
    }
}

/// The ranges of a program's messages, by their numbers.
fn messages(program: &Program) -> impl Iterator<Item = Span> {
    program.acts.iter().filter_map(|act| match *act {
        Act::Send { span, .. } | Act::Recv { span, .. } | Act::Broadcast { span, .. } => Some(span),
        _ => None,
    })
}

/// A run that is away.
#[derive(Debug)]
pub struct Away {
    image: Image,
    /// Messages that were under way: numbers and ranges.
    under_way: Vec<(u32, Span)>,
}

/// Bytes that are copied to an image and back in about the time of the hand-over that is saved by each wait:
/// an estimate, of 15 us for a hand-over among 48 processes (measured, 2026-11-30, Intel Xeon) and some 4 GB/s
/// for bytes that are in no cache.
const WORTH_A_WAIT: usize = 32 << 10;

impl Run {
    /// What is left, if it can be given away, and is worth it; not where somebody else's memory is being read.
    /// Until [`Run::take_back`] the engine then knows nothing of it but what the other ends of messages know.
    /// `operator` is that on its elements ([`crate::op::Op::kernel_code`]); 0 where nothing is combined.
    ///
    /// # Errors
    /// A message of another length than expected.
    pub fn give_away(
        &mut self,
        engine: &mut Engine,
        operator: u32,
    ) -> Result<Option<(Carried, Away)>> {
        let Some(carrier) = engine.transport().carrier() else {
            return Ok(None);
        };
        let (bytes_max, image_max) = (carrier.bytes_max(), carrier.image().len());
        // Of a long program nothing is looked at: that would be done at each of its waits.
        if carried_bytes(self.program.acts.len(), 0) > bytes_max || !engine.is_quiet() {
            return Ok(None);
        }
        // Where first bytes go along, a message that they do not go along with is another one.
        let longest = match engine.transport().first_max() {
            0 => u32::MAX as usize,
            _ => engine.eager_max(),
        };
        let left = &self.program.acts[self.next..];
        let waits = left.iter().filter(|act| matches!(act, Act::Wait { .. }));
        let worth = image_max.min(WORTH_A_WAIT.saturating_mul(waits.count()));
        let image = Image::of(&self.program, longest).filter(|image| image.end <= worth);
        let Some(image) = image else {
            return Ok(None);
        };
        self.end_landed(engine)?;
        self.give(engine, operator, bytes_max, image)
    }

    fn give(
        &mut self,
        engine: &mut Engine,
        operator: u32,
        bytes_max: usize,
        image: Image,
    ) -> Result<Option<(Carried, Away)>> {
        let (context, tag) = (self.channel.context, self.channel.tag);
        let Some(under_way) = self.under_way(engine) else {
            return Ok(None);
        };
        let Some((messages, bytes)) = engine.early(context, tag) else {
            return Ok(None);
        };
        let left = &self.program.acts[self.next..];
        // What comes early then is at most what is still received, and of long messages only that they are
        // announced.
        let short = engine.eager_max();
        let to_come = left.iter().map(|act| match act {
            Act::Recv { span, .. } if span.bytes > short => early_bytes(1, 0),
            Act::Recv { span, .. } => early_bytes(1, span.bytes),
            _ => 0,
        });
        let most = carried_bytes(left.len(), under_way.len() + left.len())
            + early_bytes(messages, bytes).max(to_come.sum());
        if most > bytes_max {
            return Ok(None);
        }
        let me = engine.transport().rank();
        let peers = self.channel.peers.world_ranks();
        let task = |act: &Act| {
            Some(match *act {
                Act::Send { to, span } => {
                    let to = peers[to as usize];
                    (to != me).then_some(Task::Send(to, image.part(span)))?
                }
                Act::Recv { from, span } => Task::Recv(peers[from as usize], image.part(span)),
                Act::Wait { post } => Task::Wait(post),
                Act::Combine { left, into } => {
                    Task::Combine(image.part(left).offset, image.part(into))
                }
                Act::Copy { from, into } => Task::Copy(image.part(from).offset, image.part(into)),
                Act::Broadcast { .. } => return None,
            })
        };
        let Some(tasks) = left.iter().map(task).collect::<Option<Vec<Task>>>() else {
            return Ok(None);
        };
        let of_carried = |&(post, span, stage): &(u32, Span, Stage)| UnderWay {
            post,
            peer: peers[self.posts[post as usize].peer as usize],
            context,
            tag,
            part: image.part(span),
            stage,
        };
        let of_carried: Vec<UnderWay> = under_way.iter().map(of_carried).collect();
        for &(post, _, stage) in &under_way {
            let flight = &mut self.posts[post as usize].flight;
            if let Some(flight) = flight.take_if(|_| stage == Stage::Posted) {
                engine.cancel(&flight);
                engine.forget(&flight);
            }
        }
        let terms = Terms {
            short: short as u32,
            packet: engine.transport().stream_packet(image.end) as u32,
            is_alone: engine.posted() == 0,
            name: engine.next_name(),
        };
        let carried = Carried {
            context,
            tag,
            operator,
            terms,
            tasks,
            posts: self.posts.len() as u32,
            under_way: of_carried,
            early: engine.take_early(context, tag),
            image: image.end as u32,
            ..Carried::default()
        };
        let carrier = engine.transport().carrier().ok_or_else(gone)?;
        self.copy_read(image, &under_way, carrier.image());
        let under_way = under_way.into_iter().map(|(post, span, _)| (post, span));
        let under_way = under_way.collect();
        Ok(Some((carried, Away { image, under_way })))
    }

    /// Messages that have ended are waited for.
    fn end_landed(&mut self, engine: &mut Engine) -> Result<()> {
        for number in 0..self.posts.len() {
            self.has_ended(engine, number as u32)?;
        }
        Ok(())
    }

    /// Messages under way, with their ranges; `None` where one cannot be given away.
    fn under_way(&self, engine: &Engine) -> Option<Vec<(u32, Span, Stage)>> {
        let mut under_way = Vec::new();
        for ((number, post), span) in (0..).zip(&self.posts).zip(messages(&self.program)) {
            if let Some(flight) = &post.flight {
                under_way.push((number, span, engine.stage(flight)?));
            }
        }
        Some(under_way)
    }

    /// Whether nothing has been done yet.
    fn is_new(&self) -> bool {
        self.next == 0
    }

    /// Copies what messages under way and what is left read.
    fn copy_read(&mut self, image: Image, under_way: &[(u32, Span, Stage)], into: &mut [u8]) {
        let mut copy = |run: &mut Self, span: Span| {
            if span.bytes > 0 {
                run.read(span, &mut into[image.part(span).range()]);
            }
        };
        let program = Arc::clone(&self.program);
        if self.is_new() {
            for &span in program.reads() {
                copy(self, span);
            }
            return;
        }
        for &(_, span, stage) in under_way {
            if stage != Stage::Posted {
                copy(self, span);
            }
        }
        for act in &program.acts[self.next..] {
            match *act {
                Act::Send { span, .. } => copy(self, span),
                Act::Copy { from, .. } => copy(self, from),
                Act::Combine { left, into } => {
                    copy(self, left);
                    copy(self, into);
                }
                Act::Recv { .. } | Act::Wait { .. } | Act::Broadcast { .. } => {}
            }
        }
    }

    /// What was given away is back.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn take_back(&mut self, engine: &mut Engine, carried: Carried, away: &Away) -> Result<()> {
        let (context, tag) = (self.channel.context, self.channel.tag);
        let carrier = engine.transport().carrier().ok_or_else(gone)?;
        self.copy_written(&carried, away, carrier.image());
        for &(post, _) in &away.under_way {
            if carried.under_way.iter().all(|message| message.post != post)
                && let Some(flight) = self.posts[post as usize].flight.take()
            {
                engine.end(&flight);
            }
        }
        engine.count_carried(carried.done);
        engine.set_next_name(carried.terms.name);
        engine.keep_early(context, tag, carried.early);
        for message in &carried.under_way {
            let (post, stage) = (message.post as usize, message.stage);
            if let Some(flight) = &self.posts[post].flight {
                engine.set_stage(flight, stage);
                continue;
            }
            let span = messages(&self.program).nth(post);
            let memory = self.memory(span.unwrap_or(Span::NONE));
            let flight = match stage {
                Stage::Posted => engine.recv(context, Some(message.peer), Some(tag), memory)?,
                _ => engine.adopt((context, tag), message.peer, memory, stage),
            };
            self.posts[post].flight = Some(flight);
        }
        Ok(())
    }

    /// Does again what was done elsewhere: the next acts, of which only the bytes are to be copied.
    fn copy_written(&mut self, carried: &Carried, away: &Away, image: &[u8]) {
        let has_come = |post: u32| {
            let mut under_way = carried.under_way.iter();
            under_way.all(|message| message.post != post || message.stage != Stage::Posted)
        };
        let write = |run: &mut Self, span: Span| {
            if span.bytes > 0 {
                run.write(span, &image[away.image.part(span).range()]);
            }
        };
        let program = Arc::clone(&self.program);
        if self.is_new() && carried.next as usize == program.acts.len() {
            for &span in program.writes() {
                write(self, span);
            }
            self.next = program.acts.len();
            return;
        }
        for &(post, span) in &away.under_way {
            let is_receive = self.posts[post as usize].expected.is_some();
            if is_receive && has_come(post) {
                write(self, span);
            }
        }
        for _ in 0..carried.next {
            let act = program.acts[self.next];
            self.next += 1;
            let (peer, span) = match act {
                Act::Send { to, .. } => (to, None),
                Act::Recv { from, span } => (from, Some(span)),
                Act::Combine { into, .. } | Act::Copy { into, .. } => {
                    write(self, into);
                    continue;
                }
                Act::Wait { .. } | Act::Broadcast { .. } => continue,
            };
            let post = self.posts.len() as u32;
            if let Some(span) = span.filter(|_| has_come(post)) {
                write(self, span);
            }
            self.begun(None, peer, span.map(|span| span.bytes));
        }
    }
}

impl RunningCall {
    /// Whether it will wait, whatever others do: a message that it receives has not come.
    #[must_use]
    pub fn will_wait(&self, engine: &Engine) -> bool {
        let channel = &self.run.channel;
        let is_new = self.run.is_new() && self.check.is_none();
        let nothing_came = engine.early(channel.context, channel.tag) == Some((0, 0));
        is_new && self.run.program.receives() && nothing_came
    }

    /// Lets what is left be carried on while this process sleeps, if it can be; whether it was. The call has
    /// gone as far as it can then, or something else has come.
    ///
    /// # Errors
    /// What ends all ranks, or a message of another length than expected.
    pub fn carry(&mut self, process: &mut Process, call: &Call) -> Result<bool> {
        let is_idle = process.is_idle();
        let keeps_all = process.comm(call.comm)?.collectives.settings.keeps_all;
        // What else goes on would have it given back again and again.
        if !is_idle || keeps_all || self.check.is_some() {
            return Ok(false);
        }
        let Some(operator) = call.carried_operator(process)? else {
            return Ok(false);
        };
        let engine = &mut process.engine;
        let carrier = engine.transport().carrier().ok_or_else(gone)?;
        if !carrier.make_room()? {
            return Ok(true);
        }
        let Some((carried, away)) = self.run.give_away(engine, operator)? else {
            return Ok(false);
        };
        let mut back = None;
        let carrier = engine.transport().carrier().ok_or_else(gone)?;
        let outcome = carrier.carry(&carried.write(), &mut |bytes| back = Carried::read(bytes));
        if let Some(back) = back {
            self.run.take_back(engine, back, &away)?;
        }
        outcome.map(|()| true)
    }
}

impl Call {
    /// The operator as [`Run::give_away`] has it; `None` if it is none of the standard's on elements of one
    /// kind.
    fn carried_operator(&self, process: &Process) -> Result<Option<u32>> {
        match (self.op, self.datatype()) {
            (Some(op), Some(datatype)) => Ok(process.op(op)?.kernel_code(datatype)),
            _ => Ok(Some(0)),
        }
    }
}
