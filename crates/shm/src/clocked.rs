// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's end of its mailbox: a transport in virtual time.
//!
//! What the program does between two moments at which it needs an answer is written down and handed over
//! together, so that most calls cost one hand-over: a send is only written down, a receive that finds
//! nothing hands over and waits.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use corecast_mpi::transport::{Broadcaster, Carrier, Clocked, Head, Shelf, Transport, Wanted};
use corecast_mpi::{Class, Error, Result, calls};

use crate::child::{is_child, mark_children};
use crate::ending::End;
use crate::error::ShmError;
use crate::job::{FirstPage, Member};
use crate::layout::Layout;
use crate::leave::leave;
use crate::mailbox::{
    AREA_BYTES, AREAS_OFFSET, Broadcasts, Compute, Errand, IMAGE_BYTES, IMAGE_OFFSET, Item,
    Mailbox, PACKET_MAX, Terms, broadcast_body, write_counts,
};
use crate::map::Map;
use crate::shelf::SharedShelf;

/// The call of what is part of none.
const NO_CALL: u16 = u16::MAX;

/// Rounds in which a rank may bring about itself what it waits for, by messages to itself and what they
/// lead to, before it waits for others.
const ROUNDS: u32 = 4;

/// Calls without anything to wait for, one after the other, after which a rank is taken to go round in a
/// loop of them. Few: in such a loop nobody hears of this rank before. Not none: programs make a few of
/// them that do not loop, and a look takes time that the program of a capture does not have.
const PASSES: u32 = 16;

/// One rank's end.
pub struct ClockedPort {
    rank: u32,
    layout: Layout,
    map: Arc<Map>,
    terms: Terms,
    /// Bytes of items that are not handed over.
    written: usize,
    /// Computed since the last item.
    computed_ps: u64,
    /// When the last answer was given.
    now_ps: u64,
    /// Where the packets of the last answer lie that nobody has taken.
    unread: std::ops::Range<usize>,
    /// Packets of earlier answers that nobody has taken.
    kept: Vec<(u32, Head, Box<[u8]>)>,
    is_asked: bool,
    /// Calls that had nothing to wait for since the last wait, up to [`PASSES`].
    passes: u32,
    /// The call, how many calls it is within, and how many there have been of each.
    call: u16,
    serial: u32,
    depth: u32,
    counts: Vec<u64>,
    /// Processor time of this process when the last call returned.
    processor_time: Duration,
}

impl ClockedPort {
    pub(crate) fn new(layout: Layout, map: Map, rank: u32) -> std::result::Result<Self, ShmError> {
        // SAFETY: it lies there, and holds atomics only.
        let member: &Member = unsafe { map.at(layout.rank(rank)) };
        let entered = member.enter(std::process::id());
        entered.map_err(|state| ShmError::Taken { rank, state })?;
        mark_children();
        // SAFETY: as above.
        let mailbox: &Mailbox = unsafe { map.at(layout.mailbox(rank)) };
        let terms = mailbox.terms();
        if let Some(processor) = terms.processor {
            run_on(processor);
        }
        let mut port = Self {
            rank,
            layout,
            map: Arc::new(map),
            terms,
            written: 0,
            computed_ps: 0,
            now_ps: 0,
            unread: 0..0,
            kept: Vec::new(),
            is_asked: false,
            passes: 0,
            call: NO_CALL,
            serial: 0,
            depth: 0,
            counts: vec![0; calls::count()],
            processor_time: Duration::ZERO,
        };
        // If all is over already, the first call says so.
        let _ = port.ask(Errand::Begin);
        port.processor_time = processor_time();
        Ok(port)
    }

