// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a program's own operators, on elements as they lie in the program's memory.

use crate::datatype::{Type, memory};
use crate::error::{Class, Error, Result};

/// A program's function, behind which a C face hides the form that it has.
pub trait UserFunction: Send + Sync {
    /// `inout = input op inout` on `count` elements.
    ///
    /// # Safety
    /// Both addresses are those of `count` elements of the datatype, aligned for it, that do not
    /// overlap.
    unsafe fn call(&self, input: *const u8, inout: *mut u8, count: usize, ty: &Type);
}

/// Aligned for everything that C has.
type Line = u128;
const _: () = assert!(align_of::<Line>() == 16);

/// Memory in which elements lie as their datatype says.
struct Elements {
    memory: Vec<Line>,
    /// From the memory's beginning to the address of the first element, a multiple of 16; negative
    /// where all elements lie far behind their address.
    before: isize,
}

impl Elements {
    /// Packed elements, unpacked.
    fn unpacked(ty: &Type, count: usize, packed: &[u8]) -> Result<Self> {
        const LINE: isize = size_of::<Line>() as isize;
        let (low, high) = ty.reach(count)?;
        let first = low.div_euclid(LINE);
        let lines = (high.div_euclid(LINE) - first) as usize + 1;
        let mut memory = Vec::new();
        if memory.try_reserve_exact(lines).is_err() {
            let what = format!("there is no memory for {count} elements of a datatype");
            return Err(Error::new(Class::NoMem, what));
        }
        memory.resize(lines, 0);
        let mut elements = Self {
            memory,
            before: -first * LINE,
        };
        // SAFETY: the memory reaches from `low` to `high` around the base, and it is new.
        unsafe { memory::unpack(ty, elements.base(), count, 0, packed) };
        Ok(elements)
    }

    fn base(&mut self) -> *mut u8 {
        let memory = self.memory.as_mut_ptr().cast::<u8>();
        memory.wrapping_offset(self.before)
    }
}

/// A program's function, on elements that lie in the program's memory already.
///
/// # Safety
/// As for [`UserFunction::call`].
pub(super) unsafe fn call(
    function: &dyn UserFunction,
    ty: &Type,
    inout: *mut u8,
    input: *const u8,
    count: usize,
) {
    if count > 0 {
        // SAFETY: the contract is the same.
        unsafe { function.call(input, inout, count, ty) };
    }
}

/// Applies a program's function to packed elements.
pub(super) fn apply(
    function: &dyn UserFunction,
    ty: &Type,
    inout: &mut [u8],
    input: &[u8],
) -> Result<()> {
    if ty.size() == 0 {
        return Ok(());
    }
    let count = inout.len().min(input.len()) / ty.size();
    let is_aligned = |bytes: &[u8]| bytes.as_ptr().addr().is_multiple_of(ty.alignment());
    let is_in_place = ty.true_lower() == 0 && ty.contiguous_bytes(count).is_some();
    if is_in_place && is_aligned(inout) && is_aligned(input) {
        // SAFETY: the elements lie in one piece as they do packed, aligned, in two slices.
        unsafe { function.call(input.as_ptr(), inout.as_mut_ptr(), count, ty) };
        return Ok(());
    }
    let mut from = Elements::unpacked(ty, count, input)?;
    let mut into = Elements::unpacked(ty, count, inout)?;
    // SAFETY: the elements were unpacked to where the datatype has them, each array in own memory
    // whose base is aligned to 16 bytes.
    unsafe { function.call(from.base(), into.base(), count, ty) };
    // SAFETY: as when they were unpacked.
    let _ = unsafe { memory::pack(ty, into.base(), count, 0, inout) };
    Ok(())
}
