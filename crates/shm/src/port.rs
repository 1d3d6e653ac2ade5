// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank's end of the segment: its transport.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use corecast_mpi::joint::{JOINTS, Joint};
use corecast_mpi::launcher::Launcher;
use corecast_mpi::transport::{Boards, Head, Rests, SharedMemory, Transport};
use corecast_mpi::{Class, Error, Result};

use crate::areas::Areas;
use crate::asks::Asks;
use crate::boards::{self, SharedBoards};
use crate::bridge::Bridge;
use crate::cpu_time;
use crate::distance::{Distances, Pulse, Way};
use crate::ending::End;
use crate::error::ShmError;
use crate::job::{FirstPage, JOB_BYTES, Member};
use crate::layout::Layout;
use crate::leave::leave;
use crate::map::Map;
use crate::patience::Patience;
use crate::ring::{self, Receiver, Sender};
use crate::segment::Segment;
use crate::single_copy::{self, Mins};
use crate::wait::{self, Barrier};

/// Looks for packets before a rank that has a core of its own begins to hand it over: about 50 us.
const SPINS: u32 = 1000;
/// Longest sleep: then it looks whether all must end.
const NAP: Duration = Duration::from_millis(100);
/// How long who waits for something that no packet brings leaves the core to others: a lock is held for
/// about as long by a rank that has to get a core first.
const DOZE: Duration = Duration::from_micros(50);
/// Packets of one ring that are taken in one go.
const BATCH: usize = 32;
/// Messages longer than this are announced first, and move when the receiver has a place for them.
const EAGER_MAX: usize = 16 << 10;
/// Shorter ones are copied by one end where they are copied once. Both ends together take half as long, but
/// then half of the bytes lie in the sender's cache: with 64 KiB that their receiver then looks at it was
/// 12.7 us instead of 6.9, with 256 KiB 33 instead of 24, with 1 MiB, which is half of the cache, 109 instead of 127
/// (2026-11-28, Intel Xeon, cores without a common cache, medians of three starts).
const JOINT_MIN: usize = 512 << 10;
/// So many bytes of what is announced go along unasked, so that a message which is not much longer than
/// what is sent eagerly waits for nobody. Where no receive has taken it they are kept by the receiver.
const FIRST_MAX: usize = 64 << 10;
/// Packets of a stream, unless they would be very short or very long: each costs both sides something
/// beside its bytes, most where they share no cache; with few of them one side waits for the other.
const STREAM_PACKETS: usize = 16;

/// One rank's end of a segment.
pub struct Port {
    /// As all of the job are numbered; so is `first`, the first of those that were started together.
    rank: u32,
    first: u32,
    ranks: u32,
    program: u32,
    spins: u32,
    barrier: Barrier,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    boards: SharedBoards,
    mins: Mins,
    /// Where cores are shared the other end of a message seldom has one at the same time.
    copies_alone: bool,
    reaches_memory: bool,
    wait: Patience,
    rests: Rests,
    /// Ways to ranks of other worlds that this one speaks with.
    bridges: BTreeMap<u32, Bridge>,
    asks: Option<Asks>,
    areas: Areas,
    file: OwnedFd,
    layout: Layout,
    /// The first page of the job.
    job: Map,
    /// What all of the above point into: dropped last.
    map: Arc<Map>,
}

impl Port {
    /// The end of `rank` in this process, which may have several.
    ///
    /// # Errors
    /// [`ShmError::Taken`] if the rank has one.
    pub fn on(segment: &Segment, rank: u32) -> std::result::Result<Self, ShmError> {
        let (layout, map, file) = segment.share()?;
        Self::new(layout, map, file, rank)
    }

