// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done in a window's memory, by whoever sees it.

use super::wire::Pieces;
use crate::buffer::meet;
use crate::engine::Memory;
use crate::op::{Kernel, Single};

/// Memory of a window, at an address of this process, with the promise of who made the window: all that
/// is within its bounds may be read and written until the window is freed.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: an address is a number here; see the promise above.
unsafe impl Send for Here {}

impl Here {
    /// `bytes` bytes from an address on.
    ///
    /// # Safety
    /// The promise of [`Here`] holds for what is done through it.
    pub unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// The address.
    pub fn address(self) -> *mut u8 {
        self.start
    }

    /// The stretch that begins so many bytes behind the window's beginning and is as long as memory of the
    /// program; `None` if not all of it is within the window.
    #[inline(always)]
    pub fn stretch(self, at: i64, own: Memory) -> Option<Stretch> {
        let at = usize::try_from(at).ok()?;
        let is_within = at <= self.bytes && own.bytes <= self.bytes - at;
        is_within.then_some(Stretch {
            there: self.start.wrapping_add(at),
            own: own.start(),
            bytes: own.bytes,
        })
    }

    /// Bytes from so many behind the window's beginning on; `None` if not all of them are within it.
    #[inline]
    pub fn piece(self, at: u64, bytes: u64) -> Option<Memory> {
        let (at, bytes) = (usize::try_from(at).ok()?, usize::try_from(bytes).ok()?);
        let is_within = at <= self.bytes && bytes <= self.bytes - at;
        // SAFETY: what is given to the window may be read and written until it is freed, which is not before
        // all that others have asked for is done.
        is_within.then(|| unsafe { Memory::new(self.start.wrapping_add(at), bytes) })
    }

    /// Memory that is the only piece of a place; `None` if there are none or several.
    ///
    /// # Safety
    /// It is within the window, and what it is given to is over before the window is freed, or the memory
    /// taken from it.
    pub unsafe fn only_piece(self, place: &Pieces) -> Option<Memory> {
        let &[(at, bytes)] = &place.pieces[..] else {
            return None;
        };
        // SAFETY: the caller's promise.
        Some(unsafe { Memory::new(self.at(place, at), bytes) })
    }

    fn at(self, place: &Pieces, at: isize) -> *mut u8 {
        self.start
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

    /// Combines data with the pieces, `piece = piece op data`. What was there goes into `old`. Nobody else
    /// does the same at the same time: who does it owns the memory, or has its latch.
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

    /// Puts `new` into the pieces if they hold `expected`; what they held. Nobody else combines anything
    /// with them meanwhile, as for [`Here::combine`].
    ///
    /// # Safety
    /// As for [`Here::gather`].
    pub unsafe fn swap(self, place: &Pieces, expected: &[u8], new: &[u8]) -> Vec<u8> {
        let mut old = vec![0; expected.len()];
        // SAFETY: the caller's promise.
        unsafe { self.gather(place, &mut old) };
        if old == expected {
            // SAFETY: as above.
            unsafe { self.scatter(place, new) };
        }
        old
    }
}

/// Memory of a window and as much of the program's, each in one piece. What is done with it rests on the
/// promises of [`Here`] and [`Memory`].
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    there: *mut u8,
    own: *mut u8,
    bytes: usize,
}

/// Bytes that are combined while nobody else can: a multiple of every element's size, and short enough
/// for who waits meanwhile.
const AT_A_TIME: usize = 16 << 10;

impl Stretch {
    /// How many bytes it has.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether the program's memory is not the window's, and not that of `other`.
    #[inline(always)]
    pub fn is_apart(self, other: Memory) -> bool {
        let range = |start: *mut u8, bytes: usize| start.addr()..start.addr() + bytes;
        let there = range(self.there, self.bytes);
        let own = range(self.own, self.bytes);
        let other = range(other.start(), other.bytes);
        !meet(there.clone(), own.clone()) && !meet(there, other.clone()) && !meet(own, other)
    }

    /// Whether elements of so many bytes lie in the window where nobody sees half of one, whoever changes
    /// them meanwhile: this machine reads and writes 1, 2, 4 and 8 aligned bytes at once.
    #[inline(always)]
    pub fn is_whole(self, element: usize) -> bool {
        matches!(element, 1 | 2 | 4 | 8) && self.there.addr().is_multiple_of(element)
    }

    /// The parts that are combined one after the other.
    #[inline(always)]
    pub fn parts(self) -> impl Iterator<Item = (usize, Self)> {
        (0..self.bytes).step_by(AT_A_TIME).map(move |at| {
            let part = Self {
                there: self.there.wrapping_add(at),
                own: self.own.wrapping_add(at),
                bytes: AT_A_TIME.min(self.bytes - at),
            };
            (at, part)
        })
    }

