// SPDX-License-Identifier: MIT OR Apache-2.0
//! Private memory of a rank: buffers that live until its program ends.

use std::ops::Range;

use crate::core::LINE_BYTES;
use crate::error::{Misuse, RcceError};

/// A buffer in private memory: an address and a size. It is a name; [`crate::Rcce::bytes`] has the
/// bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    address: usize,
    bytes: usize,
}

impl Buffer {
    /// Size in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.bytes
    }

    /// Whether it has no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// Address of its first byte.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.address as u64
    }

    /// Bytes `range` of this buffer as a buffer.
    ///
    /// # Errors
    /// [`RcceError::Slice`] if they do not lie in it.
    pub const fn slice(self, range: Range<usize>) -> Result<Self, RcceError> {
        let Range { start, end } = range;
        if start > end || end > self.bytes {
            let bytes = self.bytes;
            return Err(RcceError::Slice { start, end, bytes });
        }
        Ok(Self {
            address: self.address + start,
            bytes: end - start,
        })
    }

    pub(crate) const fn range(self) -> Range<usize> {
        self.address..self.address + self.bytes
    }

    /// Whether a byte belongs to both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let (a, b) = (self.range(), other.range());
        a.start.max(b.start) < a.end.min(b.end)
    }
}

/// The memory that the buffers lie in.
#[derive(Clone, Default, Debug)]
pub(crate) struct Arena {
    data: Vec<u8>,
}

impl Arena {
    /// Allocates zeros, at the beginning of a cache line, of `max` bytes in all.
    pub(crate) fn alloc(&mut self, bytes: usize, max: u64) -> Result<Buffer, Misuse> {
        let address = self.used().next_multiple_of(LINE_BYTES);
        let end = address.checked_add(bytes);
        let end = end
            .filter(|&end| end as u64 <= max)
            .ok_or(Misuse::OutOfMemory {
                bytes,
                used: self.used(),
                max,
            })?;
        self.data.resize(end, 0);
        Ok(Buffer { address, bytes })
    }

    /// Frees what has been allocated since `used` bytes were in use.
    pub(crate) fn free_to(&mut self, used: usize) {
        self.data.truncate(used);
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.data.len()
    }

    /// The bytes of a buffer.
    pub(crate) fn get(&self, buffer: Buffer) -> Result<&[u8], Misuse> {
        let Range { start, end } = buffer.range();
        let bytes = self.data.get(start..end);
        bytes.ok_or(Misuse::ForeignBuffer { start, end })
    }

    /// As [`Arena::get`], to be changed.
    pub(crate) fn get_mut(&mut self, buffer: Buffer) -> Result<&mut [u8], Misuse> {
        let Range { start, end } = buffer.range();
        let bytes = self.data.get_mut(start..end);
        bytes.ok_or(Misuse::ForeignBuffer { start, end })
    }

    /// Writes bytes to an address where a buffer is.
    pub(crate) fn store(&mut self, address: u64, bytes: &[u8]) {
        let start = address as usize;
        self.data[start..start + bytes.len()].copy_from_slice(bytes);
    }
}
