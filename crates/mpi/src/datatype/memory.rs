// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packing and unpacking: the bytes of elements in a program's memory, one after another.
//!
//! The one place where this crate follows a datatype into memory. A message can travel in pieces:
//! both functions begin at any byte of the packed sequence.

use super::Type;
use super::layout::{Layout, Part, Segment};

/// Copies packed bytes of `count` elements at `base`, from the byte `skip` on, into `out`, as many
/// as there are and have room. Returns how many.
///
/// # Safety
/// Every byte that the datatype describes for `count` elements from `base` on may be read.
#[inline]
#[must_use]
pub unsafe fn pack(ty: &Type, base: *const u8, count: usize, skip: usize, out: &mut [u8]) -> usize {
    let walk = Walk::<true> {
        stream: out.as_mut_ptr(),
        room: out.len(),
    };
    // SAFETY: `out` is writable in its whole length and belongs to nobody else; the caller vouches
    // for the memory at `base`, which is only read in this direction.
    unsafe { walk.elements(ty, base.cast_mut(), count, skip) }
}

/// Copies packed bytes, the first of which is the byte `skip` of the packed sequence, to where they
/// belong in `count` elements at `base`, as many as there are. Returns how many.
///
/// # Safety
/// Every byte that the datatype describes for `count` elements from `base` on may be written, and
/// none of them is in `bytes`.
#[inline]
pub unsafe fn unpack(ty: &Type, base: *mut u8, count: usize, skip: usize, bytes: &[u8]) -> usize {
    let walk = Walk::<false> {
        stream: bytes.as_ptr().cast_mut(),
        room: bytes.len(),
    };
    // SAFETY: `bytes` is readable in its whole length and only read in this direction; the caller
    // vouches for the memory at `base`.
    unsafe { walk.elements(ty, base, count, skip) }
}

/// A walk over memory: `PACKS` says whether it copies from memory to the stream or back.
#[derive(Clone, Copy)]
struct Walk<const PACKS: bool> {
    stream: *mut u8,
    room: usize,
}

/// Blocks of memory at equal distances.
#[derive(Clone, Copy)]
struct Blocks {
    at: *mut u8,
    bytes: usize,
    count: usize,
    stride: isize,
}

impl<const PACKS: bool> Walk<PACKS> {
    /// The walk after `done` bytes.
    ///
    /// # Safety
    /// `done` is at most `room`.
    #[inline]
    unsafe fn after(self, done: usize) -> Self {
        Self {
            // SAFETY: at most one past the end of the stream, by this function's contract.
            stream: unsafe { self.stream.add(done) },
            room: self.room - done,
        }
    }

    /// Copies `bytes` bytes of memory.
    ///
    /// # Safety
    /// They are described by the datatype, and `room` has space for them.
    #[inline]
    unsafe fn copy(self, memory: *mut u8, bytes: usize) {
        // SAFETY: both sides are valid for `bytes` by this function's contract; a stream of the
        // library never overlaps memory that a datatype describes (contract of `pack`, `unpack`).
        unsafe {
            if PACKS {
                self.stream.copy_from_nonoverlapping(memory, bytes);
            } else {
                memory.copy_from_nonoverlapping(self.stream, bytes);
            }
        }
    }

    /// `count` elements of a datatype; returns how many bytes were copied.
    ///
    /// # Safety
    /// As for [`pack`] or [`unpack`]; `stream` is valid for `room` bytes.
    #[inline]
    unsafe fn elements(self, ty: &Type, base: *mut u8, count: usize, skip: usize) -> usize {
        if let Some(segment) = ty.layout().single() {
            let is_dense = ty.extent() == segment.bytes as isize;
            let (bytes, count) = match is_dense {
                true => (segment.bytes.saturating_mul(count), usize::from(count > 0)),
                false => (segment.bytes, count),
            };
            let blocks = Blocks {
                at: base.wrapping_offset(segment.at),
                bytes,
                count,
                stride: ty.extent(),
            };
            // SAFETY: these are the bytes that the datatype describes: one block an element, which
            // follow on another if the extent is the size of the block.
            return unsafe { self.blocks(blocks, skip) };
        }
        // SAFETY: elements are an extent apart, by the meaning of the word.
        unsafe { self.repeat(ty.layout(), base, count, ty.extent(), skip) }
    }

