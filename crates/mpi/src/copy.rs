// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies out of memory that another core has just written.
//!
//! The C library copies some kilobytes and more with string instructions, which are quick where both
//! places lie in this core's caches and memory. From another core's cache they bring the lines more
//! slowly than a plain loop of vectors does: on the machine of `docs/mpi.md`, 1 MiB through
//! `large_pool` of `xtask/bench-mpi/floor.c` took 67 us by `memcpy` and 33 us by such a loop.

/// Shorter ones are left to the C library, which does not use string instructions for them.
const LOOP_MIN: usize = 1 << 10;

/// Copies `bytes` bytes.
///
/// # Safety
/// Those at `from` may be read and those at `into` written; they do not overlap.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    if bytes < LOOP_MIN {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { copy_by_lines(from, into, bytes) };
    }
}

/// Copies all of one slice to another.
///
/// # Panics
/// If they are not equally long.
#[inline]
pub fn copy_slice(from: &[u8], into: &mut [u8]) {
    assert_eq!(from.len(), into.len(), "as many bytes");
    // SAFETY: two slices of that length; one is exclusive, so they do not overlap.
    unsafe { copy(from.as_ptr(), into.as_mut_ptr(), from.len()) };
}

const LINE: usize = 64;

/// Not inlined: with slices for its arguments the compiler would make the C library's copy of it.
#[inline(never)]
unsafe fn copy_by_lines(from: *const u8, into: *mut u8, bytes: usize) {
    let whole = bytes / LINE * LINE;
    let mut at = 0;
    // SAFETY: the caller's promise; arrays of bytes are aligned everywhere.
    unsafe {
        while at < whole {
            let line = from.add(at).cast::<[u8; LINE]>().read();
            into.add(at).cast::<[u8; LINE]>().write(line);
            at += LINE;
        }
        std::ptr::copy_nonoverlapping(from.add(whole), into.add(whole), bytes - whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_offset_is_copied() {
        let from: Vec<u8> = (0..3000_u32).map(|at| (at % 251) as u8 + 1).collect();
        for bytes in [0, 1, 63, 64, 1000, 1023, 1024, 1025, 1087, 2048, 2500] {
            for offset in [0, 1, 7, 64, 333] {
                let mut into = vec![0; 3000];
                copy_slice(&from[offset..offset + bytes], &mut into[1..=bytes]);
                assert_eq!(into[1..=bytes], from[offset..offset + bytes]);
                assert!(into[0] == 0 && into[bytes + 1..].iter().all(|&byte| byte == 0));
            }
        }
    }
}