    /// Copies the program's bytes into the window.
    #[inline(always)]
    pub fn put(self) {
        // SAFETY: both are promised. They may be the same where a rank reaches its own window.
        unsafe { move_bytes(self.own, self.there, self.bytes) };
    }

    /// Copies the window's bytes to the program.
    #[inline(always)]
    pub fn get(self) {
        // SAFETY: as in `put`.
        unsafe { move_bytes(self.there, self.own, self.bytes) };
    }

    /// `window = window op own`. The two are apart, and nobody else does the same at the same time.
    #[inline(always)]
    pub fn combine(self, kernel: Kernel) {
        // SAFETY: both are promised, and are apart.
        let (there, own) = unsafe {
            let there = std::slice::from_raw_parts_mut(self.there, self.bytes);
            (there, std::slice::from_raw_parts(self.own, self.bytes))
        };
        kernel(there, own);
    }

    /// `own = window`, `window = window op operand` with the operand from byte `at` on. The three are
    /// apart, and nobody else combines anything with the window meanwhile.
    #[inline(always)]
    pub fn exchange(self, kernel: Kernel, operand: Memory, at: usize) {
        self.get();
        let operand = operand.start().wrapping_add(at);
        Self {
            own: operand,
            ..self
        }
        .combine(kernel);
    }

    /// As [`Stretch::combine`], of the one element that it has.
    #[inline(always)]
    pub fn combine_one(self, single: Single) {
        self.change_one(single, self.own);
    }

    /// As [`Stretch::exchange`], of the one element that it has; the operand is one, too.
    #[inline(always)]
    pub fn exchange_one(self, single: Single, operand: Memory) {
        let old = self.change_one(single, operand.start());
        // SAFETY: the program's memory has so many bytes.
        unsafe { write_bits(self.own, old, self.bytes) };
    }

    /// `window = window op operand`; what was there.
    #[inline(always)]
    fn change_one(self, single: Single, operand: *const u8) -> u64 {
        debug_assert_eq!(single.bytes(), self.bytes, "one element");
        // SAFETY: both are promised, with so many bytes.
        unsafe {
            let old = read_bits(self.there, self.bytes);
            let new = single.of_bits(read_bits(operand, self.bytes), old);
            write_bits(self.there, new, self.bytes);
            old
        }
    }

    /// `own = window`, and then `window = new` if it was `expected`, which have as many bytes. Nobody else
    /// combines anything with the window meanwhile. `false`: no element has so many bytes, and nothing has
    /// been done.
    #[inline]
    pub fn swap(self, expected: Memory, new: Memory) -> bool {
        match self.bytes {
            8 => self.swap_elements::<8>(expected, new),
            4 => self.swap_elements::<4>(expected, new),
            2 => self.swap_elements::<2>(expected, new),
            1 => self.swap_elements::<1>(expected, new),
            16 => self.swap_elements::<16>(expected, new),
            _ => false,
        }
    }

    #[inline]
    fn swap_elements<const N: usize>(self, expected: Memory, new: Memory) -> bool {
        if N != self.bytes || N != expected.bytes || N != new.bytes {
            return false;
        }
        let word = |at: *mut u8| at.cast::<[u8; N]>();
        // SAFETY: each is so many bytes that are promised; arrays of bytes are aligned everywhere.
        unsafe {
            let old = word(self.there).read();
            let (expected, new) = (word(expected.start()).read(), word(new.start()).read());
            if old == expected {
                word(self.there).write(new);
            }
            word(self.own).write(old);
        }
        true
    }
}

/// Lets nothing that this thread does from now on overtake what it has written to memory.
#[inline]
pub fn settle() {
    // On x86-64 every locked instruction does that, in a fourth of the time that `mfence` takes, which is
    // what the compiler makes of a fence.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it changes nothing but flags.
    unsafe {
        std::arch::asm!("lock or dword ptr [rsp], 0");
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Copies bytes, a single element of the usual sizes by one instruction.
///
/// # Safety
/// Those at `from` may be read and those at `into` written; they may overlap.
#[inline(always)]
unsafe fn move_bytes(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            8 => into
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => into
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => std::ptr::copy(from, into, bytes),
        }
    }
}

/// The bits of an element of 8 bytes, or of 4.
///
/// # Safety
/// It may be read.
#[inline(always)]
unsafe fn read_bits(from: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            8 => from.cast::<u64>().read_unaligned(),
            _ => from.cast::<u32>().read_unaligned().into(),
        }
    }
}