    /// The same layout again and again.
    ///
    /// # Safety
    /// As for [`Walk::elements`].
    unsafe fn repeat(
        self,
        inner: &Layout,
        base: *mut u8,
        count: usize,
        stride: isize,
        skip: usize,
    ) -> usize {
        let each = inner.size();
        if each == 0 {
            return 0;
        }
        let (mut index, mut skip) = (skip / each, skip % each);
        let mut done = 0;
        if let (Layout::Segments { list, .. }, 0) = (inner, skip) {
            let whole = (self.room / each).min(count.saturating_sub(index));
            let at = |index: usize| base.wrapping_offset((index as isize).wrapping_mul(stride));
            for index in index..index + whole {
                // SAFETY: every segment of a whole repetition, for all of which there is room.
                unsafe { self.after(done).segments(list, at(index)) };
                done += each;
            }
            index += whole;
        }
        while index < count && done < self.room {
            let at = base.wrapping_offset((index as isize).wrapping_mul(stride));
            // SAFETY: the repetition at `index` is one that the datatype describes; `done` is less
            // than `room`.
            done += unsafe { self.after(done).layout(inner, at, skip) };
            (index, skip) = (index + 1, 0);
        }
        done
    }

    /// A layout at `base`, from its packed byte `skip` on.
    ///
    /// # Safety
    /// As for [`Walk::elements`].
    unsafe fn layout(self, layout: &Layout, base: *mut u8, skip: usize) -> usize {
        match layout {
            Layout::Nothing => 0,
            Layout::Blocks {
                at,
                bytes,
                count,
                stride,
            } => {
                let blocks = Blocks {
                    at: base.wrapping_offset(*at),
                    bytes: *bytes,
                    count: *count,
                    stride: *stride,
                };
                // SAFETY: the blocks of the layout.
                unsafe { self.blocks(blocks, skip) }
            }
            Layout::Segments { list, .. } => {
                let first = list.partition_point(|segment| segment.before + segment.bytes <= skip);
                let mut done = 0;
                let mut skip = match list.get(first) {
                    Some(segment) => skip - segment.before,
                    None => return 0,
                };
                for segment in &list[first..] {
                    let bytes = (segment.bytes - skip).min(self.room - done);
                    let at = base.wrapping_offset(segment.at).wrapping_add(skip);
                    // SAFETY: within a segment of the layout, and within `room`.
                    unsafe { self.after(done).copy_short(at, bytes) };
                    done += bytes;
                    skip = 0;
                    if done == self.room {
                        break;
                    }
                }
                done
            }
            Layout::Repeat {
                count,
                stride,
                inner,
            } => {
                // SAFETY: the repetitions of the layout.
                unsafe { self.repeat(inner, base, *count, *stride, skip) }
            }
            Layout::Parts { list, .. } => {
                let ends = |part: &Part| part.before + part.layout.size();
                let first = list.partition_point(|part| ends(part) <= skip);
                let mut done = 0;
                let mut skip = match list.get(first) {
                    Some(part) => skip - part.before,
                    None => return 0,
                };
                for part in &list[first..] {
                    let at = base.wrapping_offset(part.at);
                    // SAFETY: a part of the layout; `done` is at most `room`.
                    done += unsafe { self.after(done).layout(&part.layout, at, skip) };
                    skip = 0;
                    if done == self.room {
                        break;
                    }
                }
                done
            }
        }
    }

