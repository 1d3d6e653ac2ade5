// SPDX-License-Identifier: MIT OR Apache-2.0
//! Into how many parts something is cut, so that several divisions of it fall between parts.

/// The largest number that divides both.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The smallest number that both divide.
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    a / gcd(a, b) * b
}
