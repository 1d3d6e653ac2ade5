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

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use corecast_mpi::transport::Head;

use crate::map::Map;

const SLOTS: u32 = 64;
const SLOT_BYTES: usize = 128;
/// Slots, in bytes.
pub const SLOTS_BYTES: usize = SLOTS as usize * SLOT_BYTES;
/// Bytes of [`Control`].
pub const CONTROL_BYTES: usize = 64;
const INLINE_BYTES: usize = SLOT_BYTES - 24;
/// The reader publishes what it has taken after so many packets: less than half of the slots, so
/// that a writer that waits for room is sure to see it.
const PUBLISH: u32 = 16;

/// Bytes of a ring's pool: small where there are very many rings.
pub const fn pool_bytes(ranks: u32) -> usize {
    if ranks <= 64 { 256 << 10 } else { 32 << 10 }
}

/// Longest body of a packet: a sixteenth of the pool, so that writer and reader work at once.
pub const fn packet_max(ranks: u32) -> usize {
    pool_bytes(ranks) / 16
}

#[repr(C, align(128))]
struct Slot {
    stamp: AtomicU32,
    len: u32,
    head: Head,
    body: [u8; INLINE_BYTES],
}

/// What the reader has taken, in packets and in bytes of the pool.
#[repr(C, align(64))]
struct Control {
    slots: AtomicU32,
    pool: AtomicU64,
}

/// Addresses of a ring's parts.
#[derive(Clone, Copy)]
struct Parts {
    control: *const Control,
    slots: *mut Slot,
    pool: *mut u8,
    pool_bytes: u64,
}

impl Parts {
    fn at(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        let slots = offset + CONTROL_BYTES;
        Self {
            control: map.address(offset, CONTROL_BYTES).cast(),
            slots: map.address(slots, SLOTS_BYTES).cast(),
            pool: map.address(slots + SLOTS_BYTES, pool_bytes),
            pool_bytes: pool_bytes as u64,
        }
    }

    fn slot(&self, number: u32) -> *mut Slot {
        // SAFETY: the index is below the number of slots.
        unsafe { self.slots.add((number % SLOTS) as usize) }
    }

    fn control(&self) -> &Control {
        // SAFETY: the ring lies in a mapping that its owner (`Port`) keeps, and holds atomics only.
        unsafe { &*self.control }
    }

    fn pool_at(&self, position: u64) -> *mut u8 {
        // SAFETY: the remainder is less than the pool's size.
        unsafe { self.pool.add((position % self.pool_bytes) as usize) }
    }
}

/// The end of a ring that writes.
pub struct Sender {
    parts: Parts,
    next: u32,
    taken: u32,
    pool_next: u64,
    pool_taken: u64,
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
    pub fn new(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        Self {
            parts: Parts::at(map, offset, pool_bytes),
            next: 0,
            taken: 0,
            pool_next: 0,
            pool_taken: 0,
        }
    }

    /// Writes a packet; `false` if there is no room.
    #[inline]
    pub fn push(&mut self, head: Head, body: &[u8]) -> bool {
        if self.next.wrapping_sub(self.taken) >= SLOTS {
            self.taken = self.parts.control().slots.load(Ordering::Acquire);
            if self.next.wrapping_sub(self.taken) >= SLOTS {
                return false;
            }
        }
        let slot = self.parts.slot(self.next);
        if body.len() <= INLINE_BYTES {
            // SAFETY: the slot is free: its last packet was taken, which `taken` (acquire) says; only
            // this end writes slots. The body fits.
            unsafe {
                let into = &raw mut (*slot).body;
                ptr::copy_nonoverlapping(body.as_ptr(), into.cast(), body.len());
            }
        } else {
            let Some(position) = self.put(body) else {
                return false;
            };
            // SAFETY: as above; the position takes eight bytes.
            unsafe {
                let into = &raw mut (*slot).body;
                into.cast::<u64>().write_unaligned(position);
            }
        }
        self.next = self.next.wrapping_add(1);
        // SAFETY: as above; the stamp comes last and publishes the rest.
        unsafe {
            (&raw mut (*slot).len).write(body.len() as u32);
            (&raw mut (*slot).head).write(head);
            (*slot).stamp.store(self.next, Ordering::Release);
        }
        true
    }

    /// Writes a body into the pool, in one piece; its position, or `None` if there is no room.
    fn put(&mut self, body: &[u8]) -> Option<u64> {
        let (size, bytes) = (self.parts.pool_bytes, padded(body.len()));
        let rest = size - self.pool_next % size;
        let position = self.pool_next + if bytes <= rest { 0 } else { rest };
        if position + bytes - self.pool_taken > size {
            self.pool_taken = self.parts.control().pool.load(Ordering::Acquire);
            if position + bytes - self.pool_taken > size {
                return None;
            }
        }
        // SAFETY: these bytes of the pool are free: what lay there was taken, which `pool_taken`
        // (acquire) says; only this end writes the pool; they end before the pool does.
        unsafe {
            ptr::copy_nonoverlapping(body.as_ptr(), self.parts.pool_at(position), body.len());
        }
        self.pool_next = position + bytes;
        Some(position)
    }
}

impl Receiver {
    /// The reading end of the ring at an offset of a map, which must outlive it. There may be one.
    pub fn new(map: &Map, offset: usize, pool_bytes: usize) -> Self {
        Self {
            parts: Parts::at(map, offset, pool_bytes),
            next: 0,
            published: 0,
            pool_taken: 0,
        }
    }

    /// Whether a packet has come.
    #[inline]
    pub fn has_packet(&self) -> bool {
        let slot = self.parts.slot(self.next);
        // SAFETY: the stamp is an atomic in the mapping.
        let stamp = unsafe { &(*slot).stamp }.load(Ordering::Acquire);
        stamp == self.next.wrapping_add(1)
    }

    /// Hands the next packet over, if it has come.
    #[inline]
    pub fn pop(&mut self, take: impl FnOnce(Head, &[u8])) -> bool {
        if !self.has_packet() {
            return false;
        }
        let slot = self.parts.slot(self.next);
        // SAFETY: the stamp (acquire) says that the writer has filled this slot; it does not touch it
        // again before the packet is published as taken, which is after `take` has returned.
        let (len, head) = unsafe {
            (
                (&raw const (*slot).len).read(),
                (&raw const (*slot).head).read(),
            )
        };
        let len = (len as usize).min(self.parts.pool_bytes as usize);
        if len <= INLINE_BYTES {
            // SAFETY: as above.
            take(head, unsafe {
                std::slice::from_raw_parts((&raw const (*slot).body).cast(), len)
            });
        } else {
            self.pop_long(slot, len, |body| take(head, body));
        }
        self.next = self.next.wrapping_add(1);
        if self.next.wrapping_sub(self.published) >= PUBLISH {
            self.publish();
        }
        true
    }

    fn pop_long(&mut self, slot: *const Slot, len: usize, take: impl FnOnce(&[u8])) {
        // SAFETY: as in `pop`; a long packet has its position there. It ends before the pool does.
        let body = unsafe {
            let position = (&raw const (*slot).body).cast::<u64>().read_unaligned();
            self.pool_taken = position + padded(len);
            std::slice::from_raw_parts(self.parts.pool_at(position), len)
        };
        take(body);
        self.parts
            .control()
            .pool
            .store(self.pool_taken, Ordering::Release);
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

const _: () = assert!(size_of::<Slot>() == SLOT_BYTES);
const _: () = assert!(size_of::<Control>() == CONTROL_BYTES);
