// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core tells its caches about lines that it shares with others: hints, which change no value.

/// Takes a line out of the caches of others, which have read it when it was used last: what is stored into
/// it later is seen sooner, and holds up nothing that is stored after it.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
#[inline]
pub fn claim<T>(line: &T) {
    // SAFETY: the instruction does nothing but fetch; processors without it do nothing at all.
    unsafe {
        std::arch::asm!(
            "prefetchw [{}]",
            in(reg) &raw const *line,
            options(nostack, preserves_flags, readonly),
        );
    }
}

/// Nothing, where nobody knows how.
#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
pub fn claim<T>(_line: &T) {}
