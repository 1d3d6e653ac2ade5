// SPDX-License-Identifier: MIT OR Apache-2.0
//! One hash, the same on every machine and for ever: FNV-1a with 64 bits (Fowler, Noll and Vo;
//! draft-eastlake-fnv).
//!
//! Not for lists that others choose the contents of: who wants two texts of one hash finds them.
//!
//! ```
//! use corecast_core::hash::{Fnv1a, fnv_1a};
//! let mut hash = Fnv1a::new();
//! hash.bytes(b"foobar");
//! assert_eq!(hash.value(), fnv_1a(b"foobar"));
//! ```

/// The prime of the 64-bit hash.
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A hash that grows. See the module's documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}

impl Fnv1a {
    /// The hash of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// Takes a number in at one go, faster than its bytes and with another result. A product brings
    /// low bits up only, so the upper ones are folded down.
    #[inline]
    pub const fn word(&mut self, word: u64) {
        let hash = (self.0 ^ word).wrapping_mul(PRIME);
        self.0 = hash ^ (hash >> 29);
    }

    /// The hash of all that was taken in.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }
}

/// The hash of some bytes.
#[must_use]
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::new();
    hash.bytes(bytes);
    hash.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of the authors, draft-eastlake-fnv.
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn words_change_all_bits() {
        let of = |word| {
            let mut hash = Fnv1a::new();
            hash.word(word);
            hash.value()
        };
        let differing = of(1 << 63) ^ of(0);
        assert!(differing.count_ones() > 1, "{differing:x}");
    }
}
