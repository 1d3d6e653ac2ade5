// SPDX-License-Identifier: MIT OR Apache-2.0
//! What basic elements can do: numbers, order, bits and truth, for each type that C and Fortran have.
#![forbid(unsafe_code)]

use super::extended::Extended;

/// An element of `BYTES` bytes.
pub(super) trait Element<const BYTES: usize>: Copy {
    fn read(bytes: [u8; BYTES]) -> Self;
    fn bytes(self) -> [u8; BYTES];
}

/// Sums and products; integers wrap around as they do in C on every machine.
pub(super) trait Number: Copy {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// Numbers with an order.
pub(super) trait Ordered: Copy {
    /// Whether the greater of two is found by one instruction.
    const IS_INTEGER: bool = false;

    fn is_above(self, other: Self) -> bool;
    fn is_equal(self, other: Self) -> bool;
}

/// Bit by bit.
pub(super) trait Bits: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

/// Zero is false, everything else true; true is written as 1.
pub(super) trait Truth: Copy {
    fn is_true(self) -> bool;
    fn of(truth: bool) -> Self;
}

macro_rules! ordered {
    ($is_integer:literal: $($of:ty)*) => {$(
        impl Ordered for $of {
            const IS_INTEGER: bool = $is_integer;

            #[inline(always)]
            fn is_above(self, other: Self) -> bool {
                self > other
            }
            #[inline(always)]
            fn is_equal(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! native {
    ($($of:ty: $bytes:literal)*) => {$(
        impl Element<$bytes> for $of {
            #[inline(always)]
            fn read(bytes: [u8; $bytes]) -> Self {
                Self::from_ne_bytes(bytes)
            }
            #[inline(always)]
            fn bytes(self) -> [u8; $bytes] {
                self.to_ne_bytes()
            }
        }
    )*};
}

macro_rules! integers {
    ($($of:ty)*) => {$(
        impl Number for $of {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
        impl Bits for $of {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
        impl Truth for $of {
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn of(truth: bool) -> Self {
                Self::from(truth)
            }
        }
    )*};
}

macro_rules! floats {
    ($($of:ty)*) => {$(
        impl Number for $of {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

native! {
    i8: 1 i16: 2 i32: 4 i64: 8 i128: 16
    u8: 1 u16: 2 u32: 4 u64: 8 u128: 16
    f32: 4 f64: 8
}
integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }
floats! { f32 f64 }
ordered! { true: i8 i16 i32 i64 i128 u8 u16 u32 u64 }
ordered! { false: f32 f64 Half }

/// A float of 16 bits. Sums and products go through `f32`, whose 24 bits are enough for the result
/// to be the one rounded once (Figueroa, "When is double rounding innocuous?", 1995).
#[derive(Clone, Copy)]
pub(super) struct Half(u16);

impl Half {
    fn wide(self) -> f32 {
        let sign = u32::from(self.0 >> 15) << 31;
        let (exponent, fraction) = (u32::from(self.0 >> 10) & 0x1f, u32::from(self.0) & 0x3ff);
        let magnitude = match exponent {
            // Subnormal: units of 2^-24, which is 2^-126 * 2^102.
            0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
            0x1f => 0x7f80_0000 | fraction << 13,
            _ => (exponent + 112) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }

    fn of(wide: f32) -> Self {
        const HALF: f32 = 0.5;
        let (sign, magnitude) = (wide.to_bits() >> 31, wide.to_bits() & 0x7fff_ffff);
        let bits = match magnitude {
            0x7f80_0001.. => 0x7e00,
            0x4780_0000.. => 0x7c00,
            // Subnormal: one half has units of 2^-24, so that adding it rounds to them.
            0..0x3880_0000 => (f32::from_bits(magnitude) + HALF).to_bits() - HALF.to_bits(),
            // To the nearest, to the even one of two.
            _ => (magnitude + 0xfff + (magnitude >> 13 & 1) - (112 << 23)) >> 13,
        };
        Self((sign << 15 | bits) as u16)
    }
}

impl PartialEq for Half {
    fn eq(&self, other: &Self) -> bool {
        self.wide() == other.wide()
    }
}

impl PartialOrd for Half {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.wide().partial_cmp(&other.wide())
    }
}

impl Element<2> for Half {
    fn read(bytes: [u8; 2]) -> Self {
        Self(u16::from_ne_bytes(bytes))
    }

    fn bytes(self) -> [u8; 2] {
        self.0.to_ne_bytes()
    }
}

impl Number for Half {
    fn plus(self, other: Self) -> Self {
        Self::of(self.wide() + other.wide())
    }

    fn times(self, other: Self) -> Self {
        Self::of(self.wide() * other.wide())
    }
}

impl Element<16> for Extended {
    fn read(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl Number for Extended {
    fn plus(self, other: Self) -> Self {
        self.sum(other)
    }

    fn times(self, other: Self) -> Self {
        self.product(other)
    }
}

impl Ordered for Extended {
    fn is_above(self, other: Self) -> bool {
        self.is_greater(other)
    }

    fn is_equal(self, other: Self) -> bool {
        self.is_same(other)
    }
}

/// A complex number.
#[derive(Clone, Copy)]
pub(super) struct Complex<E> {
    re: E,
    im: E,
}

macro_rules! complex {
    ($($of:ty: $bytes:literal twice $half:literal, $minus:expr;)*) => {$(
        impl Element<$bytes> for Complex<$of> {
            #[inline(always)]
            fn read(bytes: [u8; $bytes]) -> Self {
                let (halves, _) = bytes.as_chunks::<$half>();
                Self {
                    re: <$of as Element<$half>>::read(halves[0]),
                    im: <$of as Element<$half>>::read(halves[1]),
                }
            }
            #[inline(always)]
            fn bytes(self) -> [u8; $bytes] {
                let mut bytes = [0; $bytes];
                bytes[..$half].copy_from_slice(&self.re.bytes());
                bytes[$half..].copy_from_slice(&self.im.bytes());
                bytes
            }
        }

        impl Number for Complex<$of> {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Self {
                    re: self.re.plus(other.re),
                    im: self.im.plus(other.im),
                }
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                let minus: fn($of) -> $of = $minus;
                Self {
                    re: self.re.times(other.re).plus(minus(self.im.times(other.im))),
                    im: self.re.times(other.im).plus(self.im.times(other.re)),
                }
            }
        }
    )*};
}

complex! {
    Half: 4 twice 2, |x| Half(x.0 ^ 0x8000);
    f32: 8 twice 4, |x| -x;
    f64: 16 twice 8, |x| -x;
    Extended: 32 twice 16, Extended::negative;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_survive_the_way_through_wider_floats() {
        for bits in 0..=u16::MAX {
            let wide = Half(bits).wide();
            if wide.is_nan() {
                assert!(Half::of(wide).wide().is_nan());
            } else {
                assert_eq!(Half::of(wide).0, bits);
            }
        }
    }

    #[test]
    fn halves_round_to_the_nearest_and_to_the_even_of_two() {
        let round = |wide: f32| Half::of(wide).wide();
        assert_eq!(round(2049.0), 2048.0);
        assert_eq!(round(2051.0), 2052.0);
        assert_eq!(round(65519.0), 65504.0, "the largest");
        assert_eq!(round(65520.0), f32::INFINITY);
        let least = 2.0_f32.powi(-24);
        assert_eq!(round(least * 1.5), 2.0 * least);
        assert_eq!(round(least * 0.5), 0.0);
        assert_eq!(round(-least * 0.75), -least);
    }
}