    fn job(&self) -> &FirstPage {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(0) }
    }

    fn member(&self) -> &Member {
        // SAFETY: as above.
        unsafe { self.map.at(self.layout.rank(self.rank)) }
    }

    fn mailbox(&self) -> &Mailbox {
        // SAFETY: as above.
        unsafe { self.map.at(self.layout.mailbox(self.rank)) }
    }

    fn items(&mut self) -> &mut [u8] {
        let offset = self.layout.mailbox(self.rank) + AREAS_OFFSET;
        let address = self.map.address(offset, AREA_BYTES);
        // SAFETY: the area lies there, and it is this rank's turn: nobody else touches it.
        unsafe { std::slice::from_raw_parts_mut(address, AREA_BYTES) }
    }

    fn packets(&self) -> &[u8] {
        let offset = self.layout.mailbox(self.rank) + AREAS_OFFSET + AREA_BYTES;
        let address = self.map.address(offset, AREA_BYTES);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(address, AREA_BYTES) }
    }

    /// The rank has computed, by no more than the clock can say: a run ends before.
    fn has_computed(&mut self, ps: u64) {
        self.computed_ps = self.computed_ps.saturating_add(ps);
    }

    /// Writes an item down; what does not fit goes first.
    fn write(&mut self, errand: Errand<'_>) -> Result<()> {
        if self.computed_ps > 0 {
            let computed = Errand::Compute(std::mem::take(&mut self.computed_ps));
            self.put(NO_CALL, computed)?;
        }
        self.put(self.call, errand)
    }

    fn put(&mut self, call: u16, errand: Errand<'_>) -> Result<()> {
        let serial = self.serial;
        let item = Item {
            call,
            serial,
            errand,
        };
        // One more item always fits: the one that asks.
        if self.written + item.bytes() + ASKING_BYTES > AREA_BYTES {
            self.hand_over(Errand::Now)?;
        }
        let at = self.written;
        item.write(&mut self.items()[at..]);
        self.written += item.bytes();
        Ok(())
    }

    /// Hands over what is written with an errand that is answered, and waits for the answer.
    fn ask(&mut self, errand: Errand<'_>) -> Result<()> {
        if self.computed_ps > 0 {
            let computed = Errand::Compute(std::mem::take(&mut self.computed_ps));
            self.put(NO_CALL, computed)?;
        }
        self.hand_over(errand)
    }

    fn hand_over(&mut self, errand: Errand<'_>) -> Result<()> {
        if is_child() {
            self.refuse_child();
        }
        if self.is_asked {
            return Err(self.end());
        }
        self.keep_unread();
        let item = Item {
            call: self.call,
            serial: self.serial,
            errand,
        };
        let at = self.written;
        item.write(&mut self.items()[at..]);
        let bytes = at + item.bytes();
        self.written = 0;
        let mailbox = self.mailbox();
        if self.job().must_end() {
            return Err(self.end());
        }
        mailbox.ask(bytes);
        let Some((now_ps, bytes, is_asked)) = mailbox.await_answer(|| self.job().must_end()) else {
            return Err(self.end());
        };
        self.unread = 0..bytes;
        self.is_asked = is_asked;
        if is_asked {
            return Err(self.end());
        }
        self.now_ps = now_ps;
        Ok(())
    }

    /// Puts packets that nobody has taken aside before the next answer is written over them.
    fn keep_unread(&mut self) {
        let unread = std::mem::take(&mut self.unread);
        if unread.is_empty() {
            return;
        }
        let mut kept = std::mem::take(&mut self.kept);
        each_packet(&self.packets()[unread], |from, head, body| {
            kept.push((from, head, body.into()));
        });
        self.kept = kept;
    }

    #[cold]
    fn end(&self) -> Error {
        let what = match self.job().end() {
            Some(End::Died { rank, what }) => format!("rank {rank} {what}"),
            Some(End::Aborted { rank, code }) => {
                format!("rank {rank} called MPI_Abort with {code}")
            }
            // `mpirun` says why; nobody else is to.
            Some(End::Stopped) => leave(1),
            None => "nobody can go on".to_owned(),
        };
        Error::new(Class::ProcAborted, what)
    }

    #[cold]
    fn refuse_child(&self) -> ! {
        let text = format!(
            "corecast: rank {}: a child that fork made has called {}; only what called MPI_Init is a \
             rank of the simulated chip\n",
            self.rank,
            calls::name(self.call)
        );
        // Nobody is left to tell if standard error is closed.
        let _ = std::io::stderr().write_all(text.as_bytes());
        // SAFETY: the call does not return.
        unsafe { libc::_exit(1) }
    }
}

