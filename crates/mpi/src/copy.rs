// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies out of memory that another core has just written.
//!
//! How the C library copies some kilobytes and more depends on its version and on the processor: by
//! string instructions, which on some machines bring lines of another core's cache half as fast as a
//! plain loop of vectors does (1 MiB through `large_pool` of `xtask/bench-mpi/floor.c` took 67 us instead
//! of 33 on one with AMD EPYC), and on others a tenth faster. So both are tried now and then, and timed.

/// Fewer bytes are left to the C library: to time their copy would take a part of it.
const TIMED_MIN: usize = 8 << 10;

/// Copies `bytes` bytes.
///
/// # Safety
/// Those at `from` may be read and those at `into` written; they do not overlap.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    if bytes < TIMED_MIN {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { long::copy(from, into, bytes) };
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

/// Long copies, where ticks can be counted.
#[cfg(target_arch = "x86_64")]
mod long {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Of so many copies one is made the other way.
    const TRIED: u32 = 32;
    /// What a copy takes goes into the mean by one part of so many.
    const SHARE: u32 = 8;
    /// One that was interrupted counts as so many times the mean at most.
    const LONGEST: u32 = 4;
    const UNKNOWN: u32 = u32::MAX;
    /// Means are kept in such parts of a tick.
    const FINER: u64 = 16;

    /// What a kilobyte takes, by the C library and by lines. Threads that change it at the same time
    /// lose a figure, nothing else.
    static TICKS: [AtomicU32; 2] = [const { AtomicU32::new(UNKNOWN) }; 2];
    static COPIES: AtomicU32 = AtomicU32::new(0);

    /// As [`super::copy`].
    #[inline(never)]
    pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
        let copies = COPIES.load(Ordering::Relaxed).wrapping_add(1);
        COPIES.store(copies, Ordering::Relaxed);
        let [library, lines] = &TICKS;
        let by_lines_pays = lines.load(Ordering::Relaxed) < library.load(Ordering::Relaxed);
        let is_by_lines = by_lines_pays != copies.is_multiple_of(TRIED);
        let start = now();
        // SAFETY: the caller's promise.
        unsafe {
            match is_by_lines {
                true => by_lines(from, into, bytes),
                false => std::ptr::copy_nonoverlapping(from, into, bytes),
            }
        }
        let ticks = now().wrapping_sub(start).saturating_mul(FINER << 10) / bytes as u64;
        note(&TICKS[usize::from(is_by_lines)], ticks);
    }

    const LINE: usize = 64;

    /// Not inlined: with slices for its arguments the compiler would make the C library's copy of it.
    #[inline(never)]
    unsafe fn by_lines(from: *const u8, into: *mut u8, bytes: usize) {
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

    fn note(mean: &AtomicU32, ticks: u64) {
        let before = mean.load(Ordering::Relaxed);
        let mean_now = match before {
            UNKNOWN => ticks.min(u64::from(UNKNOWN - 1)) as u32,
            _ => {
                let most = before.saturating_mul(LONGEST).max(1);
                let ticks = ticks.min(u64::from(most)) as u32;
                before - before / SHARE + ticks / SHARE
            }
        };
        mean.store(mean_now, Ordering::Relaxed);
    }

    fn now() -> u64 {
        // SAFETY: every processor of this kind has the instruction, which has no arguments.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn lines_and_what_follows_them_are_copied() {
            let from: Vec<u8> = (0..3000_u32).map(|at| (at % 251) as u8 + 1).collect();
            for bytes in [0, 1, 63, 64, 1000, 1087, 2048] {
                for offset in [0, 1, 64, 333] {
                    let mut into = vec![0; 3000];
                    // SAFETY: both are long enough.
                    unsafe { by_lines(from[offset..].as_ptr(), into[1..].as_mut_ptr(), bytes) };
                    assert_eq!(into[1..=bytes], from[offset..offset + bytes]);
                    assert!(into[0] == 0 && into[bytes + 1..].iter().all(|&byte| byte == 0));
                }
            }
        }

        #[test]
        fn a_mean_follows_what_is_measured_and_no_interruption() {
            let mean = AtomicU32::new(UNKNOWN);
            note(&mean, 80);
            assert_eq!(mean.load(Ordering::Relaxed), 80);
            note(&mean, 1_000_000);
            assert_eq!(mean.load(Ordering::Relaxed), 80 - 10 + 40);
            for _ in 0..100 {
                note(&mean, 800);
            }
            assert!((700..=800).contains(&mean.load(Ordering::Relaxed)));
        }
    }
}

/// Elsewhere nobody has measured it: as the C library does.
#[cfg(not(target_arch = "x86_64"))]
mod long {
    /// As [`super::copy`].
    pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So often that each is made either way.
    #[test]
    fn every_length_and_offset_is_copied() {
        let from: Vec<u8> = (0..20_000_u32).map(|at| (at % 251) as u8 + 1).collect();
        for _ in 0..5 {
            for bytes in [0, 1, 63, 64, 1000, 1087, 2048, 8191, 8192, 10_000, 16_384] {
                for offset in [0, 1, 7, 64, 333] {
                    let mut into = vec![0; 20_000];
                    copy_slice(&from[offset..offset + bytes], &mut into[1..=bytes]);
                    assert_eq!(into[1..=bytes], from[offset..offset + bytes]);
                    assert!(into[0] == 0 && into[bytes + 1..].iter().all(|&byte| byte == 0));
                }
            }
        }
    }
}
