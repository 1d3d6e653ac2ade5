// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes by the numbers that traces give them.

/// Bytes of an element of every type: double, int, char, short, long, float, byte, long long, and the
/// signed and unsigned ones from 8 on (signed char, unsigned char, unsigned short, unsigned, unsigned
/// long, unsigned long long), long double, wide character, bool, integers of 8 to 64 bits with and
/// without sign, complex float, double and long double, address, offset, and the pairs of a number and
/// an int from 30 on (float, long, double, short, int) and of two floats, doubles and longs.
///
/// Source: SimGrid, `src/smpi/mpi/smpi_datatype.cpp` (01761d6510e4), on a 64-bit Linux.
const BYTES: [u64; 38] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8,
    16, 16, 8, 8, 8, 16, 16,
];

/// The number of a byte, the type of sizes where a trace says nothing else.
pub(super) const BYTE: u64 = 6;

/// The number of a double, the type of sizes where a trace begins with `init 1`.
pub(super) const DOUBLE: u64 = 0;

/// Bytes of an element of a type; none if there is no such type.
pub(super) fn bytes(number: u64) -> Option<u64> {
    BYTES.get(usize::try_from(number).ok()?).copied()
}

/// The number of a type whose elements have so many bytes; none if there is no such type.
pub(super) fn of_bytes(bytes: u32) -> Option<u64> {
    let known = BYTES.iter().position(|&of| of == u64::from(bytes));
    match bytes {
        1 => Some(BYTE),
        _ => known.map(|number| number as u64),
    }
}

/// The highest number.
pub(super) fn most() -> u64 {
    BYTES.len() as u64 - 1
}
