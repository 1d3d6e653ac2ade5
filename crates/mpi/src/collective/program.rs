// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one rank does of a collective, as a flat list of acts on byte ranges.
//!
//! A program names no addresses: its ranges lie in the caller's send buffer, its receive buffer or
//! scratch memory, so that one program serves every call of the same shape. The [`Builder`] keeps
//! bytes in order: it lets an act wait for the messages under way that it would disturb or that it
//! needs, and for no others.
//!
//! Acts and ranges lie in memory as C has them: `crates/coll` gives programs to code in C, which carries
//! them out over somebody else's MPI.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::sync::OnceLock;

use super::ranges::Ranges;

/// Where bytes lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Region {
    /// What the caller gives; never written.
    Send,
    /// What the caller receives.
    Recv,
    /// Memory of the collective.
    Scratch,
}

/// A range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Span {
    /// Where it lies.
    pub region: Region,
    /// Where it begins there.
    pub offset: usize,
    /// How long it is.
    pub bytes: usize,
}

impl Span {
    /// No bytes.
    pub const NONE: Self = Self::new(Region::Scratch, 0, 0);

    /// A range.
    #[must_use]
    pub const fn new(region: Region, offset: usize, bytes: usize) -> Self {
        Self {
            region,
            offset,
            bytes,
        }
    }

    /// Where it ends.
    #[must_use]
    pub const fn end(self) -> usize {
        self.offset + self.bytes
    }

    fn overlaps(self, other: Self) -> bool {
        self.region == other.region && self.offset < other.end() && other.offset < self.end()
    }

    /// `bytes` bytes of it from `offset` on.
    #[must_use]
    pub fn part(self, offset: usize, bytes: usize) -> Self {
        debug_assert!(offset + bytes <= self.bytes);
        Self::new(self.region, self.offset + offset, bytes)
    }
}

/// One thing a rank does; ranks are those of the communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Act {
    /// Begin to send.
    Send {
        /// The receiver.
        to: u32,
        /// What.
        span: Span,
    },
    /// Begin to receive.
    Recv {
        /// The sender.
        from: u32,
        /// Where to.
        span: Span,
    },
    /// Wait for the message of this number; sends, receives and broadcasts are counted from 0.
    Wait {
        /// Its number.
        post: u32,
    },
    /// `into = left op into`, element by element.
    Combine {
        /// The left operand.
        left: Span,
        /// The right operand and the result.
        into: Span,
    },
    /// Copy.
    Copy {
        /// From where.
        from: Span,
        /// Where to.
        into: Span,
    },
    /// Begin to take part in a broadcast of the machine's own, with everybody.
    Broadcast {
        /// Who has the bytes.
        root: u32,
        /// Where they are, and where they go.
        span: Span,
    },
}

impl Act {
    /// The ranges that it names; [`Span::NONE`] where it names fewer.
    #[must_use]
    pub const fn spans(&self) -> [Span; 2] {
        match *self {
            Self::Send { span, .. } | Self::Recv { span, .. } | Self::Broadcast { span, .. } => {
                [span, Span::NONE]
            }
            Self::Wait { .. } => [Span::NONE; 2],
            Self::Combine { left, into } => [left, into],
            Self::Copy { from, into } => [from, into],
        }
    }

    /// The ranges that it reads, and the one that it writes. A broadcast does both.
    fn reads_and_writes(&self) -> ([Span; 2], Span) {
        match *self {
            Self::Send { span, .. } => ([span, Span::NONE], Span::NONE),
            Self::Recv { span, .. } => ([Span::NONE; 2], span),
            Self::Broadcast { span, .. } => ([span, Span::NONE], span),
            Self::Wait { .. } => ([Span::NONE; 2], Span::NONE),
            Self::Combine { left, into } => ([left, into], into),
            Self::Copy { from, into } => ([from, Span::NONE], into),
        }
    }
}

/// What one rank does of a collective.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// In this order.
    pub acts: Vec<Act>,
    /// Number of sends, receives and broadcasts.
    pub posts: u32,
    /// Bytes of scratch memory.
    pub scratch_bytes: usize,
    facts: Facts,
    /// Found when it is asked for: only who gives a program away does.
    touched: OnceLock<Touched>,
}

/// All else follows from these.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        let sizes = |it: &Self| (it.posts, it.scratch_bytes);
        self.acts == other.acts && sizes(self) == sizes(other)
    }
}