/// Bytes of an item that asks, with all that it may say.
const ASKING_BYTES: usize = 16 << 10;

/// Bytes of a collective that is given away, without its image.
const CARRIED_BYTES: usize = 32 << 10;

/// Hands each packet of an answer to `take`.
fn each_packet(mut bytes: &[u8], mut take: impl FnMut(u32, Head, &[u8])) {
    while let Some((item, rest)) = Item::read(bytes) {
        if let Errand::Send { to, head, body } = item.errand {
            take(to, head, body);
        }
        bytes = rest;
    }
}

impl Transport for ClockedPort {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.layout.ranks
    }

    fn packet_max(&self) -> usize {
        PACKET_MAX
    }

    fn eager_max(&self) -> usize {
        self.terms.eager_max
    }

    /// What is longer than a buffer waits until it is asked for.
    fn first_max(&self) -> usize {
        0
    }

    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        self.write(Errand::Send { to, head, body }).is_ok()
    }

    /// What came with the last answer. More comes when the rank waits, or looks.
    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut has_some = false;
        if from.is_some() {
            self.keep_unread();
        }
        self.kept.retain(|(sender, head, body)| {
            let is_wanted = from.is_none_or(|from| from == *sender);
            if is_wanted {
                has_some = true;
                take(*sender, *head, body);
            }
            !is_wanted
        });
        let unread = std::mem::take(&mut self.unread);
        if !unread.is_empty() {
            has_some = true;
            each_packet(&self.packets()[unread], take);
        }
        has_some
    }

    fn idle(&mut self, calls: u32) -> Result<()> {
        match calls < ROUNDS {
            true => Ok(()),
            false => {
                self.passes = 0;
                self.ask(Errand::Wait)
            }
        }
    }

    /// A wait that is no longer than this asks nothing, so a wait of any length has to ask after it.
    fn patience(&self) -> u32 {
        ROUNDS
    }

    fn shelf(&mut self) -> Option<Box<dyn Shelf>> {
        let shelf = SharedShelf::new(Arc::clone(&self.map), self.layout.shelf());
        Some(Box::new(shelf))
    }

    fn clocked(&mut self) -> Option<&mut dyn Clocked> {
        Some(self)
    }

    fn carrier(&mut self) -> Option<&mut dyn Carrier> {
        self.terms.carries.then_some(self as &mut dyn Carrier)
    }

    fn broadcaster(&mut self) -> Option<&mut dyn Broadcaster> {
        match self.terms.broadcasts {
            Broadcasts::None => None,
            Broadcasts::Unused | Broadcasts::Used => Some(self),
        }
    }

    /// Takes a tick of the chip's clock.
    fn now(&mut self) -> f64 {
        if self.written > 0 && self.ask(Errand::Now).is_err() && self.is_asked {
            self.tell(&[]);
        }
        let now_ps = self.now_ps.saturating_add(self.computed_ps);
        self.has_computed(self.terms.tick_ps);
        now_ps as f64 * 1e-12
    }

    fn abort(&mut self, code: i32) -> ! {
        let rank = self.rank;
        self.job().end_all(&End::Aborted { rank, code });
        for rank in 0..self.layout.ranks {
            // SAFETY: it lies there, and holds atomics only.
            let mailbox: &Mailbox = unsafe { self.map.at(self.layout.mailbox(rank)) };
            mailbox.wake();
        }
        leave(code)
    }

    fn finish(&mut self) {
        // A child that fork made, and that exits, has no end to tell.
        if self.depth == 0 && is_child() {
            return;
        }
        let counts = write_counts(&self.counts);
        if self.ask(Errand::Finish(&counts)).is_err() && self.is_asked {
            self.tell(&[]);
        }
        self.member().finish();
    }

    /// It has not said that it has come to its end, as long as it may go on.
    fn resume(&mut self) -> bool {
        true
    }
}

impl Carrier for ClockedPort {
    fn bytes_max(&self) -> usize {
        CARRIED_BYTES
    }

