//! Memory of every rank that it writes and all may read, with flags.
//!
//! Flags order bytes: who sees a flag raised sees what its owner put before. That nobody writes what
//! another is reading is up to who uses the boards, who have flags to agree on it.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use corecast_mpi::transport::Boards;

use crate::layout::Layout;
use crate::map::Map;

/// Flags of a board, each with a cache line of its own.
const FLAGS: usize = 64;
const LINE: usize = 64;
/// Bytes of a board that are for data.
const DATA: usize = 1 << 20;
/// Bytes of a board in the segment.
pub const BYTES: usize = FLAGS * LINE + DATA;

/// The boards of all ranks, as one of them sees them.
#[derive(Debug)]
pub struct SharedBoards {
    rank: u32,
    boards: Vec<*mut u8>,
}

// SAFETY: addresses in a mapping that is shared anyway, kept by the `Port` that owns this.
unsafe impl Send for SharedBoards {}

impl SharedBoards {
    /// Those in this map, which must outlive them.
    pub fn new(layout: &Layout, map: &Map, rank: u32) -> Self {
        let ranks = 0..layout.ranks;
        let boards = ranks.map(|rank| map.address(layout.board(rank), BYTES));
        Self {
            rank,
            boards: boards.collect(),
        }
    }

    fn flag(&self, rank: u32, flag: usize) -> &AtomicU32 {
        assert!(flag < FLAGS);
        // SAFETY: the flags lie at the beginning of the board, one per line, and are atomics.
        unsafe { &*self.boards[rank as usize].add(flag * LINE).cast() }
    }

    fn data(&self, rank: u32, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset <= DATA && bytes <= DATA - offset);
        // SAFETY: within the board, as just checked.
        unsafe { self.boards[rank as usize].add(FLAGS * LINE + offset) }
    }
}

impl Boards for SharedBoards {
    fn bytes(&self) -> usize {
        DATA
    }

    fn flags(&self) -> usize {
        FLAGS
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) {
        let into = self.data(self.rank, offset, bytes.len());
        // SAFETY: within this rank's board, which only it writes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), into, bytes.len()) };
    }

    fn get(&self, rank: u32, offset: usize, into: &mut [u8]) {
        let from = self.data(rank, offset, into.len());
        // SAFETY: within the board; its owner does not write there now (see the module).
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    }

    fn look(&self, rank: u32, offset: usize, bytes: usize, see: &mut dyn FnMut(&[u8])) {
        let from = self.data(rank, offset, bytes);
        // SAFETY: as in `get`.
        see(unsafe { std::slice::from_raw_parts(from, bytes) });
    }

    fn raise(&mut self, flag: usize, value: u32) {
        self.flag(self.rank, flag).store(value, Ordering::Release);
    }

    fn peek(&self, rank: u32, flag: usize) -> u32 {
        self.flag(rank, flag).load(Ordering::Acquire)
    }
}
