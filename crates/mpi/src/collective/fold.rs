// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contributions of many ranks become one, in the order of ranks.

use super::lane::Short;
use super::run::Combine;
use crate::copy::copy;

/// Bytes that are combined for all ranks before the next ones are.
const FOLD_BYTES: usize = 8 << 10;

/// Combines contributions of `bytes` bytes, from that of rank `last` down to that of rank 0, into a
/// place that may be where this rank's own contribution lies; some elements of all ranks after the
/// other, so that results stay in the first-level cache until they are complete.
///
/// # Safety
/// `of` gives the contribution of a rank, which is there until it is asked for the next one; the result
/// has room; nothing else overlaps it.
pub(super) unsafe fn fold(
    (me, last): (usize, usize),
    into: *mut u8,
    (bytes, element_bytes): (usize, usize),
    operator: &dyn Combine,
    mut of: impl FnMut(usize) -> *const u8,
) {
    let block = (FOLD_BYTES / element_bytes * element_bytes).max(element_bytes);
    let (mut short, mut long) = (Short::default(), Vec::new());
    let is_in_place = of(me) == into.cast_const();
    let mut start = 0;
    while start < bytes {
        let bytes = block.min(bytes - start);
        let into = into.wrapping_add(start);
        let mut own = of(me).wrapping_add(start);
        // SAFETY: the caller's promise; what is kept has room.
        unsafe {
            if is_in_place && me != last {
                let kept = match bytes <= short.0.len() {
                    true => short.0.as_mut_ptr(),
                    false => {
                        long.reserve_exact(bytes);
                        long.as_mut_ptr()
                    }
                };
                std::ptr::copy_nonoverlapping(own, kept, bytes);
                own = kept;
            }
            if last != me {
                copy(of(last).wrapping_add(start), into, bytes);
            } else if !is_in_place {
                std::ptr::copy_nonoverlapping(own, into, bytes);
            }
            for rank in (0..last).rev() {
                let from = match rank == me {
                    true => own,
                    false => of(rank).wrapping_add(start),
                };
                operator.combine(from, into, bytes);
            }
        }
        start += bytes;
    }
}
