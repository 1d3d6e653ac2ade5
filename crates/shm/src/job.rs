// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a segment says about the job: who is there, who has ended, and why all must end.
#![cfg_attr(not(test), forbid(unsafe_code))]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::directory::Directory;
use crate::distance::Pulse;
use crate::ending::{End, Ending};
use crate::single_copy::Mins;

/// Bytes of [`FirstPage`], the first of the segment.
pub const JOB_BYTES: usize = 4096;
/// Bytes of a [`Member`].
pub const RANK_BYTES: usize = 512;

const MAGIC: u64 = u64::from_le_bytes(*b"corecast");
/// Counts layouts: processes that attach must have the launcher's.
const VERSION: u32 = 10;

/// The first page.
#[repr(C, align(64))]
pub struct FirstPage {
    magic: AtomicU64,
    version: AtomicU32,
    ranks: AtomicU32,
    cores: AtomicU32,
    /// Bytes of the segment's layout: what ranks take for windows lies behind.
    bytes: AtomicU64,
    /// Where nothing is taken yet; of the first world, as are all of the following.
    free: AtomicU64,
    /// [`Mins`] of messages that are read from their sender's memory.
    mins: [AtomicU64; 2],
    /// The last number that was dealt ([`FirstPage::ticket`]).
    ticket: AtomicU32,
    /// Worlds that were added.
    pub directory: Directory,
    /// Of this world: the number of its first rank, where in the file the greeting of those that have
    /// started it begins, and its length, and where the rings between its ranks and older ones begin.
    first: AtomicU32,
    greeting: [AtomicU64; 2],
    bridges: AtomicU64,
    ending: Ending,
}

/// What is known of one rank.
#[repr(C, align(128))]
pub struct Member {
    /// [`ABSENT`], [`PRESENT`] or [`FINISHED`].
    state: AtomicU32,
    /// Its process.
    pid: AtomicU32,
    gap: [u32; 14],
    /// What it sleeps on: 1 while it does.
    pub asleep: AtomicU32,
    rest: [u32; 47],
    pub pulse: Pulse,
}

const ABSENT: u32 = 0;
const PRESENT: u32 = 1;
const FINISHED: u32 = 2;

impl FirstPage {
    pub fn begin(&self, (ranks, bytes): (u32, usize), cores: u32, mins: Mins) {
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.free.store(bytes as u64, Ordering::Relaxed);
        self.set_mins(mins);
        self.version.store(VERSION, Ordering::Relaxed);
        self.ranks.store(ranks, Ordering::Relaxed);
        self.cores.store(cores, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// The number of ranks, if this is a segment that this version understands.
    pub fn ranks(&self) -> Result<u32, &'static str> {
        if self.magic.load(Ordering::Acquire) != MAGIC {
            return Err("it is another file");
        }
        if self.version.load(Ordering::Relaxed) != VERSION {
            return Err("it is of another version of corecast");
        }
        Ok(self.ranks.load(Ordering::Relaxed))
    }

    /// Says what a world has that was added to others.
    pub fn join(&self, first: u32, greeting: (u64, u64), bridges: u64) {
        self.first.store(first, Ordering::Relaxed);
        self.greeting[0].store(greeting.0, Ordering::Relaxed);
        self.greeting[1].store(greeting.1, Ordering::Relaxed);
        self.bridges.store(bridges, Ordering::Relaxed);
    }

    /// The number of this world's first rank.
    pub fn first(&self) -> u32 {
        self.first.load(Ordering::Relaxed)
    }

    /// Where the greeting begins, and its length.
    pub fn greeting(&self) -> (u64, u64) {
        let [start, bytes] = &self.greeting;
        (start.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
    }

    /// Where rings to older ranks begin.
    pub fn bridges(&self) -> u64 {
        self.bridges.load(Ordering::Relaxed)
    }

    /// A number above this one that was not dealt before.
    pub fn ticket(&self, above: u32) -> u32 {
        let next = |last: u32| Some(last.max(above).saturating_add(1));
        let dealt = self
            .ticket
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        dealt.unwrap_or(u32::MAX).max(above).saturating_add(1)
    }

    /// Bytes of the layout.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes `bytes` bytes behind all that is taken; where they begin.
    pub fn take(&self, bytes: u64) -> u64 {
        self.free.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Cores that the job may run on.
    pub fn cores(&self) -> u32 {
        self.cores.load(Ordering::Relaxed)
    }

    pub fn set_mins(&self, mins: Mins) {
        let [read, once] = &self.mins;
        read.store(mins.read as u64, Ordering::Relaxed);
        once.store(mins.once as u64, Ordering::Relaxed);
    }

    /// From how many bytes on messages are copied once.
    pub fn mins(&self) -> Mins {
        let [read, once] = self.mins.each_ref().map(|it| it.load(Ordering::Relaxed));
        Mins {
            read: read as usize,
            once: once as usize,
        }
    }

    /// Whether all must end.
    #[inline]
    pub fn must_end(&self) -> bool {
        self.ending.has_come()
    }

    /// Why all must end.
    pub fn end(&self) -> Option<End> {
        self.ending.why()
    }

    /// Says why all must end; the first to say so is believed.
    pub fn end_all(&self, end: &End) {
        self.ending.say(end);
    }
}

impl Member {
    /// Takes this rank for a process; what it was before if it is not free.
    pub fn enter(&self, pid: u32) -> Result<(), &'static str> {
        let before =
            self.state
                .compare_exchange(ABSENT, PRESENT, Ordering::AcqRel, Ordering::Relaxed);
        match before {
            Ok(_) => {
                self.pid.store(pid, Ordering::Release);
                Ok(())
            }
            Err(PRESENT) => Err("attached"),
            Err(_) => Err("finished"),
        }
    }

    pub fn finish(&self) {
        self.state.store(FINISHED, Ordering::Release);
    }

    /// Takes part once more.
    pub fn resume(&self) {
        self.state.store(PRESENT, Ordering::Release);
    }

    /// Whether its end needs no other to end: it has finished, or never took part.
    pub fn may_leave(&self) -> bool {
        self.state.load(Ordering::Acquire) != PRESENT
    }

    /// Its process, or 0 before it has attached.
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_is_the_one_that_is_told() {
        // SAFETY: a fresh page is all zeros, and it holds atomics only.
        let job: FirstPage = unsafe { std::mem::zeroed() };
        assert_eq!(job.ranks(), Err("it is another file"));
        job.begin((3, 4096), 2, Mins::both(1 << 17));
        assert_eq!((job.ranks(), job.cores()), (Ok(3), 2));
        assert_eq!((job.take(8192), job.take(1)), (4096, 12288));
        assert_eq!(job.bytes(), 4096);
        assert_eq!([job.ticket(0), job.ticket(0), job.ticket(7)], [1, 2, 8]);
        assert_eq!(job.end(), None);
        let died = End::Died {
            rank: 2,
            what: "killed by signal 9 (SIGKILL)".to_owned(),
        };
        job.end_all(&died);
        job.end_all(&End::Aborted { rank: 1, code: 5 });
        assert!(job.must_end());
        assert_eq!(job.end(), Some(died));
        assert!(size_of::<FirstPage>() <= JOB_BYTES && size_of::<Member>() <= RANK_BYTES);
    }
}
