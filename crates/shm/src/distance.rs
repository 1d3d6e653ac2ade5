// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which way bytes go to another core: by string instructions, through caches or through memory.
//!
//! Two cores that share a cache hand lines over in it. Where they share none (they sit on other dies,
//! or in other sockets) every line is fetched across the machine when it is read, and again when it is
//! written over. Processors with fast string instructions do not fetch what those write as a whole, and
//! so they are used wherever the reader is: 64 KiB in pieces of 16 KiB took 2.8 us between cores without
//! a common cache, 10 us by plain stores and 3.0 us by stores past the caches, and with a common cache as
//! long as by plain stores (2026-11-27, AMD EPYC, family 26).
//!
//! Without them it is faster to write past the caches for a core that shares none, and let it read memory;
//! so it is on processors of AMD's family 25 (Zen 3 and 4), where lines come slowly from caches of another
//! die, however they were written: 64 KiB that are written, broadcast and read took 10 us past the caches,
//! 26 to 33 us by strings and 34 us by plain stores there, and 14.5, 10.5 and 11 us with a common cache
//! (2026-11-28, AMD EPYC, family 25, model 17).
//! What is the case shows in a single load: one of a line that the other core has just written takes
//! about as long as one from memory where no cache is shared, and a fraction of it where one is. Ranks
//! move, for a scheduler or a hypervisor moves them, so a rank looks again and again while it passes
//! bytes on: every rank has a [`Pulse`], which it changes whenever it passes on or takes anything.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a rank changes, and others look at. Alone among lines that nobody looks at: with its neighbours
/// it would be fetched before it is asked for.
#[derive(Debug, Default)]
#[repr(C, align(256))]
pub struct Pulse(AtomicU32);

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Ordinary stores.
    Caches,
    /// String instructions.
    Strings,
    /// Stores past the caches.
    Memory,
}

/// Fewer bytes go through caches wherever the reader is.
pub const BYTES_MIN: usize = 2 << 10;

/// Of so many calls one looks, when what has been seen of a rank leaves no doubt how far it is.
const CALLS: u32 = 16;

/// As many loads must have been slow: an interruption makes one slow, nothing makes one quick.
const LOADS: usize = 4;

/// A core is far if a line of it takes this share of a line of memory.
const FAR: f64 = 0.6;

/// How far the others are, for one rank.
#[derive(Debug)]
pub struct Distances {
    rank: usize,
    /// The rank of the first peer.
    first: u32,
    peers: Vec<Peer>,
    beats: u32,
    calls: u32,
    choice: Choice,
}

/// By what the way of long bytes is chosen.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// It is always the same.
    Always(Way),
    /// How far the reader is: ticks from which on a load is slow, and the way to one that is near.
    Looks { slow: u64, near: Way },
}

impl Choice {
    fn of_this_processor() -> Self {
        let near = if ticks::has_strings() {
            Way::Strings
        } else {
            Way::Caches
        };
        if near == Way::Strings && !has_slow_caches() {
            return Self::Always(near);
        }
        // Where loads cannot be timed nobody knows better.
        slow().map_or(Self::Always(near), |slow| Self::Looks { slow, near })
    }

    /// The way to a rank, or to most of several.
    fn way(self, is_far: bool) -> Way {
        match self {
            Self::Looks { .. } if is_far => Way::Memory,
            Self::Always(way) | Self::Looks { near: way, .. } => way,
        }
    }
}

#[derive(Debug)]
struct Peer {
    pulse: *const Pulse,
    seen: u32,
    loads: [bool; LOADS],
    looks: usize,
    is_far: bool,
}

impl Peer {
    /// Whether too little has been seen of it, or loads differed.
    fn is_doubtful(&self) -> bool {
        self.looks < LOADS || self.loads != [self.is_far; LOADS]
    }
}

impl Distances {
    /// Of `rank`, with the pulses of all ranks from `first` on, which must outlive it.
    pub fn new((rank, first): (u32, u32), pulses: impl Iterator<Item = *const Pulse>) -> Self {
        let peer = |pulse| Peer {
            pulse,
            seen: 0,
            loads: [false; LOADS],
            looks: 0,
            is_far: false,
        };
        Self {
            rank: (rank - first) as usize,
            first,
            peers: pulses.map(peer).collect(),
            beats: 0,
            calls: 0,
            choice: Choice::of_this_processor(),
        }
    }

    /// Changes this rank's pulse, if anybody looks at pulses.
    #[inline]
    pub fn beat(&mut self) {
        if let Choice::Always(_) = self.choice {
            return;
        }
        self.beats = self.beats.wrapping_add(1);
        let pulse = self.peers[self.rank].pulse;
        // SAFETY: promised in `new`.
        unsafe { &*pulse }.0.store(self.beats, Ordering::Relaxed);
    }

