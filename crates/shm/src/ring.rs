// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of packets from one rank to another: one writes, one reads, nobody locks.
//!
//! A packet is a slot of two cache lines: a stamp, the length, the head, and up to
//! [`INLINE_BYTES`] bytes of the body; the first 40 of them lie in the stamp's own line, so that a small packet moves as one line. Longer bodies lie in the ring's pool, where they
//! follow one another, and the slot says where.
//!
//! The writer fills the slot and then sets its stamp to the packet's number plus one (release); the
//! reader waits for that stamp (acquire), so it sees all that was written before. Slots have a fixed
//! size: no byte of a body can lie where a stamp is expected. What the reader has taken it publishes
//! in a line of its own, which the writer looks at only when it finds no room.

#[cfg(not(loom))]
use corecast_mpi::hint;

#[cfg(not(loom))]
use crate::distance::{self, Way};
#[cfg(not(loom))]
use crate::map::Map;
use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// Under loom there is but one.
#[cfg(loom)]
#[derive(Clone, Copy)]
pub struct Way;

/// The words before a body; as those of the transport.
pub type Head = (u64, u64);

/// A window of 64 messages, as programs like to send them, finds room beside packets that were taken and not
/// yet published as such.
const SLOTS: u32 = if cfg!(loom) { 2 } else { 128 };
/// So many packets before it is written a slot is claimed: packets that follow one another at once would
/// each wait for their line. The reader looks at the next slot alone, and does not take this one back.
const CLAIMED_AHEAD: u32 = 8;
const SLOT_BYTES: usize = 128;
/// Slots, in bytes.
pub const SLOTS_BYTES: usize = SLOTS as usize * SLOT_BYTES;
/// Bytes of [`Control`]: as the alignment of a slot, because slots lie behind it.
pub const CONTROL_BYTES: usize = 128;
pub const INLINE_BYTES: usize = SLOT_BYTES - 24;
/// The reader publishes what it has taken after so many packets: less than half of the slots, so
/// that a writer that waits for room is sure to see it.
const PUBLISH: u32 = if cfg!(loom) { 1 } else { 16 };
const LINE_BYTES: usize = 64;

