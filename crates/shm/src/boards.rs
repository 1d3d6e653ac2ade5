//! Memory of every rank that it writes and all may read: lines, and bytes beside them.
//!
//! Flags of lines order bytes: who sees a flag raised sees what its owner wrote before. That nobody
//! writes what another is reading is up to who uses the boards, who have flags to agree on it.

use std::sync::atomic::AtomicU32;

use corecast_mpi::transport::{Boards, Line};

use crate::wait::{self, Barrier};

/// Lines of a board.
const LINES: usize = 128;
/// Bytes of a board that are for data.
const DATA: usize = 1 << 20;
/// Bytes of a board in the segment.
pub const BYTES: usize = LINES * size_of::<Line>() + DATA;

/// The boards of all ranks, as one of them sees them.
#[derive(Debug)]
pub struct SharedBoards {
    boards: Vec<*mut u8>,
    /// Where ranks say that they sleep.
    asleep: Vec<*const AtomicU32>,
    barrier: Barrier,
    /// The line that this rank waits for, and its flag.
    awaited: Option<(u32, usize, u64)>,
}

// SAFETY: addresses in a mapping that is shared anyway, kept by the `Port` that owns this.
unsafe impl Send for SharedBoards {}

impl SharedBoards {
    /// Those at these addresses, in memory that must outlive them, as must the words in which ranks
    /// say that they sleep.
    pub fn new(boards: Vec<*mut u8>, asleep: Vec<*const AtomicU32>, barrier: Barrier) -> Self {
        Self {
            boards,
            asleep,
            barrier,
            awaited: None,
        }
    }

    /// Whether the line that this rank waits for has come.
    pub fn has_come(&self) -> bool {
        let awaited = self.awaited;
        awaited.is_some_and(|(rank, line, flag)| self.lines(rank)[line].flag() >= flag)
    }
}

impl Boards for SharedBoards {
    #[inline]
    fn lines(&self, rank: u32) -> &[Line] {
        // SAFETY: the lines lie at the beginning of the board, which is aligned to a page and was
        // zero at first; they are atomics.
        unsafe { std::slice::from_raw_parts(self.boards[rank as usize].cast(), LINES) }
    }

    fn bytes(&self) -> usize {
        DATA
    }

    #[inline]
    fn data(&self, rank: u32) -> *mut u8 {
        self.boards[rank as usize].wrapping_add(LINES * size_of::<Line>())
    }

    #[inline]
    fn wake(&self, ranks: &[u32]) {
        self.barrier.of_sender();
        for &rank in ranks {
            // SAFETY: the word lies in the mapping, which outlives this.
            wait::wake(unsafe { &*self.asleep[rank as usize] });
        }
    }

    fn await_line(&mut self, rank: u32, line: usize, flag: u64) {
        self.awaited = Some((rank, line, flag));
    }
}