    pub(crate) fn new(
        layout: Layout,
        map: Arc<Map>,
        file: OwnedFd,
        rank: u32,
    ) -> std::result::Result<Self, ShmError> {
        let ranks = layout.ranks;
        let job = Map::new(file.as_fd(), 0, JOB_BYTES)?;
        // SAFETY: the first page of a world holds atomics only.
        let first = unsafe { map.at::<FirstPage>(0) }.first();
        let own = rank - first;
        let ring = |from, to| layout.ring(from, to);
        let pool = layout.pool_bytes;
        let barrier = Barrier::register();
        let boards = (0..ranks)
            .map(|rank| map.address(layout.board(rank), boards::bytes(layout.board_bytes)));
        let boards = boards.collect();
        // SAFETY: it lies there, and holds atomics only.
        let cores = unsafe { map.at::<FirstPage>(0) }.cores();
        let share_cores = first + ranks > cores;
        let mut port = Self {
            rank,
            first,
            ranks,
            program: 0,
            spins: if share_cores { 0 } else { SPINS },
            barrier,
            senders: (0..ranks)
                .map(|to| Sender::new(&map, ring(own, to), pool))
                .collect(),
            receivers: (0..ranks)
                .map(|from| Receiver::new(&map, ring(from, own), pool))
                .collect(),
            boards: SharedBoards::new(
                (boards, first, layout.board_bytes),
                asleep(&layout, &map),
                Distances::new((rank, first), pulses(&layout, &map)),
                barrier,
                share_cores,
            ),
            mins: Mins::both(usize::MAX),
            copies_alone: share_cores,
            reaches_memory: false,
            wait: Patience::new(share_cores.then_some(cores.min(ranks))),
            rests: Rests::default(),
            bridges: BTreeMap::new(),
            asks: None,
            areas: Areas::new(copy(&file, &layout)?, job.job()),
            file,
            layout,
            job,
            map,
        };
        let entered = port.member(rank).enter(std::process::id());
        entered.map_err(|state| ShmError::Taken { rank, state })?;
        port.reaches_memory = single_copy::is_possible() && single_copy::permit();
        if port.reaches_memory {
            port.mins = port.job().mins();
        }
        Ok(port)
    }

    pub(crate) fn set_program(&mut self, program: u32) {
        self.program = program;
    }

    /// Gives this rank the way to the launcher, who learns that it is there if it has joined others.
    pub(crate) fn set_launcher(&mut self, pipe: OwnedFd) -> std::result::Result<(), ShmError> {
        let areas = Areas::new(copy(&self.file, &self.layout)?, self.job.job());
        let file = copy(&self.file, &self.layout)?;
        let asks = Asks::new(self.rank, pipe, file, areas);
        if self.first > 0 {
            asks.tell(0).map_err(|error| ShmError::Memory {
                bytes: 0,
                what: "write",
                error,
            })?;
        }
        self.asks = Some(asks);
        Ok(())
    }

    /// Of the whole job.
    fn job(&self) -> &FirstPage {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.job.at(0) }
    }

    /// Of the ranks that were started with this one.
    fn world(&self) -> &FirstPage {
        // SAFETY: as above.
        unsafe { self.map.at(0) }
    }

    /// Of a rank of this world.
    fn member(&self, rank: u32) -> &Member {
        // SAFETY: it lies there, and holds atomics only; the layout has that many ranks.
        unsafe { self.map.at(self.layout.rank(rank - self.first)) }
    }

    /// The process of a rank, of this world or of another one that this one speaks with.
    fn pid(&self, rank: u32) -> u32 {
        match self.bridges.get(&rank) {
            Some(bridge) => bridge.member().pid(),
            None => self.member(rank).pid(),
        }
    }

    fn has_packet(&self) -> bool {
        self.receivers.iter().any(Receiver::has_packet)
            || self.bridges.values().any(|it| it.receiver.has_packet())
    }

    /// Sends to a rank of another world. Who has ended gets nothing, and needs nothing.
    #[cold]
    fn send_far(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        let Some(bridge) = self.bridges.get_mut(&to) else {
            return true;
        };
        let is_sent = bridge.sender.push(head, body, Way::Caches);
        self.barrier.of_sender();
        wait::wake(&bridge.member().asleep);
        is_sent
    }

    /// Takes what ranks of other worlds have sent.
    #[cold]
    fn receive_far(&mut self, only: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut has_some = false;
        for (&from, bridge) in &mut self.bridges {
            if only.is_some_and(|only| only != from) {
                continue;
            }
            for _ in 0..BATCH {
                if !bridge.receiver.pop(|head, body| take(from, head, body)) {
                    break;
                }
                has_some = true;
            }
        }
        has_some
    }

    /// Fills `into` with what lies in the file from there on.
    fn read_behind(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        let bytes = into.len();
        let file = std::os::fd::AsRawFd::as_raw_fd(&self.file);
        // SAFETY: it writes into `into` alone.
        let read =
            unsafe { libc::pread(file, into.as_mut_ptr().cast(), bytes, offset as libc::off_t) };
        (read == bytes as isize).then_some(())
    }

    /// Turn `turn` of a wait after its spins: hands the core over, or sleeps.
    fn rest(&mut self, turn: u32, longest: Duration) -> Result<()> {
        self.goes_on()?;
        if turn == 0 {
            self.wait.begin(Instant::now());
        }
        if self.wait.is_patient() {
            self.rests.handed_over += 1;
            wait::hand_over();
            if self.wait.is_clocked(turn) {
                let now = Instant::now();
                if self.wait.is_back(now) {
                    self.wait.was_away(now, self.processor_time());
                }
            }
            return Ok(());
        }
        self.sleep(longest);
        Ok(())
    }

    /// Sleeps until something comes, or for `longest`.
    fn sleep(&mut self, longest: Duration) {
        self.rests.slept += 1;
        let awaited = self.boards.take_awaited();
        let word = &self.member(self.rank).asleep;
        wait::sleep(word, self.barrier, longest, || {
            self.has_packet() || awaited.is_some_and(|line| self.boards.has_come(line))
        });
    }

    /// Of all ranks that were started together.
    fn processor_time(&self) -> Duration {
        let ranks = self.first..self.first + self.ranks;
        ranks
            .map(|rank| cpu_time::of_process(self.member(rank).pid()))
            .sum()
    }

    #[cold]
    fn end(&self) -> Error {
        let what = match self.job().end() {
            Some(End::Died { rank, what }) => format!("rank {rank} {what}"),
            Some(End::Aborted { rank, code }) => {
                format!("rank {rank} called MPI_Abort with {code}")
            }
            Some(End::Stopped) | None => "all ranks were told to end".to_owned(),
        };
        Error::new(Class::ProcAborted, what)
    }
}

