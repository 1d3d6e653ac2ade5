// SPDX-License-Identifier: MIT OR Apache-2.0
//! C's `long double` on x86-64: 80 bits in 16 bytes.
//!
//! Rust has no such type, so sums and products are the instructions that a C compiler emits. The
//! six bytes of padding are written as 0: equal numbers have equal bytes on every rank.

/// Its bytes.
#[derive(Clone, Copy)]
pub(super) struct Extended(pub [u8; 16]);

/// Whether this machine computes with such numbers.
pub(super) const IS_SUPPORTED: bool = cfg!(target_arch = "x86_64");

/// Two numbers on the stack of the floating-point unit, and what one instruction makes of them.
#[cfg(target_arch = "x86_64")]
macro_rules! on_stack {
    ($instruction:literal, $a:expr, $b:expr) => {{
        let (a, b, mut result) = ($a.0, $b.0, [0; 16]);
        // SAFETY: each address is that of sixteen bytes of this function, of which the instructions
        // read or write ten; the stack of the unit, all of which is named as overwritten, is as
        // empty afterwards as the calling convention has it before.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                $instruction,
                "fstp tbyte ptr [{result}]",
                a = in(reg) a.as_ptr(),
                b = in(reg) b.as_ptr(),
                result = in(reg) result.as_mut_ptr(),
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        Extended(result)
    }};
}

#[cfg(target_arch = "x86_64")]
impl Extended {
    pub fn sum(self, other: Self) -> Self {
        on_stack!("faddp st(1), st", self, other)
    }

    pub fn product(self, other: Self) -> Self {
        on_stack!("fmulp st(1), st", self, other)
    }
}

/// `long double` is another type elsewhere; no operator is allowed on it ([`IS_SUPPORTED`]).
#[cfg(not(target_arch = "x86_64"))]
impl Extended {
    pub fn sum(self, _other: Self) -> Self {
        self
    }

    pub fn product(self, _other: Self) -> Self {
        self
    }
}

impl Extended {
    /// Sign and exponent, and the 64 bits before which there are none.
    fn parts(self) -> (u16, u64) {
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, ..] = self.0;
        let significand = u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
        (u16::from_le_bytes([b8, b9]), significand)
    }

    pub fn negative(mut self) -> Self {
        self.0[9] ^= 0x80;
        self
    }

    fn is_nan(self) -> bool {
        let (head, significand) = self.parts();
        head & 0x7fff == 0x7fff && significand << 1 != 0
    }

    /// A number whose order is that of the values; not for NaN.
    fn rank(self) -> i128 {
        let (head, significand) = self.parts();
        let magnitude = i128::from(head & 0x7fff) << 64 | i128::from(significand);
        match (significand, head >> 15) {
            (0, _) => 0,
            (_, 0) => magnitude,
            _ => -magnitude,
        }
    }

    pub fn is_greater(self, other: Self) -> bool {
        !self.is_nan() && !other.is_nan() && self.rank() > other.rank()
    }

    pub fn is_same(self, other: Self) -> bool {
        !self.is_nan() && !other.is_nan() && self.rank() == other.rank()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// An integer, exactly.
    fn of(value: i64) -> Extended {
        let mut bytes = [0; 16];
        if value != 0 {
            let magnitude = value.unsigned_abs();
            let shift = magnitude.leading_zeros();
            bytes[..8].copy_from_slice(&(magnitude << shift).to_le_bytes());
            let head = (16383 + 63 - shift) as u16 | u16::from(value < 0) << 15;
            bytes[8..10].copy_from_slice(&head.to_le_bytes());
        }
        Extended(bytes)
    }

    #[test]
    fn integers_add_multiply_and_compare_exactly() {
        let values = [
            0,
            1,
            -1,
            2,
            3,
            -7,
            1 << 40,
            (1 << 53) + 1,
            i64::MAX / 2,
            i64::MIN / 2,
        ];
        for a in values {
            for b in values {
                assert_eq!(of(a).sum(of(b)).0, of(a + b).0, "{a} + {b}");
                if let Some(product) = a.checked_mul(b).filter(|&p| p != 0) {
                    assert_eq!(of(a).product(of(b)).0, of(product).0, "{a} * {b}");
                }
                assert_eq!(of(a).is_greater(of(b)), a > b, "{a} > {b}");
                assert_eq!(of(a).is_same(of(b)), a == b, "{a} == {b}");
            }
        }
    }

    #[test]
    fn nothing_is_greater_than_nan_or_equal_to_it() {
        let mut nan = of(1);
        nan.0[8..10].copy_from_slice(&0x7fff_u16.to_le_bytes());
        nan.0[7] = 0xc0;
        for (a, b) in [(nan, of(1)), (of(1), nan), (nan, nan)] {
            assert!(!a.is_greater(b) && !a.is_same(b));
        }
        assert!(of(0).is_same(of(0).negative()));
    }
}