/// Writes the bits of an element of 8 bytes, or of 4.
///
/// # Safety
/// It may be written.
#[inline(always)]
unsafe fn write_bits(into: *mut u8, bits: u64, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            8 => into.cast::<u64>().write_unaligned(bits),
            _ => into.cast::<u32>().write_unaligned(bits as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Type;
    use crate::op::{Op, Predefined};

    /// Bytes that look like numbers of all sizes, another series for each seed.
    fn bytes(seed: u64, count: usize) -> Vec<u8> {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..count).map(|_| draw()).collect()
    }

    fn stretch(there: &mut [u8], own: &mut [u8]) -> Stretch {
        // SAFETY: the test has both, and uses neither while it uses the stretch.
        let here = unsafe { Here::new(there.as_mut_ptr(), there.len()) };
        here.stretch(0, Memory::of(own))
            .expect("it is not longer than the window")
    }

    #[test]
    fn parts_of_a_stretch_are_combined_and_exchanged_as_all_of_it_is() {
        let mut pairs = 0;
        for ty in Type::all_named().filter(|ty| ty.contiguous_bytes(2) == Some(2 * ty.size())) {
            for op in Predefined::ALL {
                let Some(kernel) = Op::predefined(op).kernel(&ty).filter(|_| ty.size() > 0) else {
                    continue;
                };
                pairs += 1;
                let single = ty.element().and_then(|basic| Single::of(op, basic));
                if let Some(single) = single {
                    let (old, mut operand) = (bytes(5, ty.size()), bytes(6, ty.size()));
                    let mut wanted = old.clone();
                    kernel(&mut wanted, &operand);
                    let mut there = old.clone();
                    stretch(&mut there, &mut operand).combine_one(single);
                    assert!(there == wanted, "{} on {}", op.name(), ty.name());
                    let (mut there, mut got) = (old.clone(), vec![0; ty.size()]);
                    let operand = Memory::of(&mut operand);
                    stretch(&mut there, &mut got).exchange_one(single, operand);
                    assert!(
                        there == wanted && got == old,
                        "{} on {}",
                        op.name(),
                        ty.name()
                    );
                }
                for count in [1, 3, AT_A_TIME / ty.size() + 5] {
                    let length = count * ty.size();
                    let (old, mut operand) = (bytes(1, length), bytes(2, length));
                    let mut wanted = old.clone();
                    kernel(&mut wanted, &operand);
                    let mut there = old.clone();
                    let whole = stretch(&mut there, &mut operand);
                    whole.parts().for_each(|(_, part)| part.combine(kernel));
                    assert!(there == wanted, "{} on {}", op.name(), ty.name());
                    let (mut there, mut got) = (old.clone(), vec![0; length]);
                    let operand = Memory::of(&mut operand);
                    let whole = stretch(&mut there, &mut got);
                    assert!(whole.is_apart(operand));
                    let parts = whole.parts();
                    parts.for_each(|(at, part)| part.exchange(kernel, operand, at));
                    assert!(
                        there == wanted && got == old,
                        "{} on {}",
                        op.name(),
                        ty.name()
                    );
                }
            }
        }
        assert!(pairs > 300, "{pairs}");
    }

    #[test]
    fn only_what_is_expected_is_swapped() {
        for size in [1, 2, 4, 8, 16] {
            let (old, mut new) = (bytes(3, size), bytes(4, size));
            for changes in [false, true] {
                let (mut there, mut got) = (old.clone(), vec![0; size]);
                let mut expected = old.clone();
                expected[size - 1] ^= u8::from(!changes);
                let what = (Memory::of(&mut expected), Memory::of(&mut new));
                assert!(stretch(&mut there, &mut got).swap(what.0, what.1));
                assert_eq!(got, old);
                assert_eq!(there, if changes { &new } else { &old }[..]);
            }
        }
        let (mut there, mut got, mut other) = ([1; 3], [2; 3], [1; 3]);
        let other = Memory::of(&mut other);
        assert!(!stretch(&mut there, &mut got).swap(other, other));
        assert_eq!((there, got), ([1; 3], [2; 3]), "nothing has been done");
    }

    #[test]
    fn a_stretch_is_within_its_window() {
        let (mut there, mut own) = ([0_u64; 8], [0_u8; 10]);
        // SAFETY: nothing is done with it but to compare addresses.
        let here = unsafe { Here::new(there.as_mut_ptr().cast(), 64) };
        let at = |at: i64, own: &mut [u8]| here.stretch(at, Memory::of(own));
        assert!(at(54, &mut own).is_some() && at(0, &mut own).is_some());
        for outside in [55, 64, -1, i64::MAX, i64::MIN] {
            assert!(at(outside, &mut own).is_none(), "{outside}");
        }
        let whole = at(8, &mut own[..8]).expect("it is within");
        assert!(whole.is_whole(8) && whole.is_whole(1) && !whole.is_whole(16));
        let odd = at(4, &mut own[..8]).expect("it is within");
        assert!(odd.is_whole(4) && !odd.is_whole(8));
    }
}
