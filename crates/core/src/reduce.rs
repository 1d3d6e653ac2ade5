// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reduction operators on bytes.
//!
//! Schedules fix the order in which contributions are combined, so a reduction gives the same
//! bits on every machine, floats included; this module is the one place that does the arithmetic.
//!
//! ```
//! use corecast_core::{ElementType, ReduceOp};
//! let mut held = 2.5_f32.to_le_bytes();
//! ReduceOp::Sum.apply(ElementType::F32, &mut held, &1.0_f32.to_le_bytes());
//! assert_eq!(f32::from_le_bytes(held), 3.5);
//! ```

/// Type of the elements of a vector, little-endian in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementType {
    /// Unsigned byte.
    U8,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
}

impl ElementType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::U8, Self::I32, Self::I64, Self::F32, Self::F64];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

/// A commutative reduction operator. Integers wrap around; of floats, minimum and maximum take -0 for
/// less than 0, and are not a number if an operand is not (IEEE 754-2019, 9.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReduceOp {
    /// Sum.
    Sum,
    /// Product.
    Prod,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

macro_rules! fold {
    ($type:ty, $held:expr, $arrived:expr, $op:expr) => {{
        let op: fn($type, $type) -> $type = $op;
        const BYTES: usize = size_of::<$type>();
        let (held, _) = $held.as_chunks_mut::<BYTES>();
        let (arrived, _) = $arrived.as_chunks::<BYTES>();
        for (held, arrived) in held.iter_mut().zip(arrived) {
            let value = op(
                <$type>::from_le_bytes(*held),
                <$type>::from_le_bytes(*arrived),
            );
            *held = value.to_le_bytes();
        }
    }};
}

macro_rules! integer {
    ($type:ty, $self:expr, $held:expr, $arrived:expr) => {
        match $self {
            Self::Sum => fold!($type, $held, $arrived, <$type>::wrapping_add),
            Self::Prod => fold!($type, $held, $arrived, <$type>::wrapping_mul),
            Self::Min => fold!($type, $held, $arrived, <$type>::min),
            Self::Max => fold!($type, $held, $arrived, <$type>::max),
        }
    };
}

macro_rules! float {
    ($type:ty, $self:expr, $held:expr, $arrived:expr) => {
        match $self {
            Self::Sum => fold!($type, $held, $arrived, |a, b| a + b),
            Self::Prod => fold!($type, $held, $arrived, |a, b| a * b),
            Self::Min => fold!($type, $held, $arrived, |a, b| least!($type, a, b)),
            Self::Max => fold!($type, $held, $arrived, |a, b| -least!($type, -a, -b)),
        }
    };
}

/// The smaller float as IEEE 754-2019 has it (`minimum`), so that no order of operands changes a bit:
/// -0 is less than 0, and what is not a number stays that, always the same.
macro_rules! least {
    ($type:ty, $a:expr, $b:expr) => {
        match ($a, $b) {
            (a, b) if a.is_nan() || b.is_nan() => <$type>::NAN,
            (a, b) if a.total_cmp(&b).is_lt() => a,
            (_, b) => b,
        }
    };
}

impl ReduceOp {
    /// Every operator.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Prod, Self::Min, Self::Max];

    /// Name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// `held[i] = held[i] op arrived[i]` for every element.
    ///
    /// # Panics
    /// If the slices differ in length or are not a whole number of elements.
    pub fn apply(self, element: ElementType, held: &mut [u8], arrived: &[u8]) {
        assert_eq!(
            held.len(),
            arrived.len(),
            "operands of a reduction have one length"
        );
        let whole = held.len().is_multiple_of(element.bytes() as usize);
        assert!(
            whole,
            "{} bytes is not a whole number of {element:?}",
            held.len()
        );
        match element {
            ElementType::U8 => integer!(u8, self, held, arrived),
            ElementType::I32 => integer!(i32, self, held, arrived),
            ElementType::I64 => integer!(i64, self, held, arrived),
            ElementType::F32 => float!(f32, self, held, arrived),
            ElementType::F64 => float!(f64, self, held, arrived),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_floats_add() {
        let mut held = [250, 1];
        ReduceOp::Sum.apply(ElementType::U8, &mut held, &[10, 2]);
        assert_eq!(held, [4, 3]);
        let mut held = 7_i64.to_le_bytes();
        ReduceOp::Max.apply(ElementType::I64, &mut held, &(-9_i64).to_le_bytes());
        assert_eq!(i64::from_le_bytes(held), 7);
        let mut held = 3.0_f64.to_le_bytes();
        ReduceOp::Prod.apply(ElementType::F64, &mut held, &0.5_f64.to_le_bytes());
        assert_eq!(f64::from_le_bytes(held), 1.5);
    }

    /// Whatever the order and the grouping, the same bits: also of zeros with signs, and of what is
    /// not a number.
    #[test]
    fn minimum_and_maximum_have_the_same_bits_in_any_order() {
        let nan = |payload: u64| f64::from_bits(f64::NAN.to_bits() | payload);
        let values = [0.0, -0.0, 1.5, -2.0, f64::INFINITY, nan(1), -nan(2)];
        for op in [ReduceOp::Min, ReduceOp::Max] {
            let apply = |a: f64, b: f64| {
                let mut held = a.to_le_bytes();
                op.apply(ElementType::F64, &mut held, &b.to_le_bytes());
                f64::from_le_bytes(held)
            };
            for (a, b) in values.into_iter().flat_map(|a| values.map(|b| (a, b))) {
                assert_eq!(apply(a, b).to_bits(), apply(b, a).to_bits(), "{a} {b}");
                for c in values {
                    let (left, right) = (apply(apply(a, b), c), apply(a, apply(b, c)));
                    assert_eq!(left.to_bits(), right.to_bits(), "{a} {b} {c}");
                }
            }
            assert!(apply(1.0, nan(1)).is_nan());
        }
        let mut held = (-0.0_f32).to_le_bytes();
        ReduceOp::Max.apply(ElementType::F32, &mut held, &0.0_f32.to_le_bytes());
        assert!(f32::from_le_bytes(held).is_sign_positive());
    }

    #[test]
    fn nothing_is_an_identity() {
        ReduceOp::Sum.apply(ElementType::F32, &mut [], &[]);
    }
}
