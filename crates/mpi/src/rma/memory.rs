// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done in a window's memory, by whoever sees it.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::wire::Pieces;
use crate::op::Kernel;

/// Memory of a window, at an address of this process, with the promise of who made the window: all that
/// is within its bounds may be read and written until the window is freed.
#[derive(Clone, Copy, Debug)]
pub struct Here(*mut u8);

// SAFETY: an address is a number here; see the promise above.
unsafe impl Send for Here {}

impl Here {
    /// # Safety
    /// The promise of [`Here`] holds for what is done through it.
    pub unsafe fn new(address: *mut u8) -> Self {
        Self(address)
    }

    /// The address.
    pub fn address(self) -> *mut u8 {
        self.0
    }

    fn at(self, place: &Pieces, at: isize) -> *mut u8 {
        self.0
            .wrapping_offset(place.base as isize)
            .wrapping_offset(at)
    }

    /// Copies what the pieces hold.
    ///
    /// # Safety
    /// All pieces are within the window.
    pub unsafe fn gather(self, place: &Pieces, into: &mut [u8]) {
        let mut done = 0;
        for &(at, bytes) in &place.pieces {
            let into = &mut into[done..done + bytes];
            // SAFETY: the caller's promise; what is copied to is the library's or the origin's. Both may be
            // the same memory where a rank reaches its own window.
            unsafe { std::ptr::copy(self.at(place, at), into.as_mut_ptr(), bytes) };
            done += bytes;
        }
    }

    /// Copies data into the pieces.
    ///
    /// # Safety
    /// As for [`Here::gather`].
    pub unsafe fn scatter(self, place: &Pieces, from: &[u8]) {
        let mut done = 0;
        for &(at, bytes) in &place.pieces {
            let from = &from[done..done + bytes];
            // SAFETY: as above.
            unsafe { std::ptr::copy(from.as_ptr(), self.at(place, at), bytes) };
            done += bytes;
        }
    }

    /// Combines data with the pieces, `piece = piece op data`, by who owns the memory: nobody else does
    /// the same at the same time. What was there goes into `old`.
    ///
    /// # Safety
    /// As for [`Here::gather`].
    pub unsafe fn combine(
        self,
        place: &Pieces,
        kernel: Kernel,
        data: &[u8],
        old: Option<&mut [u8]>,
    ) {
        let mut values = vec![0; data.len()];
        // SAFETY: the caller's promise.
        unsafe { self.gather(place, &mut values) };
        if let Some(old) = old {
            old.copy_from_slice(&values);
        }
        kernel(&mut values, data);
        // SAFETY: as above.
        unsafe { self.scatter(place, &values) };
    }

    /// Whether elements of so many bytes at these pieces can be changed by atomic instructions.
    pub fn is_atomic(self, place: &Pieces, element: usize) -> bool {
        let is_size = matches!(element, 1 | 2 | 4 | 8);
        is_size
            && place.pieces.iter().all(|&(at, bytes)| {
                self.at(place, at).addr().is_multiple_of(element) && bytes.is_multiple_of(element)
            })
    }

    /// As [`Here::combine`], each element by an atomic instruction.
    ///
    /// # Safety
    /// As for [`Here::gather`]; [`Here::is_atomic`] says that it can be done.
    pub unsafe fn combine_atomically(
        self,
        place: &Pieces,
        kernel: Kernel,
        (data, element): (&[u8], usize),
        mut old: Option<&mut [u8]>,
    ) {
        let mut done = 0;
        for &(at, bytes) in &place.pieces {
            for offset in (0..bytes).step_by(element) {
                let word = self.at(place, at).wrapping_add(offset);
                let operand = &data[done..done + element];
                let change = |found: &mut [u8]| {
                    kernel(found, operand);
                    true
                };
                // SAFETY: within the window and aligned, as promised.
                let found = unsafe { change_word(word, element, change) };
                if let Some(old) = &mut old {
                    old[done..done + element].copy_from_slice(&found[..element]);
                }
                done += element;
            }
        }
    }

    /// Puts `new` into the one piece if it holds `expected`; what it held.
    ///
    /// # Safety
    /// As for [`Here::combine_atomically`].
    pub unsafe fn swap_atomically(self, place: &Pieces, expected: &[u8], new: &[u8]) -> [u8; 8] {
        let Some(&(at, element)) = place.pieces.first() else {
            return [0; 8];
        };
        let change = |found: &mut [u8]| {
            let is_same = found == expected;
            found.copy_from_slice(new);
            is_same
        };
        // SAFETY: the caller's promise.
        unsafe { change_word(self.at(place, at), element, change) }
    }
}

/// Changes a word of 1, 2, 4 or 8 bytes as `change` says, if it says so, and gives what was there.
///
/// # Safety
/// The word is aligned, and all who use it meanwhile do so by atomic instructions.
unsafe fn change_word(
    word: *mut u8,
    bytes: usize,
    mut change: impl FnMut(&mut [u8]) -> bool,
) -> [u8; 8] {
    macro_rules! change {
        ($atomic:ty, $number:ty) => {{
            // SAFETY: the caller's promise.
            let word = unsafe { <$atomic>::from_ptr(word.cast()) };
            let mut found = word.load(Ordering::Acquire);
            loop {
                let mut new = found.to_ne_bytes();
                if !change(&mut new) {
                    break;
                }
                let new = <$number>::from_ne_bytes(new);
                match word.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => break,
                    Err(now) => found = now,
                }
            }
            let mut before = [0; 8];
            let found = found.to_ne_bytes();
            before[..found.len()].copy_from_slice(&found);
            before
        }};
    }
    match bytes {
        1 => change!(AtomicU8, u8),
        2 => change!(AtomicU16, u16),
        4 => change!(AtomicU32, u32),
        _ => change!(AtomicU64, u64),
    }
}
