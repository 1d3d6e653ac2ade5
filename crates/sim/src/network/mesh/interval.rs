// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast cores write into a mesh.

/// Cycles from one flit to the next at injection, 1 to 64: how fast a core writes. Cores whose clock is
/// another one than the mesh's have fractions, of which 24 binary places are kept.
///
/// ```
/// use corecast_sim::network::mesh::Interval;
/// let slow = Interval::of(1500, 1000);
/// assert_eq!([1, 2, 3].map(|flits| slow.after(flits)), [2, 3, 5]);
/// assert_eq!(Interval::cycles(2).after(3), 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval(u32);

impl Interval {
    /// Most cycles.
    pub(super) const MAX: u32 = 64;
    /// Parts of a cycle.
    pub(super) const CYCLE: u32 = 1 << 24;

    /// Whole cycles.
    ///
    /// # Panics
    /// Beyond 64.
    #[must_use]
    pub const fn cycles(cycles: u32) -> Self {
        assert!(cycles <= Self::MAX, "a core is not that slow");
        Self(cycles * Self::CYCLE)
    }

    /// That of a core which writes a flit every `ps` picoseconds, into a mesh with this period.
    ///
    /// # Panics
    /// Beyond 64 cycles.
    #[must_use]
    pub fn of(ps: u64, period_ps: u64) -> Self {
        let parts = u128::from(ps) * u128::from(Self::CYCLE) / u128::from(period_ps);
        let most = u128::from(Self::MAX * Self::CYCLE);
        assert!(parts <= most, "a core is not that slow");
        Self(parts as u32)
    }

    /// Cycles from the first flit until another one could follow so many.
    #[must_use]
    pub fn after(self, flits: u32) -> u64 {
        (u64::from(flits) * u64::from(self.0)).div_ceil(u64::from(Self::CYCLE))
    }

    /// Parts of cycles.
    pub(super) fn parts(self) -> u32 {
        self.0
    }

    /// Whether a flit can follow in the next cycle.
    pub(super) fn is_cycle(self) -> bool {
        self.0 == Self::CYCLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_cycle_add_up() {
        let slow = Interval::of(1500, 1000);
        assert_eq!([1, 2, 3, 4].map(|flits| slow.after(flits)), [2, 3, 5, 6]);
        assert_eq!(Interval::of(800, 400), Interval::cycles(2));
        assert_eq!(Interval::of(300, 300), Interval::cycles(1));
    }
}
