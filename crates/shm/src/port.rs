//! One rank's end of the segment: its transport.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use corecast_mpi::transport::{Boards, Head, SharedMemory, Transport};
use corecast_mpi::{Class, Error, Result};

use crate::areas::Areas;
use crate::boards::{self, SharedBoards};
use crate::distance::{Distances, Pulse, Way};
use crate::error::ShmError;
use crate::job::{End, Job, Member};
use crate::layout::Layout;
use crate::map::Map;
use crate::ring::{self, Receiver, Sender};
use crate::segment::Segment;
use crate::single_copy;
use crate::wait::{self, Barrier};

/// Looks for packets before a rank that has a core of its own begins to hand it over: about 50 us.
const SPINS: u32 = 1000;
/// How long a rank hands its core over, again and again, before it sleeps: to wake a sleeper takes tens
/// of microseconds, which ranks that are a little late should not cost the others.
const PATIENCE: Duration = Duration::from_millis(10);
/// Of so many looks one is at the clock.
const CLOCK: u32 = 64;
/// Longest sleep: then it looks whether all must end.
const NAP: Duration = Duration::from_millis(100);
/// Packets of one ring that are taken in one go.
const BATCH: usize = 32;
/// Messages longer than this are announced first, and move when the receiver has a place for them.
const EAGER_MAX: usize = 16 << 10;

/// One rank's end of a segment.
pub struct Port {
    rank: u32,
    ranks: u32,
    spins: u32,
    barrier: Barrier,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    boards: SharedBoards,
    reads_remotely: bool,
    /// To whom the last long packet went, and its length: while nothing else is to be done, the next
    /// one is prepared for.
    last_sent: Option<(u32, usize)>,
    /// Since when this rank hands its core over, and whether it still does.
    waits_since: Instant,
    is_patient: bool,
    areas: Areas,
    layout: Layout,
    /// What all of the above point into: dropped last.
    map: Map,
}

impl Port {
    /// The end of `rank` in this process, which may have several.
    ///
    /// # Errors
    /// [`ShmError::Taken`] if the rank has one.
    pub fn on(segment: &Segment, rank: u32) -> std::result::Result<Self, ShmError> {
        let (layout, map, file) = segment.map_again()?;
        Self::new(layout, map, file, rank)
    }

    pub(crate) fn new(
        layout: Layout,
        map: Map,
        file: OwnedFd,
        rank: u32,
    ) -> std::result::Result<Self, ShmError> {
        let ranks = layout.ranks;
        let ring = |from, to| layout.ring(from, to);
        let pool = layout.pool_bytes;
        let barrier = Barrier::register();
        let boards = (0..ranks)
            .map(|rank| map.address(layout.board(rank), boards::bytes(layout.board_bytes)));
        let boards = boards.collect();
        // SAFETY: it lies there, and holds atomics only.
        let share_cores = ranks > unsafe { map.at::<Job>(0) }.cores();
        let mut port = Self {
            rank,
            ranks,
            spins: if share_cores { 0 } else { SPINS },
            barrier,
            senders: (0..ranks)
                .map(|to| Sender::new(&map, ring(rank, to), pool))
                .collect(),
            receivers: (0..ranks)
                .map(|from| Receiver::new(&map, ring(from, rank), pool))
                .collect(),
            boards: SharedBoards::new(
                (boards, layout.board_bytes),
                asleep(&layout, &map),
                Distances::new(rank, pulses(&layout, &map)),
                barrier,
                share_cores,
            ),
            reads_remotely: false,
            last_sent: None,
            waits_since: Instant::now(),
            is_patient: true,
            areas: Areas::new(file, map.job()),
            layout,
            map,
        };
        let entered = port.member(rank).enter(std::process::id());
        entered.map_err(|state| ShmError::Taken { rank, state })?;
        port.reads_remotely = port.job().single_copy_pays() && single_copy::permit();
        Ok(port)
    }

    fn job(&self) -> &Job {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(0) }
    }

    fn member(&self, rank: u32) -> &Member {
        // SAFETY: it lies there, and holds atomics only; the layout has that many ranks.
        unsafe { self.map.at(self.layout.rank(rank)) }
    }

    fn has_packet(&self) -> bool {
        self.receivers.iter().any(Receiver::has_packet)
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

    fn packet_max(&self) -> usize {
        ring::packet_max(self.layout.pool_bytes)
    }

    fn eager_max(&self) -> usize {
        EAGER_MAX
    }

    #[inline]
    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        let way = self.boards.distances.way(to, body.len());
        let is_sent = self.senders[to as usize].push(head, body, way);
        if body.len() > ring::INLINE_BYTES && way == Way::Caches {
            self.last_sent = Some((to, body.len()));
        }
        self.barrier.of_sender();
        wait::wake(&self.member(to).asleep);
        is_sent
    }

    #[inline]
    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut has_some = false;
        let (first, rest) = match from {
            Some(from) => (from, from + 1),
            None => (0, self.ranks),
        };
        for from in first..rest {
            if from == self.rank {
                continue;
            }
            let receiver = &mut self.receivers[from as usize];
            for _ in 0..BATCH {
                if !receiver.pop(|head, body| take(from, head, body)) {
                    break;
                }
                has_some = true;
            }
        }
        if has_some {
            self.boards.distances.beat();
        } else if let Some((to, bytes)) = self.last_sent.take() {
            self.senders[to as usize].fetch(bytes);
        }
        has_some
    }

    fn idle(&mut self, calls: u32) -> Result<()> {
        if calls < self.spins {
            std::hint::spin_loop();
            return Ok(());
        }
        if self.job().must_end() {
            return Err(self.end());
        }
        let since = calls - self.spins;
        if since == 0 {
            self.is_patient = true;
            self.waits_since = Instant::now();
        } else if self.is_patient && since.is_multiple_of(CLOCK) {
            self.is_patient = self.waits_since.elapsed() < PATIENCE;
        }
        if self.is_patient {
            wait::hand_over();
        } else {
            let word = &self.member(self.rank).asleep;
            wait::sleep(word, self.barrier, NAP, || {
                self.has_packet() || self.boards.has_come()
            });
        }
        Ok(())
    }

    fn patience(&self) -> u32 {
        self.spins.max(1)
    }

    fn reads_remotely(&self) -> bool {
        self.reads_remotely
    }

    fn read(&mut self, from: u32, address: u64, into: &mut [u8]) -> bool {
        single_copy::read(self.member(from).pid(), address, into)
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
        for rank in 0..self.ranks {
            wait::wake(&self.member(rank).asleep);
        }
        // What the program registered to run at its exit is not to run now.
        // SAFETY: the call does not return.
        unsafe { libc::_exit(code) }
    }

    fn finish(&mut self) {
        self.member(self.rank).finish();
    }
}
