// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making windows and freeing them, as far as one rank can go without waiting.

use super::gate::{Latch, SharedGate};
use super::memory::Here;
use super::window::{Flavor, Held, Member, Window};
use crate::collective::Scratch;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, WinId};
use crate::process::Process;

/// Bytes of a lock and of a latch, and where parts of ranks begin: nobody's cache line is another's.
const LINE: usize = 64;
const LOCK_BYTES: usize = 2 * LINE;
const PAGE: usize = 4096;

/// What one rank's part of a window is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Bytes.
    pub bytes: u64,
    /// Bytes of a displacement of 1.
    pub unit: u32,
    /// Its address for its rank; 0 if that is of use to nobody.
    pub address: u64,
}

impl Piece {
    /// One that only its rank knows the address of.
    #[must_use]
    pub fn new(bytes: u64, unit: u32) -> Self {
        Self {
            bytes,
            unit,
            address: 0,
        }
    }
}

/// Where the parts of a window lie in memory that all ranks see: locks first.
#[derive(Clone, Debug)]
pub struct Room {
    offsets: Vec<usize>,
    /// Bytes in all.
    pub bytes: usize,
}

impl Room {
    /// The parts one after the other, or each on pages of its own.
    ///
    /// # Errors
    /// [`Class::NoMem`] if no address space holds them.
    pub fn new(pieces: &[Piece], is_contiguous: bool) -> Result<Self> {
        let too_large = || Error::new(Class::NoMem, "the window is larger than an address space");
        let mut end = (pieces.len() * LOCK_BYTES).next_multiple_of(PAGE);
        let mut offsets = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if !is_contiguous {
                end = end.checked_next_multiple_of(PAGE).ok_or_else(too_large)?;
            }
            offsets.push(end);
            let bytes = usize::try_from(piece.bytes).map_err(|_| too_large())?;
            end = end.checked_add(bytes).ok_or_else(too_large)?;
        }
        let bytes = end.checked_next_multiple_of(PAGE).ok_or_else(too_large)?;
        match isize::try_from(bytes) {
            Ok(_) => Ok(Self { offsets, bytes }),
            Err(_) => Err(too_large()),
        }
    }
}

impl Process {
    /// Memory that all ranks can map, by its name; `None` where there is none.
    pub fn take_shared(&mut self, bytes: usize) -> Option<u64> {
        let shared = self.engine.transport().shared_memory()?;
        shared.allocate(bytes).ok()
    }

    /// Maps it; `None` where that cannot be done.
    pub fn map_shared(&mut self, name: u64, bytes: usize) -> Option<*mut u8> {
        let shared = self.engine.transport().shared_memory()?;
        shared.map(name, bytes).ok()
    }

    /// Takes back [`Process::map_shared`], and [`Process::take_shared`] if it `owns` the memory.
    pub fn leave_shared(&mut self, name: u64, mapped: Option<*mut u8>, bytes: usize, owns: bool) {
        let Some(shared) = self.engine.transport().shared_memory() else {
            return;
        };
        if let Some(address) = mapped {
            shared.unmap(address, bytes);
        }
        if owns {
            shared.free(name, bytes);
        }
    }

    /// A window over memory of the program, from `base` on.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many windows.
    pub fn add_window(
        &mut self,
        comm: CommId,
        flavor: Flavor,
        pieces: &[Piece],
        base: *mut u8,
    ) -> Result<WinId> {
        self.add(comm, flavor, pieces, (Some(base), Held::Nothing))
    }

    /// A window over memory of this rank's library.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there is not so much.
    pub fn add_own_window(
        &mut self,
        comm: CommId,
        flavor: Flavor,
        pieces: &[Piece],
    ) -> Result<WinId> {
        let rank = self.comm(comm)?.rank;
        let bytes = pieces[rank as usize].bytes;
        let scratch = usize::try_from(bytes).ok().and_then(Scratch::try_new);
        let Some(mut scratch) = scratch else {
            let what = format!("there are no {bytes} bytes for a window");
            return Err(Error::new(Class::NoMem, what));
        };
        let base = scratch.address();
        self.add(
            comm,
            flavor,
            pieces,
            (Some(base), Held::Own { _memory: scratch }),
        )
    }

