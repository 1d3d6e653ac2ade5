// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators on one element, for calls that take less time than to go through a loop does: counters,
//! and places that are taken, are changed element by element.
#![forbid(unsafe_code)]

use super::Predefined;
use crate::datatype::{Basic, BasicKind};

/// An operator of the standard on one element of 4 or 8 bytes, those that are used most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Single {
    /// Sums of integers of 4 bytes, with a sign or without.
    Sum4,
    /// The same of 8 bytes.
    Sum8,
    /// Sums of floats of 4 bytes.
    SumFloat4,
    /// The same of 8 bytes.
    SumFloat8,
    /// `MPI_REPLACE` of 4 bytes.
    Replace4,
    /// The same of 8 bytes.
    Replace8,
}

impl Single {
    /// The one that does what an operator does with such an element.
    #[must_use]
    pub fn of(op: Predefined, basic: Basic) -> Option<Self> {
        use BasicKind::{Float, Signed, Unsigned};
        Some(match (op, basic.kind, basic.bytes) {
            (Predefined::Sum, Signed | Unsigned, 4) => Self::Sum4,
            (Predefined::Sum, Signed | Unsigned, 8) => Self::Sum8,
            (Predefined::Sum, Float, 4) => Self::SumFloat4,
            (Predefined::Sum, Float, 8) => Self::SumFloat8,
            (Predefined::Replace, Signed | Unsigned | Float, 4) => Self::Replace4,
            (Predefined::Replace, Signed | Unsigned | Float, 8) => Self::Replace8,
            _ => return None,
        })
    }

    /// How many bytes the element has.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Sum4 | Self::SumFloat4 | Self::Replace4 => 4,
            Self::Sum8 | Self::SumFloat8 | Self::Replace8 => 8,
        }
    }

    /// `input op inout`, the bits of an element each; those of short ones are the lower 32.
    #[inline(always)]
    #[must_use]
    pub fn of_bits(self, input: u64, inout: u64) -> u64 {
        let (short, other) = (input as u32, inout as u32);
        match self {
            Self::Sum4 => short.wrapping_add(other).into(),
            Self::Sum8 => input.wrapping_add(inout),
            Self::SumFloat4 => (f32::from_bits(short) + f32::from_bits(other))
                .to_bits()
                .into(),
            Self::SumFloat8 => (f64::from_bits(input) + f64::from_bits(inout)).to_bits(),
            Self::Replace4 | Self::Replace8 => input,
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::datatype::Type;
    use crate::op::Op;

    proptest! {
        /// As the loops do, on all datatypes that have one.
        #[test]
        fn single_elements_become_what_loops_make_of_them(input: u64, inout: u64) {
            let mut pairs = 0;
            for ty in Type::all_named() {
                let Some(basic) = ty.element() else { continue };
                for op in Predefined::ALL {
                    let single = Single::of(op, basic).filter(|one| one.bytes() == ty.size());
                    let Some(single) = single else { continue };
                    pairs += 1;
                    let kernel = Op::predefined(op).kernel(&ty).expect("it has a loop, too");
                    let bytes = single.bytes();
                    let mut wanted = inout.to_ne_bytes();
                    kernel(&mut wanted[..bytes], &input.to_ne_bytes()[..bytes]);
                    let got = single.of_bits(input, inout).to_ne_bytes();
                    // Which of two that are no numbers the result is, is not said.
                    let is_number = match single {
                        Single::SumFloat4 => !f32::from_bits(u64::from_ne_bytes(wanted) as u32).is_nan(),
                        Single::SumFloat8 => !f64::from_ne_bytes(wanted).is_nan(),
                        _ => true,
                    };
                    if is_number {
                        prop_assert_eq!(&got[..bytes], &wanted[..bytes], "{} on {}", op.name(), ty.name());
                    }
                }
            }
            prop_assert!(pairs > 20, "{pairs}");
        }
    }
}
