// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading and writing another rank's memory, and whether it is permitted. Whether it pays [`crate::trial`]
//! finds out.

use std::io;
use std::sync::OnceLock;

/// 0: neither is done; 1: long messages of all lengths may be.
pub const SINGLE_COPY: &str = "CORECAST_SINGLE_COPY";

/// From how many bytes on messages are copied once; `usize::MAX`: none are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mins {
    /// They may be.
    pub read: usize,
    /// It is faster, of bytes that nobody has just written.
    pub once: usize,
}

impl Mins {
    /// Where there is no doubt.
    pub const fn both(bytes: usize) -> Self {
        Self {
            read: bytes,
            once: bytes,
        }
    }
}

/// Reads bytes at `address` in the memory of a process; `false`: it is not possible.
pub fn read(pid: u32, address: u64, into: &mut [u8]) -> bool {
    let (start, bytes) = (into.as_mut_ptr(), into.len());
    // SAFETY: it writes into `into` alone; the system checks the other side's address.
    all(start, address, bytes, |here, there| unsafe {
        libc::process_vm_readv(pid as libc::pid_t, here, 1, there, 1, 0)
    })
}

/// Writes bytes to `address` in the memory of a process; `false`: it is not possible, and some of them
/// may be there.
///
/// # Safety
/// The process lets this one write there.
pub unsafe fn write(pid: u32, address: u64, from: &[u8]) -> bool {
    let (start, bytes) = (from.as_ptr().cast_mut(), from.len());
    // SAFETY: it reads `from` alone; the system checks the other side's address, and the caller promises
    // that nothing is lost there.
    all(start, address, bytes, |here, there| unsafe {
        libc::process_vm_writev(pid as libc::pid_t, here, 1, there, 1, 0)
    })
}

/// Moves all bytes, however many the system moves at a time.
fn all(
    start: *mut u8,
    address: u64,
    bytes: usize,
    moves: impl Fn(*const libc::iovec, *const libc::iovec) -> isize,
) -> bool {
    let mut done = 0;
    while done < bytes {
        let piece = |start: *mut u8| libc::iovec {
            iov_base: start.wrapping_add(done).cast(),
            iov_len: bytes - done,
        };
        let here = piece(start);
        let there = piece(std::ptr::without_provenance_mut(address as usize));
        let moved = moves(&raw const here, &raw const there);
        if moved <= 0 {
            return false;
        }
        done += moved as usize;
    }
    true
}

/// Whether the memory of other processes can be read and written at all: the environment does not forbid
/// it, and the system has it.
pub fn is_possible() -> bool {
    static IS_POSSIBLE: OnceLock<bool> = OnceLock::new();
    *IS_POSSIBLE.get_or_init(|| {
        let (from, mut into) = ([1_u8], [0_u8]);
        let is_forbidden = std::env::var(SINGLE_COPY).is_ok_and(|wanted| wanted == "0");
        !is_forbidden && read(std::process::id(), from.as_ptr() as u64, &mut into)
    })
}

/// Lets the other ranks read this process' memory, where the system's policy leaves it to a process
/// to say who may (Yama, scope 1); whether they can, as far as the policy goes.
pub fn permit() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    match scope.as_deref().map(str::trim) {
        Ok("0") => true,
        Ok("1") => {
            // SAFETY: the call has no memory as its argument.
            (unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) }) == 0
        }
        Ok(_) => false,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_itself_or_is_told_that_it_cannot() {
        let (from, mut into) = ([1, 2, 3], [0; 3]);
        let can = read(std::process::id(), from.as_ptr() as u64, &mut into);
        assert!(!can || into == from);
        assert!(
            !read(std::process::id(), 8, &mut into),
            "nothing lies there"
        );
    }

    #[test]
    fn a_process_writes_to_itself_or_is_told_that_it_cannot() {
        let (from, mut into) = ([1, 2, 3], [0; 3]);
        let address = into.as_mut_ptr() as u64;
        // SAFETY: it is this process' own memory.
        let can = unsafe { write(std::process::id(), address, &from) };
        assert!(!can || std::hint::black_box(&into) == &from);
        // SAFETY: nothing lies there.
        assert!(!unsafe { write(std::process::id(), 8, &from) });
    }
}
