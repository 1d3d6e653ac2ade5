// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carries out a program over messages, as far as it can go without waiting.

use std::sync::Arc;

use super::program::{Act, Program, Region, Span};
use crate::engine::{Engine, Flight, Memory, Mode, Operation};
use crate::error::{Class, Error, Result};
use crate::group::Group;

/// An operator on elements of one type.
pub trait Combine: Send + Sync {
    /// `into = left op into`, element by element.
    ///
    /// # Safety
    /// There are `bytes` bytes at either address, a whole number of elements that do not overlap;
    /// those at `into` may be written.
    unsafe fn combine(&self, left: *const u8, into: *mut u8, bytes: usize);
}

/// Whose messages they are, and which.
#[derive(Clone, Debug)]
pub struct Channel {
    /// World ranks of the communicator's ranks.
    pub peers: Group,
    /// Context of the messages.
    pub context: u32,
    /// Their tag.
    pub tag: i32,
    /// What is carried out, for error messages.
    pub name: &'static str,
}

/// Memory of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// What the program calls [`Region::Send`].
    pub send: *const u8,
    /// What the program calls [`Region::Recv`].
    pub recv: *mut u8,
}

impl Buffers {
    /// No memory.
    pub const NONE: Self = Self {
        send: std::ptr::null(),
        recv: std::ptr::null_mut(),
    };
}

/// Bytes at an address that every type can live with.
#[derive(Default, Debug)]
pub struct Scratch {
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Scratch {
    /// This many bytes, all zero.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            lines: vec![Line([0; 64]); bytes.div_ceil(64)],
        }
    }

    /// As [`Scratch::new`]; `None` where there is not so much.
    #[must_use]
    pub fn try_new(bytes: usize) -> Option<Self> {
        let mut lines = Vec::new();
        lines.try_reserve_exact(bytes.div_ceil(64)).ok()?;
        lines.resize(bytes.div_ceil(64), Line([0; 64]));
        Some(Self { lines })
    }

    /// Where they begin.
    #[must_use]
    pub fn address(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// The bytes.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.lines.len() * 64;
        // SAFETY: lines are bytes without gaps, and this is the only way to them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.address(), bytes) }
    }
}

/// A message of the program that has begun.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) flight: Option<Flight>,
    /// Rank in the communicator.
    pub(super) peer: u32,
    /// What a receive expects.
    pub(super) expected: Option<usize>,
}

/// A program that is being carried out.
pub struct Run {
    pub(super) program: Arc<Program>,
    pub(super) channel: Channel,
    buffers: Buffers,
    /// None as long as nobody has needed it.
    scratch: Option<Scratch>,
    operator: Option<Arc<dyn Combine>>,
    pub(super) next: usize,
    pub(super) posts: Vec<Post>,
}

// SAFETY: addresses are numbers here; who made the run promised that the memory may be used until it
// is complete, by whichever thread.
unsafe impl Send for Run {}

impl Run {
    /// A run that has not begun.
    ///
    /// # Safety
    /// Until the run is complete, what the program reads of the send buffer may be read, and what it
    /// names of the receive buffer may be read and written by this run alone. A program that combines
    /// has an operator.
    #[must_use]
    pub unsafe fn new(
        program: Arc<Program>,
        channel: Channel,
        buffers: Buffers,
        operator: Option<Arc<dyn Combine>>,
    ) -> Self {
        Self {
            program,
            channel,
            buffers,
            scratch: None,
            operator,
            next: 0,
            posts: Vec::new(),
        }
    }

