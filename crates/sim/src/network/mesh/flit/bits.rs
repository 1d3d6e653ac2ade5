//! Sets of channels and ports as the bits of a word.

/// Visits every set bit, the lowest first.
#[inline]
pub(super) fn for_each_bit(mut bits: u64, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// The lowest set bit at or after `pointer`, or else the lowest of all.
#[inline]
pub(super) fn first_from(bits: u64, pointer: u8) -> u32 {
    let above = bits & (u64::MAX << pointer);
    if above == 0 {
        bits.trailing_zeros()
    } else {
        above.trailing_zeros()
    }
}