/// The same file once more.
fn copy(file: &OwnedFd, layout: &Layout) -> std::result::Result<OwnedFd, ShmError> {
    file.try_clone().map_err(|error| ShmError::Memory {
        bytes: layout.bytes,
        what: "dup",
        error,
    })
}

/// Where every rank says that it sleeps.
fn asleep(layout: &Layout, map: &Map) -> Vec<*const AtomicU32> {
    let members = (0..layout.ranks).map(|rank| {
        // SAFETY: it lies there, and holds atomics only.
        let member: &Member = unsafe { map.at(layout.rank(rank)) };
        &raw const member.asleep
    });
    members.collect()
}

/// What every rank changes while it passes bytes on.
fn pulses(layout: &Layout, map: &Map) -> impl Iterator<Item = *const Pulse> {
    (0..layout.ranks).map(|rank| {
        // SAFETY: as above.
        let member: &Member = unsafe { map.at(layout.rank(rank)) };
        &raw const member.pulse
    })
}

impl Transport for Port {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn first(&self) -> u32 {
        self.first
    }

    fn reach(&mut self, rank: u32) -> Result<()> {
        if self.bridges.contains_key(&rank) {
            return Ok(());
        }
        let failed = |error: ShmError| Error::new(Class::Other, error.to_string());
        let file = self.file.as_fd();
        let over = self.bridges.iter().filter(|(_, bridge)| bridge.is_over());
        let over: Vec<u32> = over.map(|(&rank, _)| rank).collect();
        for bridge in over.iter().filter_map(|rank| self.bridges.remove(rank)) {
            bridge.give_back(file);
        }
        // SAFETY: the first page holds atomics only.
        let job: &FirstPage = unsafe { self.job.at(0) };
        let bridge = Bridge::new(file, job, self.rank, rank).map_err(failed)?;
        self.bridges.insert(rank, bridge);
        if self.ranks as usize + self.bridges.len() > self.job().cores() as usize {
            self.spins = 0;
        }
        Ok(())
    }

    fn series(&self) -> (u32, u32) {
        let launched = self.job().ranks().unwrap_or(1);
        (self.rank.min(launched), launched + 1)
    }

    fn ticket(&mut self, above: u32) -> Option<u32> {
        let launched = self.job().ranks().unwrap_or(1);
        (self.rank >= launched).then(|| self.job().ticket(above))
    }

    fn greeting(&mut self) -> Option<Vec<u8>> {
        let (start, bytes) = self.world().greeting();
        let mut greeting = vec![0; usize::try_from(bytes).ok()?];
        self.read_behind(start, &mut greeting)?;
        (self.first > 0).then_some(greeting)
    }

    fn launcher(&mut self) -> Option<&mut dyn Launcher> {
        self.asks.as_mut().map(|asks| asks as &mut dyn Launcher)
    }

    fn universe(&self) -> u32 {
        let job = self.job();
        job.cores().max(job.ranks().unwrap_or(1))
    }

    fn program(&self) -> u32 {
        self.program
    }

    fn packet_max(&self) -> usize {
        ring::packet_max(self.layout.pool_bytes)
    }

    fn eager_max(&self) -> usize {
        EAGER_MAX
    }

    fn first_max(&self) -> usize {
        FIRST_MAX
    }

    fn stream_packet(&self, bytes: usize) -> usize {
        (bytes / STREAM_PACKETS).clamp(EAGER_MAX.min(self.packet_max()), self.packet_max())
    }