    fn image(&mut self) -> &mut [u8] {
        let offset = self.layout.mailbox(self.rank) + IMAGE_OFFSET;
        let address = self.map.address(offset, IMAGE_BYTES);
        // SAFETY: it lies there, and it is this rank's turn: nobody else touches it.
        unsafe { std::slice::from_raw_parts_mut(address, IMAGE_BYTES) }
    }

    fn make_room(&mut self) -> Result<bool> {
        if self.written + CARRIED_BYTES + ASKING_BYTES > AREA_BYTES {
            self.ask(Errand::Now)?;
        }
        Ok(self.kept.is_empty() && self.unread.is_empty())
    }

    fn carry(&mut self, carried: &[u8], give_back: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.passes = 0;
        let outcome = self.ask(Errand::Carry(carried));
        let mut given_back = 0;
        if let Some((item, _)) = Item::read(&self.packets()[self.unread.clone()])
            && let Errand::Carry(carried) = item.errand
        {
            give_back(carried);
            given_back = item.bytes();
        }
        self.unread.start += given_back;
        outcome
    }
}

impl Broadcaster for ClockedPort {
    fn bytes_max(&self) -> Option<usize> {
        (self.terms.broadcasts == Broadcasts::Used).then_some(PACKET_MAX)
    }

    fn broadcast(&mut self, root: u32, members: &[u32], head: Head, body: &[u8]) {
        let body = broadcast_body(members, body);
        let errand = Errand::Broadcast {
            root,
            members: members.len() as u32,
            head,
            body: &body,
        };
        // If all is over, whoever waits for it hears of it.
        let _ = self.write(errand);
    }
}

impl Clocked for ClockedPort {
    fn enter(&mut self, call: u16) {
        self.depth += 1;
        if self.depth > 1 {
            return;
        }
        if let Compute::Measured(factor) = self.terms.compute {
            let took = processor_time().saturating_sub(self.processor_time);
            self.has_computed((took.as_nanos() as f64 * factor * 1e3) as u64);
        }
        self.call = call;
        self.serial = self.serial.wrapping_add(1);
        if let Some(count) = self.counts.get_mut(usize::from(call)) {
            *count += 1;
        }
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 && matches!(self.terms.compute, Compute::Measured(_)) {
            self.processor_time = processor_time();
        }
    }

    fn look(&mut self) {
        // What is here already is looked at first, and costs nothing.
        if !self.kept.is_empty() || !self.unread.is_empty() {
            return;
        }
        if self.ask(Errand::Look).is_err() && self.is_asked {
            self.tell(&[]);
        }
    }

    fn pass(&mut self) {
        match self.passes < PASSES {
            true => self.passes += 1,
            false => self.look(),
        }
    }

    fn compute(&mut self, nanoseconds: u64) {
        if self.terms.compute == Compute::Stated {
            self.has_computed(nanoseconds.saturating_mul(1000));
        }
    }

    fn is_asked(&self) -> bool {
        self.is_asked
    }

    fn tell(&mut self, wants: &[Wanted]) -> ! {
        let mut text = String::new();
        for wanted in wants {
            let line = line_of(wanted);
            if text.len() + line.len() > ASKING_BYTES / 2 {
                break;
            }
            text += &line;
        }
        self.is_asked = false;
        let _ = self.ask(Errand::Tell(text.as_bytes()));
        leave(1)
    }
}

/// A message that is waited for, as a line: `recv` or `send`, peer, tag, communicator.
fn line_of(wanted: &Wanted) -> String {
    let what = if wanted.is_receive { "recv" } else { "send" };
    let peer = wanted.peer.map_or("*".to_owned(), |peer| peer.to_string());
    let tag = wanted.tag.map_or("*".to_owned(), |tag| tag.to_string());
    let comm: String = wanted.comm.chars().filter(|c| !c.is_control()).collect();
    format!("{what}\t{peer}\t{tag}\t{comm}\n")
}

/// Processor time of this process, its threads together.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it fills the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Lets this thread, and those that it starts, run on one processor; where that is not allowed it runs
/// wherever it did.
pub(crate) fn run_on(processor: u32) {
    // SAFETY: all zeros is an empty set; the calls touch nothing else.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// The processor that this thread is on.
#[must_use]
pub fn processor() -> Option<u32> {
    // SAFETY: a plain question.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}
