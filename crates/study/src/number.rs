// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as results show them, and how large they may be.

use serde::{Deserialize, Serialize, Serializer};

/// Most bytes all blocks of one run may have together.
pub const TOTAL_BYTES_MAX: u64 = 1 << 30;

/// A number of cycles, which is written as a whole number where it is one.
///
/// ```
/// use corecast_study::Cycles;
/// let json = |cycles| serde_json::to_string(&Cycles(cycles)).expect("a number");
/// assert_eq!((json(13.0), json(0.5)), ("13".to_owned(), "0.5".to_owned()));
/// ```
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Deserialize)]
pub struct Cycles(pub f64);

impl Serialize for Cycles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// To a thousandth.
pub(crate) fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
