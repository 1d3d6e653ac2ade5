// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ranks of one communicator, as one of them sees them: its plans, and how long calls took.
#![forbid(unsafe_code)]

use std::sync::Arc;

use corecast_core::Collective;
use corecast_mpi::collective::program::Program;
use corecast_mpi::collective::{Cache, Means, Settings, Shape, say};

/// See the module's documentation.
pub struct Group {
    rank: u32,
    ranks: u32,
    settings: Arc<Settings>,
    cache: Cache,
    /// What was given out last, which lives until the next is asked for.
    current: Arc<Program>,
    /// By call and size class, in the order in which they came first.
    times: Vec<Times>,
}

/// Why a rank has nothing to do for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unplanned {
    /// No schedule can be made.
    Unserved,
    /// A table leaves it to the library below.
    Left,
}

/// Calls of one name and size class.
struct Times {
    name: String,
    class: u32,
    /// Of the first of them.
    bytes: usize,
    calls: u64,
    sum_s: f64,
    shortest_s: f64,
}

fn class(bytes: usize) -> u32 {
    bytes.checked_ilog2().map_or(0, |log| log + 1)
}

impl Group {
    /// One that has no plans yet.
    #[must_use]
    pub fn new(rank: u32, ranks: u32, settings: Arc<Settings>) -> Self {
        Self {
            rank,
            ranks,
            settings,
            cache: Cache::default(),
            current: Arc::default(),
            times: Vec::new(),
        }
    }

    /// What this rank does in a call; it lives until the next is asked for. The name is asked for by who
    /// says something.
    ///
    /// # Errors
    /// Why there is nothing to do for it, which is the same at all ranks.
    pub fn plan<N: AsRef<str>>(
        &mut self,
        name: impl Fn() -> N,
        shape: Shape,
    ) -> Result<&Program, Unplanned> {
        if self.is_left(shape.collective, shape.bytes) {
            if self.is_told(shape) {
                let why = self.why_left(shape);
                say(name().as_ref(), self.ranks, shape.bytes, &why);
            }
            return Err(Unplanned::Left);
        }
        let is_told = self.is_told(shape);
        let ranks = (self.rank, self.ranks);
        let plan = self.cache.plan(&self.settings, ranks, shape);
        let plan = plan.map_err(|_| Unplanned::Unserved)?;
        if is_told {
            plan.explain(name().as_ref(), self.ranks, shape.bytes);
        }
        self.current = Arc::clone(&plan.program);
        Ok(&self.current)
    }

    /// Whether a table says that calls of this size are faster below us. What is named in the environment
    /// comes first.
    fn is_left(&self, collective: Collective, bytes: usize) -> bool {
        let measured = self.settings.measured.as_ref();
        let is_named = || self.settings.algorithms[collective as usize].is_some();
        measured.is_some_and(|measured| {
            let means = measured.means(collective, self.ranks as usize, bytes);
            means == Some(Means::Library) && !is_named()
        })
    }

    fn why_left(&self, shape: Shape) -> String {
        let measured = self.settings.measured.as_ref();
        let bytes = shape.bytes as u64;
        let why = measured.and_then(|it| it.why(shape.collective, self.ranks, bytes));
        format!("left to the library ({})", why.unwrap_or_default())
    }

    /// Whether this rank says how calls of this size class are carried out, which it does once.
    fn is_told(&mut self, shape: Shape) -> bool {
        let is_asked = self.settings.explains && self.rank == 0;
        is_asked && self.cache.is_news(shape.collective, shape.bytes)
    }

    /// Notes how long a call took at this rank.
    pub fn took(&mut self, name: &str, bytes: usize, seconds: f64) {
        let class = class(bytes);
        let mut times = self.times.iter_mut();
        match times.find(|times| times.class == class && times.name == name) {
            Some(times) => {
                times.calls += 1;
                times.sum_s += seconds;
                times.shortest_s = times.shortest_s.min(seconds);
            }
            None => self.times.push(Times {
                name: name.to_owned(),
                class,
                bytes,
                calls: 1,
                sum_s: seconds,
                shortest_s: seconds,
            }),
        }
    }

    /// What was noted, a line per call and size class.
    #[must_use]
    pub fn summary(&self) -> Vec<(&str, usize, String)> {
        let line = |times: &Times| {
            let mean_us = times.sum_s / times.calls as f64 * 1e6;
            let shortest_us = times.shortest_s * 1e6;
            let plural = if times.calls == 1 { "" } else { "s" };
            format!(
                "{} call{plural}, {mean_us:.2} us each at rank {}, the shortest {shortest_us:.2} us",
                times.calls, self.rank
            )
        };
        let times = self.times.iter();
        times
            .map(|times| (&times.name[..], times.bytes, line(times)))
            .collect()
    }

    /// Says it.
    pub fn report(&self) {
        if self.rank == 0 {
            for (name, bytes, line) in self.summary() {
                say(name, self.ranks, bytes, &line);
            }
        }
    }
}

/// The collective of a number of `plans.h`.
#[must_use]
pub fn collective(number: u32) -> Option<Collective> {
    Collective::ALL.get(number as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_name_and_size_class() {
        let mut group = Group::new(0, 4, Arc::default());
        for (name, bytes, us) in [("A", 8, 3.0), ("A", 9, 1.0), ("A", 16, 5.0), ("B", 8, 7.0)] {
            group.took(name, bytes, us * 1e-6);
        }
        let expected = [
            (
                "A",
                8,
                "2 calls, 2.00 us each at rank 0, the shortest 1.00 us",
            ),
            (
                "A",
                16,
                "1 call, 5.00 us each at rank 0, the shortest 5.00 us",
            ),
            (
                "B",
                8,
                "1 call, 7.00 us each at rank 0, the shortest 7.00 us",
            ),
        ];
        let expected = expected.map(|(name, bytes, line)| (name, bytes, line.to_owned()));
        assert_eq!(group.summary(), expected);
    }

    #[test]
    fn the_header_in_c_counts_collectives_as_we_do() {
        let header = include_str!("../shim/plans.h");
        for (number, collective) in Collective::ALL.iter().enumerate() {
            let name = collective.name().to_uppercase();
            let line = format!("CORECAST_{name} = {number},");
            assert!(header.contains(&line), "{line}");
        }
        assert_eq!(collective(10), None);
    }
}
