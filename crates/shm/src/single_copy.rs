// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading and writing another rank's memory: whether it is permitted, and whether it pays.
//!
//! `process_vm_readv` copies once where a stream of packets copies twice, but the system finds and
//! pins the other process' pages for it, which on some machines (virtual ones above all) takes
//! longer than the second copy, which another core makes meanwhile.

use std::io;
use std::sync::OnceLock;
use std::time::Instant;

/// Bytes of the copies by which both ways are compared.
const TRIAL: usize = 256 << 10;
const TRIALS: usize = 5;
/// A stream is about as fast as this share of a plain copy: two copies at once, from and to the
/// same cache.
const STREAM_SHARE: f64 = 0.6;
/// 0 or 1 decides instead.
pub const SINGLE_COPY: &str = "CORECAST_SINGLE_COPY";

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

/// Whether long messages are read from their sender's memory: what the environment says, else
/// whether it is faster here than a stream. It is found out once in a process: the launcher asks for
/// all ranks.
pub fn pays() -> bool {
    static PAYS: OnceLock<bool> = OnceLock::new();
    *PAYS.get_or_init(find_out)
}

fn find_out() -> bool {
    match std::env::var(SINGLE_COPY).as_deref() {
        Ok("0") => return false,
        Ok("1") => return true,
        _ => {}
    }
    let (from, mut into) = (vec![1_u8; TRIAL], vec![0_u8; TRIAL]);
    let pid = std::process::id();
    let address = from.as_ptr() as u64;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..TRIALS {
        let start = Instant::now();
        into.copy_from_slice(std::hint::black_box(&from));
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        if !read(pid, address, std::hint::black_box(&mut into)) {
            return false;
        }
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    best[1] * STREAM_SHARE < best[0]
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