    /// The way for bytes that a rank of this world will read.
    #[inline]
    pub fn way(&mut self, to: u32, bytes: usize) -> Way {
        if bytes < BYTES_MIN {
            return Way::Caches;
        }
        let slow = match self.choice {
            Choice::Always(way) => return way,
            Choice::Looks { slow, .. } => slow,
        };
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) || self.peer(to).is_doubtful() {
            self.look(to, slow);
        }
        self.choice.way(self.peer(to).is_far)
    }

    /// The way for bytes that several ranks will read: the better one for most of them.
    #[inline]
    pub fn way_to_all(&mut self, readers: &[u32], bytes: usize) -> Way {
        if bytes < BYTES_MIN || readers.is_empty() {
            return Way::Caches;
        }
        let slow = match self.choice {
            Choice::Always(way) => return way,
            Choice::Looks { slow, .. } => slow,
        };
        self.calls = self.calls.wrapping_add(1);
        let (all, calls) = (readers.len(), self.calls as usize);
        let next = readers[calls % all];
        if self.peer(next).is_doubtful() {
            self.look(next, slow);
        } else if self.calls.is_multiple_of(CALLS) {
            self.look(readers[calls / CALLS as usize % all], slow);
        }
        let far = readers.iter().filter(|&&to| self.peer(to).is_far);
        self.choice.way(far.count() * 2 > readers.len())
    }

    fn peer(&self, rank: u32) -> &Peer {
        &self.peers[(rank - self.first) as usize]
    }

    /// Times a load of another rank's pulse; it tells something only if it has changed since.
    fn look(&mut self, at: u32, slow: u64) {
        let peer = &mut self.peers[(at - self.first) as usize];
        // SAFETY: promised in `new`.
        let (beats, ticks) = ticks::of_load(&unsafe { &*peer.pulse }.0);
        if beats == peer.seen {
            return;
        }
        peer.seen = beats;
        peer.loads[peer.looks % LOADS] = ticks >= slow;
        peer.looks = peer.looks.saturating_add(1);
        peer.is_far = peer.loads == [true; LOADS];
    }
}

/// Ticks that a load takes from another core without a common cache at least; found out once in a
/// process.
fn slow() -> Option<u64> {
    static SLOW: OnceLock<Option<u64>> = OnceLock::new();
    *SLOW.get_or_init(|| {
        let (nothing, memory) = (ticks::of_good_loads(false)?, ticks::of_good_loads(true)?);
        let longer = memory.saturating_sub(nothing) as f64 * FAR;
        Some(nothing + longer as u64)
    })
}

/// Whether what another core's caches have comes slowly, and is slowly taken from them.
pub fn has_slow_caches() -> bool {
    static IS_SO: OnceLock<bool> = OnceLock::new();
    *IS_SO.get_or_init(ticks::has_slow_caches)
}

/// The way of so many bytes of a body that goes this way.
#[inline]
pub fn way_of(bytes: usize, way: Way) -> Way {
    if bytes < BYTES_MIN { Way::Caches } else { way }
}

/// Copies bytes to where another core will read them.
///
/// # Safety
/// The two stretches of `bytes` bytes may be read and written, and do not overlap.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize, way: Way) {
    match way {
        // SAFETY: the caller's promise.
        Way::Caches => unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) },
        // SAFETY: the caller's promise.
        Way::Strings => unsafe { ticks::copy_by_strings(from, into, bytes) },
        // SAFETY: the caller's promise.
        Way::Memory => unsafe { ticks::copy_past_caches(from, into, bytes) },
    }
}

/// What the processor has for it.
#[cfg(target_arch = "x86_64")]
mod ticks {
    use std::arch::asm;
    use std::arch::x86_64::{
        __cpuid, __m128i, _mm_clflush, _mm_lfence, _mm_loadu_si128, _mm_mfence, _mm_sfence,
        _mm_stream_si128,
    };
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Loads of which the quickest but a few counts.
    const TRIALS: usize = 31;
    const LINE: usize = 64;

    fn now() -> u64 {
        // SAFETY: every processor of this kind has these instructions; they have no arguments.
        unsafe {
            _mm_lfence();
            let ticks = std::arch::x86_64::_rdtsc();
            _mm_lfence();
            ticks
        }
    }

    /// A value and the ticks that its load took.
    pub fn of_load(word: &AtomicU32) -> (u32, u64) {
        let start = now();
        let value = word.load(Ordering::Relaxed);
        (value, now() - start)
    }

    /// Ticks of a load from the nearest cache, or from memory.
    pub fn of_good_loads(of_memory: bool) -> Option<u64> {
        let word = AtomicU32::new(1);
        let mut ticks = [0; TRIALS];
        for ticks in &mut ticks {
            if of_memory {
                // SAFETY: the word is there; nothing else happens to it.
                unsafe { _mm_clflush(word.as_ptr().cast()) };
            }
            // SAFETY: the instruction has no arguments.
            unsafe { _mm_mfence() };
            *ticks = of_load(&word).1;
        }
        ticks.sort_unstable();
        Some(ticks[TRIALS / 8])
    }

