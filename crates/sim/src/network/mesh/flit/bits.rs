// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of channels and ports as the bits of a word, and other small arithmetic.

/// Visits every set bit, the lowest first.
#[inline]
pub(super) fn for_each_bit(mut bits: u64, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// Division by a number that is known when the mesh is built, as a multiplication: every flit needs
/// the router of its channel, and the processor divides slowly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    factor: u64,
}

/// Numbers divided are less than 2^27, as places of buffers are, and divisors at most 64: then the
/// factor's rounding, less than 64 of 2^36 parts, is too small to reach the next number.
const DIVISOR_SHIFT: u32 = 36;

impl Divisor {
    pub(super) const fn new(divisor: u32) -> Self {
        assert!(divisor > 0 && divisor <= 64);
        Self {
            factor: (1_u64 << DIVISOR_SHIFT).div_ceil(divisor as u64),
        }
    }

    /// `number` divided, rounded down.
    #[inline]
    pub(super) const fn of(self, number: u32) -> u32 {
        ((number as u64 * self.factor) >> DIVISOR_SHIFT) as u32
    }
}

/// The lowest set bit at or after `pointer`, or else the lowest of all. A pointer may be behind the
/// last number, which is where it is after that has been chosen.
#[inline]
pub(super) fn first_from(bits: u64, pointer: u8) -> u32 {
    let above = bits & u64::MAX.unbounded_shl(u32::from(pointer));
    if above == 0 {
        bits.trailing_zeros()
    } else {
        above.trailing_zeros()
    }
}

/// Whether `a` comes before `b` for somebody who looks at `pointer` first: see [`first_from`].
#[inline]
pub(super) fn is_before(a: u32, b: u32, pointer: u8) -> bool {
    let pointer = u32::from(pointer);
    (a < pointer, a) < (b < pointer, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two, the first is the one that is found first.
    #[test]
    fn the_first_of_two_is_found_first() {
        for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
            for pointer in (0..=64).filter(|_| a != b) {
                let first = first_from(1 << a | 1 << b, pointer);
                assert_eq!(is_before(a, b, pointer), first == a, "{a} {b} {pointer}");
            }
        }
    }

    #[test]
    fn the_first_of_two_is_before_the_other() {
        for (a, b) in (0..64).flat_map(|a| (0..a).map(move |b| (a, b))) {
            for pointer in 0..=64 {
                let first = first_from((1 << a) | (1 << b), pointer);
                assert_eq!(is_before(a, b, pointer), first == a, "{a}, {b}, {pointer}");
                assert_eq!(is_before(b, a, pointer), first == b, "{a}, {b}, {pointer}");
            }
        }
    }

    #[test]
    fn divisors_divide() {
        for divisor in 1..=64 {
            let by = Divisor::new(divisor);
            let last = (1 << 27) - 1;
            let around = (0..200).flat_map(|turn| {
                let multiple = turn * (last / 200) / divisor * divisor;
                [multiple.saturating_sub(1), multiple, multiple + 1]
            });
            for number in around.chain(last - 130..=last) {
                assert_eq!(by.of(number), number / divisor, "{number} / {divisor}");
            }
        }
    }
}