    /// A window over memory that all ranks see, which lies at `base` here.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many windows.
    pub fn add_shared_window(
        &mut self,
        comm: CommId,
        flavor: Flavor,
        (pieces, room): (&[Piece], &Room),
        (name, base): (u64, *mut u8),
    ) -> Result<WinId> {
        // SAFETY: the mapping stays until the window is freed.
        let mapped = unsafe { Here::new(base, room.bytes) };
        let held = Held::Shared(name, mapped, room.bytes);
        let win = self.add(comm, flavor, pieces, (None, held))?;
        let window = self.win_mut(win)?;
        for (rank, (member, offset)) in window.members.iter_mut().zip(&room.offsets).enumerate() {
            // SAFETY: offsets are within the mapping; locks lie before them, on lines of their own.
            unsafe {
                member.here = Some(Here::new(base.add(*offset), member.bytes as usize));
                let locks = base.add(rank * LOCK_BYTES);
                member.gate = Some(SharedGate::at(locks));
                member.latch = Some(Latch::at(locks.add(LINE)));
            }
        }
        Ok(win)
    }

    fn add(
        &mut self,
        comm: CommId,
        flavor: Flavor,
        pieces: &[Piece],
        (base, held): (Option<*mut u8>, Held),
    ) -> Result<WinId> {
        let reaches_memory = self.engine.transport().reaches_memory();
        let mut members: Vec<Member> = pieces
            .iter()
            .map(|piece| Member {
                bytes: piece.bytes,
                unit: piece.unit,
                here: None,
                gate: None,
                latch: None,
                far: Some(piece.address).filter(|&address| reaches_memory && address != 0),
            })
            .collect();
        let found = self.comm(comm)?;
        let rank = found.rank;
        // SAFETY: the promise of the window's memory, made in the C face, or the library's own memory.
        let own = base.map(|base| unsafe { Here::new(base, pieces[rank as usize].bytes as usize) });
        members[rank as usize].here = own;
        let place = (comm, found.window_context());
        let ranks = (found.group.clone(), rank);
        let window = Window::new(place, flavor, ranks, members, held);
        let full = || Error::new(Class::NoMem, "there are too many windows");
        self.wins.insert(window).ok_or_else(full)
    }

    /// Forgets a window of which all ranks have come to the end; its communicator.
    ///
    /// # Errors
    /// [`Class::Win`] if there is none of this handle.
    pub fn remove_window(&mut self, win: WinId) -> Result<CommId> {
        self.win(win)?;
        let window = self.wins.remove(win).expect("as just seen");
        if let Held::Shared(name, mapped, bytes) = window.held {
            let owns = window.rank == 0;
            self.leave_shared(name, Some(mapped.address()), bytes, owns);
        }
        Ok(window.comm)
    }

    /// Lets a dynamic window have memory of the program.
    ///
    /// # Errors
    /// [`Class::RmaFlavor`], or [`Class::RmaAttach`] for memory that it has already.
    pub fn attach(&mut self, win: WinId, start: usize, bytes: usize) -> Result<()> {
        let window = self.dynamic(win)?;
        let Some(end) = start.checked_add(bytes) else {
            let what = "the memory ends behind all addresses";
            return Err(Error::new(Class::RmaAttach, what));
        };
        let overlaps = |&(other, many): &(usize, usize)| start < other + many && other < end;
        if window.attached.iter().any(overlaps) {
            let what = "some of the memory is attached already";
            return Err(Error::new(Class::RmaAttach, what));
        }
        window.attached.push((start, bytes));
        Ok(())
    }

    /// Takes memory from a dynamic window that begins at this address.
    ///
    /// # Errors
    /// [`Class::RmaFlavor`], or [`Class::RmaAttach`] if none does.
    pub fn detach(&mut self, win: WinId, start: usize) -> Result<()> {
        let window = self.dynamic(win)?;
        let at = window
            .attached
            .iter()
            .position(|&(other, _)| other == start);
        let Some(at) = at else {
            let what = format!("no memory is attached that begins at {start:#x}");
            return Err(Error::new(Class::RmaAttach, what));
        };
        window.attached.swap_remove(at);
        Ok(())
    }

    fn dynamic(&mut self, win: WinId) -> Result<&mut Window> {
        let window = self.win_mut(win)?;
        match window.flavor {
            Flavor::Dynamic => Ok(window),
            _ => {
                let what = "the window is not of MPI_Win_create_dynamic";
                Err(Error::new(Class::RmaFlavor, what))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_behind_the_locks_and_do_not_overlap() {
        let pieces = [10, 0, 5000, 3].map(|bytes| Piece::new(bytes, 1));
        let room = Room::new(&pieces, true).unwrap();
        assert_eq!(room.offsets, [4096, 4106, 4106, 9106]);
        assert_eq!(room.bytes, 12288);
        let room = Room::new(&pieces, false).unwrap();
        assert_eq!(room.offsets, [4096, 8192, 8192, 16384]);
        let huge = [Piece::new(u64::MAX, 1)];
        assert_eq!(Room::new(&huge, true).unwrap_err().class, Class::NoMem);
    }
}