    /// All segments of a list.
    ///
    /// # Safety
    /// All of them are described by the datatype, and `room` has space for all.
    #[inline]
    unsafe fn segments(self, list: &[Segment], base: *mut u8) {
        for segment in list {
            let at = base.wrapping_offset(segment.at);
            // SAFETY: a segment of the list, within `room` where its turn in the list puts it.
            unsafe { self.after(segment.before).copy_short(at, segment.bytes) };
        }
    }

    /// Copies with a fixed length where it is a usual one, which spares a call.
    ///
    /// # Safety
    /// As for [`Walk::copy`].
    #[inline]
    unsafe fn copy_short(self, memory: *mut u8, bytes: usize) {
        // SAFETY: the same bytes in each case.
        unsafe {
            match bytes {
                4 => self.copy(memory, 4),
                8 => self.copy(memory, 8),
                16 => self.copy(memory, 16),
                _ => self.copy(memory, bytes),
            }
        }
    }

    /// Blocks, from their packed byte `skip` on.
    ///
    /// # Safety
    /// As for [`Walk::elements`].
    #[inline]
    unsafe fn blocks(self, blocks: Blocks, skip: usize) -> usize {
        let Blocks { bytes, count, .. } = blocks;
        let (index, within) = match count {
            1 if skip < bytes => (0, skip),
            _ if bytes == 0 => return 0,
            _ => (skip / bytes, skip % bytes),
        };
        if index >= count {
            return 0;
        }
        let place = |index: usize| {
            let by = (index as isize).wrapping_mul(blocks.stride);
            blocks.at.wrapping_offset(by)
        };
        // 1. The rest of the block in which it begins.
        let head = (bytes - within).min(self.room);
        // SAFETY: within block `index`, and within `room`.
        unsafe { self.copy(place(index).wrapping_add(within), head) };
        if head == self.room || index + 1 == count {
            return head;
        }
        // 2. Whole blocks.
        let index = index + 1;
        let whole = ((self.room - head) / bytes).min(count - index);
        let middle = Blocks {
            at: place(index),
            count: whole,
            ..blocks
        };
        // SAFETY: `whole` blocks from `index` on exist and have room after `head`.
        unsafe { self.after(head).whole(middle) };
        let done = head + whole * bytes;
        // 3. The beginning of one more.
        let index = index + whole;
        if index == count {
            return done;
        }
        let tail = self.room - done;
        // SAFETY: less than a block is left of `room`, and block `index` exists.
        unsafe { self.after(done).copy(place(index), tail) };
        done + tail
    }

    /// Whole blocks.
    ///
    /// # Safety
    /// All of them are described by the datatype, and `room` has space for all.
    #[inline]
    unsafe fn whole(self, blocks: Blocks) {
        // SAFETY: the same blocks in each case; a length known to the compiler spares a call each.
        unsafe {
            match blocks.bytes {
                1 => self.each_of::<1>(blocks),
                2 => self.each_of::<2>(blocks),
                4 => self.each_of::<4>(blocks),
                8 => self.each_of::<8>(blocks),
                12 => self.each_of::<12>(blocks),
                16 => self.each_of::<16>(blocks),
                24 => self.each_of::<24>(blocks),
                32 => self.each_of::<32>(blocks),
                48 => self.each_of::<48>(blocks),
                64 => self.each_of::<64>(blocks),
                128 => self.each_of::<128>(blocks),
                _ => self.each_of::<0>(blocks),
            }
        }
    }

    /// Whole blocks of `BYTES` bytes each, or of their own length if that is 0.
    ///
    /// # Safety
    /// As for [`Walk::whole`].
    #[inline]
    unsafe fn each_of<const BYTES: usize>(self, blocks: Blocks) {
        let bytes = if BYTES == 0 { blocks.bytes } else { BYTES };
        let mut at = blocks.at;
        let mut walk = self;
        for _ in 0..blocks.count {
            // SAFETY: block after block, each within `room`, by this function's contract.
            unsafe {
                walk.copy(at, bytes);
                walk = walk.after(bytes);
            }
            at = at.wrapping_offset(blocks.stride);
        }
    }
}