    #[inline]
    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        let index = to.wrapping_sub(self.first) as usize;
        let Some(sender) = self.senders.get_mut(index) else {
            return self.send_far(to, head, body);
        };
        let way = self.boards.distances.way(to, body.len());
        let is_sent = sender.push(head, body, way);
        self.barrier.of_sender();
        wait::wake(&self.member(to).asleep);
        is_sent
    }

    #[inline]
    fn send_joined(&mut self, to: u32, head: Head, parts: [&[u8]; 2]) -> bool {
        let index = to.wrapping_sub(self.first) as usize;
        let Some(sender) = self.senders.get_mut(index) else {
            return self.send_far(to, head, &parts.concat());
        };
        let way = self.boards.distances.way(to, parts[0].len());
        let is_sent = sender.push_parts(head, parts, way);
        self.barrier.of_sender();
        wait::wake(&self.member(to).asleep);
        is_sent
    }

    #[inline]
    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut has_some = false;
        let all = self.first..self.first + self.ranks;
        let looked_at = match from {
            Some(from) if all.contains(&from) => from..from + 1,
            Some(_) => 0..0,
            None => all,
        };
        for from in looked_at {
            if from == self.rank {
                continue;
            }
            let receiver = &mut self.receivers[(from - self.first) as usize];
            for _ in 0..BATCH {
                if !receiver.pop(|head, body| take(from, head, body)) {
                    break;
                }
                has_some = true;
            }
        }
        if !self.bridges.is_empty() {
            has_some |= self.receive_far(from, take);
        }
        if has_some {
            self.boards.distances.beat();
        }
        has_some
    }

    fn goes_on(&mut self) -> Result<()> {
        match self.job().must_end() {
            true => Err(self.end()),
            false => Ok(()),
        }
    }

    fn idle(&mut self, calls: u32) -> Result<()> {
        match calls.checked_sub(self.spins) {
            None => std::hint::spin_loop(),
            Some(turn) => self.rest(turn, NAP)?,
        }
        Ok(())
    }

    fn idle_awake(&mut self, calls: u32) -> Result<()> {
        match calls < self.spins {
            true => std::hint::spin_loop(),
            // Every turn is the first: so it goes on to hand its core over, unless others want that.
            false => self.rest(0, DOZE)?,
        }
        Ok(())
    }

    fn doze(&mut self) -> Result<()> {
        self.goes_on()?;
        self.sleep(DOZE);
        Ok(())
    }

    fn rests(&self) -> Rests {
        self.rests
    }

    fn patience(&self) -> u32 {
        self.spins.max(1)
    }

    fn prepare(&mut self, with: u32) {
        let index = with.wrapping_sub(self.first) as usize;
        if let (Some(sender), Some(receiver)) =
            (self.senders.get_mut(index), self.receivers.get_mut(index))
        {
            sender.prepare();
            receiver.prepare();
        }
    }

    fn read_min(&self) -> usize {
        self.mins.read
    }

    fn once_min(&self) -> usize {
        self.mins.once
    }

    fn joint_min(&self) -> usize {
        JOINT_MIN
    }

    fn joints(&self, from: u32, to: u32) -> &[Joint] {
        let is_ours = |rank| (self.first..self.first + self.ranks).contains(&rank);
        if self.copies_alone || !is_ours(from) || !is_ours(to) {
            return &[];
        }
        let offset = self.layout.joints(from - self.first, to - self.first);
        // SAFETY: they lie there, and hold atomics only.
        unsafe { self.map.at::<[Joint; JOINTS]>(offset) }
    }

    fn read(&mut self, from: u32, address: u64, into: &mut [u8]) -> bool {
        single_copy::read(self.pid(from), address, into)
    }

    fn reaches_memory(&self) -> bool {
        self.reaches_memory
    }

    unsafe fn write(&mut self, to: u32, address: u64, from: &[u8]) -> bool {
        // SAFETY: the caller's promise.
        unsafe { single_copy::write(self.pid(to), address, from) }
    }

    fn boards(&mut self) -> Option<&mut dyn Boards> {
        Some(&mut self.boards)
    }

    fn shared_memory(&mut self) -> Option<&mut dyn SharedMemory> {
        Some(&mut self.areas)
    }

    fn now(&mut self) -> f64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: it fills the struct.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    fn abort(&mut self, code: i32) -> ! {
        let rank = self.rank;
        self.job().end_all(&End::Aborted { rank, code });
        for rank in self.first..self.first + self.ranks {
            wait::wake(&self.member(rank).asleep);
        }
        for bridge in self.bridges.values() {
            wait::wake(&bridge.member().asleep);
        }
        leave(code)
    }

    fn finish(&mut self) {
        self.member(self.rank).finish();
    }

    fn resume(&mut self) -> bool {
        self.member(self.rank).resume();
        true
    }
}
