// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that belongs to the program that calls.

use std::ops::Range;

use crate::handle::TypeId;

/// `count` elements of a datatype at an address of the calling program.
///
/// Whoever makes one promises what MPI asks of a program: the memory that the datatype describes
/// from there may be read (and written, if the call receives) until the call, or the request that
/// it made, is complete. All unsafe code of this crate that touches such memory rests on that
/// promise, which is made in the C face.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Where the first element lies; displacements count from here.
    pub address: *mut u8,
    /// Number of elements.
    pub count: usize,
    /// Their datatype.
    pub datatype: TypeId,
}

// SAFETY: an address is a number here; the promise above holds whichever thread of the program moves
// the bytes.
unsafe impl Send for Buffer {}

/// Whether two ranges of addresses have something in common.
#[inline]
pub(crate) fn meet(one: Range<usize>, two: Range<usize>) -> bool {
    one.start.max(two.start) < one.end.min(two.end)
}

/// Bytes at both ends of all addresses in which no memory lies.
const ENDS: usize = 4096;

/// Whether nothing can be at an address: it is null, or one with a meaning, like `MPI_IN_PLACE`,
/// which lie at both ends.
#[inline]
pub(crate) fn is_nowhere(address: *const u8) -> bool {
    address.addr().wrapping_add(ENDS) < 2 * ENDS
}