/// What is asked of a program in every call.
#[derive(Clone, Copy, Default, Debug)]
struct Facts {
    /// By region.
    reach: [usize; 3],
    longest: usize,
    receives: bool,
    broadcasts: bool,
}

/// Ranges of the caller's buffers.
#[derive(Clone, Default, Debug)]
struct Touched {
    reads: Vec<Span>,
    writes: Vec<Span>,
}

impl Facts {
    fn of(acts: &[Act]) -> Self {
        let mut facts = Self::default();
        for act in acts {
            for span in act.spans() {
                let reach = &mut facts.reach[span.region as usize];
                *reach = span.end().max(*reach);
            }
            match act {
                Act::Send { span, .. } => facts.longest = facts.longest.max(span.bytes),
                Act::Recv { span, .. } => {
                    facts.longest = facts.longest.max(span.bytes);
                    facts.receives = true;
                }
                Act::Broadcast { .. } => facts.broadcasts = true,
                Act::Wait { .. } | Act::Combine { .. } | Act::Copy { .. } => {}
            }
        }
        facts
    }
}

impl Touched {
    fn by(acts: &[Act]) -> Self {
        let (mut read, mut written) = (<[Ranges; 3]>::default(), <[Ranges; 3]>::default());
        for act in acts {
            let (reads, writes) = act.reads_and_writes();
            for span in reads {
                let (at, range) = (span.region as usize, span.offset..span.end());
                if !written[at].covers(&range) {
                    read[at].insert(range);
                }
            }
            written[writes.region as usize].insert(writes.offset..writes.end());
        }
        let spans = |region: Region, ranges: &[Ranges; 3]| {
            let span = |range: Range<usize>| Span::new(region, range.start, range.len());
            let spans = ranges[region as usize].iter().map(span);
            spans.collect::<Vec<_>>()
        };
        let mut reads = spans(Region::Send, &read);
        reads.extend(spans(Region::Recv, &read));
        let writes = spans(Region::Recv, &written);
        Self { reads, writes }
    }
}

impl Program {
    /// Bytes of a region that it names: none lies behind.
    #[must_use]
    pub fn reach(&self, region: Region) -> usize {
        self.facts.reach[region as usize]
    }

    /// Bytes of its longest message from one rank to another.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.facts.longest
    }

    /// Whether it receives messages.
    #[must_use]
    pub fn receives(&self) -> bool {
        self.facts.receives
    }

    /// Ranges of the caller's buffers that it reads as it finds them, and perhaps more.
    #[must_use]
    pub fn reads(&self) -> &[Span] {
        &self.touched().reads
    }

    /// Ranges of the receive buffer that it writes.
    #[must_use]
    pub fn writes(&self) -> &[Span] {
        &self.touched().writes
    }

    fn touched(&self) -> &Touched {
        self.touched.get_or_init(|| Touched::by(&self.acts))
    }

    /// Whether it has broadcasts of the machine's own.
    #[must_use]
    pub fn broadcasts(&self) -> bool {
        self.facts.broadcasts
    }
}

/// Scratch ranges begin at multiples of this many bytes: operators want their elements aligned.
const ALIGN: usize = 64;

/// A message that has begun and that no act has waited for.
#[derive(Clone, Copy, Debug)]
struct Pending {
    post: u32,
    span: Span,
    is_send: bool,
}

/// Writes a program.
#[derive(Default, Debug)]
pub struct Builder {
    program: Program,
    pending: Vec<Pending>,
    /// Scratch ranges that hold nothing any more.
    free: Vec<Span>,
}

impl Builder {
    /// An empty program.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A scratch range of this size.
    pub fn scratch(&mut self, bytes: usize) -> Span {
        if bytes == 0 {
            return Span::NONE;
        }
        // One that a message still uses would make what comes next wait, perhaps for each other.
        let fits = |span: &Span| span.bytes == bytes && !self.is_used(*span);
        if let Some(at) = self.free.iter().position(fits) {
            return self.free.swap_remove(at);
        }
        let offset = self.program.scratch_bytes;
        self.program.scratch_bytes += bytes.next_multiple_of(ALIGN);
        Span::new(Region::Scratch, offset, bytes)
    }

    /// Says that a range holds nothing any more; only scratch ranges are used again.
    pub fn forget(&mut self, span: Span) {
        let is_aligned = span.offset.is_multiple_of(ALIGN);
        if span.region == Region::Scratch && span.bytes > 0 && is_aligned {
            self.free.push(span);
        }
    }