/// Bytes of a ring's pool.
///
/// A pool is written over and over. String instructions do not fetch what they write ([`distance`]), so
/// what matters is that all pools in use stay in the caches: with 4 ranks on 2 cores an exchange of 64 KiB
/// with four neighbours took 45 us in pools of 4 MiB, 30 of 1 MiB, 26 of 512 KiB (2026-11-27, AMD EPYC);
/// two ranks pass windows of 4 KiB on a fifth to a third faster in 2 and 4 MiB than in 1. Only pages that were used
/// take memory; where there are many rings, all of them together take `pools_bytes` at most.
pub const fn pool_bytes(ranks: u32, pools_bytes: usize) -> usize {
    let rings = ranks as usize * ranks as usize;
    let cached = max(CACHED_BYTES / rings, CACHED_MIN);
    let bytes = if cached < pools_bytes / rings {
        cached
    } else {
        pools_bytes / rings
    };
    let bytes = if bytes > POOL_MAX { POOL_MAX } else { bytes };
    1 << max(bytes, POOL_MIN).ilog2()
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// What all pools together should have, where each has at least [`CACHED_MIN`].
const CACHED_BYTES: usize = 8 << 20;
/// Room for sixteen packets of an eager message's length.
const CACHED_MIN: usize = 256 << 10;
const POOL_MIN: usize = 32 << 10;
/// Short bodies stay among so many first bytes of a pool as long as their reader keeps up: those are in the
/// nearest caches of both, and a message of 4 KiB to and fro took 0.23 us instead of 0.25 to 0.31 (2026-11-30,
/// AMD EPYC, family 26). Not where caches give slowly what they have ([`distance::has_slow_caches`]).
const WARM: u64 = if cfg!(loom) {
    3 * LINE_BYTES as u64
} else {
    32 << 10
};
/// The longest of them: whether its reader has kept up a writer finds out once in `WARM` bytes.
const WARM_BODY_MAX: u64 = if cfg!(loom) {
    2 * LINE_BYTES as u64
} else {
    8 << 10
};
const POOL_MAX: usize = 2 << 20;

/// Longest body of a packet: writer and reader work at once on a message of several.
pub const fn packet_max(pool_bytes: usize) -> usize {
    let most = pool_bytes / 16;
    if most > 64 << 10 { 64 << 10 } else { most }
}

#[repr(C, align(128))]
struct Slot {
    stamp: AtomicU32,
    filled: UnsafeCell<Filled>,
}

/// What the stamp publishes. Packed, so that it begins right behind the stamp.
#[repr(C, packed(4))]
struct Filled {
    len: u32,
    head: [u64; 2],
    body: [u8; INLINE_BYTES],
}

type Line = UnsafeCell<[u8; LINE_BYTES]>;

/// What the reader has taken, in packets and in bytes of the pool.
#[repr(C, align(128))]
struct Control {
    slots: AtomicU32,
    pool: AtomicU64,
}

/// Addresses of a ring's parts.
#[derive(Clone, Copy)]
struct Parts {
    control: *const Control,
    slots: *const Slot,
    pool: *const Line,
    pool_bytes: u64,
    #[cfg(not(loom))]
    is_prepared: bool,
}

impl Parts {
    #[cfg(not(loom))]
    fn at(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        let slots = offset + CONTROL_BYTES;
        Self {
            control: map.address(offset, CONTROL_BYTES).cast(),
            slots: map.address(slots, SLOTS_BYTES).cast(),
            pool: map.address(slots + SLOTS_BYTES, pool_bytes).cast(),
            pool_bytes: pool_bytes as u64,
            is_prepared: false,
        }
    }

    fn slot(&self, number: u32) -> &Slot {
        // SAFETY: the index is below the number of slots; the ring lies in a mapping that its owner
        // (`Port`) keeps, and holds atomics and cells only.
        unsafe { &*self.slots.add((number % SLOTS) as usize) }
    }

    fn control(&self) -> &Control {
        // SAFETY: as above.
        unsafe { &*self.control }
    }

    fn line(&self, position: u64) -> &Line {
        let line = (position % self.pool_bytes) as usize / LINE_BYTES;
        // SAFETY: as above; the remainder is less than the pool's size.
        unsafe { &*self.pool.add(line) }
    }

    /// Gives the pool its pages, so that the messages that use it for the first time do not wait for them.
    #[cfg(not(loom))]
    fn prepare(&mut self) {
        const PAGE: usize = 4096;
        if std::mem::replace(&mut self.is_prepared, true) {
            return;
        }
        let start = self.pool.addr().next_multiple_of(PAGE) - self.pool.addr();
        let bytes = (self.pool_bytes as usize).saturating_sub(start);
        let from: *mut libc::c_void = self.pool.wrapping_byte_add(start).cast_mut().cast();
        // SAFETY: the pool lies in a mapping; nothing is changed there. Where the system does not know the
        // call nothing is lost.
        unsafe { libc::madvise(from, bytes / PAGE * PAGE, libc::MADV_POPULATE_WRITE) };
    }

    /// Copies a body into the pool, one part behind the other.
    ///
    /// # Safety
    /// There is room for it in one piece, which nobody reads or writes meanwhile.
    #[cfg(not(loom))]
    #[inline]
    unsafe fn write<const N: usize>(&self, position: u64, parts: [&[u8]; N], way: Way) {
        let mut into: *mut u8 = self.line(position).with_mut(|line| line.cast());
        for part in parts {
            let way = distance::way_of(part.len(), way);
            // SAFETY: the caller's promise.
            unsafe {
                distance::copy(part.as_ptr(), into, part.len(), way);
                into = into.add(part.len());
            }
        }
    }

    /// Hands a body in the pool over.
    ///
    /// # Safety
    /// It lies there in one piece, which nobody writes meanwhile.
    #[cfg(not(loom))]
    unsafe fn read(&self, position: u64, len: usize, take: impl FnOnce(&[u8])) {
        let from = self.line(position).with(|line| line.cast());
        // SAFETY: the caller's promise.
        take(unsafe { std::slice::from_raw_parts(from, len) });
    }

    /// As above, line by line, so that every access is seen.
    #[cfg(loom)]
    unsafe fn write<const N: usize>(&self, position: u64, parts: [&[u8]; N], _way: Way) {
        let body = parts.concat();
        for (at, part) in (0..).step_by(LINE_BYTES).zip(body.chunks(LINE_BYTES)) {
            self.line(position + at).with_mut(|line| {
                // SAFETY: a part is at most a line, and cells are exclusive here.
                unsafe {
                    line.cast::<u8>()
                        .copy_from_nonoverlapping(part.as_ptr(), part.len())
                };
            });
        }
    }

    #[cfg(loom)]
    unsafe fn read(&self, position: u64, len: usize, take: impl FnOnce(&[u8])) {
        let mut body = Vec::new();
        for at in (0..len).step_by(LINE_BYTES) {
            self.line(position + at as u64).with(|line| {
                // SAFETY: nobody writes the cell meanwhile.
                body.extend_from_slice(unsafe { &(&*line)[..LINE_BYTES.min(len - at)] });
            });
        }
        take(&body);
    }
}

/// The end of a ring that writes.
pub struct Sender {
    parts: Parts,
    next: u32,
    taken: u32,
    pool_next: u64,
    pool_taken: u64,
    /// [`WARM`], or more than there is.
    warm: u64,
}

/// The end of a ring that reads.
pub struct Receiver {
    parts: Parts,
    next: u32,
    published: u32,
    pool_taken: u64,
}

// SAFETY: both hold addresses in a mapping that is shared anyway; each end has one owner.
unsafe impl Send for Sender {}
// SAFETY: as above.
unsafe impl Send for Receiver {}

impl Sender {
    /// The writing end of the ring at an offset of a map, which must outlive it. There may be one.
    #[cfg(not(loom))]
    pub fn new(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        let warm = match distance::has_slow_caches() {
            true => u64::MAX,
            false => WARM,
        };
        Self::of(Parts::at(map, offset, pool_bytes), warm)
    }

    fn of(parts: Parts, warm: u64) -> Self {
        Self {
            parts,
            next: 0,
            taken: 0,
            pool_next: 0,
            pool_taken: 0,
            warm,
        }
    }

    /// Gets ready for many bytes.
    #[cfg(not(loom))]
    pub fn prepare(&mut self) {
        self.parts.prepare();
    }

    /// Writes a packet, a long body in this way; `false` if there is no room.
    #[inline]
    pub fn push(&mut self, head: Head, body: &[u8], way: Way) -> bool {
        self.push_parts(head, [body], way)
    }

    /// The same of a body in parts, which follow one another.
    #[inline(always)]
    pub fn push_parts<const N: usize>(&mut self, head: Head, parts: [&[u8]; N], way: Way) -> bool {
        if self.next.wrapping_sub(self.taken) >= SLOTS {
            self.taken = self.parts.control().slots.load(Ordering::Acquire);
            if self.next.wrapping_sub(self.taken) >= SLOTS {
                return false;
            }
        }
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        let position = if len <= INLINE_BYTES {
            None
        } else {
            let Some(position) = self.put(parts, len, way) else {
                return false;
            };
            Some(position.to_le_bytes())
        };
        let slot = self.parts.slot(self.next);
        slot.filled.with_mut(|filled| {
            // SAFETY: the slot is free: its last packet was taken, which `taken` (acquire) says; only
            // this end writes slots. What is written fits.
            unsafe {
                let mut into: *mut u8 = (&raw mut (*filled).body).cast();
                match &position {
                    Some(position) => into.copy_from_nonoverlapping(position.as_ptr(), 8),
                    None => {
                        for part in parts {
                            into.copy_from_nonoverlapping(part.as_ptr(), part.len());
                            into = into.add(part.len());
                        }
                    }
                }
                (&raw mut (*filled).len).write_unaligned(len as u32);
                (&raw mut (*filled).head).write_unaligned([head.0, head.1]);
            }
        });
        self.next = self.next.wrapping_add(1);
        // The store comes after all that is read here of this end: ThreadSanitizer sees no other order between
        // that and whoever drops the end, in another thread.
        #[cfg(not(loom))]
        let ahead = self.parts.slot(self.next.wrapping_add(CLAIMED_AHEAD));
        slot.stamp.store(self.next, Ordering::Release);
        #[cfg(not(loom))]
        hint::claim(ahead);
        true
    }

    /// Writes a body into the pool, in one piece; its position, or `None` if there is no room.
    #[inline]
    fn put<const N: usize>(&mut self, parts: [&[u8]; N], len: usize, way: Way) -> Option<u64> {
        let (size, bytes) = (self.parts.pool_bytes, padded(len));
        let at = self.pool_next % size;
        if bytes <= WARM_BODY_MAX && at / self.warm != (at + bytes) / self.warm {
            self.see_taken();
            if self.pool_taken == self.pool_next {
                self.pool_next += size - at;
                self.pool_taken = self.pool_next;
            }
        }
        let rest = size - self.pool_next % size;
        let position = self.pool_next + if bytes <= rest { 0 } else { rest };
        if position + bytes - self.pool_taken > size {
            self.see_taken();
            if position + bytes - self.pool_taken > size {
                return None;
            }
        }
        // SAFETY: these bytes of the pool are free: what lay there was taken, which `pool_taken`
        // (acquire) says; only this end writes the pool; they end before the pool does.
        unsafe { self.parts.write(position, parts, way) };
        self.pool_next = position + bytes;
        Some(position)
    }

    /// Looks how much of the pool was taken. What was left out in front of its end the reader does not know of
    /// before it has taken what came after.
    fn see_taken(&mut self) {
        let taken = self.parts.control().pool.load(Ordering::Acquire);
        self.pool_taken = self.pool_taken.max(taken);
    }
}

impl Receiver {
    /// The reading end of the ring at an offset of a map, which must outlive it. There may be one.
    #[cfg(not(loom))]
    pub fn new(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        Self::of(Parts::at(map, offset, pool_bytes))
    }

    fn of(parts: Parts) -> Self {
        Self {
            parts,
            next: 0,
            published: 0,
            pool_taken: 0,
        }
    }

    /// Gets ready for many bytes.
    #[cfg(not(loom))]
    pub fn prepare(&mut self) {
        self.parts.prepare();
    }

    /// Whether a packet has come.
    #[inline]
    pub fn has_packet(&self) -> bool {
        let stamp = &self.parts.slot(self.next).stamp;
        stamp.load(Ordering::Acquire) == self.next.wrapping_add(1)
    }

    /// Hands the next packet over, if it has come.
    #[inline]
    pub fn pop(&mut self, take: impl FnOnce(Head, &[u8])) -> bool {
        if !self.has_packet() {
            return false;
        }
        let filled = &self.parts.slot(self.next).filled;
        let longest = self.parts.pool_bytes as usize;
        let long = filled.with(|filled| {
            // SAFETY: the stamp (acquire) says that the writer has filled this slot; it does not touch
            // it again before the packet is published as taken, which is after `take` has returned.
            let (len, head, body) = unsafe {
                let len = (&raw const (*filled).len).read_unaligned() as usize;
                let [first, second] = (&raw const (*filled).head).read_unaligned();
                (len.min(longest), (first, second), &(*filled).body)
            };
            match body.get(..len) {
                Some(body) => {
                    take(head, body);
                    None
                }
                None => {
                    let position = body.first_chunk().expect("eight bytes of many");
                    Some((u64::from_le_bytes(*position), len, head, take))
                }
            }
        });
        if let Some((position, len, head, take)) = long {
            // SAFETY: as above; a long packet has its position in its slot.
            unsafe { self.parts.read(position, len, |body| take(head, body)) };
            self.pool_taken = position + padded(len);
            let taken = &self.parts.control().pool;
            taken.store(self.pool_taken, Ordering::Release);
        }
        self.next = self.next.wrapping_add(1);
        if self.next.wrapping_sub(self.published) >= PUBLISH {
            self.publish();
        }
        true
    }

    fn publish(&mut self) {
        self.published = self.next;
        self.parts
            .control()
            .slots
            .store(self.next, Ordering::Release);
    }
}

const fn padded(len: usize) -> u64 {
    (len as u64).next_multiple_of(64)
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == SLOT_BYTES && size_of::<Control>() == CONTROL_BYTES);

/// Every order in which a writer and a reader can run, with two slots and a pool of six lines.
#[cfg(test)]
#[cfg(loom)]
mod models {
    use super::*;

    const POOL_LINES: usize = 6;

    fn ring() -> (Sender, Receiver) {
        let slot = |_| Slot {
            stamp: AtomicU32::new(0),
            filled: UnsafeCell::new(Filled {
                len: 0,
                head: [0; 2],
                body: [0; INLINE_BYTES],
            }),
        };
        let control = Control {
            slots: AtomicU32::new(0),
            pool: AtomicU64::new(0),
        };
        // Both ends look into it until the last thread of the model has ended.
        let slots: Vec<Slot> = (0..SLOTS).map(slot).collect();
        let pool: Vec<Line> = (0..POOL_LINES).map(|_| Line::new([0; 64])).collect();
        let parts = Parts {
            control: Box::leak(Box::new(control)),
            slots: slots.leak().as_ptr(),
            pool: pool.leak().as_ptr(),
            pool_bytes: (POOL_LINES * LINE_BYTES) as u64,
        };
        (Sender::of(parts, WARM), Receiver::of(parts))
    }

    /// Packets of these lengths arrive in order with their bytes.
    fn arrives(lengths: &'static [usize]) {
        loom::model(move || {
            let (mut sender, mut receiver) = ring();
            let writer = loom::thread::spawn(move || {
                for (number, &len) in (1_u8..).zip(lengths) {
                    let body = vec![number; len];
                    while !sender.push((u64::from(number), 0), &body, Way) {
                        loom::thread::yield_now();
                    }
                }
            });
            for (number, &len) in (1_u8..).zip(lengths) {
                let take = |head: Head, body: &[u8]| {
                    assert_eq!(head.0, u64::from(number));
                    assert!(body.len() == len && body.iter().all(|&byte| byte == number));
                };
                while !receiver.pop(take) {
                    loom::thread::yield_now();
                }
            }
            writer.join().expect("no panic");
        });
    }

    #[test]
    fn short_packets_go_round() {
        arrives(&[8, 0, 100]);
    }

    #[test]
    fn long_packets_share_the_pool() {
        arrives(&[120, 120, 180]);
    }

    #[test]
    fn short_and_long_packets_mix() {
        arrives(&[150, 8, 150]);
    }

    /// The second of them begins where the first did if that was taken.
    #[test]
    fn long_packets_stay_among_warm_lines() {
        arrives(&[120, 110, 120]);
    }
}
