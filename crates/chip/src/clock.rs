// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clocks: how cycles become picoseconds and back.
//!
//! Time is whole picoseconds everywhere (`u64`, about 213 days); a chip's parts count cycles of
//! their own clock and convert here, so no other place multiplies by a period.
//!
//! ```
//! use corecast_chip::Clock;
//! let bus = Clock { name: "bus".into(), period_ps: 10_000 };
//! assert_eq!(bus.to_ps(21), 210_000);
//! assert_eq!(bus.cycles_ceil(210_001), 22);
//! assert_eq!(bus.cycles_f64(205_000), 20.5);
//! ```

use crate::error::ChipError;
use crate::provenance::Ledger;
use crate::read::{Choices, Section};

/// Longest period accepted: 1 ms, a clock of 1 kHz.
const PERIOD_PS_MAX: f64 = 1e9;

/// A computed period this close to a whole number of picoseconds is that number: decimal
/// fractions such as 2.3 ns are not exact in binary.
const WHOLE_PS_TOLERANCE: f64 = 1e-6;

/// Units of a period; two are of a frequency.
const PERIOD_UNITS: [&str; 4] = ["ps", "ns", "MHz", "GHz"];

/// What `rounding` may say.
const ROUNDINGS: Choices<()> = &[("accept", ())];

/// A clock of a chip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Its name in the chip file.
    pub name: String,
    /// Its period in picoseconds, 1 to 1,000,000,000 when read from a chip file.
    pub period_ps: u64,
}

impl Clock {
    /// The duration of `cycles` cycles in picoseconds; `u64::MAX` where that overflows.
    #[must_use]
    pub fn to_ps(&self, cycles: u64) -> u64 {
        cycles.saturating_mul(self.period_ps)
    }

    /// The fewest cycles that last at least `ps` picoseconds.
    ///
    /// # Panics
    /// If the period is 0, which no chip file can say.
    #[must_use]
    pub fn cycles_ceil(&self, ps: u64) -> u64 {
        ps.div_ceil(self.period_ps)
    }

    /// `ps` picoseconds in cycles.
    #[must_use]
    pub fn cycles_f64(&self, ps: u64) -> f64 {
        ps as f64 / self.period_ps as f64
    }

    /// Reads `[clocks.<name>]`.
    pub(crate) fn read(
        name: &str,
        section: &Section<'_>,
        ledger: &mut Ledger,
    ) -> Result<Self, ChipError> {
        section.accept(&["period", "rounding"])?;
        let is_rounding_accepted = section.optional_choice("rounding", ROUNDINGS)?.is_some();
        let quantity = section.quantity("period", &PERIOD_UNITS)?;
        let picoseconds = match quantity.unit {
            "ps" => quantity.value.as_f64(),
            "ns" => quantity.value.as_f64() * 1e3,
            "MHz" => 1e6 / quantity.value.as_f64(),
            _ => 1e3 / quantity.value.as_f64(),
        };
        // NaN compares false, so this refuses it too.
        if !(1.0..=PERIOD_PS_MAX).contains(&picoseconds) {
            return Err(quantity.out_of_range("a period from 1 ps (1000 GHz) to 1 ms (0.001 MHz)"));
        }
        let whole = picoseconds.round();
        if !is_rounding_accepted && (picoseconds - whole).abs() > WHOLE_PS_TOLERANCE {
            return Err(ChipError::PartialPicosecond {
                at: quantity.value_at(),
                picoseconds,
                table: section.path().to_owned(),
            });
        }
        ledger.enter(&quantity);
        Ok(Self {
            name: name.to_owned(),
            period_ps: whole as u64, // 1 to 10^9, checked above
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_at_the_borders() {
        let clock = Clock {
            name: "c".into(),
            period_ps: 3003,
        };
        assert_eq!(clock.to_ps(0), 0);
        assert_eq!(clock.to_ps(u64::MAX), u64::MAX);
        assert_eq!(clock.cycles_ceil(0), 0);
        assert_eq!(clock.cycles_ceil(3003), 1);
        assert_eq!(clock.cycles_ceil(3004), 2);
    }
}