    /// Sends a range, and returns the number of the message.
    pub fn send(&mut self, to: u32, span: Span) -> u32 {
        self.wait_to_read(span);
        self.post(Act::Send { to, span }, span, true)
    }

    /// Receives into a range, and returns the number of the message.
    pub fn recv(&mut self, from: u32, span: Span) -> u32 {
        self.wait_to_write(span);
        self.recv_beside(from, span)
    }

    /// As [`Builder::recv`], whatever else is under way into the range: of ranges that a caller must not
    /// let overlap. Where they do all the same, one of them stays, and nobody waits for the other.
    pub fn recv_beside(&mut self, from: u32, span: Span) -> u32 {
        self.post(Act::Recv { from, span }, span, false)
    }

    /// Broadcasts a range by the machine's own means, and returns the number of the message.
    pub fn broadcast(&mut self, root: u32, span: Span) -> u32 {
        // One at a time.
        self.wait_where(|_| true);
        self.post(Act::Broadcast { root, span }, span, false)
    }

    fn post(&mut self, act: Act, span: Span, is_send: bool) -> u32 {
        let post = self.program.posts;
        self.program.acts.push(act);
        self.program.posts += 1;
        self.pending.push(Pending {
            post,
            span,
            is_send,
        });
        post
    }

    /// Waits for a message, if nothing has yet.
    pub fn wait(&mut self, post: u32) {
        self.wait_where(|pending| pending.post == post);
    }

    /// `into = left op into`.
    pub fn combine(&mut self, left: Span, into: Span) {
        if into.bytes > 0 {
            self.wait_to_read(left);
            self.wait_to_write(into);
            self.program.acts.push(Act::Combine { left, into });
        }
    }

    /// Copies, unless both are the same.
    pub fn copy(&mut self, from: Span, into: Span) {
        if into.bytes > 0 && from != into {
            self.wait_to_read(from);
            self.wait_to_write(into);
            self.program.acts.push(Act::Copy { from, into });
        }
    }

    /// Whether a message that is under way uses any of these bytes.
    #[must_use]
    pub fn is_used(&self, span: Span) -> bool {
        self.pending.iter().any(|other| other.span.overlaps(span))
    }

    /// The program, which ends when all its messages have.
    #[must_use]
    pub fn finish(mut self) -> Program {
        self.wait_where(|_| true);
        self.program.facts = Facts::of(&self.program.acts);
        self.program
    }

    fn wait_to_read(&mut self, span: Span) {
        self.wait_where(|pending| !pending.is_send && pending.span.overlaps(span));
    }

    fn wait_to_write(&mut self, span: Span) {
        self.wait_where(|pending| pending.span.overlaps(span));
    }

    fn wait_where(&mut self, is_meant: impl Fn(&Pending) -> bool) {
        let acts = &mut self.program.acts;
        self.pending.retain(|pending| {
            let waits = is_meant(pending);
            if waits {
                acts.push(Act::Wait { post: pending.post });
            }
            !waits
        });
    }
}

/// Neighbouring ranges made one.
#[must_use]
pub fn merged(spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for span in spans.into_iter().filter(|span| span.bytes > 0) {
        match all.last_mut() {
            Some(last) if last.region == span.region && last.end() == span.offset => {
                last.bytes += span.bytes;
            }
            _ => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_waits_for_what_it_would_disturb_and_for_nothing_else() {
        let mut builder = Builder::new();
        let [a, b] = [0, 8].map(|offset| Span::new(Region::Recv, offset, 8));
        builder.recv(1, a);
        builder.send(2, b);
        builder.copy(b, Span::new(Region::Recv, 16, 8));
        assert_eq!(builder.program.acts.len(), 3, "reading b disturbs nobody");
        builder.send(3, a);
        assert_eq!(builder.program.acts[3], Act::Wait { post: 0 });
        builder.combine(a, b);
        assert_eq!(builder.program.acts[5], Act::Wait { post: 1 });
        let program = builder.finish();
        assert_eq!(program.acts.last(), Some(&Act::Wait { post: 2 }));
    }

    #[test]
    fn neighbours_become_one() {
        let span = |offset, bytes| Span::new(Region::Send, offset, bytes);
        assert_eq!(merged([span(0, 4), span(4, 4), span(9, 1)]).len(), 2);
        assert_eq!(merged([span(0, 0)]), []);
    }
}
