// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling program's memory, where the bytes of messages lie: in one piece, or apart.
//!
//! Bytes that lie apart are packed and unpacked where they are given to the transport or come from it,
//! a packet at a time: no second copy of a message is made, and both sides work on it at once.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::copy::copy_slice;
use crate::datatype::Type;
use crate::datatype::memory::{pack, unpack};

/// A stretch of the calling program's memory, with the promise of [`crate::Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where it begins, or the first of the elements that lie apart; anything if it has no bytes.
    address: *mut u8,
    /// How many bytes of it are of the message.
    pub(crate) bytes: usize,
    /// The datatype of elements that lie apart.
    apart: Option<NonNull<Type>>,
}

// SAFETY: as for `Buffer`: an address is a number here. Datatypes are read alone.
unsafe impl Send for Memory {}

impl Memory {
    /// No memory.
    pub const NONE: Self = Self {
        address: std::ptr::null_mut(),
        bytes: 0,
        apart: None,
    };

    /// `bytes` bytes from `address` on.
    ///
    /// # Safety
    /// They may be read, and written by a receive, until the operation that they are given to is
    /// complete.
    #[must_use]
    pub unsafe fn new(address: *mut u8, bytes: usize) -> Self {
        Self {
            address,
            bytes,
            apart: None,
        }
    }

    /// Elements of a datatype, of `bytes` bytes in all, the first of which is at `address`.
    ///
    /// # Safety
    /// As for [`Memory::new`], of every byte that the datatype describes for them; and the datatype
    /// is kept as long.
    #[must_use]
    pub unsafe fn apart(address: *mut u8, datatype: &Arc<Type>, bytes: usize) -> Self {
        Self {
            address,
            bytes,
            apart: NonNull::new(Arc::as_ptr(datatype).cast_mut()),
        }
    }

    /// Memory of the library, which keeps it until the operation is complete.
    pub(crate) fn of(bytes: &mut [u8]) -> Self {
        Self {
            address: bytes.as_mut_ptr(),
            bytes: bytes.len(),
            apart: None,
        }
    }

    /// Where bytes that lie in one piece begin.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        debug_assert!(self.apart.is_none(), "there is no one piece");
        self.address
    }

    /// The first `bytes` of them.
    pub(crate) fn prefix(self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        Self { bytes, ..self }
    }

    /// Whether its bytes do not lie in one piece.
    #[inline]
    pub(super) fn is_apart(self) -> bool {
        self.apart.is_some()
    }

    /// Where another rank can read all of it; 0 if it cannot.
    pub(super) fn readable_at(self) -> u64 {
        match self.apart {
            None => self.address as u64,
            Some(_) => 0,
        }
    }

    /// What is there, in one piece.
    ///
    /// # Safety
    /// The promise made with [`Memory::new`] still holds, and nobody writes there meanwhile.
    #[inline]
    pub(crate) unsafe fn bytes<'a>(self) -> &'a [u8] {
        debug_assert!(self.apart.is_none(), "bytes in one piece");
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.address, self.bytes) }
    }

    /// What is there in one piece, to be written.
    ///
    /// # Safety
    /// The promise made with [`Memory::new`] still holds, and nobody else uses it meanwhile.
    #[inline]
    pub(crate) unsafe fn bytes_mut<'a>(self) -> &'a mut [u8] {
        debug_assert!(self.apart.is_none(), "bytes in one piece");
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.bytes) }
    }

    /// Bytes of what lies in one piece.
    ///
    /// # Safety
    /// As for [`Memory::bytes`], of these bytes alone.
    pub(super) unsafe fn piece<'a>(self, range: Range<usize>) -> &'a [u8] {
        debug_assert!(range.end <= self.bytes, "a piece of it");
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start().add(range.start), range.len()) }
    }

    /// As above, to be written.
    ///
    /// # Safety
    /// As for [`Memory::bytes_mut`], of these bytes alone.
    pub(super) unsafe fn piece_mut<'a>(self, range: Range<usize>) -> &'a mut [u8] {
        debug_assert!(range.end <= self.bytes, "a piece of it");
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start().add(range.start), range.len()) }
    }

    /// The bytes of a range, where they lie, or packed into `scratch`.
    ///
    /// # Safety
    /// As for [`Memory::bytes`].
    #[inline(always)]
    pub(super) unsafe fn part(self, range: Range<usize>, scratch: &mut Vec<u8>) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe {
            match self.apart {
                None => &self.bytes()[range],
                // The datatype is kept as long as the memory may be used.
                Some(datatype) => self.packed(datatype.as_ref(), range, scratch),
            }
        }
    }

    /// # Safety
    /// As for [`Memory::part`].
    #[inline(never)]
    unsafe fn packed<'a>(
        self,
        datatype: &Type,
        range: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        if scratch.len() < range.len() {
            scratch.resize(range.len(), 0);
        }
        let packed = &mut scratch[..range.len()];
        let count = self.count(datatype);
        // SAFETY: the caller's promise; `scratch` is the library's own.
        let bytes = unsafe { pack(datatype, self.address, count, range.start, packed) };
        &packed[..bytes]
    }

    /// Writes bytes from the byte `offset` on, as many as there is room for.
    ///
    /// # Safety
    /// As for [`Memory::bytes_mut`]. Bytes that a rank sends to itself may lie in the same memory, which
    /// the standard forbids, and which is no reason to crash.
    #[inline(always)]
    pub(crate) unsafe fn put(self, offset: usize, bytes: &[u8]) {
        let room = self.bytes.saturating_sub(offset);
        let bytes = &bytes[..room.min(bytes.len())];
        if bytes.is_empty() {
            return;
        }
        // SAFETY: the datatype is kept as long as the memory may be used; else within the memory, by the
        // caller's promise.
        unsafe {
            if let Some(datatype) = self.apart {
                return self.scatter(datatype.as_ref(), offset, bytes);
            }
            let into = self.address.add(offset);
            if into.addr().abs_diff(bytes.as_ptr().addr()) < bytes.len() {
                std::ptr::copy(bytes.as_ptr(), into, bytes.len());
            } else {
                copy_slice(bytes, std::slice::from_raw_parts_mut(into, bytes.len()));
            }
        }
    }

    /// Unpacks bytes from the packed byte `offset` on.
    ///
    /// # Safety
    /// As for [`Memory::put`].
    #[inline(never)]
    unsafe fn scatter(self, datatype: &Type, offset: usize, bytes: &[u8]) {
        let count = self.count(datatype);
        let from = bytes.as_ptr().addr();
        // From the first to the last byte of all elements, which may follow each other downwards.
        let last = datatype.extent().saturating_mul(count as isize - 1);
        let first = self
            .address
            .addr()
            .wrapping_add_signed(datatype.true_lower());
        let low = first.saturating_add_signed(last.min(0));
        let high = first.saturating_add_signed(last.max(0).saturating_add(datatype.true_extent()));
        let is_outside = high <= from || from + bytes.len() <= low;
        let copied;
        let bytes = match is_outside {
            true => bytes,
            false => {
                copied = bytes.to_vec();
                &copied
            }
        };
        // SAFETY: the caller's promise; the bytes are in none of the elements.
        unsafe { unpack(datatype, self.address, count, offset, bytes) };
    }

    /// Elements that have all of its bytes.
    fn count(self, datatype: &Type) -> usize {
        self.bytes.div_ceil(datatype.size().max(1))
    }
}
