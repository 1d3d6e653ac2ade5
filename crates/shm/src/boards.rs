// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of every rank that it writes and all may read: lines, and bytes beside them.
//!
//! Flags of lines order bytes: who sees a flag raised sees what its owner wrote before. That nobody
//! writes what another is reading is up to who uses the boards, who have flags to agree on it.

use std::sync::atomic::AtomicU32;

use corecast_mpi::transport::{BOARD_LINES, Boards, Line};

use crate::distance::{self, Distances};
use crate::wait::{self, Barrier};

/// Bytes of a board's lines.
const LINES_BYTES: usize = (BOARD_LINES * size_of::<Line>()).next_multiple_of(4096);

/// Bytes of a board in the segment, of which so many are for data.
pub const fn bytes(data_bytes: usize) -> usize {
    LINES_BYTES + data_bytes
}

/// A line of a rank, and the flag for which another waits.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    rank: u32,
    line: usize,
    flag: u64,
}

/// The boards of all ranks, as one of them sees them.
#[derive(Debug)]
pub struct SharedBoards {
    /// Of the ranks from `first` on.
    boards: Vec<*mut u8>,
    first: u32,
    data_bytes: usize,
    /// Whether there are more ranks than cores.
    share_cores: bool,
    /// Where ranks say that they sleep.
    asleep: Vec<*const AtomicU32>,
    barrier: Barrier,
    /// How far the readers are; of messages, too.
    pub distances: Distances,
    awaited: Option<Awaited>,
}

// SAFETY: addresses in a mapping that is shared anyway, kept by the `Port` that owns this.
unsafe impl Send for SharedBoards {}

impl SharedBoards {
    /// Those at these addresses, with so many bytes for data, in memory that must outlive them, as must
    /// the words in which ranks say that they sleep.
    pub fn new(
        (boards, first, data_bytes): (Vec<*mut u8>, u32, usize),
        asleep: Vec<*const AtomicU32>,
        distances: Distances,
        barrier: Barrier,
        share_cores: bool,
    ) -> Self {
        Self {
            share_cores,
            data_bytes,
            first,
            boards,
            asleep,
            barrier,
            distances,
            awaited: None,
        }
    }

    /// The line that this rank said last that it waits for. Only once, because what it waits for next
    /// may be no line.
    pub fn take_awaited(&mut self) -> Option<Awaited> {
        self.awaited.take()
    }

    /// Whether a line has come.
    pub fn has_come(&self, awaited: Awaited) -> bool {
        self.lines(awaited.rank)[awaited.line].flag() >= awaited.flag
    }
}

impl Boards for SharedBoards {
    #[inline]
    fn lines(&self, rank: u32) -> &[Line] {
        // SAFETY: the lines lie at the beginning of the board, which is aligned to a page and was
        // zero at first; they are atomics.
        unsafe {
            std::slice::from_raw_parts(
                self.boards[(rank - self.first) as usize].cast(),
                BOARD_LINES,
            )
        }
    }

    fn line_count(&self) -> usize {
        BOARD_LINES
    }

    fn bytes(&self) -> usize {
        self.data_bytes
    }

    fn share_cores(&self) -> bool {
        self.share_cores
    }

    #[inline]
    fn data(&self, rank: u32) -> *mut u8 {
        self.boards[(rank - self.first) as usize].wrapping_add(LINES_BYTES)
    }

    #[inline]
    unsafe fn write(&mut self, from: *const u8, into: *mut u8, bytes: usize, readers: &[u32]) {
        let way = self.distances.way_to_all(readers, bytes);
        // SAFETY: the caller's promise.
        unsafe { distance::copy(from, into, bytes, way) };
    }

    #[inline]
    fn wake(&mut self, ranks: &[u32]) {
        self.distances.beat();
        self.barrier.of_sender();
        for &rank in ranks {
            // SAFETY: the word lies in the mapping, which outlives this.
            wait::wake(unsafe { &*self.asleep[(rank - self.first) as usize] });
        }
    }

    fn await_line(&mut self, rank: u32, line: usize, flag: u64) {
        self.awaited = Some(Awaited { rank, line, flag });
    }
}
