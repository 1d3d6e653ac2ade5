// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is left of a run is given away to be carried on ([`super::carried`]), and comes back.
#![forbid(unsafe_code)]

use super::call::{Call, RunningCall, gone};
use super::carried::{Carried, Done, Open, Part, Task, carried_bytes, early_bytes};
use super::program::{Act, Program, Region, Span};
use super::run::{Post, Run, other_size};
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
    /// That of a program whose messages are all short, and of the machine's own means none.
    fn of(program: &Program, short: usize) -> Option<Self> {
        let is_short = |act: &Act| match act {
            Act::Send { span, .. } | Act::Recv { span, .. } => span.bytes <= short,
            Act::Broadcast { .. } => false,
            _ => true,
        };
        if !program.acts.iter().all(is_short) {
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
    /// Receives that waited: numbers and ranges.
    open: Vec<(u32, Span)>,
}

/// What else must be known of a run that is given away.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The operator on its elements ([`crate::op::Op::kernel_code`]); 0 where nothing is combined.
    pub operator: u32,
    /// Most bytes that can be given away.
    pub bytes_max: usize,
    /// Longest message that is short.
    pub short: usize,
}

impl Run {
    /// What is left, if it can be given away: not where a message is long, or where bytes are many. Then
    /// the engine knows nothing of it until [`Run::take_back`].
    ///
    /// # Errors
    /// A message of another length than expected.
    pub fn give_away(
        &mut self,
        engine: &mut Engine,
        around: Around,
    ) -> Result<Option<(Carried, Away)>> {
        // Of a long program nothing is looked at: that would be done at each of its waits.
        if carried_bytes(self.program.acts.len(), 0, 0) > around.bytes_max {
            return Ok(None);
        }
        let Some(image) = Image::of(&self.program, around.short) else {
            return Ok(None);
        };
        self.end_landed(engine)?;
        Ok(self.give(engine, around, image))
    }

