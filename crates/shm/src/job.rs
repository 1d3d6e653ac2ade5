// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a segment says about the job: who is there, who has ended, and why all must end.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::distance::Pulse;

/// Bytes of [`FirstPage`], the first of the segment.
pub const JOB_BYTES: usize = 4096;
/// Bytes of a [`Member`].
pub const RANK_BYTES: usize = 512;

const MAGIC: u64 = u64::from_le_bytes(*b"corecast");
/// Counts layouts: processes that attach must have the launcher's.
const VERSION: u32 = 6;
const TEXT_WORDS: usize = 64;

/// The first page.
#[repr(C, align(64))]
pub struct FirstPage {
    magic: AtomicU64,
    version: AtomicU32,
    ranks: AtomicU32,
    cores: AtomicU32,
    /// 1 if long messages should be read from their sender's memory.
    single_copy: AtomicU32,
    /// 0: all is well; 1: somebody is writing why not; then 2 for a death, 3 for an abort and 4 for the
    /// end of a simulation.
    end: AtomicU32,
    end_rank: AtomicU32,
    end_code: AtomicU32,
    /// Bytes of the segment's layout: what ranks take for windows lies behind.
    bytes: AtomicU64,
    /// Where nothing is taken yet; of the first world, as are all of the following.
    free: AtomicU64,
    /// The last number that was dealt ([`FirstPage::ticket`]).
    ticket: AtomicU32,
    /// Worlds that were added.
    worlds: AtomicU32,
    /// Where their directory begins; 0 as long as there is none.
    directory: AtomicU64,
    /// Of this world: the number of its first rank, where in the file the greeting of those that have
    /// started it begins, and its length, and where the rings between its ranks and older ones begin.
    first: AtomicU32,
    greeting: [AtomicU64; 2],
    bridges: AtomicU64,
    text: [AtomicU32; TEXT_WORDS],
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

/// Why all ranks must end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// A rank has died; this is what is known of it.
    Died { rank: u32, what: String },
    /// A rank has called for the end of all.
    Aborted { rank: u32, code: i32 },
    /// The simulation that the ranks take part in is over.
    Stopped,
}

impl FirstPage {
    pub fn begin(&self, (ranks, bytes): (u32, usize), cores: u32, single_copy_pays: bool) {
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.free.store(bytes as u64, Ordering::Relaxed);
        self.set_single_copy(single_copy_pays);
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

    /// Where the directory of worlds begins, and how many are in it.
    pub fn directory(&self) -> (u64, u32) {
        let worlds = self.worlds.load(Ordering::Acquire);
        (self.directory.load(Ordering::Relaxed), worlds)
    }

    /// Says that.
    pub fn set_directory(&self, start: u64, worlds: u32) {
        self.directory.store(start, Ordering::Relaxed);
        self.worlds.store(worlds, Ordering::Release);
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

    pub fn set_single_copy(&self, pays: bool) {
        self.single_copy.store(u32::from(pays), Ordering::Relaxed);
    }

    /// Whether reading another rank's memory is faster than a stream of packets.
    pub fn single_copy_pays(&self) -> bool {
        self.single_copy.load(Ordering::Relaxed) == 1
    }

    /// Whether all must end.
    #[inline]
    pub fn must_end(&self) -> bool {
        self.end.load(Ordering::Relaxed) >= 2
    }

    /// Why all must end.
    pub fn end(&self) -> Option<End> {
        let end = self.end.load(Ordering::Acquire);
        let rank = self.end_rank.load(Ordering::Relaxed);
        match end {
            2 => {
                let words = self.text.iter().map(|word| word.load(Ordering::Relaxed));
                let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
                let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                let what = String::from_utf8_lossy(bytes).into_owned();
                Some(End::Died { rank, what })
            }
            3 => Some(End::Aborted {
                rank,
                code: self.end_code.load(Ordering::Relaxed) as i32,
            }),
            4 => Some(End::Stopped),
            _ => None,
        }
    }

    /// Says why all must end; the first to say so is believed.
    pub fn end_all(&self, end: &End) {
        let claim = self
            .end
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        let value = match end {
            End::Died { rank, what } => {
                let mut bytes = what.as_bytes().to_vec();
                bytes.resize(TEXT_WORDS * 4 - 1, 0);
                bytes.push(0);
                for (word, chunk) in self.text.iter().zip(bytes.as_chunks::<4>().0) {
                    word.store(u32::from_le_bytes(*chunk), Ordering::Relaxed);
                }
                self.end_rank.store(*rank, Ordering::Relaxed);
                2
            }
            End::Aborted { rank, code } => {
                self.end_rank.store(*rank, Ordering::Relaxed);
                self.end_code.store(*code as u32, Ordering::Relaxed);
                3
            }
            End::Stopped => 4,
        };
        self.end.store(value, Ordering::Release);
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
        // A fresh page is all zeros.
        let job = FirstPage {
            magic: AtomicU64::new(0),
            version: AtomicU32::new(0),
            ranks: AtomicU32::new(0),
            cores: AtomicU32::new(0),
            single_copy: AtomicU32::new(0),
            end: AtomicU32::new(0),
            end_rank: AtomicU32::new(0),
            end_code: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            free: AtomicU64::new(0),
            ticket: AtomicU32::new(0),
            worlds: AtomicU32::new(0),
            directory: AtomicU64::new(0),
            first: AtomicU32::new(0),
            greeting: [const { AtomicU64::new(0) }; 2],
            bridges: AtomicU64::new(0),
            text: [const { AtomicU32::new(0) }; TEXT_WORDS],
        };
        assert_eq!(job.ranks(), Err("it is another file"));
        job.begin((3, 4096), 2, true);
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