    /// Whether the processor moves long strings fast.
    pub fn has_strings() -> bool {
        is_x86_feature_detected!("ermsb")
    }

    /// Whether lines come slowly from caches of another die: AMD's family 25.
    pub fn has_slow_caches() -> bool {
        #[allow(unused_unsafe)] // Newer compilers need none.
        // SAFETY: every processor of this kind has the instruction and these two leaves.
        let (vendor, facts) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let family = (facts >> 8 & 0xf) + (facts >> 20 & 0xff);
        vendor.as_flattened() == b"AuthenticAMD" && family == 25
    }

    /// As [`super::copy`].
    pub unsafe fn copy_by_strings(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: it reads and writes what the caller has promised; the direction flag is clear, as
        // everywhere in Rust. What is stored later is not seen before these bytes.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") bytes => _,
                inout("rsi") from => _,
                inout("rdi") into => _,
                options(nostack, preserves_flags),
            );
        }
    }

    /// As [`super::copy`].
    pub unsafe fn copy_past_caches(from: *const u8, into: *mut u8, bytes: usize) {
        let before = into.align_offset(LINE).min(bytes);
        let lines = (bytes - before) / LINE;
        let rest = before + lines * LINE;
        // SAFETY: the caller's promise; the lines written are whole and aligned.
        unsafe {
            std::ptr::copy_nonoverlapping(from, into, before);
            for line in 0..lines {
                let from = from.add(before + line * LINE).cast::<__m128i>();
                let into = into.add(before + line * LINE).cast::<__m128i>();
                let quarters = [0, 1, 2, 3].map(|quarter| _mm_loadu_si128(from.add(quarter)));
                for (quarter, value) in quarters.into_iter().enumerate() {
                    _mm_stream_si128(into.add(quarter), value);
                }
            }
            std::ptr::copy_nonoverlapping(from.add(rest), into.add(rest), bytes - rest);
            // A flag that is raised now must not be seen before these.
            _mm_sfence();
        }
    }
}

/// Other processors: everything goes through caches.
#[cfg(not(target_arch = "x86_64"))]
mod ticks {
    use std::sync::atomic::{AtomicU32, Ordering};

    pub fn has_strings() -> bool {
        false
    }

    pub fn has_slow_caches() -> bool {
        false
    }

    pub fn of_load(word: &AtomicU32) -> (u32, u64) {
        (word.load(Ordering::Relaxed), 0)
    }

    pub fn of_good_loads(_of_memory: bool) -> Option<u64> {
        None
    }

    pub unsafe fn copy_by_strings(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) }
    }

    pub unsafe fn copy_past_caches(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_copies_all_bytes_and_no_other() {
        let from: Vec<u8> = (0..1000_u32).map(|at| at as u8 | 1).collect();
        for way in [Way::Caches, Way::Strings, Way::Memory] {
            for (offset, bytes) in [(0, 0), (0, 64), (3, 61), (5, 500), (64, 640), (70, 777)] {
                let mut into = vec![0; 1000];
                // SAFETY: both vectors are long enough.
                unsafe { copy(from.as_ptr(), into.as_mut_ptr().add(offset), bytes, way) };
                assert_eq!(into[offset..offset + bytes], from[..bytes]);
                let rest = into[..offset].iter().chain(&into[offset + bytes..]);
                assert!(rest.into_iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn a_peer_is_far_when_all_of_its_last_loads_were_slow() {
        let pulses = [Pulse::default(), Pulse::default()];
        let mut distances = Distances::new((0, 0), pulses.iter().map(|pulse| &raw const *pulse));
        let mut beat_and_ask = |slow| {
            distances.choice = Choice::Looks {
                slow,
                near: Way::Caches,
            };
            pulses[1].0.fetch_add(1, Ordering::Relaxed);
            for _ in 0..CALLS - 1 {
                let _ = distances.way(1, BYTES_MIN);
            }
            distances.way(1, BYTES_MIN)
        };
        for _ in 1..LOADS {
            assert_eq!(beat_and_ask(0), Way::Caches);
        }
        assert_eq!(beat_and_ask(0), Way::Memory);
        assert_eq!(beat_and_ask(u64::MAX), Way::Caches);
        for _ in 0..LOADS {
            let _ = beat_and_ask(0);
        }
        assert_eq!(distances.way_to_all(&[1], BYTES_MIN), Way::Memory);
        assert_eq!(distances.way_to_all(&[0, 1], BYTES_MIN), Way::Caches);
        assert_eq!(distances.way(1, BYTES_MIN - 1), Way::Caches);
        let near = Way::Strings;
        distances.choice = Choice::Looks { slow: 0, near };
        assert_eq!(distances.way(1, BYTES_MIN), Way::Memory);
        assert_eq!(distances.way_to_all(&[0, 1], BYTES_MIN), near);
        distances.choice = Choice::Always(Way::Strings);
        assert_eq!(distances.way(1, BYTES_MIN), Way::Strings);
        assert_eq!(distances.way(1, BYTES_MIN - 1), Way::Caches);
    }
}