    fn give(
        &mut self,
        engine: &mut Engine,
        around: Around,
        image: Image,
    ) -> Option<(Carried, Away)> {
        let (context, tag) = (self.channel.context, self.channel.tag);
        let open = self.open(engine)?;
        let (messages, bytes) = engine.early(context, tag)?;
        let left = &self.program.acts[self.next..];
        // What comes early then is at most what is still received.
        let to_come = left.iter().map(|act| match act {
            Act::Recv { span, .. } => early_bytes(1, span.bytes),
            _ => 0,
        });
        let most = carried_bytes(left.len(), open.len() + left.len(), image.end)
            + early_bytes(messages, bytes).max(to_come.sum());
        if most > around.bytes_max {
            return None;
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
        let tasks: Vec<Task> = left.iter().map(task).collect::<Option<_>>()?;
        let peer = |post: u32| peers[self.posts[post as usize].peer as usize];
        let receives = open.iter().map(|&(post, span)| Open {
            post,
            from: peer(post),
            part: image.part(span),
        });
        let carried = Carried {
            context,
            tag,
            operator: around.operator,
            tasks,
            next: 0,
            posts: self.posts.len() as u32,
            open: receives.collect(),
            early: engine.take_early(context, tag),
            unfit: None,
            done: Done::default(),
            image: self.bytes(image),
        };
        for &(post, _) in &open {
            if let Some(flight) = self.posts[post as usize].flight.take() {
                engine.cancel(&flight);
                engine.forget(&flight);
            }
        }
        Some((carried, Away { image, open }))
    }

    /// Messages that have ended are waited for.
    fn end_landed(&mut self, engine: &mut Engine) -> Result<()> {
        for number in 0..self.posts.len() {
            self.has_ended(engine, number as u32)?;
        }
        Ok(())
    }

    /// Receives that no message has come for, with their ranges; `None` where anything else is under way.
    fn open(&self, engine: &Engine) -> Option<Vec<(u32, Span)>> {
        let mut open = Vec::new();
        for ((number, post), span) in (0..).zip(&self.posts).zip(messages(&self.program)) {
            let Some(flight) = &post.flight else {
                continue;
            };
            if !engine.is_open(flight) {
                return None;
            }
            open.push((number, span));
        }
        Some(open)
    }

    /// The bytes that what is left reads or writes.
    fn bytes(&mut self, image: Image) -> Vec<u8> {
        let mut bytes = vec![0; image.end];
        for at in self.next..self.program.acts.len() {
            let spans = self.program.acts[at].spans();
            for span in spans.into_iter().filter(|span| span.bytes > 0) {
                self.read(span, &mut bytes[image.part(span).range()]);
            }
        }
        bytes
    }

    /// What was given away is back.
    ///
    /// # Errors
    /// What ends all ranks, or a message of another length than expected.
    pub fn take_back(&mut self, engine: &mut Engine, carried: Carried, away: &Away) -> Result<()> {
        let (context, tag) = (self.channel.context, self.channel.tag);
        let is_open = |post: u32| carried.open.iter().any(|open| open.post == post);
        let is_unfit = |post: u32| carried.unfit.is_some_and(|unfit| unfit.post == post);
        let has_come = |post: u32| !is_open(post) && !is_unfit(post);
        let write = |run: &mut Self, span: Span| {
            if span.bytes > 0 {
                run.write(span, &carried.image[away.image.part(span).range()]);
            }
        };
        for &(post, span) in &away.open {
            if has_come(post) {
                write(self, span);
            }
        }
        for _ in 0..carried.next {
            let act = self.program.acts[self.next];
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
            self.posts.push(Post {
                flight: None,
                peer,
                expected: span.map(|span| span.bytes),
            });
        }
        engine.count_carried(carried.done);
        if let Some(unfit) = carried.unfit {
            let Post { peer, expected, .. } = self.posts[unfit.post as usize];
            let expected = expected.unwrap_or_default();
            return Err(other_size(
                &self.channel,
                peer,
                unfit.bytes as usize,
                expected,
            ));
        }
        for open in &carried.open {
            let span = messages(&self.program).nth(open.post as usize);
            let memory = self.memory(span.unwrap_or(Span::NONE));
            let flight = engine.recv(context, Some(open.from), Some(tag), memory)?;
            self.posts[open.post as usize].flight = Some(flight);
        }
        engine.keep_early(context, tag, carried.early);
        Ok(())
    }
}

impl RunningCall {
    /// Lets what is left be carried on while this process sleeps, if it can be; whether it was. The call has
    /// gone as far as it can then, or something else has come.
    ///
    /// # Errors
    /// What ends all ranks, or a message of another length than expected.
    pub fn carry(&mut self, process: &mut Process, call: &Call) -> Result<bool> {
        let is_idle = process.is_idle() && process.engine.is_quiet();
        let transport = process.engine.transport();
        let short = transport.eager_max().min(transport.packet_max());
        let Some(bytes_max) = transport.carrier().map(|carrier| carrier.bytes_max()) else {
            return Ok(false);
        };
        let keeps_all = process.comm(call.comm)?.collectives.settings.keeps_all;
        // What else goes on would have it given back again and again.
        if !is_idle || keeps_all || self.check.is_some() {
            return Ok(false);
        }
        let Some(operator) = call.carried_operator(process)? else {
            return Ok(false);
        };
        let around = Around {
            operator,
            bytes_max,
            short,
        };
        let engine = &mut process.engine;
        let Some((carried, away)) = self.run.give_away(engine, around)? else {
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
    /// The operator as [`Around::operator`] has it; `None` if it is none of the standard's on elements of one
    /// kind.
    fn carried_operator(&self, process: &Process) -> Result<Option<u32>> {
        match (self.op, self.datatype()) {
            (Some(op), Some(datatype)) => Ok(process.op(op)?.kernel_code(datatype)),
            _ => Ok(Some(0)),
        }
    }
}
