// SPDX-License-Identifier: MIT OR Apache-2.0
//! The representation "external32" (MPI 5.0, 14.5.2): packed elements as every machine reads them.
//!
//! All numbers are big-endian; some have another size than here: `long` 4 bytes, `wchar_t` 2, and
//! `long double` is the 128-bit format of IEEE 754.
#![forbid(unsafe_code)]

use super::Type;
use super::basic::{Basic, BasicKind};
use crate::error::{Class, Error, Result};

/// Exponents of `long double` and of the 128-bit format have 15 bits with this bias.
const EXPONENT_MAX: u16 = 0x7fff;

/// Packed elements of a datatype, as many as there are whole ones, in external form.
///
/// # Errors
/// [`Class::Conversion`] if a number does not fit.
pub fn encode(ty: &Type, packed: &[u8]) -> Result<Vec<u8>> {
    let count = ty.count_in(packed.len()).unwrap_or(0);
    let mut external = Vec::with_capacity(count * ty.signature().external_bytes());
    let mut rest = packed;
    let mut failed = None;
    for _ in 0..count {
        ty.signature().each_run(&mut |basic, elements| {
            let (run, behind) = rest.split_at(elements * basic.size());
            rest = behind;
            for element in run.chunks_exact(basic.size()) {
                if let Err(error) = encode_one(basic, element, &mut external) {
                    failed.get_or_insert(error);
                }
            }
        });
    }
    failed.map_or(Ok(external), Err)
}

/// Basic elements in external form, as many as there are whole ones, packed as here; those of the last
/// element of the datatype may be some of them.
#[must_use]
pub fn decode(ty: &Type, external: &[u8]) -> Vec<u8> {
    let each = ty.signature().external_bytes();
    let count = match each {
        0 => 0,
        _ => external.len().div_ceil(each),
    };
    let mut packed = Vec::with_capacity(count * ty.size());
    let mut rest = external;
    for _ in 0..count {
        ty.signature().each_run(&mut |basic, elements| {
            let bytes = usize::from(basic.external_bytes);
            let whole = elements.min(rest.len() / bytes);
            let (run, behind) = rest.split_at(whole * bytes);
            // Behind a part of an element there is nothing.
            rest = if whole < elements { &[] } else { behind };
            for element in run.chunks_exact(bytes) {
                decode_one(basic, element, &mut packed);
            }
        });
    }
    packed
}

fn encode_one(basic: Basic, element: &[u8], external: &mut Vec<u8>) -> Result<()> {
    match basic.kind {
        BasicKind::Complex => {
            let (re, im) = element.split_at(element.len() / 2);
            external.extend(re.iter().rev().chain(im.iter().rev()));
        }
        BasicKind::Extended | BasicKind::ExtendedComplex => {
            for &part in element.as_chunks::<16>().0 {
                external.extend(quadruple_of(part).to_be_bytes());
            }
        }
        kind => {
            let kept = usize::from(basic.external_bytes);
            let (low, high) = element.split_at(kept);
            let is_negative = kind == BasicKind::Signed && low[kept - 1] & 0x80 != 0;
            let fill = if is_negative { 0xff } else { 0 };
            if high.iter().any(|&byte| byte != fill) {
                return Err(does_not_fit(kept));
            }
            external.extend(low.iter().rev());
        }
    }
    Ok(())
}

fn decode_one(basic: Basic, element: &[u8], packed: &mut Vec<u8>) {
    match basic.kind {
        BasicKind::Complex => {
            let (re, im) = element.split_at(element.len() / 2);
            packed.extend(re.iter().rev().chain(im.iter().rev()));
        }
        BasicKind::Extended | BasicKind::ExtendedComplex => {
            for &part in element.as_chunks::<16>().0 {
                packed.extend(extended_of(u128::from_be_bytes(part)));
            }
        }
        kind => {
            let is_negative = kind == BasicKind::Signed && element[0] & 0x80 != 0;
            let fill = if is_negative { 0xff } else { 0 };
            packed.extend(element.iter().rev());
            packed.extend(std::iter::repeat_n(fill, basic.size() - element.len()));
        }
    }
}

/// A `long double` in the 128-bit format, exactly: 63 bits behind the point become 112.
fn quadruple_of(extended: [u8; 16]) -> u128 {
    let bits = u128::from_le_bytes(extended);
    let (mut significand, head) = (bits as u64, (bits >> 64) as u16);
    let (sign, mut exponent) = (head >> 15, head & EXPONENT_MAX);
    if exponent == 0 && significand >> 63 == 1 {
        // Written with the least exponent, though it is normal.
        exponent = 1;
    }
    if exponent != 0 && exponent != EXPONENT_MAX && significand >> 63 == 0 {
        // Not normalised, which no processor writes.
        let shift = significand.leading_zeros().min(u32::from(exponent) - 1);
        // All of its bits, if none is set.
        significand = significand.unbounded_shl(shift);
        exponent -= shift as u16;
        if significand >> 63 == 0 {
            exponent = 0;
        }
    }
    let fraction = u128::from(significand << 1 >> 1) << 49;
    u128::from(sign) << 127 | u128::from(exponent) << 112 | fraction
}

