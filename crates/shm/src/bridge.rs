// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way between two ranks of different worlds, as one of them has it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::directory::{Entry, World};
use crate::error::ShmError;
use crate::job::{FirstPage, JOB_BYTES, Member, RANK_BYTES};
use crate::map::Map;
use crate::ring::{Receiver, Sender};
use crate::worlds::{self, DIRECTORY_BYTES};

/// A ring each way to a rank of another world.
pub struct Bridge {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Where it lies in the file.
    start: u64,
    /// The job and the members of the other rank's world.
    members: Map,
    /// Its place among them.
    place: usize,
    /// What the rings point into: dropped last.
    _rings: Map,
}

impl Bridge {
    /// The way from `own` rank to another one.
    ///
    /// # Errors
    /// [`ShmError::Memory`], or [`ShmError::NotASegment`] if no world has that rank.
    pub fn new(
        file: BorrowedFd<'_>,
        job: &FirstPage,
        own: u32,
        other: u32,
    ) -> Result<Self, ShmError> {
        let (ours, theirs) = (find(file, job, own)?, find(file, job, other)?);
        let (world, rank, older) = match own > other {
            true => (ours, own, other),
            false => (theirs, other, own),
        };
        let newer = Map::new(file, world.start, JOB_BYTES)?;
        // SAFETY: the first page of a world holds atomics only.
        let bridges = unsafe { newer.at::<FirstPage>(0) }.bridges();
        let start = bridges + worlds::bridge(world, rank, older);
        let rings = Map::new(file, start, worlds::bridge_bytes())?;
        let (from_older, from_newer) = (0, worlds::ring_bytes());
        let (out, back) = match own == older {
            true => (from_older, from_newer),
            false => (from_newer, from_older),
        };
        let pool = worlds::pool_bytes();
        let members = JOB_BYTES + theirs.ranks as usize * RANK_BYTES;
        Ok(Self {
            sender: Sender::new(&rings, out, pool),
            receiver: Receiver::new(&rings, back, pool),
            start,
            members: Map::new(file, theirs.start, members.next_multiple_of(4096))?,
            place: (other - theirs.first) as usize,
            _rings: rings,
        })
    }

    /// What is known of the other rank.
    pub fn member(&self) -> &Member {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.members.at(JOB_BYTES + self.place * RANK_BYTES) }
    }

    /// Whether nothing will come this way any more, nor be taken.
    pub fn is_over(&self) -> bool {
        let is_gone = self.member().may_leave() && self.member().pid() != 0;
        is_gone && !self.receiver.has_packet()
    }

    /// Gives the memory back of one that is over.
    pub fn give_back(self, file: BorrowedFd<'_>) {
        punch(file, self.start, worlds::bridge_bytes() as u64);
    }
}

/// Makes a hole. Where that cannot be done the memory stays taken until the job ends.
pub fn punch(file: BorrowedFd<'_>, start: u64, bytes: u64) {
    // SAFETY: a plain call on our own file.
    unsafe {
        libc::fallocate(
            file.as_fd().as_raw_fd(),
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
            start as libc::off_t,
            bytes as libc::off_t,
        )
    };
}

/// The world of a rank.
fn find(file: BorrowedFd<'_>, job: &FirstPage, rank: u32) -> Result<World, ShmError> {
    let launched = World {
        first: 0,
        ranks: job.ranks().unwrap_or(0),
        start: 0,
    };
    if launched.has(rank) {
        return Ok(launched);
    }
    let nobody = ShmError::NoRank { rank };
    let (start, count) = job.directory.get();
    if count == 0 {
        return Err(nobody);
    }
    let map = Map::new(file, start, DIRECTORY_BYTES)?;
    // Newer ones are asked for more often.
    let found = (0..count as usize).rev().map(|index| {
        // SAFETY: the directory has entries of atomics, as many as were said to be there.
        unsafe { map.at::<Entry>(index * size_of::<Entry>()) }.get()
    });
    let mut found = found.filter(|world| world.has(rank));
    found.next().ok_or(nobody)
}