    /// Whether messages still use its memory.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.posts.iter().any(|post| post.flight.is_some())
    }

    fn address(&mut self, span: Span) -> *mut u8 {
        let base = match span.region {
            Region::Send => self.buffers.send.cast_mut(),
            Region::Recv => self.buffers.recv,
            Region::Scratch => {
                let bytes = self.program.scratch_bytes;
                self.scratch
                    .get_or_insert_with(|| Scratch::new(bytes))
                    .address()
            }
        };
        base.wrapping_add(span.offset)
    }

    /// Copies a range of the program's memory.
    pub(super) fn read(&mut self, span: Span, into: &mut [u8]) {
        let into = &mut into[..span.bytes];
        // SAFETY: ranges of a program lie in memory that was promised in `new`; none of it is the caller's.
        unsafe { std::ptr::copy_nonoverlapping(self.address(span), into.as_mut_ptr(), span.bytes) };
    }

    /// The inverse of [`Run::read`], of a range that the program writes.
    pub(super) fn write(&mut self, span: Span, from: &[u8]) {
        let from = &from[..span.bytes];
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.address(span), span.bytes) };
    }

    pub(super) fn memory(&mut self, span: Span) -> Memory {
        if span.bytes == 0 {
            return Memory::NONE;
        }
        let address = self.address(span);
        // SAFETY: scratch memory lives as long as messages use it (see `drop`), the rest was promised
        // in `new`.
        unsafe { Memory::new(address, span.bytes) }
    }

    /// Whether the message of this number has ended.
    pub(super) fn has_ended(&mut self, engine: &mut Engine, number: u32) -> Result<bool> {
        let post = &mut self.posts[number as usize];
        let Some(flight) = post.flight.take() else {
            return Ok(true);
        };
        if engine.landed(&flight).is_none() {
            post.flight = Some(flight);
            return Ok(false);
        }
        let landed = engine.release(flight);
        match post.expected {
            Some(expected) if landed.bytes != expected => {
                Err(other_size(&self.channel, post.peer, landed.bytes, expected))
            }
            _ => Ok(true),
        }
    }

    /// A message has begun.
    pub(super) fn begun(&mut self, flight: Option<Flight>, peer: u32, expected: Option<usize>) {
        if self.posts.capacity() == 0 {
            self.posts.reserve_exact(self.program.posts as usize);
        }
        self.posts.push(Post {
            flight,
            peer,
            expected,
        });
    }

    fn begin(&mut self, engine: &mut Engine, act: Act) -> Result<()> {
        let (context, tag) = (self.channel.context, self.channel.tag);
        match act {
            Act::Send { to, span } => {
                let memory = self.memory(span);
                let world = self.channel.peers.world_ranks()[to as usize];
                let flight = engine.send(context, world, tag, memory, Mode::Standard)?;
                self.begun(flight, to, None);
            }
            Act::Recv { from, span } => {
                let memory = self.memory(span);
                let world = self.channel.peers.world_ranks()[from as usize];
                let flight = engine.recv(context, Some(world), Some(tag), memory)?;
                self.begun(Some(flight), from, Some(span.bytes));
            }
            Act::Broadcast { root, span } => {
                let memory = self.memory(span);
                let members = self.channel.peers.world_ranks();
                let world = members[root as usize];
                let flight = engine.broadcast(context, members, world, tag, memory)?;
                // At its root there is nothing to receive but that it is through.
                let is_root = world == engine.transport().rank();
                self.begun(
                    Some(flight),
                    root,
                    Some(if is_root { 0 } else { span.bytes }),
                );
            }
            Act::Copy { from, into } => {
                let (from, to) = (self.address(from), self.address(into));
                // SAFETY: ranges of a program lie in memory that was promised in `new`; one that may
                // overlap another (a caller's two buffers) is copied right all the same.
                unsafe { std::ptr::copy(from, to, into.bytes) };
            }
            Act::Combine { left, into } => {
                let (left, to) = (self.address(left), self.address(into));
                let operator = self.operator.as_ref().expect("promised in `new`");
                // SAFETY: as above; ranges of chunks are whole elements.
                unsafe { operator.combine(left, to, into.bytes) };
            }
            Act::Wait { .. } => {}
        }
        Ok(())
    }
}

/// How far one call of [`Run::step`] came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// This act is done.
    Did(Act),
    /// The message of this number has not ended.
    Waits(u32),
    /// There are no more acts.
    Complete,
}

impl Run {
    /// The next act, if it can be done.
    ///
    /// # Errors
    /// What ends all ranks, or a message of another length than expected.
    #[inline]
    pub fn step(&mut self, engine: &mut Engine) -> Result<Step> {
        let Some(&act) = self.program.acts.get(self.next) else {
            return Ok(Step::Complete);
        };
        match act {
            Act::Wait { post } => {
                if !self.has_ended(engine, post)? {
                    return Ok(Step::Waits(post));
                }
            }
            act => self.begin(engine, act)?,
        }
        self.next += 1;
        Ok(Step::Did(act))
    }
}

impl Operation for Run {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        loop {
            match self.step(engine)? {
                Step::Did(_) => {}
                Step::Waits(_) => return Ok(false),
                Step::Complete => return Ok(true),
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Messages that are still under way keep the memory that they use: it is never given back.
        if self.is_under_way() {
            std::mem::forget(std::mem::take(&mut self.scratch));
        }
    }
}

#[cold]
pub(super) fn other_size(channel: &Channel, peer: u32, came: usize, expected: usize) -> Error {
    let what = format!(
        "{}: rank {peer} sent {came} bytes where this rank expects {expected}; counts and types of \
         all ranks must agree",
        channel.name
    );
    Error::new(Class::Truncate, what)
}