/// The nearest `long double` of a number in the 128-bit format, the even one of two.
fn extended_of(quadruple: u128) -> [u8; 16] {
    let sign = (quadruple >> 127) as u16;
    let mut exponent = (quadruple >> 112) as u16 & EXPONENT_MAX;
    let fraction = quadruple & ((1 << 112) - 1);
    let one = u64::from(exponent != 0) << 63;
    let mut significand = one | (fraction >> 49) as u64;
    let rest = fraction & ((1 << 49) - 1);
    let half = 1 << 48;
    match exponent {
        EXPONENT_MAX => {
            // NaN stays NaN, though its bits behind be lost.
            significand |= u64::from(rest != 0) << 62;
        }
        _ if rest > half || (rest == half && significand & 1 == 1) => {
            let (next, is_over) = significand.overflowing_add(1);
            significand = if is_over { 1 << 63 } else { next };
            exponent += u16::from(is_over);
            if exponent == 0 && significand >> 63 == 1 {
                exponent = 1;
            }
        }
        _ => {}
    }
    let head = sign << 15 | exponent;
    (u128::from(head) << 64 | u128::from(significand)).to_le_bytes()
}

#[cold]
fn does_not_fit(bytes: usize) -> Error {
    let what = format!("a number does not fit into the {bytes} bytes that external32 has for it");
    Error::new(Class::Conversion, what)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::handle::TypeId;
    use proptest::prelude::*;

    fn both_ways(id: u32, packed: &[u8], external: &[u8]) {
        let ty = Type::named(TypeId(id)).unwrap();
        assert_eq!(encode(&ty, packed).unwrap(), external, "{}", ty.name());
        assert_eq!(decode(&ty, external), packed, "{}", ty.name());
    }

    #[test]
    fn numbers_are_big_endian_in_the_sizes_of_the_table() {
        both_ways(0x209, &(-2_i32).to_le_bytes(), &(-2_i32).to_be_bytes());
        both_ways(0x20a, &(-2_i64).to_le_bytes(), &(-2_i32).to_be_bytes());
        both_ways(0x20e, &7_u64.to_le_bytes(), &7_u32.to_be_bytes());
        both_ways(0x23c, &0x1234_u32.to_le_bytes(), &0x1234_u16.to_be_bytes());
        both_ways(0x214, &1.5_f64.to_le_bytes(), &1.5_f64.to_be_bytes());
        let complex = [1.5_f32, -2.0];
        let (here, there) = (complex.map(f32::to_le_bytes), complex.map(f32::to_be_bytes));
        both_ways(0x212, &here.concat(), &there.concat());
        let pair = [&2.5_f64.to_le_bytes()[..], &3_i32.to_le_bytes()].concat();
        let pair_there = [&2.5_f64.to_be_bytes()[..], &3_i32.to_be_bytes()].concat();
        both_ways(0x229, &pair, &pair_there);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let long = Type::named(TypeId(0x20a)).unwrap();
        for number in [1_i64 << 31, -(1 << 31) - 1, i64::MAX] {
            let error = encode(&long, &number.to_le_bytes()).unwrap_err();
            assert_eq!(error.class, Class::Conversion);
        }
        assert!(encode(&long, &(-1_i64 << 31).to_le_bytes()).is_ok());
    }

    #[test]
    fn long_doubles_are_known_numbers_in_128_bits() {
        // 1.5 is 1.1 in binary; -0.0; the least subnormal; infinity.
        let rows: [(u16, u64, u128); 4] = [
            (16383, 0xc << 60, 0x7fff << 111),
            (0x8000, 0, 1 << 127),
            (0, 1, 1 << 49),
            (EXPONENT_MAX, 1 << 63, 0x7fff << 112),
        ];
        for (head, significand, wanted) in rows {
            let bits = u128::from(head) << 64 | u128::from(significand);
            both_ways(0x220, &bits.to_le_bytes(), &wanted.to_be_bytes());
        }
    }

    /// What no processor writes has a value all the same: these have their first bit unset.
    #[test]
    fn long_doubles_that_are_not_normalised_are_the_numbers_that_they_stand_for() {
        let rows: [(u16, u64, u128); 4] = [
            (16384, 1 << 62, 0x3fff << 112),
            (300, 0, 0),
            (0x8000 | 7, 0, 1 << 127),
            (2, 1, 1 << 50),
        ];
        for (head, significand, wanted) in rows {
            let bits = u128::from(head) << 64 | u128::from(significand);
            let found = quadruple_of(bits.to_le_bytes());
            assert_eq!(found, wanted, "{head:#x} {significand:#x}: {found:#x}");
        }
    }

    proptest! {
        #[test]
        fn every_long_double_comes_back(significand: u64, head: u16) {
            let exponent = head & EXPONENT_MAX;
            let top = u64::from(exponent != 0) << 63;
            let significand = significand >> 1 | top;
            let bits = u128::from(head) << 64 | u128::from(significand);
            prop_assert_eq!(extended_of(quadruple_of(bits.to_le_bytes())), bits.to_le_bytes());
        }

        #[test]
        fn rounding_is_to_the_nearest(fraction in 0..1_u128 << 112, exponent in 1..0x7ffe_u128) {
            let number = exponent << 112 | fraction;
            let near = quadruple_of(extended_of(number));
            // The formats have the same order of bits, so that distances can be compared.
            prop_assert!(near.abs_diff(number) <= 1 << 48);
        }
    }
}
