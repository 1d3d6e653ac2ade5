// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which ways collective calls have gone, for those who ask (`MPI_T`): what `CORECAST_EXPLAIN` prints, as
//! numbers.
//!
//! A call adds one to a number of this process and writes another, both in one cache line of its
//! collective, whoever looks. The name of an algorithm becomes a number when a plan is made, not when it
//! is carried out.
#![forbid(unsafe_code)]

use corecast_core::{Collective, algorithm};

/// What carries a call out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Boards, which all ranks read.
    Boards,
    /// Messages between ranks.
    Messages,
    /// The machine's own broadcast.
    Hardware,
}

impl Way {
    /// As it is said of a call.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Boards => "through boards",
            Self::Messages => "over messages",
            Self::Hardware => "by the machine's own broadcast",
        }
    }
}

/// A number for the algorithm of a call: its place among [`algorithms`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Number(pub u32);

impl Number {
    /// Nothing has been carried out.
    pub const NONE: Self = Self(0);
    /// What goes through boards has no algorithm beside.
    pub const BOARDS: Self = Self(1);

    /// That of a name.
    #[must_use]
    pub fn of(collective: Collective, name: &str) -> Self {
        let place = algorithms(collective).position(|known| known == name);
        place.map_or(Self::NONE, |place| Self(place as u32))
    }
}

/// What reductions take whose operator does not commute ([`super::programs`]).
pub const ORDERED: &str = "binomial from rank 0";

/// The names of what a collective can be carried out by, numbered from 0 on.
pub fn algorithms(collective: Collective) -> impl Iterator<Item = &'static str> {
    let registered = algorithm::of(collective).map(|algorithm| algorithm.name());
    ["none", "boards", ORDERED].into_iter().chain(registered)
}

/// How many calls of a collective there were by each way, and by which algorithm the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(32))]
pub struct Calls {
    /// Through boards.
    pub boards: u64,
    /// Over messages.
    pub messages: u64,
    /// By hardware.
    pub hardware: u64,
    /// The algorithm of the last one.
    pub last: Number,
}

/// All calls of a process so far, of all its communicators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    of: [Calls; Collective::ALL.len()],
    /// Plans that were made.
    pub plans_made: u64,
    /// Calls that took one that was kept.
    pub plans_again: u64,
}

impl Tally {
    /// Those of a collective.
    #[must_use]
    pub fn of(&self, collective: Collective) -> Calls {
        self.of[collective as usize]
    }

    /// A call begins.
    #[inline]
    pub fn count(&mut self, collective: Collective, way: Way, number: Number) {
        let calls = &mut self.of[collective as usize];
        match way {
            Way::Boards => calls.boards += 1,
            Way::Messages => calls.messages += 1,
            Way::Hardware => calls.hardware += 1,
        }
        calls.last = number;
    }

    /// A call takes a plan, which it has `made` or found.
    pub fn count_plan(&mut self, made: bool) {
        match made {
            true => self.plans_made += 1,
            false => self.plans_again += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::Request;

    use super::*;

    #[test]
    fn every_schedule_has_a_number_and_names_differ() {
        for collective in Collective::ALL {
            let names: Vec<&str> = algorithms(collective).collect();
            assert!(names.len() > 3, "{collective}");
            for (at, name) in names.iter().enumerate() {
                assert_eq!(Number::of(collective, name), Number(at as u32));
            }
            for algorithm in algorithm::of(collective) {
                let request = Request::new(collective, 4, 64);
                let Ok(schedule) = algorithm::build(algorithm, &request) else {
                    continue;
                };
                let number = Number::of(collective, schedule.algorithm());
                assert_ne!(
                    number,
                    Number::NONE,
                    "{collective} {}",
                    schedule.algorithm()
                );
            }
        }
        assert_eq!(Number::of(Collective::Bcast, "boards"), Number::BOARDS);
    }
}
