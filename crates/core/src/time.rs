// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time in picoseconds, the limits of a run, and the hash of its events.
//!
//! This is a unit, not a clock: simulators count it, machines of real cores measure it, and both
//! report it.
//!
//! ```
//! use corecast_core::Time;
//! let cycle = Time::from_ps(10_000);
//! assert_eq!((cycle * 21).ns(), 210.0);
//! ```

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use crate::hash::Fnv1a;

/// A point in time since the start of a run, or a duration, in whole picoseconds.
///
/// 64 bits hold 213 days; what is later is [`Time::MAX`], and no run gets there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than everything.
    pub const MAX: Self = Self(u64::MAX);

    /// A time of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Nanoseconds.
    #[must_use]
    pub fn ns(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - other`, or zero if `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// At most [`Time::MAX`].
impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(
            self.0
                .checked_sub(other.0)
                .expect("a duration is not negative"),
        )
    }
}

/// At most [`Time::MAX`].
impl Mul<u64> for Time {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.ns())
    }
}

/// Bounds of a run; it ends at the first one reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Latest time since its start.
    pub time: Time,
    /// Most events (resumptions of a task); real machines have none.
    pub events: u64,
}

impl Default for Limits {
    /// Ten seconds and a billion events.
    fn default() -> Self {
        Self {
            time: Time::from_ps(10_000_000_000_000),
            events: 1_000_000_000,
        }
    }
}

/// Number and hash of the events of a run, equal for equal runs.
///
/// ```
/// use corecast_core::{EventHash, Time};
/// let (mut a, mut b) = (EventHash::default(), EventHash::default());
/// a.record(Time::ZERO, 1);
/// b.record(Time::ZERO, 2);
/// assert_eq!(a.events(), b.events());
/// assert_ne!(a.hash(), b.hash());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EventHash {
    events: u64,
    hash: Fnv1a,
}

impl EventHash {
    /// One more event: `task` goes on at `time`.
    pub fn record(&mut self, time: Time, task: u32) {
        self.events += 1;
        self.hash.word(time.ps());
        self.hash.word(u64::from(task));
    }

    /// Events so far.
    #[must_use]
    pub const fn events(self) -> u64 {
        self.events
    }

    /// Hash of all events so far.
    #[must_use]
    pub const fn hash(self) -> u64 {
        self.hash.value()
    }
}
